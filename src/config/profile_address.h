/* profile_address.h - where a provider is: a profile's baseUrl, a variable, or the vendor's own
 * address, with the parts that the person chooses (a region, a project) filled in. */
#ifndef KEEL_CONFIG_PROFILE_ADDRESS_H
#define KEEL_CONFIG_PROFILE_ADDRESS_H

#include "base/arena.h"
#include "provider/vendor.h"

struct address_query {
    struct str id;               /* for messages */
    const struct vendor *vendor; /* NULL: only a protocol is known */
    const struct json *profile;  /* its settings; may be NULL */
    const char *const *environment;
    struct arena *arena;
};

/* Empty when nothing says an address. ERR_CONFIGURATION names the part that is missing. */
MUST_USE struct err *profile_address(const struct address_query *q, struct str *ret_url);
/* A part by its name, "region"; empty when it is not said. */
struct str profile_place(const struct address_query *q, const char *name);
/* The error for it. */
MUST_USE struct err *profile_place_missing(const struct address_query *q, const char *name);

#endif
