/* endpoint.h - a provider over HTTP: protocol x endpoint x auth. */
#ifndef KEEL_PROVIDER_ENDPOINT_H
#define KEEL_PROVIDER_ENDPOINT_H

#include "port/provider.h"
#include "provider/vendor.h"

struct endpoint_config {
    struct str id; /* the profile's identity */
    const struct protocol *protocol;
    const struct dialect *dialect;
    const struct vendor *words; /* the row with its words for refusals; may be NULL */
    struct str base_url;
    enum auth_style auth;
    struct str region;           /* for keys that sign requests to AWS */
    struct http_headers headers; /* the profile's; they replace keel's of the same name */
    struct http_identity identity;
    struct str models_path; /* empty: models cannot be listed */
    struct str about_path;  /* of a list with more details, below the host; empty: none */
    bool has_any_name;      /* the only model of a list answers to every name */
    struct str key_hint;    /* what to do if the key is refused: "check ANTHROPIC_API_KEY" */
    bool has_web_search, has_web_fetch;
};

/* Copies the configuration. ERR_CONFIGURATION if the base URL is not an http(s) URL, or has a user
 * name or a password. */
MUST_USE struct err *endpoint_provider_new(const struct endpoint_config *config,
                                           struct provider **ret_provider);

/* Asks the server about one of its models, for models that no catalogue has: its window and what it
 * can do. `p` must be from endpoint_provider_new(). Strings live in `a`; 0 means unknown.
 * ERR_MODEL_NOT_AVAILABLE if the server does not list it. May wait for two requests, at most 20 s
 * each. */
MUST_USE struct err *endpoint_ask_model(const struct provider *p, const struct provider_call *call,
                                        struct str model, struct arena *a,
                                        struct model_info *ret_model);

#endif
