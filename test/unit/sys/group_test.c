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
          UNIT(children_that_never_wait_and_empty_groups_are_joined))
