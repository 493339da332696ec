/* table.h - the events of hooks: where each fires, what it tells, what a matcher looks at.
 *
 * Names, and whether an event may block, stand in port/hook.h; everything else in one table. */
#ifndef KEEL_HOOK_TABLE_H
#define KEEL_HOOK_TABLE_H

#include "port/hook.h"

struct hook_event_info {
    const char *fires;  /* when: "before a tool call is judged by rules and mode" */
    const char *owner;  /* the folder of src/ that fires it; NULL: nobody does yet */
    const char *fields; /* its own fields, separated by blanks */
    /* The field that matchers are held against; NULL: there is none, every group matches. */
    const char *match_field;
    bool decides_permission;  /* an answer may allow, ask or deny */
    bool takes_changed_input; /* an answer may hold updatedInput */
    bool stdout_is_context;   /* plain text on stdout is for the model */
    bool block_goes_on;       /* to block it means that the turn goes on */
};
const struct hook_event_info *hook_event_info(enum hook_event e);

#endif
