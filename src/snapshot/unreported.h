/* unreported.h - finds changes while a command ran that the command did not announce.
 *
 * A command can change another path than the announced one: it has threads, and the path is in its
 * memory. So directories are watched (sys/dir_watch.h). Without a watch, the times of the last
 * change of files are read, which no command can set. A person may have changed a file meanwhile,
 * too. All calls block. */
#ifndef KEEL_SNAPSHOT_UNREPORTED_H
#define KEEL_SNAPSHOT_UNREPORTED_H

#include "snapshot/coverage.h"
#include "sys/dir_watch.h"

#include <sys/stat.h>

#define UNREPORTED_MAX 100 /* paths that are named */

/* The positions in the logs of the watched roots. */
struct change_mark {
    struct dir_watch *watch; /* a reference; NULL: the root is not watched */
    uint64_t mark;
};
struct change_marks {
    struct change_mark *items; /* one per root */
    size_t n;
};
void change_marks_done(struct change_marks *m);
/* `watches` NULL: no watches. */
void change_marks_take(struct change_marks *m, const struct coverage *c,
                       struct dir_watches *watches);

/* Is that faster than switching to another thread and back? */
bool change_marks_are_quick(const struct coverage *c, struct dir_watches *watches);
/* The same for unreported_find(). */
bool unreported_is_quick(const struct change_marks *m);

struct unreported_query {
    const struct coverage *coverage;
    const struct change_marks *marks;
    int64_t since_ns; /* for roots that are not watched */
    /* Is it covered, and not explained by announcements? `st` NULL: it does not exist. */
    bool (*is_strange)(void *self, struct str path, const struct stat *st);
    /* Is a change of names in this directory unexplained, too? */
    bool (*is_strange_dir)(void *self, struct str path);
    /* Are the contents of the directory covered? Called from several threads at once. */
    bool (*is_covered_dir)(void *self, struct str path);
    void *self;
};
struct unreported {
    const char **paths; /* in the arena; at most UNREPORTED_MAX */
    size_t n;           /* of all */
    bool was_cut;       /* too many to check */
};
MUST_USE struct err *unreported_find(const struct unreported_query *q, struct arena *a,
                                     struct unreported *ret_found);

#endif
