/* known_secrets.h - the credentials that keel knows of: those of the vendors' variables, of the
 * settings, of the web search and of the store. */
#ifndef KEEL_SDK_KNOWN_SECRETS_H
#define KEEL_SDK_KNOWN_SECRETS_H

#include "base/secrets.h"
#include "sdk/project.h"

/* `store` is --store as it was given, which may hold a password; NULL: it was not. The set is never
 * NULL, and grows with the keys that are fetched later (credentials.h). */
struct secrets *known_secrets(const struct project *p, const char *store) MUST_USE;
/* That of another store's address joins them. */
void secrets_learn_store(struct secrets *s, const char *store);

#endif
