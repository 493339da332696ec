/* policy.h - what commands may reach: the one place where their policies are made.
 *
 * From the workspace, the directories that were added to it, and the deny rules. Of these, a path
 * denied to Read is hidden from commands, one denied to Edit or Write is read-only; both win over
 * the workspace, as the workspace wins over a secret place that it lies in. Patterns are worked out
 * against what exists when a command starts, so a maker keeps what it knows of the directories
 * (sys/dir_watch.h): the first policy takes a walk, later ones a look. */
#ifndef KEEL_SDK_SANDBOX_POLICY_H
#define KEEL_SDK_SANDBOX_POLICY_H

#include "gate/gate.h"
#include "sandbox/sandbox.h"

/* All of it is borrowed for as long as the maker lives. Where workspace, home and added directories
 * lead is found out with the first policy; an added directory that is not there then stays out. */
struct policy_source {
    const char *workspace;         /* absolute */
    const char *const *added_dirs; /* absolute, or as seen from the workspace */
    size_t n_added_dirs;
    const struct permission_rules *rules; /* those that deny */
    const char *home;                     /* the person's; NULL: none */
    const char *keel_home;                /* NULL: none */
    const char *store_place;              /* of the sessions; absolute, without links; NULL: none */
    const char *const *environment;       /* the person's, which may name secrets; NULL: none */
    struct dir_watches *watches;          /* shared with others; NULL: the maker has its own */
};

struct policy_maker;
struct policy_maker *policy_maker_new(const struct policy_source *source) MUST_USE;
void policy_maker_free(struct policy_maker *m);
DEFINE_AUTO_PTR(policy_maker, policy_maker_free)

/* For a command that is to start in `cwd`: relative rules count from there too. Everything but
 * tmp_dir and the network, of which there is none; lists live in `a`. ERR_SANDBOX when a rule
 * leaves nothing to run in, or cannot be worked out. Blocks; not twice at a time. */
MUST_USE struct err *policy_make(struct policy_maker *m, const char *cwd, struct arena *a,
                                 struct sandbox_policy *ret_policy);
/* The same for a command that only looks: nothing can be changed, and nothing is seen but what Read
 * shows without a question: workspace, added directories, tmp_dir, and of the public places of the
 * system (base/public_places.h) what everybody may read, as far as that is quickly found. */
MUST_USE struct err *policy_make_looking(struct policy_maker *m, const char *cwd, struct arena *a,
                                         struct sandbox_policy *ret_policy);
/* The next policy is made of what is known and a few dozen lstat(): less than the way to a worker
 * and back takes. */
bool policy_maker_is_quick(const struct policy_maker *m, bool only_looks);

/* --- look_policy.c --- */

/* Narrows a policy. `home` is canonical, or NULL; `not_public` is what is not to be seen in public
 * places. Blocks. */
MUST_USE struct err *policy_only_look(const char *home, const struct path_list *not_public,
                                      struct arena *a, struct sandbox_policy *policy);

#endif
