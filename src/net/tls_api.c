/* tls_api.c - opens OpenSSL. */
#include "net/tls_api.h"

#include "sys/dylib.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of is_loaded */
static bool is_loaded;
static struct tls_api api; /* does not change once it is loaded */

static struct err *load(void)
{
    const struct dylib_symbol of_ssl[] = {
#define X(name) {#name, (void **)&api.name},
        TLS_SSL_TABLE(X)};
    const struct dylib_symbol of_crypto[] = {TLS_CRYPTO_TABLE(X)};
#undef X

    TRY(dylib_load(TLS_LIBRARY, TLS_PACKAGE, of_ssl, ARRAY_LEN(of_ssl)));
    TRY(dylib_load("libcrypto.so.3", TLS_PACKAGE, of_crypto, ARRAY_LEN(of_crypto)));
    if (!api.OPENSSL_init_ssl(0, NULL))
        return err_new(ERR_CONFIGURATION, "cannot start " TLS_LIBRARY);
    is_loaded = true;
    return NULL;
}

struct err *tls_api_load(void)
{
    struct err *e;

    pthread_mutex_lock(&lock);
    e = is_loaded ? NULL : load();
    pthread_mutex_unlock(&lock);
    return e;
}

const struct tls_api *tls_api_get(void)
{
    return &api;
}
