/* held_call.h - what a system call that the kernel holds is about to change.
 *
 * It reads the call's arguments from the memory of a process that may mean harm: whatever lies
 * there, keel opens nothing for it but directories, as paths (O_PATH), name by name and through no
 * link. A path in memory that cannot be read is refused, as the kernel refuses what it cannot read.
 * Blocks as long as the file systems do on the way. */
#ifndef KEEL_SANDBOX_WATCH_HELD_CALL_H
#define KEEL_SANDBOX_WATCH_HELD_CALL_H

#include "sandbox/watch/command_path.h"
#include "sys/write_observer.h"

#include <limits.h>
#include <linux/seccomp.h>

/* What to do with the call. */
enum held_call_answer {
    HELD_CALL_IGNORE, /* it changes nothing that counts, or it fails: let it continue */
    HELD_CALL_REPORT, /* `notice` says what it changes */
    HELD_CALL_MISSED, /* what it changes could not be found out: `error` says why */
    HELD_CALL_FAULT,  /* its arguments cannot be read: refuse it with EFAULT */
};

/* One after the other: the notice lives in it until the next call. */
struct held_call {
    const struct write_roots *roots;
    bool is_blind; /* nothing can be found out here: command_path_can_look() */
    struct write_notice notice;
    int error; /* errno */
    struct command_path path, to;
    char text[PATH_MAX]; /* as the command has written it */
};

enum held_call_answer held_call_read(struct held_call *c, const struct seccomp_notif *call);

#endif
