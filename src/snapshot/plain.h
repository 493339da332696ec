/* plain.h - the directory that a path is in, through no link at all.
 *
 * A command may put a link where a directory was. Whoever saves or restores by path must then find
 * nothing, instead of what the link names; see sys/open_plain.h. These calls block. */
#ifndef KEEL_SNAPSHOT_PLAIN_H
#define KEEL_SNAPSHOT_PLAIN_H

#include "base/mem.h"

/* For *at() calls, and the path's last name. -1 with errno. */
int plain_open_parent(const char *path, const char **ret_name) MUST_USE;

/* Did the call fail because nothing is there (any more)? */
bool plain_is_absent(int error);

#endif
