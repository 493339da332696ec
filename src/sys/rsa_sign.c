/* rsa_sign.c - calls a few functions of libcrypto. They are declared here, because their types are
 * opaque: so building keel needs no headers of OpenSSL. */
#include "sys/rsa_sign.h"

#include "sys/dylib.h"

#include <limits.h>

#define LIBRARY "libcrypto.so.3"
#define PACKAGE "libssl3 (on Debian 13: libssl3t64)"
#define MAX_SIGNATURE_BYTES 2048 /* of a key of 16384 bits */

struct crypto_api {
    void *(*bio_new)(const void *bytes, int n);
    int (*bio_free)(void *bio);
    void *(*read_key)(void *bio, void **key, int (*ask)(char *, int, int, void *), void *arg);
    void (*key_free)(void *key);
    int (*key_is_a)(const void *key, const char *type);
    void *(*context_new)(void);
    void (*context_free)(void *context);
    const void *(*sha256)(void);
    int (*init)(void *context, void **key_context, const void *digest, void *engine, void *key);
    int (*sign)(void *context, unsigned char *out, size_t *n, const unsigned char *bytes,
                size_t n_bytes);
    void (*clear_errors)(void);
};

static struct err *load(struct crypto_api *api)
{
    const struct dylib_symbol symbols[] = {
        {"BIO_new_mem_buf", (void **)&api->bio_new},
        {"BIO_free", (void **)&api->bio_free},
        {"PEM_read_bio_PrivateKey", (void **)&api->read_key},
        {"EVP_PKEY_free", (void **)&api->key_free},
        {"EVP_PKEY_is_a", (void **)&api->key_is_a},
        {"EVP_MD_CTX_new", (void **)&api->context_new},
        {"EVP_MD_CTX_free", (void **)&api->context_free},
        {"EVP_sha256", (void **)&api->sha256},
        {"EVP_DigestSignInit", (void **)&api->init},
        {"EVP_DigestSign", (void **)&api->sign},
        {"ERR_clear_error", (void **)&api->clear_errors},
    };

    return dylib_load(LIBRARY, PACKAGE, symbols, ARRAY_LEN(symbols));
}

/* OpenSSL would ask for a passphrase on the terminal. */
static int no_passphrase(char *buffer, int size, int is_writing, void *arg)
{
    return -1;
}

static void *read_key(const struct crypto_api *api, struct str pem)
{
    void *bio = pem.n && pem.n <= INT_MAX ? api->bio_new(pem.p, (int)pem.n) : NULL;
    void *key = bio ? api->read_key(bio, NULL, no_passphrase, NULL) : NULL;

    if (bio)
        api->bio_free(bio);
    if (key && !api->key_is_a(key, "RSA")) {
        api->key_free(key);
        return NULL;
    }
    return key;
}

struct err *rsa_sign_sha256(struct str pem, struct str bytes, struct strbuf *signature)
{
    struct crypto_api api;
    unsigned char out[MAX_SIGNATURE_BYTES];
    size_t n = sizeof out;
    void *key, *context;
    bool is_done;

    TRY(load(&api));
    key = read_key(&api, pem);
    if (!key) {
        api.clear_errors();
        return err_new(ERR_VALIDATION, "the private key is not a readable RSA key in PEM format");
    }
    context = api.context_new();
    is_done = context && api.init(context, NULL, api.sha256(), NULL, key) == 1 &&
              api.sign(context, out, &n, (const unsigned char *)bytes.p, bytes.n) == 1;
    if (context)
        api.context_free(context);
    api.key_free(key);
    api.clear_errors();
    if (!is_done)
        return err_new(ERR_VALIDATION, "cannot sign with the private key");
    strbuf_add(signature, str_make((const char *)out, n));
    return NULL;
}
