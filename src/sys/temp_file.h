/* temp_file.h - a file that is written first and gets its name when it is whole.
 *
 * If the file system can do it, the file has no name meanwhile, and nothing is left of it whatever
 * happens. Otherwise, and for the moment in which it replaces another, it has a name that a later
 * process finds (leftover.h). Functions return 0, or -1 and errno. All calls block. */
#ifndef KEEL_SYS_TEMP_FILE_H
#define KEEL_SYS_TEMP_FILE_H

#include "sys/leftover.h"

struct temp_file {
    int dir_fd;       /* borrowed */
    const char *name; /* its final name; borrowed */
    int fd;           /* open for writing, mode 0600 */
    bool has_name;    /* its own */
    struct leftover own;
};
#define TEMP_FILE_NONE ((struct temp_file){.fd = -1})

int temp_file_open(struct temp_file *t, int dir_fd, const char *name) MUST_USE;
/* Gives it its name; EEXIST if something has it. */
int temp_file_create(struct temp_file *t) MUST_USE;
/* Gives it its name, and replaces what has it. */
int temp_file_replace(struct temp_file *t) MUST_USE;
void temp_file_done(struct temp_file *t); /* without a name nothing is left; keeps errno */
DEFINE_AUTO_VAL(temp_file, temp_file_done)

#endif
