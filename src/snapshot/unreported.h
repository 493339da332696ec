/* unreported.h - what was changed while a command ran, though the command did not announce it.
 *
 * A command can change another path than the one it was about to: it has threads, and the path is
 * in its memory. So the directories are watched (sys/dir_watch.h), and where they are not, files
 * are asked for the time of their last change, which no command can set. A person may have changed
 * a file meanwhile, too. All calls block. */
#ifndef KEEL_SNAPSHOT_UNREPORTED_H
#define KEEL_SNAPSHOT_UNREPORTED_H

#include "snapshot/coverage.h"
#include "sys/dir_watch.h"

#include <sys/stat.h>

#define UNREPORTED_MAX 100 /* paths that are named */

/* Where the logs of the watched roots stood. */
struct change_mark {
    struct dir_watch *watch; /* a reference; NULL: the root is not watched */
    uint64_t mark;
};
struct change_marks {
    struct change_mark *items; /* one a root */
    size_t n;
};
void change_marks_done(struct change_marks *m);
/* `watches` NULL: nothing is watched. */
void change_marks_take(struct change_marks *m, const struct coverage *c,
                       struct dir_watches *watches);

/* Is that over in less time than the way to another thread and back takes? */
bool change_marks_are_quick(const struct coverage *c, struct dir_watches *watches);
/* Is unreported_find()? */
bool unreported_is_quick(const struct change_marks *m);

struct unreported_query {
    const struct coverage *coverage;
    const struct change_marks *marks;
    int64_t since_ns; /* for roots that are not watched */
    /* Is it covered, and not explained by what was announced? `st` NULL: nothing is there. */
    bool (*is_strange)(void *self, struct str path, const struct stat *st);
    /* Nor is any change of names in this directory? */
    bool (*is_strange_dir)(void *self, struct str path);
    /* Is what lies in it covered? From several threads at once. */
    bool (*is_covered_dir)(void *self, struct str path);
    void *self;
};
struct unreported {
    const char **paths; /* in the arena; at most UNREPORTED_MAX */
    size_t n;           /* of all */
    bool was_cut;       /* there was too much to look at */
};
MUST_USE struct err *unreported_find(const struct unreported_query *q, struct arena *a,
                                     struct unreported *ret_found);

#endif
