/* run_events_test.c */
#include "view/run_events.h"
#include "view/samples.h"

#define HEAD(type, key, id, number)                                                                \
    "{'type':'" type "','" key "':'" id "','timestamp':'2023-11-14T22:13:20.000Z'"                 \
    ",'sequenceNumber':" number
#define RUN(type, number) HEAD(type, "runId", "r1", number)
#define SESSION(type, number) HEAD(type, "sessionId", "s1", number)

static void show_all(struct samples *s, struct run_events *v, struct strbuf *out)
{
    for (int t = 0; t < EVENT_N_TYPES; t++)
        run_events_event(v, &s->events[t], out);
}

TEST(a_run_is_told_by_its_id_and_numbered_without_a_gap)
{
    AUTO(samples) struct samples s;
    AUTO(run_events) struct run_events v = {0};
    AUTO(strbuf) struct strbuf out = {0};

    samples_init(&s);
    show_all(&s, &v, &out);
    assert_lines(
        &out,
        RUN("run:started", "0") ",'input':'list it','model':'model-a'}\n" RUN("agent:token", "1") ",'nodeId':'main','token':'I look.','model':'model-a'}\n" RUN(
            "cost:updated",
            "2") ",'nodeId':'main','model':'model-a','inputTokens':105,'outputTokens':10,"
                 "'costMicrocents':150000,'cumulativeCostMicrocents':150000,'attemptNumber':1}"
                 "\n" RUN("agent:tool_call",
                          "3") ",'nodeId':'main','model':'model-a','toolId':'Bash','toolCallId':'"
                               "c1',"
                               "'toolInput':{'command':'ls'},'attemptNumber':1}\n" RUN(
                                   "agent:tool_result",
                                   "4") ",'nodeId':'main','toolId':'Bash','toolCallId':'c1','"
                                        "success':true,"
                                        "'outputSummary':'a.c\\nb.c','attemptNumber':1}\n" RUN(
                                            "agent:approval_requested",
                                            "5") ",'nodeId':'main','kind':'permission','toolId':'"
                                                 "Bash','toolCallId':'c1',"
                                                 "'toolInput':{'command':'ls'},'text':'Run "
                                                 "ls?'}\n" RUN(
                                                     "human_gate:resumed",
                                                     "6") ",'nodeId':'main','kind':'permission','"
                                                          "toolId':'Bash','toolCallId':'c1',"
                                                          "'approved':true}\n" RUN(
                                                              "budget:warning",
                                                              "7") ",'message':'80 % is "
                                                                   "spent'}\n" RUN("run:completed",
                                                                                   "8") ",'output':"
                                                                                        "'Two "
                                                                                        "files.','"
                                                                                        "tokensUsed"
                                                                                        "':{'input'"
                                                                                        ":105,'"
                                                                                        "output':"
                                                                                        "10,'model'"
                                                                                        ":'model-a'"
                                                                                        "},"
                                                                                        "'costMicro"
                                                                                        "cents':"
                                                                                        "150000,'"
                                                                                        "durationMs"
                                                                                        "':300}\n");
}

TEST(a_session_is_told_by_turns)
{
    AUTO(samples) struct samples s;
    AUTO(run_events) struct run_events v = {.of_session = true};
    AUTO(strbuf) struct strbuf out = {0};

    samples_init(&s);
    show_all(&s, &v, &out);
    assert_lines(&out, SESSION("session:started", "0") ",'model':'model-a','cwd':'/p'}\n" SESSION("session:turn_started", "1") ",'input':'list it','model':'model-a'}\n" SESSION("session:compacted", "2") ",'trigger':'auto','tokensBefore':900,'tokensAfter':100}\n" SESSION("agent:token", "3") ",'nodeId':'main','token':'I look.','model':'model-a'}\n" SESSION(
                           "cost:updated",
                           "4") ",'nodeId':'main','model':'model-a','inputTokens':105,'"
                                "outputTokens':10,"
                                "'costMicrocents':150000,'cumulativeCostMicrocents':150000,'"
                                "attemptNumber':1}\n" SESSION(
                                    "agent:tool_call",
                                    "5") ",'nodeId':'main','model':'model-a','toolId':'Bash','"
                                         "toolCallId':'c1',"
                                         "'toolInput':{'command':'ls'},'attemptNumber':1}"
                                         "\n" SESSION(
                                             "agent:tool_result",
                                             "6") ",'nodeId':'main','toolId':'Bash','toolCallId':'"
                                                  "c1','success':true,"
                                                  "'outputSummary':'a.c\\nb.c','attemptNumber':1}"
                                                  "\n" SESSION(
                                                      "agent:approval_requested",
                                                      "7") ",'nodeId':'main','kind':'permission','"
                                                           "toolId':'Bash','toolCallId':'c1',"
                                                           "'toolInput':{'command':'ls'},'text':'"
                                                           "Run ls?'}\n" SESSION(
                                                               "human_gate:resumed",
                                                               "8") ",'nodeId':'main','kind':'"
                                                                    "permission','toolId':'Bash','"
                                                                    "toolCallId':'c1',"
                                                                    "'approved':true}\n" SESSION(
                                                                        "budget:warning",
                                                                        "9") ",'message':'80 % is "
                                                                             "spent'}\n" SESSION(
                                                                                 "s"
                                                                                 "e"
                                                                                 "s"
                                                                                 "s"
                                                                                 "i"
                                                                                 "o"
                                                                                 "n"
                                                                                 ":"
                                                                                 "t"
                                                                                 "u"
                                                                                 "r"
                                                                                 "n"
                                                                                 "_"
                                                                                 "c"
                                                                                 "o"
                                                                                 "m"
                                                                                 "p"
                                                                                 "l"
                                                                                 "e"
                                                                                 "t"
                                                                                 "e"
                                                                                 "d",
                                                                                 "1"
                                                                                 "0") ",'output':'"
                                                                                      "Two "
                                                                                      "files.','"
                                                                                      "tokensUsed':"
                                                                                      "{'input':"
                                                                                      "105,'output'"
                                                                                      ":10,'model':"
                                                                                      "'model-a'},"
                                                                                      "'costMicroce"
                                                                                      "nts':150000,"
                                                                                      "'durationMs'"
                                                                                      ":300}\n");
}

TEST(a_view_goes_on_where_another_stopped)
{
    AUTO(samples) struct samples s;
    AUTO(run_events) struct run_events v = {.next_number = 41};
    AUTO(strbuf) struct strbuf out = {0};

    samples_init(&s);
    s.delta.kind = DELTA_REASONING;
    run_events_event(&v, &s.events[EVENT_DELTA], &out);
    assert_lines(&out,
                 RUN("agent:reasoning", "41") ",'nodeId':'main','text':'I look.','model':''}\n");
}

TEST(child_runs_are_nodes_of_the_run)
{
    AUTO(samples) struct samples s;
    AUTO(run_events) struct run_events v = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct owner helper = {"agent", S("helper"), NULL}, inner = {"execution", S("r2"), &helper};

    samples_init(&s);
    run_events_event(&v, &s.events[EVENT_RUN_BEGIN], &out);
    strbuf_clear(&out);
    helper.parent = &s.call;
    for (int t = 0; t < EVENT_N_TYPES; t++) {
        s.events[t].owner = &inner;
        s.events[t].run_id = S("r2");
    }
    run_events_event(&v, &s.events[EVENT_RUN_BEGIN], &out);
    run_events_event(&v, &s.events[EVENT_RUN_END], &out);
    s.run_result.outcome = RUN_FAILED;
    s.run_result.error = err_new(ERR_TOOL_UNAVAILABLE, "nothing runs it");
    run_events_event(&v, &s.events[EVENT_RUN_END], &out);
    assert_lines(
        &out,
        RUN("node:started", "1") ",'nodeId':'helper','model':'model-a'}\n" RUN(
            "node:completed",
            "2") ",'nodeId':'helper','output':'Two files.',"
                 "'tokensUsed':{'input':105,'output':10,'model':''},'costMicrocents':150000,"
                 "'durationMs':300}\n" RUN(
                     "node:failed",
                     "3") ",'nodeId':'helper','output':'Two files.',"
                          "'tokensUsed':{'input':105,'output':10,'model':''},'costMicrocents':"
                          "150000,"
                          "'durationMs':300,'error':{'code':'internal','message':'nothing runs it',"
                          "'retryable':false}}\n");
}

TEST(an_event_within_a_node_names_the_node)
{
    AUTO(samples) struct samples s;
    AUTO(run_events) struct run_events v = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct owner node = {"node", S("review"), NULL}, helper = {"agent", S("helper"), NULL},
                 inner = {"execution", S("r2"), &helper};

    samples_init(&s);
    s.agent.parent = &node;
    helper.parent = &s.call;
    run_events_event(&v, &s.events[EVENT_DELTA], &out);
    assert_str(json_get_text(sample_json(&s, strbuf_cstr(&out)), "nodeId"), "review");
    strbuf_clear(&out);
    s.events[EVENT_DELTA].owner = &inner; /* a subagent of it */
    run_events_event(&v, &s.events[EVENT_DELTA], &out);
    assert_str(json_get_text(sample_json(&s, strbuf_cstr(&out)), "nodeId"), "review");
}

static const char *last_type(struct samples *s, enum event_type t)
{
    static char type[64];
    AUTO(run_events) struct run_events v = {0};
    AUTO(strbuf) struct strbuf out = {0};

    run_events_event(&v, &s->events[t], &out);
    snprintf(type, sizeof type, "%" STR_FMT,
             STR_ARG(json_get_text(sample_json(s, strbuf_cstr(&out)), "type")));
    return type;
}

TEST(every_ending_has_its_name)
{
    AUTO(samples) struct samples s;

    samples_init(&s);
    s.run_result.outcome = RUN_SUSPENDED;
    assert_string_equal(last_type(&s, EVENT_RUN_END), "run:paused");
    s.run_result.outcome = RUN_INTERRUPTED;
    assert_string_equal(last_type(&s, EVENT_RUN_END), "run:cancelled");
    s.run_result.outcome = RUN_FAILED;
    s.run_result.error = err_new(ERR_PROVIDER_AUTH, "no key");
    assert_string_equal(last_type(&s, EVENT_RUN_END), "run:failed");
    s.run_result.error->kind = ERR_TIMEOUT;
    assert_string_equal(last_type(&s, EVENT_RUN_END), "run:timeout");
}

TEST(every_question_has_its_name)
{
    AUTO(samples) struct samples s;

    samples_init(&s);
    s.ask.kind = ASK_QUESTION;
    assert_string_equal(last_type(&s, EVENT_ASKED), "human_gate:paused");
    s.ask.kind = ASK_BUDGET;
    assert_string_equal(last_type(&s, EVENT_ASKED), "budget:paused");
}

TEST(a_long_result_is_summed_up)
{
    AUTO(samples) struct samples s;
    AUTO(run_events) struct run_events v = {0};
    AUTO(strbuf) struct strbuf out = {0}, text = {0};

    samples_init(&s);
    for (int i = 0; i < 10000; i++)
        strbuf_add_cstr(&text, "word ");
    s.text.text = strbuf_str(&text);
    run_events_event(&v, &s.events[EVENT_TOOL_RESULT], &out);
    assert_true(out.n < 600);
    assert_true(str_find(strbuf_str(&out), S("characters left out")) != STR_NONE);
}

RUN_TESTS(UNIT(a_run_is_told_by_its_id_and_numbered_without_a_gap),
          UNIT(a_session_is_told_by_turns), UNIT(a_view_goes_on_where_another_stopped),
          UNIT(child_runs_are_nodes_of_the_run), UNIT(an_event_within_a_node_names_the_node),
          UNIT(every_ending_has_its_name), UNIT(every_question_has_its_name),
          UNIT(a_long_result_is_summed_up))
