/* settings_hooks.h - the hooks of all layers of the settings. */
#ifndef KEEL_CONFIG_SETTINGS_HOOKS_H
#define KEEL_CONFIG_SETTINGS_HOOKS_H

#include "config/settings.h"
#include "hook/config.h"

/* They add up, those of the lowest layer first; what a project that is not trusted says is not
 * among them. Strict for files of our own: ERR_VALIDATION names file and key. */
MUST_USE struct err *settings_hooks(const struct settings *s, struct hook_config **ret_config);

#endif
