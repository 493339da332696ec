/* fault.c - kills keel at the call with a certain number, among those that leave something behind.
 *
 * Loaded with LD_PRELOAD. It counts calls that make something durable or visible below the places
 * in KEEL_FAULT_PLACES (directories with `:` between them; a socket is where its other end is),
 * and kills the process at the one that KEEL_FAULT names, "before 17", "torn 17" (a write of half
 * of the bytes) or "after 17". With "error 17" the process lives: that call fails once with EIO, if
 * it is a write or makes something durable. KEEL_FAULT_LOG gets a line for each: number, kind,
 * place. In KEEL_FAULT_DISK is kept what a loss of power would leave (disk.c). KEEL_FAULT_SLOW_MS
 * makes the disk a slow one: each sync below the places takes that long.
 *
 * Only the program that was started has it: it takes itself out of the environment. Calls are made
 * directly, so that it works before and beside everything else that is loaded. */
#undef _FILE_OFFSET_BITS /* both names of each call are wanted, not one for the other */

#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define PLACE_MAX 1024 /* tasks have small stacks */
#define EXPORT __attribute__((visibility("default")))

enum how { NEVER, BEFORE, TORN, AFTER, ERROR };

static struct {
    char places[4][PLACE_MAX];
    size_t n_places;
    enum how how;
    unsigned kill_at;
    int log_fd;
    pid_t pid;
    unsigned n; /* of boundaries so far, in all threads */
    unsigned slow_ms;
} fault = {.log_fd = -1};

/* --- its orders --- */

static void read_places(const char *list)
{
    while (list && *list && fault.n_places < 4) {
        size_t n = strcspn(list, ":");

        snprintf(fault.places[fault.n_places++], PLACE_MAX, "%.*s", (int)n, list);
        list += n + (list[n] == ':');
    }
}

static void read_order(const char *order)
{
    static const char *const words[] = {"never", "before", "torn", "after", "error"};
    char word[16] = "";

    if (!order || sscanf(order, "%15s %u", word, &fault.kill_at) != 2)
        return;
    for (enum how how = BEFORE; how <= ERROR; how++)
        if (strcmp(word, words[how]) == 0)
            fault.how = how;
}

__attribute__((constructor)) static void begin(void)
{
    const char *log = getenv("KEEL_FAULT_LOG");

    read_places(getenv("KEEL_FAULT_PLACES"));
    read_order(getenv("KEEL_FAULT"));
    if (log)
        fault.log_fd = (int)syscall(SYS_openat, AT_FDCWD, log,
                                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (getenv("KEEL_FAULT_SLOW_MS"))
        fault.slow_ms = (unsigned)strtoul(getenv("KEEL_FAULT_SLOW_MS"), NULL, 10);
    fault.pid = (pid_t)syscall(SYS_getpid);
    disk_begin(getenv("KEEL_FAULT_DISK"));
    unsetenv("LD_PRELOAD");
    unsetenv("KEEL_FAULT_DISK");
    unsetenv("KEEL_FAULT_SLOW_MS");
    unsetenv("KEEL_FAULT");
    unsetenv("KEEL_FAULT_LOG");
    unsetenv("KEEL_FAULT_PLACES");
}

/* --- where a call takes effect --- */

static bool is_watched(const char *path)
{
    for (size_t i = 0; i < fault.n_places; i++) {
        size_t n = strlen(fault.places[i]);

        if (strncmp(path, fault.places[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return false;
}

static bool peer_of(int fd, char place[PLACE_MAX])
{
    struct sockaddr_un peer = {0};
    socklen_t n = sizeof peer;

    if (syscall(SYS_getpeername, fd, &peer, &n) < 0 || peer.sun_family != AF_UNIX)
        return false;
    snprintf(place, PLACE_MAX, "%.*s", (int)sizeof peer.sun_path, peer.sun_path);
    return true;
}

static bool place_of_fd(int fd, char place[PLACE_MAX])
{
    char link[64];
    ssize_t n;

    if (fd == AT_FDCWD)
        snprintf(link, sizeof link, "/proc/self/cwd");
    else
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = syscall(SYS_readlinkat, AT_FDCWD, link, place, (size_t)PLACE_MAX - 1);
    if (n <= 0)
        return false;
    place[n] = '\0';
    return strncmp(place, "socket:", 7) == 0 ? peer_of(fd, place) : place[0] == '/';
}

static bool place_of_path(int dir_fd, const char *path, char place[PLACE_MAX])
{
    size_t n;

    if (path[0] == '/')
        return snprintf(place, PLACE_MAX, "%s", path) > 0;
    if (!place_of_fd(dir_fd, place))
        return false;
    n = strlen(place);
    return snprintf(place + n, PLACE_MAX - n, "/%s", path) > 0;
}

/* --- boundaries --- */

static void die(void)
{
    syscall(SYS_kill, fault.pid, SIGKILL);
    for (;;)
        pause();
}

/* Counts a call; NEVER: this one is not it. */
static enum how count(const char *kind, const char *place)
{
    char line[PLACE_MAX + 64];
    unsigned number;
    int n;

    if (syscall(SYS_getpid) != fault.pid) /* a child before its exec */
        return NEVER;
    number = __atomic_add_fetch(&fault.n, 1, __ATOMIC_SEQ_CST);
    n = snprintf(line, sizeof line, "%u %s %s\n", number, kind, place);
    if (fault.log_fd >= 0)
        syscall(SYS_write, fault.log_fd, line, (size_t)n);
    return number == fault.kill_at ? fault.how : NEVER;
}

static enum how begin_at(const char *kind, const char *place)
{
    int error = errno;
    enum how how = count(kind, place);

    if (how == BEFORE)
        die();
    errno = error;
    return how;
}

static enum how begin_fd(const char *kind, int fd)
{
    char place[PLACE_MAX];

    return fault.n_places && place_of_fd(fd, place) && is_watched(place) ? begin_at(kind, place)
                                                                         : NEVER;
}

static enum how begin_path(const char *kind, int dir_fd, const char *path)
{
    char place[PLACE_MAX];

    return fault.n_places && place_of_path(dir_fd, path, place) && is_watched(place)
               ? begin_at(kind, place)
               : NEVER;
}

/* What a call returns, if the process still lives. */
static long end(enum how how, long result)
{
    if (how != NEVER && how != ERROR)
        die();
    return result;
}

/* The call is not made, as if the disk had refused it. */
static bool fails(enum how how)
{
    if (how == ERROR)
        errno = EIO;
    return how == ERROR;
}

/* --- writes --- */

EXPORT ssize_t write(int fd, const void *bytes, size_t n)
{
    enum how how = begin_fd("write", fd);

    if (fails(how))
        return -1;
    return end(how, syscall(SYS_write, fd, bytes, how == TORN ? n / 2 : n));
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t offset)
{
    enum how how = begin_fd("pwrite", fd);

    if (fails(how))
        return -1;
    return end(how, syscall(SYS_pwrite64, fd, bytes, how == TORN ? n / 2 : n, offset));
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    return pwrite64(fd, bytes, n, offset);
}

/* Torn: half of the pieces, and half of one if it is the only one. */
static struct iovec *tear(const struct iovec *v, int *n, struct iovec *half)
{
    *half = v[0];
    half->iov_len /= 2;
    *n /= 2;
    return *n ? (struct iovec *)v : (*n = 1, half);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
    enum how how = begin_fd("writev", fd);
    struct iovec half;

    if (fails(how))
        return -1;
    if (how == TORN && n > 0)
        v = tear(v, &n, &half);
    return end(how, syscall(SYS_writev, fd, v, n));
}

EXPORT ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t offset)
{
    enum how how = begin_fd("pwritev", fd);
    struct iovec half;

    if (fails(how))
        return -1;
    if (how == TORN && n > 0)
        v = tear(v, &n, &half);
    return end(how, syscall(SYS_pwritev, fd, v, n, offset, 0));
}

EXPORT ssize_t pwritev(int fd, const struct iovec *v, int n, off_t offset)
{
    return pwritev64(fd, v, n, offset);
}

EXPORT ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to,
                      socklen_t to_size)
{
    enum how how = begin_fd("send", fd);

    return end(how, syscall(SYS_sendto, fd, bytes, how == TORN ? n / 2 : n, flags, to, to_size));
}

EXPORT ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    return sendto(fd, bytes, n, flags, NULL, 0);
}

/* --- making durable --- */

static void keep(int fd)
{
    char place[PLACE_MAX];

    if (syscall(SYS_getpid) != fault.pid || !place_of_fd(fd, place) || !is_watched(place))
        return;
    disk_keep(fd);
    if (fault.slow_ms)
        usleep(fault.slow_ms * 1000);
}

EXPORT int fsync(int fd)
{
    enum how how = begin_fd("fsync", fd);
    long result;

    if (fails(how))
        return -1;
    result = syscall(SYS_fsync, fd);
    keep(fd);
    return (int)end(how, result);
}

EXPORT int fdatasync(int fd)
{
    enum how how = begin_fd("fdatasync", fd);
    long result;

    if (fails(how))
        return -1;
    result = syscall(SYS_fdatasync, fd);
    keep(fd);
    return (int)end(how, result);
}

EXPORT int syncfs(int fd)
{
    enum how how = begin_fd("syncfs", fd);
    long result;

    if (fails(how))
        return -1;
    result = syscall(SYS_syncfs, fd);
    for (size_t i = 0; i < fault.n_places; i++)
        disk_keep_all(fault.places[i]);
    return (int)end(how, result);
}

/* --- files --- */

EXPORT int ftruncate64(int fd, off_t size)
{
    enum how how = begin_fd("ftruncate", fd);

    return (int)end(how, syscall(SYS_ftruncate, fd, size));
}

EXPORT int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

static bool is_there(int dir_fd, const char *path)
{
    return syscall(SYS_faccessat, dir_fd, path, F_OK) == 0;
}

static int open_at(int dir_fd, const char *path, int flags, mode_t mode)
{
    bool changes = (flags & O_TRUNC) || ((flags & O_CREAT) && !is_there(dir_fd, path));
    enum how how = changes ? begin_path("open", dir_fd, path) : NEVER;

    return (int)end(how, syscall(SYS_openat, dir_fd, path, flags, mode));
}

static mode_t mode_in(int flags, va_list *args)
{
    bool has_mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;

    return has_mode ? va_arg(*args, mode_t) : 0;
}

#define DEFINE_OPEN(name)                                                                          \
    EXPORT int name(const char *path, int flags, ...)                                              \
    {                                                                                              \
        va_list args;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(args, flags);                                                                     \
        mode = mode_in(flags, &args);                                                              \
        va_end(args);                                                                              \
        return open_at(AT_FDCWD, path, flags, mode);                                               \
    }

#define DEFINE_OPENAT(name)                                                                        \
    EXPORT int name(int dir_fd, const char *path, int flags, ...)                                  \
    {                                                                                              \
        va_list args;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(args, flags);                                                                     \
        mode = mode_in(flags, &args);                                                              \
        va_end(args);                                                                              \
        return open_at(dir_fd, path, flags, mode);                                                 \
    }

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

/* The C library opens inside of it, where nothing can be put in between. */
EXPORT int mkostemp64(char *template, int flags)
{
    static unsigned n_made;
    char *end_of = template + strlen(template) - 6;

    for (;;) {
        unsigned number = __atomic_add_fetch(&n_made, 1, __ATOMIC_SEQ_CST);
        char unique[7];
        int fd;

        snprintf(unique, sizeof unique, "%06x",
                 (unsigned)(fault.pid * 64 + (int)number) & 0xFFFFFF);
        memcpy(end_of, unique, 6);
        fd = open_at(AT_FDCWD, template, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
}

EXPORT int mkostemp(char *template, int flags)
{
    return mkostemp64(template, flags);
}

EXPORT int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    enum how how = begin_path("rename", to_fd, to);

    return (int)end(how, syscall(SYS_renameat2, from_fd, from, to_fd, to, flags));
}

EXPORT int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
    return renameat2(from_fd, from, to_fd, to, 0);
}

EXPORT int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
    enum how how = begin_path("link", to_fd, to);

    return (int)end(how, syscall(SYS_linkat, from_fd, from, to_fd, to, flags));
}

EXPORT int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

EXPORT int unlinkat(int dir_fd, const char *path, int flags)
{
    enum how how = begin_path("unlink", dir_fd, path);

    return (int)end(how, syscall(SYS_unlinkat, dir_fd, path, flags));
}

EXPORT int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

EXPORT int mkdirat(int dir_fd, const char *path, mode_t mode)
{
    enum how how = is_there(dir_fd, path) ? NEVER : begin_path("mkdir", dir_fd, path);

    return (int)end(how, syscall(SYS_mkdirat, dir_fd, path, mode));
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    return mkdirat(AT_FDCWD, path, mode);
}
