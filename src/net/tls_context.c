/* tls_context.c - loads OpenSSL; holds whom a client trusts, and who it is itself. */
#include "net/tls_internal.h"

#include "sys/dylib.h"

#include <limits.h>
#include <pthread.h>

/* --- the library --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of is_loaded */
static bool is_loaded;
static struct tls_api library; /* constant once it is loaded */

static struct err *load_library(void)
{
    const struct dylib_symbol of_ssl[] = {
#define X(name) {#name, (void **)&library.name},
        TLS_SSL_TABLE(X)};
    const struct dylib_symbol of_crypto[] = {TLS_CRYPTO_TABLE(X)};
#undef X

    TRY(dylib_load(TLS_LIBRARY, TLS_PACKAGE, of_ssl, ARRAY_LEN(of_ssl)));
    TRY(dylib_load("libcrypto.so.3", TLS_PACKAGE, of_crypto, ARRAY_LEN(of_crypto)));
    if (!library.OPENSSL_init_ssl(0, NULL))
        return err_new(ERR_CONFIGURATION, "cannot start " TLS_LIBRARY);
    is_loaded = true;
    return NULL;
}

struct err *tls_load(void)
{
    struct err *e;

    pthread_mutex_lock(&lock);
    e = is_loaded ? NULL : load_library();
    pthread_mutex_unlock(&lock);
    return e;
}

const struct tls_api *tls_api_get(void)
{
    return &library;
}

/* --- whom to trust --- */

static int no_passphrase(char *buffer, int size, int is_writing, void *arg)
{
    return -1; /* otherwise OpenSSL would ask on the terminal */
}

/* A file may hold other things between certificates, and one certificate twice. */
static void add_pem(const struct tls_trust *t, struct str pem)
{
    BIO *bio = tls_api_get()->BIO_new_mem_buf(pem.p, (int)MIN(pem.n, (size_t)INT_MAX));
    X509 *certificate;

    while (bio &&
           (certificate = tls_api_get()->PEM_read_bio_X509(bio, NULL, no_passphrase, NULL))) {
        tls_api_get()->X509_STORE_add_cert(t->store, certificate);
        tls_api_get()->X509_free(certificate);
    }
    if (bio)
        tls_api_get()->BIO_free(bio);
    tls_api_get()->ERR_clear_error();
}

static struct err *fill_store(const struct tls_trust *t, const struct ca_options *options)
{
    AUTO(strbuf) struct strbuf pem = {0};
    struct ca ca;
    int is_read = 1;

    ca_find(options, &ca);
    TRY(ca_read_extra(options, &ca, &pem));
    if (strcmp(ca.kind, "directory") == 0)
        is_read = tls_api_get()->X509_STORE_load_path(t->store, ca.path);
    else if (!pem.n && ca.path[0])
        is_read = tls_api_get()->X509_STORE_load_file(t->store, ca.path);
    if (pem.n)
        add_pem(t, strbuf_str(&pem));
    tls_api_get()->ERR_clear_error();
    if (is_read == 1)
        return NULL;
    return err_hint(
        err_new(ERR_CONFIGURATION, "cannot read the trusted certificates in %s", ca.path),
        "check SSL_CERT_FILE and SSL_CERT_DIR");
}

/* A certificate in the middle of a chain may be trusted, not only one at its end. */
struct err *tls_trust_new(const struct ca_options *options, struct tls_trust **ret_trust)
{
    const struct tls_api *api = tls_api_get();
    struct tls_trust *t;
    struct err *e;

    TRY(tls_load());
    t = mem_alloc(sizeof *t);
    t->store = api->X509_STORE_new();
    if (!t->store)
        BUG("out of memory in OpenSSL");
    api->X509_STORE_set_flags(t->store, X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST);
    e = fill_store(t, options);
    if (e) {
        tls_trust_free(t);
        return e;
    }
    *ret_trust = t;
    return NULL;
}

void tls_trust_free(struct tls_trust *t)
{
    if (!t)
        return;
    tls_api_get()->X509_STORE_free(t->store);
    mem_free(t);
}

/* --- the client's identity --- */

static int give_passphrase(char *buffer, int size, int is_writing, void *arg)
{
    size_t n = arg ? strlen(arg) : 0;

    if (!arg || n > (size_t)size)
        return -1;
    memcpy(buffer, arg, n);
    return (int)n;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool tls_context_is_for(const struct tls_context *c, const struct http_identity *identity)
{
    return is_same(c->certificate, identity->certificate) && is_same(c->key, identity->key) &&
           is_same(c->passphrase, identity->passphrase);
}

/* --- life cycle --- */

/* The modes: read as much as there is; release empty buffers; take a part of a long text, which may
 * have moved before the next try. */
static struct err *set_up(struct tls_context *c, const struct tls_trust *trust)
{
    const char *key = c->key ? c->key : c->certificate; /* one file may hold both */

    c->ctx = tls_api_get()->SSL_CTX_new(tls_api_get()->TLS_client_method());
    if (!c->ctx) {
        tls_api_get()->ERR_clear_error();
        return err_hint(err_new(ERR_CONFIGURATION, "cannot initialize OpenSSL"),
                        "check its configuration; openssl version -d prints the directory");
    }
    tls_api_get()->SSL_CTX_ctrl(c->ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    tls_api_get()->SSL_CTX_ctrl(c->ctx, SSL_CTRL_SET_READ_AHEAD, 1, NULL);
    tls_api_get()->SSL_CTX_ctrl(c->ctx, SSL_CTRL_MODE,
                                SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                    SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
                                NULL);
    tls_api_get()->SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER, NULL);
    tls_api_get()->SSL_CTX_set1_cert_store(c->ctx, trust->store);
    if (!c->certificate)
        return NULL;
    tls_api_get()->SSL_CTX_set_default_passwd_cb(c->ctx, give_passphrase);
    tls_api_get()->SSL_CTX_set_default_passwd_cb_userdata(c->ctx, c->passphrase);
    if (tls_api_get()->SSL_CTX_use_certificate_chain_file(c->ctx, c->certificate) != 1)
        return tls_identity_error(c->certificate);
    if (tls_api_get()->SSL_CTX_use_PrivateKey_file(c->ctx, key, SSL_FILETYPE_PEM) != 1 ||
        tls_api_get()->SSL_CTX_check_private_key(c->ctx) != 1)
        return tls_identity_error(key);
    return NULL;
}

static char *copy_text(const char *text)
{
    return text ? mem_strdup(text) : NULL;
}

struct err *tls_context_new(const struct tls_trust *trust, const struct http_identity *identity,
                            struct tls_context **ret_context)
{
    struct tls_context *c = mem_alloc(sizeof *c);
    struct err *e;

    c->certificate = copy_text(identity->certificate);
    c->key = copy_text(identity->key);
    c->passphrase = copy_text(identity->passphrase);
    e = set_up(c, trust);
    if (e) {
        tls_context_free(c);
        return e;
    }
    c->method = tls_method_new();
    *ret_context = c;
    return NULL;
}

void tls_context_free(struct tls_context *c)
{
    if (!c)
        return;
    tls_sessions_free(c);
    if (c->ctx)
        tls_api_get()->SSL_CTX_free(c->ctx);
    if (c->method)
        tls_api_get()->BIO_meth_free(c->method);
    if (c->passphrase)
        mem_wipe(c->passphrase, strlen(c->passphrase));
    mem_free(c->passphrase);
    mem_free(c->key);
    mem_free(c->certificate);
    mem_free(c);
}
