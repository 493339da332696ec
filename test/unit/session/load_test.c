/* load_test.c - a session opens whatever its process had written when it died, and goes on. */
#include "session/same_load.h"
#include "session/stage.h"
#include "sys/in_task.h"

#include "engine/open_calls.h"
#include "engine/request_build.h"
#include "port/stored_result.h"
#include "session/codec/codec.h"

#define ID "s"
static struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}},
                              again = {.start = SESSION_RESUME, .id = {ID, 1}};

/* --- one cut --- */

/* What the records before the cut say. */
struct before {
    size_t n_begun;            /* calls that had begun */
    bool has_run, has_run_end; /* the last one */
};

static struct before look(struct store *s)
{
    AUTO(store_page) struct store_page page;
    struct before b = {0};

    stage_records(s, ID, &page);
    for (size_t i = 0; i < page.n; i++) {
        struct str type = page.records[i].type;

        b.n_begun += str_is(type, "tool_begin");
        b.has_run |= str_is(type, "run_begin");
        b.has_run_end |= str_is(type, "run_end");
        b.has_run_end &= !str_is(type, "run_begin");
    }
    return b;
}

static size_t n_run, n_asked;

static void count(struct world *w, const struct event *e)
{
    n_run += e->type == EVENT_TOOL_BEGIN;
    n_asked += e->type == EVENT_PROVIDER_REQUEST;
}

/* All events of the stream can be read, and every request was made with the history before it. */
static void assert_readable(struct store *s)
{
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, S(ID), 1, CODEC_READ_ALL);
    const struct event *e;

    do
        assert_ok(codec_read(r, &e));
    while (e);
}

static void assert_paired(const struct history *h)
{
    assert_null(open_calls_find(h));
}

static void go_on_after(struct store *whole, size_t n, const char *prompt, size_t n_calls)
{
    AUTO(stage) struct stage st = {.store = stage_cut(whole, ID, n), .world.on_event = count};
    struct before b = look(st.store);

    n_run = n_asked = 0;
    assert_same_load(st.store, S(ID));
    stage_open(&st, &again);
    assert_str(strbuf_str(&st.notices), "");
    assert_int_equal(st.session.loaded.last_run == LAST_RUN_CUT_OFF, b.has_run && !b.has_run_end);
    if (prompt || session_can_resume(&st.session)) {
        stage_run(&st, "turns:\n - text: The end.\n", prompt);
        assert_int_equal(st.world.result.outcome, RUN_DONE);
        assert_paired(&st.session.conversation.history);
        assert_true(b.n_begun + n_run <= n_calls); /* none has run twice */
        assert_true(n_asked <= 1);
    }
    stage_close(&st);
    assert_readable(st.store);
    assert_same_load(st.store, S(ID));
    stage_open(&st, &again);
    assert_int_equal(st.session.loaded.last_run == LAST_RUN_CUT_OFF, false);
    stage_close(&st);
}

static void go_on_after_each(const char *script, const char *script2, size_t n_calls)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store_page) struct store_page page;

    stage_open(&st, &fresh);
    session_begin(&st.session, &(struct event_session){.cwd = S("/tmp"), .system = S("Brief.")});
    stage_run(&st, script, "first");
    if (script2) {
        stage_close(&st);
        stage_open(&st, &again);
        stage_run(&st, script2, "second");
    }
    stage_close(&st);
    stage_records(st.store, ID, &page);
    for (size_t n = 0; n <= page.n; n++) {
        go_on_after(st.store, n, NULL, n_calls);
        go_on_after(st.store, n, "new", n_calls);
    }
}

/* With packs as soon as there is a message, and without. */
static void go_on_after_every_record(const char *script, const char *script2, size_t n_calls)
{
    for (size_t pack_from = 0; pack_from <= 1; pack_from++) {
        fresh.pack_from = again.pack_from = pack_from;
        go_on_after_each(script, script2, n_calls);
    }
    fresh.pack_from = again.pack_from = 0;
}

IN_TASK(an_answer_cut_off_anywhere)
{
    go_on_after_every_record("turns:\n - {text: one two three four, split: 3}\n", NULL, 0);
}

IN_TASK(tools_cut_off_anywhere)
{
    go_on_after_every_record("turns:\n"
                             " - [{text: Look.}, {tool: Echo, id: a, args: {text: x}},\n"
                             "    {tool: State, id: b, args: {value: 7}}]\n"
                             " - [{tool: Alone, id: c, args: {}}, {tool: Fail, id: d, args: {}}]\n"
                             " - text: Done.\n",
                             NULL, 4);
}

IN_TASK(the_second_run_cut_off_anywhere)
{
    go_on_after_every_record("turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: One.\n",
                             "turns:\n - [{tool: Echo, id: a, args: {text: y}}]\n - text: Two.\n",
                             2);
}

IN_TASK(a_failure_cut_off_anywhere)
{
    go_on_after_every_record("turns:\n - [{text: half}, {error: provider_error}]\n", NULL, 0);
}

/* --- what is found --- */

/* The number of records up to the first of that type, that included. */
static size_t up_to(struct store *s, const char *type)
{
    AUTO(store_page) struct store_page page;
    size_t i = 0;

    stage_records(s, ID, &page);
    while (i < page.n && !str_is(page.records[i].type, type))
        i++;
    assert_true(i < page.n);
    return i + 1;
}

static void record(struct stage *st, const char *script)
{
    stage_open(st, &fresh);
    stage_run(st, script, "go");
    stage_close(st);
}

IN_TASK(a_call_that_was_under_way_is_unknown_and_told)
{
    AUTO(stage) struct stage st = {0}, dead = {0};

    record(&st, "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: Done.\n");
    dead.store = stage_cut(st.store, ID, up_to(st.store, "tool_begin"));
    stage_open(&dead, &again);
    assert_int_equal(dead.session.loaded.n_outcomes, 1);
    assert_int_equal(dead.session.loaded.outcomes[0].outcome, CALL_UNKNOWN);
    stage_run(&dead, "turns:\n - text: I look.\n", NULL);
    assert_null(strstr(strbuf_cstr(&dead.world.log), "run Echo"));
    assert_non_null(strstr(strbuf_cstr(&dead.world.log), "It is not known whether it took effect"));
    stage_close(&dead);
}

IN_TASK(a_result_that_had_come_is_used)
{
    AUTO(stage) struct stage st = {0}, dead = {0};

    record(&st, "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: Done.\n");
    dead.store = stage_cut(st.store, ID, up_to(st.store, "tool_end"));
    stage_open(&dead, &again);
    stage_run(&dead, "turns:\n - text: Thanks.\n", NULL);
    assert_transcript(&dead.world, "+2 tool: a \"x\"\n"
                                   "ask m1 tools=7\n"
                                   "    user: \"go\"\n"
                                   "    assistant: Echo#a\n"
                                   "    tool: a \"x\"\n"
                                   "+3 assistant: \"Thanks.\"\n"
                                   "= done: \"Thanks.\"\n");
    stage_close(&dead);
}

/* Its tool allows more than the run does. */
IN_TASK(a_long_result_that_had_come_is_told_as_it_was)
{
    AUTO(stage) struct stage st = {0}, dead = {0};
    AUTO(strbuf) struct strbuf script = {0};

    strbuf_addf(&script, "turns:\n - [{tool: Echo, id: a, args: {text: x%0*d}}]\n - text: Done.\n",
                RUN_DEFAULT_TOOL_RESPONSE_BYTES + 1, 7);
    record(&st, strbuf_cstr(&script));
    dead.store = stage_cut(st.store, ID, up_to(st.store, "tool_end"));
    stage_open(&dead, &again);
    stage_run(&dead, "turns:\n - text: Thanks.\n", NULL);
    assert_non_null(strstr(strbuf_cstr(&dead.world.log), "+2 tool: a \"x000"));
    assert_null(strstr(strbuf_cstr(&dead.world.log), STORED_RESULT_MARK));
    stage_close(&dead);
}

IN_TASK(a_call_that_had_not_begun_is_run_when_it_goes_on_and_not_after_a_new_prompt)
{
    AUTO(stage) struct stage st = {0}, one = {0}, other = {0};

    record(&st, "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - text: Done.\n");
    one.store = stage_cut(st.store, ID, up_to(st.store, "tool_batch_started"));
    other.store = stage_cut(st.store, ID, up_to(st.store, "tool_batch_started"));
    stage_open(&one, &again);
    stage_run(&one, "turns:\n - text: Thanks.\n", NULL);
    assert_non_null(strstr(strbuf_cstr(&one.world.log), "run Echo#a\n+2 tool: a \"x\"\n"));
    stage_close(&one);
    stage_open(&other, &again);
    stage_run(&other, "turns:\n - text: All right.\n", "stop that");
    assert_transcript(&other.world,
                      "a failed: cancelled\n"
                      "+2 tool: a! \"The tool call was not executed: the run ended before its turn "
                      "came.\"\n"
                      "+3 user: \"stop that\"\n"
                      "ask m1 tools=7\n"
                      "    user: \"go\"\n"
                      "    assistant: Echo#a\n"
                      "    tool: a! \"The tool call was not executed: the run ended before its "
                      "turn came.\"\n"
                      "    user: \"stop that\"\n"
                      "+4 assistant: \"All right.\"\n"
                      "= done: \"All right.\"\n");
    stage_close(&other);
}

IN_TASK(a_prompt_that_was_not_yet_in_the_history_is_asked)
{
    AUTO(stage) struct stage st = {0}, dead = {0};

    record(&st, "turns:\n - text: Done.\n");
    dead.store = stage_cut(st.store, ID, up_to(st.store, "user_input"));
    stage_open(&dead, &again);
    assert_int_equal(dead.session.conversation.history.n_messages, 0);
    stage_run(&dead, "turns:\n - text: Here.\n", NULL);
    assert_transcript(&dead.world, "+0 user: \"go\"\n"
                                   "ask m1 tools=7\n"
                                   "    user: \"go\"\n"
                                   "+1 assistant: \"Here.\"\n"
                                   "= done: \"Here.\"\n");
    stage_close(&dead);
}

IN_TASK(half_an_answer_stays_as_one_that_broke_off)
{
    AUTO(stage) struct stage st = {0}, dead = {0};

    record(&st, "turns:\n - {text: one two three, split: 4}\n");
    dead.store = stage_cut(st.store, ID, up_to(st.store, "provider_stream"));
    stage_open(&dead, &again);
    assert_non_null(dead.session.loaded.partial);
    stage_run(&dead, "turns:\n - text: and more.\n", NULL);
    assert_int_equal(dead.session.conversation.history.messages[1]->state, MESSAGE_BROKEN);
    assert_non_null(strstr(strbuf_cstr(&dead.world.log), BROKEN_NOTE));
    assert_int_equal(dead.session.conversation.history.n_messages, 3);
    stage_close(&dead);
}

IN_TASK(a_whole_answer_needs_no_further_request)
{
    AUTO(stage) struct stage st = {0}, dead = {0};

    record(&st, "turns:\n - text: Done.\n");
    dead.store = stage_cut(st.store, ID, up_to(st.store, "provider_response_normalized"));
    stage_open(&dead, &again);
    stage_run(&dead, "turns: []\n", NULL);
    assert_transcript(&dead.world, "= done: \"Done.\"\n");
    stage_close(&dead);
}

IN_TASK(a_record_that_cannot_be_read_is_told_and_the_rest_is_used)
{
    AUTO(stage) struct stage st = {0}, dead = {0};
    AUTO(arena) struct arena a = {0};
    AUTO(store_page) struct store_page page;
    struct store_lease lease = {0};

    record(&st, "turns:\n - text: Done.\n");
    dead.store = store_memory_new();
    assert_ok(store_open(dead.store, S(ID), &(struct store_summary){.id = S(ID)}, &a, &lease));
    stage_records(st.store, ID, &page);
    for (size_t i = 0; i < page.n; i++) {
        if (str_is(page.records[i].type, "provider_response_normalized"))
            page.records[i].body = S("{\"message\":");
        page.records[i].n_payloads = 0; /* they stay in the other store */
        assert_ok(store_append(dead.store, S(ID), page.records[i].seq, lease.fence,
                               &page.records[i], 1, NULL));
    }
    store_close(dead.store, S(ID), lease.fence);
    stage_open(&dead, &again);
    assert_non_null(strstr(strbuf_cstr(&dead.notices), "is broken"));
    stage_run(&dead, "turns:\n - text: Still here.\n", "there?");
    assert_int_equal(dead.world.result.outcome, RUN_DONE);
    stage_close(&dead);
}

/* --- what is passed over --- */

/* Results of all kinds: short, long, refused, of tools that are not there. */
static const char all_kinds[] =
    "turns:\n"
    " - [{reasoning: Hm.}, {text: Look.}, {tool: Echo, id: a, args: {text: x}},\n"
    "    {tool: Echo, id: b, args: {text: x}}]\n"
    " - [{tool: Big, id: c, args: {lines: 9000}}, {tool: Fail, id: d, args: {}}]\n"
    " - [{tool: Nothing, id: e, args: {}}, {tool: Echo, id: f, args: {}}]\n"
    " - [{tool: State, id: g, args: {value: 7}}]\n"
    " - text: Done.\n";

IN_TASK(what_ended_runs_did_on_their_way_is_passed_over)
{
    AUTO(stage) struct stage st = {0};

    record(&st, all_kinds);
    assert_true(assert_same_load(st.store, S(ID)));
    stage_open(&st, &again);
    assert_true(st.session.loaded.lacks_turn);
    stage_run(&st, all_kinds, "and again");
    assert_int_equal(st.world.result.outcome, RUN_DONE);
    stage_close(&st);
    assert_true(assert_same_load(st.store, S(ID)));
}

IN_TASK(where_a_run_has_not_given_its_answer_all_is_read)
{
    AUTO(stage) struct stage st = {0};

    record(&st, "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n - [{error: auth}]\n");
    assert_int_equal(st.world.result.outcome, RUN_FAILED);
    assert_false(assert_same_load(st.store, S(ID)));
}

IN_TASK(a_finished_turn_is_read_for_a_run_that_continues_it)
{
    AUTO(stage) struct stage st = {0};
    AUTO(loaded) struct loaded whole = {0};

    record(&st, all_kinds);
    assert_ok(session_look(st.store, S(ID), &whole));
    assert_true(whole.turn.n_rounds > 0);
    stage_open(&st, &again);
    assert_true(st.session.loaded.lacks_turn);
    stage_compact(&st, "turns:\n - text: A summary.\n", "");
    assert_false(st.session.loaded.lacks_turn);
    assert_int_equal(st.session.loaded.turn.n_rounds,
                     whole.turn.n_rounds + st.world.result.n_rounds);
    stage_close(&st);
    assert_same_load(st.store, S(ID));
}

/* A record that is passed over has nothing that is needed. One that is not, and cannot be read, is
 * told as it is when all are read. */
IN_TASK(damage_is_told_the_same_whatever_is_passed_over)
{
    AUTO(stage) struct stage st = {0};
    AUTO(store_page) struct store_page page;

    record(&st, all_kinds);
    stage_records(st.store, ID, &page);
    for (size_t i = 0; i < page.n; i++) {
        struct store_record was = page.records[i];
        AUTO(store) struct store *s = NULL;

        if (!was.is_core || str_is(was.type, "checkpoint"))
            continue;
        page.records[i].body = S("{\"message\":");
        s = stage_copy(st.store, ID, &page);
        page.records[i] = was;
        if (str_is(was.type, "provider_response_raw") ||
            str_is(was.type, "provider_response_normalized") ||
            str_is(was.type, "history_mutation") || str_is(was.type, "tool_end"))
            assert_false(assert_same_load(s, S(ID)));
    }
}

IN_TASK(a_session_that_is_not_there_is_told)
{
    AUTO(stage) struct stage st = {0};

    assert_err(stage_try_open(&st, &again), ERR_STORAGE);
    session_done(&st.session);
}

RUN_TESTS(UNIT(an_answer_cut_off_anywhere), UNIT(tools_cut_off_anywhere),
          UNIT(the_second_run_cut_off_anywhere), UNIT(a_failure_cut_off_anywhere),
          UNIT(a_call_that_was_under_way_is_unknown_and_told), UNIT(a_result_that_had_come_is_used),
          UNIT(a_long_result_that_had_come_is_told_as_it_was),
          UNIT(a_call_that_had_not_begun_is_run_when_it_goes_on_and_not_after_a_new_prompt),
          UNIT(a_prompt_that_was_not_yet_in_the_history_is_asked),
          UNIT(half_an_answer_stays_as_one_that_broke_off),
          UNIT(a_whole_answer_needs_no_further_request),
          UNIT(a_record_that_cannot_be_read_is_told_and_the_rest_is_used),
          UNIT(what_ended_runs_did_on_their_way_is_passed_over),
          UNIT(where_a_run_has_not_given_its_answer_all_is_read),
          UNIT(a_finished_turn_is_read_for_a_run_that_continues_it),
          UNIT(damage_is_told_the_same_whatever_is_passed_over),
          UNIT(a_session_that_is_not_there_is_told));
