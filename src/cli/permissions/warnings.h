/* warnings.h - rules that do not do what they look like. */
#ifndef KEEL_CLI_PERMISSIONS_WARNINGS_H
#define KEEL_CLI_PERMISSIONS_WARNINGS_H

#include "gate/pattern.h"

#define MAX_RULE_WARNINGS 8
struct rule_warnings {
    struct str items[MAX_RULE_WARNINGS];
    size_t n;
};
/* `root` is the workspace. Texts live in `a`. */
void rule_warnings_find(struct rule_warnings *w, struct arena *a, const struct pattern *p,
                        const struct tool *tool, const char *root);

#endif
