/* tls_internal.h - what the files behind tls.h know of each other. */
#ifndef KEEL_NET_TLS_INTERNAL_H
#define KEEL_NET_TLS_INTERNAL_H

#include "net/tls.h"

#define OPENSSL_API_COMPAT 30000
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/* --- OpenSSL's functions, looked up by name: keel does not link the library ---
 *
 * Members are called like the functions: api->SSL_read(...). Macros of OpenSSL are called by the
 * functions behind them. */

#define TLS_LIBRARY "libssl.so.3"
#define TLS_PACKAGE "libssl3 (on Debian 13: libssl3t64)"

#define TLS_SSL_TABLE(X)                                                                           \
    X(OPENSSL_init_ssl)                                                                            \
    X(TLS_client_method)                                                                           \
    X(SSL_CTX_new)                                                                                 \
    X(SSL_CTX_free)                                                                                \
    X(SSL_CTX_ctrl)                                                                                \
    X(SSL_CTX_set_verify)                                                                          \
    X(SSL_CTX_set1_cert_store)                                                                     \
    X(SSL_CTX_set_default_passwd_cb)                                                               \
    X(SSL_CTX_set_default_passwd_cb_userdata)                                                      \
    X(SSL_CTX_use_certificate_chain_file)                                                          \
    X(SSL_CTX_use_PrivateKey_file)                                                                 \
    X(SSL_CTX_check_private_key)                                                                   \
    X(SSL_new)                                                                                     \
    X(SSL_free)                                                                                    \
    X(SSL_ctrl)                                                                                    \
    X(SSL_set_bio)                                                                                 \
    X(SSL_set_alpn_protos)                                                                         \
    X(SSL_set1_host)                                                                               \
    X(SSL_set_hostflags)                                                                           \
    X(SSL_get0_param)                                                                              \
    X(SSL_set_session)                                                                             \
    X(SSL_set_connect_state)                                                                       \
    X(SSL_do_handshake)                                                                            \
    X(SSL_read)                                                                                    \
    X(SSL_write)                                                                                   \
    X(SSL_shutdown)                                                                                \
    X(SSL_get_error)                                                                               \
    X(SSL_get_verify_result)                                                                       \
    X(SSL_get1_session)                                                                            \
    X(SSL_SESSION_free)                                                                            \
    X(SSL_SESSION_is_resumable)

#define TLS_CRYPTO_TABLE(X)                                                                        \
    X(BIO_meth_new)                                                                                \
    X(BIO_meth_free)                                                                               \
    X(BIO_meth_set_read)                                                                           \
    X(BIO_meth_set_write)                                                                          \
    X(BIO_meth_set_ctrl)                                                                           \
    X(BIO_new)                                                                                     \
    X(BIO_new_mem_buf)                                                                             \
    X(BIO_free)                                                                                    \
    X(BIO_set_init)                                                                                \
    X(BIO_set_data)                                                                                \
    X(BIO_get_data)                                                                                \
    X(BIO_set_flags)                                                                               \
    X(BIO_clear_flags)                                                                             \
    X(PEM_read_bio_X509)                                                                           \
    X(X509_free)                                                                                   \
    X(X509_STORE_new)                                                                              \
    X(X509_STORE_free)                                                                             \
    X(X509_STORE_add_cert)                                                                         \
    X(X509_STORE_load_file)                                                                        \
    X(X509_STORE_load_path)                                                                        \
    X(X509_STORE_set_flags)                                                                        \
    X(X509_VERIFY_PARAM_set1_ip_asc)                                                               \
    X(X509_verify_cert_error_string)                                                               \
    X(ERR_clear_error)                                                                             \
    X(ERR_peek_error)                                                                              \
    X(ERR_reason_error_string)

struct tls_api {
#define X(name) __typeof__(name) *name;
    TLS_SSL_TABLE(X)
    TLS_CRYPTO_TABLE(X)
#undef X
};

/* The table, after tls_load(): OpenSSL's callbacks have no room for one of their own. */
const struct tls_api *tls_api_get(void);

/* --- objects --- */

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
    struct err *lower_error; /* that a callback of OpenSSL got */
    int read_wants;          /* what it waited for when it had no byte */
    bool lower_ended;        /* the peer ended its side of it */
    bool is_set_up, has_kept_session;
};

/* tls.c: how OpenSSL reaches the wire below. */
BIO_METHOD *tls_method_new(void) MUST_USE;

/* tls_session.c */
void tls_session_keep(struct tls_wire *t);
SSL_SESSION *tls_session_find(struct tls_context *c, const char *name); /* NULL: there is none */
void tls_sessions_free(struct tls_context *c);

/* tls_error.c: make errors of OpenSSL's queue, and empty it. */
MUST_USE struct err *tls_handshake_error(const struct tls_wire *t);
MUST_USE struct err *tls_broken_error(const struct tls_wire *t);
MUST_USE struct err *tls_identity_error(const char *file);

#endif
