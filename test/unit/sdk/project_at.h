/* project_at.h - the files of a project in a test's directory. */
#ifndef KEEL_TEST_UNIT_SDK_PROJECT_AT_H
#define KEEL_TEST_UNIT_SDK_PROJECT_AT_H

#include "config/project_files.h"

static inline const struct project_files *project_at(struct arena *a, const char *dir)
{
    struct project_files *files = ARENA_NEW(a, struct project_files);

    project_files_read(a, &(struct project_place){.dir = dir}, files);
    return files;
}

#endif
