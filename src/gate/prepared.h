/* prepared.h - looks up where the paths of a call lead, before it is decided.
 *
 * Looking may wait; deciding then needs only this. If a link changes in between, the gate decides
 * about what was seen here, and the tool opens it. */
#ifndef KEEL_GATE_PREPARED_H
#define KEEL_GATE_PREPARED_H

#include "gate/pattern.h"
#include "gate/place.h"

struct hard_policy;
struct rulebook;

struct prepared {
    const char *workspace, *home; /* real; home NULL: there is none */
    /* Directories with two names. The first n_own_aliases are the workspace and the home, which a
     * person has named: they also hold for rules that allow. The others are the current directory
     * and those that rules which deny or ask name. */
    struct alias *aliases;
    size_t n_aliases, n_own_aliases;
    struct place path; /* that the call is about; given NULL: none */
    /* The target of a search by a path pattern (Glob): the plain part of the pattern, and the
     * directory where the search begins. */
    struct place searched, search_root;
    const struct command_line *command; /* the command line, split; NULL: none */
    struct place *redirected;           /* by the split's index */
    struct place *written;              /* operands that it writes */
    size_t n_written;
    /* only_looks: all its commands are in the table of gate/look/look.h. looks_freely: and Read
     * would not ask about the places they look at. */
    bool only_looks, looks_freely;
    bool moves; /* it only looks, and changes the working directory of the session */
};

/* Looks in a worker if there is a loop, otherwise at once. The result is in `a`. */
MUST_USE struct err *gate_prepare(const struct rulebook *rules, const struct hard_policy *policy,
                                  const struct subject *s, struct arena *a,
                                  struct prepared *ret_prepared);
/* Finds the aliases alone, which do not belong to a call: s has a session and an environment.
 * Blocks. `rules` NULL: no aliases for them. `policy` NULL: the workspace is where its name leads
 * now. */
void prepared_find_aliases(struct prepared *p, const struct rulebook *rules,
                           const struct hard_policy *policy, const struct subject *s,
                           struct arena *a);

/* The innermost working directory that holds the path; "/": none does. */
const char *prepared_root_of(const struct prepared *p, const struct hard_policy *policy,
                             const char *path);

/* All names of the place that a rule may use. Widely: as given, on the way and resolved, with each
 * name of the directories that contain it. `p` NULL: these are unknown. */
struct names prepared_wide_names(const struct prepared *p, const struct place *place,
                                 struct arena *a) MUST_USE;
/* Narrowly: this path, with each name of the workspace and the home. */
struct names prepared_own_names(const struct prepared *p, const char *path,
                                struct arena *a) MUST_USE;

#endif
