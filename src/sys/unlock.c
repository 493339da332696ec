/* unlock.c - widens modes of directories for a while. */
#include "sys/unlock.h"

#include "sys/auto_fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_UNLOCKED = 256 }; /* each keeps a descriptor open */

struct unlocked {
    int fd;
    mode_t mode;
};

static bool set_mode(int path_fd, mode_t mode)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
    return chmod(path, mode & 07777) == 0;
}

/* If the mode cannot be remembered, the directory stays readable. */
static void remember(struct unlocks *u, int path_fd, mode_t mode)
{
    int fd = u->n < MAX_UNLOCKED ? fcntl(path_fd, F_DUPFD_CLOEXEC, 0) : -1;

    if (fd < 0) {
        u->n_left_open++;
        return;
    }
    if (!u->items)
        u->items = mem_alloc(MAX_UNLOCKED * sizeof *u->items);
    u->items[u->n++] = (struct unlocked){fd, mode};
}

bool unlocks_add(struct unlocks *u, int path_fd)
{
    struct stat st;

    if (fstat(path_fd, &st) < 0 || !S_ISDIR(st.st_mode) || (st.st_mode & S_IRWXU) == S_IRWXU ||
        !set_mode(path_fd, st.st_mode | S_IRWXU))
        return false;
    remember(u, path_fd, st.st_mode);
    return true;
}

bool unlocks_open(struct unlocks *u, const char *path, unsigned *ret_mode)
{
    AUTO_FD fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || faccessat(AT_FDCWD, path, R_OK | X_OK, AT_EACCESS) == 0 ||
        !unlocks_add(u, fd))
        return false;
    *ret_mode = st.st_mode & 07777;
    return true;
}

static bool unlocks_unlock(void *self, int path_fd)
{
    return unlocks_add(self, path_fd);
}

struct dir_unlocker unlocks_for_watch(struct unlocks *u)
{
    return (struct dir_unlocker){unlocks_unlock, u};
}

void unlocks_forget(struct unlocks *u)
{
    while (u->n > 0)
        close(u->items[--u->n].fd);
    unlocks_done(u);
}

/* The innermost first: the way to it must still be open. */
void unlocks_done(struct unlocks *u)
{
    while (u->n > 0) {
        struct unlocked *last = &u->items[--u->n];

        set_mode(last->fd, last->mode);
        close(last->fd);
    }
    mem_free(u->items);
    *u = (struct unlocks){0};
}
