/* outbox.c - one buffer of bytes, with marks that say which event each stretch waits for. */
#include "cli/output/outbox.h"

#include "base/strbuf.h"
#include "cli/interrupt.h"
#include "cli/output/progress.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

struct mark {
    uint64_t seq; /* waits for this event */
    size_t end;   /* in the buffer */
    int fd;
};

static struct outbox {
    struct strbuf bytes;
    struct mark *marks;
    size_t n_marks, room;
    uint64_t seq;          /* of the event that output is about now */
    uint64_t durable_next; /* all events before this one are durable */
    bool is_following;     /* a run is under way */
} box;

void outbox_follow(uint64_t seq)
{
    if (!box.is_following)
        strbuf_init(&box.bytes, SIZE_MAX); /* the journal has a cap for what is not durable */
    box.is_following = true;
    box.seq = seq;
}

bool outbox_keep(int fd, struct str text)
{
    struct mark *last = box.n_marks ? &box.marks[box.n_marks - 1] : NULL;

    if (!box.is_following || (!last && box.seq < box.durable_next))
        return false;
    if (text.n == 0)
        return true;
    strbuf_add(&box.bytes, text);
    if (last && last->seq == box.seq && last->fd == fd) {
        last->end = box.bytes.n;
        return true;
    }
    if (box.n_marks == box.room) {
        box.room = MAX(2 * box.room, (size_t)16);
        box.marks = mem_resize(box.marks, box.room * sizeof *box.marks);
    }
    box.marks[box.n_marks++] = (struct mark){.seq = box.seq, .end = box.bytes.n, .fd = fd};
    return true;
}

static NORETURN void end_by_sigpipe(void)
{
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    _exit(128 + SIGPIPE); /* it was blocked */
}

/* As much as a pipe or a socket that is ready takes without a wait, in which no signal would be
 * heard. */
static size_t step_of(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) ? SSIZE_MAX : PIPE_BUF;
}

struct err *outbox_write(int fd, struct str text)
{
    const char *name = fd == STDOUT_FILENO ? "output" : "error";
    size_t step = step_of(fd);

    progress_make_room(fd, text);
    while (text.n) {
        ssize_t n;

        if (!cli_wait_ready(fd, POLLOUT))
            return err_new(ERR_STORAGE, "cannot write to standard %s: its reader stopped reading",
                           name);
        n = write(fd, text.p, MIN(text.n, step));
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0 && errno == EPIPE && fd == STDOUT_FILENO)
            end_by_sigpipe();
        if (n < 0)
            return err_errno(ERR_STORAGE, errno, "cannot write to standard %s", name);
        text = str_skip(text, (size_t)n);
    }
    return NULL;
}

/* Standard error that cannot be written to is not a reason to stop. */
static struct err *print_first(size_t n_marks)
{
    struct err *e = NULL;
    size_t at = 0;

    for (size_t i = 0; i < n_marks; i++) {
        const struct mark *m = &box.marks[i];
        struct err *failure = outbox_write(m->fd, str_make(box.bytes.p + at, m->end - at));

        if (m->fd == STDOUT_FILENO && !e)
            e = TAKE(failure);
        err_free(failure);
        at = m->end;
    }
    strbuf_drop_front(&box.bytes, at);
    box.n_marks -= n_marks;
    for (size_t i = 0; i < box.n_marks; i++) {
        box.marks[i] = box.marks[i + n_marks];
        box.marks[i].end -= at;
    }
    return e;
}

struct err *outbox_release(uint64_t next_seq)
{
    size_t n = 0;

    box.durable_next = MAX(box.durable_next, next_seq);
    while (n < box.n_marks && box.marks[n].seq < box.durable_next)
        n++;
    return n ? print_first(n) : NULL;
}

struct err *outbox_flush(void)
{
    struct err *e = print_first(box.n_marks);

    mem_free(box.marks);
    strbuf_done(&box.bytes);
    box = (struct outbox){0};
    return e;
}
