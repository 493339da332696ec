/* table.h - the events of hooks: when each fires, its fields, and what matchers compare.
 *
 * Names, and whether an event may block, are in port/hook.h; everything else is in one table. */
#ifndef KEEL_HOOK_TABLE_H
#define KEEL_HOOK_TABLE_H

#include "port/hook.h"

struct hook_event_info {
    const char *fires;  /* when: "before a tool call is judged by rules and mode" */
    const char *owner;  /* the folder of src/ that fires it; NULL: none does yet */
    const char *fields; /* its own fields, separated by blanks */
    /* The field that matchers compare; NULL: none, every group matches. */
    const char *match_field;
    bool decides_permission;  /* an answer may allow, ask or deny */
    bool takes_changed_input; /* an answer may hold updatedInput */
    bool stdout_is_context;   /* plain text on stdout goes to the model */
    bool block_goes_on;       /* blocking it makes the turn continue */
};
const struct hook_event_info *hook_event_info(enum hook_event e);

#endif
