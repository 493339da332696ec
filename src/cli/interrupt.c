/* interrupt.c - runs a task until it ends or the person ends it. */
#include "cli/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LAST_OUTPUT_MS 1000 /* in all, after the signal */

static const int heard[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t first_signal; /* 0: none came */
static volatile sig_atomic_t is_ignored[ARRAY_LEN(heard)];
/* Readable when one has come. Never closed: a handler may still be about to write to it. */
static int signal_fd = -1;
static int64_t output_left_ms = LAST_OUTPUT_MS;

static void set_handler(size_t i, void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    if (!is_ignored[i])
        sigaction(heard[i], &action, NULL);
}

/* The default comes back at once, not when the loop gets to it: the next one kills. */
static void signal_came(int number)
{
    int saved = errno;

    if (!first_signal)
        first_signal = number;
    for (size_t i = 0; i < ARRAY_LEN(heard); i++)
        if (heard[i] != SIGHUP)
            set_handler(i, SIG_DFL);
    (void)!write(signal_fd, &(uint64_t){1}, sizeof(uint64_t));
    errno = saved;
}

static void on_signal(void *arg, int ready)
{
    struct loop_watch *watch = arg;
    struct loop *l = watch->loop;

    loop_watch_stop(watch); /* it stays readable for cli_wait_ready() */
    loop_cancel(l);
}

static struct err *signals_begin(struct loop_watch *watch, struct loop *l)
{
    struct sigaction action;
    struct err *e;

    if (signal_fd < 0)
        signal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (signal_fd < 0)
        return err_errno(ERR_INTERNAL, errno, "cannot listen for signals");
    e = loop_watch_start(watch, l, signal_fd, TASK_FD_READ, on_signal, watch);
    for (size_t i = 0; !e && i < ARRAY_LEN(heard); i++) {
        is_ignored[i] = sigaction(heard[i], NULL, &action) == 0 && action.sa_handler == SIG_IGN;
        set_handler(i, signal_came);
    }
    return e;
}

static void signals_end(struct loop_watch *watch)
{
    for (size_t i = 0; i < ARRAY_LEN(heard); i++)
        set_handler(i, SIG_DFL);
    loop_watch_stop(watch);
}

struct err *cli_run_task(const struct clock *clock, task_fn fn, void *arg)
{
    struct loop_watch signals = {0};
    AUTO(loop) struct loop *l = loop_new(clock);
    struct err *e;

    if (!l)
        return err_errno(ERR_INTERNAL, errno, "cannot make an event loop");
    e = signals_begin(&signals, l);
    if (!e)
        e = loop_run(l, fn, arg);
    signals_end(&signals);
    if (e && !err_is(e, ERR_CANCELLED) && first_signal) {
        e = err_wrap(e, "interrupted");
        e->kind = ERR_CANCELLED; /* what failed on the way out is its cause */
        return e;
    }
    if (!first_signal && !err_is(e, ERR_CANCELLED))
        return e;
    err_free(e);
    return err_new(ERR_CANCELLED, "interrupted");
}

int cli_exit_status(int status)
{
    bool was_interrupted = status == err_exit_code(&(struct err){.kind = ERR_CANCELLED});

    return was_interrupted && first_signal ? 128 + first_signal : status;
}

/* --- waits that stop the loop --- */

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool cli_wait_ready(int fd, short events)
{
    struct pollfd files[] = {{.fd = fd, .events = events}, {.fd = signal_fd, .events = POLLIN}};

    while (!first_signal) {
        if (poll(files, ARRAY_LEN(files), -1) < 0 && errno != EINTR)
            return true; /* the caller's read or write says what is wrong */
        if (files[0].revents)
            return true;
    }
    while (events & POLLOUT) {
        int64_t begin_ms = now_ms();
        int n = poll(files, 1, (int)output_left_ms);
        bool has_failed = n < 0 && errno != EINTR;

        output_left_ms -= MIN(now_ms() - begin_ms, output_left_ms);
        if (n > 0 || has_failed)
            return true;
        if (!output_left_ms)
            break;
    }
    return false;
}
