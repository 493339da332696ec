/* clean_env.h - what commands find in their environment. Pure.
 *
 * A copy of keel's own without credentials, without what makes a shell or the loader do things
 * that the command does not say, and with settings that keep programs from paging and colouring
 * for a person who is not there. */
#ifndef KEEL_SYS_CLEAN_ENV_H
#define KEEL_SYS_CLEAN_ENV_H

#include "base/secrets.h"

/* By its words: OPENAI_API_KEY, GH_TOKEN, AWS_ACCESS_KEY_ID, PGPASSWORD, npm_config__authToken. */
bool variable_is_secret(struct str name);

/* `environment` NULL: the process's own. `hidden` are names that are secret though they do not
 * look like it; so is each variable that holds one of `secrets`, whatever its name. `settings`
 * ("NAME=value", ends with NULL) win over all else. The array ends with NULL and lives in `a`; its
 * entries borrow. */
const char *const *clean_environment(struct arena *a, const char *const *environment,
                                     const struct str *hidden, size_t n_hidden,
                                     const struct secrets *secrets,
                                     const char *const *settings) MUST_USE;

/* For a program of the operator's own, which may need credentials that keel knows nothing of: all
 * but the variables that hold one of `secrets`; the one named `kept` stays. */
const char *const *environment_without(struct arena *a, const char *const *environment,
                                       const struct secrets *secrets, struct str kept) MUST_USE;

#endif
