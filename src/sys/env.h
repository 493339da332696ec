/* env.h - looks up a variable in a given environment. */
#ifndef KEEL_SYS_ENV_H
#define KEEL_SYS_ENV_H

#include "base/arena.h"

/* Empty when it is unset or set to nothing; otherwise followed by a NUL. `environment` NULL: the
 * process's own. */
struct str env_get(const char *const *environment, struct str name);
/* The same with NULL for empty. */
const char *env_find(const char *const *environment, const char *name);

/* The user's home directory by the password database, for users without HOME. It may ask the
 * network. Empty: none. */
struct str env_user_home(struct arena *a);

/* "$ENV:NAME" in a settings file: is it one, and what is its value? */
#define ENV_REFERENCE_PREFIX "$ENV:"
bool env_is_reference(struct str value);
struct str env_resolve(struct str reference, const char *const *environment); /* empty if unset */

#endif
