/* timed_conformance.h - what a store must do whose leases are bound to time: of a server, not of
 * the processes that hold them. Adapters' tests list STORE_HAS_TIMED_LEASES, after what
 * shared_conformance.h wants of them, and define conformance_is_renewed(): has the lease of the
 * session now time left? */
#ifndef KEEL_TEST_UNIT_STORE_TIMED_CONFORMANCE_H
#define KEEL_TEST_UNIT_STORE_TIMED_CONFORMANCE_H

#include "store/shared_conformance.h"

static bool conformance_is_renewed(struct str id);

/* --- a holder that is stopped --- */

struct timed_holder {
    int tell, go; /* pipes */
    bool must_fail;
    pid_t pid;
    int to_go; /* the test's end */
};

/* Opens the session, tells so, and writes once more when it may. */
static inline struct err *hold_and_write(void *arg)
{
    const struct timed_holder *h = arg;
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    struct store_summary create = summary_of(ID_A, 5);
    struct store_record r = record_of(1, "notice", "{\"by\":\"holder\"}");
    struct store_lease lease;
    struct err *e;
    char byte = 0;

    TRY(store_open(s, ID_A, &create, &a, &lease));
    TRY(store_append(s, ID_A, 1, lease.fence, &r, 1, NULL));
    if (write(h->tell, &byte, 1) != 1 || read(h->go, &byte, 1) != 1)
        return err_new(ERR_INTERNAL, "cannot talk to the test");
    r.seq = 2;
    e = store_append(s, ID_A, 2, lease.fence, &r, 1, NULL);
    if (h->must_fail && !err_is(e, ERR_STORAGE)) {
        err_free(e);
        return err_new(ERR_INTERNAL, "a holder that had lost its session wrote to it");
    }
    if (!h->must_fail)
        return e;
    err_free(e);
    store_close(s, ID_A, lease.fence); /* which gives nothing back that is another's */
    return NULL;
}

/* Outside of tasks. */
static inline struct timed_holder start_holder(bool must_fail)
{
    struct timed_holder h = {.must_fail = must_fail};
    int tell[2], go[2];
    char byte;

    store_free(conformance_store());
    assert_int_equal(pipe(tell), 0);
    assert_int_equal(pipe(go), 0);
    h.tell = tell[1];
    h.go = go[0];
    h.to_go = go[1];
    h.pid = start_process(hold_and_write, &h);
    close(tell[1]);
    close(go[0]);
    assert_int_equal(read(tell[0], &byte, 1), 1);
    close(tell[0]);
    return h;
}

static inline void stop_holder(const struct timed_holder *h)
{
    int status;

    assert_int_equal(kill(h->pid, SIGSTOP), 0);
    assert_int_equal(waitpid(h->pid, &status, WUNTRACED), h->pid);
    assert_true(WIFSTOPPED(status));
}

static inline void continue_holder(const struct timed_holder *h)
{
    assert_int_equal(kill(h->pid, SIGCONT), 0);
    assert_int_equal(write(h->to_go, "", 1), 1);
    assert_ends_well(h->pid);
    close(h->to_go);
}

static inline void assert_held_by(struct store *s, pid_t pid)
{
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;
    AUTO(err) struct err *e = store_open(s, ID_A, NULL, &a, &lease);

    assert_true(err_is(e, ERR_STORAGE));
    assert_non_null(strstr(e->text, arena_format(&a, "process %ld on ", (long)pid).p));
    assert_non_null(strstr(err_find_hint(e), "--fork-session"));
}

static inline struct err *take_over_from_stopped(void *arg)
{
    const struct timed_holder *h = arg;
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    struct store_lease lease;

    stop_holder(h);
    assert_held_by(s, h->pid);
    assert_err(store_remove(s, ID_A), ERR_STORAGE);
    conformance_time_passes();
    assert_ok(store_open(s, ID_A, NULL, &a, &lease));
    assert_int_equal(lease.next_seq, 2);
    continue_holder(h);
    append_one(s, ID_A, lease.fence, 2, "notice", "{\"by\":\"other\"}");
    assert_bodies(s, ID_A, "1:{\"by\":\"holder\"} 2:{\"by\":\"other\"} ", .from = 1);
    store_close(s, ID_A, lease.fence);
    return NULL;
}

TEST(a_stopped_holder_loses_its_session_and_writes_nothing_later)
{
    struct timed_holder h = start_holder(/* must_fail= */ true);

    assert_ok(loop_run_once(take_over_from_stopped, &h));
}

TEST(a_stopped_holder_whose_session_no_other_took_continues)
{
    struct timed_holder h = start_holder(/* must_fail= */ false);

    stop_holder(&h);
    conformance_time_passes();
    continue_holder(&h);
}

static inline struct err *remove_from_stopped(void *arg)
{
    const struct timed_holder *h = arg;
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    struct store_summary got;
    bool found;

    stop_holder(h);
    conformance_time_passes();
    assert_ok(store_remove(s, ID_A));
    continue_holder(h);
    assert_ok(store_find(s, ID_A, &a, &got, &found));
    assert_false(found);
    return NULL;
}

TEST(a_session_that_was_removed_meanwhile_does_not_come_back)
{
    struct timed_holder h = start_holder(/* must_fail= */ true);

    assert_ok(loop_run_once(remove_from_stopped, &h));
}

/* --- a holder that does nothing --- */

IN_TASK(a_holder_that_does_nothing_keeps_its_session)
{
    AUTO(store) struct store *s = conformance_store();
    uint64_t fence = open_new(s, ID_A, 5);

    conformance_time_passes();
    while (!conformance_is_renewed(ID_A))
        assert_ok(task_yield());
    append_one(s, ID_A, fence, 1, "notice", "{}");
}

static inline struct err *look_at_stopped(void *arg)
{
    const struct timed_holder *h = arg;
    AUTO(store) struct store *s = conformance_again();
    AUTO(arena) struct arena a = {0};
    struct store_summary got;
    bool found;

    stop_holder(h);
    assert_ok(store_find(s, ID_A, &a, &got, &found));
    assert_true(got.is_open);
    conformance_time_passes();
    assert_ok(store_find(s, ID_A, &a, &got, &found));
    assert_false(got.is_open);
    assert_int_equal(got.holder.n, 0);
    continue_holder(h);
    return NULL;
}

TEST(a_session_whose_time_is_over_is_not_listed_as_open)
{
    struct timed_holder h = start_holder(/* must_fail= */ false);

    assert_ok(loop_run_once(look_at_stopped, &h));
}

/* --- clocks that jump --- */

#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

struct jumping_clock {
    struct clock clock;
    int64_t ahead_ms;
};

static inline uint64_t jumping_monotonic_ms(void *self)
{
    return clock_monotonic_ms(&clock_system);
}

static inline int64_t jumping_unix_ms(void *self)
{
    return clock_unix_ms(&clock_system) + ((struct jumping_clock *)self)->ahead_ms;
}

static inline void append_at_local_time(struct store *s, uint64_t fence, uint64_t seq)
{
    struct store_record r = record_of(seq, "notice", "{}");

    r.unix_ms = clock_unix_ms(loop_clock(task_loop()));
    assert_ok(store_append(s, ID_A, seq, fence, &r, 1, NULL));
}

static inline struct err *write_while_the_clock_jumps(void *arg)
{
    struct jumping_clock *clock = arg;
    AUTO(store) struct store *s = conformance_store();
    AUTO(store) struct store *other = conformance_again();
    AUTO(arena) struct arena a = {0};
    int64_t ahead[] = {0, 400 * DAY_MS, -30 * DAY_MS, -10 * 365 * DAY_MS, 50 * 365 * DAY_MS},
            now_ms;
    uint64_t fence = open_new(s, ID_A, clock_unix_ms(&clock->clock));
    struct store_summary got;
    struct store_lease lease;
    bool found;

    for (size_t i = 0; i < ARRAY_LEN(ahead); i++) {
        clock->ahead_ms = ahead[i];
        append_at_local_time(s, fence, i + 1);
        assert_err(store_open(other, ID_A, NULL, &a, &lease), ERR_STORAGE);
        assert_ok(store_now(s, &now_ms));
        assert_ok(store_find(s, ID_A, &a, &got, &found));
        assert_true(got.is_open);
        assert_true(got.updated_ms <= now_ms && got.created_ms <= now_ms);
        assert_true(got.used_ms <= now_ms && got.used_ms > now_ms - DAY_MS);
    }
    store_close(s, ID_A, fence);
    assert_ok(store_open(other, ID_A, NULL, &a, &lease));
    return NULL;
}

TEST(a_holder_whose_clock_jumps_keeps_its_session_and_is_believed_no_time_to_come)
{
    struct jumping_clock clock = {
        .clock = {.monotonic_ms = jumping_monotonic_ms, .unix_ms = jumping_unix_ms}};
    AUTO(loop) struct loop *l = NULL;

    clock.clock.self = &clock;
    l = loop_new(&clock.clock);
    assert_ok(loop_run(l, write_while_the_clock_jumps, &clock));
}

#define STORE_HAS_TIMED_LEASES                                                                     \
    UNIT(a_stopped_holder_loses_its_session_and_writes_nothing_later),                             \
        UNIT(a_stopped_holder_whose_session_no_other_took_continues),                              \
        UNIT(a_session_that_was_removed_meanwhile_does_not_come_back),                             \
        UNIT(a_holder_that_does_nothing_keeps_its_session),                                        \
        UNIT(a_session_whose_time_is_over_is_not_listed_as_open),                                  \
        UNIT(a_holder_whose_clock_jumps_keeps_its_session_and_is_believed_no_time_to_come)

#endif
