/* walk.h - all files below a directory, several threads at once, without what git ignores.
 *
 * For Glob and Grep. The walk blocks: tasks call it through work_run(), and it ends early when
 * work_cancelled() says so. Symbolic links are reported, never followed, so it stays below its
 * root and cannot go in circles. Directories that may not be read are skipped and counted.
 *
 * Rules come from the .gitignore, .ignore and .git/info/exclude files of every directory on the way
 * and, inside a repository, of those above the root as well. The nearest rule decides, .ignore
 * before .gitignore; a nested repository goes by its own .gitignore files alone. What a rule takes
 * back with `!` is seen even when its name begins with a dot. */
#ifndef KEEL_SYS_WALK_H
#define KEEL_SYS_WALK_H

#include "base/err.h"

#include <stdatomic.h>

struct walk_options {
    const char *root;
    /* A descriptor of the root, borrowed, so that it is not looked up again: the path is canonical
     * then, and only names it. */
    bool has_root_fd;
    int root_fd;
    bool hidden;        /* also names that begin with a dot; .git never */
    bool no_ignore;     /* also what .gitignore, .ignore and .git/info/exclude leave out */
    unsigned n_threads; /* 0: one per core, at most 8; never more than 64 */
    size_t max_entries; /* of the whole walk; 0: 10,000,000 */
    unsigned max_depth; /* 0: 256 */
    /* Leaves out a path (relative to root) and all below it; called from all threads. May be
     * NULL. Deny rules of the gate come in here. */
    bool (*is_left_out)(void *self, struct str path, bool is_dir);
    void *self;
};

struct walk_entry {
    struct str path; /* relative to root, NUL-terminated; lives until visit() returns */
    int dir_fd;      /* of the directory it is in, and its name there: for openat() */
    const char *name;
    bool is_dir, is_link, is_file; /* none of them: a device, a socket, a pipe */
    const atomic_bool *is_over;    /* the walk is to end: a long visit looks at it now and then */
};

struct walk_visitor {
    /* What one thread keeps for itself; both may be NULL. */
    void *(*begin_thread)(void *self);
    void (*end_thread)(void *self, void *thread);
    /* Called from all threads at once, in no order but for a directory before what is in it. All
     * signals are blocked there. False ends the whole walk. */
    bool (*visit)(void *self, void *thread, const struct walk_entry *entry);
    void *self;
};

struct walk_report {
    size_t n_entries, n_unreadable;
    bool has_ignored;   /* something was left out because git ignores it */
    bool was_cut;       /* max_entries was reached */
    bool is_too_deep;   /* there are directories below max_depth */
    unsigned max_depth; /* that was used */
    bool was_cancelled;
};

/* ERR_VALIDATION when root is no directory that can be read. */
MUST_USE struct err *walk_run(const struct walk_options *options,
                              const struct walk_visitor *visitor, struct walk_report *ret_report);

#endif
