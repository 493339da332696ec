/* own_files.h - keel's own files in a workspace: no part of what tools change.
 *
 * A store may be kept in the workspace (--store sqlite:./k.db). What it holds changes all the time,
 * and to restore it would lose sessions. */
#ifndef KEEL_SDK_REWIND_OWN_FILES_H
#define KEEL_SDK_REWIND_OWN_FILES_H

#include "port/store.h"
#include "port/tool.h"

/* Is a path the store's? NULL: the store has nothing in these directories. Lives in `a`; the store
 * is borrowed. */
const struct path_filter *own_files(const struct store *s, const char *workspace,
                                    const char *const *added_dirs, size_t n_added_dirs,
                                    struct arena *a) MUST_USE;

#endif
