/* leases.h - who writes which session of a database on this machine: a range of one locked file
 * each.
 *
 * The file is open once, however many sessions are: a process with thousands of them needs one
 * descriptor. Where a range begins is a hash of the session's id, how long it is says which process
 * holds it. The kernel gives it back the moment that process is gone, however it went. Children
 * that are started with exec do not have it. The calls block; any thread may make them. */
#ifndef KEEL_STORE_LEASES_H
#define KEEL_STORE_LEASES_H

#include "base/arena.h"
#include "base/err.h"

struct leases;
/* The file is in `dir`, which is made with it for the first lease. */
struct leases *leases_new(const char *dir) MUST_USE;
void leases_free(struct leases *l); /* gives back what is held */
DEFINE_AUTO_PTR(leases, leases_free)

/* Held by another, or here already: ERR_STORAGE that names the process, with forking as the hint.
 */
MUST_USE struct err *leases_take(struct leases *l, struct str id);
/* The session that was taken has this fence now; until it is told, it is 0. */
void leases_set_fence(struct leases *l, struct str id, uint64_t fence);
/* Nothing happens where it is not held, or with another fence. */
void leases_release(struct leases *l, struct str id, uint64_t fence);

/* Does anybody hold it? */
bool lease_is_held(const char *dir, struct str id);
/* And who? "process 123", in `a`; empty: it is free. */
struct str lease_holder(const char *dir, struct str id, struct arena *a);

#endif
