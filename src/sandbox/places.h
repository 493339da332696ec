/* places.h - what of a workspace commands must not write: settings, hooks, start-up files, and what
 * git runs. */
#ifndef KEEL_SANDBOX_PLACES_H
#define KEEL_SANDBOX_PLACES_H

#include "sandbox/git_programs.h"
#include "sandbox/sandbox.h"
#include "sandbox/survey.h"

struct places {
    struct arena *arena;
    struct git_settings settings; /* the global ones; its stamps are of all files that were read */
    const char *root;
    const char **paths; /* absolute; one may come twice */
    size_t n, room;
};
/* Begins with those that the policy names. */
void places_init(struct places *p, struct arena *a, const struct sandbox_policy *policy);
/* Those in the directory of a survey, for each of its repositories. Blocks. */
void places_add(struct places *p, const struct survey *s);

#endif
