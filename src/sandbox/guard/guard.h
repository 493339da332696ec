/* guard.h - looks after the writable directories of a sandbox: what is protected in them when a
 * command starts, and what commands have done there when one has ended.
 *
 * The state that counts is the one before the first of the commands that run: the baseline of each
 * directory. It is shared by all keels of a person that run commands there at a time, and durable
 * before the first one runs (claim.h): the next keel after a crash finishes the look. What has
 * come since then stays under suspicion until no command runs any more.
 *
 * All of it blocks; not twice at a time. */
#ifndef KEEL_SANDBOX_GUARD_GUARD_H
#define KEEL_SANDBOX_GUARD_GUARD_H

#include "sandbox/sandbox.h"

struct guard;

/* The variable that commands in a sandbox have: so that a keel among them does not wait for the
 * one that waits for it. */
#define GUARD_NESTED "KEEL_SANDBOX"

/* `dir`, in keel's home, is where keels meet; NULL: this one is alone. */
struct guard *guard_new(const char *dir) MUST_USE;
void guard_free(struct guard *g);
DEFINE_AUTO_PTR(guard, guard_free)

/* Guards a change that keel itself makes instead of a command: nothing will be mounted, and files
 * with second names are the caller's business. Before guard_begin(). */
void guard_expect_own_change(struct guard *g);

/* Before every command. The first takes the baseline: what has changed before is a person's doing.
 * ERR_SANDBOX when there is more than can be remembered. */
MUST_USE struct err *guard_begin(struct guard *g, const struct sandbox_policy *policy,
                                 bool has_namespaces);
/* The policy with all that is to be read-only. Lives until the next call. */
struct sandbox_policy guard_policy(struct guard *g, const struct sandbox_policy *policy);
/* To be held open by the supervisor of a command; -1: nothing. */
int guard_held_fd(const struct guard *g);

/* While commands run: another program has replaced something that is mounted read-only. Puts right
 * what could run, as after a command; the notes come with the next look. False: there was such. */
bool guard_check_replaced(struct guard *g);
/* After a command: puts things right, and appends a line for a person about each. */
MUST_USE struct err *guard_check(struct guard *g, struct strbuf *notes);
/* No command of this sandbox runs any more. */
void guard_end(struct guard *g);

/* More commands will come: see dir_watch_settle(). */
void guard_settle(struct guard *g);
void guard_wait(struct guard *g); /* until that is done */
/* Is the next call over in less time than the way to another thread and back takes? If so, it must
 * be made. */
bool guard_is_quick(struct guard *g);

/* What keels that ended while commands ran have left in these directories, and around them: the
 * look that they could not take. */
MUST_USE struct err *guard_recover(const char *dir, const char *const *roots, size_t n_roots,
                                   const char *home, struct strbuf *notes);

#endif
