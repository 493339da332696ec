/* known_secrets.h - the credentials that keel knows of: those of the vendors' variables, of the
 * settings and of the web search. */
#ifndef KEEL_SDK_KNOWN_SECRETS_H
#define KEEL_SDK_KNOWN_SECRETS_H

#include "base/secrets.h"
#include "sdk/runtime.h"

/* NULL: there is none that is worth looking for. */
struct secrets *known_secrets(const struct runtime *r) MUST_USE;

#endif
