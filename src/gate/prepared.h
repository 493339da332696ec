/* prepared.h - what has to be looked up before a call can be decided: where its paths lead.
 *
 * Looking may wait; deciding then needs nothing but this. Where a link is changed in between, what
 * was seen here is what is decided about and what the tool opens. */
#ifndef KEEL_GATE_PREPARED_H
#define KEEL_GATE_PREPARED_H

#include "gate/pattern.h"
#include "gate/place.h"

struct hard_policy;
struct rulebook;

struct prepared {
    const char *workspace, *home; /* real; home NULL: there is none */
    /* Directories with two names. The first n_own_aliases are the workspace and the home, which a
     * person has named: they hold for rules that allow too. The others are the current directory,
     * and what rules that deny or ask name. */
    struct alias *aliases;
    size_t n_aliases, n_own_aliases;
    struct place path; /* that the call is about; given NULL: it is about none */
    /* Where a search by a pattern of paths leads, if the call is one (Glob's): the plain part of
     * the pattern, and the directory in which the search begins. */
    struct place searched, search_root;
    const struct command_line *command; /* that it runs, split; NULL: none */
    struct place *redirected;           /* by the split's index */
    struct place *written;              /* by its operands */
    size_t n_written;
    /* By the table of commands that only look (gate/look/look.h), and where it would look Read
     * would not ask either. The second implies the first. */
    bool only_looks, looks_freely;
    bool moves; /* with that: the session works elsewhere afterwards */
};

/* Looks in a worker where there is a loop, else at once. Everything lives in `a`. */
MUST_USE struct err *gate_prepare(const struct rulebook *rules, const struct hard_policy *policy,
                                  const struct subject *s, struct arena *a,
                                  struct prepared *ret_prepared);
/* Blocks. Only what does not belong to a call: s has a session and an environment. `rules` NULL:
 * nothing is to be called by them. `policy` NULL: the workspace is where its name leads now. */
void prepared_find_aliases(struct prepared *p, const struct rulebook *rules,
                           const struct hard_policy *policy, const struct subject *s,
                           struct arena *a);

/* The innermost directory to work in that holds the path; "/": none does. */
const char *prepared_root_of(const struct prepared *p, const struct hard_policy *policy,
                             const char *path);

/* All that a rule may call the place. Widely: the place as given, on the way and as it is, by each
 * name of the directories that it lies in. `p` NULL: nothing is known of those. */
struct names prepared_wide_names(const struct prepared *p, const struct place *place,
                                 struct arena *a) MUST_USE;
/* Narrowly: this path, by each name of the workspace and the home. */
struct names prepared_own_names(const struct prepared *p, const char *path,
                                struct arena *a) MUST_USE;

#endif
