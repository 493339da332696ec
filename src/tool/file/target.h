/* target.h - the one file that a call is about: where it is, opening it, and what failed as a
 * result.
 *
 * The path is canonical: no link leads to it or on from it. Only regular files are opened: a pipe,
 * a device or a socket is refused before it is touched, and one that takes a file's place meanwhile
 * neither blocks nor is read. No link is followed; see sys/spot.h. What blocks is for workers: call
 * it through work_run(). Errors are for the model. */
#ifndef KEEL_TOOL_FILE_TARGET_H
#define KEEL_TOOL_FILE_TARGET_H

#include "port/file_stamp.h"
#include "port/tool.h"
#include "sys/spot.h"

/* --- where it is --- */

/* The canonical path of `absolute_path`: the one that the gate looked at, or, if nobody has, what
 * the links on the way lead to now. May wait. In the arena of the result. */
MUST_USE struct err *target_find(const struct tool_context *c, struct tool_result *r,
                                 const char *absolute_path, const char **ret_target);

/* The second half of it, without a gate: blocks, for workers. */
MUST_USE struct err *target_resolve(struct arena *a, const char *absolute_path, const char *cwd,
                                    const char **ret_target);

/* --- opening --- */

struct open_file {
    const char *path; /* borrowed */
    int fd;
    unsigned mode;
    struct file_stamp stamp; /* taken before the first byte was read */
    uint64_t n_left;         /* bytes that may still be read */
    bool is_made;            /* its size is not known, as in /proc: it is read up to a cap */
};

#define OPEN_FILE_MADE_MAX ((uint64_t)16 << 20)

/* *ret_exists is false, without an error, when there is nothing of that name. */
MUST_USE struct err *open_file_open(const struct spot *spot, bool *ret_exists,
                                    struct open_file *ret_file);
void open_file_done(struct open_file *f);
DEFINE_AUTO_VAL(open_file, open_file_done)
#define OPEN_FILE_NONE ((struct open_file){.fd = -1})

/* Appends up to n bytes; fewer only at the end of the file as it was when it was opened. */
MUST_USE struct err *open_file_read(struct open_file *f, size_t n, struct strbuf *out,
                                    bool *ret_at_end);

/* Might it be opened for writing too? */
bool open_file_may_write(const struct open_file *f);

/* Of the file that is there now; *ret_exists is false, without an error, when there is none. */
MUST_USE struct err *file_stamp_take(const struct spot *spot, bool *ret_exists,
                                     struct file_stamp *ret_stamp);

/* --- failures --- */

/* Makes the error the result, with its hint. NULL is fine and changes nothing; being cancelled or
 * too late is no result and is handed back. */
MUST_USE struct err *failure_as_result(struct tool_result *r, struct err *take_error);

#endif
