/* import_file.h - a file whose bytes can be read from any place, as often as wanted.
 *
 * A plain file is read in place, up to its length when it was opened, so one that grows meanwhile
 * is the same each time. A pipe or a terminal is copied to a file without a name first; such a file
 * also takes writes. In a task: all but `done` may wait. */
#ifndef KEEL_CLI_SESSION_IMPORT_FILE_H
#define KEEL_CLI_SESSION_IMPORT_FILE_H

#include "base/strbuf.h"
#include "cli/output/progress.h"

struct import_file {
    const char *path; /* borrowed, as the person gave it */
    int fd;
    bool is_stdin;
    uint64_t start, n_bytes;   /* what is read of it */
    struct progress *progress; /* may be NULL */
};
#define IMPORT_FILE_NONE ((struct import_file){.fd = -1})

/* "-" is standard input. */
MUST_USE struct err *import_file_open(struct import_file *f, const char *path,
                                      struct progress *progress);
/* An empty one without a name. */
MUST_USE struct err *import_file_new(struct import_file *f);
void import_file_done(struct import_file *f);
DEFINE_AUTO_VAL(import_file, import_file_done)

/* For import_source and import_spool: `self` is the file. */
MUST_USE struct err *import_file_read(void *self, uint64_t from, size_t n, struct strbuf *out);
MUST_USE struct err *import_file_write(void *self, struct str bytes);

#endif
