/* session_lock.h - who writes a session of the store over files on this machine: a locked file
 * each. The database has leases.h; older keels locked files for it, too.
 *
 * The kernel gives a lock back the moment its process is gone, however it went. Children that are
 * started with exec do not have it. The calls block. */
#ifndef KEEL_STORE_SESSION_LOCK_H
#define KEEL_STORE_SESSION_LOCK_H

#include "base/arena.h"
#include "base/err.h"

/* The lock of `id` in `dir`, which is made if it is not there. Held by another: ERR_STORAGE that
 * names the process, with forking as the hint. The fd is the lock. */
MUST_USE struct err *session_lock_take(const char *dir, struct str id, int *ret_fd);
/* Removes the file too: nobody must be given a lock on a file that is no longer there. */
void session_lock_release(const char *dir, struct str id, int fd);
/* Removes the files of processes that are gone. Only where an unlocked file means nothing:
 * in the store over files it says that its session must be looked at. */
void session_locks_sweep(const char *dir);
/* Does anybody hold it? */
bool session_lock_is_held(const char *dir, struct str id);
/* And who? "process 123", in `a`; empty: nobody. */
struct str session_lock_holder(const char *dir, struct str id, struct arena *a);
/* Why it cannot be had, with forking as the hint. `holder` may be empty. */
NEVER_NULL MUST_USE struct err *session_lock_refused(struct str id, const char *holder);

#endif
