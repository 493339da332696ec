/* scope.h - the writable directories of a sandbox, each with its survey, and what is protected in
 * them now.
 *
 * All of it blocks. */
#ifndef KEEL_SANDBOX_GUARD_SCOPE_H
#define KEEL_SANDBOX_GUARD_SCOPE_H

#include "sandbox/guard/survey.h"
#include "sandbox/sandbox.h"

struct scope;
struct scope *scope_new(void);
void scope_free(struct scope *s);

/* The workspace, then those added that are not in it; NULL behind the last. */
const char *scope_root_of(const struct sandbox_policy *policy, size_t index);
/* A policy may be another for each command. `keeps_others`: commands still run in those of earlier
 * ones. */
MUST_USE struct err *scope_choose(struct scope *s, const struct sandbox_policy *policy,
                                  bool keeps_others);
size_t scope_n(const struct scope *s);
struct survey *scope_survey(const struct scope *s, size_t index);

MUST_USE struct err *scope_look(struct scope *s, const struct dir_unlocker *unlocker);
MUST_USE struct err *scope_look_at(struct scope *s, struct survey *one,
                                   const struct dir_unlocker *unlocker); /* at one of them */
MUST_USE struct err *scope_read(struct scope *s);                        /* see survey_read() */
/* After a look: what is protected. False: what was found before still holds. */
bool scope_find_places(struct scope *s);
/* The policy with all that is to be read-only. Lives until places are found again. */
struct sandbox_policy scope_policy(struct scope *s, const struct sandbox_policy *policy);

/* More commands will come: see dir_watch_settle(). */
void scope_settle(struct scope *s);
/* Is a look over in less time than the way to another thread and back takes? */
bool scope_is_quick(const struct scope *s);

#endif
