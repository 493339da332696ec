/* host_test.c - what a process has once: who shares it, and when it ends. */
#include "sdk/host.h"

#include "files.h"
#include "sys/loop.h"
#include "sys/tasks.h"

struct world {
    struct temp_dir dir;
    struct arena arena;
    struct host *host;
};

static void world_done(struct world *w)
{
    host_unref(w->host);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

static struct host *host_with(struct world *w, const char *const *variables)
{
    const char **environment = ARENA_ARRAY(&w->arena, 4, const char *);

    for (size_t i = 0; variables[i]; i++)
        environment[i] = variables[i];
    return host_new(&(struct host_options){.environment = environment});
}

static const char *variable(struct world *w, const char *name, const char *below)
{
    return arena_format(&w->arena, "%s=%s%s", name, w->dir.path, below).p;
}

static struct world new_world(void)
{
    struct world w = {.dir = temp_dir_make()};

    w.host = host_with(&w, (const char *const[]){variable(&w, "HOME", ""), NULL});
    return w;
}

TEST(its_home_is_keel_home_else_below_the_persons_home)
{
    AUTO(world) struct world w = new_world();
    AUTO(host)
    struct host *named = host_with(
        &w, (const char *const[]){variable(&w, "HOME", ""), "KEEL_HOME=/elsewhere", NULL});
    AUTO(host)
    struct host *empty =
        host_with(&w, (const char *const[]){variable(&w, "HOME", ""), "KEEL_HOME=", NULL});
    AUTO(host)
    struct host *gone = host_with(&w, (const char *const[]){variable(&w, "HOME", "/gone"), NULL});

    assert_string_equal(host_home(w.host), arena_format(&w.arena, "%s/.keel", w.dir.path).p);
    assert_string_equal(host_home(named), "/elsewhere");
    assert_string_equal(host_home(empty), host_home(w.host));
    assert_null(host_home(gone));
}

/* --- the loop --- */

static struct err *ask_for_clients(void *arg)
{
    struct world *w = arg;
    struct http_client *plain = host_http(w->host, NULL);

    EXPECT(plain == host_http(w->host, NULL));
    EXPECT(host_http(w->host, "/a.pem") != plain);
    EXPECT(host_http(w->host, "/a.pem") == host_http(w->host, "/a.pem"));
    EXPECT(host_http(w->host, "/a.pem") != host_http(w->host, "/b.pem"));
    return NULL;
}

TEST(those_who_trust_the_same_authorities_share_a_client)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(ask_for_clients, &w));
}

TEST(it_ends_after_the_loop_that_it_used)
{
    struct world w = new_world();

    assert_ok(loop_run_once(ask_for_clients, &w));
    world_done(&w);
}

static struct err *end_in_a_task(void *arg)
{
    struct world *w = arg;

    TRY(ask_for_clients(w));
    host_unref(TAKE(w->host));
    return NULL;
}

TEST(it_ends_in_a_task_of_that_loop)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(end_in_a_task, &w));
}

TEST(a_loop_that_follows_has_clients_of_its_own)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(ask_for_clients, &w));
    assert_ok(loop_run_once(ask_for_clients, &w));
}

/* --- work between calls --- */

static struct err *sleep_long(void *arg)
{
    bool *was_cancelled = arg;
    struct err *e = task_sleep(3600 * 1000);

    *was_cancelled = err_is(e, ERR_CANCELLED);
    return e;
}

struct left_work {
    struct world world;
    bool was_cancelled;
};

static struct err *leave_work(void *arg)
{
    struct left_work *x = arg;

    group_spawn(host_tasks(x->world.host), "sleeper", sleep_long, &x->was_cancelled);
    TRY(task_sleep(1));
    host_unref(TAKE(x->world.host));
    EXPECT(x->was_cancelled);
    EXPECT(now_ms() == 1);
    return NULL;
}

TEST(work_that_is_left_is_cancelled_and_joined_when_the_host_ends)
{
    struct left_work x = {.world = new_world()};

    assert_ok(run_tasks(leave_work, &x));
    world_done(&x.world);
}

static struct err *begin_group(void *arg)
{
    struct left_work *x = arg;
    struct group *g = host_tasks(x->world.host);

    group_spawn(g, "sleeper", sleep_long, &x->was_cancelled);
    return NULL;
}

TEST(work_outlives_the_task_that_began_it)
{
    struct left_work x = {.world = new_world()};

    assert_ok(run_tasks(begin_group, &x));
    assert_false(x.was_cancelled);
    world_done(&x.world);
}

/* --- stores --- */

static struct err *open_stores(void *arg)
{
    struct world *w = arg;
    struct str path = arena_format(&w->arena, "%s/a.db", w->dir.path),
               name = arena_format(&w->arena, "sqlite:%" STR_FMT, STR_ARG(path)),
               link = arena_format(&w->arena, "%s/link.db", w->dir.path),
               other = arena_format(&w->arena, "files:%s/b", w->dir.path);
    struct store *stores[5];
    bool is_kept[5];

    EXPECT(symlink(path.p, link.p) == 0);
    TRY(host_open_store(w->host, path, 0, &stores[0], &is_kept[0]));
    TRY(host_open_store(w->host, name, 0, &stores[1], &is_kept[1]));
    TRY(host_open_store(w->host, link, 0, &stores[2], &is_kept[2]));
    TRY(host_open_store(w->host, other, 0, &stores[3], &is_kept[3]));
    TRY(host_open_store(w->host, path, 5, &stores[4], &is_kept[4]));
    EXPECT(stores[0] == stores[1] && stores[1] == stores[2]);
    EXPECT(stores[3] != stores[0] && stores[4] != stores[0]);
    for (size_t i = 0; i < 5; i++)
        EXPECT(is_kept[i]);
    for (size_t i = 0; i < 5; i++)
        host_close_store(w->host, stores[i]);
    return NULL;
}

TEST(stores_of_the_same_place_are_one_by_whatever_name)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(open_stores, &w));
}

static struct err *use_after_another_has_closed(void *arg)
{
    struct world *w = arg;
    struct store *first, *second;
    struct store_summary found;
    bool is_kept, exists;

    TRY(host_open_store(w->host, (struct str){0}, 0, &first, &is_kept));
    EXPECT(is_kept);
    TRY(host_open_store(w->host, (struct str){0}, 0, &second, &is_kept));
    host_close_store(w->host, first);
    TRY(store_find(second, S("some"), &w->arena, &found, &exists));
    EXPECT(!exists);
    host_close_store(w->host, second);
    host_close_store(w->host, NULL);
    return NULL;
}

TEST(a_store_lives_until_the_last_who_opened_it_has_closed_it)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(use_after_another_has_closed, &w));
}

static struct err *open_in_memory(void *arg)
{
    struct world *w = arg;
    AUTO(host)
    struct host *homeless = host_new(
        &(struct host_options){.environment = (const char *const[]){"PATH=/usr/bin", NULL}});
    struct store *a, *b, *c;
    bool is_kept;

    TRY(host_open_store(w->host, S("memory:"), 0, &a, &is_kept));
    EXPECT(!is_kept);
    TRY(host_open_store(w->host, S("memory:"), 0, &b, &is_kept));
    EXPECT(a != b);
    TRY(host_open_store(homeless, (struct str){0}, 0, &c, &is_kept));
    EXPECT(!is_kept);
    host_close_store(w->host, a);
    host_close_store(w->host, b);
    host_close_store(homeless, c);
    return NULL;
}

TEST(what_is_only_in_memory_is_not_shared)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(open_in_memory, &w));
}

/* --- what is kept warm --- */

struct stove {
    struct host_warm warm;
    bool is_stuck;
    unsigned n_asked, n_cooled;
};

static bool stove_cool(struct host_warm *w)
{
    struct stove *s = (struct stove *)w;

    s->n_asked++;
    s->n_cooled += !s->is_stuck;
    return !s->is_stuck;
}

static void keep_all(struct host *h, struct stove *stoves, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        stoves[i].warm.cool = stove_cool;
        host_keep_warm(h, &stoves[i].warm);
    }
}

TEST(the_one_that_was_used_longest_ago_cools_first)
{
    AUTO(world) struct world w = new_world();
    struct stove stoves[HOST_MAX_WARM + 1] = {0};

    keep_all(w.host, stoves, HOST_MAX_WARM);
    host_take_warm(&stoves[0].warm);
    host_keep_warm(w.host, &stoves[0].warm);
    assert_int_equal(stoves[1].n_cooled, 0);
    stoves[HOST_MAX_WARM].warm.cool = stove_cool;
    host_keep_warm(w.host, &stoves[HOST_MAX_WARM].warm);
    for (size_t i = 0; i < ARRAY_LEN(stoves); i++) {
        assert_int_equal(stoves[i].n_cooled, i == 1);
        host_take_warm(&stoves[i].warm);
    }
}

TEST(what_cannot_cool_now_is_asked_again_and_takes_no_place)
{
    AUTO(world) struct world w = new_world();
    struct stove stoves[HOST_MAX_WARM + 2] = {{.is_stuck = true}};

    keep_all(w.host, stoves, HOST_MAX_WARM + 1);
    assert_int_equal(stoves[1].n_cooled, 0);
    stoves[0].is_stuck = false;
    stoves[HOST_MAX_WARM + 1].warm.cool = stove_cool;
    host_keep_warm(w.host, &stoves[HOST_MAX_WARM + 1].warm);
    for (size_t i = 0; i < ARRAY_LEN(stoves); i++) {
        assert_int_equal(stoves[i].n_cooled, i < 2);
        host_take_warm(&stoves[i].warm);
    }
}

TEST(many_that_cannot_cool_are_asked_a_few_at_a_time)
{
    AUTO(world) struct world w = new_world();
    struct stove stoves[1000];
    unsigned n_asked = 0;

    for (size_t i = 0; i < ARRAY_LEN(stoves); i++)
        stoves[i] = (struct stove){.is_stuck = true};
    keep_all(w.host, stoves, ARRAY_LEN(stoves));
    for (size_t i = 0; i < ARRAY_LEN(stoves); i++) {
        n_asked += stoves[i].n_asked;
        host_take_warm(&stoves[i].warm);
    }
    assert_in_range(n_asked, ARRAY_LEN(stoves), 3 * ARRAY_LEN(stoves));
}

RUN_TESTS(UNIT(its_home_is_keel_home_else_below_the_persons_home),
          UNIT(those_who_trust_the_same_authorities_share_a_client),
          UNIT(it_ends_after_the_loop_that_it_used), UNIT(it_ends_in_a_task_of_that_loop),
          UNIT(a_loop_that_follows_has_clients_of_its_own),
          UNIT(work_that_is_left_is_cancelled_and_joined_when_the_host_ends),
          UNIT(work_outlives_the_task_that_began_it),
          UNIT(stores_of_the_same_place_are_one_by_whatever_name),
          UNIT(a_store_lives_until_the_last_who_opened_it_has_closed_it),
          UNIT(what_is_only_in_memory_is_not_shared),
          UNIT(the_one_that_was_used_longest_ago_cools_first),
          UNIT(what_cannot_cool_now_is_asked_again_and_takes_no_place),
          UNIT(many_that_cannot_cool_are_asked_a_few_at_a_time))
