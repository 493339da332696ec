/* config_check.h - is this what an event, a group, a hook looks like? Pure.
 *
 * Errors name file and key. In a foreign file unknown keys are fine, but for those whose meaning
 * would be lost: what they narrow must not run without them. */
#ifndef KEEL_HOOK_CONFIG_CHECK_H
#define KEEL_HOOK_CONFIG_CHECK_H

#include "hook/table.h"

struct hook_checker {
    const char *file;
    const char *path; /* of what is being looked at: hooks.PreToolUse[0].hooks[1] */
    bool is_foreign;
};

/* ERR_VALIDATION: FILE: "PATH" and the rest. */
NEVER_NULL MUST_USE struct err *hook_wrong(const struct hook_checker *c, const char *format, ...)
    PRINTF_LIKE(2, 3);

MUST_USE struct err *hook_check_event(const struct hook_checker *c, const struct json *groups,
                                      enum hook_event *ret_event);
MUST_USE struct err *hook_check_group(const struct hook_checker *c, enum hook_event event,
                                      const struct json *group);
MUST_USE struct err *hook_check_hook(const struct hook_checker *c, enum hook_event event,
                                     const struct json *hook);

/* What a hook of a known type runs: its command line, its URL (without credentials), its id. */
struct str hook_main_text(struct arena *a, const struct json *hook);

#endif
