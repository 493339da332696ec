/* spot.c - looks at, opens and creates what is in a directory that is held open. */
#include "sys/spot.h"

#include "sys/locked_file.h"
#include "sys/open_plain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct err *is_link_now(const char *shown)
{
    return err_hint(err_new(ERR_STORAGE, "%s became a symbolic link after it was checked", shown),
                    "try again");
}

static struct err *cannot(const char *do_what, const char *shown, int error)
{
    if (error == ELOOP)
        return is_link_now(shown);
    if (error == EBUSY)
        return err_new(ERR_STORAGE, "cannot %s %s: keel's own store is using it", do_what, shown);
    return err_errno(ERR_STORAGE, error, "cannot %s %s", do_what, shown);
}

struct err *spot_find(const char *path, const char *shown, struct spot *ret_spot)
{
    const char *name;
    int fd = open_plain_above(path, &name);

    if (fd < 0)
        return cannot("stat", shown, errno);
    *ret_spot = (struct spot){.shown = shown, .name = name, .dir_fd = fd};
    return NULL;
}

void spot_done(struct spot *p)
{
    if (p->dir_fd >= 0)
        close(p->dir_fd);
    p->dir_fd = -1;
}

static bool has_dir(const struct spot *p)
{
    return !strchr(p->name, '/');
}

struct err *spot_look(const struct spot *p, bool *ret_exists, struct stat *ret_stat)
{
    *ret_exists = has_dir(p) && fstatat(p->dir_fd, p->name, ret_stat, AT_SYMLINK_NOFOLLOW) == 0;
    if (*ret_exists)
        return S_ISLNK(ret_stat->st_mode) ? is_link_now(p->shown) : NULL;
    return !has_dir(p) || errno == ENOENT ? NULL : cannot("stat", p->shown, errno);
}

struct err *spot_open(const struct spot *p, int flags, int *ret_fd)
{
    *ret_fd =
        has_dir(p) ? locked_file_openat(p->dir_fd, p->name, flags | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (*ret_fd >= 0 || !has_dir(p) || errno == ENOENT)
        return NULL;
    return cannot("open", p->shown, errno);
}

/* --- directories --- */

struct err *spot_make_dirs(struct spot *p, unsigned mode)
{
    const char *slash;

    while ((slash = strchr(p->name, '/'))) {
        AUTO_FREE char *dir = str_dup(str_make(p->name, (size_t)(slash - p->name)));
        int fd;

        if (mkdirat(p->dir_fd, dir, mode) < 0 && errno != EEXIST)
            return err_errno(ERR_STORAGE, errno, "cannot create the directory %s of %s", dir,
                             p->shown);
        fd = openat(p->dir_fd, dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOTDIR)
            return err_new(ERR_STORAGE,
                           "cannot create the directories of %s: %s is not a directory", p->shown,
                           dir);
        if (fd < 0)
            return err_errno(ERR_STORAGE, errno, "cannot enter the directory %s of %s", dir,
                             p->shown);
        close(p->dir_fd);
        p->dir_fd = fd;
        p->name = slash + 1 + strspn(slash + 1, "/");
    }
    return NULL;
}
