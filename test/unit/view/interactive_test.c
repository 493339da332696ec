/* interactive_test.c */
#include "view/interactive.h"
#include "view/samples.h"

TEST(a_client_sees_the_eight_events)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct interactive_view v = {0};

    samples_init(&s);
    for (int t = 0; t < EVENT_N_TYPES; t++)
        interactive_event(&v, &s.events[t], &out);
    assert_lines(&out,
                 "{'type':'thinking','isThinking':true}\n"
                 "{'type':'context_update','state':{'maxTokens':1000,'usedTokens':110,"
                 "'usedPercentage':11}}\n"
                 "{'type':'context_update','state':{'maxTokens':1000,'usedTokens':100,"
                 "'usedPercentage':10}}\n"
                 "{'type':'text_delta','delta':'I look.'}\n"
                 "{'type':'tool_start','state':{'toolName':'Bash','toolCallId':'c1',"
                 "'firstArg':'ls','isRunning':true}}\n"
                 "{'type':'tool_end','state':{'toolName':'Bash','toolCallId':'c1','firstArg':'ls',"
                 "'isRunning':false,'result':'success'}}\n"
                 "{'type':'thinking','isThinking':false}\n"
                 "{'type':'complete','result':{'response':'Two files.','history':[],"
                 "'toolSummaries':[{'toolName':'Bash','result':'success','durationMs':7}],"
                 "'contextState':{'maxTokens':1000,'usedTokens':100,'usedPercentage':10}}}\n");
}

static const struct json *history_at_the_end(struct samples *s, struct interactive_view *v)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str lines, line;

    interactive_event(v, &s->events[EVENT_RUN_END], &out);
    lines = strbuf_str(&out);
    str_split(&lines, '\n', &line); /* thinking */
    return json_get(json_get(sample_json(s, arena_cstr(&s->arena, lines)), "result"), "history");
}

TEST(a_result_has_the_messages_that_its_run_has_added)
{
    AUTO(samples) struct samples s;
    AUTO(message) struct message *answer = message_new(ROLE_ASSISTANT, S("m2"));
    AUTO(strbuf) struct strbuf none = {0};
    struct interactive_view v = {0};
    const struct json *history;

    samples_init(&s);
    message_add_text(answer, S("Two files."));
    interactive_event(&v, &s.events[EVENT_RUN_BEGIN], &none); /* one message came before */
    history_add_message(&s.history, answer, SAMPLE_TIME);
    history = history_at_the_end(&s, &v);
    assert_int_equal(history->n, 1);
    assert_str(json_get_text(json_at(history, 0), "id"), "m2");
    assert_str(json_get_text(json_at(history, 0), "category"), "chat");
    assert_str(json_get_text(json_at(history, 0), "type"), "assistant");
    assert_str(json_get_text(json_get(json_at(history, 0), "data"), "content"), "Two files.");
}

TEST(a_summary_of_what_came_before_is_no_message_of_the_run)
{
    AUTO(samples) struct samples s;
    AUTO(message) struct message *answer = message_new(ROLE_ASSISTANT, S("m2"));
    AUTO(strbuf) struct strbuf none = {0};
    struct interactive_view v = {.first = 40};
    struct event_message *m = &s.events[EVENT_HISTORY].body.message;

    samples_init(&s);
    message_add_text(answer, S("Two files."));
    history_add_message(&s.history, answer, SAMPLE_TIME);
    *m = (struct event_message){.message = s.prompt, .index = 0, .mutation = "compact"};
    interactive_event(&v, &s.events[EVENT_HISTORY], &none);
    *m = (struct event_message){.message = answer, .index = 1, .mutation = "append"};
    interactive_event(&v, &s.events[EVENT_HISTORY], &none);
    assert_int_equal(history_at_the_end(&s, &v)->n, 1);
    *m = (struct event_message){.mutation = "clear"};
    interactive_event(&v, &s.events[EVENT_HISTORY], &none);
    assert_int_equal(history_at_the_end(&s, &v)->n, 2);
}

TEST(a_run_that_failed_is_an_error)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct interactive_view v = {0};

    samples_init(&s);
    s.run_result.outcome = RUN_FAILED;
    s.run_result.error = err_new(ERR_NETWORK, "no route");
    interactive_event(&v, &s.events[EVENT_RUN_END], &out);
    assert_lines(&out, "{'type':'thinking','isThinking':false}\n"
                       "{'type':'error','error':{'code':'network','category':'system',"
                       "'message':'no route','retryable':true,'recoverable':true}}\n");
}

TEST(a_run_that_waits_for_an_answer_is_interrupted_with_its_questions)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct interactive_view v = {.used = 5, .window = 1000};

    samples_init(&s);
    s.run_result.outcome = RUN_SUSPENDED;
    s.run_result.asks = &s.ask;
    s.run_result.n_asks = 1;
    s.run_result.n_accounting = 0;
    s.events[EVENT_RUN_END].history = NULL;
    interactive_event(&v, &s.events[EVENT_RUN_END], &out);
    assert_lines(&out, "{'type':'thinking','isThinking':false}\n"
                       "{'type':'interrupted','result':{'response':'Two files.','history':[],"
                       "'toolSummaries':[],'contextState':{'maxTokens':1000,'usedTokens':5,"
                       "'usedPercentage':0.5},'asks':[{'kind':'permission','toolCallId':'c1',"
                       "'toolName':'Bash','toolArgs':{'command':'ls'},'text':'Run ls?'}]}}\n");
}

TEST(an_edit_shows_the_lines_that_changed)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct interactive_view v = {0};
    struct event_tool *t = &s.events[EVENT_TOOL_RESULT].body.tool;

    samples_init(&s);
    t->name = S("Edit");
    t->args = sample_json(&s, "{\"file_path\":\"/p/a.c\",\"old_string\":\"x\"}");
    t->metadata = sample_json(&s, "{\"diff\":\"--- a.c\\n+++ a.c\\n@@ -3,2 +3,2 @@\\n one\\n-x\\n+y"
                                  "\\n\\\\ No newline at end of file\\n\"}");
    interactive_event(&v, &s.events[EVENT_TOOL_RESULT], &out);
    assert_lines(&out, "{'type':'tool_end','state':{'toolName':'Edit','toolCallId':'c1',"
                       "'firstArg':'/p/a.c','isRunning':false,'result':'success',"
                       "'diffFile':'/p/a.c','diffLines':["
                       "{'type':'context','text':'one','lineNumber':3},"
                       "{'type':'remove','text':'x','lineNumber':4},"
                       "{'type':'add','text':'y','lineNumber':4}]}}\n");
}

TEST(a_refused_call_is_denied_not_failed)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct interactive_view v = {0};
    struct event_tool *t = &s.events[EVENT_TOOL_RESULT].body.tool;

    samples_init(&s);
    t->is_ok = false;
    t->was_denied = true;
    t->args = NULL;
    interactive_event(&v, &s.events[EVENT_TOOL_RESULT], &out);
    assert_lines(&out, "{'type':'tool_end','state':{'toolName':'Bash','toolCallId':'c1',"
                       "'firstArg':'','isRunning':false,'result':'denied'}}\n");
}

TEST(what_happens_in_a_child_run_is_not_shown)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct interactive_view v = {0};

    samples_init(&s);
    for (int t = 0; t < EVENT_N_TYPES; t++) {
        s.events[t].parent_stream = S("s0");
        interactive_event(&v, &s.events[t], &out);
    }
    assert_lines(&out, "");
}

TEST(reasoning_and_arguments_are_no_text)
{
    static const enum delta_kind kinds[] = {DELTA_REASONING, DELTA_TOOL_BEGIN, DELTA_TOOL_ARGS,
                                            DELTA_SERVER_TOOL};
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct interactive_view v = {0};

    samples_init(&s);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        s.delta.kind = kinds[i];
        interactive_event(&v, &s.events[EVENT_DELTA], &out);
    }
    assert_lines(&out, "");
}

RUN_TESTS(UNIT(a_client_sees_the_eight_events),
          UNIT(a_result_has_the_messages_that_its_run_has_added),
          UNIT(a_summary_of_what_came_before_is_no_message_of_the_run),
          UNIT(a_run_that_failed_is_an_error),
          UNIT(a_run_that_waits_for_an_answer_is_interrupted_with_its_questions),
          UNIT(an_edit_shows_the_lines_that_changed), UNIT(a_refused_call_is_denied_not_failed),
          UNIT(what_happens_in_a_child_run_is_not_shown), UNIT(reasoning_and_arguments_are_no_text))
