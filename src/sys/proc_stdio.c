/* proc_stdio.c - a child's pipes, its terminal and its input. */
#include "sys/proc_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>

enum {
    PIPE_ROOM = 64 << 10,    /* the room of a new pipe */
    MAX_PIPE_ROOM = 1 << 20, /* the most that a user may ask for */
};

/* --- the child's side --- */

static struct err *stdio_error(int error, const char *what)
{
    struct err *e = err_errno(ERR_TOOL_FAILED, error, "cannot make %s for a command", what);

    if (error == EMFILE || error == ENFILE)
        return err_hint(e, "too many files are open; raise the limit with ulimit -n");
    return e;
}

struct err *child_fds_add(struct child_fds *c, int fd)
{
    int copy;

    BUG_IF(c->n >= CHILD_FDS_MAX);
    copy = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FDS_MAX);
    if (copy < 0)
        return stdio_error(errno, "a file descriptor");
    c->fd[c->n++] = copy;
    return NULL;
}

void child_fds_done(struct child_fds *c)
{
    for (int i = 0; i < c->n; i++)
        close(c->fd[i]);
    c->n = 0;
}

static void set_nonblocking(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* --- pipes --- */

/* keel's end does not block; the child's does, as programs expect. */
static struct err *open_pipe(struct child_fds *c, bool child_reads, int *ret_ours)
{
    int ends[2];
    AUTO_CLOSE int theirs = -1;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return stdio_error(errno, "a pipe");
    theirs = ends[child_reads ? 0 : 1];
    *ret_ours = ends[child_reads ? 1 : 0];
    set_nonblocking(*ret_ours);
    return child_fds_add(c, theirs);
}

static struct err *open_null(struct child_fds *c)
{
    AUTO_CLOSE int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return stdio_error(errno, "an empty input");
    return child_fds_add(c, fd);
}

/* Puts all bytes into a pipe before anybody reads. False: they do not fit. */
static bool fill_pipe(int fd, struct str bytes)
{
    set_nonblocking(fd);
    if (bytes.n > PIPE_ROOM)
        fcntl(fd, F_SETPIPE_SZ, bytes.n > MAX_PIPE_ROOM ? MAX_PIPE_ROOM : (int)bytes.n);
    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n <= 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

static struct err *open_file(struct child_fds *c, struct str bytes)
{
    AUTO_CLOSE int fd = memfd_create("stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return stdio_error(errno, "an input file");
    while (bytes.n > 0) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0)
            return stdio_error(errno, "an input file");
        bytes = str_skip(bytes, (size_t)n);
    }
    lseek(fd, 0, SEEK_SET);
    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    return child_fds_add(c, fd);
}

/* A pipe need not be fed while the child runs: it is full before the start, or the bytes are a
 * file in memory. */
static struct err *open_bytes(struct child_fds *c, struct str bytes)
{
    AUTO_CLOSE int ours = -1, theirs = -1;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return stdio_error(errno, "a pipe");
    theirs = ends[0];
    ours = ends[1];
    return fill_pipe(ours, bytes) ? child_fds_add(c, theirs) : open_file(c, bytes);
}

static struct err *open_stdin(struct proc *p, const struct proc_spec *spec, struct child_fds *c)
{
    switch (spec->stdin_kind) {
    case PROC_STDIN_PIPE:
        return open_pipe(c, /* child_reads= */ true, &p->in);
    case PROC_STDIN_BYTES:
        return open_bytes(c, spec->stdin_bytes);
    case PROC_STDIN_INHERIT:
        return child_fds_add(c, STDIN_FILENO);
    case PROC_STDIN_CLOSED:
        break;
    }
    return open_null(c);
}

static struct err *open_pipes(struct proc *p, const struct proc_spec *spec, struct child_fds *c)
{
    TRY(open_stdin(p, spec, c));
    if (spec->stdout_kind == PROC_STDOUT_INHERIT) {
        TRY(child_fds_add(c, STDOUT_FILENO));
        return child_fds_add(c, STDERR_FILENO);
    }
    TRY(open_pipe(c, /* child_reads= */ false, &p->out));
    if (spec->merge_stderr)
        return child_fds_add(c, c->fd[STDOUT_FILENO]);
    return open_pipe(c, /* child_reads= */ false, &p->err);
}

/* --- terminals --- */

void proc_resize_pty(struct proc *p, unsigned short n_rows, unsigned short n_columns)
{
    struct winsize size = {.ws_row = n_rows, .ws_col = n_columns};

    if (p->is_pty && p->out >= 0)
        ioctl(p->out, TIOCSWINSZ, &size);
}

static struct err *open_pty(struct proc *p, const struct proc_spec *spec, struct child_fds *c)
{
    AUTO_CLOSE int terminal = -1;

    BUG_IF(spec->stdin_kind == PROC_STDIN_BYTES || spec->stdin_kind == PROC_STDIN_INHERIT);
    p->is_pty = true;
    p->out = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (p->out < 0 || unlockpt(p->out) < 0 ||
        ptsname_r(p->out, c->tty_path, sizeof c->tty_path) != 0)
        return stdio_error(errno, "a terminal");
    terminal = open(c->tty_path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0)
        return stdio_error(errno, "a terminal");
    set_nonblocking(p->out);
    proc_resize_pty(p, spec->n_rows ? spec->n_rows : 24, spec->n_columns ? spec->n_columns : 80);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        TRY(child_fds_add(c, terminal));
    p->in = fcntl(p->out, F_DUPFD_CLOEXEC, 0);
    if (p->in < 0)
        return stdio_error(errno, "a terminal");
    if (spec->stdin_kind == PROC_STDIN_CLOSED)
        proc_close_stdin(p);
    return NULL;
}

struct err *proc_open_stdio(struct proc *p, const struct proc_spec *spec, struct child_fds *c)
{
    if (spec->stdout_kind == PROC_STDOUT_PTY)
        TRY(open_pty(p, spec, c));
    else
        TRY(open_pipes(p, spec, c));
    for (size_t i = 0; i < spec->n_extra_fds; i++)
        TRY(child_fds_add(c, spec->extra_fds[i]));
    return NULL;
}

/* --- reading --- */

static int *stream_fd(struct proc *p, enum proc_stream stream)
{
    return stream == PROC_OUT ? &p->out : &p->err;
}

/* Returns the number of bytes, 0 at the end of the stream, or -errno. */
static ssize_t read_some(int *fd, void *buffer, size_t size)
{
    ssize_t n;

    do
        n = read(*fd, buffer, size);
    while (n < 0 && errno == EINTR);
    /* A terminal ends with EIO, when the last process has closed it. */
    if (n == 0 || (n < 0 && errno == EIO)) {
        fd_close(fd);
        return 0;
    }
    return n < 0 ? -errno : n;
}

struct err *proc_read_now(struct proc *p, enum proc_stream stream, void *buffer, size_t size,
                          size_t *ret_n)
{
    int *fd = stream_fd(p, stream);
    ssize_t n = *fd < 0 ? 0 : read_some(fd, buffer, size);

    if (n < 0 && n != -EAGAIN)
        return err_errno(ERR_TOOL_FAILED, (int)-n, "cannot read the output of %s", p->name);
    *ret_n = n > 0 ? (size_t)n : 0;
    return NULL;
}

struct err *proc_read(struct proc *p, enum proc_stream stream, void *buffer, size_t size,
                      size_t *ret_n)
{
    int *fd = stream_fd(p, stream);

    *ret_n = 0;
    /* Waits first, even when bytes are there: a child that prints without end must not block other
     * tasks, time-outs and cancelling. */
    while (*fd >= 0 && *ret_n == 0) {
        TRY(task_wait_fd(*fd, TASK_FD_READ, NULL));
        TRY(proc_read_now(p, stream, buffer, size, ret_n));
    }
    return NULL;
}

/* --- writing --- */

/* write() without SIGPIPE, whose disposition belongs to the host program: this thread blocks it
 * meanwhile and consumes the one that it may have caused. */
static ssize_t write_quietly(int fd, const void *bytes, size_t n)
{
    static const struct timespec at_once = {0};
    sigset_t pipe_signal, pending, old;
    ssize_t written;
    int error;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
    sigpending(&pending);
    written = write(fd, bytes, n);
    error = errno;
    if (written < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return written;
}

struct err *proc_write(struct proc *p, struct str bytes)
{
    while (bytes.n > 0) {
        ssize_t n;

        if (p->in < 0)
            return err_new(ERR_TOOL_FAILED, "the input of %s is closed", p->name);
        TRY(task_wait_fd(p->in, TASK_FD_WRITE, NULL));
        n = write_quietly(p->in, bytes.p, bytes.n);
        if (n < 0 && (errno == EPIPE || errno == EIO)) {
            fd_close(&p->in);
            return err_new(ERR_TOOL_FAILED, "%s closed its input", p->name);
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return err_errno(ERR_TOOL_FAILED, errno, "cannot write to %s", p->name);
        if (n > 0)
            bytes = str_skip(bytes, (size_t)n);
    }
    return NULL;
}

void proc_close_stdin(struct proc *p)
{
    if (p->is_pty && p->in >= 0) {
        /* A terminal has no end of its own: it is typed. */
        struct termios settings;

        if (tcgetattr(p->in, &settings) == 0)
            (void)!write_quietly(p->in, &settings.c_cc[VEOF], 1);
    }
    fd_close(&p->in);
}
