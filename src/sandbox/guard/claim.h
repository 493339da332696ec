/* claim.h - which keels run commands in a writable directory, and whether one died there.
 *
 * All keels of a person share one directory for this, in keel's home: a file of locks, for each
 * writable directory a file with its state, and one with its baseline (baseline.h). Locks go with
 * the process that holds them, whatever ends it; the one that says that commands run is held by
 * their supervisors, too, and so lasts until the last process of a command is gone.
 *
 * The state is durable before the first command of a process runs. Whether one runs at this moment
 * is noted without waiting for the disk: that is worth something only until the machine stops, and
 * is not believed afterwards. All of it blocks; not thread-safe. */
#ifndef KEEL_SANDBOX_GUARD_CLAIM_H
#define KEEL_SANDBOX_GUARD_CLAIM_H

#include "base/strbuf.h"

struct claims;
struct claim; /* of one directory, in one process */

/* `dir` is made when it is needed. */
struct claims *claims_new(const char *dir) MUST_USE;
void claims_free(struct claims *all); /* after claim_leave() */
DEFINE_AUTO_PTR(claims, claims_free)

/* The claim on a directory that is there: absolute, canonical. Lives as long as `all`. ERR_STORAGE
 * when keels cannot meet. */
MUST_USE struct err *claims_get(struct claims *all, const char *root, struct claim **ret_claim);
/* Calls `found` with every directory that a keel has run commands in. It may call claims_get(). */
void claims_each_root(struct claims *all, void (*found)(void *self, const char *root), void *self);
/* The same for those where one has not left in order, or not yet. */
void claims_each_used_root(struct claims *all, void (*found)(void *self, const char *root),
                           void *self);
/* The lock that tells of running commands, for their supervisors; -1: none yet. */
int claims_running_fd(const struct claims *all);

const char *claim_root(const struct claim *c);

/* One keel at a time. False: another has it. */
bool claim_try_lock(struct claim *c) MUST_USE;
void claim_unlock(struct claim *c);

/* --- with the lock --- */

bool claim_is_run_by_others(struct claim *c);  /* commands of another keel run there */
bool claim_is_used_by_others(struct claim *c); /* another keel has run some there, and lives */

/* Has a keel ended, by itself or with the machine, while a command ran there? */
bool claim_is_broken(struct claim *c);

/* Has one ended without leaving, and no other is there? */
bool claim_is_deserted(struct claim *c);

MUST_USE struct err *claim_mend(struct claim *c); /* what it left has been put right */

/* Commands run from now on. Durable, if this process had none before. */
MUST_USE struct err *claim_begin(struct claim *c);
/* None of this process runs any more. */
void claim_end(struct claim *c);
/* This process runs no more. */
void claim_leave(struct claim *c);

/* The baseline, appended; *ret_exists false: there is none. */
MUST_USE struct err *claim_read_baseline(struct claim *c, struct strbuf *bytes, bool *ret_exists);
MUST_USE struct err *claim_write_baseline(struct claim *c, struct str bytes); /* durable */
/* Has another keel written it since this one last read or wrote it? */
bool claim_has_new_baseline(struct claim *c);

#endif
