/* examples.h - calls near a rule, to show where it ends. */
#ifndef KEEL_CLI_PERMISSIONS_EXAMPLES_H
#define KEEL_CLI_PERMISSIONS_EXAMPLES_H

#include "port/tool.h"

/* What the argument that rules are about is; how they are read follows from it. */
enum rule_argument { ARGUMENT_NONE, ARGUMENT_COMMAND, ARGUMENT_PATH, ARGUMENT_URL, ARGUMENT_TEXT };
enum rule_argument rule_argument_of(const struct tool *tool);

/* "git log:*" and "git log *" without their end; false: it has none. */
bool rule_command_head(struct str pattern, struct str *ret_head);

#define MAX_EXAMPLES 8
struct examples {
    struct str items[MAX_EXAMPLES]; /* values of that argument */
    size_t n;
};
/* For what stands in the parentheses of a rule. In `a`. */
void examples_make(struct examples *e, struct arena *a, const struct tool *tool,
                   struct str pattern);

#endif
