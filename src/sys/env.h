/* env.h - a variable out of an environment that was handed in. */
#ifndef KEEL_SYS_ENV_H
#define KEEL_SYS_ENV_H

#include "base/arena.h"

/* Empty when it is not set or set to nothing; else followed by a NUL. `environment` NULL: the
 * process's own. */
struct str env_get(const char *const *environment, struct str name);
/* The same with NULL for nothing. */
const char *env_find(const char *const *environment, const char *name);

/* The user's home directory by the password database, for those who have no HOME: it may ask the
 * network. Empty: it names none. */
struct str env_user_home(struct arena *a);

/* "$ENV:NAME" in a settings file: is it one, and what does it stand for? */
#define ENV_REFERENCE_PREFIX "$ENV:"
bool env_is_reference(struct str value);
struct str env_resolve(struct str reference, const char *const *environment); /* empty if unset */

#endif
