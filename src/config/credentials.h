/* credentials.h - the credential port over settings, variables, helpers and clouds.
 *
 * Settings and variables are read anew at every call. What a command printed or a cloud gave is
 * kept in memory until shortly before it expires, or until it was refused; then it is fetched
 * anew, once. All of it becomes known to `secrets` before it is used. */
#ifndef KEEL_CONFIG_CREDENTIALS_H
#define KEEL_CONFIG_CREDENTIALS_H

#include "base/secrets.h"
#include "config/key_place.h"
#include "net/http.h"
#include "port/credential.h"
#include "port/tool.h"

struct kept_key;

struct profile_credentials {
    struct credentials port;
    const struct settings *settings;
    const char *const *environment;
    const struct http_source *http; /* for tokens; NULL: none can be fetched */
    struct secrets *secrets;        /* borrowed; NULL: nothing has to be hidden */
    struct kept_key *kept;
};
void profile_credentials_init(struct profile_credentials *c, const struct settings *settings,
                              const char *const *environment);
void profile_credentials_done(struct profile_credentials *c); /* wipes what is kept */

/* Fetches the key of a provider if it has to be fetched, so that it is known before the first text
 * is searched for it. What goes wrong comes again when the provider is asked. Waits. */
void profile_credentials_learn(struct profile_credentials *c, struct str provider);

#endif
