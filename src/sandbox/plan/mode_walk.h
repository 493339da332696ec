/* mode_walk.h - what its mode closes to others, in the home and in the directories of the system.
 *
 * One walk answers two questions, because both need to look at the same files:
 * - What is private (sys/private_mode.h), as far as that is quickly found: two levels below the
 *   home in directories with a dot, and for root where programs of the system keep what is theirs.
 * - What is not public: what lies in /etc, /opt and /usr/local and this person may read but not
 *   everybody, so that Read asks about it. Neither mounts nor Landlock go by modes, and nobody but
 *   root can give up a group, so an ordinary user needs the answer as well.
 *
 * Each looks at 20,000 entries at most, the shallowest first. A worker begins, and whoever ends the
 * walk does what is left together with it. */
#ifndef KEEL_SANDBOX_PLAN_MODE_WALK_H
#define KEEL_SANDBOX_PLAN_MODE_WALK_H

#include "sandbox/sandbox.h"

struct mode_walk_options {
    bool finds_private, finds_not_public;
    const char *home;               /* canonical; NULL: none */
    const struct path_list *opened; /* nothing is looked at in these; NULL: none */
    const char *root;               /* for tests: a directory that is taken for "/"; NULL: none */
};

/* The options and what they name are borrowed until the end. */
struct mode_walk;
struct mode_walk *mode_walk_begin(const struct mode_walk_options *options) MUST_USE;
/* Adds what was found to the lists, which copy it. They may be NULL: for whom it comes too late.
 * Blocks for some milliseconds; accepts NULL. */
void mode_walk_end(struct mode_walk *w, struct path_list *private_places,
                   struct path_list *not_public);

#endif
