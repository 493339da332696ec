/* explain.h - what `keel permissions explain` finds out about a rule. */
#ifndef KEEL_CLI_PERMISSIONS_EXPLAIN_H
#define KEEL_CLI_PERMISSIONS_EXPLAIN_H

#include "gate/pattern.h"
#include "port/tool.h"

/* --- examples.c: calls near a rule, which show where it ends --- */

/* The kind of the argument that rules match, which decides how a pattern is read. */
enum rule_argument { ARGUMENT_NONE, ARGUMENT_COMMAND, ARGUMENT_PATH, ARGUMENT_URL, ARGUMENT_TEXT };
enum rule_argument rule_argument_of(const struct tool *tool);

/* "git log:*" and "git log *" without their end; false: it has none. */
bool rule_command_head(struct str pattern, struct str *ret_head);

#define MAX_EXAMPLES 8
struct examples {
    struct str items[MAX_EXAMPLES]; /* values of that argument */
    size_t n;
};
/* For the pattern in the parentheses of a rule. In `a`. */
void examples_make(struct examples *e, struct arena *a, const struct tool *tool,
                   struct str pattern);

/* --- warnings.c: a rule that does not do what it looks like --- */

#define MAX_RULE_WARNINGS 8
struct rule_warnings {
    struct str items[MAX_RULE_WARNINGS];
    size_t n;
};
/* `root` is the workspace. Texts live in `a`. */
void rule_warnings_find(struct rule_warnings *w, struct arena *a, const struct pattern *p,
                        const struct tool *tool, const char *root);

#endif
