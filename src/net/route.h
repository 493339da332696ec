/* route.h - the way to the server of a request: direct, by a Unix socket, or through a proxy.
 *
 * Proxies are http:// and https:// (asked for a tunnel where the target is https), socks5:// and
 * socks5h:// (whose proxy finds the address), each with user:password@ in front if need be. Without
 * a scheme it is http://, without a port 1080, or 443 for https://. */
#ifndef KEEL_NET_ROUTE_H
#define KEEL_NET_ROUTE_H

#include "net/http.h"
#include "net/proxy.h"

enum route_kind {
    ROUTE_DIRECT,
    ROUTE_ABSOLUTE, /* the proxy is asked for the URL */
    ROUTE_TUNNEL,   /* CONNECT */
    ROUTE_SOCKS5,   /* we find the address */
    ROUTE_SOCKS5H,  /* the proxy does */
};

struct route {
    enum route_kind kind;
    struct url target, proxy; /* the latter zeroed where there is none */
    bool is_tls, proxy_is_tls;
    const char *unix_socket; /* or NULL */
    const char *pins;        /* addresses of the target, see dial.h; or NULL */
    struct http_identity identity;
    const char *peer, *proxy_peer; /* for messages: "host:port", "the proxy http://..." */
    /* Connections with the same one lead to the same place as the same person. NULL: pins speak of
     * this request only, so that no other may inherit its connection. */
    const char *key;
};

/* All strings live in the arena. A proxy that cannot be used is ERR_NETWORK. */
MUST_USE struct err *route_find(struct arena *a, const struct http_request *request,
                                const struct proxy_settings *proxies, struct route *ret_route);

/* Will a request to this URL need TLS, to its server or to its proxy? */
bool route_needs_tls(const char *const *environment, struct str url);

#endif
