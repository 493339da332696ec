/* tls_internal.h - what the files behind tls.h know of each other. */
#ifndef KEEL_NET_TLS_INTERNAL_H
#define KEEL_NET_TLS_INTERNAL_H

#include "net/tls.h"
#include "net/tls_api.h"

struct tls_trust {
    X509_STORE *store;
};

struct tls_session;

struct tls_context {
    SSL_CTX *ctx;
    BIO_METHOD *method;
    char *certificate, *key, *passphrase; /* the identity; may be NULL */
    struct tls_session *sessions;         /* newest first */
};

struct tls_wire {
    struct wire wire; /* first */
    struct tls_context *context;
    struct wire *lower;
    SSL *ssl;
    char *peer;
    char *session_name;      /* "host:port" */
    struct strbuf out;       /* encrypted, not yet taken by `lower` */
    struct err *lower_error; /* that a call of OpenSSL met */
    int read_wants;          /* what it waited for when it had no byte */
    bool lower_ended;        /* the peer's side of it */
    bool is_set_up, has_kept_session;
};

/* tls.c: how OpenSSL reaches the wire below. */
BIO_METHOD *tls_method_new(void) MUST_USE;

/* tls_session.c */
void tls_session_keep(struct tls_wire *t);
SSL_SESSION *tls_session_find(struct tls_context *c, const char *name); /* NULL: there is none */
void tls_sessions_free(struct tls_context *c);

/* tls_error.c: what OpenSSL's queue of errors says, in words; empties it. */
MUST_USE struct err *tls_handshake_error(const struct tls_wire *t);
MUST_USE struct err *tls_broken_error(const struct tls_wire *t);
MUST_USE struct err *tls_identity_error(const char *file);

#endif
