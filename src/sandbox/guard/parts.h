/* parts.h - what guard.c and recover.c share. Only they include this. */
#ifndef KEEL_SANDBOX_GUARD_PARTS_H
#define KEEL_SANDBOX_GUARD_PARTS_H

#include "sandbox/guard/baseline.h"
#include "sandbox/guard/claim.h"
#include "sandbox/guard/guard.h"
#include "sandbox/guard/linked.h"
#include "sandbox/guard/mount_points.h"
#include "sandbox/guard/scope.h"

struct guarded_root {
    char *path;
    struct claim *claim;       /* NULL: none */
    struct baseline *baseline; /* while commands run; else NULL */
    struct baseline *last;     /* the one before; may be NULL */
    bool is_stored;            /* `last` is what the file has, unless another keel has written it */
    struct linked_files linked;
    struct mount_points made; /* by this keel, or by others that may leave before it */
    uint64_t made_version;    /* of the survey when they were; 0: never */
    int presence;             /* the directory, locked while commands run; else -1 */
};

struct guard {
    struct scope *scope;
    struct claims *claims; /* NULL: this keel is alone */
    struct guarded_root *roots;
    size_t n_roots;
    bool has_namespaces, is_running, is_locked;
    bool is_for_own_change;
    struct strbuf pending; /* notes of what was found before a command */
};

/* --- guard.c --- */

/* Of all directories; false: another keel has one of them for a minute. */
bool guard_lock(struct guard *g);
void guard_unlock(struct guard *g);
/* Those of the scope, in an order that all keels have in common. */
MUST_USE struct err *guard_choose_roots(struct guard *g);
struct guarded_root *guard_find_root(const struct guard *g, const char *path); /* NULL: none */
struct survey *guard_survey_of(const struct guard *g, const struct guarded_root *root);
/* What the claim's file has. ERR_STORAGE: nothing that could be used. */
MUST_USE struct err *guard_read_stored(struct guarded_root *root, struct baseline **ret_baseline);
/* Puts right what is not as it was; the survey has looked already. */
MUST_USE struct err *guard_put_right(struct baseline *b, struct survey *s, struct unlocks *unlocks,
                                     struct strbuf *notes);
void guard_adopt_mount_points(struct guarded_root *root, const struct baseline *b);
void guard_remove_mount_points(struct guard *g, struct guarded_root *root);

/* --- recover.c --- */

/* Locked, and no command runs there. */
MUST_USE struct err *guard_recover_root(struct guard *g, struct guarded_root *root,
                                        struct strbuf *notes);

#endif
