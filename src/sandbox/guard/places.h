/* places.h - what of a workspace commands must not write: settings, hooks, start-up files, and what
 * git runs. */
#ifndef KEEL_SANDBOX_GUARD_PLACES_H
#define KEEL_SANDBOX_GUARD_PLACES_H

#include "sandbox/guard/survey.h"
#include "sandbox/sandbox.h"
#include "sys/git_programs.h"

struct places {
    struct arena *arena;
    struct git_settings settings; /* the global ones; its stamps are of all files that were read */
    const char *root;
    const char *plain;             /* the last directory that no link leads to; NULL: none yet */
    struct names_below *names;     /* of a directory that no link leads to; may be NULL */
    struct path_list list;         /* absolute; one may come twice */
    struct path_list sealed, open; /* see struct sandbox_policy */
};
void places_init(struct places *p, struct arena *a, const char *home);
/* Those in the directory of a survey, for each of its repositories. Blocks. */
void places_add(struct places *p, const struct survey *s);

#endif
