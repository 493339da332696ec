/* covers.h - keeps what is mounted over protected and hidden places where it belongs, while the
 * command runs.
 *
 * A mount lies on an entry of a directory. When a program outside of the sandbox replaces, moves or
 * removes that entry, the kernel takes the mount away or lets it move along, and the name that the
 * command knows leads to something that nothing covers. inotify wakes us when a name on the way to
 * a place changes; which one it was does not matter, as all places are looked at.
 *
 * What is found uncovered is covered while the whole tree stands still (standstill.h). If a process
 * has got hold of it before, or a mount cannot make it safe, the monitor ends the command. A file
 * that is protected may have been written by the command before it was put there: the tree stands
 * still until keel has looked at it.
 *
 * Nothing is watched in the first moments of a command, so that short ones pay nothing. */
#ifndef KEEL_EXEC_COVERS_H
#define KEEL_EXEC_COVERS_H

#include "exec/exec.h"

enum { COVERS_NAME_BITS = 4096 };

struct covers {
    const struct policy_header *policy; /* NULL: there is nothing to look after */
    struct root_fds *roots;
    int events; /* of inotify; -1 */
    int last_watch;
    bool has_new_watch, has_looked;
    uint64_t names[COVERS_NAME_BITS / 64]; /* that lead to places, by their sums */
    bool is_blind;                         /* not all can be watched: look by the clock */
    int64_t look_at_ms;                    /* -1: when there are events */
    bool is_standing_still;                /* the tree, until covers_continue() */
    unsigned n_replaced;                   /* files that keel has to judge, until now */
};

#define COVERS_NONE ((struct covers){.events = -1, .look_at_ms = -1})

/* Is there nothing that a command could open, by this errno? */
bool is_nothing(int error);
/* Is what was opened there covered as the item wants it? */
bool is_covered(const struct root_fds *roots, const struct policy_item *item, int fd,
                const struct stat *st);
/* Is it the substitute for a hidden thing? */
bool is_closed(const struct root_fds *roots, const struct stat *st);
/* Do the mounts that were built before, by a policy of the same items, lie where they were put, and
 * upon what keel has seen there by now? ESTALE: not all of them. */
struct fault covers_check(const struct policy_header *p, struct root_fds *roots);

/* absent.c: which names a writable directory lacks, by one look instead of one a name.
 *
 * Most of what a policy protects in a workspace is not there: some 150 names. One listing says so,
 * and only that. It counts if the kernel gave it out by one call, during which nothing can change
 * the directory; if the file system is one of this machine's kernel that lists all that it finds by
 * name; and if none of its names could be taken for the one in question, as file systems do that
 * ignore case. Otherwise each name is looked for. */
enum { ABSENT_LISTING_BYTES = 4096 }; /* about a hundred names: beyond it, looking is as quick */
struct absent {
    unsigned root; /* whose names these are; 0: of none yet */
    size_t n_bytes;
    _Alignas(8) char listing[ABSENT_LISTING_BYTES];
};
#define ABSENT_NONE ((struct absent){0})
/* Is it certain that nothing is where the item expects nothing? */
bool absent_is_certain(struct absent *a, const struct root_fds *roots,
                       const struct policy_item *item);

/* To be called before the command starts: it could use up all the instances of inotify that its
 * user may have. */
void covers_watch(struct covers *c);
/* Takes the roots over: they stay open for as long as the process lives. */
void covers_begin(struct covers *c, const struct policy_header *p, struct root_fds *roots,
                  int64_t now_ms);
/* For poll(): when to call covers_look() at the latest; -1: when `events` says so. */
int covers_timeout_ms(const struct covers *c, int64_t now_ms);
/* False: a place lies open to the command, or may be reached by it, and nothing helps. Afterwards
 * the tree may stand still. */
bool covers_look(struct covers *c, int64_t now_ms);
void covers_continue(struct covers *c);
void covers_end(struct covers *c);

#endif
