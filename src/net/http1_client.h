/* http1_client.h - what the files behind http1.h know of each other. */
#ifndef KEEL_NET_HTTP1_CLIENT_H
#define KEEL_NET_HTTP1_CLIENT_H

#include "net/dial.h"
#include "net/http1.h"
#include "net/http1_body.h"
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

/* http1.c: the TLS of an identity, made when it is first asked for. */
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

/* One that was kept, if there is one that is still fit for use, else NULL. */
struct http_connection *connection_take(struct http1_client *c, const struct route *r);
/* A fresh one. Waits, for as long as the caller's deadline says. */
MUST_USE struct err *connection_open(struct http1_client *c, const struct route *r,
                                     struct http_connection **ret_connection);
/* For the next request that goes the same way; or it is closed, if none may have it. */
void connection_keep(struct http_connection *take_connection);
void connection_free(struct http_connection *c); /* closes; accepts NULL */
void connections_free(struct http1_client *c);   /* all that are kept */

/* --- exchange.c: the client's operations --- */

struct err *exchange_open(struct http_client *c, const struct http_request *request,
                          struct http_exchange **ret_exchange,
                          struct http_response *ret_response) MUST_USE;
struct err *exchange_read(struct http_exchange *x, struct str *ret_bytes) MUST_USE;
void exchange_close(struct http_exchange *x);

/* --- exchange_error.c: what went wrong, in words --- */

MUST_USE struct err *exchange_connect_timeout(const struct route *r, uint64_t connect_ms);
MUST_USE struct err *exchange_idle_timeout(const struct route *r, uint64_t idle_ms);
MUST_USE struct err *exchange_total_timeout(const struct route *r, uint64_t total_ms);
/* The peer has closed the connection after this many bytes of a head. */
MUST_USE struct err *exchange_head_missing(const struct route *r, size_t n_bytes);
MUST_USE struct err *exchange_fault(const struct route *r, enum http1_fault fault);
MUST_USE struct err *exchange_body_missing(const struct route *r, const struct http1_body *b);
MUST_USE struct err *exchange_too_large(const struct route *r, size_t max_bytes);
MUST_USE struct err *exchange_too_much_between(const struct route *r, uint64_t n_bytes);

#endif
