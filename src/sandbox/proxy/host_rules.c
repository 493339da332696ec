/* host_rules.c - hosts, ports and addresses against patterns. */
#include "sandbox/proxy/host_rules.h"

/* --- lists --- */

static struct err *bad_pattern(struct str text)
{
    return err_hint(err_new(ERR_VALIDATION, "\"%" STR_FMT "\" is not a domain", STR_ARG(text)),
                    "one of: example.com (with subdomains), *.example.com, *, an address; with a "
                    "port other than 80 and 443: example.com:8443");
}

static struct net_patterns *find_list(struct net_rules *r, enum net_list list)
{
    switch (list) {
    case NET_ALLOW:
        return &r->allow;
    case NET_DENY:
        return &r->deny;
    case NET_ALLOW_PRIVATE:
        break;
    }
    return &r->private_hosts;
}

struct err *net_rules_add(struct arena *a, struct net_rules *r, enum net_list list, struct str text)
{
    struct net_patterns *p = find_list(r, list);
    struct host_pattern pattern;

    if (!host_pattern_parse(a, text, &pattern))
        return bad_pattern(text);
    if (list == NET_ALLOW_PRIVATE && pattern.host.n == 0)
        return err_hint(
            err_new(ERR_VALIDATION, "network.allowPrivate cannot allow every host at once"),
            "name the hosts that commands need, one by one");
    p->items = arena_grow(a, p->items, p->n, &p->room, sizeof *p->items);
    p->items[p->n++] = pattern;
    return NULL;
}

bool net_rules_allow_any(const struct net_rules *r)
{
    return r->allow.n + r->private_hosts.n > 0;
}

/* --- matching --- */

static bool is_web_port(int port)
{
    return port == 80 || port == 443;
}

static bool allows(const struct net_patterns *list, const struct url *u)
{
    bool is_address = url_host_is_address(u->host);

    for (const struct host_pattern *p = list->items; p < list->items + list->n; p++)
        if (host_pattern_matches(p, u->host, /* with_below= */ true) &&
            (p->host.n || !is_address) && (p->port ? p->port == u->port : is_web_port(u->port)))
            return true;
    return false;
}

static bool denies(const struct net_patterns *list, struct str host, int port)
{
    for (const struct host_pattern *p = list->items; p < list->items + list->n; p++)
        if (host_pattern_matches(p, host, /* with_below= */ true) && host_pattern_has_port(p, port))
            return true;
    return false;
}

/* An address inside another leads to the same host. */
static bool denies_address(const struct net_patterns *list, struct str address, int port)
{
    AUTO(arena) struct arena a = {0};

    return denies(list, address, port) || denies(list, url_address_inner(&a, address), port);
}

const char *const loopback_hosts[] = {"localhost", "127.0.0.1", "::1", NULL};

static bool is_named_in(const struct net_patterns *list, struct str host)
{
    for (const struct host_pattern *p = list->items; p < list->items + list->n; p++)
        if (p->host.n && host_pattern_matches(p, host, /* with_below= */ true))
            return true;
    return false;
}

bool net_rules_name(const struct net_rules *r, struct str host)
{
    return is_named_in(&r->allow, host) || is_named_in(&r->private_hosts, host);
}

/* --- decisions --- */

/* As a rule would name it. */
static struct str name_of(struct arena *a, const struct url *u)
{
    struct str host = u->is_ipv6 ? arena_format(a, "[%" STR_FMT "]", STR_ARG(u->host)) : u->host;

    return is_web_port(u->port) ? host : arena_format(a, "%" STR_FMT ":%d", STR_ARG(host), u->port);
}

static const char *how_to_allow(struct arena *a, const struct net_rules *r, struct str name,
                                enum net_list list)
{
    bool is_private = list == NET_ALLOW_PRIVATE;

    if (r->has_flags)
        return arena_format(a, "to allow it, add %s %" STR_FMT,
                            is_private ? "--allow-private" : "--allow-domain", STR_ARG(name))
            .p;
    return arena_format(
               a, "to allow it, a person adds \"%" STR_FMT "\" to %s in ~/.keel/settings.json",
               STR_ARG(name), is_private ? "network.allowPrivate" : "network.allow")
        .p;
}

/* A name of the sandbox's own loopback; NULL: all of them mean the machine's. */
static const char *find_direct(const struct net_rules *r)
{
    for (const char *const *host = loopback_hosts; *host; host++)
        if (!net_rules_name(r, str_of(*host)))
            return *host;
    return NULL;
}

static struct err *refuse_denied(const struct url *u)
{
    return err_hint(
        err_new(ERR_TOOL_DENIED, "commands may not connect to %" STR_FMT, STR_ARG(u->host)),
        "the settings deny it: network.deny, or a rule WebFetch(domain:...)");
}

static struct err *refuse_unlisted(const struct net_rules *r, const struct url *u)
{
    AUTO(arena) struct arena a = {0};
    struct str name = name_of(&a, u);
    bool is_loopback = url_host_is_loopback(u->host);
    bool is_private =
        is_loopback || (url_host_is_address(u->host) && url_address_is_private(u->host));
    const char *direct = is_loopback ? find_direct(r) : NULL;

    return err_hint(
        err_new(ERR_TOOL_DENIED, "commands may not connect to %" STR_FMT, STR_ARG(name)), "%s%s%s",
        how_to_allow(&a, r, name, is_private ? NET_ALLOW_PRIVATE : NET_ALLOW),
        direct ? "; a server that a command started is at " : "", direct ? direct : "");
}

static struct err *refuse_private(const struct net_rules *r, const struct url *u,
                                  struct str address)
{
    AUTO(arena) struct arena a = {0};
    struct str name = name_of(&a, u);

    return err_hint(err_new(ERR_TOOL_DENIED,
                            "%" STR_FMT " is not on the public Internet: its address is %" STR_FMT,
                            STR_ARG(name), STR_ARG(address)),
                    "%s", how_to_allow(&a, r, name, NET_ALLOW_PRIVATE));
}

struct err *net_rules_check(const struct net_rules *r, const struct url *u)
{
    if (denies(&r->deny, u->host, u->port))
        return refuse_denied(u);
    if (allows(&r->allow, u) || allows(&r->private_hosts, u))
        return NULL;
    return refuse_unlisted(r, u);
}

struct err *net_rules_check_address(const struct net_rules *r, const struct url *u,
                                    struct str address, bool is_public)
{
    if (denies_address(&r->deny, address, u->port))
        return refuse_denied(u);
    if (is_public || allows(&r->private_hosts, u))
        return NULL;
    return refuse_private(r, u, address);
}
