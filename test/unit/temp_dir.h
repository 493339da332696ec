/* temp_dir.h - a directory of its own for a test, gone afterwards. */
#ifndef KEEL_TEST_UNIT_TEMP_DIR_H
#define KEEL_TEST_UNIT_TEMP_DIR_H

#include "test.h"

#include <ftw.h>
#include <unistd.h>

struct temp_dir {
    char path[256];
};

static inline struct temp_dir temp_dir_make(void)
{
    struct temp_dir d;
    const char *tmp = getenv("TMPDIR");

    snprintf(d.path, sizeof d.path, "%s/keel-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(d.path));
    return d;
}

static inline int temp_dir_remove_entry_(const char *path, const struct stat *s, int type,
                                         struct FTW *f)
{
    return remove(path);
}

static inline void temp_dir_done(struct temp_dir *d)
{
    nftw(d->path, temp_dir_remove_entry_, 16, FTW_DEPTH | FTW_PHYS);
}
DEFINE_AUTO_VAL(temp_dir, temp_dir_done)

/* path below the directory; static, good until the fourth call after it */
static inline const char *temp_path(const struct temp_dir *d, const char *name)
{
    static char paths[4][512];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", d->path, name);
    return path;
}

#endif
