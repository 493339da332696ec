/* curl_api.c - opens libcurl. */
#include "net/curl_api.h"

#include "sys/dylib.h"

#include <pthread.h>

/* It counts, and is safe from several threads since 7.84 only. */
static CURLcode init(const struct curl_api *api)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    CURLcode code;

    pthread_mutex_lock(&lock);
    code = api->global_init(CURL_GLOBAL_DEFAULT);
    pthread_mutex_unlock(&lock);
    return code;
}

struct err *curl_api_load(struct curl_api *ret_api)
{
    struct curl_api api;
    const struct dylib_symbol symbols[] = {
#define X(name) {"curl_" #name, (void **)&api.name},
        CURL_API_TABLE(X)
#undef X
    };
    CURLcode code;

    TRY(dylib_load("libcurl.so.4", "libcurl4", symbols, ARRAY_LEN(symbols)));
    code = init(&api);
    if (code != CURLE_OK)
        return err_new(ERR_CONFIGURATION, "cannot start libcurl: %s", api.easy_strerror(code));
    *ret_api = api;
    return NULL;
}
