/* proxy_rules.c - hosts, ports and addresses against patterns. */
#include "sandbox/proxy_rules.h"

/* --- patterns --- */

static struct err *bad_pattern(struct str text)
{
    return err_hint(err_new(ERR_VALIDATION, "\"%" STR_FMT "\" is not a domain", STR_ARG(text)),
                    "one of: example.com (with subdomains), *.example.com, *, an address; with a "
                    "port other than 80 and 443: example.com:8443");
}

/* The URL parser knows how hosts and ports are written, and in which spelling they compare. */
static bool parse_host(struct arena *a, struct str text, struct url *ret)
{
    struct err *e;

    for (size_t i = 0; i < text.n; i++)
        if (strchr("/@?#", text.p[i])) /* and NUL */
            return false;
    e = url_parse(a, arena_format(a, "http://%" STR_FMT, STR_ARG(text)), ret);
    err_ignore(e, "it speaks of a URL, which the person did not write");
    return !e;
}

static struct err *parse_pattern(struct arena *a, struct str text, struct net_pattern *ret)
{
    struct str host = str_trim(text);
    bool is_every = str_is(host, "*") || str_starts(host, S("*:"));
    bool is_below = str_starts(host, S("*."));
    struct url u;

    if (is_below)
        host = str_skip(host, 2);
    if (is_every)
        host = arena_format(a, "every%" STR_FMT, STR_ARG(str_skip(host, 1)));
    if (host.n == 0 || !parse_host(a, host, &u))
        return bad_pattern(text);
    *ret = (struct net_pattern){
        .host = is_every ? (struct str){0} : u.host,
        .port = u.has_port ? u.port : 0,
        .is_below_only = is_below,
        .is_address = url_host_is_address(u.host),
    };
    return ret->is_address && is_below ? bad_pattern(text) : NULL;
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
    struct net_pattern pattern;

    TRY(parse_pattern(a, text, &pattern));
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

static bool is_below(struct str host, struct str domain)
{
    size_t n = host.n > domain.n ? host.n - domain.n : 0;

    return n && host.p[n - 1] == '.' && str_eq(str_skip(host, n), domain);
}

/* An address is matched by itself only. */
static bool host_matches(const struct net_pattern *p, struct str host)
{
    if (p->is_address || url_host_is_address(host))
        return p->host.n && str_eq(p->host, host);
    if (p->host.n == 0 || is_below(host, p->host))
        return true;
    return !p->is_below_only && str_eq(p->host, host);
}

static bool is_web_port(int port)
{
    return port == 80 || port == 443;
}

static bool allows(const struct net_patterns *list, const struct url *u)
{
    for (const struct net_pattern *p = list->items; p < list->items + list->n; p++)
        if (host_matches(p, u->host) && (p->port ? p->port == u->port : is_web_port(u->port)))
            return true;
    return false;
}

static bool denies(const struct net_patterns *list, struct str host, int port)
{
    for (const struct net_pattern *p = list->items; p < list->items + list->n; p++)
        if (host_matches(p, host) && (p->port == 0 || p->port == port))
            return true;
    return false;
}

const char *const loopback_hosts[] = {"localhost", "127.0.0.1", "::1", NULL};

static bool is_named_in(const struct net_patterns *list, struct str host)
{
    for (const struct net_pattern *p = list->items; p < list->items + list->n; p++)
        if (p->host.n && host_matches(p, host))
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
                                    struct str address)
{
    if (denies(&r->deny, address, u->port))
        return refuse_denied(u);
    if (!url_address_is_private(address) || allows(&r->private_hosts, u))
        return NULL;
    return refuse_private(r, u, address);
}
