/* recording_test.c - what a second run needs is found in the events of the first. */
#include "session/stage.h"
#include "sys/in_task.h"

#include "archive/recording.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}};

static void record(struct stage *st, const char *script, const char *prompt)
{
    stage_open(st, &fresh);
    session_begin(&st->session, &(struct event_session){.system = S("Brief.")});
    stage_run(st, script, prompt);
}

static struct recording_reader *read_first(struct store *s, struct recording *ret)
{
    struct recording_reader *r = recording_reader_new(s, S(ID));
    bool found;

    assert_ok(recording_read(r, ret, &found));
    assert_true(found);
    assert_ok(recording_load(ret));
    return r;
}

/* To the next event of this type; it is not passed. */
static const struct recorded_event *go_to(struct recording *x, enum event_type type)
{
    const struct recorded_event *e;

    while ((e = recording_at(x, 0)) && e->type != type) {
        bool is_request = e->type == EVENT_PROVIDER_REQUEST;

        recording_pass(x);
        if (is_request)
            assert_ok(recording_load(x));
    }
    return e;
}

/* The next attempt, with all that came of it. */
static const struct recorded_attempt *next_attempt(struct recording *x)
{
    const struct recorded_attempt *a = go_to(x, EVENT_ATTEMPT_BEGIN)->attempt;

    recording_pass(x);
    recording_pass(x);
    assert_ok(recording_load(x));
    return a;
}

IN_TASK(runs_come_one_by_one)
{
    AUTO(stage) struct stage st = {0};
    AUTO(recording_reader) struct recording_reader *r = NULL;
    bool found = true;
    size_t n = 0;

    record(&st, "turns:\n - text: One.\n", "first");
    stage_run(&st, "turns:\n - text: Two.\n", "second");
    stage_close(&st);
    r = recording_reader_new(st.store, S(ID));
    while (found) {
        AUTO(recording) struct recording x = {0};

        assert_ok(recording_read(r, &x, &found));
        if (!found)
            break;
        assert_int_equal(x.turn, ++n);
        assert_str(x.input, n == 1 ? "first" : "second");
        assert_str(x.session_system, "Brief.");
        assert_false(x.is_cut);
        assert_int_equal(x.outcome, RUN_DONE);
        assert_ok(recording_load(&x));
        assert_str(next_attempt(&x)->said->parts[0].text, n == 1 ? "One." : "Two.");
        assert_null(go_to(&x, EVENT_ATTEMPT_BEGIN));
        assert_true(recording_is_over(&x));
    }
    assert_int_equal(n, 2);
}

IN_TASK(calls_have_their_outcome_and_their_company)
{
    AUTO(stage) struct stage st = {.world.deny = "Big"};
    AUTO(recording_reader) struct recording_reader *r = NULL;
    AUTO(recording) struct recording x = {0};
    const struct recorded_call *calls[5];

    record(&st,
           "turns:\n - [{tool: Slow, id: a, args: {ms: 9}}, {tool: Slow, id: b, args: {ms: 5}},\n"
           "    {tool: Alone, id: c, args: {}}, {tool: Fail, id: d, args: {}},\n"
           "    {tool: Big, id: e, args: {}}]\n - text: Done.\n",
           "go");
    stage_close(&st);
    r = read_first(st.store, &x);
    next_attempt(&x);
    for (int i = 0; i < 5; i++)
        calls[i] = recording_find_call(&x, 1, str_make(&"abcde"[i], 1), true);
    assert_false(calls[0]->is_alone);
    assert_false(calls[1]->is_alone);
    assert_true(calls[2]->is_alone);
    assert_str(calls[0]->end->content[0].text, "slept");
    assert_str(calls[3]->code, "tool_failed");
    assert_true(calls[4]->was_denied && !calls[4]->has_begun);
    recording_find_call(&x, 1, S("d"), true)->is_judged = true;
    assert_null(recording_find_call(&x, 1, S("d"), true));
    assert_ptr_equal(recording_find_call(&x, 1, S("d"), false), calls[3]);
}

IN_TASK(failures_have_their_delay)
{
    AUTO(stage) struct stage st = {0};
    AUTO(recording_reader) struct recording_reader *r = NULL;
    AUTO(recording) struct recording x = {0};
    const struct recorded_attempt *a;

    record(&st, "turns:\n - {error: provider_rate_limit, retry_after_ms: 70}\n - text: Now.\n",
           "go");
    stage_close(&st);
    r = read_first(st.store, &x);
    a = next_attempt(&x);
    assert_true(err_is(a->error, ERR_PROVIDER_RATE_LIMIT));
    assert_int_equal(a->error->retry_after_ms, 70);
    assert_int_equal(a->delay_ms, 70);
    a = next_attempt(&x);
    assert_null(a->error);
    assert_int_equal(a->delay_ms, -1);
}

IN_TASK(a_run_without_its_end_is_cut)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store) struct store *cut = NULL;
    AUTO(recording_reader) struct recording_reader *r = NULL;
    AUTO(recording) struct recording x = {0};

    record(&st, "turns:\n - text: One.\n", "go");
    stage_close(&st);
    cut = stage_cut(st.store, ID, 6);
    r = read_first(cut, &x);
    assert_true(x.is_cut);
    assert_int_equal(x.damage.n, 0);
    assert_true(x.n_events > 0);
}

RUN_TESTS(UNIT(runs_come_one_by_one), UNIT(calls_have_their_outcome_and_their_company),
          UNIT(failures_have_their_delay), UNIT(a_run_without_its_end_is_cut));
