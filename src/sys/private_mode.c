/* private_mode.c - what a file's mode says about its privacy. */
#include "sys/private_mode.h"

#include "base/str.h"

#include <fcntl.h>
#include <unistd.h>

#define STATUS_BYTES 4096

/* umask() cannot be read without setting it, for all threads. */
static mode_t read_umask(void)
{
    char text[STATUS_BYTES];
    struct str rest = {0}, line;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);
    mode_t mask = 0;

    if (fd >= 0)
        close(fd);
    if (n > 0)
        rest = str_make(text, (size_t)n);
    while (str_split(&rest, '\n', &line)) {
        if (!str_starts(line, S("Umask:")))
            continue;
        line = str_trim(str_skip(line, 6));
        for (size_t i = 0; i < line.n && line.p[i] >= '0' && line.p[i] <= '7'; i++)
            mask = mask * 8 + (mode_t)(line.p[i] - '0');
        break;
    }
    return mask & 0777;
}

struct private_user private_user_now(const char *home)
{
    return (struct private_user){.uid = geteuid(), .umask = read_umask(), .home = home};
}

static bool is_below(const char *path, const char *directory, const char **ret_rest)
{
    size_t n = strlen(directory);

    if (n == 1 || strncmp(path, directory, n) != 0 || path[n] != '/')
        return false;
    *ret_rest = path + n + 1;
    return true;
}

/* Everybody writes there, or every process sees another file. */
static bool is_nobodys(const char *path)
{
    static const char *const places[] = {"/tmp", "/var/tmp", "/dev/shm", "/proc/self",
                                         "/proc/thread-self"};
    const char *rest;

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (is_below(path, places[i], &rest))
            return true;
    return false;
}

bool mode_is_private(const struct private_user *u, const char *path, const struct stat *st)
{
    const char *rest;

    if (u->home && strcmp(path, u->home) == 0)
        return false;
    if (u->home && is_below(path, u->home, &rest))
        return S_ISREG(st->st_mode) && rest[0] == '.' && st->st_uid == u->uid &&
               !(st->st_mode & 077) && (u->umask & 077) != 077;
    if (u->uid != 0 || st->st_uid != 0 || is_nobodys(path))
        return false;
    if (S_ISDIR(st->st_mode))
        return !(st->st_mode & (S_IROTH | S_IXOTH));
    return S_ISREG(st->st_mode) && !(st->st_mode & S_IROTH);
}
