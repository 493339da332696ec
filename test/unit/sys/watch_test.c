/* watch_test.c - waiting for file descriptors, by tasks and by callbacks. */
#include "sys/tasks.h"

#include <fcntl.h>
#include <sys/socket.h>

struct ends {
    int fds[2];
    struct err *result;
    int ready;
};

static struct err *write_later(void *arg)
{
    struct ends *p = arg;

    TRY(task_yield());
    EXPECT(write(p->fds[1], "x", 1) == 1);
    return NULL;
}

static struct err *read_from_a_pipe(void *arg)
{
    struct ends p = {0};
    struct group g;
    int flags, ready = 0;
    struct err *e;

    EXPECT(pipe2(p.fds, O_CLOEXEC) == 0);
    flags = fcntl(p.fds[0], F_GETFL);
    group_begin(&g, 0, 0);
    group_spawn(&g, "writer", write_later, &p);
    e = task_wait_fd(p.fds[0], TASK_FD_READ, &ready);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(ready == TASK_FD_READ);
    EXPECT(fcntl(p.fds[0], F_GETFL) == flags);       /* a shell may share it with us */
    TRY(task_wait_fd(p.fds[0], TASK_FD_READ, NULL)); /* still there: nobody has read it */
    close(p.fds[0]);
    close(p.fds[1]);
    return NULL;
}

TEST(a_task_waits_until_a_pipe_can_be_read_and_leaves_its_flags_alone)
{
    assert_ok(run_tasks(read_from_a_pipe, NULL));
}

static struct err *close_later(void *arg)
{
    struct ends *p = arg;

    TRY(task_yield());
    close(p->fds[1]);
    return NULL;
}

static struct err *see_the_hang_up(void *arg)
{
    struct ends p = {0};
    struct group g;
    int ready = 0;
    char byte;
    struct err *e;

    EXPECT(pipe2(p.fds, O_CLOEXEC) == 0);
    group_begin(&g, 0, 0);
    group_spawn(&g, "closer", close_later, &p);
    e = task_wait_fd(p.fds[0], TASK_FD_READ, &ready);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(ready == TASK_FD_READ && read(p.fds[0], &byte, 1) == 0);
    close(p.fds[0]);
    return NULL;
}

TEST(a_hang_up_ends_the_wait)
{
    assert_ok(run_tasks(see_the_hang_up, NULL));
}

static struct err *drain_later(void *arg)
{
    struct ends *p = arg;
    char buffer[65536];

    TRY(task_yield());
    EXPECT(read(p->fds[0], buffer, sizeof buffer) > 0);
    return NULL;
}

static struct err *write_to_a_full_pipe(void *arg)
{
    static const char zeros[4096];
    struct ends p = {0};
    struct group g;
    int ready = 0;
    struct err *e;

    EXPECT(pipe2(p.fds, O_CLOEXEC | O_NONBLOCK) == 0);
    while (write(p.fds[1], zeros, sizeof zeros) > 0)
        ;
    group_begin(&g, 0, 0);
    group_spawn(&g, "reader", drain_later, &p);
    e = task_wait_fd(p.fds[1], TASK_FD_READ | TASK_FD_WRITE, &ready);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(ready == TASK_FD_WRITE);
    close(p.fds[0]);
    close(p.fds[1]);
    return NULL;
}

TEST(a_task_waits_until_a_pipe_can_be_written)
{
    assert_ok(run_tasks(write_to_a_full_pipe, NULL));
}

static struct err *wait_readable(void *arg)
{
    struct ends *p = arg;

    return task_wait_fd(p->fds[0], TASK_FD_READ, &p->ready);
}

static struct err *wait_writable(void *arg)
{
    struct ends *p = arg;

    return task_wait_fd(p->fds[0], TASK_FD_WRITE, &p->ready);
}

static struct err *share_a_socket(void *arg)
{
    struct ends reader = {0}, other_reader, writer;
    struct group g;
    struct err *e;

    EXPECT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, reader.fds) == 0);
    other_reader = writer = reader;
    group_begin(&g, 0, 0);
    group_spawn(&g, "reader", wait_readable, &reader);
    group_spawn(&g, "writer", wait_writable, &writer);
    group_spawn(&g, "other reader", wait_readable, &other_reader);
    e = task_wait_fd(reader.fds[0], TASK_FD_WRITE, NULL);
    if (write(reader.fds[1], "x", 1) != 1)
        group_cancel(&g);
    if (!e)
        e = group_end(&g);
    close(reader.fds[0]);
    close(reader.fds[1]);
    TRY(e);
    EXPECT(reader.ready == TASK_FD_READ && other_reader.ready == TASK_FD_READ);
    EXPECT(writer.ready == TASK_FD_WRITE);
    return NULL;
}

TEST(several_tasks_may_wait_for_one_fd)
{
    assert_ok(run_tasks(share_a_socket, NULL));
}

static struct err *wait_for_a_file(void *arg)
{
    FILE *file = tmpfile();
    int ready = 0;
    struct err *e;

    EXPECT(file);
    e = task_wait_fd(fileno(file), TASK_FD_READ, &ready);
    fclose(file);
    TRY(e);
    EXPECT(ready == TASK_FD_READ);
    return NULL;
}

TEST(a_regular_file_is_always_ready)
{
    assert_ok(run_tasks(wait_for_a_file, NULL));
}

static struct err *wait_for_nothing(void *arg)
{
    EXPECT_TEXT(task_wait_fd(-1, TASK_FD_READ, NULL),
                "cannot wait for file descriptor -1: Bad file descriptor");
    EXPECT_ERR(task_wait_fd(1 << 30, TASK_FD_READ, NULL), ERR_INTERNAL);
    return NULL;
}

TEST(an_fd_that_is_not_open_is_an_error)
{
    assert_ok(run_tasks(wait_for_nothing, NULL));
}

/* --- callbacks --- */

struct watcher {
    struct loop_watch watch, *stops;
    struct waker *wakes;
    unsigned n_calls, n_bytes;
    int fd;
};

static void on_ready(void *arg, int ready)
{
    struct watcher *w = arg;
    char byte;

    w->n_calls++;
    if (ready & TASK_FD_READ && w->n_bytes > 0 && read(w->fd, &byte, 1) == 1)
        w->n_bytes--;
    if (w->stops)
        loop_watch_stop(w->stops);
    if (w->n_bytes == 0)
        waker_wake(w->wakes);
}

static struct err *watch_a_pipe(void *arg)
{
    struct waker waker;
    struct watcher w = {.wakes = &waker, .n_bytes = 3};
    int fds[2];
    struct err *e;

    EXPECT(pipe2(fds, O_CLOEXEC) == 0);
    EXPECT(write(fds[1], "abc", 3) == 3);
    w.fd = fds[0];
    waker_init(&waker);
    TRY(loop_watch_start(&w.watch, task_loop(), fds[0], TASK_FD_READ, on_ready, &w));
    loop_external_begin(task_loop());
    e = waker_park(&waker);
    loop_external_end(task_loop());
    loop_watch_stop(&w.watch);
    loop_watch_stop(&w.watch);
    close(fds[0]);
    close(fds[1]);
    TRY(e);
    EXPECT(w.n_calls == 3);
    return NULL;
}

TEST(a_watch_calls_again_until_what_was_ready_is_used_up)
{
    assert_ok(run_tasks(watch_a_pipe, NULL));
}

static struct err *stop_each_other(void *arg)
{
    struct waker waker;
    struct watcher a = {.wakes = &waker}, b = {.wakes = &waker};
    int fds[2];
    struct err *e;

    EXPECT(pipe2(fds, O_CLOEXEC) == 0);
    EXPECT(write(fds[1], "a", 1) == 1);
    a.stops = &b.watch;
    b.stops = &a.watch;
    waker_init(&waker);
    TRY(loop_watch_start(&a.watch, task_loop(), fds[0], TASK_FD_READ, on_ready, &a));
    TRY(loop_watch_start(&b.watch, task_loop(), fds[0], TASK_FD_READ, on_ready, &b));
    loop_external_begin(task_loop());
    e = waker_park(&waker);
    loop_external_end(task_loop());
    loop_watch_stop(&a.watch);
    loop_watch_stop(&b.watch);
    close(fds[0]);
    close(fds[1]);
    TRY(e);
    EXPECT(a.n_calls + b.n_calls == 1);
    return NULL;
}

TEST(a_watch_may_stop_another_one_of_the_same_fd)
{
    assert_ok(run_tasks(stop_each_other, NULL));
}

RUN_TESTS(UNIT(a_task_waits_until_a_pipe_can_be_read_and_leaves_its_flags_alone),
          UNIT(a_hang_up_ends_the_wait), UNIT(a_task_waits_until_a_pipe_can_be_written),
          UNIT(several_tasks_may_wait_for_one_fd), UNIT(a_regular_file_is_always_ready),
          UNIT(an_fd_that_is_not_open_is_an_error),
          UNIT(a_watch_calls_again_until_what_was_ready_is_used_up),
          UNIT(a_watch_may_stop_another_one_of_the_same_fd))
