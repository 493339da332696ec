/* project_files.h - the files of a project that can make keel do something, read once.
 *
 * A repository's settings can start processes and open connections, and so can the files that they
 * name. All of these are read into memory at once, and are digested, shown and parsed from there: a
 * file that is replaced meanwhile changes nothing.
 *
 * They are the settings files and .mcp.json, everything below .keel/ and .robota/, and each file in
 * the project that a command in the settings names. Links are followed only inside the project, and
 * only plain files are read; the numbers of files and bytes are limited. If the project is the
 * person's home, the person's own settings are not among them, nor is anything else in ~/.keel
 * except settings.local.json: it is keel's. */
#ifndef KEEL_CONFIG_PROJECT_FILES_H
#define KEEL_CONFIG_PROJECT_FILES_H

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"

#define PROJECT_MAX_FILES 1000
#define PROJECT_MAX_BYTES ((size_t)64 << 20)
#define PROJECT_MAX_SETTINGS_BYTES ((size_t)4 << 20) /* of one file */
#define PROJECT_MAX_KEPT_BYTES ((size_t)1 << 20)     /* of a file that is not settings */

enum project_file_kind {
    PROJECT_SETTINGS, /* parsed by keel */
    PROJECT_NAMED,    /* a command in the settings names it */
    PROJECT_OTHER,    /* in .keel/ or .robota/ */
};

struct project_file {
    const char *name; /* in the project: ".keel/settings.json" */
    enum project_file_kind kind;
    uint64_t n_bytes;
    /* Empty if the file is longer than PROJECT_MAX_KEPT_BYTES. For a link out of the project that a
     * command names: its target. */
    struct str content;
    bool is_link, is_executable;
    char digest[SHA256_HEX_SIZE];
    const char *problem; /* why it cannot be read; NULL: it was read */
};

/* Sorted by name; everything lives in the arena. */
struct project_files {
    struct project_file *items;
    size_t n, room;
    const char
        *problem; /* why this is not complete, or has a file with a problem; NULL: complete */
};

struct project_place {
    const char *dir;       /* the project; NULL: none, and no files */
    const char *cwd;       /* another directory for relative names of commands; NULL: none */
    const char *home;      /* the person's; may be NULL */
    const char *keel_home; /* may be NULL */
};

/* Blocks. A file that cannot be read has a problem, which is not an error. */
void project_files_read(struct arena *a, const struct project_place *place,
                        struct project_files *ret_files);

const struct project_file *project_files_find(const struct project_files *f, const char *name);

/* Before a command of the project's settings runs: checks that every file that it could run is
 * unchanged. ERR_TOOL_DENIED names one that is not. Settings do not count: they were parsed long
 * ago. Blocks. */
MUST_USE struct err *project_files_check(const struct project_files *then,
                                         const struct project_place *place, struct str command);

#endif
