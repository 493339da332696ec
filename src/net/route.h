/* route.h - the route to the server of a request: direct, by a Unix socket, or through a proxy.
 *
 * Proxies are http:// and https:// (which get a CONNECT if the target is https), socks5:// and
 * socks5h:// (where the proxy finds the address), each with user:password@ in front if necessary.
 * The default scheme is http://, the default port 1080, or 443 for https://. */
#ifndef KEEL_NET_ROUTE_H
#define KEEL_NET_ROUTE_H

#include "net/http.h"
#include "net/proxy.h"

enum route_kind {
    ROUTE_DIRECT,
    ROUTE_ABSOLUTE, /* the proxy is asked for the URL */
    ROUTE_TUNNEL,   /* CONNECT */
    ROUTE_SOCKS5,   /* this side finds the address */
    ROUTE_SOCKS5H,  /* the proxy finds it */
};

struct route {
    enum route_kind kind;
    struct url target, proxy; /* `proxy` is zeroed if there is none */
    bool is_tls, proxy_is_tls;
    const char *unix_socket; /* or NULL */
    const char *pins;        /* addresses of the target, see struct dial; or NULL */
    struct http_identity identity;
    const char *peer, *proxy_peer; /* for messages: "host:port", "the proxy http://..." */
    /* Connections with the same key lead to the same place with the same identity. NULL: the pins
     * are for this request only, so no other may inherit its connection. */
    const char *key;
};

/* All strings live in the arena. An unusable proxy is ERR_NETWORK. */
MUST_USE struct err *route_find(struct arena *a, const struct http_request *request,
                                const struct proxy_settings *proxies, struct route *ret_route);

/* Does a request to this URL need TLS, to its server or to its proxy? */
bool route_needs_tls(const char *const *environment, struct str url);

#endif
