/* path_key.h - most path patterns are for other paths, as a few of their bytes tell. */
#ifndef KEEL_GATE_PATH_KEY_H
#define KEEL_GATE_PATH_KEY_H

#include "gate/gram.h"
#include "gate/pattern.h"

/* What a path must hold for the pattern to match it, read either way. One that may turn out not to
 * be readable is in doubt for every path, and must hold nothing. */
struct gram_key path_key_of(struct str pattern);

/* Is one so long that a pattern below it might be unreadable? */
bool path_bases_are_long(const struct path_bases *bases);

#endif
