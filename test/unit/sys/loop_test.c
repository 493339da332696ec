/* loop_test.c - posts, timers, virtual time, hosts that drive the loop, loops on threads. */
#include "sys/tasks.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <uv.h>

/* --- nothing can happen any more --- */

static struct err *park_for_ever(void *arg)
{
    struct waker w;

    waker_init(&w);
    return waker_park(&w);
}

static struct err *deadlock(void *arg)
{
    AUTO(chan) struct chan *c = chan_new(1);
    struct group g;
    void *item;
    bool open;
    struct err *e;

    group_begin(&g, 1, 0);
    group_spawn(&g, "philosopher", park_for_ever, NULL);
    group_spawn(&g, "guest", park_for_ever, NULL);
    e = chan_receive(c, &item, &open);
    err_ignore(group_end(&g), "it aborts before");
    return e;
}

static void run_into_deadlock(void)
{
    err_ignore(run_tasks(deadlock, NULL), "it aborts before");
}

static void run_into_deadlock_in_real_time(void)
{
    err_ignore(loop_run_once(deadlock, NULL), "it aborts before");
}

TEST(a_deadlock_aborts_and_lists_who_waits_for_what)
{
    const char *list = "keel: every task waits and nothing can wake one:\n"
                       "  root: waits to receive\n"
                       "    philosopher: waits to be woken\n"
                       "    guest: not started\n";

    assert_aborts(run_into_deadlock, list);
    assert_aborts(run_into_deadlock_in_real_time, list);
}

static struct err *run_a_loop_in_a_task(void *arg)
{
    return run_tasks(park_for_ever, NULL);
}

static void drive_a_loop_from_a_task(void)
{
    err_ignore(run_tasks(run_a_loop_in_a_task, NULL), "it aborts before");
}

TEST(a_task_that_drives_a_loop_aborts)
{
    assert_aborts(drive_a_loop_from_a_task, "a task may not drive a loop");
}

/* --- runs --- */

static struct err *nothing(void *arg)
{
    return NULL;
}

static struct err *sleep_a_second(void *arg)
{
    return task_sleep(1000);
}

TEST(a_loop_runs_one_root_task_after_another)
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 0);
    l = loop_new(&clock.clock);
    for (unsigned i = 1; i <= 3; i++) {
        assert_ok(loop_run(l, sleep_a_second, NULL));
        assert_int_equal(loop_now_ms(l), i * 1000);
    }
    assert_ptr_equal(loop_clock(l), &clock.clock);
}

/* Not the first loop of the process, for which libuv itself aborts. */
TEST(a_process_that_may_open_no_more_files_gets_an_error_instead_of_a_loop)
{
    struct rlimit limit, none_left;
    struct err *e;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none_left = limit;
    none_left.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none_left), 0);
    e = loop_run_once(nothing, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_err(e, ERR_INTERNAL);
    assert_ok(loop_run_once(nothing, NULL));
}

/* --- timers --- */

struct ring {
    struct strbuf log;
    struct loop_timer *timers[4];
    struct waker *wakes;
};

static void ring_a(void *arg)
{
    struct ring *r = arg;

    strbuf_add_char(&r->log, 'a');
}

static void ring_b(void *arg)
{
    struct ring *r = arg;

    strbuf_add_char(&r->log, 'b');
    loop_timer_stop(TAKE(r->timers[2]));
}

static void ring_last(void *arg)
{
    struct ring *r = arg;

    strbuf_add_char(&r->log, task_self() ? '?' : '.');
    waker_wake(r->wakes);
}

static struct err *ring_them(void *arg)
{
    struct ring *r = arg;
    struct loop *l = task_loop();
    struct waker waker;
    struct err *e;

    r->wakes = &waker;
    waker_init(&waker);
    r->timers[0] = loop_timer_start(l, 20, ring_b, r);
    r->timers[1] = loop_timer_start(l, 10, ring_a, r);
    r->timers[2] = loop_timer_start(l, 25, ring_a, r);
    r->timers[3] = loop_timer_start(l, 30, ring_last, r);
    e = waker_park(&waker);
    for (unsigned i = 0; i < 4; i++)
        loop_timer_stop(r->timers[i]);
    TRY(e);
    EXPECT(now_ms() == 30);
    return NULL;
}

TEST(timers_call_outside_tasks_and_can_be_stopped_before_and_after)
{
    struct ring r = {0};

    assert_ok(run_tasks(ring_them, &r));
    assert_str(strbuf_str(&r.log), "ab.");
    strbuf_done(&r.log);
}

/* --- virtual time and the outside --- */

struct stand {
    struct loop *loop;
    struct loop_timer *timer;
    bool rang_early, outside_is_over;
};

static void ring_too_early(void *arg)
{
    struct stand *s = arg;

    s->rang_early = !s->outside_is_over;
}

static void end_outside(void *arg)
{
    struct stand *s = arg;

    s->outside_is_over = true;
    loop_external_end(s->loop);
}

static void *post_from_outside(void *arg)
{
    struct stand *s = arg;

    loop_post(s->loop, end_outside, s);
    return NULL;
}

static struct err *let_time_stand(void *arg)
{
    struct stand s = {.loop = task_loop()};
    pthread_t thread;
    struct err *e;

    loop_external_begin(s.loop);
    s.timer = loop_timer_start(s.loop, 10, ring_too_early, &s);
    EXPECT(pthread_create(&thread, NULL, post_from_outside, &s) == 0);
    e = task_sleep(20);
    pthread_join(thread, NULL);
    loop_timer_stop(s.timer);
    TRY(e);
    EXPECT(s.outside_is_over && !s.rang_early);
    EXPECT(now_ms() == 20);
    return NULL;
}

TEST(a_virtual_clock_stands_while_something_outside_is_under_way)
{
    assert_ok(run_tasks(let_time_stand, NULL));
}

/* --- posts --- */

enum { N_POSTERS = 4, N_POSTS = 500 };

struct poster {
    struct mailbox *mailbox;
    unsigned n_sent, n_got;
    bool in_order;
};

struct mailbox {
    struct loop *loop;
    struct poster posters[N_POSTERS];
    unsigned n_got;
    struct waker waker;
    bool in_a_task;
};

struct letter {
    struct poster *from;
    unsigned number;
};

static void deliver(void *arg)
{
    struct letter *letter = arg;
    struct poster *from = letter->from;
    struct mailbox *m = from->mailbox;

    m->in_a_task |= task_self() != NULL;
    from->in_order &= letter->number == from->n_got++;
    if (++m->n_got == N_POSTERS * N_POSTS)
        waker_wake(&m->waker);
    mem_free(letter);
}

static void *send_letters(void *arg)
{
    struct poster *p = arg;

    for (unsigned i = 0; i < N_POSTS; i++) {
        struct letter *letter = mem_alloc(sizeof *letter);

        *letter = (struct letter){p, i};
        loop_post(p->mailbox->loop, deliver, letter);
    }
    return NULL;
}

static struct err *collect_letters(void *arg)
{
    struct mailbox m = {.loop = task_loop()};
    pthread_t threads[N_POSTERS];
    struct err *e;

    waker_init(&m.waker);
    loop_external_begin(m.loop);
    for (unsigned i = 0; i < N_POSTERS; i++) {
        m.posters[i] = (struct poster){.mailbox = &m, .in_order = true};
        EXPECT(pthread_create(&threads[i], NULL, send_letters, &m.posters[i]) == 0);
    }
    e = waker_park(&m.waker);
    for (unsigned i = 0; i < N_POSTERS; i++)
        pthread_join(threads[i], NULL);
    loop_external_end(m.loop);
    TRY(e);
    for (unsigned i = 0; i < N_POSTERS; i++)
        EXPECT(m.posters[i].in_order);
    EXPECT(!m.in_a_task);
    return NULL;
}

TEST(posts_from_other_threads_come_in_order_and_outside_tasks)
{
    assert_ok(run_tasks(collect_letters, NULL));
}

static void count(void *arg)
{
    unsigned *n = arg;

    ++*n;
}

struct reposter {
    struct loop *loop;
    unsigned n;
};

static void post_another(void *arg)
{
    struct reposter *r = arg;

    if (++r->n < 3)
        loop_post(r->loop, post_another, r);
}

TEST(what_is_still_posted_runs_when_the_loop_is_freed)
{
    struct loop *l = loop_new(NULL);
    struct reposter r = {.loop = l};
    unsigned n = 0;

    loop_post(l, count, &n);
    loop_post(l, post_another, &r);
    assert_int_equal(n, 0);
    loop_free(l);
    assert_int_equal(n, 1);
    assert_int_equal(r.n, 3);
}

/* --- the host drives --- */

struct hosted {
    int fds[2];
    char text[3];
};

static struct err *read_three(void *arg)
{
    struct hosted *h = arg;

    for (unsigned i = 0; i < 3; i++) {
        TRY(task_wait_fd(h->fds[0], TASK_FD_READ, NULL));
        EXPECT(read(h->fds[0], &h->text[i], 1) == 1);
    }
    return err_new(ERR_TOOL_FAILED, "done");
}

static void wait_until_readable(struct loop *l)
{
    struct pollfd p = {.fd = loop_poll_fd(l), .events = POLLIN};

    assert_int_equal(poll(&p, 1, -1), 1);
}

TEST(a_host_can_drive_the_loop_with_its_own_poll)
{
    AUTO(loop) struct loop *l = loop_new(NULL);
    struct hosted h = {0};

    assert_int_equal(pipe2(h.fds, O_CLOEXEC), 0);
    loop_start(l, read_three, &h);
    assert_int_equal(loop_poll_timeout_ms(l), 0); /* the task wants to begin */
    assert_true(loop_step(l, false));
    assert_int_equal(loop_poll_timeout_ms(l), -1); /* idle: nothing but the pipe can wake it */
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(write(h.fds[1], &"abc"[i], 1), 1);
        wait_until_readable(l);
        assert_int_equal(loop_step(l, false), i < 2);
    }
    assert_false(loop_step(l, false));
    assert_int_equal(loop_poll_timeout_ms(l), 0);
    assert_err(loop_result(l), ERR_TOOL_FAILED);
    assert_memory_equal(h.text, "abc", 3);
    close(h.fds[0]);
    close(h.fds[1]);
}

TEST(a_host_is_told_how_long_the_loop_can_wait)
{
    AUTO(loop) struct loop *l = loop_new(NULL);
    unsigned n = 0;
    int timeout_ms;

    loop_start(l, sleep_a_second, NULL);
    assert_true(loop_step(l, false));
    timeout_ms = loop_poll_timeout_ms(l);
    assert_in_range(timeout_ms, 1, 1000);
    loop_post(l, count, &n);
    wait_until_readable(l);
    assert_true(loop_step(l, false));
    assert_int_equal(n, 1);
    loop_cancel(l);
    assert_int_equal(loop_poll_timeout_ms(l), 0);
    assert_false(loop_step(l, false));
    assert_err(loop_result(l), ERR_CANCELLED);
    loop_cancel(l); /* nothing is left to cancel */
}

TEST(a_hosted_loop_jumps_in_virtual_time_without_blocking)
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 0);
    l = loop_new(&clock.clock);
    loop_start(l, sleep_a_second, NULL);
    while (loop_step(l, false))
        assert_int_equal(loop_poll_timeout_ms(l), 0);
    assert_ok(loop_result(l));
    assert_int_equal(loop_now_ms(l), 1000);
}

static struct err *wait_for_a_byte(void *arg)
{
    struct hosted *h = arg;

    return task_wait_fd(h->fds[0], TASK_FD_READ, NULL);
}

TEST(asking_for_the_time_out_notices_what_has_happened)
{
    AUTO(loop) struct loop *l = loop_new(NULL);
    struct hosted h = {0};

    assert_int_equal(pipe2(h.fds, O_CLOEXEC), 0);
    loop_start(l, wait_for_a_byte, &h);
    assert_true(loop_step(l, false));
    assert_int_equal(write(h.fds[1], "x", 1), 1);
    assert_int_equal(loop_poll_timeout_ms(l), 0);
    assert_false(loop_step(l, false));
    assert_ok(loop_result(l));
    close(h.fds[0]);
    close(h.fds[1]);
}

/* --- libuv handles of others --- */

struct ticker {
    uv_timer_t timer;
    struct waker waker;
};

static void on_tick(uv_timer_t *timer)
{
    struct ticker *t = timer->data;

    waker_wake(&t->waker);
}

static void on_close(uv_handle_t *handle)
{
    on_tick((uv_timer_t *)handle);
}

static struct err *use_libuv(void *arg)
{
    struct ticker t;

    uv_timer_init(loop_uv(task_loop()), &t.timer);
    t.timer.data = &t;
    waker_init(&t.waker);
    uv_timer_start(&t.timer, on_tick, 0, 0); /* called before libuv polls, which must not block */
    TRY(waker_park(&t.waker));
    waker_init(&t.waker);
    uv_close((uv_handle_t *)&t.timer, on_close);
    return waker_park(&t.waker);
}

TEST(handles_of_others_on_libuvs_loop_can_wake_tasks)
{
    assert_ok(run_tasks(use_libuv, NULL));
    assert_ok(loop_run_once(use_libuv, NULL));
}

/* --- two loops --- */

enum { N_PASSES = 200 };

struct side {
    struct loop *loop, *other_loop;
    struct side *other;
    struct waker waker;
    unsigned n_got;
    struct err *result;
    pthread_barrier_t *barrier;
};

static void receive_pass(void *arg)
{
    struct side *s = arg;

    s->n_got++;
    waker_wake(&s->waker);
}

static struct err *play_ball(void *arg)
{
    struct side *s = arg;

    loop_external_begin(s->loop);
    for (unsigned i = 1; i <= N_PASSES; i++) {
        loop_post(s->other->loop, receive_pass, s->other);
        while (s->n_got < i)
            TRY(waker_park(&s->waker));
        waker_init(&s->waker);
        TRY(task_yield());
    }
    loop_external_end(s->loop);
    return NULL;
}

static struct err *prepare_and_play(void *arg)
{
    struct side *s = arg;

    waker_init(&s->waker);
    pthread_barrier_wait(s->barrier);
    return play_ball(s);
}

static void *run_side(void *arg)
{
    struct side *s = arg;

    s->result = loop_run(s->loop, prepare_and_play, s);
    return NULL;
}

/* --- the time of day --- */

/* It is a second later each time that it is asked. */
static int64_t count_unix_ms(void *self)
{
    return *(int64_t *)self += 1000;
}

static uint64_t no_monotonic_ms(void *self)
{
    return 0;
}

static struct err *ask_for_time(void *arg)
{
    struct loop *l = task_loop();

    EXPECT(loop_unix_ms(l) == 1000);
    EXPECT(loop_unix_ms(l) == 1000);
    TRY(task_yield());
    EXPECT(loop_unix_ms(l) == 2000);
    EXPECT(loop_unix_ms(l) == 2000);
    return NULL;
}

TEST(the_time_of_day_is_read_once_between_two_waits)
{
    int64_t unix_ms = 0;
    struct clock clock = {
        .monotonic_ms = no_monotonic_ms, .unix_ms = count_unix_ms, .self = &unix_ms};
    AUTO(loop) struct loop *l = loop_new(&clock);

    assert_ok(loop_run(l, ask_for_time, NULL));
    assert_int_equal(loop_unix_ms(l), 3000);
    assert_int_equal(loop_unix_ms(l), 4000);
}

static void note_ending(void *arg)
{
    strbuf_add_char(arg, 'a');
}

/* What keeps a timer in the loop takes it back then. */
struct late_timer {
    struct loop_timer *timer;
    struct strbuf *log;
};

static void note_ending_of_timer(void *arg)
{
    struct late_timer *t = arg;

    loop_timer_stop(t->timer);
    strbuf_add_char(t->log, 'b');
}

TEST(endings_are_called_when_the_loop_is_freed_the_last_begun_first)
{
    AUTO(strbuf) struct strbuf log = {0};
    struct late_timer timer = {.log = &log};
    struct loop_ending endings[3];
    struct loop *l = loop_new(NULL);

    timer.timer = loop_timer_start(l, 3600 * 1000, note_ending, &log);
    loop_ending_start(&endings[0], l, note_ending, &log);
    loop_ending_start(&endings[1], l, note_ending, &log);
    loop_ending_start(&endings[2], l, note_ending_of_timer, &timer);
    loop_ending_stop(&endings[1]);
    loop_ending_stop(&endings[1]);
    loop_free(l);
    assert_str(strbuf_str(&log), "ba");
    loop_ending_stop(&endings[0]); /* it was called */
}

TEST(two_loops_on_two_threads_run_independently_and_post_to_each_other)
{
    struct side sides[2] = {0};
    pthread_t threads[2];
    pthread_barrier_t barrier;

    pthread_barrier_init(&barrier, NULL, 2);
    for (unsigned i = 0; i < 2; i++) {
        sides[i].loop = loop_new(NULL);
        sides[i].other = &sides[1 - i];
        sides[i].barrier = &barrier;
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_side, &sides[i]), 0);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(sides[i].result);
        assert_int_equal(sides[i].n_got, N_PASSES);
        loop_free(sides[i].loop);
    }
    pthread_barrier_destroy(&barrier);
}

RUN_TESTS(UNIT(a_deadlock_aborts_and_lists_who_waits_for_what),
          UNIT(a_task_that_drives_a_loop_aborts), UNIT(a_loop_runs_one_root_task_after_another),
          UNIT(a_process_that_may_open_no_more_files_gets_an_error_instead_of_a_loop),
          UNIT(timers_call_outside_tasks_and_can_be_stopped_before_and_after),
          UNIT(a_virtual_clock_stands_while_something_outside_is_under_way),
          UNIT(posts_from_other_threads_come_in_order_and_outside_tasks),
          UNIT(what_is_still_posted_runs_when_the_loop_is_freed),
          UNIT(a_host_can_drive_the_loop_with_its_own_poll),
          UNIT(a_host_is_told_how_long_the_loop_can_wait),
          UNIT(a_hosted_loop_jumps_in_virtual_time_without_blocking),
          UNIT(asking_for_the_time_out_notices_what_has_happened),
          UNIT(handles_of_others_on_libuvs_loop_can_wake_tasks),
          UNIT(the_time_of_day_is_read_once_between_two_waits),
          UNIT(endings_are_called_when_the_loop_is_freed_the_last_begun_first),
          UNIT(two_loops_on_two_threads_run_independently_and_post_to_each_other))
