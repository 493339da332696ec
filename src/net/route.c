/* route.c - parses proxies and pins, and makes the keys of connections. */
#include "net/route.h"

#define DEFAULT_PROXY_PORT 1080

/* --- the proxy --- */

/* Where the password ends in an invalid URL is unknown: omit everything up to the last '@'. */
static struct err *unusable_proxy(const char *text)
{
    struct str all = str_of(text), shown = str_skip(all, str_rfind_char(all, '@') + 1);
    struct err *e = err_new(ERR_NETWORK,
                            "cannot use the proxy %" STR_FMT
                            ": it must be http://, https://, socks5:// or socks5h://HOST:PORT",
                            STR_ARG(shown));

    return err_hint(err_final(e), "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY");
}

static bool set_kind(struct route *r)
{
    struct str scheme = r->proxy.scheme;

    r->proxy_is_tls = str_is(scheme, "https");
    if (str_is(scheme, "http") || r->proxy_is_tls)
        r->kind = r->is_tls ? ROUTE_TUNNEL : ROUTE_ABSOLUTE;
    else if (str_is(scheme, "socks5"))
        r->kind = ROUTE_SOCKS5;
    else if (str_is(scheme, "socks5h"))
        r->kind = ROUTE_SOCKS5H;
    return r->kind != ROUTE_DIRECT;
}

static struct err *use_proxy(struct arena *a, const char *text, struct route *r)
{
    if (!proxy_parse(a, text, &r->proxy))
        return unusable_proxy(text);
    if (!set_kind(r))
        return unusable_proxy(text);
    if (!r->proxy.has_port)
        r->proxy.port = r->proxy_is_tls ? 443 : DEFAULT_PROXY_PORT;
    r->proxy_peer = arena_format(a,
                                 r->proxy.is_ipv6 ? "the proxy %" STR_FMT "://[%" STR_FMT "]:%d"
                                                  : "the proxy %" STR_FMT "://%" STR_FMT ":%d",
                                 STR_ARG(r->proxy.scheme), STR_ARG(r->proxy.host), r->proxy.port)
                        .p;
    return NULL;
}

/* --- pins --- */

/* "host:port:addresses". The caller has checked these; any other address would be unchecked. */
static struct err *find_pins(struct arena *a, const char *text, const struct url *u,
                             const char **ret_pins)
{
    struct str front = arena_format(a, "%" STR_FMT ":%d:", STR_ARG(u->host), u->port);

    if (!str_starts(str_of(text), front))
        return err_new(ERR_VALIDATION,
                       "the pinned addresses of %" STR_FMT " belong to another host",
                       STR_ARG(u->host));
    *ret_pins = arena_cstr(a, str_skip(str_of(text), front.n));
    return NULL;
}

/* --- the keys of connections --- */

/* Each part with its length, so that two different keys never look alike. */
static void add_part(struct strbuf *key, struct str part)
{
    strbuf_addf(key, "%zu:", part.n);
    strbuf_add(key, part);
}

static void add_place(struct strbuf *key, const struct url *u)
{
    add_part(key, u->scheme);
    add_part(key, u->host);
    strbuf_addf(key, "%d ", u->port);
}

/* All plain requests may share a connection to a proxy that is asked for URLs. */
static const char *make_key(struct arena *a, const struct route *r)
{
    AUTO(strbuf) struct strbuf key = {0};

    if (r->kind != ROUTE_ABSOLUTE)
        add_place(&key, &r->target);
    add_part(&key, str_of(r->unix_socket));
    if (r->kind != ROUTE_DIRECT) {
        add_place(&key, &r->proxy);
        add_part(&key, r->proxy.userinfo);
    }
    add_part(&key, str_of(r->identity.certificate));
    add_part(&key, str_of(r->identity.key));
    add_part(&key, str_of(r->identity.passphrase));
    return arena_cstr(a, strbuf_str(&key));
}

/* --- the route --- */

static const char *copy(struct arena *a, const char *text)
{
    return text ? arena_cstr(a, str_of(text)) : NULL;
}

static const char *choose_proxy(const struct http_request *request,
                                const struct proxy_settings *proxies, const struct url *u)
{
    if (request->no_proxy || request->unix_socket)
        return NULL;
    return request->proxy ? request->proxy : proxy_choose(proxies, u);
}

struct err *route_find(struct arena *a, const struct http_request *request,
                       const struct proxy_settings *proxies, struct route *ret_route)
{
    struct route r = {.kind = ROUTE_DIRECT};
    const char *proxy;

    TRY(url_parse(a, arena_str(a, request->url), &r.target));
    r.is_tls = str_is(r.target.scheme, "https");
    r.unix_socket = copy(a, request->unix_socket);
    r.identity = (struct http_identity){copy(a, request->identity.certificate),
                                        copy(a, request->identity.key),
                                        copy(a, request->identity.passphrase)};
    proxy = choose_proxy(request, proxies, &r.target);
    if (proxy && proxy[0])
        TRY(use_proxy(a, proxy, &r));
    if (request->resolve)
        TRY(find_pins(a, request->resolve, &r.target, &r.pins));
    r.peer = r.unix_socket
                 ? r.unix_socket
                 : arena_format(a, r.target.is_ipv6 ? "[%" STR_FMT "]:%d" : "%" STR_FMT ":%d",
                                STR_ARG(r.target.host), r.target.port)
                       .p;
    if (!request->resolve)
        r.key = make_key(a, &r);
    *ret_route = r;
    return NULL;
}

bool route_needs_tls(const char *const *environment, struct str url)
{
    AUTO(arena) struct arena a = {0};
    struct http_request request = {.url = url};
    struct proxy_settings proxies;
    struct route r;
    struct err *e;

    proxy_settings_read(&a, environment, &proxies);
    e = route_find(&a, &request, &proxies, &r);
    if (e) {
        err_ignore(e, "the request tells it");
        return false;
    }
    return r.is_tls || r.proxy_is_tls;
}
