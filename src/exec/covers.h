/* covers.h - keeps what is mounted over protected and hidden places where it belongs, while the
 * command runs.
 *
 * A mount lies on an entry of a directory. When a program outside of the sandbox replaces, moves or
 * removes that entry, the kernel takes the mount away or lets it move along, and the name that the
 * command knows leads to something that nothing covers. inotify wakes us when a name on the way to
 * a place changes; which one it was does not matter, as all places are looked at. A file is covered
 * again. What cannot be made safe again is reported, and the monitor ends the command: a directory,
 * as a process may have opened it meanwhile and works below the mount from then on; a file that
 * stays open, or has a second name.
 *
 * Nothing is watched in the first moments of a command, so that short ones pay nothing. */
#ifndef KEEL_EXEC_COVERS_H
#define KEEL_EXEC_COVERS_H

#include "exec/exec.h"

enum { COVERS_MAX_USED = 16, COVERS_NAME_BITS = 4096 };

struct covers {
    const struct policy_header *policy; /* NULL: there is nothing to look after */
    struct root_fds *roots;
    int events; /* of inotify; -1 */
    int last_watch;
    bool has_new_watch;
    uint64_t names[COVERS_NAME_BITS / 64]; /* that lead to places, by their sums */
    bool is_blind;                         /* not all can be watched: look by the clock */
    int64_t look_at_ms;                    /* -1: when there are events */
    /* Files that were covered again, until nobody has them open any more. */
    struct used_file {
        int place;
        int64_t until_ms;
    } used[COVERS_MAX_USED];
    unsigned n_used;
};

#define COVERS_NONE ((struct covers){.events = -1, .look_at_ms = -1})

/* Takes the roots over: they stay open for as long as the process lives. */
void covers_begin(struct covers *c, const struct policy_header *p, struct root_fds *roots,
                  int64_t now_ms);
/* For poll(): when to call covers_look() at the latest; -1: when `events` says so. */
int covers_timeout_ms(const struct covers *c, int64_t now_ms);
/* False: a place lies open to the command, or may be written by it, and nothing helps. */
bool covers_look(struct covers *c, int64_t now_ms);
void covers_end(struct covers *c);

#endif
