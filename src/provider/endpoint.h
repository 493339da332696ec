/* endpoint.h - a provider over HTTP: protocol x endpoint x auth. */
#ifndef KEEL_PROVIDER_ENDPOINT_H
#define KEEL_PROVIDER_ENDPOINT_H

#include "port/provider.h"
#include "provider/vendor.h"

struct endpoint_config {
    struct str id; /* the profile's identity */
    const struct protocol *protocol;
    const struct dialect *dialect;
    struct str base_url;
    enum auth_style auth;
    struct str region;           /* of a key that signs requests to AWS */
    struct http_headers headers; /* the profile's own; they replace keel's of the same name */
    struct http_identity identity;
    struct str models_path; /* empty: models cannot be listed */
    struct str key_hint;    /* what to do about a refused key: "check ANTHROPIC_API_KEY" */
    bool has_web_search, has_web_fetch;
};

/* Copies the configuration. ERR_CONFIGURATION when the base URL is no http(s) URL, or holds a
 * user's name or password. */
MUST_USE struct err *endpoint_provider_new(const struct endpoint_config *config,
                                           struct provider **ret_provider);

#endif
