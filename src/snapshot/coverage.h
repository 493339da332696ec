/* coverage.h - the paths that an undo covers.
 *
 * These are the workspace and added directories, without .git, keel's home, store and temporary
 * files, and without file systems that store nothing. Paths that git ignores are a separate case.
 * The rules of a directory are read at the first question about its contents, and do not change
 * afterwards: a command that changes .gitignore does not change what is covered while it runs.
 * These calls block. */
#ifndef KEEL_SNAPSHOT_COVERAGE_H
#define KEEL_SNAPSHOT_COVERAGE_H

#include "snapshot/path_table.h"
#include "snapshot/snapshot.h"
#include "snapshot/virtual_places.h"

struct coverage {
    struct arena arena;
    const char **roots; /* absolute, without links, none inside another */
    size_t n_roots;
    const char *home; /* keel's; NULL: none */
    const struct path_filter *own;
    struct virtual_places virtual_places;
};
void coverage_init(struct coverage *c, const struct snapshot_options *options);
void coverage_done(struct coverage *c);
DEFINE_AUTO_VAL(coverage, coverage_done)

/* Rules that were read so far. Not thread-safe. */
struct covered_rules {
    const struct coverage *coverage;
    struct path_table dirs;
};
void covered_rules_init(struct covered_rules *r, const struct coverage *c);
void covered_rules_done(struct covered_rules *r);

enum coverage_verdict {
    COVERAGE_NONE,
    COVERAGE_IGNORED, /* git ignores it, or a directory above it */
    COVERAGE_FULL,
};
/* *ret_ignored: the topmost path that git ignores: this one or a directory above it; valid as long
 * as the rules and the path. The root itself is not covered. */
enum coverage_verdict coverage_judge(struct covered_rules *r, struct str path, bool is_dir,
                                     struct str *ret_ignored);
bool coverage_is_root(const struct coverage *c, struct str path);
/* Is it COVERAGE_FULL? */
bool coverage_has(struct covered_rules *r, struct str path, bool is_dir);
/* The same for a file of rules, whatever the rules say of it now. */
bool coverage_has_rules(struct covered_rules *r, struct str path);
bool coverage_is_rules(struct str path); /* .gitignore, .ignore */

#endif
