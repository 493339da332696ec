/* new_file.h - a file that is written in pieces and appears when it is whole.
 *
 * The pieces go to a temporary file (temp_file.h), which gets its name at the end and replaces a
 * file of that name. Anything but a plain file (a device, a pipe) is written in place. All calls
 * block, within work_run(): cancelling it ends the wait for the reader of a pipe. */
#ifndef KEEL_SYS_NEW_FILE_H
#define KEEL_SYS_NEW_FILE_H

#include "base/err.h"
#include "sys/temp_file.h"

struct new_file {
    char *path;
    bool is_temp; /* otherwise it is written in place, to fd */
    struct temp_file temp;
    int dir_fd, fd;
};
#define NEW_FILE_NONE ((struct new_file){.temp = TEMP_FILE_NONE, .dir_fd = -1, .fd = -1})

MUST_USE struct err *new_file_begin(struct new_file *f, const char *path, unsigned mode);
MUST_USE struct err *new_file_add(struct new_file *f, struct str bytes);
MUST_USE struct err *new_file_end(struct new_file *f); /* makes it durable */
void new_file_done(struct new_file *f);                /* without new_file_end() nothing is left */
DEFINE_AUTO_VAL(new_file, new_file_done)

#endif
