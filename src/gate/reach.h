/* reach.h - what kind of place a path lies in, as the file system is now.
 *
 * Of the places that a path lies in the innermost counts: a workspace in a secret place is free,
 * and a secret place in a workspace is secret.
 * - Secret is what the policy names, by its name or by device and inode: a second path to it (a
 *   bind mount, /sysroot, a hard link) leads to the same. So is what its mode closes to others
 *   (sys/private_mode.h) outside of the workspace and added directories, and of any process what it
 *   was started with and its memory (/proc/N/environ, mem).
 * - Free is the workspace, added directories, what the policy adds to be read, and what everybody
 *   may read of the system (base/public_places.h).
 * - All else is outside: to look at it asks. */
#ifndef KEEL_GATE_REACH_H
#define KEEL_GATE_REACH_H

#include "gate/hard_policy.h"
#include "gate/place.h"
#include "sys/private_mode.h"

struct file_id {
    dev_t device;
    ino_t inode;
};

/* The places of a policy, looked up once for many paths. Threads may share it. */
struct reach_map {
    const struct hard_policy *policy; /* borrowed */
    const char *workspace, *home;     /* real; home NULL: there is none */
    struct private_user user;
    struct file_id *secrets, *open; /* those that exist */
    size_t n_secrets, n_open;
    const char **inner; /* secret places in the workspace and in added directories */
    size_t n_inner;
};
/* Blocks. The result is in `a`. */
void reach_map_init(struct reach_map *m, struct arena *a, const struct hard_policy *policy,
                    const char *workspace, const char *home);

/* The kind of a path without links. A path that does not exist is like its directory. *ret_is_dir,
 * which may be NULL, tells whether it is a directory. Blocks. */
enum reach reach_of(const struct reach_map *m, const char *real_path, bool *ret_is_dir);

/* Must a search omit this entry? It may be above the workspace. Blocks. */
bool reach_hides(const struct reach_map *m, const char *real_path, bool is_dir);

#endif
