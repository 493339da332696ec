/* route.c - looks hosts up and checks their addresses. */
#include "tool/web/route.h"

#include "net/lookup.h"
#include "net/proxy.h"

/* --- what the operator allows --- */

static bool ends_nocase(struct str s, struct str end)
{
    return s.n > end.n && str_eq_nocase(str_skip(s, s.n - end.n), end);
}

/* The position of the ":port" of an entry; STR_NONE without one. The colons of an IPv6 address
 * without brackets do not count. */
static size_t find_port(struct str entry)
{
    size_t colon = str_rfind_char(entry, ':');

    if (colon == STR_NONE || str_ends(entry, S("]")))
        return STR_NONE;
    if (str_starts(entry, S("[")))
        return colon > 0 && entry.p[colon - 1] == ']' ? colon : STR_NONE;
    return str_find_char(entry, ':') == colon ? colon : STR_NONE;
}

static bool entry_matches(struct str entry, struct str host, int port)
{
    size_t colon = find_port(entry);
    int64_t wanted;

    if (colon != STR_NONE) {
        if (!str_to_int64(str_skip(entry, colon + 1), &wanted) || wanted != port)
            return false;
        entry.n = colon;
    }
    if (str_starts(entry, S("[")) && str_ends(entry, S("]")))
        entry = str_slice(entry, 1, entry.n - 2);
    if (str_ends(entry, S(".")))
        entry.n--;
    if (str_starts(entry, S("*.")))
        return ends_nocase(host, str_skip(entry, 1));
    return entry.n > 0 && str_eq_nocase(entry, host);
}

bool web_host_is_allowed(const struct tool_config *config, struct str host, int port)
{
    for (size_t i = 0; i < config->n_allowed_hosts; i++)
        if (entry_matches(str_trim(config->allowed_hosts[i]), host, port))
            return true;
    return false;
}

/* --- the check --- */

static struct err *refuse_private(const struct url *u, struct str address)
{
    AUTO(strbuf) struct strbuf where = {0};

    strbuf_add(&where, u->host);
    if (!str_eq(address, u->host))
        strbuf_addf(&where, " (%" STR_FMT ")", STR_ARG(address));
    return err_hint(err_new(ERR_VALIDATION,
                            "%s is not on the public Internet: private addresses are not fetched",
                            strbuf_cstr(&where)),
                    "the operator can allow it with webFetch.allow in the settings");
}

static struct err *check_address(const struct url *u, struct str address,
                                 const struct tool_config *config)
{
    if (!url_address_is_private(address) || web_host_is_allowed(config, address, u->port))
        return NULL;
    return refuse_private(u, address);
}

/* The proxy looks up a name that cannot be resolved here, unless it is our own machine. */
static struct err *check_name(const struct url *u, const struct lookup *l,
                              const struct tool_config *config)
{
    if (web_host_is_allowed(config, u->host, u->port))
        return NULL;
    if (l->n == 0 && url_host_is_loopback(u->host))
        return refuse_private(u, u->host);
    for (size_t i = 0; i < l->n; i++)
        TRY(check_address(u, str_of(l->addresses[i]), config));
    return NULL;
}

/* --- the way there --- */

/* "host:port:address,[address]" */
static const char *pin(struct arena *a, const struct url *u, const struct lookup *l)
{
    AUTO(strbuf) struct strbuf out = {0};

    strbuf_addf(&out, "%" STR_FMT ":%d:", STR_ARG(u->host), u->port);
    for (size_t i = 0; i < l->n; i++)
        strbuf_addf(&out, strchr(l->addresses[i], ':') ? "%s[%s]" : "%s%s", i ? "," : "",
                    l->addresses[i]);
    return arena_cstr(a, strbuf_str(&out));
}

static const char *choose_proxy(struct arena *a, const struct url *u,
                                const struct tool_config *config)
{
    struct proxy_settings proxies;

    proxy_settings_read(a, config->environment, &proxies);
    return proxy_choose(&proxies, u);
}

struct err *web_route_find(struct arena *a, const struct url *u, const struct tool_config *config,
                           struct web_route *ret_route)
{
    struct web_route route = {.proxy = choose_proxy(a, u, config)};
    struct lookup l = {.host = u->host.p};

    if (url_host_is_address(u->host)) {
        TRY(check_address(u, u->host, config));
    } else {
        TRY(lookup_run(&l));
        if (l.n == 0 && !route.proxy)
            return lookup_not_found(&l);
        TRY(check_name(u, &l, config));
        if (l.n) /* some proxies (SOCKS) leave the lookup to us */
            route.resolve = pin(a, u, &l);
    }
    *ret_route = route;
    return NULL;
}
