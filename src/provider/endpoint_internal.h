/* endpoint_internal.h - the parts of a provider over HTTP: endpoint.c creates it, endpoint_ask.c
 * asks a model, endpoint_models.c lists models. */
#ifndef KEEL_PROVIDER_ENDPOINT_INTERNAL_H
#define KEEL_PROVIDER_ENDPOINT_INTERNAL_H

#include "provider/endpoint.h"

struct endpoint {
    struct provider provider;
    struct arena arena; /* owns the configuration's strings */
    struct endpoint_config config;
};

/* Adds the key and the profile's headers to a request. Signs it for AWS if the key has an id: the
 * signature covers the headers, so none may be added afterwards. */
MUST_USE struct err *endpoint_add_headers(const struct endpoint_config *c, const struct secret *key,
                                          struct arena *a, struct http_request *request);

/* For the table of functions. */
struct err *endpoint_ask(const struct provider *p, const struct model_request *r,
                         const struct provider_call *call, struct reply *reply);
struct err *endpoint_list_models(const struct provider *p, const struct provider_call *call,
                                 struct arena *a, struct model_list *ret_models);

#endif
