/* project_rules.h - a yes that holds for the project: .keel/settings.local.json.
 *
 * The file is the person's own for this project. What else it says stays, in its order; what cannot
 * be understood in it is told and nothing is written. Several keels may write at a time. The
 * project is trusted afterwards exactly if it was before, or needed no trust. */
#ifndef KEEL_CONFIG_PROJECT_RULES_H
#define KEEL_CONFIG_PROJECT_RULES_H

#include "config/project_files.h"

struct kept_rule {
    struct str file; /* where it stands now; in the arena */
    bool is_used;    /* false: only once the project is trusted */
};

/* Adds a rule to permissions.allow, unless it stands there. Blocks. */
MUST_USE struct err *project_rules_allow(struct arena *a, const struct project_place *place,
                                         struct str rule, struct kept_rule *ret_kept);

#endif
