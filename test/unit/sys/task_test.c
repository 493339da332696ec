/* task_test.c - tasks, what they wait for, and what ends their waits early. */
#include "sys/tasks.h"

#include "sys/work.h"

#include <fcntl.h>
#include <pthread.h>

static struct err *sleep_an_hour(void *arg)
{
    TRY(task_sleep(3600 * 1000));
    EXPECT(now_ms() == 3600 * 1000);
    return NULL;
}

TEST(an_hour_of_sleep_takes_no_time_on_a_virtual_clock)
{
    assert_ok(run_tasks(sleep_an_hour, NULL));
}

static struct err *sleep_a_little(void *arg)
{
    uint64_t start = now_ms();

    TRY(task_sleep(2));
    EXPECT(now_ms() >= start + 2);
    return NULL;
}

TEST(a_sleep_on_the_machines_clock_lasts_long_enough)
{
    assert_ok(loop_run_once(sleep_a_little, NULL));
}

static struct err *fail_at_once(void *arg)
{
    EXPECT(task_self() && strcmp(task_name(task_self()), "root") == 0);
    return err_new(ERR_NETWORK, "the cable is out");
}

TEST(the_error_of_the_root_task_is_the_result)
{
    assert_null(task_self());
    assert_err(run_tasks(fail_at_once, NULL), ERR_NETWORK);
    assert_null(task_self());
}

static void wait_outside_tasks(void)
{
    err_ignore(task_sleep(1), "it aborts before");
}

TEST(waiting_outside_a_task_aborts)
{
    assert_aborts(wait_outside_tasks, "only a task can do this");
}

/* --- yield --- */

struct log {
    struct strbuf text;
    unsigned n;
};

static struct err *write_thrice(void *arg)
{
    struct log *log = arg;
    char letter = (char)('a' + log->n++);

    for (unsigned i = 0; i < 3; i++) {
        strbuf_add_char(&log->text, letter);
        TRY(task_yield());
    }
    return NULL;
}

static struct err *three_writers(void *arg)
{
    struct group g;

    group_begin(&g, 0, 0);
    for (unsigned i = 0; i < 3; i++)
        group_spawn(&g, "writer", write_thrice, arg);
    return group_end(&g);
}

TEST(a_yield_lets_every_runnable_task_run_once)
{
    struct log log = {0};

    assert_ok(run_tasks(three_writers, &log));
    assert_str(strbuf_str(&log.text), "abcabcabc");
    strbuf_done(&log.text);
}

/* --- wakers --- */

static struct err *wake_then_park(void *arg)
{
    struct waker w;

    waker_init(&w);
    waker_wake(&w);
    waker_wake(&w);
    TRY(waker_park(&w));
    return waker_park(&w);
}

TEST(a_waker_that_was_woken_first_does_not_wait)
{
    assert_ok(run_tasks(wake_then_park, NULL));
}

struct parked {
    struct waker waker;
    struct err *result, *next_result;
};

static struct err *park(void *arg)
{
    struct parked *p = arg;

    waker_init(&p->waker);
    p->result = waker_park(&p->waker);
    p->next_result = task_yield();
    return NULL;
}

static struct err *wake_and_cancel(void *arg)
{
    struct parked p = {0};
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "parked", park, &p);
    e = task_yield();
    group_cancel(&g);
    waker_wake(&p.waker);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(p.result == NULL);
    EXPECT_ERR(p.next_result, ERR_CANCELLED);
    return NULL;
}

TEST(what_was_handed_over_is_not_lost_when_the_task_is_cancelled_at_the_same_time)
{
    assert_ok(run_tasks(wake_and_cancel, NULL));
}

/* --- cancel: every kind of wait --- */

struct wait_case {
    const char *name;
    struct err *(*wait)(struct wait_case *c);
    int fds[2];
    struct chan *chan;
    struct err *result, *next_result;
    bool began;
};

static struct err *wait_sleep(struct wait_case *c)
{
    return task_sleep(UINT64_MAX);
}

static struct err *wait_yield(struct wait_case *c)
{
    struct err *e = NULL;

    while (!e)
        e = task_yield();
    return e;
}

static struct err *wait_check(struct wait_case *c)
{
    TRY(task_yield());
    return task_check();
}

static struct err *wait_fd(struct wait_case *c)
{
    return task_wait_fd(c->fds[0], TASK_FD_READ, NULL);
}

static struct err *wait_park(struct wait_case *c)
{
    struct waker w;

    waker_init(&w);
    return waker_park(&w);
}

static struct err *wait_send(struct wait_case *c)
{
    while (chan_try_send(c->chan, c))
        ;
    return chan_send(c->chan, c);
}

static struct err *wait_receive(struct wait_case *c)
{
    void *item;
    bool open;

    return chan_receive(c->chan, &item, &open);
}

static struct err *sleep_long(void *arg)
{
    return task_sleep(UINT64_MAX);
}

static struct err *wait_group_end(struct wait_case *c)
{
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "child", sleep_long, NULL);
    return group_end(&g);
}

static struct err *wait_group_join(struct wait_case *c)
{
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "child", sleep_long, NULL);
    e = group_join(&g);
    err_ignore(group_end(&g), "the join is what is looked at");
    return e;
}

static struct err *until_cancelled(void *arg)
{
    while (!work_cancelled())
        usleep(100);
    return err_new(ERR_CANCELLED, "the worker stopped");
}

static struct err *wait_work(struct wait_case *c)
{
    return work_run(until_cancelled, NULL);
}

static const struct wait_case wait_cases[] = {
    {"sleep", wait_sleep},     {"yield", wait_yield},         {"check", wait_check},
    {"fd", wait_fd},           {"park", wait_park},           {"send", wait_send},
    {"receive", wait_receive}, {"group end", wait_group_end}, {"group join", wait_group_join},
    {"work", wait_work},
};

static struct err *run_wait(void *arg)
{
    struct wait_case *c = arg;

    c->began = true;
    c->result = c->wait(c);
    c->next_result = task_sleep(0);
    return NULL;
}

static struct err *each_wait(struct err *(*body)(struct wait_case *c))
{
    for (size_t i = 0; i < ARRAY_LEN(wait_cases); i++) {
        struct wait_case c = wait_cases[i];
        struct err *e;

        EXPECT(pipe2(c.fds, O_CLOEXEC) == 0);
        c.chan = chan_new(3);
        e = body(&c);
        close(c.fds[0]);
        close(c.fds[1]);
        chan_free(c.chan);
        if (e)
            return err_wrap(e, "waiting by %s", c.name);
    }
    return NULL;
}

static struct err *cancel_during(struct wait_case *c)
{
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "waiter", run_wait, c);
    e = task_yield(); /* now it waits */
    group_cancel(&g);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT_ERR(c->result, ERR_CANCELLED);
    EXPECT_ERR(c->next_result, ERR_CANCELLED);
    EXPECT(now_ms() == 0);
    return NULL;
}

static struct err *cancel_during_each(void *arg)
{
    return each_wait(cancel_during);
}

TEST(cancel_ends_every_kind_of_wait_at_once_and_all_that_follow)
{
    assert_ok(run_tasks(cancel_during_each, NULL));
}

static struct err *cancel_before(struct wait_case *c)
{
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "waiter", run_wait, c);
    group_cancel(&g);
    TRY(group_end(&g));
    EXPECT(c->began);
    EXPECT_ERR(c->result, ERR_CANCELLED);
    EXPECT_ERR(c->next_result, ERR_CANCELLED);
    EXPECT(now_ms() == 0);
    return NULL;
}

static struct err *cancel_before_each(void *arg)
{
    return each_wait(cancel_before);
}

TEST(a_task_that_is_cancelled_before_it_began_runs_and_its_first_wait_fails)
{
    assert_ok(run_tasks(cancel_before_each, NULL));
}

static struct err *time_out(struct wait_case *c)
{
    AUTO(deadline) struct deadline d;
    AUTO(err) struct err *e = NULL;

    deadline_begin(&d, 1000, "the test");
    loop_post(task_loop(), let_a_second_pass, task_loop());
    while (!e)
        e = c->wait(c);
    EXPECT_ERR(task_yield(), ERR_TIMEOUT);
    EXPECT(d.expired);
    if (c->wait == wait_work && err_is(e, ERR_CANCELLED))
        return NULL; /* the worker had taken it up already, and was told */
    EXPECT(strcmp(e->text, "the test took longer than 1 s") == 0);
    return NULL;
}

static struct err *time_out_each(void *arg)
{
    return each_wait(time_out);
}

TEST(a_deadline_ends_every_kind_of_wait)
{
    assert_ok(run_tasks(time_out_each, NULL));
}

/* --- cancel: down the tree --- */

static struct err *nest(void *arg)
{
    unsigned *depth = arg, below = *depth - 1;
    struct group g;

    if (*depth == 0)
        return task_sleep(1000);
    group_begin(&g, 0, 0);
    group_spawn(&g, "below", nest, &below);
    return group_end(&g);
}

static struct err *cancel_a_tower(void *arg)
{
    unsigned depth = 200;
    struct group g;
    struct err *e = NULL;

    group_begin(&g, 0, 0);
    group_spawn(&g, "tower", nest, &depth);
    for (unsigned i = 0; i <= depth && !e; i++)
        e = task_yield();
    group_cancel(&g);
    if (e)
        return e;
    EXPECT_ERR(group_end(&g), ERR_CANCELLED);
    EXPECT(now_ms() == 0);
    return NULL;
}

TEST(cancel_reaches_the_groups_of_the_groups)
{
    assert_ok(run_tasks(cancel_a_tower, NULL));
}

static void post_cancel(void *arg)
{
    loop_cancel(arg);
}

static struct err *cancelled_from_outside(void *arg)
{
    loop_post(task_loop(), post_cancel, task_loop());
    return task_sleep(UINT64_MAX);
}

TEST(cancelling_the_loop_cancels_the_root_task)
{
    assert_err(run_tasks(cancelled_from_outside, NULL), ERR_CANCELLED);
}

/* --- shields --- */

static struct err *nap(void *arg)
{
    return task_sleep(100);
}

struct shielded {
    struct err *inside, *group, *outside;
    bool was_cancelled[2]; /* before that, and in the shield */
};

static struct err *clean_up(void *arg)
{
    struct shielded *s = arg;
    struct group g;

    s->was_cancelled[0] = task_was_cancelled();
    err_ignore(task_sleep(1000), "it is cancelled");
    task_shield_begin();
    s->was_cancelled[1] = task_was_cancelled();
    task_shield_begin();
    s->inside = task_sleep(100);
    task_shield_end();
    group_begin(&g, 0, 0);
    group_spawn(&g, "nap", nap, NULL);
    s->group = group_end(&g);
    task_shield_end();
    s->outside = task_sleep(100);
    return NULL;
}

static struct err *cancel_then_clean_up(void *arg)
{
    struct shielded s = {0};
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "cleaner", clean_up, &s);
    e = task_yield();
    group_cancel(&g);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(!s.was_cancelled[0] && s.was_cancelled[1]);
    EXPECT(s.inside == NULL && s.group == NULL);
    EXPECT_ERR(s.outside, ERR_CANCELLED);
    EXPECT(now_ms() == 200);
    return NULL;
}

TEST(a_shield_keeps_cancel_from_waits_and_groups_inside_it)
{
    assert_ok(run_tasks(cancel_then_clean_up, NULL));
}

static struct err *shielded_sleep(void *arg)
{
    struct shielded *s = arg;
    struct group g;

    task_shield_begin();
    group_begin(&g, 0, 0);
    group_spawn(&g, "nap", nap, NULL);
    s->group = group_end(&g);
    task_shield_end();
    s->outside = task_yield();
    return NULL;
}

static struct err *cancel_inside_a_shield(void *arg)
{
    struct shielded s = {0};
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "sleeper", shielded_sleep, &s);
    e = task_sleep(50);
    group_cancel(&g);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(s.group == NULL);
    EXPECT_ERR(s.outside, ERR_CANCELLED);
    EXPECT(now_ms() == 100);
    return NULL;
}

TEST(cancel_that_comes_during_a_shield_is_noticed_after_it)
{
    assert_ok(run_tasks(cancel_inside_a_shield, NULL));
}

static struct err *forget_to_end(void *arg)
{
    task_shield_begin();
    return NULL;
}

static void run_forgetful(void)
{
    err_ignore(run_tasks(forget_to_end, NULL), "it aborts before");
}

TEST(returning_with_a_shield_open_aborts)
{
    assert_aborts(run_forgetful, "a task returned with a group, a deadline or a shield open");
}

/* --- the host's stack --- */

struct stack_bounds {
    const char *start, *end;
};

static struct stack_bounds own_stack(void)
{
    pthread_attr_t attr;
    void *start;
    size_t size;

    assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
    assert_int_equal(pthread_attr_getstack(&attr, &start, &size), 0);
    pthread_attr_destroy(&attr);
    return (struct stack_bounds){start, (char *)start + size};
}

struct host {
    struct stack_bounds stack;
    bool task_was_outside, host_was_inside, nested_was_inside, had_task;
    struct err *other_loop;
};

static bool is_inside(const struct stack_bounds *s, const void *address)
{
    return (const char *)address >= s->start && (const char *)address < s->end;
}

static void nested_host(void *arg)
{
    struct host *h = arg;

    h->nested_was_inside = is_inside(&h->stack, __builtin_frame_address(0));
}

static void host(void *arg)
{
    struct host *h = arg;

    h->host_was_inside = is_inside(&h->stack, __builtin_frame_address(0));
    h->had_task = task_self() != NULL;
    h->other_loop = run_tasks(sleep_an_hour, NULL);
    loop_call_host(nested_host, h);
}

static struct err *call_host(void *arg)
{
    struct host *h = arg;
    struct task *before = task_self();

    TRY(task_yield());
    h->task_was_outside = !is_inside(&h->stack, __builtin_frame_address(0));
    loop_call_host(host, h);
    EXPECT(task_self() == before);
    return task_sleep(1);
}

TEST(the_host_is_called_on_the_threads_own_stack_and_may_run_a_loop_there)
{
    struct host h = {.stack = own_stack()};

    assert_ok(run_tasks(call_host, &h));
    assert_true(h.task_was_outside);
    assert_true(h.host_was_inside);
    assert_true(h.nested_was_inside);
    assert_false(h.had_task);
    assert_ok(h.other_loop);
}

TEST(outside_tasks_the_host_is_called_straight)
{
    struct host h = {.stack = own_stack()};

    loop_call_host(nested_host, &h);
    assert_true(h.nested_was_inside);
}

/* --- many --- */

struct crowd {
    unsigned n_live, max_live;
    unsigned long long sum;
};

static struct err *live(void *arg)
{
    struct crowd *crowd = arg;
    unsigned number = crowd->n_live++;

    crowd->max_live = MAX(crowd->max_live, crowd->n_live);
    for (unsigned i = 0; i < 3; i++)
        TRY(task_sleep(1 + number % 7));
    crowd->sum += number;
    crowd->n_live--;
    return NULL;
}

static struct err *make_a_crowd(void *arg)
{
    struct group g;

    group_begin(&g, 0, 0);
    for (unsigned i = 0; i < N_MANY; i++)
        group_spawn(&g, "one of many", live, arg);
    return group_end(&g);
}

TEST(thousands_of_tasks_live_at_once)
{
    struct crowd crowd = {0};

    assert_ok(run_tasks(make_a_crowd, &crowd));
    assert_int_equal(crowd.max_live, N_MANY);
    assert_int_equal(crowd.n_live, 0);
    assert_int_equal(crowd.sum, (unsigned long long)N_MANY * (N_MANY - 1) / 2);
}

RUN_TESTS(UNIT(an_hour_of_sleep_takes_no_time_on_a_virtual_clock),
          UNIT(a_sleep_on_the_machines_clock_lasts_long_enough),
          UNIT(the_error_of_the_root_task_is_the_result), UNIT(waiting_outside_a_task_aborts),
          UNIT(returning_with_a_shield_open_aborts),
          UNIT(a_yield_lets_every_runnable_task_run_once),
          UNIT(a_waker_that_was_woken_first_does_not_wait),
          UNIT(what_was_handed_over_is_not_lost_when_the_task_is_cancelled_at_the_same_time),
          UNIT(cancel_ends_every_kind_of_wait_at_once_and_all_that_follow),
          UNIT(a_task_that_is_cancelled_before_it_began_runs_and_its_first_wait_fails),
          UNIT(a_deadline_ends_every_kind_of_wait), UNIT(cancel_reaches_the_groups_of_the_groups),
          UNIT(cancelling_the_loop_cancels_the_root_task),
          UNIT(a_shield_keeps_cancel_from_waits_and_groups_inside_it),
          UNIT(cancel_that_comes_during_a_shield_is_noticed_after_it),
          UNIT(the_host_is_called_on_the_threads_own_stack_and_may_run_a_loop_there),
          UNIT(outside_tasks_the_host_is_called_straight), UNIT(thousands_of_tasks_live_at_once))
