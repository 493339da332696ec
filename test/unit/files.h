/* files.h - trees of files for tests. */
#ifndef KEEL_TEST_UNIT_FILES_H
#define KEEL_TEST_UNIT_FILES_H

#include "program.h"
#include "sys/fs.h"
#include "temp_dir.h"

#include <dirent.h>

/* Makes the directories on the way too. A path that ends in a slash is a directory. */
static inline void put_bytes(const struct temp_dir *d, const char *path, struct str bytes)
{
    AUTO_FREE char *full = mem_strdup(temp_path(d, path));
    char *slash = strrchr(full, '/');

    *slash = '\0';
    assert_ok(fs_make_dirs(full, 0777));
    *slash = '/';
    if (slash[1])
        write_file(full, bytes);
}

static inline void put(const struct temp_dir *d, const char *path, const char *text)
{
    put_bytes(d, path, str_of(text));
}

static inline size_t count_entries(const char *directory)
{
    DIR *d = opendir(directory);
    size_t n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

#endif
