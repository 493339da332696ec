/* group_test.c - bounds, order, errors and cancel of groups. */
#include "sys/tasks.h"

struct child {
    uint64_t sleep_ms;
    enum err_kind kind; /* to fail with; 0 means fine here, no test needs that kind */
    struct scene *scene;
    struct err *sleep_result;
    char name;
};

struct scene {
    struct child children[8];
    unsigned n_running, max_running;
    struct strbuf log;
};

static struct err *play(void *arg)
{
    struct child *c = arg;
    struct scene *s = c->scene;

    s->n_running++;
    s->max_running = MAX(s->max_running, s->n_running);
    strbuf_addf(&s->log, "+%c", c->name);
    err_free(c->sleep_result); /* of an earlier part */
    c->sleep_result = task_sleep(c->sleep_ms);
    s->n_running--;
    strbuf_addf(&s->log, "-%c", c->name);
    if (c->sleep_result)
        return err_copy(c->sleep_result);
    return c->kind ? err_new(c->kind, "%c failed", c->name) : NULL;
}

static void spawn_all(struct group *g, struct scene *s)
{
    for (unsigned i = 0; i < ARRAY_LEN(s->children) && s->children[i].sleep_ms; i++) {
        s->children[i].scene = s;
        s->children[i].name = (char)('a' + i);
        group_spawn(g, "child", play, &s->children[i]);
    }
}

static void scene_done(struct scene *s)
{
    for (unsigned i = 0; i < ARRAY_LEN(s->children); i++)
        err_free(s->children[i].sleep_result);
    strbuf_done(&s->log);
}
DEFINE_AUTO_VAL(scene, scene_done)

/* Ends the scene's group and compares what happened. */
#define EXPECT_SCENE(s, max, flags, want_text, want_log)                                           \
    do {                                                                                           \
        struct group g_;                                                                           \
        AUTO(err) struct err *e_ = NULL;                                                           \
        group_begin(&g_, (max), (flags));                                                          \
        spawn_all(&g_, (s));                                                                       \
        e_ = group_end(&g_);                                                                       \
        EXPECT(strcmp(e_ ? e_->text : "fine", (want_text)) == 0);                                  \
        EXPECT(strcmp(strbuf_cstr(&(s)->log), (want_log)) == 0);                                   \
    } while (0)

static struct err *without_bound(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{30}, {20}, {10}}};

    EXPECT_SCENE(&s, 0, 0, "fine", "+a+b+c-c-b-a");
    EXPECT(s.max_running == 3);
    return NULL;
}

TEST(children_start_in_order_and_run_side_by_side)
{
    assert_ok(run_tasks(without_bound, NULL));
}

static struct err *with_bound(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{30}, {20}, {5}, {20}, {1}, {1}}};

    EXPECT_SCENE(&s, 2, 0, "fine", "+a+b-b+c-c+d-a+e-e+f-f-d");
    EXPECT(s.max_running == 2);
    return NULL;
}

TEST(a_bound_is_kept_and_those_who_wait_start_in_order)
{
    assert_ok(run_tasks(with_bound, NULL));
}

static struct err *one_at_a_time(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{3}, {2}, {1}}};

    EXPECT_SCENE(&s, 1, 0, "fine", "+a-a+b-b+c-c");
    return NULL;
}

TEST(a_bound_of_one_makes_a_queue)
{
    assert_ok(run_tasks(one_at_a_time, NULL));
}

static struct err *one_fails(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{30}, {20}, {10, ERR_NETWORK}, {40}}};

    EXPECT_SCENE(&s, 0, 0, "c failed", "+a+b+c+d-c-a-b-d");
    EXPECT(err_is(s.children[0].sleep_result, ERR_CANCELLED));
    EXPECT(now_ms() == 10);
    return NULL;
}

TEST(the_first_failure_cancels_the_siblings_and_is_the_result)
{
    assert_ok(run_tasks(one_fails, NULL));
}

static struct err *one_fails_while_others_wait_for_their_turn(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{10, ERR_NETWORK}, {20}, {20}}};

    EXPECT_SCENE(&s, 1, 0, "a failed", "+a-a+b-b+c-c");
    EXPECT(err_is(s.children[2].sleep_result, ERR_CANCELLED));
    EXPECT(now_ms() == 10);
    return NULL;
}

TEST(children_that_had_not_started_run_cancelled)
{
    assert_ok(run_tasks(one_fails_while_others_wait_for_their_turn, NULL));
}

static struct err *two_fail_at_once(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{20}, {10, ERR_STORAGE}, {10, ERR_NETWORK}}};

    EXPECT_SCENE(&s, 0, 0, "b failed", "+a+b+c-b-c-a");
    return NULL;
}

TEST(of_several_errors_the_first_in_order_of_spawning_is_the_result)
{
    assert_ok(run_tasks(two_fail_at_once, NULL));
}

static struct err *keep_going(void *arg)
{
    AUTO(scene)
    struct scene s = {.children = {{40}, {30, ERR_STORAGE}, {10, ERR_NETWORK}, {20}}};

    EXPECT_SCENE(&s, 0, GROUP_KEEP_GOING, "b failed", "+a+b+c+d-c-d-b-a");
    EXPECT(now_ms() == 40);
    return NULL;
}

TEST(with_keep_going_the_siblings_finish_and_the_first_error_is_the_result)
{
    assert_ok(run_tasks(keep_going, NULL));
}

static struct err *cancel_from_the_inside(void *arg)
{
    group_cancel(arg);
    return NULL;
}

static struct err *a_child_cancels_its_group(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{10}, {20}}};
    AUTO(err) struct err *e = NULL;
    struct group g;

    group_begin(&g, 0, 0);
    spawn_all(&g, &s);
    group_spawn(&g, "canceller", cancel_from_the_inside, &g);
    e = group_end(&g);
    EXPECT(err_is(e, ERR_CANCELLED));
    EXPECT(strcmp(strbuf_cstr(&s.log), "+a+b-a-b") == 0);
    return NULL;
}

TEST(a_cancelled_group_ends_with_cancelled_though_its_owner_is_not)
{
    assert_ok(run_tasks(a_child_cancels_its_group, NULL));
}

static struct err *join_twice(void *arg)
{
    AUTO(scene) struct scene s = {.children = {{10}, {20}}};
    struct err *first, *second, *end;
    struct group g;

    group_begin(&g, 0, 0);
    spawn_all(&g, &s);
    first = group_join(&g);
    strbuf_add_char(&s.log, '|');
    s.children[0].kind = ERR_NETWORK;
    spawn_all(&g, &s);
    second = group_join(&g);
    strbuf_add_char(&s.log, '|');
    spawn_all(&g, &s);
    end = group_end(&g);
    TRY(first);
    EXPECT_TEXT(second, "a failed");
    EXPECT_ERR(end, ERR_CANCELLED);
    EXPECT(strcmp(strbuf_cstr(&s.log), "+a+b-a-b|+a+b-a-b|+a-a+b-b") == 0);
    return NULL;
}

TEST(a_join_leaves_the_group_open_and_a_cancelled_group_stays_cancelled)
{
    assert_ok(run_tasks(join_twice, NULL));
}

struct relay {
    struct group *group;
    unsigned n_left;
};

static struct err *pass_on(void *arg)
{
    struct relay *r = arg;

    TRY(task_sleep(1));
    if (r->n_left-- > 0)
        group_spawn(r->group, "next", pass_on, r);
    return NULL;
}

static struct err *children_spawn_siblings(void *arg)
{
    struct group g;
    struct relay r = {.group = &g, .n_left = 5};

    group_begin(&g, 1, 0);
    group_spawn(&g, "first", pass_on, &r);
    TRY(group_end(&g));
    EXPECT(now_ms() == 6);
    return NULL;
}

TEST(a_group_waits_for_siblings_that_its_children_spawned)
{
    assert_ok(run_tasks(children_spawn_siblings, NULL));
}

static struct err *nothing(void *arg)
{
    return NULL;
}

static struct err *many_short_lives(void *arg)
{
    for (unsigned round = 0; round < 20; round++) {
        struct group g;

        group_begin(&g, 3, 0);
        for (unsigned i = 0; i < 50; i++)
            group_spawn(&g, "short", nothing, NULL);
        TRY(group_end(&g));
        group_begin(&g, 3, 0);
        TRY(group_end(&g));
    }
    return NULL;
}

TEST(children_that_never_wait_and_empty_groups_are_joined)
{
    assert_ok(run_tasks(many_short_lives, NULL));
}

static struct err *forget_to_end(void *arg)
{
    struct group g;

    group_begin(&g, 0, 0);
    return NULL;
}

static void run_forgetful(void)
{
    err_ignore(run_tasks(forget_to_end, NULL), "it aborts before");
}

TEST(returning_with_a_group_open_aborts)
{
    assert_aborts(run_forgetful, "a task returned with a group, a deadline or a shield open");
}

/* --- groups of no task --- */

struct lasting {
    struct group outer, inner;
    struct scene scene;
};

static struct err *begin_lasting(void *arg)
{
    struct lasting *x = arg;

    group_begin_in(&x->outer, NULL);
    group_begin_in(&x->inner, &x->outer);
    spawn_all(&x->inner, &x->scene);
    return NULL;
}

static struct err *end_lasting(void *arg)
{
    struct lasting *x = arg;
    unsigned n_before = x->scene.n_running;
    AUTO(err) struct err *e = group_end(&x->inner), *outer = group_end(&x->outer);

    EXPECT(n_before > 0 && x->scene.n_running == 0 && !outer);
    return TAKE(e);
}

/* Each part is a task of its own. */
static struct err *in_two_tasks(struct lasting *x, task_fn first, task_fn second)
{
    struct group g;

    group_begin(&g, 1, 0);
    group_spawn(&g, "first", first, x);
    TRY(group_join(&g));
    group_spawn(&g, "second", second, x);
    return group_end(&g);
}

static struct err *begin_here_end_there(void *arg)
{
    AUTO(scene) struct scene after = {0};
    struct lasting x = {.scene = {.children = {{30}, {10}}}};
    struct err *e = in_two_tasks(&x, begin_lasting, end_lasting);

    after = x.scene;
    TRY(e);
    EXPECT(strcmp(strbuf_cstr(&after.log), "+a+b-b-a") == 0);
    EXPECT(now_ms() == 30);
    return NULL;
}

TEST(a_group_of_no_task_is_begun_by_one_task_and_ended_by_another)
{
    assert_ok(run_tasks(begin_here_end_there, NULL));
}

static struct err *begin_and_wait(void *arg)
{
    TRY(begin_lasting(arg));
    return task_sleep(100);
}

static struct err *cancel_who_began(void *arg)
{
    AUTO(scene) struct scene after = {0};
    struct lasting x = {.scene = {.children = {{30}}}};
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "begins", begin_and_wait, &x);
    e = task_sleep(10);
    group_cancel(&g);
    err_free(group_end(&g));
    if (!e)
        e = end_lasting(&x);
    after = x.scene;
    TRY(e);
    EXPECT(after.children[0].sleep_result == NULL);
    EXPECT(now_ms() == 30);
    return NULL;
}

TEST(cancelling_the_task_that_began_a_group_of_no_task_does_not_reach_it)
{
    assert_ok(run_tasks(cancel_who_began, NULL));
}

static struct err *fail_in_lasting(void *arg)
{
    AUTO(scene) struct scene after = {0};
    struct lasting x = {.scene = {.children = {{10, ERR_NETWORK}, {20}}}};
    struct err *e;

    TRY(begin_lasting(&x));
    EXPECT_TEXT(group_end(&x.inner), "a failed");
    e = group_end(&x.outer);
    after = x.scene;
    TRY(e);
    EXPECT(after.children[1].sleep_result == NULL);
    return NULL;
}

TEST(a_child_that_fails_in_a_group_of_no_task_cancels_nobody)
{
    assert_ok(run_tasks(fail_in_lasting, NULL));
}

static struct err *cancel_outer(void *arg)
{
    AUTO(scene) struct scene after = {0};
    struct lasting x = {.scene = {.children = {{30}}}};
    struct group late;
    struct err *e;

    TRY(begin_lasting(&x));
    TRY(task_sleep(10));
    group_cancel(&x.outer);
    group_begin_in(&late, &x.outer);
    e = group_end(&x.inner);
    EXPECT(late.cancelled);
    TRY(group_end(&late));
    TRY(group_end(&x.outer));
    EXPECT_ERR(e, ERR_CANCELLED);
    after = x.scene;
    EXPECT_ERR(TAKE(after.children[0].sleep_result), ERR_CANCELLED);
    EXPECT(now_ms() == 10);
    return NULL;
}

TEST(cancelling_a_group_of_no_task_cancels_those_in_it_now_and_later)
{
    assert_ok(run_tasks(cancel_outer, NULL));
}

TEST(a_loop_runs_until_the_children_of_groups_of_no_task_have_ended)
{
    AUTO(scene) struct scene after = {0};
    struct lasting x = {.scene = {.children = {{30}}}};
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 0);
    l = loop_new(&clock.clock);
    assert_ok(loop_run(l, begin_lasting, &x));
    assert_string_equal(strbuf_cstr(&x.scene.log), "+a-a");
    assert_ok(group_end(&x.inner)); /* no child is left: no task is needed */
    assert_ok(group_end(&x.outer));
    after = x.scene;
}

static struct err *spawn_again(void *arg)
{
    struct lasting *x = arg;

    strbuf_clear(&x->scene.log);
    spawn_all(&x->inner, &x->scene);
    TRY(task_sleep(1));
    return end_lasting(x);
}

TEST(a_group_of_no_task_outlives_the_root_task)
{
    AUTO(scene) struct scene after = {0};
    struct lasting x = {.scene = {.children = {{30}}}};
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 0);
    l = loop_new(&clock.clock);
    assert_ok(loop_run(l, begin_lasting, &x));
    assert_ok(loop_run(l, spawn_again, &x));
    assert_string_equal(strbuf_cstr(&x.scene.log), "+a-a");
    after = x.scene;
}

static struct err *cancel_loop(void *arg)
{
    struct lasting *x = arg;

    TRY(begin_lasting(x));
    TRY(task_sleep(10));
    loop_cancel(task_loop());
    return end_lasting(x);
}

TEST(cancelling_the_loop_reaches_groups_of_no_task)
{
    AUTO(scene) struct scene after = {0};
    struct lasting x = {.scene = {.children = {{30}}}};

    assert_err(run_tasks(cancel_loop, &x), ERR_CANCELLED);
    after = x.scene;
    assert_err(TAKE(after.children[0].sleep_result), ERR_CANCELLED);
}

static struct err *end_outer_first(void *arg)
{
    struct lasting x = {0};

    TRY(begin_lasting(&x));
    return group_end(&x.outer);
}

static void end_in_the_wrong_order(void)
{
    err_ignore(run_tasks(end_outer_first, NULL), "it aborts before");
}

static void forget_a_group(void)
{
    struct lasting x = {0};

    err_ignore(run_tasks(begin_lasting, &x), "it aborts before");
}

TEST(a_group_that_ends_before_one_in_it_or_is_forgotten_aborts)
{
    assert_aborts(end_in_the_wrong_order, "a group ended before one in it");
    assert_aborts(forget_a_group, "a loop is freed before a group in it has ended");
}

RUN_TESTS(UNIT(returning_with_a_group_open_aborts),
          UNIT(children_start_in_order_and_run_side_by_side),
          UNIT(a_bound_is_kept_and_those_who_wait_start_in_order),
          UNIT(a_bound_of_one_makes_a_queue),
          UNIT(the_first_failure_cancels_the_siblings_and_is_the_result),
          UNIT(children_that_had_not_started_run_cancelled),
          UNIT(of_several_errors_the_first_in_order_of_spawning_is_the_result),
          UNIT(with_keep_going_the_siblings_finish_and_the_first_error_is_the_result),
          UNIT(a_cancelled_group_ends_with_cancelled_though_its_owner_is_not),
          UNIT(a_join_leaves_the_group_open_and_a_cancelled_group_stays_cancelled),
          UNIT(a_group_waits_for_siblings_that_its_children_spawned),
          UNIT(children_that_never_wait_and_empty_groups_are_joined),
          UNIT(a_group_of_no_task_is_begun_by_one_task_and_ended_by_another),
          UNIT(cancelling_the_task_that_began_a_group_of_no_task_does_not_reach_it),
          UNIT(a_child_that_fails_in_a_group_of_no_task_cancels_nobody),
          UNIT(cancelling_a_group_of_no_task_cancels_those_in_it_now_and_later),
          UNIT(a_loop_runs_until_the_children_of_groups_of_no_task_have_ended),
          UNIT(a_group_of_no_task_outlives_the_root_task),
          UNIT(cancelling_the_loop_reaches_groups_of_no_task),
          UNIT(a_group_that_ends_before_one_in_it_or_is_forgotten_aborts))
