/* key_place.h - where the key of a provider stands, or what gives it.
 *
 * In this order: apiKey of the profile, apiKeyHelper of the profile, the vendor's variables, the
 * top level's apiKeyHelper (for one vendor), what the vendor's cloud keeps. Helpers are commands,
 * and count only where the person's own files or --settings name them. */
#ifndef KEEL_CONFIG_KEY_PLACE_H
#define KEEL_CONFIG_KEY_PLACE_H

#include "config/settings.h"
#include "provider/vendor.h"

enum key_place_kind {
    KEY_NOWHERE,
    KEY_IN_SETTINGS, /* text: as it stands there, maybe "$ENV:NAME" */
    KEY_IN_VARIABLE, /* text: its name */
    KEY_BY_HELPER,   /* text: the command */
    KEY_BY_AWS,
    KEY_BY_GOOGLE,
};

struct key_place {
    enum key_place_kind kind;
    struct str name; /* for messages: "ANTHROPIC_API_KEY", "providers.x.apiKey" */
    struct str text;
    enum auth_style auth; /* how such a key is sent */
};

/* `v` may be NULL: only a protocol is known, and keys are sent as `auth` says. Borrows from the
 * settings; names live in the arena. */
struct key_place key_place_find(const struct settings *s, const char *const *environment,
                                struct str id, const struct vendor *v, enum auth_style auth,
                                struct arena *a);

/* The vendor that a profile of this name is of; NULL: only a protocol is known, or nothing. */
const struct vendor *profile_vendor(const struct settings *s, const char *const *environment,
                                    struct str id);

/* The first variable of the vendor's lists that is set; empty if none is. */
struct str vendor_key_variable(const struct vendor *v, const char *const *environment);

#endif
