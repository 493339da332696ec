/* curl_api.h - libcurl's functions, looked up by name: the library is not linked.
 *
 * Members are called as libcurl's functions without their prefix: api->easy_setopt(...). */
#ifndef KEEL_NET_CURL_API_H
#define KEEL_NET_CURL_API_H

#include "base/err.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#define CURL_API_TABLE(X)                                                                          \
    X(global_init)                                                                                 \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_getinfo)                                                                                \
    X(easy_pause)                                                                                  \
    X(easy_strerror)                                                                               \
    X(easy_cleanup)                                                                                \
    X(slist_append)                                                                                \
    X(slist_free_all)                                                                              \
    X(multi_init)                                                                                  \
    X(multi_setopt)                                                                                \
    X(multi_add_handle)                                                                            \
    X(multi_remove_handle)                                                                         \
    X(multi_assign)                                                                                \
    X(multi_socket_action)                                                                         \
    X(multi_info_read)                                                                             \
    X(multi_strerror)                                                                              \
    X(multi_cleanup)

struct curl_api {
#define X(name) __typeof__(curl_##name) *name;
    CURL_API_TABLE(X)
#undef X
};

/* Loads and initialises the library; cheap after the first time. */
MUST_USE struct err *curl_api_load(struct curl_api *ret_api);

#endif
