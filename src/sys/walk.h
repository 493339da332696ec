/* walk.h - visits all files below a directory with several threads, without what git ignores.
 *
 * For Glob and Grep. The walk blocks: tasks call it through work_run(), and it ends early when
 * work_cancelled() says so. It reports symbolic links and never follows them, so it stays below its
 * root and cannot go in circles. It skips and counts unreadable directories.
 *
 * Rules come from the .gitignore, .ignore and .git/info/exclude files of every directory on the way
 * and, inside a repository, of those above the root as well. The nearest rule decides, .ignore
 * before .gitignore. A nested repository obeys only its own .gitignore files. A name that a rule
 * includes with `!` is visible even when it begins with a dot. */
#ifndef KEEL_SYS_WALK_H
#define KEEL_SYS_WALK_H

#include "base/err.h"

#include <stdatomic.h>

struct walk_options {
    const char *root;
    /* A borrowed descriptor of the root, so that it is not looked up again: the path is canonical
     * then, and only names it. */
    bool has_root_fd;
    int root_fd;
    bool hidden;        /* also names that begin with a dot, except .git */
    bool no_ignore;     /* also what .gitignore, .ignore and .git/info/exclude ignore */
    unsigned n_threads; /* 0: one per core, at most 8; never more than 64 */
    size_t max_entries; /* of the whole walk; 0: 10,000,000 */
    unsigned max_depth; /* 0: 256 */
    /* Skips a path (relative to root) and all below it; called from all threads. May be NULL. For
     * deny rules of the gate. */
    bool (*is_left_out)(void *self, struct str path, bool is_dir);
    void *self;
};

struct walk_entry {
    struct str path; /* relative to root, NUL-terminated; lives until visit() returns */
    int dir_fd;      /* of the directory it is in, and its name there: for openat() */
    const char *name;
    bool is_dir, is_link, is_file; /* false for a device, a socket, a pipe */
    const atomic_bool *is_over;    /* the walk must end: a long visit checks it now and then */
};

struct walk_visitor {
    /* The data of one thread; both may be NULL. */
    void *(*begin_thread)(void *self);
    void (*end_thread)(void *self, void *thread);
    /* Called from all threads at once. A directory comes before what is in it; there is no other
     * order. All signals are blocked. False ends the whole walk. */
    bool (*visit)(void *self, void *thread, const struct walk_entry *entry);
    void *self;
};

struct walk_report {
    size_t n_entries, n_unreadable;
    bool has_ignored;   /* something was skipped because git ignores it */
    bool was_cut;       /* max_entries was reached */
    bool is_too_deep;   /* there are directories below max_depth */
    unsigned max_depth; /* the limit that was used */
    bool was_cancelled;
};

/* ERR_VALIDATION if root is not a readable directory. */
MUST_USE struct err *walk_run(const struct walk_options *options,
                              const struct walk_visitor *visitor, struct walk_report *ret_report);

#endif
