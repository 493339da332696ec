/* http1_client.h - what the files behind http1.h know of each other. */
#ifndef KEEL_NET_HTTP1_CLIENT_H
#define KEEL_NET_HTTP1_CLIENT_H

#include "net/http1.h"
#include "net/http1_body.h"
#include "net/name_cache.h"
#include "net/route.h"
#include "net/tls.h"
#include "net/wire.h"

struct http1_tls; /* a context and the next one */

struct http1_client {
    struct http_client http; /* first */
    struct loop *loop;
    struct arena arena; /* holds the strings of the options */
    struct http1_options options;
    struct proxy_settings proxies;
    struct name_cache *names;
    struct tls_trust *trust;    /* NULL until a connection needs it */
    struct http1_tls *contexts; /* one for each identity */
    struct connection_pool {
        struct http_connection *kept; /* newest first */
        struct loop_timer *timer;     /* while there are any */
    } pool;
    unsigned n_exchanges;
};

/* http1.c: the TLS context of an identity, created on first use. */
MUST_USE struct err *http1_client_tls(struct http1_client *c, const struct http_identity *identity,
                                      struct tls_context **ret_context);

/* --- connections.c --- */

struct http_connection {
    struct http_connection *next; /* while it is kept */
    struct http1_client *client;
    struct socket *socket;
    struct wire *wire; /* the top one; owns the socket */
    char *key;         /* see route.h */
    uint64_t end_ms;   /* until when it is kept */
    bool is_reused;
};

/* Takes a kept connection that still works, or returns NULL. */
struct http_connection *connection_take(struct http1_client *c, const struct route *r);
/* Opens a new one. Waits, up to the caller's deadline. */
MUST_USE struct err *connection_open(struct http1_client *c, const struct route *r,
                                     struct http_connection **ret_connection);
/* Keeps it for the next request with the same route, or closes it if there can be none. */
void connection_keep(struct http_connection *take_connection);
void connection_free(struct http_connection *c); /* closes; accepts NULL */
void connections_free(struct http1_client *c);   /* all kept ones */

/* --- dial.c: a connection to a host, by the first of its addresses that answers ---
 *
 * In the manner of RFC 8305: IPv6 and IPv4 take turns, the next address is tried when one fails or
 * has not answered within 250 ms, and the first one that answers wins. */

struct dial {
    const char *host; /* a name, or an address without brackets */
    int port;
    const char *addresses;   /* to use instead of looking up: "1.2.3.4,[::1]"; NULL: none */
    const char *unix_socket; /* its path, instead of all above; NULL: none */
    const char *peer;        /* for messages */
    bool is_proxy;           /* for advice */
};

/* Waits, up to the caller's deadline. ERR_NETWORK, final where another try is useless. The socket
 * does not block. */
MUST_USE struct err *dial_open(const struct dial *d, struct name_cache *names, int *ret_fd);

/* --- tunnel.c: asks a proxy for a connection to the target: CONNECT of HTTP, or SOCKS 5 ---
 *
 * Both wait until the proxy has agreed; then the wire leads to the target. ERR_NETWORK says what
 * the proxy answered, and never names the password. */

struct tunnel {
    struct wire *wire; /* to the proxy, on `socket` */
    struct socket *socket;
    const struct route *route;
};

MUST_USE struct err *tunnel_connect(const struct tunnel *t, const char *user_agent);
/* `address` is the target's; NULL: the proxy finds it. */
MUST_USE struct err *tunnel_socks5(const struct tunnel *t, const char *address);

/* --- exchange.c: the client's operations --- */

struct err *exchange_open(struct http_client *c, const struct http_request *request,
                          struct http_exchange **ret_exchange,
                          struct http_response *ret_response) MUST_USE;
struct err *exchange_read(struct http_exchange *x, struct str *ret_bytes) MUST_USE;
void exchange_close(struct http_exchange *x);

/* --- exchange_error.c: errors in words --- */

MUST_USE struct err *exchange_connect_timeout(const struct route *r, uint64_t connect_ms);
MUST_USE struct err *exchange_idle_timeout(const struct route *r, uint64_t idle_ms);
MUST_USE struct err *exchange_total_timeout(const struct route *r, uint64_t total_ms);
/* The peer closed the connection after this many bytes of a head. */
MUST_USE struct err *exchange_head_missing(const struct route *r, size_t n_bytes);
MUST_USE struct err *exchange_fault(const struct route *r, enum http1_fault fault);
MUST_USE struct err *exchange_body_missing(const struct route *r, const struct http1_body *b);
MUST_USE struct err *exchange_too_large(const struct route *r, size_t max_bytes);
MUST_USE struct err *exchange_too_much_between(const struct route *r, uint64_t n_bytes);

#endif
