/* run_log_test.c - however a run ends, what it tells is whole: every call has its request and its
 * result, every answer its messages, and the user is blamed only for what the user did. */
#include "engine/world.h"

#include "engine/request_build.h"
#include "session/compact.h"

/* The events, in short: "request a", "result a: cancelled", ... */
static struct strbuf told;

static void tell_message(const char *what, const struct message *m)
{
    static const char *const states[] = {"complete", "interrupted", "broken"};

    strbuf_addf(&told, "%s %s%s%" STR_FMT "\n", what, states[m->state], m->stop_reason.n ? " " : "",
                STR_ARG(m->stop_reason));
}

static void tell(struct world *w, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;
    AUTO(strbuf) struct strbuf args = {0};

    switch (e->type) {
    case EVENT_TOOL_REQUEST:
        json_write(&args, t->args);
        strbuf_addf(&told, "request %" STR_FMT " %s\n", STR_ARG(t->call_id), strbuf_cstr(&args));
        break;
    case EVENT_TOOL_BEGIN:
        strbuf_addf(&told, "begin %" STR_FMT "\n", STR_ARG(t->call_id));
        break;
    case EVENT_TOOL_END:
        strbuf_addf(&told, "end %" STR_FMT "\n", STR_ARG(t->call_id));
        break;
    case EVENT_TOOL_RESULT:
        strbuf_addf(&told, "result %" STR_FMT ": %s\n", STR_ARG(t->call_id),
                    t->error_code ? t->error_code : "fine");
        break;
    case EVENT_CONTEXT:
        strbuf_add_cstr(&told, "context\n");
        break;
    case EVENT_RESPONSE_NORMALIZED:
        tell_message(e->body.message.is_aside ? "aside" : "answer", e->body.message.message);
        break;
    default:
        break;
    }
}

static void run_told(struct world *w, const char *prompt)
{
    strbuf_clear(&told);
    w->on_event = tell;
    world_run(w, prompt);
}

/* The part from the first call's request on. */
static struct str told_of_calls(void)
{
    size_t at = str_find(strbuf_str(&told), S("request "));

    return at == STR_NONE ? (struct str){0} : str_skip(strbuf_str(&told), at);
}

static void assert_result(const struct world *w, size_t index, const char *text)
{
    const struct message *m = w->conversation.history.messages[index];

    assert_int_equal(m->role, ROLE_TOOL);
    assert_str(m->parts[0].content[0].text, text);
}

/* --- calls --- */

static unsigned n_asked;

static struct err *judge_and_stop(struct gate *g, const struct gate_call *c, struct arena *a,
                                  struct verdict *v)
{
    TRY(world_judge(g, c, a, v));
    v->stops_run = ++n_asked == 2;
    v->stop_reason = S("enough");
    return NULL;
}

static struct err *judge_slowly(struct gate *g, const struct gate_call *c, struct arena *a,
                                struct verdict *v)
{
    TRY(world_judge(g, c, a, v));
    if (++n_asked == 2)
        loop_cancel(task_loop());
    return task_sleep(10);
}

static const char three_calls[] = "turns:\n"
                                  " - [{tool: Echo, id: a, args: {text: x}},\n"
                                  "    {tool: Echo, id: b, args: {text: y}},\n"
                                  "    {tool: Nothing, id: c, args: {text: z}}]\n"
                                  " - text: Done.\n";

#define THREE_REQUESTS                                                                             \
    "request a {\"text\":\"x\"}\nrequest b {\"text\":\"y\"}\nrequest c {\"text\":\"z\"}\n"

static void run_judged(struct world *w,
                       struct err *(*judge)(struct gate *g, const struct gate_call *c,
                                            struct arena *a, struct verdict *v))
{
    n_asked = 0;
    w->judge = judge;
    run_told(w, "go");
}

TEST(a_hook_that_ends_the_run_at_a_call_leaves_requests_and_results_of_all)
{
    AUTO(world) struct world w = {.script = three_calls};

    run_judged(&w, judge_and_stop);
    assert_str(told_of_calls(), THREE_REQUESTS "result a: cancelled\nresult b: cancelled\n"
                                               "result c: cancelled\n");
    assert_int_equal(w.result.outcome, RUN_FAILED);
}

TEST(an_interrupt_while_calls_are_judged_leaves_requests_and_results_of_all)
{
    AUTO(world) struct world w = {.script = three_calls};

    run_judged(&w, judge_slowly);
    assert_str(told_of_calls(), THREE_REQUESTS "result a: cancelled\nresult b: cancelled\n"
                                               "result c: cancelled\n");
    assert_int_equal(w.result.outcome, RUN_INTERRUPTED);
    assert_result(&w, 4, "Execution interrupted by user");
}

TEST(a_call_that_is_denied_to_a_node_has_a_request)
{
    AUTO(world) struct world w = {.script = three_calls, .deny = "Echo"};

    w.input.policy = &policy_node;
    run_told(&w, "go");
    assert_str(told_of_calls(), THREE_REQUESTS "result a: tool_denied\nresult b: cancelled\n"
                                               "result c: cancelled\n");
}

TEST(a_call_that_was_cut_while_it_streamed_is_interrupted_and_not_wrong)
{
    AUTO(world)
    struct world w = {
        .script = "turns:\n - [{tool: Echo, id: a, args: {text: x}},\n"
                  "    {tool: Echo, id: b, args: {text: yyyyyyyy}, split: 4, delay_ms: 5}]\n",
        .cancels = true,
        .cancel_at = EVENT_DELTA};

    run_told(&w, "go");
    assert_int_equal(w.result.outcome, RUN_INTERRUPTED);
    assert_result(&w, w.conversation.history.n_messages - 1, "Execution interrupted by user");
}

TEST(a_stream_that_breaks_in_a_call_leaves_no_call_open)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{text: Look.}, {tool: Echo, id: a, args_text: "
                                "'{\"text\": \"on'}, {cut: true}]\n"};

    run_told(&w, "go");
    assert_str(told_of_calls(), "request a \"{\\\"text\\\": \\\"on\"\nresult a: cancelled\n");
    assert_int_equal(w.result.outcome, RUN_FAILED);
    strbuf_clear(&w.log);
    w.script = "turns:\n - text: Better.\n";
    run_told(&w, "again");
    assert_non_null(strstr(strbuf_cstr(&w.log), BROKEN_NOTE));
    assert_null(strstr(strbuf_cstr(&w.log), "by the user"));
}

TEST(a_call_that_waits_for_an_answer_ends_with_the_run_that_is_interrupted)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Wait, id: a, args: {}}, "
                                "{tool: Slow, id: b, args: {ms: 50}}]\n",
                      .cancels = true,
                      .cancel_at = EVENT_TOOL_BEGIN};

    run_told(&w, "go");
    assert_int_equal(w.result.outcome, RUN_INTERRUPTED);
    assert_int_equal(w.result.n_asks, 0);
    assert_non_null(strstr(strbuf_cstr(&told), "end a\n"));
    assert_non_null(strstr(strbuf_cstr(&told), "result b: cancelled\n"));
}

TEST(the_parameters_of_a_tool_that_is_not_there_are_told)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Nothing, id: a, args: {path: x}}]\n"
                                " - text: Done.\n"};

    run_told(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&told), "request a {\"path\":\"x\"}\n"));
}

TEST(a_missing_tool_is_named_though_its_name_is_a_part_of_another_s)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: FooBar, id: a, args: {}}]\n"
                                " - [{tool: Foo, id: b, args: {}}, {tool: FooBar, id: c, args: "
                                "{}}]\n - text: Well.\n"};

    run_told(&w, "go");
    assert_non_null(strstr(strbuf_cstr(&w.log), "Unavailable tools: FooBar, Foo."));
}

/* --- answers --- */

TEST(an_answer_that_is_interrupted_is_told_like_any_other)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - {text: one two three, split: 4, delay_ms: 5}\n",
                      .cancels = true,
                      .cancel_at = EVENT_DELTA};

    run_told(&w, "go");
    assert_str(strbuf_str(&told), "context\nanswer interrupted aborted\ncontext\n");
    assert_str(w.result.stop_reason, "aborted");
}

TEST(an_answer_that_breaks_off_was_not_interrupted_by_anybody)
{
    AUTO(world) struct world w = {.script = "turns:\n - [{text: Once upon}, {cut: true}]\n"};

    run_told(&w, "go");
    assert_str(strbuf_str(&told), "context\nanswer broken end\ncontext\n");
}

TEST(what_a_given_up_attempt_left_is_not_the_answer)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Echo, id: a, args: {text: x}}, "
                                "{error: provider_unavailable}]\n",
                      .cancels = true,
                      .cancel_at = EVENT_RETRY};

    run_told(&w, "go");
    assert_str(strbuf_str(&told), "context\nanswer interrupted aborted\ncontext\n");
    assert_int_equal(w.conversation.history.n_messages, 2);
    assert_int_equal(w.conversation.history.messages[1]->n_parts, 0);
}

TEST(the_context_is_told_around_a_forced_last_turn)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - [{tool: Echo, id: a, args: {text: x}}]\n"
                                " - text: So far.\n"};

    w.input.max_rounds = 1;
    run_told(&w, "go");
    assert_non_null(
        strstr(strbuf_cstr(&told), "result a: fine\ncontext\nanswer complete end\ncontext\n"));
}

TEST(a_question_aside_is_answered_with_a_message_that_says_so)
{
    AUTO(world)
    struct world w = {.script = "turns:\n - {text: One., usage: {input: 9000, output: 5}}\n"};
    struct compact_options options = {0};
    struct compaction compaction;

    w.targets[0].window = 10000;
    world_run(&w, "a long story, a long story, a long story, a long story, a long story");
    compaction_init(&compaction, &options, &w.conversation);
    w.keeper.compactor = &compaction.compactor;
    w.script = "turns:\n - text: In short.\n - text: Two.\n";
    run_told(&w, "more");
    assert_str(strbuf_str(&told), "aside complete end\ncontext\nanswer complete end\ncontext\n");
    compaction_done(&compaction);
}

static int done(void **state)
{
    strbuf_done(&told);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(a_hook_that_ends_the_run_at_a_call_leaves_requests_and_results_of_all),
        UNIT(an_interrupt_while_calls_are_judged_leaves_requests_and_results_of_all),
        UNIT(a_call_that_is_denied_to_a_node_has_a_request),
        UNIT(a_call_that_was_cut_while_it_streamed_is_interrupted_and_not_wrong),
        UNIT(a_stream_that_breaks_in_a_call_leaves_no_call_open),
        UNIT(a_call_that_waits_for_an_answer_ends_with_the_run_that_is_interrupted),
        UNIT(the_parameters_of_a_tool_that_is_not_there_are_told),
        UNIT(a_missing_tool_is_named_though_its_name_is_a_part_of_another_s),
        UNIT(an_answer_that_is_interrupted_is_told_like_any_other),
        UNIT(an_answer_that_breaks_off_was_not_interrupted_by_anybody),
        UNIT(what_a_given_up_attempt_left_is_not_the_answer),
        UNIT(the_context_is_told_around_a_forced_last_turn),
        UNIT(a_question_aside_is_answered_with_a_message_that_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, done);
}
