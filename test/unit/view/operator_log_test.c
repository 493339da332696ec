/* operator_log_test.c - what an operator reads of a session, and what not. */
#include "view/samples.h"

#include "view/operator_log.h"

struct scene {
    struct samples samples;
    struct virtual_clock clock;
    struct strbuf lines;
    struct log *log;
};

static bool add_line(void *self, struct str line)
{
    strbuf_add(self, line);
    return true;
}

static void scene_init(struct scene *s, enum log_level level)
{
    *s = (struct scene){0};
    samples_init(&s->samples);
    virtual_clock_init(&s->clock, 0);
    s->log = log_new(level, &s->clock.clock, (struct log_sink){add_line, &s->lines});
}

static void scene_done(struct scene *s)
{
    log_free(s->log);
    strbuf_done(&s->lines);
    samples_done(&s->samples);
}
DEFINE_AUTO_VAL(scene, scene_done)

/* The line of an event without when, which process and where in the session. */
static void assert_line(struct scene *s, enum event_type t, const char *level, const char *want)
{
    struct str line, place = S("\"session\":\"s1\",\"run\":\"r1\",\"turn\":1,\"round\":1,"
                               "\"attempt\":1");
    AUTO(strbuf) struct strbuf got = {0};
    size_t at;

    strbuf_clear(&s->lines);
    operator_log_event(s->log, &s->samples.events[t]);
    line = strbuf_str(&s->lines);
    at = str_find(line, S("\"level\":"));
    strbuf_add(&got, str_slice(line, at, str_find(line, S(",\"pid\"")) - at));
    at = str_find(line, S("\"event\":"));
    strbuf_add_char(&got, ' ');
    strbuf_add(&got, str_slice(line, at, str_find(line, place) - at));
    at = str_find(line, place) + place.n;
    strbuf_add(&got, str_skip(line, at));
    line = strbuf_str(&got);
    assert_true(str_starts(line, S("\"level\":\"")));
    line = str_skip(line, strlen("\"level\":\""));
    assert_true(str_starts(line, str_of(level)));
    line = str_skip(line, strlen(level) + 2);
    assert_str(line, want);
}

TEST(a_run_is_summed_up_with_what_it_cost)
{
    AUTO(scene) struct scene s;

    scene_init(&s, LOG_INFO);
    assert_line(&s, EVENT_RUN_BEGIN, "info",
                "\"event\":\"run_begin\",,\"policy\":\"conversation\",\"provider\":\"anthropic\","
                "\"model\":\"model-a\",\"inputBytes\":7}\n");
    assert_line(&s, EVENT_RUN_END, "info",
                "\"event\":\"run_end\",,\"outcome\":\"done\",\"stopReason\":\"end_turn\","
                "\"durationMs\":300,\"rounds\":2,\"attempts\":2,\"toolCalls\":1,\"denied\":1,"
                "\"inputTokens\":105,\"cacheReadTokens\":5,\"outputTokens\":10,"
                "\"costUsd\":0.0015}\n");
}

TEST(a_failed_run_is_an_error_with_its_kind_and_what_to_do)
{
    AUTO(scene) struct scene s;

    scene_init(&s, LOG_ERROR);
    s.samples.run_result.outcome = RUN_FAILED;
    s.samples.run_result.error =
        err_hint(err_new(ERR_PROVIDER_RATE_LIMIT, "slow down"), "wait a while");
    assert_line(&s, EVENT_RUN_END, "error",
                "\"event\":\"run_end\",,\"outcome\":\"failed\",\"stopReason\":\"end_turn\","
                "\"durationMs\":300,\"rounds\":2,\"attempts\":2,\"toolCalls\":1,\"denied\":1,"
                "\"inputTokens\":105,\"cacheReadTokens\":5,\"outputTokens\":10,"
                "\"costUsd\":0.0015,\"code\":\"provider_rate_limit\",\"message\":\"slow down\","
                "\"hint\":\"wait a while\"}\n");
}

TEST(an_attempt_says_status_request_and_why_it_failed)
{
    AUTO(scene) struct scene s;
    AUTO(err) struct err *e = err_new(ERR_PROVIDER_UNAVAILABLE, "overloaded");
    struct event_attempt *a = &s.samples.events[EVENT_ATTEMPT_END].body.attempt;

    scene_init(&s, LOG_INFO);
    a->is_lost = false;
    a->http_status = 200;
    a->request_id = S("req_1");
    assert_line(&s, EVENT_ATTEMPT_END, "info",
                "\"event\":\"attempt_end\",,\"provider\":\"anthropic\",\"model\":\"model-a\","
                "\"status\":200,\"requestId\":\"req_1\",\"durationMs\":120,\"inputTokens\":105,"
                "\"cacheReadTokens\":5,\"outputTokens\":10,\"costUsd\":0.0015}\n");
    e->peer_status = 529;
    a->error = e;
    a->usage = NULL;
    a->cost_microcents = -1;
    assert_line(&s, EVENT_ATTEMPT_END, "warning",
                "\"event\":\"attempt_end\",,\"provider\":\"anthropic\",\"model\":\"model-a\","
                "\"status\":529,\"requestId\":\"req_1\",\"durationMs\":120,"
                "\"code\":\"provider_unavailable\",\"message\":\"overloaded\"}\n");
}

TEST(a_call_says_how_long_it_took_and_how_it_ended)
{
    AUTO(scene) struct scene s;
    struct event_tool *t = &s.samples.events[EVENT_TOOL_RESULT].body.tool;

    scene_init(&s, LOG_INFO);
    assert_line(&s, EVENT_TOOL_RESULT, "info",
                "\"event\":\"tool\",,\"tool\":\"Bash\",\"call\":\"c1\",\"ok\":true,"
                "\"durationMs\":7,\"charsIn\":16,\"charsOut\":7}\n");
    t->is_ok = t->was_executed = false;
    t->was_denied = true;
    t->error_code = "tool_denied";
    assert_line(&s, EVENT_TOOL_RESULT, "info",
                "\"event\":\"tool\",,\"tool\":\"Bash\",\"call\":\"c1\",\"ok\":false,"
                "\"denied\":true,\"charsIn\":16,\"charsOut\":7,\"code\":\"tool_denied\"}\n");
}

TEST(a_notice_has_the_level_of_its_severity)
{
    AUTO(scene) struct scene s;

    scene_init(&s, LOG_WARNING);
    assert_line(&s, EVENT_NOTICE, "warning",
                "\"event\":\"notice\",,\"source\":\"budget\",\"message\":\"80 % is spent\"}\n");
    s.samples.events[EVENT_NOTICE].body.notice.severity = SEVERITY_ERROR;
    assert_line(&s, EVENT_NOTICE, "error",
                "\"event\":\"notice\",,\"source\":\"budget\",\"message\":\"80 % is spent\"}\n");
    s.samples.events[EVENT_NOTICE].body.notice.severity = SEVERITY_INFO;
    strbuf_clear(&s.lines);
    operator_log_event(s.log, &s.samples.events[EVENT_NOTICE]);
    assert_int_equal(s.lines.n, 0);
}

/* Whoever reads the log of a server need not be one who may read its sessions. */
TEST(what_people_models_and_tools_wrote_is_in_no_line)
{
    static const char *const written[] = {"list it", "I look.",    "hm",       "ls",
                                          "a.c",     "Two files.", "Be brief", "the maze"};
    AUTO(scene) struct scene s;

    scene_init(&s, LOG_DEBUG);
    for (int t = 0; t < EVENT_N_TYPES; t++)
        operator_log_event(s.log, &s.samples.events[t]);
    assert_true(s.lines.n > 0);
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        AUTO(strbuf) struct strbuf quoted = {0};

        strbuf_addf(&quoted, "\"%s", written[i]);
        if (strstr(strbuf_cstr(&s.lines), strbuf_cstr(&quoted)))
            fail_msg("\"%s\" is in %s", written[i], strbuf_cstr(&s.lines));
    }
}

TEST(a_child_names_its_parent)
{
    AUTO(scene) struct scene s;

    scene_init(&s, LOG_INFO);
    s.samples.events[EVENT_RUN_BEGIN].parent_stream = S("s0");
    operator_log_event(s.log, &s.samples.events[EVENT_RUN_BEGIN]);
    assert_non_null(strstr(strbuf_cstr(&s.lines), "\"session\":\"s1\",\"parent\":\"s0\",\"run\""));
}

RUN_TESTS(UNIT(a_run_is_summed_up_with_what_it_cost),
          UNIT(a_failed_run_is_an_error_with_its_kind_and_what_to_do),
          UNIT(an_attempt_says_status_request_and_why_it_failed),
          UNIT(a_call_says_how_long_it_took_and_how_it_ended),
          UNIT(a_notice_has_the_level_of_its_severity),
          UNIT(what_people_models_and_tools_wrote_is_in_no_line), UNIT(a_child_names_its_parent))
