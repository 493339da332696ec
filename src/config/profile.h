/* profile.h - which model is asked, where, and with whose key: from flags, settings, environment.
 *
 * Asked for in this order: --model (or the setting `model`) as vendor/model, profile/model or a
 * model's name; the profile that `currentProvider` names; the only profile there is; the vendor
 * whose key (or host) stands in the environment. The result borrows from the settings and the
 * arena. It holds no secret, only where one is found. */
#ifndef KEEL_CONFIG_PROFILE_H
#define KEEL_CONFIG_PROFILE_H

#include "config/key_place.h"
#include "port/provider.h"

struct profile {
    struct str id;               /* the profile's or vendor's name */
    const struct vendor *vendor; /* NULL: only a protocol is known */
    const struct protocol *protocol;
    struct str base_url;
    enum auth_style auth;
    struct str region; /* of AWS; else empty */
    struct http_identity identity;
    struct str model;
    struct model_info info; /* the catalogue's entry with the profile's own values on top */
    bool info_is_known;     /* the catalogue has the model */
    bool has_own_window, has_own_output; /* these numbers of `info` are the operator's */
    const struct json *options;
    struct http_headers headers;
    uint64_t idle_ms, total_ms; /* longest silence, longest answer; 0: as usual */
    unsigned max_attempts;      /* 0: the run's */
    struct {
        uint64_t first_ms, max_ms; /* 0: the run's */
    } backoff;
    struct str key_source; /* "ANTHROPIC_API_KEY", "providers.x.apiKey"; empty: none is needed */
    struct str notice;     /* to be said once on stderr: why this one was chosen; may be empty */
};

struct profile_query {
    const char *model;              /* --model; NULL: not given */
    const char *const *environment; /* NULL: environ */
    const char *home; /* keel's, with lists of models (config/saved_catalogue.h); or NULL */
    bool is_offline;  /* nobody is asked: neither a key nor an address is needed */
};

/* ERR_CONFIGURATION tells what to set, and where to get a key. */
MUST_USE struct err *profile_resolve(const struct settings *settings,
                                     const struct profile_query *query, struct arena *a,
                                     struct profile *ret_profile);

/* Does the environment or the settings hold a key for it, as far as one is needed? */
/* Where requests go, without credentials, if that is not the vendor's own address; else empty. */
struct str profile_elsewhere(const struct profile *p, struct arena *a);
bool profile_has_key(const struct settings *settings, const struct profile *p,
                     const char *const *environment);
MUST_USE struct err *profile_make_provider(const struct profile *p, struct provider **ret_provider);

#endif
