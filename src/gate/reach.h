/* reach.h - the kind of place that a path is in, as the file system is now.
 *
 * If a path is in several places, the innermost counts: a workspace in a secret place is free, a
 * secret place in a workspace is secret.
 * - Secret: places that the policy names, identified by name or by device and inode, since a second
 *   path (a bind mount, /sysroot, a hard link) leads to the same file. Also files that their mode
 *   closes to other users (sys/private_mode.h) outside of the workspace and added directories, and
 *   the environment and memory of any process (/proc/N/environ, mem).
 * - Free: the workspace, added directories, places that the policy makes readable, and those of the
 *   system that every user may read (base/public_places.h).
 * - Outside: everything else. Looking at it asks. */
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
