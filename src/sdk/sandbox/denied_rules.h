/* denied_rules.h - which of the places that rules deny shape a sandbox. Pure. */
#ifndef KEEL_SDK_SANDBOX_DENIED_RULES_H
#define KEEL_SDK_SANDBOX_DENIED_RULES_H

#include "gate/denied_places.h"

/* Drops patterns that others say as well, and what rules of a project that is not trusted name
 * outside of the workspace. */
void denied_rules_choose(struct denied_places *d, const char *workspace);

/* Do both have the same patterns, in the same order? Fixed places do not count. */
bool denied_rules_same_patterns(const struct denied_places *a, const struct denied_places *b);

#endif
