/* choose.c - which shell runs commands, and whether it is bash, whose grammar the gate knows.
 *
 * A name proves nothing: what is called bash may be a link to another shell, or a copy of one. So
 * the file must contain a text that every bash prints for --version. */
#include "tool/shell/command.h"

#include "sys/auto_fd.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define DEFAULT_SHELL "bash"
#define SPARE_SHELL "/bin/sh"
#define BASH_TEXT "GNU bash, version %s"

const char *shell_of(const char *const *environment)
{
    return proc_can_run(DEFAULT_SHELL, environment) ? DEFAULT_SHELL : SPARE_SHELL;
}

/* Reads it in pieces that overlap. */
static bool contains_text_of_bash(const char *path)
{
    enum { PIECE = 64 << 10, OVERLAP = sizeof BASH_TEXT - 2 };
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    AUTO_FREE char *piece = mem_alloc(OVERLAP + PIECE);
    size_t n_kept = 0;
    ssize_t n;

    while (fd >= 0 && (n = read(fd, piece + n_kept, PIECE)) > 0) {
        size_t n_all = n_kept + (size_t)n;

        if (memmem(piece, n_all, BASH_TEXT, sizeof BASH_TEXT - 1))
            return true;
        n_kept = MIN(n_all, (size_t)OVERLAP);
        memmove(piece, piece + n_all - n_kept, n_kept);
    }
    return false;
}

/* Under another name, such as sh, bash reads lines otherwise. */
bool shell_is_bash(const char *shell, const char *const *environment)
{
    struct str name = str_of(shell);
    char path[PATH_MAX];

    name = str_skip(name, str_rfind_char(name, '/') + 1); /* STR_NONE + 1 is 0 */
    return str_is(name, DEFAULT_SHELL) && proc_find_file(shell, environment, path) &&
           contains_text_of_bash(path);
}
