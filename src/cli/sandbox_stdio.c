/* sandbox_stdio.c - files on standard input and output, copied through pipes. */
#include "cli/sandbox_stdio.h"

#include "sys/work.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 16 << 10 };

static mode_t type_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : S_IFIFO;
}

static bool is_file(int fd)
{
    return type_of(fd) == S_IFREG || type_of(fd) == S_IFDIR;
}

void sandbox_stdio_choose(struct proc_spec *spec)
{
    spec->stdin_kind = type_of(STDIN_FILENO) == S_IFREG   ? PROC_STDIN_PIPE
                       : type_of(STDIN_FILENO) == S_IFDIR ? PROC_STDIN_CLOSED
                                                          : PROC_STDIN_INHERIT;
    spec->stdout_kind =
        is_file(STDOUT_FILENO) || is_file(STDERR_FILENO) ? PROC_STDOUT_PIPE : PROC_STDOUT_INHERIT;
}

/* One stream on its way. */
struct copy {
    struct proc *proc;
    enum proc_stream stream;
    int fd;
    char *chunk;
    size_t n;
};

/* --- in --- */

static struct err *read_chunk(void *arg)
{
    struct copy *c = arg;
    ssize_t n = read(c->fd, c->chunk, CHUNK_BYTES);

    if (n < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read standard input");
    c->n = (size_t)n;
    return NULL;
}

static struct err *copy_in(void *arg)
{
    struct copy *c = arg;

    for (;;) {
        struct err *e;

        TRY(work_run(read_chunk, c));
        if (c->n == 0)
            break;
        e = proc_write(c->proc, str_make(c->chunk, c->n));
        if (err_is(e, ERR_TOOL_FAILED)) {
            err_ignore(e, "the command does not want the rest");
            return NULL;
        }
        TRY(e);
    }
    proc_close_stdin(c->proc);
    return NULL;
}

/* --- out --- */

static struct err *write_chunk(void *arg)
{
    struct copy *c = arg;
    struct str rest = str_make(c->chunk, c->n);

    while (rest.n) {
        ssize_t n = write(c->fd, rest.p, rest.n);

        if (n < 0 && errno != EINTR)
            return err_errno(ERR_STORAGE, errno, "cannot write what the command prints");
        rest = str_skip(rest, n > 0 ? (size_t)n : 0);
    }
    return NULL;
}

static struct err *copy_out(void *arg)
{
    struct copy *c = arg;

    do {
        TRY(proc_read(c->proc, c->stream, c->chunk, CHUNK_BYTES, &c->n));
        TRY(work_run(write_chunk, c));
    } while (c->n > 0);
    return NULL;
}

struct err *sandbox_stdio_follow(struct proc *p, const struct proc_spec *spec,
                                 struct proc_status *ret_status)
{
    AUTO_FREE char *chunks = mem_alloc(3 * CHUNK_BYTES);
    struct copy in = {p, PROC_OUT, STDIN_FILENO, chunks, 0};
    struct copy out = {p, PROC_OUT, STDOUT_FILENO, chunks + CHUNK_BYTES, 0};
    struct copy err = {p, PROC_ERR, STDERR_FILENO, chunks + 2 * CHUNK_BYTES, 0};
    struct group input, output;
    struct err *e, *written;

    group_begin(&input, 0, 0);
    if (spec->stdin_kind == PROC_STDIN_PIPE)
        group_spawn(&input, "stdin", copy_in, &in);
    group_begin(&output, 0, 0);
    if (spec->stdout_kind == PROC_STDOUT_PIPE) {
        group_spawn(&output, "stdout", copy_out, &out);
        group_spawn(&output, "stderr", copy_out, &err);
    }
    e = proc_wait(p, ret_status);
    if (e)
        group_cancel(&output);
    written = group_end(&output);
    group_cancel(&input);
    err_ignore(group_end(&input), "the command has ended");
    if (!e)
        return written;
    err_ignore(written, "the first error counts");
    return e;
}
