/* library_test.c */
#include "view/library.h"
#include "view/samples.h"

#define META                                                                                       \
    ",'meta':{'isMaster':true,'pendingHandoffCount':0,'handoffConfigured':false,'isFinal':false}}"
#define LOG(severity, direction, type, remote)                                                     \
    "'entry':{'timestamp':1700000000000,'severity':'" severity                                     \
    "','turn':1,'subturn':1,'direction':'" direction "','type':'" type                             \
    "','remoteIdentifier':'" remote "'"
#define AGENT ",'agentId':'main'}}"
#define LOG_LINE(severity, direction, type, remote, message)                                       \
    "{'event':{'type':'log'," LOG(severity, direction, type, remote) ",'message':'" message        \
                                                                     "'" AGENT META "\n"
#define LLM_ENTRY                                                                                  \
    "{'type':'llm','timestamp':1700000000000,'status':'ok','latency':120,'provider':'anthropic',"  \
    "'model':'model-a','costUsd':0.0015,'tokens':{'inputTokens':100,'outputTokens':10,"            \
    "'cachedTokens':5,'totalTokens':115}}"
#define TOOL_ENTRY                                                                                 \
    "{'type':'tool','timestamp':1700000000000,'status':'ok','latency':7,'mcpServer':'agent',"      \
    "'command':'Bash','charactersIn':16,'charactersOut':7}"
#define TREE                                                                                       \
    "{'id':'r1','agentId':'main','startedAt':1699999999700,'endedAt':1700000000000,"               \
    "'success':true,'turns':2,'ops':[" LLM_ENTRY "," TOOL_ENTRY "],'totals':{'tokensIn':105,"      \
    "'tokensOut':10,'tokensCacheRead':5,'tokensCacheWrite':0,'costUsd':0.0015,'toolsRun':1}}"

TEST(a_run_gives_the_twelve_types)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct library_view v = {.trace_llm = true};

    samples_init(&s);
    for (int t = 0; t < EVENT_N_TYPES; t++)
        library_event(&v, &s.events[t], &out);
    /* clang-format off */
    assert_lines(&out,
        "{'event':{'type':'progress','event':{'type':'agent_started','agentId':'main',"
        "'txnId':'r1','timestamp':1700000000000}}" META "\n"
        LOG_LINE("VRB", "response", "llm", "agent:compaction", "auto: 900 tokens became 100")
        LOG_LINE("WRN", "request", "llm", "agent:EXIT-TOKEN-LIMIT", "token_limit")
        "{'event':{'type':'turn_started','turn':1,'attempt':1,'isRetry':false,'isFinalTurn':false}"
        META "\n"
        LOG_LINE("VRB", "request", "llm", "anthropic:model-a", "1 messages, 1 tools")
        "{'event':{'type':'log'," LOG("TRC", "response", "llm", "anthropic")
        ",'message':'{\\'type\\':\\n"
        "\\'ping\\'}'" AGENT META "\n"
        "{'event':{'type':'output','text':'I look.'},'meta':{'isMaster':true,"
        "'pendingHandoffCount':0,'handoffConfigured':false,'isFinal':false,'source':'stream'}}\n"
        LOG_LINE("VRB", "response", "llm", "anthropic:model-a", "115 tokens in 120 ms")
        "{'event':{'type':'accounting','entry':" LLM_ENTRY "}" META "\n"
        LOG_LINE("WRN", "response", "llm", "anthropic:model-a",
                 "trying again in 250 ms: the model is overloaded")
        LOG_LINE("WRN", "response", "llm", "anthropic:model-a",
                 "continuing with openai:model-b: the model is overloaded")
        LOG_LINE("WRN", "response", "llm", "agent:text-dropped",
                 "the text of the failed attempt is discarded")
        LOG_LINE("THK", "response", "llm", "anthropic:model-a", "hm")
        "{'event':{'type':'progress','event':{'type':'tool_started','agentId':'main','txnId':'r1',"
        "'timestamp':1700000000000,'tool':'Bash','callId':'c1'}}" META "\n"
        LOG_LINE("VRB", "request", "tool", "agent:agent:Bash", "{\\'command\\':\\'ls\\'}")
        "{'event':{'type':'progress','event':{'type':'agent_update','agentId':'main','txnId':'r1',"
        "'timestamp':1700000000000,'message':'a.c'}}" META "\n"
        "{'event':{'type':'status','event':{'type':'agent_update','agentId':'main','txnId':'r1',"
        "'timestamp':1700000000000,'message':'a.c'}}" META "\n"
        "{'event':{'type':'progress','event':{'type':'tool_finished','agentId':'main',"
        "'txnId':'r1','timestamp':1700000000000,'tool':'Bash','callId':'c1','status':'ok',"
        "'latencyMs':7,'charactersIn':16,'charactersOut':7}}" META "\n"
        LOG_LINE("VRB", "response", "tool", "agent:agent:Bash", "7 characters in 7 ms")
        "{'event':{'type':'accounting','entry':" TOOL_ENTRY "}" META "\n"
        LOG_LINE("WRN", "response", "llm", "budget", "80 % is spent")
        LOG_LINE("ERR", "response", "llm", "agent:error", "the model is overloaded")
        "{'event':{'type':'progress','event':{'type':'agent_finished','agentId':'main',"
        "'txnId':'r1','timestamp':1700000000000,'metrics':{'durationMs':300,'tokensIn':105,"
        "'tokensOut':10,'toolsRun':1,'costUsd':0.0015}}}" META "\n"
        "{'event':{'type':'final_report','report':{'format':'text','content':'Two files.',"
        "'ts':1700000000000}},'meta':{'isMaster':true,'pendingHandoffCount':0,"
        "'handoffConfigured':false,'isFinal':true}}\n"
        LOG_LINE("VRB", "response", "llm", "agent:EXIT-FINAL-ANSWER", "done")
        LOG_LINE("FIN", "response", "llm", "summary",
                 "requests=1 failed=0 tokensIn=100 tokensOut=10 cacheRead=5 cacheWrite=0 "
                 "costUsd=0.00150000 latencyMs=120")
        LOG_LINE("FIN", "response", "tool", "summary",
                 "requests=1 failed=0 charactersIn=16 charactersOut=7 latencyMs=7")
        "{'event':{'type':'accounting_flush','payload':{'sessionId':'s1','originId':'r1',"
        "'timestamp':1700000000000,'entries':[" LLM_ENTRY "," TOOL_ENTRY "]}}" META "\n"
        "{'event':{'type':'op_tree','tree':" TREE "}" META "\n"
        "{'event':{'type':'snapshot','payload':{'sessionId':'s1','originId':'r1',"
        "'timestamp':1700000000000,'reason':'final','snapshot':{'version':1,'opTree':" TREE "}}}"
        META "\n");
    /* clang-format on */
}

TEST(an_attempt_says_why_it_is_the_last_turn_and_what_failed_before)
{
    static const char *const slugs[] = {"provider_unavailable", "timeout"};
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct library_view v = {0};
    struct event_attempt *a = &s.events[EVENT_ATTEMPT_BEGIN].body.attempt;

    samples_init(&s);
    a->is_retry = a->is_final_turn = true;
    a->forced = FINAL_TURN_LIMIT;
    a->retry_slugs = slugs;
    a->n_retry_slugs = 2;
    library_event(&v, &s.events[EVENT_ATTEMPT_BEGIN], &out);
    /* clang-format off */
    assert_lines(&out,
        "{'event':{'type':'turn_started','turn':1,'attempt':1,'isRetry':true,'isFinalTurn':true,"
        "'forcedFinalReason':'turn_limit','retrySlugs':['provider_unavailable','timeout']}" META "\n");
    /* clang-format on */
}

TEST(a_report_that_the_next_agent_gets_is_a_handoff)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct library_view v = {.has_handoff = true, .n_pending_handoffs = 1, .format = "json"};

    samples_init(&s);
    s.run_result.value = s.args;
    library_event(&v, &s.events[EVENT_RUN_END], &out);
    assert_true(str_find(strbuf_str(&out), S("\"type\":\"final_report\"")) == STR_NONE);
    assert_true(str_find(strbuf_str(&out),
                         S("{\"type\":\"handoff\",\"report\":{\"format\":\"json\","
                           "\"content_json\":{\"command\":\"ls\"},\"ts\":1700000000000}},"
                           "\"meta\":{\"isMaster\":true,\"pendingHandoffCount\":1,"
                           "\"handoffConfigured\":true,\"isFinal\":false}}\n")) != STR_NONE);
}

TEST(a_run_that_failed_has_no_report_but_its_summaries)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct library_view v = {0};

    samples_init(&s);
    s.run_result.outcome = RUN_FAILED;
    s.run_result.error = err_new(ERR_TURN_LIMIT, "no answer after 10 rounds");
    library_event(&v, &s.events[EVENT_RUN_END], &out);
    assert_true(str_find(strbuf_str(&out), S("final_report")) == STR_NONE);
    assert_true(str_find(strbuf_str(&out), S("agent_failed")) != STR_NONE);
    assert_true(str_find(strbuf_str(&out), S("agent:EXIT-MAX-TURNS-NO-RESPONSE")) != STR_NONE);
    assert_true(str_find(strbuf_str(&out), S("\"FIN\",\"turn\":1,\"subturn\":1,\"direction\":"
                                             "\"response\",\"type\":\"llm\"")) != STR_NONE);
    assert_true(str_find(strbuf_str(&out), S("\"FIN\",\"turn\":1,\"subturn\":1,\"direction\":"
                                             "\"response\",\"type\":\"tool\"")) != STR_NONE);
}

TEST(a_failed_attempt_is_accounted_with_its_error_and_zero_tokens)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct library_view v = {0};
    struct event_attempt *a = &s.events[EVENT_ATTEMPT_END].body.attempt;

    samples_init(&s);
    a->error = s.error;
    a->usage = NULL;
    a->cost_microcents = -1;
    library_event(&v, &s.events[EVENT_ATTEMPT_END], &out);
    /* clang-format off */
    assert_lines(&out,
        LOG_LINE("ERR", "response", "llm", "anthropic:model-a", "the model is overloaded")
        "{'event':{'type':'accounting','entry':{'type':'llm','timestamp':1700000000000,"
        "'status':'failed','latency':120,'provider':'anthropic','model':'model-a',"
        "'tokens':{'inputTokens':0,'outputTokens':0,'totalTokens':0},"
        "'error':'the model is overloaded'}}" META "\n");
    /* clang-format on */
}

TEST(a_router_s_entry_names_who_really_answered_and_what_it_took)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    samples_init(&s);
    s.accounting[0].usage.routed_provider = S("together");
    s.accounting[0].usage.routed_model = S("llama");
    s.accounting[0].usage.upstream_microcents = 120000;
    jw_init(&w, &out);
    accounting_write(&w, &s.accounting[0]);
    assert_lines(&out, "{'type':'llm','timestamp':1700000000000,'status':'ok','latency':120,"
                       "'provider':'anthropic','model':'model-a','actualProvider':'together',"
                       "'actualModel':'llama','costUsd':0.0015,'upstreamInferenceCostUsd':0.0012,"
                       "'tokens':{'inputTokens':100,"
                       "'outputTokens':10,'cachedTokens':5,'totalTokens':115}}");
}

static const char *accounted_tool(struct samples *s, const char *server, const char *name,
                                  const char *error)
{
    static char text[256];
    AUTO(strbuf) struct strbuf out = {0};
    struct event_tool *t = &s->events[EVENT_TOOL_RESULT].body.tool;
    struct library_view v = {0};
    struct str lines, line = {0};
    const struct json *entry;

    t->name = str_of(name);
    t->server = str_of(server);
    t->is_ok = !error;
    t->error_code = error;
    library_event(&v, &s->events[EVENT_TOOL_RESULT], &out);
    lines = str_trim(strbuf_str(&out));
    while (lines.n && str_split(&lines, '\n', &line))
        continue;
    entry = json_get(json_get(sample_json(s, arena_cstr(&s->arena, line)), "event"), "entry");
    snprintf(text, sizeof text, "%" STR_FMT " %" STR_FMT " %" STR_FMT " %d",
             STR_ARG(json_get_text(entry, "status")), STR_ARG(json_get_text(entry, "mcpServer")),
             STR_ARG(json_get_text(entry, "error")),
             (int)json_int_or(json_get(entry, "charactersOut"), -1));
    return text;
}

TEST(tools_are_accounted_to_their_server_and_failures_to_nobody)
{
    AUTO(samples) struct samples s;

    samples_init(&s);
    assert_string_equal(accounted_tool(&s, "", "Bash", NULL), "ok agent  7");
    assert_string_equal(accounted_tool(&s, "", "Bash", "tool_failed"),
                        "failed agent tool_failed 7");
    assert_string_equal(accounted_tool(&s, "github", "mcp__github__search", NULL), "ok github  7");
    assert_string_equal(accounted_tool(&s, "github", "mcp__github__search", "tool_failed"),
                        "failed unknown tool_failed 0");
    s.events[EVENT_TOOL_RESULT].body.tool.was_executed = false;
    assert_string_equal(accounted_tool(&s, "", "Nope", "unknown_tool"),
                        "failed unknown unknown_tool 0");
}

TEST(a_log_names_the_server_of_a_tool_and_the_name_that_it_has_there)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct event_tool *t = &s.events[EVENT_TOOL_BEGIN].body.tool;
    struct library_view v = {0};

    samples_init(&s);
    t->server = S("github");
    t->name = S("mcp__github__search");
    library_event(&v, &s.events[EVENT_TOOL_BEGIN], &out);
    assert_non_null(strstr(strbuf_cstr(&out), "\"mcp:github:search\""));
    strbuf_clear(&out);
    t->name = S("search");
    library_event(&v, &s.events[EVENT_TOOL_BEGIN], &out);
    assert_non_null(strstr(strbuf_cstr(&out), "\"mcp:github:search\""));
}

TEST(logs_name_the_headend_and_wire_bytes_only_when_they_are_asked_for)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct library_view v = {.headend_id = "rest:8080"};

    samples_init(&s);
    library_event(&v, &s.events[EVENT_NATIVE_PAYLOAD], &out);
    assert_lines(&out, "");
    library_event(&v, &s.events[EVENT_NOTICE], &out);
    /* clang-format off */
    assert_lines(&out,
        "{'event':{'type':'log'," LOG("WRN", "response" , "llm" , "budget" )
        ",'message':'80 % is spent','agentId':'main','headendId':'rest:8080'}}" META "\n");
    /* clang-format on */
}

TEST(output_says_where_it_comes_from)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct library_view v = {.is_sub_agent = true};

    samples_init(&s);
    s.events[EVENT_DELTA].body.delta.source = SOURCE_FINALIZE;
    library_event(&v, &s.events[EVENT_DELTA], &out);
    assert_lines(&out, "{'event':{'type':'output','text':'I look.'},'meta':{'isMaster':false,"
                       "'pendingHandoffCount':0,'handoffConfigured':false,'isFinal':false,"
                       "'source':'finalize'}}\n");
}

RUN_TESTS(UNIT(a_run_gives_the_twelve_types),
          UNIT(an_attempt_says_why_it_is_the_last_turn_and_what_failed_before),
          UNIT(a_report_that_the_next_agent_gets_is_a_handoff),
          UNIT(a_run_that_failed_has_no_report_but_its_summaries),
          UNIT(a_failed_attempt_is_accounted_with_its_error_and_zero_tokens),
          UNIT(a_router_s_entry_names_who_really_answered_and_what_it_took),
          UNIT(tools_are_accounted_to_their_server_and_failures_to_nobody),
          UNIT(a_log_names_the_server_of_a_tool_and_the_name_that_it_has_there),
          UNIT(logs_name_the_headend_and_wire_bytes_only_when_they_are_asked_for),
          UNIT(output_says_where_it_comes_from))
