/* spot.h - a place for a file: a directory that is held open, and a name in it.
 *
 * A spot stays the same, whatever happens to its path. No link is followed: neither on the way (see
 * open_plain.h) nor by the name. All calls block. Errors are ERR_STORAGE and name the file as
 * `shown`; "has become a link" means that the path is no longer what it was when it was decided
 * about. */
#ifndef KEEL_SYS_SPOT_H
#define KEEL_SYS_SPOT_H

#include "base/err.h"

#include <sys/stat.h>

struct spot {
    const char *shown; /* borrowed, like the name */
    const char *name;  /* "a/b/name" while the directories a and a/b are missing */
    int dir_fd;        /* O_PATH; -1: not looked up */
};
#define SPOT_NONE ((struct spot){.dir_fd = -1})

/* `path` is absolute and canonical; it is borrowed until spot_done(). */
MUST_USE struct err *spot_find(const char *path, const char *shown, struct spot *ret_spot);
void spot_done(struct spot *p);
DEFINE_AUTO_VAL(spot, spot_done)

/* Looks what is there now. *ret_exists false, without an error: nothing. */
MUST_USE struct err *spot_look(const struct spot *p, bool *ret_exists, struct stat *ret_stat);
/* Opens what is there, with flags as for open(), without O_CREAT. *ret_fd is -1, without an error,
 * if nothing is there. */
MUST_USE struct err *spot_open(const struct spot *p, int flags, int *ret_fd);
/* Creates the missing directories. */
MUST_USE struct err *spot_make_dirs(struct spot *p, unsigned mode);

#endif
