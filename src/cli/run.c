/* run.c - runs a task until it ends or the person ends it. */
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <uv.h>

static void on_signal(uv_signal_t *handle, int number)
{
    loop_cancel(handle->data);
}

static bool is_ignored(int number)
{
    struct sigaction action;

    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Once: libuv then puts the default back, and the next signal kills. */
static void watch(struct loop *l, uv_signal_t *handle, int number)
{
    uv_signal_init(loop_uv(l), handle);
    handle->data = l;
    if (!is_ignored(number))
        uv_signal_start_oneshot(handle, on_signal, number);
    uv_unref((uv_handle_t *)handle);
}

struct err *cli_run(const struct clock *clock, task_fn fn, void *arg)
{
    uv_signal_t interrupt, terminate;
    AUTO(loop) struct loop *l = loop_new(clock);
    struct err *e;

    if (!l)
        return err_errno(ERR_INTERNAL, errno, "cannot make an event loop");
    watch(l, &interrupt, SIGINT);
    watch(l, &terminate, SIGTERM);
    e = loop_run(l, fn, arg);
    uv_close((uv_handle_t *)&interrupt, NULL);
    uv_close((uv_handle_t *)&terminate, NULL);
    if (!err_is(e, ERR_CANCELLED))
        return e;
    err_free(e);
    return err_new(ERR_CANCELLED, "interrupted");
}
