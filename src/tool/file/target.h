/* target.h - the file that a call is about: finding it, opening it, and failures as results.
 *
 * Paths are canonical: no link leads to the file. Only regular files are opened. A pipe, device or
 * socket is refused before it is touched; one that replaces the file meanwhile neither blocks nor
 * is read. No link is followed; see sys/spot.h. Opening and reading block: call them through
 * work_run(). Errors are for the model. */
#ifndef KEEL_TOOL_FILE_TARGET_H
#define KEEL_TOOL_FILE_TARGET_H

#include "port/file_stamp.h"
#include "port/tool.h"
#include "sys/spot.h"

/* --- where it is --- */

/* The canonical path of `absolute_path`: the one that the gate judged or, without a gate, where the
 * links lead now. May wait. In the arena of the result. */
MUST_USE struct err *target_find(const struct tool_context *c, struct tool_result *r,
                                 const char *absolute_path, const char **ret_target);

/* The second case alone. Blocks, for workers. */
MUST_USE struct err *target_resolve(struct arena *a, const char *absolute_path, const char *cwd,
                                    const char **ret_target);

/* --- opening --- */

struct open_file {
    const char *path; /* borrowed */
    int fd;
    unsigned mode;
    struct file_stamp stamp; /* taken before the first byte was read */
    uint64_t n_left;         /* bytes that may still be read */
    bool is_made;            /* its size is unknown, as in /proc: it is read up to a limit */
};

#define OPEN_FILE_MADE_MAX ((uint64_t)16 << 20)

/* If there is no such file, *ret_exists is false and there is no error. */
MUST_USE struct err *open_file_open(const struct spot *spot, bool *ret_exists,
                                    struct open_file *ret_file);
void open_file_done(struct open_file *f);
DEFINE_AUTO_VAL(open_file, open_file_done)
#define OPEN_FILE_NONE ((struct open_file){.fd = -1})

/* Appends up to n bytes; fewer only at the end of the file as it was when opened. */
MUST_USE struct err *open_file_read(struct open_file *f, size_t n, struct strbuf *out,
                                    bool *ret_at_end);

/* Could it be opened for writing too? */
bool open_file_may_write(const struct open_file *f);

/* The stamp of the file now. If there is none, *ret_exists is false and there is no error. */
MUST_USE struct err *file_stamp_take(const struct spot *spot, bool *ret_exists,
                                     struct file_stamp *ret_stamp);

/* --- failures --- */

/* Makes the error a failed result, with its hint. NULL changes nothing. Cancellation and timeouts
 * are not results and are returned. */
MUST_USE struct err *failure_as_result(struct tool_result *r, struct err *take_error);

#endif
