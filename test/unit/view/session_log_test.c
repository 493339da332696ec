/* session_log_test.c */
#include "view/samples.h"
#include "view/session_log.h"
#include "view/session_log_fields.h"

#include "sys/fs.h"

/* Where the lines of all sample events stand; KEEL_GOLDEN=write makes them anew. */
static void golden_path(char path[4096])
{
    const char *source = getenv("KEEL_SOURCE");

    snprintf(path, 4096, "%s/test/unit/view/session_log.jsonl", source ? source : ".");
}

static void assert_golden(struct strbuf *lines)
{
    AUTO(strbuf) struct strbuf golden = {0};
    const char *wish = getenv("KEEL_GOLDEN");
    char path[4096];

    golden_path(path);
    if (wish && strcmp(wish, "write") == 0)
        assert_ok(fs_write_atomic(path, strbuf_str(lines), 0644));
    assert_ok(fs_read(path, &golden, NULL));
    assert_string_equal(strbuf_cstr(lines), strbuf_cstr(&golden));
}

TEST(every_event_is_one_line_with_all_it_holds)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};

    samples_init(&s);
    for (int t = 0; t < EVENT_N_TYPES; t++)
        session_log_write(&s.events[t], &out);
    assert_golden(&out);
}

/* The fields that replay needs, by event; blanks between them. */
static const struct {
    enum event_type type;
    const char *fields;
} required[] = {
    {EVENT_PROVIDER_REQUEST, "executionId conversationId round provider model messages tools"},
    {EVENT_DELTA, "executionId conversationId round sequence delta"},
    {EVENT_RESPONSE_RAW, "executionId conversationId round response responseKind"},
    {EVENT_RESPONSE_NORMALIZED, "executionId conversationId round response toolCallsCount"},
    {EVENT_ASSISTANT_COMMITTED, "executionId conversationId round message"},
    {EVENT_BATCH_BEGIN,
     "executionId conversationId round batchId mode maxConcurrency requestCount tools"},
    {EVENT_TOOL_REQUEST, "executionId conversationId round batchId index toolName toolCallId "
                         "parameters ownerPath"},
    {EVENT_TOOL_RESULT, "executionId conversationId round batchId index toolName toolCallId "
                        "success result metadata"},
    {EVENT_TOOL_COMMITTED, "executionId conversationId round batchId index message"},
    {EVENT_HISTORY, "executionId conversationId mutation index message"},
    {EVENT_NATIVE_PAYLOAD,
     "executionId conversationId round provider payloadKind sequence payload"},
    {EVENT_SESSION_BEGIN, "systemPrompt systemPromptLength provider model cwd toolSchemas"},
    {EVENT_PRE_RUN, "provider nativeWebTools input history"},
    {EVENT_RUN_END, "content history historyStructure"},
    {EVENT_COMPACTED, "trigger before after"},
    {EVENT_SESSION_END, "reason"},
};

TEST(no_field_that_replay_needs_is_missing)
{
    AUTO(samples) struct samples s;

    samples_init(&s);
    for (size_t i = 0; i < ARRAY_LEN(required); i++) {
        AUTO(strbuf) struct strbuf out = {0};
        struct str rest = str_of(required[i].fields), field;
        struct json *line;

        session_log_write(&s.events[required[i].type], &out);
        line = sample_json(&s, strbuf_cstr(&out));
        while (rest.n && str_split(&rest, ' ', &field))
            if (!json_get_str(line, field))
                fail_msg("%s lacks %" STR_FMT, event_type_name(required[i].type), STR_ARG(field));
    }
}

/* What follows the fields that all lines share. */
static void assert_body(struct strbuf *line, const char *event, const char *body)
{
    static const char last_shared[] = "'attempt':1";
    struct str text = strbuf_str(line);
    char name[128];
    size_t at;

    snprintf(name, sizeof name, "\"event\":\"%s\"", event);
    assert_int_not_equal(str_find(text, str_of(name)), STR_NONE);
    at = str_find(text, S("\"attempt\":1"));
    assert_int_not_equal(at, STR_NONE);
    strbuf_drop_front(line, at + strlen(last_shared));
    assert_lines(line, body);
}

TEST(a_failed_call_has_its_error_and_the_code_in_its_metadata)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct event *e = &s.events[EVENT_TOOL_RESULT];

    samples_init(&s);
    e->body.tool.is_ok = e->body.tool.was_executed = false;
    e->body.tool.error_code = "unknown_tool";
    e->body.tool.metadata = NULL;
    s.text.text = S("no such tool");
    session_log_write(e, &out);
    assert_body(&out, "tool_execution_result",
                ",'batchId':'b1','index':0,'toolName':'Bash','toolCallId':'c1','success':false,"
                "'executed':false,'denied':false,'durationMs':7,'charactersIn':16,"
                "'charactersOut':7,'error':'no such tool','metadata':{'errorCode':'unknown_tool'},"
                "'ownerPath':[{'ownerType':'agent','ownerId':'main'},"
                "{'ownerType':'execution','ownerId':'r1'},{'ownerType':'tool','ownerId':'c1'}]}\n");
}

TEST(text_that_no_provider_sent_is_a_text_delta)
{
    AUTO(samples) struct samples s;
    struct event *e = &s.events[EVENT_DELTA];

    samples_init(&s);
    assert_str(session_log_name(e), "provider_stream_raw_delta");
    e->body.delta.is_separator = true;
    assert_str(session_log_name(e), "text_delta");
}

TEST(text_that_a_person_was_shown_has_a_second_line)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};
    struct event *e = &s.events[EVENT_DELTA];

    samples_init(&s);
    s.delta = (struct delta){.kind = DELTA_TEXT, .text = S("I look.")};
    assert_true(session_log_write_shown(e, &out));
    assert_body(&out, "text_delta", ",'delta':'I look.'}\n");
    s.delta.kind = DELTA_REASONING;
    assert_false(session_log_write_shown(e, &out));
    s.delta.kind = DELTA_TEXT;
    e->body.delta.is_separator = true; /* is one itself */
    assert_false(session_log_write_shown(e, &out));
    assert_false(session_log_write_shown(&s.events[EVENT_RUN_BEGIN], &out));
}

TEST(a_tool_of_the_provider_has_its_own_name)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};

    samples_init(&s);
    s.delta = (struct delta){
        .kind = DELTA_SERVER_TOOL, .id = S("w1"), .name = S("web_search"), .text = S("keel")};
    session_log_write(&s.events[EVENT_DELTA], &out);
    assert_body(&out, "server_tool",
                ",'toolName':'web_search','toolCallId':'w1','query':'keel'}\n");
}

TEST(a_payload_that_is_no_json_is_text)
{
    AUTO(samples) struct samples s;
    AUTO(strbuf) struct strbuf out = {0};

    samples_init(&s);
    s.payload.bytes = S("<html>");
    s.payload.kind = PAYLOAD_RESPONSE;
    s.payload.http_status = 502;
    session_log_write(&s.events[EVENT_NATIVE_PAYLOAD], &out);
    assert_body(&out, "provider_native_raw_payload",
                ",'provider':'anthropic','apiSurface':'anthropic-messages',"
                "'payloadKind':'response','sequence':2,'payload':'<html>',"
                "'metadata':{'httpStatus':502}}\n");
}

TEST(a_run_that_failed_is_no_answer_of_the_assistant)
{
    AUTO(samples) struct samples s;

    samples_init(&s);
    assert_str(session_log_name(&s.events[EVENT_RUN_END]), "assistant");
    s.run_result.outcome = RUN_INTERRUPTED;
    assert_str(session_log_name(&s.events[EVENT_RUN_END]), "run_end");
}

static void assert_shown(const struct event *e, const char *shown)
{
    AUTO(strbuf) struct strbuf out = {0};

    session_log_write(e, &out);
    if (!strstr(strbuf_cstr(&out), shown))
        fail_msg("%s is not in %s", shown, strbuf_cstr(&out));
}

TEST(what_stands_under_a_credentials_name_is_hidden_in_fields)
{
    AUTO(samples) struct samples s;

    samples_init(&s);
    s.events[EVENT_TOOL_REQUEST].body.tool.args =
        sample_json(&s, "{\"url\":\"u\",\"headers\":{\"Authorization\":\"Bearer x\"}}");
    assert_shown(&s.events[EVENT_TOOL_REQUEST],
                 "\"parameters\":{\"url\":\"u\",\"headers\":{\"Authorization\":"
                 "\"[REDACTED]\"}}");
    s.events[EVENT_TOOL_RESULT].body.tool.metadata =
        sample_json(&s, "{\"apiKey\":\"x\",\"tokens\":5}");
    assert_shown(&s.events[EVENT_TOOL_RESULT],
                 "\"metadata\":{\"apiKey\":\"[REDACTED]\",\"tokens\":5}");
    s.events[EVENT_NOTICE].body.notice.details = sample_json(&s, "[{\"password\":\"x\"}]");
    assert_shown(&s.events[EVENT_NOTICE], "\"details\":[{\"password\":\"[REDACTED]\"}]");
}

TEST(a_providers_bytes_and_schemas_keep_such_names_and_what_stands_under_them)
{
    AUTO(samples) struct samples s;
    struct native_payload payload;

    samples_init(&s);
    payload = *s.events[EVENT_NATIVE_PAYLOAD].body.payload;
    payload.bytes = S("{\"logprobs\":[{\"token\":\"a\"}]}");
    s.events[EVENT_NATIVE_PAYLOAD].body.payload = &payload;
    assert_shown(&s.events[EVENT_NATIVE_PAYLOAD], "\"payload\":{\"logprobs\":[{\"token\":\"a\"}]}");
}

TEST(what_files_were_is_read_back_whatever_their_names_are)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf line = {0};
    struct pre_image image = {.path = S("/p/a\377\n"),
                              .kind = IMAGE_LINK,
                              .mode = 0,
                              .content = S("12ab"),
                              .why_not = S("no"),
                              .after = S("link:34")};
    struct event e = {.type = EVENT_PRE_IMAGE, .body.image = {S("c1"), &image}};
    const struct pre_image *back;
    struct json *v;

    session_log_write(&e, &line);
    assert_ok(json_parse(&a, strbuf_str(&line), 0, &v));
    back = pre_image_parse(v, &a);
    assert_true(str_eq(back->path, image.path));
    assert_int_equal(back->kind, image.kind);
    assert_true(str_eq(back->content, image.content));
    assert_true(str_eq(back->why_not, image.why_not));
    assert_true(str_eq(back->after, image.after));
}

TEST(what_was_saved_is_read_back)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf line = {0};
    struct snapshot_record record = {
        .has_file = true,
        .file = {.path = S("/p/a"), .kind = IMAGE_FILE, .mode = 0644, .content = S("12ab")},
        .tree = S("34cd"),
        .taken_ns = 1800000000123456789,
        .ready_ns = 1800000000123456790,
        .n_files = 3};
    struct event e = {.type = EVENT_SNAPSHOT, .body.snapshot = {S("c1"), &record}};
    const struct snapshot_record *back;
    struct json *v;

    session_log_write(&e, &line);
    assert_ok(json_parse(&a, strbuf_str(&line), 0, &v));
    back = snapshot_record_parse(v, &a);
    assert_true(back->has_file);
    assert_int_equal(back->file.mode, 0644);
    assert_str(back->file.path, "/p/a");
    assert_str(back->tree, "34cd");
    assert_true(back->taken_ns == record.taken_ns && back->ready_ns == record.ready_ns);
    assert_int_equal(back->n_files, 3);
}

RUN_TESTS(UNIT(every_event_is_one_line_with_all_it_holds),
          UNIT(no_field_that_replay_needs_is_missing),
          UNIT(a_failed_call_has_its_error_and_the_code_in_its_metadata),
          UNIT(text_that_no_provider_sent_is_a_text_delta),
          UNIT(text_that_a_person_was_shown_has_a_second_line),
          UNIT(a_tool_of_the_provider_has_its_own_name), UNIT(a_payload_that_is_no_json_is_text),
          UNIT(a_run_that_failed_is_no_answer_of_the_assistant),
          UNIT(what_stands_under_a_credentials_name_is_hidden_in_fields),
          UNIT(a_providers_bytes_and_schemas_keep_such_names_and_what_stands_under_them),
          UNIT(what_files_were_is_read_back_whatever_their_names_are),
          UNIT(what_was_saved_is_read_back))
