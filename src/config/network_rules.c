/* network_rules.c - from settings and rules for WebFetch to rules for commands. */
#include "config/network_rules.h"

#include "config/settings_keys.h"

const struct setting_key network_settings[] = {
    {"network", SETTING_OBJECT, .untrusted_ok = true, .help = "what commands may connect to"},
    {"network.allow", SETTING_STRINGS, MERGE_ADD,
     .help = "domains: example.com (and all below it), *.example.com, *, example.com:8443"},
    {"network.deny", SETTING_STRINGS, MERGE_ADD, .untrusted_ok = true,
     .help = "domains and addresses to block, even if allowed"},
    {"network.allowPrivate", SETTING_STRINGS, MERGE_ADD,
     .help = "hosts with private addresses that commands may connect to"},
    {0},
};

static struct err *add_setting(struct arena *a, const struct settings *s, const char *path,
                               enum net_list list, struct net_rules *rules)
{
    json_each (pattern, settings_get(s, path)) {
        struct err *e = net_rules_add(a, rules, list, json_str(pattern));

        if (e)
            return err_wrap(e, "%s", path);
    }
    return NULL;
}

/* What follows `begin` in the rule; empty when that is not how it begins. */
static struct str host_after(struct str begin, struct str rule)
{
    rule = str_trim(rule);
    if (!str_starts(rule, begin) || !str_ends(rule, S(")")))
        return (struct str){0};
    return str_trim(str_slice(rule, begin.n, rule.n - begin.n - 1));
}

/* Empty when the rule is not about a domain. A host that was allowed by an answer to WebFetch is
 * not one that commands may send anything to. */
static struct str domain_of(struct str rule, enum net_list list)
{
    struct str domain = host_after(S("WebFetch(domain:"), rule);

    return domain.n || list == NET_ALLOW ? domain : host_after(S("WebFetch(host:"), rule);
}

/* What is no domain matches no address that WebFetch is given, and means nothing here either. */
static void add_domains(struct arena *a, const struct str *patterns, size_t n, enum net_list list,
                        struct net_rules *rules)
{
    for (size_t i = 0; i < n; i++) {
        struct str domain = domain_of(patterns[i], list);

        if (domain.n)
            err_ignore(net_rules_add(a, rules, list, domain), "see above");
    }
}

struct err *network_rules_from_settings(struct arena *a, const struct settings *s,
                                        const struct permission_rules *permissions,
                                        struct net_rules *ret_rules)
{
    struct net_rules rules = {0};

    TRY(add_setting(a, s, "network.allow", NET_ALLOW, &rules));
    TRY(add_setting(a, s, "network.deny", NET_DENY, &rules));
    TRY(add_setting(a, s, "network.allowPrivate", NET_ALLOW_PRIVATE, &rules));
    add_domains(a, permissions->allow, permissions->n_allow, NET_ALLOW, &rules);
    add_domains(a, permissions->ask, permissions->n_ask, NET_DENY, &rules);
    add_domains(a, permissions->deny, permissions->n_deny, NET_DENY, &rules);
    *ret_rules = rules;
    return NULL;
}
