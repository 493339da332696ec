/* run.c - runs a task until it ends or the person ends it. */
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <uv.h>

static const int heard[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

struct signals {
    struct loop *loop;
    uv_signal_t handles[ARRAY_LEN(heard)];
};

static int first_signal; /* 0: none came */

static void on_signal(uv_signal_t *handle, int number)
{
    struct signals *s = handle->data;

    if (!first_signal)
        first_signal = number;
    loop_cancel(s->loop);
    /* Their default comes back: the next one kills. */
    for (size_t i = 0; i < ARRAY_LEN(heard); i++)
        if (heard[i] != SIGHUP)
            uv_signal_stop(&s->handles[i]);
}

static bool is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void signals_begin(struct signals *s, struct loop *l)
{
    s->loop = l;
    for (size_t i = 0; i < ARRAY_LEN(heard); i++) {
        uv_signal_init(loop_uv(l), &s->handles[i]);
        s->handles[i].data = s;
        uv_unref((uv_handle_t *)&s->handles[i]);
        if (is_ignored(heard[i]))
            continue;
        if (heard[i] == SIGHUP)
            uv_signal_start(&s->handles[i], on_signal, heard[i]);
        else /* the kernel itself puts the default back, where the loop does not get to it, too */
            uv_signal_start_oneshot(&s->handles[i], on_signal, heard[i]);
    }
}

static void signals_end(struct signals *s)
{
    for (size_t i = 0; i < ARRAY_LEN(heard); i++)
        uv_close((uv_handle_t *)&s->handles[i], NULL);
}

struct err *cli_run(const struct clock *clock, task_fn fn, void *arg)
{
    struct signals s;
    AUTO(loop) struct loop *l = loop_new(clock);
    struct err *e;

    if (!l)
        return err_errno(ERR_INTERNAL, errno, "cannot make an event loop");
    signals_begin(&s, l);
    e = loop_run(l, fn, arg);
    signals_end(&s);
    if (e && !err_is(e, ERR_CANCELLED) && first_signal) {
        e = err_wrap(e, "interrupted");
        e->kind = ERR_CANCELLED; /* what failed on the way out is its cause */
        return e;
    }
    if (!err_is(e, ERR_CANCELLED))
        return e;
    err_free(e);
    return err_new(ERR_CANCELLED, "interrupted");
}

int cli_run_status(int status)
{
    bool was_interrupted = status == err_exit_code(&(struct err){.kind = ERR_CANCELLED});

    return was_interrupted && first_signal ? 128 + first_signal : status;
}
