/* session_lock.h - which process on this machine writes a session of the store over files: one
 * locked file each. The database has leases.h; older versions of keel locked files for it, too.
 *
 * The kernel releases a lock when its process ends, however it ends. Children that run another
 * program do not inherit it. All calls block. */
#ifndef KEEL_STORE_SESSION_LOCK_H
#define KEEL_STORE_SESSION_LOCK_H

#include "base/arena.h"
#include "base/err.h"

/* Takes the lock of `id` in `dir`, and creates the directory if it is missing. If another process
 * holds it: ERR_STORAGE that names the process, with forking as the hint. The fd is the lock. */
MUST_USE struct err *session_lock_take(const char *dir, struct str id, int *ret_fd);
/* Removes the file too. A process must not get a lock on a file that is gone. */
void session_lock_release(const char *dir, struct str id, int fd);
/* Removes the files of processes that are gone. Only for stores where an unlocked file means
 * nothing: in the store over files it means that the session's log must be read. */
void session_locks_sweep(const char *dir);
/* Does any process hold it? */
bool session_lock_is_held(const char *dir, struct str id);
/* Which process? "process 123", in `a`; empty: none. */
struct str session_lock_holder(const char *dir, struct str id, struct arena *a);
/* Why the lock cannot be taken, with forking as the hint. `holder` may be empty. */
NEVER_NULL MUST_USE struct err *session_lock_refused(struct str id, const char *holder);

#endif
