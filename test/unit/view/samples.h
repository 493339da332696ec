/* samples.h - one event of every type, made by hand: a run that asks, calls Bash once and answers.
 *
 * Tests change what they need in place. Everything is owned by the struct. */
#ifndef KEEL_TEST_UNIT_VIEW_SAMPLES_H
#define KEEL_TEST_UNIT_VIEW_SAMPLES_H

#include "test.h"

#include "port/event.h"

#define SAMPLE_TIME 1700000000000 /* 2023-11-14T22:13:20.000Z */

struct samples {
    struct event events[EVENT_N_TYPES];
    struct arena arena;
    struct owner agent, execution, call;
    struct message *prompt, *answer, *tool_message;
    const struct message *messages[1];
    struct history history;
    struct tool_set *tools;
    struct tool_def bash;
    const struct tool_def *defs[1];
    struct model_request request;
    struct str overlays[1];
    struct native_payload payload;
    struct delta delta;
    struct reply reply;
    struct usage usage, assumed;
    struct part text, result;
    struct json *args, *details;
    struct snapshot_record snapshot;
    struct ask ask;
    struct answer yes;
    struct err *error;
    struct accounting_entry accounting[2];
    struct denial denial;
    struct run_result run_result;
};

/* Golden text is written with ' for ", so that it can be read. Empties `got`. */
static inline void assert_lines_(struct strbuf *got, const char *want, const char *file, int line)
{
    char *text = mem_strdup(want);

    for (char *c = text; *c; c++)
        if (*c == '\'')
            *c = '"';
    assert_str_(strbuf_str(got), text, file, line);
    mem_free(text);
    strbuf_clear(got);
}
#define assert_lines(got, want) assert_lines_((got), (want), __FILE__, __LINE__)

static inline struct json *sample_json(struct samples *s, const char *text)
{
    struct json *v = NULL;

    assert_ok(json_parse(&s->arena, str_of(text), 0, &v));
    return v;
}

static inline void sample_messages(struct samples *s)
{
    s->prompt = message_new(ROLE_USER, S("m1"));
    message_add_text(s->prompt, S("list it"));
    s->answer = message_new(ROLE_ASSISTANT, S("m2"));
    message_add(s->answer,
                &(struct part){.kind = PART_REASONING, .text = S("hm"), .signature = S("sig")});
    message_add_text(s->answer, S("I look."));
    message_add(s->answer, &(struct part){.kind = PART_TOOL_CALL,
                                          .id = S("c1"),
                                          .name = S("Bash"),
                                          .args = S("{\n \"command\": \"ls\"}")});
    message_set_origin(s->answer,
                       (struct origin){S("anthropic"), S("anthropic-messages"), S("model-a")});
    s->answer->usage = s->usage;
    s->text = (struct part){.kind = PART_TEXT, .text = S("a.c\nb.c")};
    s->result = (struct part){.kind = PART_TOOL_RESULT,
                              .id = S("c1"),
                              .name = S("Bash"),
                              .content = &s->text,
                              .n_content = 1};
    s->tool_message = message_new(ROLE_TOOL, S("m3"));
    message_add(s->tool_message, &s->result);
    history_add_message(&s->history, s->prompt, SAMPLE_TIME);
    s->messages[0] = s->prompt;
}

static inline void sample_reply(struct samples *s)
{
    size_t part;

    reply_init(&s->reply, (struct delta_sink){0});
    s->reply.id = reply_str(&s->reply, S("msg_7"));
    s->reply.model = reply_str(&s->reply, S("model-a-2026"));
    assert_ok(reply_begin(&s->reply, PART_TEXT, S(""), S(""), &part));
    assert_ok(reply_add_text(&s->reply, part, S("I look.")));
    reply_set_stop(&s->reply, S("tool_use"), STOP_TOOL_CALLS);
    s->reply.usage = s->usage;
    s->reply.is_complete = true;
    reply_finish(&s->reply);
}

static inline void sample_tools(struct samples *s)
{
    s->bash = (struct tool_def){.name = S("Bash"),
                                .description = S("Runs a command"),
                                .input_schema = sample_json(s, "{\"type\":\"object\"}")};
    s->defs[0] = &s->bash;
    s->tools = mem_alloc(sizeof *s->tools);
    s->tools->n_refs = 1;
    s->tools->version = 3;
    s->tools->n = 1;
    s->tools->entries = ARENA_NEW(&s->tools->arena, struct tool_entry);
    s->tools->entries[0].def = s->bash;
    s->request = (struct model_request){.provider = S("anthropic"),
                                        .model = S("model-a"),
                                        .system = S("Be brief."),
                                        .messages = s->messages,
                                        .n_messages = 1,
                                        .tools = s->defs,
                                        .n_tools = 1,
                                        .max_output = 1000,
                                        .stream = true};
    s->overlays[0] = S("Answer now.");
}

static inline void sample_result(struct samples *s)
{
    s->accounting[0] = (struct accounting_entry){.type = ACCOUNT_LLM,
                                                 .unix_ms = SAMPLE_TIME,
                                                 .is_ok = true,
                                                 .duration_ms = 120,
                                                 .provider = S("anthropic"),
                                                 .model = S("model-a"),
                                                 .usage = s->usage,
                                                 .cost_microcents = 150000};
    s->accounting[1] = (struct accounting_entry){.type = ACCOUNT_TOOL,
                                                 .unix_ms = SAMPLE_TIME,
                                                 .is_ok = true,
                                                 .duration_ms = 7,
                                                 .server = S("agent"),
                                                 .command = S("Bash"),
                                                 .n_chars_in = 16,
                                                 .n_chars_out = 7};
    s->denial = (struct denial){S("Write"), S("c0"), s->args, S("not allowed")};
    s->run_result = (struct run_result){.run_id = S("r1"),
                                        .outcome = RUN_DONE,
                                        .text = S("Two files."),
                                        .stop_reason = S("end_turn"),
                                        .n_rounds = 2,
                                        .n_attempts = 2,
                                        .n_tools_executed = 1,
                                        .usage = s->usage,
                                        .cost_microcents = 150000,
                                        .cost_is_known = true,
                                        .duration_ms = 300,
                                        .api_duration_ms = 200,
                                        .accounting = s->accounting,
                                        .n_accounting = 2,
                                        .denials = &s->denial,
                                        .n_denials = 1};
}

static inline void sample_bodies(struct samples *s)
{
    struct event *e = s->events;
    struct event_attempt attempt = {.provider = S("anthropic"),
                                    .model = S("model-a"),
                                    .max_attempts = 5,
                                    .usage = &s->usage,
                                    .cost_microcents = 150000,
                                    .total_microcents = 150000,
                                    .duration_ms = 120};
    struct event_attempt failed = {.provider = S("anthropic"),
                                   .model = S("model-a"),
                                   .max_attempts = 5,
                                   .error = s->error,
                                   .delay_ms = 250,
                                   .next_provider = S("openai"),
                                   .next_model = S("model-b")};
    struct event_tool tool = {.batch_id = S("b1"),
                              .name = S("Bash"),
                              .call_id = S("c1"),
                              .args = s->args,
                              .owner = &s->call,
                              .risk = RISK_EXECUTE,
                              .progress = S("a.c"),
                              .is_ok = true,
                              .was_executed = true,
                              .result = &s->result,
                              .metadata = s->details,
                              .duration_ms = 7,
                              .n_chars_in = 16,
                              .n_chars_out = 7,
                              .message = s->tool_message};

    e[EVENT_SESSION_BEGIN].body.session = (struct event_session){.cwd = S("/p"),
                                                                 .provider = S("anthropic"),
                                                                 .model = S("model-a"),
                                                                 .system = S("Be brief."),
                                                                 .tools = s->tools};
    e[EVENT_SESSION_END].body.session.reason = "other";
    e[EVENT_RUN_BEGIN].body.run = (struct event_run){.policy = "conversation",
                                                     .input = S("list it"),
                                                     .provider = S("anthropic"),
                                                     .model = S("model-a")};
    e[EVENT_RUN_BEGIN].history = &s->history;
    e[EVENT_PRE_RUN].body.run = (struct event_run){.policy = "conversation",
                                                   .input = S("list it\nIt is Monday."),
                                                   .provider = S("anthropic"),
                                                   .model = S("model-a")};
    e[EVENT_PRE_RUN].history = &s->history;
    e[EVENT_USER_INPUT].body.message.message = s->prompt;
    e[EVENT_TOOLS_CHANGED].body.tools.tools = s->tools;
    e[EVENT_CONTEXT].body.context =
        (struct event_context){.used = 110, .window = 1000, .serialized = 90, .counted = 110};
    e[EVENT_COMPACTED].body.compact = (struct event_compact){
        "auto", {.used = 900, .window = 1000}, {.used = 100, .window = 1000}};
    e[EVENT_FINAL_TURN].body.final = (struct event_final){FINAL_TOKEN_LIMIT, S("Answer now.")};
    e[EVENT_ATTEMPT_BEGIN].body.attempt = attempt;
    e[EVENT_ATTEMPT_BEGIN].body.attempt.reserved = (struct reservation){90, 10, 150000, 4096};
    e[EVENT_PROVIDER_REQUEST].body.request = (struct event_request){
        .request = &s->request, .overlays = s->overlays, .n_overlays = 1, .tools_version = 3};
    e[EVENT_NATIVE_PAYLOAD].body.payload = &s->payload;
    e[EVENT_DELTA].body.delta = (struct event_delta){.delta = &s->delta, .reply = &s->reply};
    e[EVENT_RESPONSE_RAW].body.reply =
        (struct event_reply){&s->reply, "provider-normalized-message"};
    e[EVENT_ATTEMPT_END].body.attempt = attempt;
    e[EVENT_ATTEMPT_END].body.attempt.assumed = &s->assumed;
    e[EVENT_ATTEMPT_END].body.attempt.assumed_microcents = 160000;
    e[EVENT_ATTEMPT_END].body.attempt.is_lost = true;
    e[EVENT_RETRY].body.attempt = failed;
    e[EVENT_FALLBACK].body.attempt = failed;
    e[EVENT_RESPONSE_NORMALIZED].body.message =
        (struct event_message){.message = s->answer, .n_tool_calls = 1};
    e[EVENT_ASSISTANT_COMMITTED].body.message.message = s->answer;
    e[EVENT_HISTORY].body.message =
        (struct event_message){.message = s->prompt, .index = 4, .mutation = "append"};
    e[EVENT_BATCH_BEGIN].body.batch = (struct event_batch){S("b1"), "parallel", 0, s->answer, 1};
    e[EVENT_TOOL_EARLY].body.tool = tool;
    e[EVENT_TOOL_DROPPED].body.tool = tool;
    e[EVENT_TOOL_REQUEST].body.tool = tool;
    e[EVENT_TOOL_BEGIN].body.tool = tool;
    e[EVENT_TOOL_PROGRESS].body.tool = tool;
    e[EVENT_TOOL_END].body.tool = tool;
    e[EVENT_TOOL_RESULT].body.tool = tool;
    e[EVENT_TOOL_COMMITTED].body.tool = tool;
    e[EVENT_SNAPSHOT].body.snapshot = (struct event_snapshot){S("c1"), &s->snapshot};
    e[EVENT_PRE_IMAGE].body.image = (struct event_image){S("c1"), &s->snapshot.file};
    e[EVENT_CHILD_BEGIN].body.child =
        (struct event_child){.id = S("s2"), .call_id = S("c1"), .index = 1, .agent = S("Explore")};
    e[EVENT_CHILD_END].body.child = (struct event_child){.id = S("s2"),
                                                         .call_id = S("c1"),
                                                         .index = 1,
                                                         .agent = S("Explore"),
                                                         .outcome = "done",
                                                         .usage = s->usage,
                                                         .cost_microcents = 130000,
                                                         .is_estimated = true,
                                                         .is_unpriced = true,
                                                         .n_rounds = 3,
                                                         .n_tool_calls = 2};
    e[EVENT_STATE].body.state = (struct event_state){S("cwd"), s->args};
    e[EVENT_ASKED].body.ask = (struct event_ask){&s->ask, NULL};
    e[EVENT_ANSWERED].body.ask = (struct event_ask){&s->ask, &s->yes};
    e[EVENT_NOTICE].body.notice =
        (struct event_notice){SEVERITY_WARNING, "budget", S("80 % is spent"), NULL};
    e[EVENT_ERROR].body.error = s->error;
    e[EVENT_REWOUND].body.rewind =
        (struct event_rewind){.turn = 3, .seq = 40, .takes_messages = true, .n_files = 2};
    e[EVENT_CHECKPOINT].body.checkpoint = (struct event_checkpoint){.base_seq = 4,
                                                                    .state = s->args,
                                                                    .usage = s->answer->usage,
                                                                    .is_estimated = true,
                                                                    .is_unpriced = true};
    e[EVENT_SESSION_CHANGED].body.change =
        (struct event_change){.name = S("the maze"), .provider = S("anthropic"), .model = S("m2")};
    e[EVENT_RUN_END].body.result = &s->run_result;
    e[EVENT_RUN_END].history = &s->history;
}

static inline void samples_init(struct samples *s)
{
    *s = (struct samples){0};
    s->agent = (struct owner){"agent", S("main"), NULL};
    s->execution = (struct owner){"execution", S("r1"), &s->agent};
    s->call = (struct owner){"tool", S("c1"), &s->execution};
    s->usage = USAGE_UNKNOWN;
    s->usage.input = 100;
    s->usage.output = 10;
    s->assumed = s->usage;
    s->assumed.output = 11;
    s->usage.cache_read = 5;
    s->args = sample_json(s, "{\"command\":\"ls\"}");
    s->details = sample_json(s, "{\"exitCode\":0}");
    s->snapshot = (struct snapshot_record){
        .has_file = true,
        .file = {.path = S("/p/a.c"), .kind = IMAGE_FILE, .mode = 0644, .content = S("12ab")},
        .tree = S("34cd"),
        .taken_ns = 5,
        .n_files = 2};
    s->delta = (struct delta){.kind = DELTA_TEXT, .text = S("I look.")};
    s->payload = (struct native_payload){.provider = S("anthropic"),
                                         .api_surface = S("anthropic-messages"),
                                         .kind = PAYLOAD_STREAM_EVENT,
                                         .sequence = 2,
                                         .bytes = S("{\"type\":\n\"ping\"}")};
    s->ask = (struct ask){ASK_PERMISSION, S("c1"), S("Bash"), s->args, S("Run ls?")};
    s->yes = (struct answer){.kind = ANSWER_ONCE};
    s->error = err_hint(err_new(ERR_PROVIDER_UNAVAILABLE, "the model is overloaded"), "wait");
    sample_messages(s);
    sample_reply(s);
    sample_tools(s);
    sample_result(s);
    for (int t = 0; t < EVENT_N_TYPES; t++)
        s->events[t] = (struct event){.seq = (uint64_t)t,
                                      .unix_ms = SAMPLE_TIME,
                                      .stream = S("s1"),
                                      .run_id = S("r1"),
                                      .owner = &s->execution,
                                      .turn = 1,
                                      .round = 1,
                                      .attempt = 1,
                                      .type = (enum event_type)t};
    sample_bodies(s);
}

static inline void samples_done(struct samples *s)
{
    message_unref(s->prompt);
    message_unref(s->answer);
    message_unref(s->tool_message);
    history_done(&s->history);
    reply_done(&s->reply);
    arena_done(&s->tools->arena);
    mem_free(s->tools);
    err_free(s->error);
    err_free(s->run_result.error);
    arena_done(&s->arena);
}
DEFINE_AUTO_VAL(samples, samples_done)

#endif
