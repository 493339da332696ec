/* follow.c - two tasks watch a command, one its output and one its end. A third waits for either of
 * them, for the time limit or for an order to stop. */
#include "tool/shell/follow.h"

#include "sys/loop.h"

#include <signal.h>

enum {
    CHUNK_BYTES = 32 << 10,
    /* A process outside of the tree may hold the other end of the pipe for ever. */
    LINGER_MS = 1000,
};

/* --- the output --- */

static uint64_t now_ms(void)
{
    return loop_now_ms(task_loop());
}

/* Reads; if nothing comes until progress is due, shows it. */
static struct err *read_or_show(struct follow *f, size_t *ret_n, bool *ret_shown)
{
    struct deadline due;
    struct err *e;

    deadline_begin(&due, progress_wait_ms(f->progress, now_ms()), "progress");
    e = proc_read(f->proc, PROC_OUT, f->chunk, CHUNK_BYTES, ret_n);
    deadline_end(&due);
    *ret_shown = err_is(e, ERR_TIMEOUT) && due.expired;
    if (!*ret_shown)
        return e;
    err_ignore(e, "it is time to show what came so far");
    progress_show(f->progress, now_ms());
    return NULL;
}

static struct err *read_some(struct follow *f, size_t *ret_n)
{
    bool shown = true;

    if (!f->progress || progress_wait_ms(f->progress, now_ms()) == UINT64_MAX)
        return proc_read(f->proc, PROC_OUT, f->chunk, CHUNK_BYTES, ret_n);
    TRY(read_or_show(f, ret_n, &shown));
    return shown ? proc_read(f->proc, PROC_OUT, f->chunk, CHUNK_BYTES, ret_n) : NULL;
}

static struct err *follow_output(void *arg)
{
    struct follow *f = arg;
    size_t n;

    for (;;) {
        TRY(read_some(f, &n));
        if (n == 0)
            return NULL;
        f->on_output(f->self, str_make(f->chunk, n));
        if (f->progress)
            progress_add(f->progress, str_make(f->chunk, n), now_ms());
    }
}

/* --- the end --- */

static void wake(struct follow *f)
{
    if (f->is_waiting)
        waker_wake(&f->waker);
}

static struct err *follow_end(void *arg)
{
    struct follow *f = arg;
    struct err *e = proc_wait(f->proc, &f->status);

    f->has_status = !e;
    wake(f);
    return e;
}

void follow_stop(struct follow *f)
{
    f->was_stopped = !f->has_status;
    wake(f);
}

static struct err *wait_in_time(struct follow *f)
{
    struct deadline limit;
    struct err *e;

    deadline_begin(&limit, f->timeout_ms, "the command");
    e = waker_park(&f->waker);
    deadline_end(&limit);
    if (!err_is(e, ERR_TIMEOUT) || !limit.expired)
        return e;
    err_ignore(e, "it is told by timed_out");
    f->timed_out = true;
    return NULL;
}

/* Waits until the command has ended or should end. */
static struct err *wait_for_end(struct follow *f)
{
    struct err *e;

    if (f->was_stopped)
        return NULL;
    waker_init(&f->waker);
    f->is_waiting = true;
    e = f->timeout_ms ? wait_in_time(f) : waker_park(&f->waker);
    f->is_waiting = false;
    return e;
}

/* When the tree is gone, the stream ends as soon as it is read. */
static struct err *drain(struct group *watchers)
{
    struct deadline limit;
    struct err *e;

    deadline_begin(&limit, LINGER_MS, "the output");
    e = group_join(watchers);
    deadline_end(&limit);
    if (!err_is(e, ERR_TIMEOUT) || !limit.expired)
        return e;
    err_ignore(e, "what others write is not the command's output");
    return NULL;
}

struct err *follow_run(struct follow *f)
{
    AUTO_FREE char *chunk = mem_alloc(CHUNK_BYTES);
    struct group watchers;
    struct err *e;

    f->chunk = chunk;
    group_begin(&watchers, 0, 0);
    group_spawn(&watchers, "output of a command", follow_output, f);
    group_spawn(&watchers, "end of a command", follow_end, f);
    e = wait_for_end(f);
    f->stays = !e && f->timed_out && !f->has_status && f->may_stay && f->may_stay(f->self);
    if (!e && !f->stays)
        e = proc_end(f->proc);
    if (!e && !f->stays)
        e = drain(&watchers);
    group_cancel(&watchers);
    err_ignore(group_end(&watchers), "what went wrong is known, or nothing did");
    f->chunk = NULL;
    return e;
}

void follow_add_signal(struct strbuf *out, int signal)
{
    const char *name = sigabbrev_np(signal);

    if (name)
        strbuf_addf(out, "SIG%s", name);
    else
        strbuf_addf(out, "signal %d", signal);
}
