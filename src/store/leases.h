/* leases.h - which process on this machine writes which session of a database: one locked range of
 * one file for each session.
 *
 * The file is opened once for all sessions: a process with thousands of them needs one descriptor.
 * A range begins at a hash of the session's id, and its length is the id of the process that holds
 * it. The kernel releases a range when its process ends, however it ends. Children that run another
 * program do not inherit it. All calls block; any thread may make them. */
#ifndef KEEL_STORE_LEASES_H
#define KEEL_STORE_LEASES_H

#include "base/arena.h"
#include "base/err.h"

struct leases;
/* The first lease creates the file, and its directory `dir`. */
struct leases *leases_new(const char *dir) MUST_USE;
void leases_free(struct leases *l); /* releases all leases */
DEFINE_AUTO_PTR(leases, leases_free)

/* If another process or this one holds it already: ERR_STORAGE that names the process, with forking
 * as the hint. */
MUST_USE struct err *leases_take(struct leases *l, struct str id);
/* Sets the fence of a lease, which is 0 until then. */
void leases_set_fence(struct leases *l, struct str id, uint64_t fence);
/* Does nothing if the session is not held, or has another fence. */
void leases_release(struct leases *l, struct str id, uint64_t fence);

/* Does any process hold it? */
bool lease_is_held(const char *dir, struct str id);
/* Which process? "process 123", in `a`; empty: none. */
struct str lease_holder(const char *dir, struct str id, struct arena *a);

#endif
