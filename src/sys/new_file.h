/* new_file.h - a file that is written piece by piece and is there when it is whole.
 *
 * The pieces go to a temporary file (temp_file.h), which takes its name at the end; a file of that
 * name is replaced. What is no plain file (a device, a pipe) is written to as it is. These calls
 * block, within work_run(): cancelling it ends the wait for the reader of a pipe. */
#ifndef KEEL_SYS_NEW_FILE_H
#define KEEL_SYS_NEW_FILE_H

#include "base/err.h"
#include "sys/temp_file.h"

struct new_file {
    char *path;
    bool is_temp; /* else it is written in place, to fd */
    struct temp_file temp;
    int dir_fd, fd;
};
#define NEW_FILE_NONE ((struct new_file){.temp = TEMP_FILE_NONE, .dir_fd = -1, .fd = -1})

MUST_USE struct err *new_file_begin(struct new_file *f, const char *path, unsigned mode);
MUST_USE struct err *new_file_add(struct new_file *f, struct str bytes);
MUST_USE struct err *new_file_end(struct new_file *f); /* it is durable */
void new_file_done(struct new_file *f);                /* without an end: nothing is left */
DEFINE_AUTO_VAL(new_file, new_file_done)

#endif
