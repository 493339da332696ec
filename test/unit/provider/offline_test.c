/* offline_test.c - the two models without a network: script and replay. */
#include "port/provider_conformance.h"

#include "model/message_json.h"
#include "provider/replay.h"
#include "provider/script.h"
#include "sys/loop.h"

struct world {
    struct provider *provider;
    struct strbuf seen; /* what the sink saw and how each request ended */
    int n_requests;
};

static void on_delta(void *self, const struct delta *d)
{
    static const char *const marks[] = {"T:", "R:", "F:", "B:", "A:", "S:"};
    struct world *w = self;

    strbuf_addf(&w->seen, "%s%" STR_FMT "%" STR_FMT "|", marks[d->kind], STR_ARG(d->text),
                STR_ARG(d->kind == DELTA_TOOL_BEGIN ? d->name : S("")));
}

static struct err *ask(void *arg)
{
    struct world *w = arg;

    for (int i = 0; i < w->n_requests; i++) {
        AUTO(reply) struct reply reply;
        AUTO(err) struct err *e = NULL;

        reply_init(&reply, (struct delta_sink){on_delta, w});
        e = provider_ask(w->provider, &(struct model_request){.model = S("m")},
                         &(struct provider_call){0}, &reply);
        if (e)
            strbuf_addf(&w->seen, "E:%s %s %lld\n", err_code(e->kind), e->text,
                        (long long)e->retry_after_ms);
        else
            strbuf_addf(&w->seen, "stop=%" STR_FMT "\n", STR_ARG(reply.stop_reason));
    }
    return NULL;
}

static void assert_plays(struct provider *provider, int n_requests, const char *want)
{
    struct world w = {.provider = provider, .n_requests = n_requests};
    struct virtual_clock clock;
    AUTO(loop) struct loop *loop = NULL;

    virtual_clock_init(&clock, 0);
    loop = loop_new(&clock.clock);
    assert_ok(loop_run(loop, ask, &w));
    assert_str(strbuf_str(&w.seen), want);
    strbuf_done(&w.seen);
}

TEST(a_script_plays_text_reasoning_tools_delays_errors_and_cuts)
{
    AUTO(provider) struct provider *p = NULL;

    assert_ok(
        script_provider_new(S("s"),
                            S("turns:\n"
                              "  - - {reasoning: hm}\n"
                              "    - {text: abcd, split: 3, delay_ms: 3600000}\n"
                              "    - {tool: Bash, args: {command: ls}, id: c1}\n"
                              "  - {error: RATE_LIMIT_ERROR, message: slow, retry_after_ms: 5}\n"
                              "  - [{text: par}, {cut: true}]\n"
                              "  - {text: end, stop: length}\n"),
                            &p));
    assert_plays(p, 5,
                 "R:hm|T:abc|T:d|B:Bash|A:{\"command\":\"ls\"}|stop=tool_calls\n"
                 "E:provider_rate_limit slow 5\n"
                 "T:par|E:network the stream ended before the answer was complete -1\n"
                 "T:end|stop=length\n"
                 "E:provider_error the script has 4 turns, but this is request 5 -1\n");
}

TEST(a_bad_script_is_told_with_turn_and_step)
{
    static const struct {
        const char *script, *message;
    } cases[] = {
        {"{}", "script: \"turns\" must be a list"},
        {"turns: [{txet: a}]", "script: turn 1, step 1 has the unknown key \"txet\""},
        {"turns: [[{text: a}, {error: nonsense}]]",
         "script: turn 1, step 2: \"nonsense\" is not an error code"},
        {"turns: [1]", "script: turn 1, step 1 must be a mapping"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct provider *p = NULL;
        AUTO(err) struct err *e = script_provider_new(S("s"), str_of(cases[i].script), &p);

        assert_non_null(e);
        assert_string_equal(e->text, cases[i].message);
    }
}

TEST(a_log_replays_its_answers_in_order_and_fails_on_one_too_many)
{
    AUTO(provider) struct provider *p = NULL;
    AUTO(strbuf) struct strbuf log = {0};
    AUTO(message) struct message *m = message_new(ROLE_ASSISTANT, S("a1"));
    struct json_writer w;

    message_add_text(m, S("recorded"));
    message_add(
        m, &(struct part){
               .kind = PART_TOOL_CALL, .id = S("c"), .name = S("Read"), .args = S("{\"p\":1}")});
    m->stop_reason = S("tool_use");
    strbuf_add_cstr(&log, "{\"event\":\"user\",\"content\":\"x\"}\n"
                          "{\"event\":\"provider_response_normalized\",\"response\":");
    jw_init(&w, &log);
    message_write(&w, m);
    strbuf_add_cstr(&log, "}\n{\"event\":\"provider_response_normalized\",\"response\":"
                          "{\"role\":\"assistant\",\"content\":\"old\",\"stopReason\":\"end\"}}\n"
                          "{\"event\":\"provider_resp");
    assert_ok(replay_provider_new(S("r"), strbuf_str(&log), &p));
    assert_plays(p, 3,
                 "T:recorded|B:Read|A:{\"p\":1}|stop=tool_use\n"
                 "T:old|stop=end\n"
                 "E:provider_error [replay] no recorded provider response for call #3 -1\n");
}

TEST(a_damaged_log_names_the_line)
{
    struct provider *p = NULL;
    AUTO(err) struct err *e = replay_provider_new(S("r"), S("{}\n{broken\n{}\n"), &p);

    assert_non_null(e);
    assert_string_equal(e->text, "replay: line 2 of the log");
}

static struct err *check_conformance(void *arg)
{
    provider_conforms(arg, &(struct provider_call){0});
    return NULL;
}

TEST(a_script_conforms)
{
    AUTO(provider) struct provider *p = NULL;
    AUTO(strbuf) struct strbuf script = {0};

    strbuf_add_cstr(&script, "turns:\n");
    for (int i = 0; i < PROVIDER_CONFORMANCE_REQUESTS; i++)
        strbuf_add_cstr(&script, "  - {text: '" CONFORMING_TEXT "', split: 4, delay_ms: 1}\n");
    assert_ok(script_provider_new(S("s"), strbuf_str(&script), &p));
    assert_ok(loop_run_once(check_conformance, p));
}

TEST(a_replay_conforms)
{
    AUTO(provider) struct provider *p = NULL;
    AUTO(strbuf) struct strbuf log = {0};

    for (int i = 0; i < PROVIDER_CONFORMANCE_REQUESTS; i++)
        strbuf_add_cstr(&log, "{\"event\":\"provider_response_normalized\",\"response\":{\"role\":"
                              "\"assistant\",\"content\":\"" CONFORMING_TEXT
                              "\",\"stopReason\":\"end\"}}\n");
    assert_ok(replay_provider_new(S("r"), strbuf_str(&log), &p));
    assert_ok(loop_run_once(check_conformance, p));
}

TEST(native_web_tools_are_refused_before_anything_is_sent)
{
    AUTO(provider) struct provider *p = NULL;
    AUTO(reply) struct reply reply;

    reply_init(&reply, (struct delta_sink){0});
    assert_ok(script_provider_new(S("s"), S("turns: [{text: a}]"), &p));
    assert_err(provider_ask(p, &(struct model_request){.web_search = true},
                            &(struct provider_call){0}, &reply),
               ERR_VALIDATION);
    assert_true(provider_capabilities(p, NULL).can_call_tools);
    assert_false(provider_capabilities(p, NULL).web_search.is_supported);
}

RUN_TESTS(UNIT(a_script_plays_text_reasoning_tools_delays_errors_and_cuts),
          UNIT(a_bad_script_is_told_with_turn_and_step),
          UNIT(a_log_replays_its_answers_in_order_and_fails_on_one_too_many),
          UNIT(a_damaged_log_names_the_line), UNIT(a_script_conforms), UNIT(a_replay_conforms),
          UNIT(native_web_tools_are_refused_before_anything_is_sent))
