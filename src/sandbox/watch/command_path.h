/* command_path.h - the place that a running command means by a path, as keel would name it.
 *
 * From the process's own working directory, descriptors and root, through links as the kernel
 * follows them. Most paths have none and lie in a writable directory: one call of the kernel is
 * enough to see that. The others are gone name by name. Nothing is opened but directories and
 * links, and those as paths (O_PATH), which has no effect on what is there. */
#ifndef KEEL_SANDBOX_WATCH_COMMAND_PATH_H
#define KEEL_SANDBOX_WATCH_COMMAND_PATH_H

#include "base/mem.h"

#include <limits.h>
#include <sys/types.h>

/* Where commands write. */
struct write_root {
    char *path; /* absolute and canonical */
    dev_t device;
    ino_t inode;
    bool counts; /* are changes in it to be known? */
};
struct write_roots {
    struct write_root *all;
    size_t n;
};
/* Changes in `paths` count, those in `scratch`, which may be NULL, do not. */
void write_roots_init(struct write_roots *r, const char *const *paths, size_t n,
                      const char *scratch);
void write_roots_done(struct write_roots *r);
bool write_roots_count(const struct write_roots *r, const char *path);

struct command_path {
    char text[PATH_MAX]; /* absolute, without links but perhaps the last name */
    char base[PATH_MAX];
    char rest[4 * PATH_MAX]; /* what is left to go */
    char link[PATH_MAX];
};

/* Does /proc here show processes by the numbers that this process knows them by? */
bool command_path_can_look(void);

/* These return 0 or an errno: ENOENT, ENOTDIR, EACCES, ELOOP and ENAMETOOLONG are what the command
 * gets too. EPERM: the process does not let itself be looked into. ESRCH: it is gone. EOVERFLOW:
 * the place has no name that keel could use. */

/* `dir` is a descriptor of that process, or AT_FDCWD. */
int command_path_find(struct command_path *p, const struct write_roots *roots, pid_t process,
                      int dir, const char *path, bool follows_last) MUST_USE;
/* What the descriptor itself leads to. */
int command_path_find_fd(struct command_path *p, const struct write_roots *roots, pid_t process,
                         int fd) MUST_USE;

/* Puts a path behind the directory that it starts from, which holds no link. False: that cannot be
 * said without looking, or it is too long. */
bool command_path_join(const char *base, const char *path, char ret_text[PATH_MAX]) MUST_USE;

#endif
