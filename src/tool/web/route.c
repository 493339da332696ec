/* route.c - looks hosts up and checks their addresses. */
#include "tool/web/route.h"

#include "net/host_pattern.h"
#include "net/lookup.h"
#include "net/proxy.h"

#include <stdio.h>

/* --- what the operator allows --- */

static bool entry_matches(struct str entry, struct str host, int port)
{
    AUTO(arena) struct arena a = {0};
    struct host_pattern p;

    return host_pattern_parse(&a, entry, &p) && p.host.n && host_pattern_has_port(&p, port) &&
           host_pattern_matches(&p, host, /* with_below= */ false);
}

bool web_host_is_allowed(const struct tool_config *config, struct str host, int port)
{
    for (size_t i = 0; i < config->n_allowed_hosts; i++)
        if (entry_matches(config->allowed_hosts[i], host, port))
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

/* A name that leads to an address which is allowed is not allowed by that: the owner of the name
 * chooses where it leads. */
static struct err *check_host(const struct url *u, const struct lookup *l,
                              const struct tool_config *config)
{
    if (web_host_is_allowed(config, u->host, u->port))
        return NULL;
    if (l->n == 0 && url_host_is_loopback(u->host))
        return refuse_private(u, u->host);
    for (size_t i = 0; i < l->n; i++)
        if (!lookup_is_public(l->addresses[i]))
            return refuse_private(u, str_of(l->addresses[i]));
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
    bool is_address = url_host_is_address(u->host);
    struct lookup l = {.host = u->host.p};

    if (is_address)
        snprintf(l.addresses[l.n++], sizeof l.addresses[0], "%s", u->host.p);
    else
        TRY(lookup_run(&l));
    if (l.n == 0 && !route.proxy)
        return lookup_not_found(&l);
    TRY(check_host(u, &l, config));
    if (l.n && !is_address) /* some proxies (SOCKS) leave the lookup to us */
        route.resolve = pin(a, u, &l);
    *ret_route = route;
    return NULL;
}
