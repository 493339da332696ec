/* stream_json_test.c */
#include "view/samples.h"

#include "base/uuid.h"
#include "view/stream_json.h"

/* --- golden text --- */

#define USAGE(input, cached, output)                                                               \
    "'usage':{'input_tokens':" input ",'cache_creation_input_tokens':0,"                           \
    "'cache_read_input_tokens':" cached ",'output_tokens':" output ","                             \
    "'output_tokens_details':{'thinking_tokens':0},"                                               \
    "'server_tool_use':{'web_search_requests':0,'web_fetch_requests':0},"                          \
    "'service_tier':'standard',"                                                                   \
    "'cache_creation':{'ephemeral_1h_input_tokens':0,'ephemeral_5m_input_tokens':0},"              \
    "'inference_geo':'','iterations':[],'speed':'standard','fallback_credit':null}"
/* The seed of run r1 ends with cc; the line's number is mixed in. */
#define END(last) ",'session_id':'s1','uuid':'018bcfe5-6800-7b22-8bb5-e39bfff37a" last "'}\n"
#define MAIN ",'parent_tool_use_id':null"
#define MESSAGE(id, content)                                                                       \
    "'message':{'id':'" id                                                                         \
    "','type':'message','role':'assistant','model':'model-a','content':[" content                  \
    "],'stop_reason':null,'stop_sequence':null,'stop_details':null,'container':null,"              \
    "'context_management':null,'diagnostics':null," USAGE("100", "5", "10") "}"
#define EVENT(event) "{'type':'stream_event','event':{" event "}" MAIN

static const char *const tools[] = {"Bash", "Read"};
static const struct stream_json_options options = {.session_id = "s1",
                                                   .cwd = "/p",
                                                   .model = "model-x",
                                                   .permission_mode = "default",
                                                   .version = "2.1.0",
                                                   .api_key_source = "none",
                                                   .tools = tools,
                                                   .n_tools = 2};

/* A view, with its run begun: what that gave is thrown away. */
struct watch {
    struct samples s;
    struct stream_json *view;
    struct strbuf out;
};

static void watch_done(struct watch *w)
{
    stream_json_free(w->view);
    strbuf_done(&w->out);
    samples_done(&w->s);
}
DEFINE_AUTO_VAL(watch, watch_done)

static void see(struct watch *w, enum event_type t)
{
    stream_json_event(w->view, &w->s.events[t], &w->out);
}

static void watch_init(struct watch *w, bool include_partial)
{
    struct stream_json_options o = options;

    *w = (struct watch){0};
    samples_init(&w->s);
    o.include_partial = include_partial;
    w->view = stream_json_new(&o);
    see(w, EVENT_RUN_BEGIN);
    strbuf_clear(&w->out);
}

static void see_delta(struct watch *w, struct delta d)
{
    w->s.delta = d;
    see(w, EVENT_DELTA);
}

/* "stream_event/content_block_delta assistant ...": the lines by their names only. */
static void assert_names(struct watch *w, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};
    struct str rest = strbuf_str(&w->out), line;

    while (rest.n && str_split(&rest, '\n', &line)) {
        const struct json *v = sample_json(&w->s, arena_cstr(&w->s.arena, line));
        struct str sub = json_get_text(v, "subtype");

        if (sub.n == 0)
            sub = json_get_text(json_get(v, "event"), "type");
        strbuf_addf(&got, "%s%" STR_FMT "%s%" STR_FMT, got.n ? " " : "",
                    STR_ARG(json_get_text(v, "type")), sub.n ? "/" : "", STR_ARG(sub));
    }
    strbuf_clear(&w->out);
    assert_str(strbuf_str(&got), want);
}

/* --- whole messages --- */

TEST(a_run_begins_with_an_init_line)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    AUTO(stream_json) struct stream_json *view = stream_json_new(&options);

    samples_init(&s);
    stream_json_event(view, &s.events[EVENT_RUN_BEGIN], &out);
    assert_lines(&out, "{'type':'system','subtype':'init','cwd':'/p','tools':['Bash','Read'],"
                       "'mcp_servers':[],'model':'model-a','permissionMode':'default',"
                       "'slash_commands':[],'apiKeySource':'none','claude_code_version':'2.1.0',"
                       "'output_style':'default','agents':[],'skills':[],'plugins':[]" END("cc"));
}

TEST(each_block_of_a_committed_message_is_a_line_and_they_share_its_id)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_RESPONSE_RAW);
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_lines(&w.out, "{'type':'assistant'," MESSAGE(
                             "msg_7", "{'type':'thinking','thinking':'hm','signature':'sig'}")
                             MAIN END("cd") "{'type':'assistant'," MESSAGE(
                                 "msg_7", "{'type':'text','text':'I look.','citations':null}")
                                 MAIN END("ce") "{'type':'assistant'," MESSAGE(
                                     "msg_7", "{'type':'tool_use','id':'c1','name':'Bash',"
                                              "'input':{  'command': 'ls'}}") MAIN END("cf"));
}

/* A part of the sample's answer has come whole. */
static void see_end(struct watch *w, size_t part)
{
    w->s.events[EVENT_DELTA].body.delta.part = &w->s.answer->parts[part];
    see_delta(w, (struct delta){.kind = DELTA_END, .part = part});
}

TEST(a_block_has_its_line_when_it_ends_and_the_message_gives_the_rest)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_ATTEMPT_BEGIN);
    see_end(&w, 0);
    assert_names(&w, "assistant");
    see_end(&w, 1);
    assert_true(str_find(strbuf_str(&w.out), S("\"I look.\"")) != STR_NONE);
    assert_true(str_find(strbuf_str(&w.out), S("\"id\":\"msg_7\"")) != STR_NONE);
    strbuf_clear(&w.out);
    see(&w, EVENT_RESPONSE_RAW);
    see(&w, EVENT_ATTEMPT_END);
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_true(str_find(strbuf_str(&w.out), S("tool_use")) != STR_NONE);
    assert_names(&w, "assistant");
}

TEST(lines_keep_the_order_of_their_blocks)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_ATTEMPT_BEGIN);
    see_end(&w, 2); /* the ones before it have not ended */
    assert_names(&w, "");
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_names(&w, "assistant assistant assistant");
}

TEST(with_pieces_a_line_stands_before_the_end_of_its_block)
{
    AUTO(watch) struct watch w;

    watch_init(&w, true);
    see(&w, EVENT_ATTEMPT_BEGIN);
    see_delta(&w, (struct delta){.kind = DELTA_REASONING, .part = 0, .text = S("hm")});
    see_end(&w, 0);
    see_delta(&w, (struct delta){.kind = DELTA_TEXT, .part = 1, .text = S("I look.")});
    see_end(&w, 1);
    assert_names(&w, "stream_event/message_start stream_event/content_block_start "
                     "stream_event/content_block_delta "
                     "assistant stream_event/content_block_stop "
                     "stream_event/content_block_start stream_event/content_block_delta "
                     "assistant stream_event/content_block_stop");
}

TEST(lines_of_an_answer_that_is_dropped_are_taken_back)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_ATTEMPT_BEGIN);
    see_end(&w, 0);
    see(&w, EVENT_ATTEMPT_END);
    strbuf_clear(&w.out);
    see(&w, EVENT_RETRY);
    assert_true(str_find(strbuf_str(&w.out), S("\"message_id\":\"msg_7\"")) != STR_NONE);
    assert_names(&w, "system/assistant_dropped system/api_retry");
    see(&w, EVENT_ATTEMPT_BEGIN);
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_names(&w, "assistant assistant assistant");
}

TEST(a_message_without_an_answer_behind_it_has_its_own_id)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_RESPONSE_RAW);
    see(&w, EVENT_ASSISTANT_COMMITTED);
    strbuf_clear(&w.out);
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_true(str_find(strbuf_str(&w.out), S("\"id\":\"m2\"")) != STR_NONE);
}

TEST(redacted_reasoning_and_calls_of_free_text_are_blocks_too)
{
    AUTO(watch) struct watch w;
    AUTO(message) struct message *m = message_new(ROLE_ASSISTANT, S("m9"));

    watch_init(&w, false);
    message_add(m, &(struct part){.kind = PART_REASONING, .data = S("enc")});
    message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                  .id = S("c2"),
                                  .name = S("Patch"),
                                  .args = S("*** Begin"),
                                  .is_free_text = true});
    message_add(m, &(struct part){.kind = PART_CITATION, .text = S("no block of its own")});
    message_set_origin(m, (struct origin){.model = S("model-a")});
    m->usage = w.s.usage;
    w.s.events[EVENT_ASSISTANT_COMMITTED].body.message.message = m;
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_lines(
        &w.out,
        "{'type':'assistant'," MESSAGE("m9", "{'type':'redacted_thinking','data':'enc'}")
            MAIN END("cd") "{'type':'assistant'," MESSAGE("m9", "{'type':'tool_use','id':'c2',"
                                                                "'name':'Patch','input':{'input':"
                                                                "'*** Begin'}}") MAIN END("ce"));
}

TEST(a_failure_that_is_told_as_a_message_is_marked)
{
    AUTO(watch) struct watch w;
    AUTO(message) struct message *m = message_new(ROLE_ASSISTANT, S("m9"));

    watch_init(&w, false);
    message_add_text(m, S("The model is overloaded."));
    m->is_error = true;
    w.s.events[EVENT_ATTEMPT_END].body.attempt.error = w.s.error;
    w.s.events[EVENT_ASSISTANT_COMMITTED].body.message.message = m;
    see(&w, EVENT_ATTEMPT_END);
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_lines(&w.out,
                 "{'type':'assistant','message':{'id':'m9','type':'message','role':'assistant',"
                 "'model':'<synthetic>','content':[{'type':'text','text':"
                 "'The model is overloaded.','citations':null}],'stop_reason':null,"
                 "'stop_sequence':null,'stop_details':null,'container':null,"
                 "'context_management':null,'diagnostics':null," USAGE(
                     "0", "0", "0") "}" MAIN ",'error':'overloaded'" END("cd"));
}

TEST(an_interrupted_message_says_so)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.answer->state = MESSAGE_INTERRUPTED;
    w.s.answer->n_parts = 1;
    see(&w, EVENT_ASSISTANT_COMMITTED);
    assert_lines(&w.out, "{'type':'assistant'," MESSAGE("m2", "{'type':'thinking',"
                                                              "'thinking':'hm','signature':'sig'}")
                             MAIN ",'aborted':true" END("cd"));
}

/* --- results of tools --- */

#define USER(content) "{'type':'user','message':{'role':'user','content':[" content "]}"
#define AT ",'timestamp':'2023-11-14T22:13:20.000Z'"

TEST(a_tool_s_result_is_a_user_line)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_TOOL_RESULT);
    assert_lines(&w.out,
                 USER("{'tool_use_id':'c1','type':'tool_result','content':'a.c\\nb.c',"
                      "'is_error':false}") MAIN AT ",'tool_use_result':{'exitCode':0}" END("cd"));
}

TEST(a_tool_s_failure_is_told_as_text)
{
    AUTO(watch) struct watch w;
    struct event_tool *t = &w.s.events[EVENT_TOOL_RESULT].body.tool;

    watch_init(&w, false);
    t->is_ok = false;
    w.s.text.text = S("no such file");
    see(&w, EVENT_TOOL_RESULT);
    assert_lines(&w.out, USER("{'tool_use_id':'c1','type':'tool_result','content':'no such file',"
                              "'is_error':true}") MAIN AT
                 ",'tool_use_result':'Error: no such file'" END("cd"));
}

TEST(a_result_with_an_image_is_a_list_of_blocks)
{
    AUTO(watch) struct watch w;
    struct part content[] = {
        {.kind = PART_TEXT, .text = S("seen")},
        {.kind = PART_MEDIA, .media = {S("image/png"), MEDIA_BYTES, S("abc"), S("")}},
        {.kind = PART_MEDIA, .media = {S("application/pdf"), MEDIA_URL, S("https://x/y"), S("")}},
        {.kind = PART_MEDIA, .media = {S("image/png"), MEDIA_BLOB, S("00ff"), S("")}},
    };

    watch_init(&w, false);
    w.s.result.content = content;
    w.s.result.n_content = 4;
    w.s.events[EVENT_TOOL_RESULT].body.tool.metadata = NULL;
    see(&w, EVENT_TOOL_RESULT);
    assert_lines(
        &w.out,
        USER("{'tool_use_id':'c1','type':'tool_result','content':["
             "{'type':'text','text':'seen','citations':null},"
             "{'type':'image','source':{'type':'base64','media_type':'image/png','data':'YWJj'}},"
             "{'type':'document','source':{'type':'url','url':'https://x/y'}},"
             "{'type':'text','text':'[image/png, stored as 00ff]','citations':null}],"
             "'is_error':false}") MAIN AT END("cd"));
}

/* --- pieces --- */

TEST(pieces_are_shown_only_when_they_are_asked_for)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_ATTEMPT_BEGIN);
    see(&w, EVENT_PROVIDER_REQUEST);
    see(&w, EVENT_DELTA);
    see(&w, EVENT_RESPONSE_RAW);
    see(&w, EVENT_ATTEMPT_END);
    assert_names(&w, "");
}

TEST(a_message_streams_in_block_by_block)
{
    AUTO(watch) struct watch w;
    size_t part;

    watch_init(&w, true);
    assert_ok(reply_begin(&w.s.reply, PART_REASONING, S(""), S(""), &part));
    reply_part(&w.s.reply, part)->signature = reply_str(&w.s.reply, S("sig"));
    w.s.reply.model = S("model-a");
    see(&w, EVENT_ATTEMPT_BEGIN);
    see(&w, EVENT_PROVIDER_REQUEST);
    see_delta(&w, (struct delta){.kind = DELTA_REASONING, .part = part, .text = S("hm")});
    see_delta(&w, (struct delta){.kind = DELTA_TEXT, .part = 2, .text = S("I look.")});
    see_delta(
        &w, (struct delta){.kind = DELTA_TOOL_BEGIN, .part = 3, .id = S("c1"), .name = S("Bash")});
    see_delta(&w, (struct delta){.kind = DELTA_TOOL_ARGS, .part = 3, .text = S("{\"a\":1}")});
    see(&w, EVENT_RESPONSE_RAW);
    see(&w, EVENT_ATTEMPT_END);
    assert_lines(
        &w.out,
        "{'type':'system','subtype':'status','status':'requesting'" END("cd")
            EVENT("'type':'message_start'," MESSAGE("msg_7", "")) END("ce") EVENT(
                "'type':'content_block_start','index':0,'content_block':{'type':'thinking',"
                "'thinking':'','signature':''}") END("cf")
                EVENT("'type':'content_block_delta','index':0,'delta':{'type':'thinking_delta',"
                      "'thinking':'hm'}") END("c8") EVENT("'type':'content_block_delta','index':0,'"
                                                          "delta':{'type':'signature_delta',"
                                                          "'signature':'sig'}") END("c9")
                    EVENT("'type':'content_block_stop','index':0") END("ca") EVENT(
                        "'type':'content_block_start','index':1,'content_block':{'type':'text','"
                        "text':'',"
                        "'citations':null}") END("cb")
                        EVENT("'type':'content_block_delta','index':1,'delta':{'type':'text_delta',"
                              "'text':'I look.'}") END("c4")
                            EVENT("'type':'content_block_stop','index':1") END("c5") EVENT(
                                "'type':'content_block_start','index':2,'content_block':{'type':'"
                                "tool_use',"
                                "'id':'c1','name':'Bash','input':{}}") END("c6")
                                EVENT("'type':'content_block_delta','index':2,'delta':{'type':'"
                                      "input_json_delta',"
                                      "'partial_json':'{\\'a\\':1}'}") END("c7")
                                    EVENT("'type':'content_block_stop','index':2") END("c0") EVENT(
                                        "'type':'message_delta','context_management':null,'delta':{"
                                        "'stop_reason':'tool_use','stop_sequence':null,'stop_"
                                        "details':null,"
                                        "'container':null}," USAGE("100", "5", "10")) END("c1")
                                        EVENT("'type':'message_stop'") END("c2"));
}

TEST(pieces_of_calls_that_come_mixed_go_to_their_own_blocks)
{
    AUTO(watch) struct watch w;

    watch_init(&w, true);
    see_delta(&w, (struct delta){.kind = DELTA_TOOL_BEGIN, .part = 0, .id = S("c1")});
    see_delta(&w, (struct delta){.kind = DELTA_TOOL_BEGIN, .part = 1, .id = S("c2")});
    strbuf_clear(&w.out);
    see_delta(&w, (struct delta){.kind = DELTA_TOOL_ARGS, .part = 0, .text = S("{}")});
    assert_lines(&w.out, EVENT("'type':'content_block_delta','index':0,'delta':{"
                               "'type':'input_json_delta','partial_json':'{}'}") END("c9"));
}

TEST(a_message_that_breaks_off_ends_before_the_next_begins)
{
    AUTO(watch) struct watch w;

    watch_init(&w, true);
    see(&w, EVENT_ATTEMPT_BEGIN);
    see(&w, EVENT_DELTA);
    w.s.events[EVENT_ATTEMPT_END].body.attempt.error = w.s.error;
    see(&w, EVENT_ATTEMPT_END);
    see(&w, EVENT_RETRY);
    see(&w, EVENT_ATTEMPT_BEGIN);
    see(&w, EVENT_DELTA);
    assert_names(&w, "stream_event/message_start stream_event/content_block_start "
                     "stream_event/content_block_delta stream_event/content_block_stop "
                     "stream_event/message_stop system/api_retry stream_event/message_start "
                     "stream_event/content_block_start stream_event/content_block_delta");
}

TEST(what_the_model_did_not_say_is_no_piece_of_its_message)
{
    AUTO(watch) struct watch w;

    watch_init(&w, true);
    w.s.events[EVENT_DELTA].body.delta.is_separator = true;
    see(&w, EVENT_DELTA);
    w.s.events[EVENT_DELTA].body.delta.is_separator = false;
    w.s.events[EVENT_DELTA].body.delta.source = SOURCE_FINALIZE;
    see(&w, EVENT_DELTA);
    assert_names(&w, "");
}

TEST(pieces_and_message_share_an_id_though_the_provider_gives_none)
{
    AUTO(watch) struct watch w;
    struct str rest, line, first = {0};

    watch_init(&w, true);
    w.s.reply.id = S("");
    see(&w, EVENT_ATTEMPT_BEGIN);
    see(&w, EVENT_DELTA);
    see(&w, EVENT_RESPONSE_RAW);
    see(&w, EVENT_ASSISTANT_COMMITTED);
    rest = strbuf_str(&w.out);
    while (rest.n && str_split(&rest, '\n', &line)) {
        const struct json *v = sample_json(&w.s, arena_cstr(&w.s.arena, line));
        struct str id = json_get_text(json_get(v, "message"), "id");

        if (id.n == 0)
            id = json_get_text(json_get(json_get(v, "event"), "message"), "id");
        if (id.n && first.n)
            assert_true(str_eq(id, first));
        else if (id.n)
            first = id;
    }
    assert_true(str_starts(first, S("msg_")));
}

/* --- children --- */

TEST(lines_of_a_child_run_name_the_call_that_started_it)
{
    AUTO(watch) struct watch w;
    struct owner helper = {"agent", S("helper"), NULL}, inner = {"execution", S("r2"), &helper};

    watch_init(&w, true);
    helper.parent = &w.s.call;
    for (int t = 0; t < EVENT_N_TYPES; t++) {
        w.s.events[t].owner = &inner;
        see(&w, (enum event_type)t);
    }
    assert_true(str_find(strbuf_str(&w.out), S("\"parent_tool_use_id\":null")) == STR_NONE);
    assert_true(str_find(strbuf_str(&w.out), S("\"parent_tool_use_id\":\"c1\"")) != STR_NONE);
    assert_names(&w, "assistant assistant assistant user"); /* no init, no pieces, no result */
}

TEST(a_child_run_that_no_call_started_is_not_the_main_run)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.events[EVENT_TOOL_RESULT].parent_stream = S("s0");
    w.s.events[EVENT_TOOL_RESULT].run_id = S("r2");
    see(&w, EVENT_TOOL_RESULT);
    assert_true(str_find(strbuf_str(&w.out), S("\"parent_tool_use_id\":\"r2\"")) != STR_NONE);
}

/* --- the end --- */

#define RESULT(cost, models)                                                                       \
    ",'total_cost_usd':" cost                                                                      \
    "," USAGE("100", "5", "10") ",'modelUsage':{" models "}"                                       \
                                ",'permission_denials':[{'tool_name':'Write','tool_use_id':'c0',"  \
                                "'tool_input':{'command':'ls'}}]"
#define MODEL(n, cost)                                                                             \
    "'model-a':{'inputTokens':" n "00,'outputTokens':" n "0,'thinkingTokens':0,"                   \
    "'cacheReadInputTokens':5,'cacheCreationInputTokens':0,'webSearchRequests':0,"                 \
    "'costUSD':" cost ",'contextWindow':500000,'maxOutputTokens':64000}"

TEST(a_run_ends_with_its_result)
{
    AUTO(watch) struct watch w;
    struct model_info info = {.context_window = 500000, .max_output = 64000};

    watch_init(&w, false);
    w.s.request.info = &info;
    w.s.reply.stop = STOP_END;
    see(&w, EVENT_PROVIDER_REQUEST);
    see(&w, EVENT_RESPONSE_RAW);
    see(&w, EVENT_ATTEMPT_END);
    see(&w, EVENT_RUN_END);
    assert_lines(&w.out,
                 "{'type':'result','subtype':'success','is_error':false,'api_error_status':null,"
                 "'duration_ms':300,'duration_api_ms':200,'num_turns':2,'result':'Two files.',"
                 "'stop_reason':'end_turn'" RESULT(
                     "0.0015", MODEL("1", "0.0015")) ",'terminal_reason':'completed'" END("cd"));
}

TEST(an_answer_that_fits_a_schema_is_structured_output)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.run_result.value = w.s.args;
    see(&w, EVENT_RUN_END);
    assert_true(str_find(strbuf_str(&w.out), S(",\"structured_output\":{\"command\":\"ls\"},")) !=
                STR_NONE);
}

TEST(a_run_that_waits_names_the_call_that_it_waits_for)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.run_result.outcome = RUN_SUSPENDED;
    w.s.run_result.asks = &w.s.ask;
    w.s.run_result.n_asks = 1;
    see(&w, EVENT_RUN_END);
    assert_true(
        str_find(strbuf_str(&w.out), S("\"deferred_tool_use\":{\"id\":\"c1\",\"name\":\"Bash\","
                                       "\"input\":{\"command\":\"ls\"}},\"terminal_reason\":"
                                       "\"tool_deferred\"")) != STR_NONE);
    assert_true(str_find(strbuf_str(&w.out),
                         S(",\"asks\":[{\"kind\":\"permission\",\"text\":\"Run ls?\","
                           "\"tool_use_id\":\"c1\",\"tool_name\":\"Bash\",\"tool_input\":{"
                           "\"command\":\"ls\"}}]")) != STR_NONE);
}

TEST(a_run_that_waits_for_more_budget_says_what_is_asked)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.ask = (struct ask){.kind = ASK_BUDGET, .text = S("$1 is used. Continue?")};
    w.s.run_result.outcome = RUN_SUSPENDED;
    w.s.run_result.text = S("");
    w.s.run_result.stop_reason = S("");
    w.s.run_result.asks = &w.s.ask;
    w.s.run_result.n_asks = 1;
    see(&w, EVENT_RUN_END);
    assert_lines(&w.out,
                 "{'type':'result','subtype':'error_max_budget_usd','is_error':true,"
                 "'api_error_status':null,'duration_ms':300,'duration_api_ms':200,'num_turns':2,"
                 "'result':'$1 is used. Continue?','stop_reason':null" RESULT(
                     "0.0015", "") ",'terminal_reason':'budget_exhausted','asks':[{'kind':'budget',"
                                   "'text':'$1 is used. Continue?'}],'errors':['$1 is used. "
                                   "Continue?'],'error_code':'budget_exceeded'" END("cd"));
}

TEST(a_failed_run_tells_its_error_its_code_and_what_to_do)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.run_result.outcome = RUN_FAILED;
    w.s.run_result.text = S("");
    w.s.run_result.stop_reason = S("");
    w.s.run_result.error = err_hint(err_new(ERR_PROVIDER_AUTH, "the key is refused"), "set it");
    w.s.run_result.error->peer_status = 401;
    see(&w, EVENT_RUN_END);
    assert_lines(&w.out,
                 "{'type':'result','subtype':'error_during_execution','is_error':true,"
                 "'api_error_status':401,'duration_ms':300,'duration_api_ms':200,'num_turns':2,"
                 "'result':'the key is refused','stop_reason':null" RESULT(
                     "0.0015", "") ",'terminal_reason':'api_error','errors':['the key is refused'],"
                                   "'error_code':'provider_auth','hint':'set it'" END("cd"));
}

/* "subtype terminal_reason" of a run that ends like this. */
static const char *ending(enum run_outcome outcome, enum err_kind kind, enum final_reason forced,
                          bool is_fallback, bool answered)
{
    static char text[128];
    AUTO(watch) struct watch w;
    const struct json *line;

    watch_init(&w, false);
    if (answered && outcome == RUN_INTERRUPTED)
        see(&w, EVENT_BATCH_BEGIN);
    w.s.run_result.outcome = outcome;
    w.s.run_result.forced = forced;
    w.s.run_result.is_fallback = is_fallback;
    w.s.accounting[0].is_ok = answered;
    if (outcome == RUN_FAILED)
        w.s.run_result.error = err_new(kind, "why");
    see(&w, EVENT_RUN_END);
    line = sample_json(&w.s, strbuf_cstr(&w.out));
    snprintf(text, sizeof text, "%" STR_FMT " %" STR_FMT, STR_ARG(json_get_text(line, "subtype")),
             STR_ARG(json_get_text(line, "terminal_reason")));
    return text;
}

static const char *failure(enum err_kind kind, bool answered)
{
    return ending(RUN_FAILED, kind, FINAL_NONE, false, answered);
}

TEST(every_ending_has_the_word_of_the_reference)
{
    assert_string_equal(ending(RUN_DONE, 0, FINAL_TURN_LIMIT, false, true), "success max_turns");
    assert_string_equal(ending(RUN_DONE, 0, FINAL_TURN_LIMIT, true, true),
                        "error_max_turns max_turns");
    assert_string_equal(ending(RUN_INTERRUPTED, 0, FINAL_NONE, false, false),
                        "error_during_execution aborted_streaming");
    assert_string_equal(ending(RUN_INTERRUPTED, 0, FINAL_NONE, false, true),
                        "error_during_execution aborted_tools");
    assert_string_equal(failure(ERR_TURN_LIMIT, true), "error_max_turns max_turns");
    assert_string_equal(failure(ERR_BUDGET_EXCEEDED, true),
                        "error_max_budget_usd budget_exhausted");
    assert_string_equal(failure(ERR_VALIDATION, true),
                        "error_max_structured_output_retries structured_output_retry_exhausted");
    assert_string_equal(failure(ERR_VALIDATION, false), "error_during_execution api_error");
    assert_string_equal(failure(ERR_CONTEXT_OVERFLOW, true),
                        "error_during_execution prompt_too_long");
    assert_string_equal(failure(ERR_MODEL_NOT_AVAILABLE, false),
                        "error_during_execution model_error");
    assert_string_equal(failure(ERR_CONFIGURATION, false),
                        "error_during_execution turn_setup_failed");
    assert_string_equal(failure(ERR_STORAGE, true), "error_during_execution ");
}

TEST(what_is_wrong_before_anybody_is_asked_is_no_error_of_the_api)
{
    AUTO(watch) struct watch w;
    const struct json *line;

    watch_init(&w, false);
    w.s.run_result.outcome = RUN_FAILED;
    w.s.run_result.error = err_new(ERR_VALIDATION, "why");
    w.s.run_result.n_accounting = 0;
    see(&w, EVENT_RUN_END);
    line = sample_json(&w.s, strbuf_cstr(&w.out));
    assert_str(json_get_text(line, "terminal_reason"), "turn_setup_failed");
}

TEST(a_forced_answer_says_why_it_was_forced)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.run_result.forced = FINAL_TURN_LIMIT;
    see(&w, EVENT_RUN_END);
    assert_true(str_find(strbuf_str(&w.out), S("\"forced_final_reason\":\"turn_limit\"")) !=
                STR_NONE);
}

static void assert_cost(int64_t microcents, const char *want)
{
    AUTO(watch) struct watch w;
    const struct json *cost;

    watch_init(&w, false);
    w.s.run_result.cost_microcents = microcents;
    see(&w, EVENT_RUN_END);
    cost = json_get(sample_json(&w.s, strbuf_cstr(&w.out)), "total_cost_usd");
    assert_str(cost->text, want);
}

TEST(money_is_an_exact_decimal_number)
{
    assert_cost(0, "0");
    assert_cost(-1, "0");
    assert_cost(1, "0.00000001");
    assert_cost(75000, "0.00075");
    assert_cost(100000000, "1");
    assert_cost(123456789, "1.23456789");
    assert_cost(INT64_MAX, "92233720368.54775807");
}

TEST(costs_add_up_over_the_runs_of_one_view)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_RUN_END);
    w.s.events[EVENT_RUN_BEGIN].run_id = S("r2");
    see(&w, EVENT_RUN_BEGIN);
    strbuf_clear(&w.out);
    see(&w, EVENT_RUN_END);
    assert_true(str_find(strbuf_str(&w.out), S("\"total_cost_usd\":0.003,")) != STR_NONE);
}

/* --- all lines --- */

TEST(a_compaction_is_a_boundary)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    see(&w, EVENT_COMPACTED);
    assert_lines(&w.out, "{'type':'system','subtype':'compact_boundary','compact_metadata':{"
                         "'trigger':'auto','pre_tokens':900,'post_tokens':100}" END("cd"));
}

TEST(a_retry_says_when_and_why)
{
    AUTO(watch) struct watch w;

    watch_init(&w, false);
    w.s.error->peer_status = 529;
    see(&w, EVENT_RETRY);
    assert_lines(&w.out, "{'type':'system','subtype':'api_retry','attempt':1,'max_retries':4,"
                         "'retry_delay_ms':250,'error_status':529,'error':'overloaded'" END("cd"));
    w.s.error->kind = ERR_NETWORK;
    w.s.error->peer_status = 0;
    see(&w, EVENT_RETRY);
    assert_lines(&w.out,
                 "{'type':'system','subtype':'api_retry','attempt':1,'max_retries':4,"
                 "'retry_delay_ms':250,'error_status':null,'error':'server_error'" END("ce"));
}

TEST(no_two_lines_have_the_same_uuid)
{
    static char seen[128][UUID_TEXT_SIZE];
    AUTO(watch) struct watch w;
    size_t n = 0;

    watch_init(&w, true);
    for (int run = 0; run < 2; run++) {
        struct str rest, line;

        for (int t = 0; t < EVENT_N_TYPES; t++) {
            w.s.events[t].run_id = run ? S("r2") : S("r1");
            see(&w, (enum event_type)t);
        }
        rest = strbuf_str(&w.out);
        while (rest.n && str_split(&rest, '\n', &line) && n < ARRAY_LEN(seen)) {
            const struct json *v = sample_json(&w.s, arena_cstr(&w.s.arena, line));
            struct str uuid = json_get_text(v, "uuid");

            assert_true(uuid_is_valid(uuid));
            for (size_t i = 0; i < n; i++)
                assert_false(str_is(uuid, seen[i]));
            memcpy(seen[n], uuid.p, uuid.n);
            n++;
        }
        strbuf_clear(&w.out);
    }
    assert_true(n > 20 && n < ARRAY_LEN(seen));
}

RUN_TESTS(UNIT(a_run_begins_with_an_init_line),
          UNIT(each_block_of_a_committed_message_is_a_line_and_they_share_its_id),
          UNIT(a_block_has_its_line_when_it_ends_and_the_message_gives_the_rest),
          UNIT(lines_keep_the_order_of_their_blocks),
          UNIT(with_pieces_a_line_stands_before_the_end_of_its_block),
          UNIT(lines_of_an_answer_that_is_dropped_are_taken_back),
          UNIT(a_message_without_an_answer_behind_it_has_its_own_id),
          UNIT(redacted_reasoning_and_calls_of_free_text_are_blocks_too),
          UNIT(a_failure_that_is_told_as_a_message_is_marked), UNIT(an_interrupted_message_says_so),
          UNIT(a_tool_s_result_is_a_user_line), UNIT(a_tool_s_failure_is_told_as_text),
          UNIT(a_result_with_an_image_is_a_list_of_blocks),
          UNIT(pieces_are_shown_only_when_they_are_asked_for),
          UNIT(a_message_streams_in_block_by_block),
          UNIT(pieces_of_calls_that_come_mixed_go_to_their_own_blocks),
          UNIT(a_message_that_breaks_off_ends_before_the_next_begins),
          UNIT(what_the_model_did_not_say_is_no_piece_of_its_message),
          UNIT(pieces_and_message_share_an_id_though_the_provider_gives_none),
          UNIT(lines_of_a_child_run_name_the_call_that_started_it),
          UNIT(a_child_run_that_no_call_started_is_not_the_main_run),
          UNIT(a_run_ends_with_its_result), UNIT(an_answer_that_fits_a_schema_is_structured_output),
          UNIT(a_run_that_waits_names_the_call_that_it_waits_for),
          UNIT(a_run_that_waits_for_more_budget_says_what_is_asked),
          UNIT(a_failed_run_tells_its_error_its_code_and_what_to_do),
          UNIT(every_ending_has_the_word_of_the_reference),
          UNIT(a_forced_answer_says_why_it_was_forced),
          UNIT(what_is_wrong_before_anybody_is_asked_is_no_error_of_the_api),
          UNIT(money_is_an_exact_decimal_number), UNIT(costs_add_up_over_the_runs_of_one_view),
          UNIT(a_compaction_is_a_boundary), UNIT(a_retry_says_when_and_why),
          UNIT(no_two_lines_have_the_same_uuid))
