/* unknown_name.h - errors about names of vendors and models that keel does not know: what was
 * probably meant, and how to ask for the name all the same. ERR_VALIDATION, but for what settings
 * say. */
#ifndef KEEL_CONFIG_UNKNOWN_NAME_H
#define KEEL_CONFIG_UNKNOWN_NAME_H

#include "config/profile.h"

/* "vendor/model" with a vendor that is neither in the table nor one of these profiles. */
NEVER_NULL MUST_USE struct err *unknown_vendor(const struct json *profiles, struct str text);
/* A word that names nothing, where no provider is set up that might know it as a model. */
NEVER_NULL MUST_USE struct err *unknown_name(struct str name);
/* The profile's model, which nobody has asked this provider for by name. */
NEVER_NULL MUST_USE struct err *unknown_model(const struct profile *p);

/* `currentProvider` names neither a profile nor a vendor: ERR_CONFIGURATION. */
NEVER_NULL MUST_USE struct err *unknown_current(const struct settings *settings,
                                                const struct json *profiles, struct str name);
/* A profile whose type is neither a vendor nor a protocol: ERR_CONFIGURATION. */
NEVER_NULL MUST_USE struct err *unknown_type(const struct settings *settings, struct str id,
                                             struct str type);

#endif
