/* tmp.c - a private directory for temporary files: made, and removed with what commands left there.
 *
 * Commands may leave a tree as deep as they like, so it is not descended into: every directory that
 * is found is moved up to the top first and emptied there. */
#include "sandbox/sandbox.h"

#include "sys/open_plain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct err *sandbox_make_tmp(char ret_path[4096])
{
    const char *above = secure_getenv("TMPDIR");
    char real[PATH_MAX];

    if (!above || above[0] != '/' || !realpath(above, real))
        snprintf(real, sizeof real, "/tmp");
    if (snprintf(ret_path, PATH_MAX, "%s/keel-XXXXXX", real) >= PATH_MAX)
        return err_new(ERR_SANDBOX, "the path of the temporary directory is too long");
    if (!mkdtemp(ret_path))
        return err_hint(err_errno(ERR_SANDBOX, errno, "cannot create a directory in %s", real),
                        "commands need a temporary directory; set TMPDIR to a writable one");
    return NULL;
}

/* A command may have taken its own rights away. Another agent's, which still runs, may have put a
 * link there meanwhile. */
static bool open_up(int above, const char *name)
{
    int fd = openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    char path[64];
    bool done;

    if (fd < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    done = chmod(path, 0700) == 0;
    close(fd);
    return done;
}

static DIR *open_dir(int above, const char *name)
{
    int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d;

    if (fd < 0 && errno == EACCES && open_up(above, name))
        fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        close(fd);
    if (d)
        fchmod(fd, 0700);
    return d;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Removes what is in `name`; its directories move to `top` under new names. */
static void empty(int top, const char *name, unsigned *n_moved)
{
    DIR *d = open_dir(top, name);
    const struct dirent *entry;

    while (d && (entry = readdir(d))) {
        char moved[32];

        if (is_dots(entry->d_name) || unlinkat(dirfd(d), entry->d_name, 0) == 0)
            continue;
        snprintf(moved, sizeof moved, ".keel-%u", (*n_moved)++);
        /* Whoever moves a directory must be able to write it: it has a "..". */
        open_up(dirfd(d), entry->d_name);
        (void)!renameat(dirfd(d), entry->d_name, top, moved);
    }
    if (d)
        closedir(d);
}

/* One pass over the top; false when it found nothing that it could remove. */
static bool sweep(int top, unsigned *n_moved)
{
    DIR *d = open_dir(top, ".");
    const struct dirent *entry;
    bool did_any = false;

    while (d && (entry = readdir(d))) {
        if (is_dots(entry->d_name))
            continue;
        if (unlinkat(top, entry->d_name, 0) == 0) {
            did_any = true;
            continue;
        }
        empty(top, entry->d_name, n_moved);
        did_any |= unlinkat(top, entry->d_name, AT_REMOVEDIR) == 0;
    }
    if (d)
        closedir(d);
    return did_any;
}

void sandbox_remove_tmp(const char *path)
{
    int top = open_plain(path, O_RDONLY | O_DIRECTORY);
    unsigned n_moved = 0;

    if (top < 0)
        return;
    while (sweep(top, &n_moved))
        continue;
    close(top);
    rmdir(path);
}
