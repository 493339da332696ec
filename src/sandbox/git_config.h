/* git_config.h - is a repository's configuration one that makes git run nothing? */
#ifndef KEEL_SANDBOX_GIT_CONFIG_H
#define KEEL_SANDBOX_GIT_CONFIG_H

#include "base/str.h"

/* True when it holds only what git writes on init, clone and branch. Anything else, known to be
 * harmless or not, is false. */
bool git_config_is_plain(struct str text);

#endif
