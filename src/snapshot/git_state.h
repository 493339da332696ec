/* git_state.h - the repository of the workspace, which keel neither saves nor restores: whether a
 * command has removed it, or moved its HEAD. A few files are asked for their times. */
#ifndef KEEL_SNAPSHOT_GIT_STATE_H
#define KEEL_SNAPSHOT_GIT_STATE_H

#include "snapshot/coverage.h"
#include "snapshot/state.h"

struct git_state {
    unsigned parts;         /* that are there, a bit each */
    struct stamp head, log; /* HEAD, and its reflog */
};
struct git_state git_state_look(const struct coverage *c);
/* What an undo does not undo; empty: nothing. *ret_is_gone: more than that, it is lost. */
struct str git_state_compare(const struct git_state *before, const struct git_state *now,
                             const struct coverage *c, struct arena *a, bool *ret_is_gone);

#endif
