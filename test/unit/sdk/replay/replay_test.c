/* replay_test.c - what a session recorded happens again, wherever the recording ends. */
#include "session/stage.h"
#include "sys/in_task.h"

#include "sdk/replay/replay.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}},
                                    again = {.start = SESSION_RESUME, .id = {ID, 1}};

struct told {
    size_t n_runs, n_same, n_cut, n_compared;
    struct strbuf text; /* of what is not the same */
};

static void told_done(struct told *t)
{
    strbuf_done(&t->text);
}
DEFINE_AUTO_VAL(told, told_done)

static void on_run(void *self, const struct replayed_run *r)
{
    struct told *t = self;

    t->n_runs++;
    t->n_same += r->verdict == REPLAY_SAME;
    t->n_cut += r->is_cut;
    t->n_compared += r->n_compared;
    if (r->verdict == REPLAY_DIFFERENT)
        strbuf_addf(&t->text, "recorded %" STR_FMT "\nreplayed %" STR_FMT "\n",
                    STR_ARG(r->recorded), STR_ARG(r->replayed));
    if (r->verdict == REPLAY_DAMAGED)
        strbuf_addf(&t->text, "%" STR_FMT "\n", STR_ARG(r->damage));
}

static void replay(struct store *s, struct told *t)
{
    struct replay_clock clock;

    replay_clock_init(&clock);
    assert_ok(session_replay(&(struct replay_options){
        .store = s, .session = S(ID), .clock = &clock, .on_run = on_run, .self = t}));
}

static void assert_same(struct store *s, size_t n_runs, size_t n_cut)
{
    AUTO(told) struct told t = {0};

    replay(s, &t);
    assert_str(strbuf_str(&t.text), "");
    assert_int_equal(t.n_runs, n_runs);
    assert_int_equal(t.n_same, n_runs);
    assert_int_equal(t.n_cut, n_cut);
    assert_true(t.n_compared >= n_runs);
}

static void record(struct stage *st, const char *script)
{
    AUTO(tool_set) struct tool_set *tools = NULL;

    stage_open(st, &fresh);
    tools = tool_registry_snapshot(st->world.registry);
    session_begin(&st->session, &(struct event_session){.cwd = S("/tmp"), .tools = tools});
    stage_run(st, script, "go");
    stage_close(st);
}

#define TOOLS                                                                                      \
    "turns:\n"                                                                                     \
    " - [{text: Look.}, {tool: Echo, id: a, args: {text: x}}, {tool: State, id: b, args: {value: " \
    "7}}]\n"                                                                                       \
    " - [{tool: Alone, id: c, args: {}}, {tool: Slow, id: d, args: {ms: 20}},\n"                   \
    "    {tool: Slow, id: e, args: {ms: 5}}, {tool: Fail, id: f, args: {}}]\n"                     \
    " - {text: one two three, split: 3}\n"

IN_TASK(a_session_with_tools_is_the_same)
{
    AUTO(stage) struct stage st = {0};

    record(&st, TOOLS);
    assert_same(st.store, 1, 0);
}

IN_TASK(what_fails_fails_again)
{
    AUTO(stage) struct stage st = {0};

    record(&st, "turns:\n - error: provider_unavailable\n - {error: provider_rate_limit, "
                "retry_after_ms: 100}\n - [{tool: Nothing, id: a, args: {}}, "
                "{tool: Echo, id: b, args: {}}, {tool: Fail, id: c, args: {hard: true}}]\n"
                " - [{text: half}, {error: provider_error}]\n");
    assert_same(st.store, 1, 0);
}

IN_TASK(a_run_that_waits_for_an_answer_waits_again)
{
    AUTO(stage) struct stage st = {.world.later = "Echo"};

    record(&st, "turns:\n - [{tool: Wait, id: a, args: {}}, {tool: Echo, id: b, args: {text: x}}, "
                "{tool: Slow, id: c, args: {ms: 1}}]\n");
    assert_int_equal(st.world.result.outcome, RUN_SUSPENDED);
    assert_same(st.store, 1, 0);
}

IN_TASK(a_recording_that_was_cut_off_anywhere_is_the_same_up_to_there)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store_page) struct store_page page;

    record(&st, TOOLS);
    stage_records(st.store, ID, &page);
    for (size_t n = 2; n <= page.n; n++) {
        AUTO(store) struct store *cut = stage_cut(st.store, ID, n);
        bool has_end = n >= page.n - 2;

        assert_same(cut, 1, has_end ? 0 : 1);
    }
}

IN_TASK(a_run_after_a_crash_anywhere_is_the_same)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store_page) struct store_page page;

    record(&st, TOOLS);
    stage_records(st.store, ID, &page);
    for (size_t n = 2; n + 2 < page.n; n++) {
        AUTO(stage) struct stage next = {.store = stage_cut(st.store, ID, n)};

        stage_open(&next, &again);
        stage_run(&next, "turns:\n - text: The end.\n", n % 2 ? "new" : NULL);
        stage_close(&next);
        assert_same(next.store, 2, 1);
    }
}

/* --- differences --- */

/* The stream with this text instead of that in records of one type. */
static struct store *change(struct store *from, const char *type, const char *text,
                            const char *instead)
{
    AUTO(arena) struct arena a = {0};
    AUTO(store_page) struct store_page page;
    struct store *to = stage_cut(from, ID, 0);
    struct store_lease lease;

    stage_records(from, ID, &page);
    assert_ok(store_open(to, S(ID), NULL, &a, &lease));
    for (size_t i = 0; i < page.n; i++) {
        struct store_record *r = &page.records[i];
        size_t at = str_find(r->body, str_of(text));

        for (size_t k = 0; k < r->n_payloads; k++) {
            AUTO(strbuf) struct strbuf bytes = {0};
            char handle[SHA256_HEX_SIZE];

            assert_ok(blob_get(store_blobs(from, S(ID)), r->payloads[k], &bytes));
            assert_ok(blob_put(store_blobs(to, S(ID)), strbuf_str(&bytes), handle));
        }
        if (str_is(r->type, type) && at != STR_NONE)
            r->body =
                arena_format(&a, "%" STR_FMT "%s%" STR_FMT, STR_ARG(str_slice(r->body, 0, at)),
                             instead, STR_ARG(str_skip(r->body, at + strlen(text))));
        assert_ok(store_append(to, S(ID), r->seq, lease.fence, r, 1, NULL));
    }
    store_close(to, S(ID), lease.fence);
    return to;
}

static void assert_found(const char *type, const char *text, const char *instead, const char *says)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store) struct store *changed = NULL;
    AUTO(told) struct told t = {0};

    record(&st, TOOLS);
    changed = change(st.store, type, text, instead);
    replay(changed, &t);
    assert_int_equal(t.n_same, 0);
    assert_non_null(strstr(strbuf_cstr(&t.text), says));
}

IN_TASK(what_was_changed_is_found)
{
    assert_found("tool_end", "\"text\":\"x\"", "\"text\":\"y\"", "a different history");
    assert_found("context", "\"usedTokens\":", "\"usedTokens\":1", "contextState");
    assert_found("run_end", "\"rounds\":3", "\"rounds\":4", "\"rounds\":4");
    assert_found("run_begin", "\"input\":\"go\"", "\"input\":\"no\"", "\"input\":\"no\"");
    assert_found("pre_run", "\"input\":\"go\"", "\"input\":\"no\"", "\"input\":\"no\"");
    assert_found("provider_response_raw", "Look.", "Lock.", "Lock.");
}

RUN_TESTS(UNIT(a_session_with_tools_is_the_same), UNIT(what_fails_fails_again),
          UNIT(a_run_that_waits_for_an_answer_waits_again),
          UNIT(a_recording_that_was_cut_off_anywhere_is_the_same_up_to_there),
          UNIT(a_run_after_a_crash_anywhere_is_the_same), UNIT(what_was_changed_is_found));
