/* passed_variables.h - variables that a person lets commands see on purpose: sandbox.environment.
 *
 * Only the person's own settings and flags count. What a project says is ignored, trusted or not:
 * whose credentials reach commands is not for a repository to decide. */
#ifndef KEEL_CONFIG_PASSED_VARIABLES_H
#define KEEL_CONFIG_PASSED_VARIABLES_H

#include "config/settings.h"

/* Names, or beginnings of names with a star; in `a`. */
const struct str *passed_variables(const struct settings *s, struct arena *a,
                                   size_t *ret_n) MUST_USE;

#endif
