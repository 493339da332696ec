/* task_test.c - the waits of a task, and what ends them early. */
#include "sys/tasks.h"

#include "sys/work.h"

#include <fcntl.h>
#include <unistd.h>

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

/* --- cancel: every kind of wait --- */

struct wait_case {
    const char *name;
    struct err *(*wait)(struct wait_case *c);
    int fds[2];
    struct chan *chan;
    struct err *result;
    bool began;
};

static struct err *wait_sleep(struct wait_case *c)
{
    return task_sleep(1000);
}

static struct err *wait_yield(struct wait_case *c)
{
    return task_yield();
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
    return task_sleep(1000);
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
    {"sleep", wait_sleep},
    {"yield", wait_yield},
    {"fd", wait_fd},
    {"park", wait_park},
    {"send", wait_send},
    {"receive", wait_receive},
    {"group end", wait_group_end},
    {"group join", wait_group_join},
    {"work", wait_work},
};

static struct err *run_wait(void *arg)
{
    struct wait_case *c = arg;

    c->began = true;
    c->result = c->wait(c);
    return NULL;
}

/* Runs every case as a child, lets `during` happen to it, and gives its result to `look`. */
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
    EXPECT(now_ms() == 0);
    return NULL;
}

static struct err *cancel_during_each(void *arg)
{
    return each_wait(cancel_during);
}

TEST(cancel_ends_every_kind_of_wait_at_once)
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

RUN_TESTS(UNIT(an_hour_of_sleep_takes_no_time_on_a_virtual_clock),
          UNIT(a_sleep_on_the_machines_clock_lasts_long_enough),
          UNIT(cancel_ends_every_kind_of_wait_at_once),
          UNIT(a_task_that_is_cancelled_before_it_began_runs_and_its_first_wait_fails))
