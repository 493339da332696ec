/* session_lock.c - open file description locks. They belong to the opening, not to the process, so
 * two stores in one process exclude each other too. */
#include "store/session_lock.h"

#include "base/strbuf.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PATH_BYTES 4096
#define MAX_TRIES 64 /* two seconds */

static bool lock_path(const char *dir, struct str id, char path[MAX_PATH_BYTES])
{
    int n = snprintf(path, MAX_PATH_BYTES, "%s/%" STR_FMT ".lock", dir, STR_ARG(id));

    return n > 0 && n < MAX_PATH_BYTES;
}

static bool lock_fd(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

/* Reads "process 123", which the holder wrote there. */
static void read_holder(int fd, char holder[64])
{
    ssize_t n = pread(fd, holder, 63, 0);

    holder[n > 0 ? n : 0] = '\0';
}

struct err *session_lock_refused(struct str id, const char *holder)
{
    return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open in %s", STR_ARG(id),
                            *holder ? holder : "another process"),
                    "close it there, or continue in a copy: keel session fork %" STR_FMT
                    ", or keel -p -r %" STR_FMT " --fork-session PROMPT",
                    STR_ARG(id), STR_ARG(id));
}

/* Did a killed process hold it? A child that it forked keeps the lock until it begins its own
 * program, which takes a moment. */
static bool is_of_the_dead(int fd)
{
    char holder[64];
    long pid;

    read_holder(fd, holder);
    return sscanf(holder, "process %ld", &pid) == 1 && pid > 0 && kill((pid_t)pid, 0) < 0 &&
           errno == ESRCH;
}

/* Says what to do where nothing can be written. */
static struct err *advise(struct err *take_error)
{
    return err_hint(take_error, "check its permissions, or choose another store with --store");
}

/* Does the path still lead to this file? It may have been removed between opening and locking. */
static bool is_current(int fd, const char *path)
{
    struct stat of_fd, of_path;

    return fstat(fd, &of_fd) == 0 && stat(path, &of_path) == 0 && of_fd.st_ino == of_path.st_ino &&
           of_fd.st_dev == of_path.st_dev;
}

static struct err *try_lock(const char *path, struct str id, unsigned n_tries, int *ret_fd)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    char holder[64];
    struct err *e;
    int error;

    *ret_fd = -1;
    if (fd < 0)
        return advise(err_errno(ERR_STORAGE, errno, "cannot open %s", path));
    if (lock_fd(fd)) {
        if (is_current(fd, path))
            *ret_fd = fd;
        else
            close(fd);
        return NULL;
    }
    error = errno;
    if (error != EAGAIN && error != EACCES)
        e = err_errno(ERR_STORAGE, error, "cannot lock %s", path);
    else if (n_tries < MAX_TRIES && is_of_the_dead(fd) && work_pause(n_tries))
        e = NULL;
    else {
        read_holder(fd, holder);
        e = session_lock_refused(id, holder);
    }
    close(fd);
    return e;
}

struct err *session_lock_take(const char *dir, struct str id, int *ret_fd)
{
    char path[MAX_PATH_BYTES], holder[64];
    struct err *e;
    int n;

    *ret_fd = -1;
    if (!lock_path(dir, id, path))
        return err_hint(err_new(ERR_STORAGE, "the path of %s is too long", dir),
                        "choose a store with a shorter path with --store");
    e = fs_make_dirs(dir, 0700);
    if (e)
        return advise(e);
    for (unsigned n_tries = 0; *ret_fd < 0; n_tries++)
        TRY(try_lock(path, id, n_tries, ret_fd));
    n = snprintf(holder, sizeof holder, "process %ld", (long)getpid());
    if (ftruncate(*ret_fd, 0) < 0 || pwrite(*ret_fd, holder, (size_t)n, 0) < 0)
        return NULL; /* a full disk: the lock holds, but its holder has no name */
    return NULL;
}

void session_lock_release(const char *dir, struct str id, int fd)
{
    char path[MAX_PATH_BYTES];

    if (fd < 0)
        return;
    if (lock_path(dir, id, path) && is_current(fd, path))
        unlink(path);
    close(fd);
}

void session_locks_sweep(const char *dir)
{
    DIR *d = opendir(dir);
    struct dirent *entry;

    while (d && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);
        AUTO_FD fd = str_ends(name, S(".lock"))
                         ? openat(dirfd(d), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
                         : -1;

        if (fd >= 0 && lock_fd(fd)) /* a process that opened it meanwhile sees that it is gone */
            unlinkat(dirfd(d), entry->d_name, 0);
    }
    if (d)
        closedir(d);
}

static bool read_lock(const char *dir, struct str id, char holder[64])
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char path[MAX_PATH_BYTES];
    bool held;
    int fd;

    if (!lock_path(dir, id, path))
        return false;
    fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    held = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    read_holder(fd, holder);
    close(fd);
    return held;
}

bool session_lock_is_held(const char *dir, struct str id)
{
    char holder[64];

    return read_lock(dir, id, holder);
}

struct str session_lock_holder(const char *dir, struct str id, struct arena *a)
{
    char holder[64];

    if (!read_lock(dir, id, holder))
        return (struct str){0};
    return *holder ? arena_str(a, str_of(holder)) : S("another process");
}
