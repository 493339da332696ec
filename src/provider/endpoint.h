/* endpoint.h - a provider over HTTP: protocol x endpoint x auth. */
#ifndef KEEL_PROVIDER_ENDPOINT_H
#define KEEL_PROVIDER_ENDPOINT_H

#include "port/provider.h"
#include "provider/vendor.h"

struct endpoint_config {
    struct str id; /* the profile's identity */
    const struct protocol *protocol;
    const struct dialect *dialect;
    const struct vendor *words; /* the row with its words for what no field says; may be NULL */
    struct str base_url;
    enum auth_style auth;
    struct str region;           /* of a key that signs requests to AWS */
    struct http_headers headers; /* the profile's own; they replace keel's of the same name */
    struct http_identity identity;
    struct str models_path; /* empty: models cannot be listed */
    struct str about_path;  /* of a list that tells more, below the host; empty: there is none */
    bool has_any_name;      /* the only model of a list has every name */
    struct str key_hint;    /* what to do about a refused key: "check ANTHROPIC_API_KEY" */
    bool has_web_search, has_web_fetch;
};

/* Copies the configuration. ERR_CONFIGURATION when the base URL is no http(s) URL, or holds a
 * user's name or password. */
MUST_USE struct err *endpoint_provider_new(const struct endpoint_config *config,
                                           struct provider **ret_provider);

/* Asks the server itself about one of its models, for those that no catalogue knows: its window
 * above all, and what it can. `p` must have been made by endpoint_provider_new(). Strings live in
 * `a`; 0 is unknown. ERR_MODEL_NOT_AVAILABLE when the server does not list it, but others. May
 * wait, 20 s at most for each of two requests. */
MUST_USE struct err *endpoint_ask_model(const struct provider *p, const struct provider_call *call,
                                        struct str model, struct arena *a,
                                        struct model_info *ret_model);

#endif
