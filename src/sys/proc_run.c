/* proc_run.c - runs a command from start to end, and collects its output. */
#include "sys/proc_internal.h"

#include "sys/fs.h"

enum {
    CHUNK_BYTES = 32 << 10,
    /* what a pipe or a terminal may hold after the last writer has gone */
    MAX_LEFT_BYTES = 1 << 20,
};

void proc_output_done(struct proc_output *o)
{
    strbuf_done(&o->out);
    strbuf_done(&o->err);
}

/* One of the two streams. */
struct collector {
    struct proc *proc;
    enum proc_stream stream;
    struct strbuf *kept;
    size_t *n_bytes;
    char *chunk;
    bool is_over; /* the command is gone: cancelling means to stop */
};

static void keep(struct collector *c, size_t n)
{
    size_t max = c->kept->max_bytes ? c->kept->max_bytes : FS_READ_MAX_BYTES;

    *c->n_bytes += n;
    strbuf_add(c->kept, str_make(c->chunk, MIN(n, max - c->kept->n)));
}

static struct err *stream_collect(void *arg)
{
    struct collector *c = arg;
    size_t n;

    do {
        struct err *e = proc_read(c->proc, c->stream, c->chunk, CHUNK_BYTES, &n);

        if (err_is(e, ERR_CANCELLED) && c->is_over) {
            err_ignore(e, "the rest is read without waiting");
            return NULL;
        }
        TRY(e);
        keep(c, n);
    } while (n > 0);
    return NULL;
}

/* Does not wait for the end of the stream: a process outside the tree may hold the other end for
 * ever. */
static struct err *collect_rest(struct collector *c)
{
    size_t n, n_left = MAX_LEFT_BYTES;

    do {
        TRY(proc_read_now(c->proc, c->stream, c->chunk, MIN(n_left, (size_t)CHUNK_BYTES), &n));
        keep(c, n);
        n_left -= n;
    } while (n > 0 && n_left > 0);
    return NULL;
}

static struct err *wait_in_time(struct proc *p, uint64_t timeout_ms, struct proc_output *o)
{
    struct deadline limit;
    struct err *e;

    deadline_begin(&limit, timeout_ms, p->name);
    e = proc_wait(p, &o->status);
    deadline_end(&limit);
    if (!err_is(e, ERR_TIMEOUT) || !limit.expired)
        return e;
    err_ignore(e, "it is told by timed_out");
    o->timed_out = true;
    return proc_end(p);
}

static struct err *wait_for_end(struct proc *p, uint64_t timeout_ms, struct proc_output *o)
{
    if (timeout_ms)
        TRY(wait_in_time(p, timeout_ms, o));
    TRY(proc_wait(p, &o->status));
    return proc_wait_gone(p);
}

/* Reads both streams until the command and everything that it started are gone. */
static struct err *follow(struct collector *out, struct collector *err, uint64_t timeout_ms,
                          struct proc_output *o)
{
    struct group readers;
    struct err *e;

    group_begin(&readers, 0, 0);
    group_spawn(&readers, "stdout", stream_collect, out);
    group_spawn(&readers, "stderr", stream_collect, err);
    e = wait_for_end(out->proc, timeout_ms, o);
    out->is_over = err->is_over = !e;
    group_cancel(&readers);
    if (!e)
        return group_end(&readers);
    err_ignore(group_end(&readers), "the reason is known already");
    return e;
}

struct err *proc_collect(struct proc *p, uint64_t timeout_ms, struct proc_output *output)
{
    AUTO_FREE char *chunks = mem_alloc(2 * CHUNK_BYTES);
    struct collector out, err;

    proc_close_stdin(p);
    out = (struct collector){p, PROC_OUT, &output->out, &output->n_out_bytes, chunks};
    err = (struct collector){p, PROC_ERR, &output->err, &output->n_err_bytes, chunks + CHUNK_BYTES};
    TRY(follow(&out, &err, timeout_ms, output));
    TRY(collect_rest(&out));
    return collect_rest(&err);
}

struct err *proc_run(const struct proc_spec *spec, uint64_t timeout_ms, struct proc_output *output)
{
    AUTO(proc) struct proc *p = NULL;

    TRY(proc_spawn(spec, &p));
    return proc_collect(p, timeout_ms, output);
}
