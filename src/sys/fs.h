/* fs.h - reads files with a cap, and writes them so that a crash leaves the old or the new one.
 *
 * All calls block; tasks make them through work_run(). Paths are used unchanged. */
#ifndef KEEL_SYS_FS_H
#define KEEL_SYS_FS_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <fcntl.h>

/* The cap where the buffer has none of its own. */
#define FS_READ_MAX_BYTES ((size_t)64 << 20)

/* Appends the whole file; a file over out's cap is ERR_VALIDATION. *ret_exists false (and no error)
 * when there is none; pass NULL to make that an error. Refuses a FIFO, a device, a socket or a
 * directory, so it never waits for one. */
MUST_USE struct err *fs_read(const char *path, struct strbuf *out, bool *ret_exists);
/* The same for callers that open the file by other means, with these flags; and the error of such
 * an open(). */
#define FS_READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
MUST_USE struct err *fs_read_fd(int fd, const char *shown, struct strbuf *out);
NEVER_NULL MUST_USE struct err *fs_open_error(int error, const char *shown);
/* Reads anything to its end, a pipe too; may wait for ever. For files that a person names. */
MUST_USE struct err *fs_read_stream(const char *path, struct strbuf *out);
/* Appends bytes from..from+n, fewer at the end of the file. */
MUST_USE struct err *fs_read_range(const char *path, uint64_t from, size_t n, struct strbuf *out);

/* A temporary file (temp_file.h), fsync, rename, fsync of the directory. An existing file keeps its
 * mode, owner and extended attributes; a new one gets `mode`. Symbolic links are followed to the
 * file they name. */
MUST_USE struct err *fs_write_atomic(const char *path, struct str bytes, unsigned mode);
/* The same, but *ret_created is false when the file already exists. */
MUST_USE struct err *fs_create(const char *path, struct str bytes, unsigned mode,
                               bool *ret_created);

/* Creates or replaces a file at a spot, whose directory must exist (spot.h). A link of that name is
 * replaced, not followed. */
struct spot;
MUST_USE struct err *fs_write_atomic_at(const struct spot *p, struct str bytes, unsigned mode);
MUST_USE struct err *fs_create_at(const struct spot *p, struct str bytes, unsigned mode,
                                  bool *ret_created);

MUST_USE struct err *fs_make_dirs(const char *path, unsigned mode); /* existing ones are fine */
MUST_USE struct err *fs_remove(const char *path);                   /* absent is fine */
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
/* Could this entry be a file or a directory, other than "." and ".."? Links and devices are
 * neither. If the file system does not tell the type, it could, and the caller has to look. */
struct dirent;
bool fs_entry_may_be_plain(const struct dirent *entry);
/* ERR_VALIDATION with a hint if this user may not look into the directory. */
MUST_USE struct err *fs_check_entry(const char *dir);

/* Returns an absolute path without links, in `a`, as far as it exists; the rest is unchanged. A
 * link that leads nowhere stays too. */
const char *fs_resolve(struct arena *a, const char *path) MUST_USE;
/* dir + "/" + name, in `a`. */
const char *fs_join(struct arena *a, const char *dir, const char *name) MUST_USE;

#endif
