/* deadline_test.c - which deadline counts, for whom, and what it says. */
#include "sys/tasks.h"

static struct err *limited_sleep(uint64_t limit_ms, const char *what, uint64_t sleep_ms)
{
    AUTO(deadline) struct deadline d;

    deadline_begin(&d, limit_ms, what);
    return task_sleep(sleep_ms);
}

static struct err *name_durations(void *arg)
{
    EXPECT_TEXT(limited_sleep(250, "a", 60000), "a took longer than 250 ms");
    EXPECT_TEXT(limited_sleep(1500, "b", 60000), "b took longer than 1.5 s");
    EXPECT_TEXT(limited_sleep(1234, "c", 60000), "c took longer than 1234 ms");
    EXPECT_TEXT(limited_sleep(30000, "d", 60000), "d took longer than 30 s");
    EXPECT_TEXT(limited_sleep(90000, "e", 120000), "e took longer than 90 s");
    EXPECT_TEXT(limited_sleep(120000, "f", 180000), "f took longer than 2 min");
    EXPECT(now_ms() == 250 + 1500 + 1234 + 30000 + 90000 + 120000);
    return NULL;
}

TEST(the_error_names_the_thing_and_the_time_it_had)
{
    assert_ok(run_tasks(name_durations, NULL));
}

static struct err *stay_in_time(void *arg)
{
    struct deadline d;
    struct err *e;

    deadline_begin(&d, 100, "the nap");
    e = task_sleep(99);
    deadline_end(&d);
    TRY(e);
    EXPECT(!d.expired);
    deadline_end(&d); /* once more does nothing */
    return task_sleep(1000);
}

TEST(a_deadline_that_was_kept_leaves_nothing_behind)
{
    assert_ok(run_tasks(stay_in_time, NULL));
}

static struct err *fail_until_the_end_of_the_scope(void *arg)
{
    struct deadline d;

    deadline_begin(&d, 0, "nothing");
    EXPECT_ERR(task_yield(), ERR_TIMEOUT);
    EXPECT_ERR(task_sleep(0), ERR_TIMEOUT);
    EXPECT_ERR(task_check(), ERR_TIMEOUT);
    deadline_end(&d);
    return task_sleep(1);
}

TEST(every_wait_fails_until_the_scope_of_the_deadline_ends)
{
    assert_ok(run_tasks(fail_until_the_end_of_the_scope, NULL));
}

static struct err *nest_deadlines(void *arg)
{
    AUTO(deadline) struct deadline outer;

    deadline_begin(&outer, 1000, "the outer");
    EXPECT_TEXT(limited_sleep(100, "the inner", 5000), "the inner took longer than 100 ms");
    EXPECT(!outer.expired);
    TRY(task_sleep(100));
    EXPECT_TEXT(limited_sleep(5000, "the inner", 5000), "the outer took longer than 1 s");
    EXPECT(outer.expired);
    EXPECT(now_ms() == 1000);
    return NULL;
}

TEST(the_earliest_of_nested_deadlines_counts)
{
    assert_ok(run_tasks(nest_deadlines, NULL));
}

static struct err *sleep_as_told(void *arg)
{
    uint64_t *duration_ms = arg;

    return task_sleep(*duration_ms);
}

static struct err *sleep_in_a_child(void *arg)
{
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "child", sleep_as_told, arg);
    return group_end(&g);
}

static struct err *inherit(void *arg)
{
    AUTO(deadline) struct deadline d;
    uint64_t duration_ms = 5000;
    struct group g;

    deadline_begin(&d, 1000, "the family");
    group_begin(&g, 0, 0);
    group_spawn(&g, "child", sleep_in_a_child, &duration_ms);
    EXPECT_TEXT(group_end(&g), "the family took longer than 1 s");
    EXPECT(d.expired);
    EXPECT(now_ms() == 1000);
    return NULL;
}

TEST(children_and_their_children_inherit_the_deadline)
{
    assert_ok(run_tasks(inherit, NULL));
}

struct outcome {
    struct err *own, *inherited;
};

static struct err *set_a_shorter_one(void *arg)
{
    struct outcome *o = arg;

    o->own = limited_sleep(100, "the child", 5000);
    o->inherited = limited_sleep(5000, "the child", 5000);
    return NULL;
}

static struct err *inherit_and_nest(void *arg)
{
    AUTO(deadline) struct deadline d;
    struct outcome o = {0};
    struct group g;

    deadline_begin(&d, 1000, "the parent");
    group_begin(&g, 0, 0);
    group_spawn(&g, "child", set_a_shorter_one, &o);
    EXPECT_TEXT(group_end(&g), "the parent took longer than 1 s");
    EXPECT_TEXT(o.own, "the child took longer than 100 ms");
    EXPECT_TEXT(o.inherited, "the parent took longer than 1 s");
    return NULL;
}

TEST(a_childs_own_deadline_nests_in_the_inherited_one)
{
    assert_ok(run_tasks(inherit_and_nest, NULL));
}

static struct err *limit_the_end_of_a_group(void *arg)
{
    AUTO(deadline) struct deadline d = {0};
    uint64_t duration_ms = 5000;
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "child", sleep_as_told, &duration_ms);
    deadline_begin(&d, 1000, "the end");
    EXPECT_TEXT(group_end(&g), "the end took longer than 1 s");
    EXPECT(now_ms() == 1000);
    return NULL;
}

TEST(a_deadline_begun_after_the_group_limits_its_end_and_cancels_the_children)
{
    assert_ok(run_tasks(limit_the_end_of_a_group, NULL));
}

static struct err *limit_a_join(void *arg)
{
    struct deadline d;
    uint64_t duration_ms = 5000;
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "child", sleep_as_told, &duration_ms);
    deadline_begin(&d, 1000, "the join");
    e = group_join(&g);
    deadline_end(&d);
    TRY(group_end(&g));
    EXPECT_TEXT(e, "the join took longer than 1 s");
    EXPECT(now_ms() == 5000);
    return NULL;
}

TEST(a_join_that_timed_out_leaves_the_children_alone)
{
    assert_ok(run_tasks(limit_a_join, NULL));
}

static struct err *shield_from_deadlines(void *arg)
{
    AUTO(deadline) struct deadline d;
    uint64_t duration_ms = 2000;
    struct err *sleep, *group, *inside;

    deadline_begin(&d, 1000, "the work");
    task_shield_begin();
    sleep = task_sleep(2000);
    group = sleep_in_a_child(&duration_ms);
    inside = limited_sleep(500, "the clean-up", 5000);
    task_shield_end();
    TRY(sleep);
    TRY(group);
    EXPECT_TEXT(inside, "the clean-up took longer than 500 ms");
    EXPECT(now_ms() == 4500);
    EXPECT_TEXT(task_yield(), "the work took longer than 1 s");
    return NULL;
}

TEST(a_shield_hides_the_deadlines_begun_outside_and_not_those_inside)
{
    assert_ok(run_tasks(shield_from_deadlines, NULL));
}

static struct err *cancelled_and_late(void *arg)
{
    struct err **ret = arg;
    AUTO(deadline) struct deadline d;

    deadline_begin(&d, 100, "the child");
    *ret = task_sleep(1000);
    return NULL;
}

static struct err *cancel_a_late_child(void *arg)
{
    struct err *result = NULL, *e;
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "child", cancelled_and_late, &result);
    e = task_sleep(100); /* its timer was set first, so the child has not run yet */
    group_cancel(&g);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT_ERR(result, ERR_CANCELLED);
    return NULL;
}

TEST(cancelled_wins_over_timeout)
{
    assert_ok(run_tasks(cancel_a_late_child, NULL));
}

static struct err *never_ends(void *arg)
{
    AUTO(deadline) struct deadline d;

    deadline_begin(&d, UINT64_MAX, "eternity");
    TRY(task_sleep(1));
    return task_sleep(1000);
}

TEST(a_deadline_may_be_as_far_away_as_the_numbers_go)
{
    assert_ok(run_tasks(never_ends, NULL));
}

RUN_TESTS(UNIT(the_error_names_the_thing_and_the_time_it_had),
          UNIT(a_deadline_that_was_kept_leaves_nothing_behind),
          UNIT(every_wait_fails_until_the_scope_of_the_deadline_ends),
          UNIT(the_earliest_of_nested_deadlines_counts),
          UNIT(children_and_their_children_inherit_the_deadline),
          UNIT(a_childs_own_deadline_nests_in_the_inherited_one),
          UNIT(a_deadline_begun_after_the_group_limits_its_end_and_cancels_the_children),
          UNIT(a_join_that_timed_out_leaves_the_children_alone),
          UNIT(a_shield_hides_the_deadlines_begun_outside_and_not_those_inside),
          UNIT(cancelled_wins_over_timeout), UNIT(a_deadline_may_be_as_far_away_as_the_numbers_go))
