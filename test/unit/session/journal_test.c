/* journal_test.c */
#include "session/journal.h"
#include "sys/in_task.h"

#include "store/memory.h"
#include "sys/loop.h"

/* A store that can be made to fail, over one in memory. */
struct flaky {
    struct store store;
    struct store *inner;
    struct store_ops ops;
    bool fails, fails_sync;
    unsigned n_appends;
    unsigned n_soon, n_syncs; /* of appends that do not wait for the disk */
    unsigned n_removals; /* so often all blobs that records refer to are removed before an append */
};

static void remove_blobs(struct flaky *f, struct str stream, const struct store_record *records,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < records[i].n_payloads; k++)
            assert_ok(blob_remove(store_blobs(f->inner, stream), records[i].payloads[k]));
}

static struct err *flaky_append(struct store *s, struct str stream, uint64_t expected_seq,
                                uint64_t fence, const struct store_record *records, size_t n,
                                const struct store_summary *update)
{
    struct flaky *f = (struct flaky *)s;

    f->n_appends++;
    if (f->fails)
        return err_new(ERR_STORAGE, "the disk is full");
    if (f->n_removals) {
        f->n_removals--;
        remove_blobs(f, stream, records, n);
    }
    return store_append(f->inner, stream, expected_seq, fence, records, n, update);
}

static struct err *flaky_append_soon(struct store *s, struct str stream, uint64_t expected_seq,
                                     uint64_t fence, const struct store_record *records, size_t n,
                                     const struct store_summary *update)
{
    ((struct flaky *)s)->n_soon++;
    return flaky_append(s, stream, expected_seq, fence, records, n, update);
}

static struct err *flaky_sync(struct store *s)
{
    struct flaky *f = (struct flaky *)s;

    f->n_syncs++;
    return f->fails_sync ? err_new(ERR_STORAGE, "the disk is broken") : NULL;
}

static struct blob_store *flaky_blobs(struct store *s, struct str stream)
{
    return store_blobs(((struct flaky *)s)->inner, stream);
}

struct fixture {
    struct flaky flaky;
    struct group tasks;
    struct journal *journal;
    uint64_t next_seq;
    unsigned n_notices;
    struct event_stream notices;
    struct event_subscriber subscriber;
};

static void count_notice(void *self, const struct event *e)
{
    assert_int_equal(e->type, EVENT_NOTICE);
    assert_int_equal(e->body.notice.severity, SEVERITY_ERROR);
    ((struct fixture *)self)->n_notices++;
}

static void fixture_begin(struct fixture *f, enum journal_failure on_failure)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary create = {.id = S("s")};
    struct store_lease lease;

    *f = (struct fixture){.next_seq = 1};
    f->subscriber = (struct event_subscriber){.on_event = count_notice, .self = f};
    event_stream_subscribe(&f->notices, &f->subscriber);
    f->flaky.ops = (struct store_ops){.append = flaky_append,
                                      .append_soon = flaky_append_soon,
                                      .sync = flaky_sync,
                                      .blobs = flaky_blobs};
    f->flaky.store.ops = &f->flaky.ops;
    f->flaky.inner = store_memory_new();
    assert_ok(store_open(f->flaky.inner, S("s"), &create, &a, &lease));
    group_begin(&f->tasks, 0, GROUP_KEEP_GOING);
    f->journal = journal_new(&(struct journal_options){.store = &f->flaky.store,
                                                       .stream = S("s"),
                                                       .fence = lease.fence,
                                                       .next_seq = lease.next_seq,
                                                       .tasks = &f->tasks,
                                                       .on_failure = on_failure,
                                                       .notices = &f->notices});
}

static void fixture_end(struct fixture *f)
{
    assert_ok(group_end(&f->tasks));
    journal_free(f->journal);
    store_free(f->flaky.inner);
}

static void tell(struct fixture *f, const char *text)
{
    struct event e = {.seq = f->next_seq++,
                      .type = EVENT_NOTICE,
                      .body.notice = {.source = "test", .text = str_of(text)}};

    recorder_append(journal_recorder(f->journal), &e);
}

static size_t n_stored(struct fixture *f)
{
    AUTO(store_page) struct store_page page = {0};

    assert_ok(store_read(f->flaky.inner, S("s"), &(struct store_query){0}, &page));
    return page.n;
}

IN_TASK(what_was_synced_is_stored_in_one_write)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    tell(&f, "a");
    tell(&f, "b");
    assert_int_equal(n_stored(&f), 0);
    assert_ok(journal_sync(f.journal));
    assert_int_equal(n_stored(&f), 2);
    assert_int_equal(f.flaky.n_appends, 1);
    assert_int_equal(journal_durable_seq(f.journal), 3);
    assert_ok(journal_sync(f.journal)); /* nothing is left to wait for */
    assert_int_equal(f.flaky.n_appends, 1);
    fixture_end(&f);
}

IN_TASK(what_nobody_waits_for_is_written_after_a_moment)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    tell(&f, "a");
    assert_ok(group_join(&f.tasks)); /* its task ends when there is nothing left */
    assert_int_equal(n_stored(&f), 1);
    fixture_end(&f);
}

IN_TASK(what_is_hurried_is_written_before_anybody_waits_for_it)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    tell(&f, "a");
    assert_ok(task_yield()); /* its task waits for more */
    tell(&f, "b");
    journal_recorder(f.journal)->hurry(journal_recorder(f.journal), RECORDER_DURABLE);
    assert_ok(task_yield());
    assert_int_equal(n_stored(&f), 2);
    tell(&f, "c"); /* nobody is in a hurry about this one */
    assert_ok(task_yield());
    assert_int_equal(n_stored(&f), 2);
    fixture_end(&f);
}

static struct err *wait_flushed(struct fixture *f)
{
    return recorder_wait(journal_recorder(f->journal), RECORDER_FLUSHED);
}

IN_TASK(whoever_asks_for_events_to_outlive_the_process_does_not_wait_for_the_disk)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    tell(&f, "a");
    assert_ok(wait_flushed(&f));
    assert_int_equal(n_stored(&f), 1);
    assert_int_equal(f.flaky.n_soon, 1);
    assert_ok(wait_flushed(&f)); /* nothing is left to wait for */
    assert_ok(group_join(&f.tasks));
    assert_int_equal(f.flaky.n_syncs, 1); /* which comes right after */
    assert_int_equal(journal_durable_seq(f.journal), 2);
    fixture_end(&f);
}

IN_TASK(whoever_needs_it_durable_waits_for_the_disk)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    tell(&f, "a");
    assert_ok(wait_flushed(&f));
    assert_ok(journal_sync(f.journal));
    assert_int_equal(f.flaky.n_syncs, 1);
    assert_int_equal(journal_durable_seq(f.journal), 2);
    tell(&f, "b");
    journal_recorder(f.journal)->hurry(journal_recorder(f.journal), RECORDER_FLUSHED);
    assert_ok(journal_sync(f.journal)); /* asked for before it was written */
    assert_int_equal(journal_durable_seq(f.journal), 3);
    fixture_end(&f);
}

IN_TASK(a_sync_that_fails_is_repeated_and_nothing_is_appended_twice)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    f.flaky.fails_sync = true;
    tell(&f, "a");
    assert_ok(wait_flushed(&f));
    assert_err(journal_sync(f.journal), ERR_STORAGE);
    tell(&f, "b");
    assert_err(journal_sync(f.journal), ERR_STORAGE);
    f.flaky.fails_sync = false;
    assert_ok(journal_sync(f.journal));
    assert_int_equal(n_stored(&f), 2);
    assert_int_equal(journal_durable_seq(f.journal), 3);
    assert_int_equal(f.n_notices, 1);
    fixture_end(&f);
}

IN_TASK(a_store_that_fails_stops_the_run_and_loses_nothing)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    f.flaky.fails = true;
    tell(&f, "a");
    assert_err(journal_sync(f.journal), ERR_STORAGE);
    tell(&f, "b");
    assert_err(journal_sync(f.journal), ERR_STORAGE);
    f.flaky.fails = false;
    tell(&f, "c");
    assert_ok(journal_sync(f.journal));
    assert_int_equal(n_stored(&f), 3);
    assert_int_equal(f.n_notices, 1);
    fixture_end(&f);
}

IN_TASK(or_it_is_told_once_and_the_run_goes_on)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_WARNS);
    f.flaky.fails = true;
    tell(&f, "a");
    assert_ok(journal_sync(f.journal));
    tell(&f, "b");
    assert_ok(journal_sync(f.journal));
    assert_int_equal(f.n_notices, 1);
    f.flaky.fails = false;
    assert_ok(journal_sync(f.journal));
    assert_int_equal(n_stored(&f), 2);
    fixture_end(&f);
}

static struct err *tell_more(void *arg)
{
    struct fixture *f = arg;

    for (int i = 0; i < 100; i++)
        tell(f, "more");
    return NULL;
}

static void tell_long(struct fixture *f, char letter)
{
    AUTO(strbuf) struct strbuf text = {0};

    while (text.n < (size_t)64 << 10)
        strbuf_addf(&text, "a long text %c ", letter);
    tell(f, strbuf_cstr(&text));
}

/* Reads every payload that the stored records refer to. */
static size_t n_payloads(struct fixture *f)
{
    AUTO(store_page) struct store_page page = {0};
    size_t n = 0;

    assert_ok(store_read(f->flaky.inner, S("s"), &(struct store_query){0}, &page));
    for (size_t i = 0; i < page.n; i++)
        for (size_t k = 0; k < page.records[i].n_payloads; k++, n++)
            assert_ok(blob_check(store_blobs(f->flaky.inner, S("s")), page.records[i].payloads[k]));
    return n;
}

IN_TASK(a_payload_that_is_removed_before_the_append_is_put_again)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    f.flaky.n_removals = 2;
    tell_long(&f, 'a');
    tell_long(&f, 'b');
    tell(&f, "short");
    assert_ok(journal_sync(f.journal));
    assert_int_equal(n_stored(&f), 3);
    assert_int_equal(n_payloads(&f), 2);
    assert_int_equal(f.n_notices, 0);
    fixture_end(&f);
}

IN_TASK(a_payload_that_is_always_removed_stops_the_run_and_loses_nothing)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    f.flaky.n_removals = 100;
    tell_long(&f, 'a');
    assert_err(journal_sync(f.journal), ERR_STORAGE);
    assert_in_range(f.flaky.n_appends, 2, 10);
    assert_int_equal(n_stored(&f), 0);
    f.flaky.n_removals = 0;
    assert_ok(journal_sync(f.journal));
    assert_int_equal(n_payloads(&f), 1);
    fixture_end(&f);
}

static void tell_handle(struct fixture *f, struct str bytes)
{
    AUTO(arena) struct arena a = {0};
    char handle[SHA256_HEX_SIZE];
    struct event e = {.seq = f->next_seq++, .type = EVENT_STATE};

    assert_ok(blob_put(store_blobs(f->flaky.inner, S("s")), bytes, handle));
    e.body.state.key = arena_format(&a, "handle:%s", handle);
    e.body.state.value = json_new(&a, JSON_OBJECT);
    recorder_append(journal_recorder(f->journal), &e);
}

IN_TASK(a_stored_result_that_is_removed_before_the_append_is_told_and_the_rest_is_stored)
{
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    tell_handle(&f, S("one result"));
    tell_handle(&f, S("another"));
    tell_long(&f, 'a');
    f.flaky.n_removals = 1;
    assert_ok(journal_sync(f.journal));
    assert_int_equal(n_stored(&f), 3);
    assert_int_equal(n_payloads(&f), 1);
    assert_int_equal(f.n_notices, 2);
    fixture_end(&f);
}

static struct store *slow_inner;

static struct err *slow_put(struct blob_store *s, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    TRY(blob_put(store_blobs(slow_inner, S("s")), bytes, handle));
    return task_yield();
}

static struct blob_store *slow_blobs(struct store *s, struct str stream)
{
    static const struct blob_ops ops = {.put = slow_put};
    static struct blob_store slow = {.ops = &ops};

    return &slow;
}

IN_TASK(events_that_come_while_blobs_are_written_are_written_too)
{
    AUTO(strbuf) struct strbuf longer = {0};
    struct fixture f;

    fixture_begin(&f, JOURNAL_STOPS);
    f.flaky.ops.blobs = slow_blobs;
    slow_inner = f.flaky.inner;
    while (longer.n < (size_t)64 << 10)
        strbuf_add_cstr(&longer, "a long text ");
    tell(&f, strbuf_cstr(&longer));
    tell(&f, strbuf_cstr(&longer));
    group_spawn(&f.tasks, "more", tell_more, &f);
    assert_ok(journal_sync(f.journal));
    assert_ok(group_join(&f.tasks));
    assert_int_equal(n_stored(&f), 102);
    fixture_end(&f);
}

RUN_TESTS(UNIT(what_was_synced_is_stored_in_one_write),
          UNIT(what_nobody_waits_for_is_written_after_a_moment),
          UNIT(what_is_hurried_is_written_before_anybody_waits_for_it),
          UNIT(whoever_asks_for_events_to_outlive_the_process_does_not_wait_for_the_disk),
          UNIT(whoever_needs_it_durable_waits_for_the_disk),
          UNIT(a_sync_that_fails_is_repeated_and_nothing_is_appended_twice),
          UNIT(a_store_that_fails_stops_the_run_and_loses_nothing),
          UNIT(or_it_is_told_once_and_the_run_goes_on),
          UNIT(a_payload_that_is_removed_before_the_append_is_put_again),
          UNIT(a_payload_that_is_always_removed_stops_the_run_and_loses_nothing),
          UNIT(a_stored_result_that_is_removed_before_the_append_is_told_and_the_rest_is_stored),
          UNIT(events_that_come_while_blobs_are_written_are_written_too));
