/* prune_test.c - which sessions go, by age and by size. */
#include "sys/in_task.h"
#include "test.h"

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

RUN_TESTS(UNIT(the_old_go_but_not_what_is_named_or_open_or_at_work),
          UNIT(without_room_the_oldest_go_until_there_is),
          UNIT(one_that_was_opened_meanwhile_is_left))
