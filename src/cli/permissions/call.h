/* call.h - a call that is only judged: what would the gate decide? */
#ifndef KEEL_CLI_PERMISSIONS_CALL_H
#define KEEL_CLI_PERMISSIONS_CALL_H

#include "gate/gate.h"
#include "port/tool_set.h"

/* The tool of this name as the gate would see it, in `a`. One that keel does not have is
 * unclassified, and the argument that its rules match is unknown, except for Agent and Task. */
const struct tool *permission_tool(struct arena *a, struct str name) MUST_USE;
bool permission_tool_is_known(struct str name); /* is it one of keel's own? */

struct permission_call {
    const struct tool *tool;
    const struct json *args; /* under the tool's own names for them */
    const char *cwd;         /* absolute; the workspace too */
    struct permission_rules rules;
    struct hard_policy policy;
    enum permission_mode mode;
};

/* Arguments from their JSON; ERR_VALIDATION unless it is an object. The text must live as long as
 * `a`. */
MUST_USE struct err *permission_call_parse(struct permission_call *c, struct arena *a,
                                           struct str json_text);
/* ERR_VALIDATION: the tool has no argument of such a name, or the one that rules match is not a
 * string. Others may be missing: nothing depends on them. */
MUST_USE struct err *permission_call_check(const struct permission_call *c, struct arena *a);
/* Sets the argument that rules match. ERR_VALIDATION: the tool has none. */
MUST_USE struct err *permission_call_set(struct permission_call *c, struct arena *a,
                                         struct str value);

/* In a task: links are looked up. */
MUST_USE struct err *permission_call_judge(const struct permission_call *c, struct arena *a,
                                           struct judged *ret_judged);
/* "decision", "step", "rule", "reason" as members of an object that is open. */
void permission_write_judged(struct json_writer *w, const struct judged *j);

#endif
