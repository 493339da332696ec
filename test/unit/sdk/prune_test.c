/* prune_test.c - which sessions go, by age and by size, and when no clock is to be believed. */
#include "files.h"
#include "sys/in_task.h"
#include "temp_dir.h"

#include "sdk/prune.h"
#include "store/memory.h"

#define DAY ((int64_t)24 * 60 * 60 * 1000)
#define NOW (1000 * DAY)

/* A session that was used so many days ago. */
static void add(struct store *s, const char *id, const char *name, int64_t days, bool stays_open)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {
        .id = str_of(id), .name = str_of(name), .created_ms = NOW - days * DAY};
    struct store_record r = {.seq = 1,
                             .n_events = 1,
                             .unix_ms = NOW - days * DAY,
                             .type = S("notice"),
                             .body = S("{}"),
                             .n_payload_bytes = 98};
    struct store_lease lease;

    assert_ok(store_open(s, str_of(id), &create, &a, &lease));
    assert_ok(store_append(s, str_of(id), 1, lease.fence, &r, 1, NULL));
    if (!stays_open)
        store_close(s, str_of(id), lease.fence);
}

static void assert_pruned(struct store *s, struct prune_limits limits, const char *want)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    struct prune_report report;

    assert_ok(prune_plan(s, &limits, S("this-one"), NOW, &a, &report));
    for (size_t i = 0; i < report.n; i++)
        strbuf_addf(&got, "%s%" STR_FMT, i ? " " : "", STR_ARG(report.items[i].id));
    assert_str(strbuf_str(&got), want);
    assert_int_equal(report.n_bytes, 100 * report.n);
}

static struct store *some_sessions(void)
{
    struct store *s = store_memory_new();

    add(s, "new", "", 1, false);
    add(s, "older", "", 91, false);
    add(s, "oldest", "", 400, false);
    add(s, "named", "keep me", 500, false);
    add(s, "opened", "", 600, true);
    add(s, "this-one", "", 700, false);
    return s;
}

IN_TASK(the_old_go_but_not_what_is_named_or_open_or_at_work)
{
    AUTO(store) struct store *s = some_sessions();

    assert_pruned(s, (struct prune_limits){.days = 90}, "oldest older");
    assert_pruned(s, (struct prune_limits){.days = 365}, "oldest");
    assert_pruned(s, (struct prune_limits){0}, "");
}

IN_TASK(without_room_the_oldest_go_until_there_is)
{
    AUTO(store) struct store *s = some_sessions();

    assert_pruned(s, (struct prune_limits){.bytes = 600}, "");
    assert_pruned(s, (struct prune_limits){.bytes = 599}, "oldest");
    assert_pruned(s, (struct prune_limits){.bytes = 401}, "oldest older");
    assert_pruned(s, (struct prune_limits){.bytes = 1}, "oldest older new");
    assert_pruned(s, (struct prune_limits){.days = 90, .bytes = 599}, "oldest older");
    assert_pruned(s, (struct prune_limits){.days = 365, .bytes = 499}, "oldest older");
    assert_pruned(s, (struct prune_limits){.days = 365, .bytes = 500}, "oldest");
}

IN_TASK(one_that_was_opened_meanwhile_is_left)
{
    AUTO(store) struct store *s = some_sessions();
    AUTO(arena) struct arena a = {0};
    struct prune_report report;
    struct store_lease lease;

    assert_ok(prune_plan(s, &(struct prune_limits){.days = 90}, (struct str){0}, NOW, &a, &report));
    assert_int_equal(report.n, 3);
    assert_ok(store_open(s, S("older"), NULL, &a, &lease));
    assert_ok(prune_apply(s, &report));
    assert_int_equal(report.n, 2);
}

/* --- clocks --- */

/* A home, a store, and runs at some day: each uses a session of its own and removes what is old. */
struct world {
    struct temp_dir home;
    struct store *store;
    int64_t day; /* after NOW */
    const char *id;
    struct prune_report report;
    struct arena arena;
};

static void world_done(struct world *w)
{
    store_free(w->store);
    arena_done(&w->arena);
    temp_dir_done(&w->home);
}
DEFINE_AUTO_VAL(world, world_done)

static struct world new_world(void)
{
    return (struct world){.home = temp_dir_make(), .store = store_memory_new()};
}

static struct err *use_and_prune(void *arg)
{
    struct world *w = arg;
    const char *environment[] = {
        arena_format(&w->arena, "KEEL_HOME=%s", w->home.path).p,
        arena_format(&w->arena, "HOME=%s", w->home.path).p,
        NULL,
    };
    AUTO(host) struct host *h = host_new(&(struct host_options){.environment = environment});
    AUTO(project) struct project *p = NULL;

    assert_ok(project_open(h, &(struct project_options){.cwd = w->home.path}, &p));
    add(w->store, w->id, "", -w->day, false);
    return prune_daily(p, w->store, str_of(w->id), &w->arena, &w->report);
}

static void run_at(struct world *w, int64_t day, const char *id)
{
    AUTO(loop) struct loop *l = NULL;
    struct virtual_clock clock;

    virtual_clock_init(&clock, NOW + day * DAY);
    l = loop_new(&clock.clock);
    w->day = day;
    w->id = id;
    assert_ok(loop_run(l, use_and_prune, w));
}

struct prune_listing {
    struct store *store;
    struct strbuf *out;
};

static struct err *list_all(void *arg)
{
    const struct prune_listing *l = arg;
    AUTO(arena) struct arena a = {0};
    struct store_summary *items;
    size_t n;

    TRY(store_list(l->store, &(struct store_list_query){0}, &a, &items, &n));
    for (size_t i = 0; i < n; i++)
        strbuf_addf(l->out, "%s%" STR_FMT, i ? " " : "", STR_ARG(items[i].id));
    return NULL;
}

/* The newest first. */
static void assert_left(struct world *w, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};

    assert_ok(loop_run_once(list_all, &(struct prune_listing){w->store, &got}));
    assert_str(strbuf_str(&got), want);
}

TEST(what_is_old_goes_when_time_passes_as_it_should)
{
    AUTO(world) struct world w = new_world();
    char ids[40][8];

    run_at(&w, 0, "first");
    for (int i = 0; i < 40; i++) {
        snprintf(ids[i], sizeof ids[i], "day%d", 3 * i + 3);
        run_at(&w, 3 * i + 3, ids[i]);
        if (3 * i + 3 == 93)
            assert_int_equal(w.report.n, 1);
    }
    assert_int_equal(w.report.n, 1); /* of each day, the one of three months before */
}

TEST(a_run_with_the_clock_400_days_ahead_removes_nothing_and_says_why)
{
    AUTO(world) struct world w = new_world();
    AUTO(strbuf) struct strbuf text = {0};

    run_at(&w, 0, "one");
    run_at(&w, 1, "two");
    run_at(&w, 401, "ahead");
    assert_int_equal(w.report.n, 0);
    assert_int_equal(w.report.n_held, 2);
    assert_int_equal(w.report.days_ahead, 400);
    prune_describe_held(&w.report, &text);
    assert_non_null(strstr(strbuf_cstr(&text), "400 days ahead"));
    assert_non_null(strstr(strbuf_cstr(&text), "keel session prune --trust-clock"));
    run_at(&w, 402, "still-ahead");
    assert_int_equal(w.report.n, 0);
    run_at(&w, 3, "right-again");
    assert_int_equal(w.report.n, 0);
    assert_int_equal(w.report.n_held, 0);
    run_at(&w, 403, "once-more");
    assert_int_equal(w.report.n, 0);
}

/* As in a container that is made for one run: nothing of what keel knew is there but the store. */
static void run_in_new_home_at(struct world *w, int64_t day, const char *id)
{
    temp_dir_done(&w->home);
    w->home = temp_dir_make();
    run_at(w, day, id);
}

TEST(runs_with_the_clock_ahead_and_a_new_home_each_remove_nothing)
{
    AUTO(world) struct world w = new_world();

    for (int i = 0; i < 4; i++)
        run_in_new_home_at(&w, i, (const char *[]){"one", "two", "three", "four"}[i]);
    run_in_new_home_at(&w, 403, "ahead");
    assert_int_equal(w.report.n_held, 4);
    assert_int_equal(w.report.days_ahead, 400);
    run_in_new_home_at(&w, 403, "ahead-too");
    run_in_new_home_at(&w, 404, "and-again");
    run_in_new_home_at(&w, 405, "and-again-too");
    assert_int_equal(w.report.n, 0);
    run_in_new_home_at(&w, 4, "right");
    assert_int_equal(w.report.n, 0);
}

static struct err *forget_belief(void *arg)
{
    return store_write_belief(arg, &(struct store_belief){0});
}

static struct err *add_two_at_400(void *arg)
{
    add(arg, "wrong", "", -400, false);
    add(arg, "wrong-too", "", -400, false);
    return NULL;
}

TEST(a_first_look_at_a_store_believes_no_time_that_one_or_two_sessions_vouch_for)
{
    AUTO(world) struct world w = new_world();

    for (int i = 0; i < 4; i++)
        run_at(&w, i, (const char *[]){"one", "two", "three", "four"}[i]);
    assert_ok(loop_run_once(forget_belief, w.store));
    assert_ok(loop_run_once(add_two_at_400, w.store));
    run_at(&w, 400, "ahead");
    assert_int_equal(w.report.n, 0);
    assert_int_equal(w.report.n_held, 4);
    run_at(&w, 401, "still-ahead");
    assert_int_equal(w.report.n, 0);
}

TEST(a_first_look_removes_nothing_for_its_age_and_the_next_one_does)
{
    AUTO(world) struct world w = new_world();

    run_at(&w, 0, "one");
    for (int i = 0; i < 3; i++)
        run_at(&w, 94 + i, (const char *[]){"two", "three", "four"}[i]);
    assert_ok(loop_run_once(forget_belief, w.store));
    run_at(&w, 97, "first-look");
    assert_int_equal(w.report.n, 0);
    run_at(&w, 98, "next-day");
    assert_int_equal(w.report.n, 1);
}

TEST(new_sessions_are_the_newest_after_runs_in_2080_and_in_1970)
{
    AUTO(world) struct world w = new_world();

    run_at(&w, 0, "normal");
    run_at(&w, 20000, "of-2080");
    run_at(&w, -900, "of-1970");
    assert_left(&w, "of-1970 of-2080 normal");
    run_at(&w, 1, "now");
    assert_left(&w, "now of-1970 of-2080 normal");
    run_at(&w, 400, "ahead");
    run_at(&w, 2, "last");
    assert_left(&w, "last ahead now of-1970 of-2080 normal");
}

TEST(after_a_long_pause_sessions_go_little_by_little)
{
    AUTO(world) struct world w = new_world();
    char ids[120][8];
    size_t n_gone = 0;
    int day;

    run_at(&w, 0, "one");
    run_at(&w, 1, "two");
    for (day = 0; day < 120 && n_gone < 2; day++) {
        snprintf(ids[day], sizeof ids[day], "day%d", day);
        run_at(&w, 101 + day, ids[day]);
        n_gone += w.report.n;
    }
    assert_int_equal(n_gone, 2);
    assert_in_range(day, 30, 60);
}

TEST(a_session_used_in_2076_is_not_the_newest_for_ever)
{
    AUTO(world) struct world w = new_world();

    run_at(&w, 0, "one");
    run_at(&w, 50 * 365, "of-2076");
    assert_left(&w, "of-2076 one");
    run_at(&w, 1, "two");
    run_at(&w, 2, "three");
    assert_left(&w, "three two of-2076 one");
}

TEST(a_session_used_while_the_clock_was_years_behind_is_not_old_when_it_is_right_again)
{
    AUTO(world) struct world w = new_world();

    run_at(&w, 0, "one");
    run_at(&w, -10 * 365, "behind");
    assert_int_equal(w.report.n, 0);
    run_at(&w, -10 * 365, "behind-too");
    run_at(&w, 1, "two");
    assert_int_equal(w.report.n, 0);
    assert_left(&w, "two behind-too behind one");
}

/* --- a store with a clock of its own --- */

static struct err *now_by_server(struct store *s, int64_t *ret_unix_ms)
{
    *ret_unix_ms = NOW + 2 * DAY;
    return NULL;
}

TEST(a_store_with_a_clock_of_its_own_is_believed_and_this_machine_is_not)
{
    AUTO(world) struct world w = new_world();
    struct store_ops with_clock = *w.store->ops;
    const struct store_ops *plain = w.store->ops;

    with_clock.now = now_by_server;
    w.store->ops = &with_clock;
    run_at(&w, 0, "one");
    run_at(&w, 400, "ahead");
    assert_int_equal(w.report.n, 0);
    assert_int_equal(w.report.n_held, 0);
    run_at(&w, -400, "behind");
    assert_int_equal(w.report.n, 0);
    w.store->ops = plain;
}

RUN_TESTS(UNIT(what_is_old_goes_when_time_passes_as_it_should),
          UNIT(a_run_with_the_clock_400_days_ahead_removes_nothing_and_says_why),
          UNIT(runs_with_the_clock_ahead_and_a_new_home_each_remove_nothing),
          UNIT(a_first_look_at_a_store_believes_no_time_that_one_or_two_sessions_vouch_for),
          UNIT(a_first_look_removes_nothing_for_its_age_and_the_next_one_does),
          UNIT(new_sessions_are_the_newest_after_runs_in_2080_and_in_1970),
          UNIT(after_a_long_pause_sessions_go_little_by_little),
          UNIT(a_session_used_in_2076_is_not_the_newest_for_ever),
          UNIT(a_session_used_while_the_clock_was_years_behind_is_not_old_when_it_is_right_again),
          UNIT(a_store_with_a_clock_of_its_own_is_believed_and_this_machine_is_not),
          UNIT(the_old_go_but_not_what_is_named_or_open_or_at_work),
          UNIT(without_room_the_oldest_go_until_there_is),
          UNIT(one_that_was_opened_meanwhile_is_left))
