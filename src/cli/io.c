/* io.c - files in, standard output out. */
#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define READ_STEP 65536

struct err *cli_read_file(const char *path, struct strbuf *out)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct err *e = NULL;
    ssize_t n = 0;

    if (fd < 0)
        return err_errno(ERR_VALIDATION, errno, "cannot read %s", path);
    do {
        char *at = strbuf_reserve(out, READ_STEP);

        e = at ? NULL : strbuf_check(out, path);
        n = e ? 0 : read(fd, at, READ_STEP);
        if (n > 0)
            strbuf_grew(out, (size_t)n);
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0 && !e)
        e = err_errno(ERR_VALIDATION, errno, "cannot read %s", path);
    if (!is_stdin)
        close(fd);
    return e;
}

struct err *cli_print(struct str text)
{
    while (text.n) {
        ssize_t n = write(STDOUT_FILENO, text.p, text.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE)
            return NULL;
        if (n < 0)
            return err_errno(ERR_STORAGE, errno, "cannot write to standard output");
        text = str_skip(text, (size_t)n);
    }
    return NULL;
}
