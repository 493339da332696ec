/* covers.h - keeps the mounts over protected and hidden places in place while the command runs.
 *
 * A mount is on an entry of a directory. If a program outside the sandbox replaces, moves or
 * removes that entry, the kernel removes the mount or moves it along, and the name that the command
 * knows leads to something uncovered. inotify reports when a name on the way to a place changes;
 * which one it was does not matter, as all places are checked.
 *
 * An uncovered place is covered while the whole tree is stopped (standstill.h). If a process has
 * reached it before, or a mount cannot make it safe, the monitor ends the command. The command may
 * have written a protected file before it was moved there: the tree stays stopped until keel has
 * checked it.
 *
 * Nothing is watched in the first moments of a command, so that short ones cost nothing. */
#ifndef KEEL_EXEC_COVERS_H
#define KEEL_EXEC_COVERS_H

#include "exec/exec.h"

enum { COVERS_NAME_BITS = 4096 };

struct covers {
    const struct policy_header *policy; /* NULL: nothing to watch */
    struct root_fds *roots;
    int events; /* of inotify; -1 */
    int last_watch;
    bool has_new_watch, has_looked;
    uint64_t names[COVERS_NAME_BITS / 64]; /* of names that lead to places, by their sums */
    bool is_blind;                         /* not all can be watched: checks by the clock */
    int64_t look_at_ms;                    /* -1: after events */
    bool is_standing_still;                /* the tree is stopped, until covers_continue() */
    unsigned n_replaced;                   /* files that keel has to judge, so far */
};

#define COVERS_NONE ((struct covers){.events = -1, .look_at_ms = -1})

/* Does this errno mean that a command could open nothing there? */
bool is_nothing(int error);
/* Is the opened file covered as the item requires? */
bool is_covered(const struct root_fds *roots, const struct policy_item *item, int fd,
                const struct stat *st);
/* Is it the substitute for a hidden thing? */
bool is_closed(const struct root_fds *roots, const struct stat *st);
/* Are the mounts that were built before, by a policy with the same items, still in place, and over
 * what keel has seen there since? ESTALE: not all of them. */
struct fault covers_check(const struct policy_header *p, struct root_fds *roots);

/* absent.c: finds the missing names of a writable directory with one listing.
 *
 * Most places that a policy protects in a workspace do not exist: some 150 names. One listing
 * proves that. It counts if the kernel returned it by one call, during which nothing can change the
 * directory; if the file system is a local one that lists everything that it finds by name; and if
 * no listed name can match the one in question on a file system that ignores case. Otherwise each
 * name is looked up. */
enum { ABSENT_LISTING_BYTES = 4096 }; /* about a hundred names: beyond it, lookups are as fast */
struct absent {
    unsigned root; /* of these names; 0: none yet */
    size_t n_bytes;
    _Alignas(8) char listing[ABSENT_LISTING_BYTES];
};
#define ABSENT_NONE ((struct absent){0})
/* Is it certain that nothing is where the item expects nothing? */
bool absent_is_certain(struct absent *a, const struct root_fds *roots,
                       const struct policy_item *item);

/* Call it before the command starts, which could use up all inotify instances of its user. */
void covers_watch(struct covers *c);
/* Takes over the roots: they stay open as long as the process lives. */
void covers_begin(struct covers *c, const struct policy_header *p, struct root_fds *roots,
                  int64_t now_ms);
/* For poll(): the time until the next covers_look(); -1: only when `events` is readable. */
int covers_timeout_ms(const struct covers *c, int64_t now_ms);
/* False: a place is open to the command, or may be reached by it, and cannot be covered. The tree
 * may be stopped afterwards. */
bool covers_look(struct covers *c, int64_t now_ms);
void covers_continue(struct covers *c);
void covers_end(struct covers *c);

#endif
