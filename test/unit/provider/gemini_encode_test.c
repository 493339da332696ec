/* gemini_encode_test.c - requests in the Gemini protocol, against test/wire/gemini. */
#include "provider/build.h"

#include "provider/decode.h"

#define GOLDEN(b, name) assert_golden(&(b), &protocol_gemini, "gemini/" name)

static const char weather[] =
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}";

/* --- settings --- */

TEST(a_question_is_one_content)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Hello?");
    GOLDEN(b, "question");
}

TEST(every_setting_has_its_place)
{
    static const struct str stops[] = {S("END"), S("\n\n")};
    AUTO(build) struct build b;

    build_init(&b);
    b.request.system = S("Be brief.");
    b.request.max_output = 1000;
    b.request.sampling = (struct sampling){.temperature = just(0.5),
                                           .top_p = just(0.9),
                                           .top_k = 40,
                                           .frequency_penalty = just(0.1),
                                           .presence_penalty = just(-0.2),
                                           .has_seed = true,
                                           .seed = 7,
                                           .stop = stops,
                                           .n_stop = ARRAY_LEN(stops)};
    user_says(&b, "Hello?");
    GOLDEN(b, "settings");
}

TEST(models_without_sampling_get_none)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, NO_SAMPLING);
    b.request.sampling = (struct sampling){.temperature = just(0.5), .has_seed = true, .seed = 7};
    user_says(&b, "Hello?");
    GOLDEN(b, "no-sampling");
}

TEST(the_answer_may_have_to_fit_a_schema)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.output_schema = parse_json(&b, weather);
    user_says(&b, "Where?");
    GOLDEN(b, "schema");
}

/* The API: "Function calling with a response mime type: 'application/json' is unsupported". */
TEST(older_models_are_told_the_schema_beside_tools)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, CAN_REASON);
    b.request.output_schema = parse_json(&b, weather);
    add_tool(&b, "now", "Tells the time.", NULL);
    user_says(&b, "Where?");
    GOLDEN(b, "schema-and-tools");
    can(&b, CAN_REASON | REASONS_BY_LEVEL);
    GOLDEN(b, "schema-and-tools-third");
}

/* The thinking settings that a request with this effort and budget has; "" for none. */
static void assert_thinking_(unsigned capabilities, enum effort effort, int64_t budget,
                             const char *want, const char *file, int line)
{
    AUTO(build) struct build b;
    AUTO(strbuf) struct strbuf body = {0}, got = {0};
    AUTO(arena) struct arena a = {0};
    struct json *v;

    build_init(&b);
    can(&b, capabilities);
    b.info.max_output = 65536;
    b.request.effort = effort;
    b.request.reasoning_budget = budget;
    assert_ok_(protocol_gemini.encode(&b.request, &b.dialect, &body), file, line);
    assert_ok_(json_parse(&a, strbuf_str(&body), 0, &v), file, line);
    v = json_get(json_get(v, "generationConfig"), "thinkingConfig");
    if (v)
        json_write(&got, v);
    assert_str_(strbuf_str(&got), want, file, line);
}
#define assert_thinking(capabilities, effort, budget, want)                                        \
    assert_thinking_((capabilities), (effort), (budget), (want), __FILE__, __LINE__)

TEST(older_models_think_within_a_budget)
{
    assert_thinking(CAN_REASON, EFFORT_UNSET, 0, "{\"includeThoughts\":true}");
    assert_thinking(CAN_REASON, EFFORT_NONE, 0, "{\"thinkingBudget\":0}");
    assert_thinking(CAN_REASON, EFFORT_MINIMAL, 0,
                    "{\"includeThoughts\":true,\"thinkingBudget\":1024}");
    assert_thinking(CAN_REASON, EFFORT_LOW, 0,
                    "{\"includeThoughts\":true,\"thinkingBudget\":13107}");
    assert_thinking(CAN_REASON, EFFORT_MAX, 0,
                    "{\"includeThoughts\":true,\"thinkingBudget\":24576}");
    assert_thinking(CAN_REASON, EFFORT_LOW, 32000,
                    "{\"includeThoughts\":true,\"thinkingBudget\":32000}");
}

TEST(newer_models_think_at_a_level)
{
    unsigned levels = CAN_REASON | REASONS_BY_LEVEL;

    assert_thinking(levels, EFFORT_UNSET, 0, "{\"includeThoughts\":true}");
    assert_thinking(levels, EFFORT_NONE, 0, "{\"thinkingLevel\":\"minimal\"}");
    assert_thinking(levels, EFFORT_MINIMAL, 0,
                    "{\"includeThoughts\":true,\"thinkingLevel\":\"minimal\"}");
    assert_thinking(levels, EFFORT_LOW, 0, "{\"includeThoughts\":true,\"thinkingLevel\":\"low\"}");
    assert_thinking(levels, EFFORT_MEDIUM, 0,
                    "{\"includeThoughts\":true,\"thinkingLevel\":\"medium\"}");
    assert_thinking(levels, EFFORT_MAX, 0, "{\"includeThoughts\":true,\"thinkingLevel\":\"high\"}");
    assert_thinking(levels, EFFORT_UNSET, 500, "{\"includeThoughts\":true,\"thinkingBudget\":500}");
}

TEST(models_that_always_think_are_not_asked_to_stop)
{
    assert_thinking(CAN_REASON | REASONS_ALWAYS, EFFORT_NONE, 0, "");
    assert_thinking(REASONS_BY_LEVEL | REASONS_ALWAYS, EFFORT_NONE, 0, "");
    assert_thinking(REASONS_BY_LEVEL | REASONS_ALWAYS, EFFORT_MINIMAL, 0,
                    "{\"includeThoughts\":true,\"thinkingLevel\":\"low\"}");
}

TEST(models_that_cannot_think_are_not_asked_to)
{
    assert_thinking(CAN_TOOLS, EFFORT_HIGH, 0, "");
    assert_thinking(CAN_TOOLS, EFFORT_NONE, 0, "");
}

TEST(options_win_and_their_objects_are_merged)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.options =
        parse_json(&b, "{\"generationConfig\":{\"temperature\":1.5,\"responseModalities\":"
                       "[\"TEXT\",\"IMAGE\"]},\"toolConfig\":{\"retrievalConfig\":{}},"
                       "\"safetySettings\":[]}");
    b.request.sampling.temperature = just(0.1);
    b.request.sampling.top_k = 3;
    b.request.tool_choice.kind = TOOL_CHOICE_ANY;
    add_tool(&b, "look", "", NULL);
    user_says(&b, "Hello?");
    GOLDEN(b, "options");
}

TEST(cached_content_brings_its_own_system_text_and_tools)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.options = parse_json(&b, "{\"cachedContent\":\"cachedContents/1\"}");
    b.request.system = S("Be brief.");
    b.request.tool_choice.kind = TOOL_CHOICE_ANY;
    b.request.web_search = true;
    add_tool(&b, "look", "", NULL);
    user_says(&b, "Hello?");
    GOLDEN(b, "cached-content");
}

/* --- tools --- */

TEST(tools_are_declared_with_their_schema)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_tool(&b, "weather", "Tells the weather.",
             "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
             "\"properties\":{\"city\":{\"type\":\"string\"}},\"additionalProperties\":false}");
    add_tool(&b, "now", "", NULL);
    user_says(&b, "Rain?");
    GOLDEN(b, "tools");
}

TEST(a_tool_may_be_forced)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_tool(&b, "weather", "", weather);
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = S("weather")};
    user_says(&b, "Rain?");
    GOLDEN(b, "tool-named");
}

TEST(tools_may_be_switched_off)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_tool(&b, "weather", "", weather);
    b.request.tool_choice.kind = TOOL_CHOICE_NONE;
    user_says(&b, "Rain?");
    GOLDEN(b, "tool-none");
}

TEST(the_provider_searches_and_fetches)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.web_search = b.request.web_fetch = true;
    user_says(&b, "News?");
    GOLDEN(b, "web");
}

TEST(newer_models_mix_their_tools_with_ours)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, REASONS_BY_LEVEL);
    b.request.web_search = true;
    add_tool(&b, "weather", "", weather);
    user_says(&b, "News?");
    GOLDEN(b, "web-and-tools");
}

TEST(a_tool_needs_a_name_that_the_api_takes)
{
    static const char *const names[] = {"", "1st", "-a", "a b", "a/b", "\xC3\xA9"};
    AUTO(build) struct build b;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(build) struct build bad;

        build_init(&bad);
        add_tool(&bad, names[i], "", NULL);
        user_says(&bad, "Hello?");
        assert_not_encoded(&bad, &protocol_gemini, ERR_VALIDATION);
    }
    build_init(&b);
    add_tool(&b, "_a.b:c-9", "", NULL);
    user_says(&b, "Hello?");
    GOLDEN(b, "tool-name");
}

/* --- rounds of tools --- */

TEST(results_of_one_round_stand_together)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Compare.");
    m = assistant_says(&b, "I will look.");
    from_elsewhere(m);
    add_call(m, "toolu_1", "weather", "{\"city\":\"Rome\"}");
    add_call(m, "toolu_2", "weather", "{\"city\":\"Oslo\"}");
    tool_answers(&b, "toolu_1", "weather", "Sun");
    tool_fails(&b, "toolu_2", "weather", "no such city");
    GOLDEN(b, "tool-round");
}

TEST(calls_that_run_into_each_other_are_one_turn)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Go on.");
    assistant_says(&b, "First I");
    m = assistant_says(&b, " will look.");
    add_call(m, "c1", "look", "{}");
    tool_answers(&b, "c1", "look", "");
    user_says(&b, "And?");
    GOLDEN(b, "model-run");
}

TEST(a_call_goes_back_as_it_came_and_its_result_has_an_id_if_it_had_one)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    can(&b, REASONS_BY_LEVEL);
    user_says(&b, "Compare.");
    m = assistant_says(&b, NULL);
    message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                  .id = S("id/1"),
                                  .name = S("look"),
                                  .args = S("{\"a\":1}"),
                                  .signature = S("sig"),
                                  .native = S("{\"functionCall\":{\"name\":\"look\",\"args\":"
                                              "{\"a\":1},\"id\":\"id/1\"},"
                                              "\"thoughtSignature\":\"sig\"}")});
    message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                  .id = S("call_made_up"),
                                  .name = S("look"),
                                  .args = S("{}"),
                                  .native = S("{\"functionCall\":{\"name\":\"look\"}}")});
    tool_answers(&b, "id/1", "look", "one");
    tool_answers(&b, "call_made_up", "look", "two");
    GOLDEN(b, "native-calls");
}

TEST(newer_models_get_a_stand_in_for_the_signature_of_a_turn_that_has_none)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    can(&b, REASONS_BY_LEVEL);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    from_elsewhere(m);
    add_call(m, "c1", "look", "{}")->signature = S("foreign");
    add_call(m, "c2", "look", "{}");
    tool_answers(&b, "c1", "look", "one");
    tool_answers(&b, "c2", "look", "two");
    m = assistant_says(&b, NULL);
    message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                  .id = S("call_made_up"),
                                  .name = S("look"),
                                  .args = S("{}"),
                                  .native = S("{\"functionCall\":{\"name\":\"look\"}}")});
    tool_answers(&b, "call_made_up", "look", "three");
    GOLDEN(b, "stand-in-signature");
}

TEST(vertex_gets_no_ids_for_models_that_give_none)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    b.dialect.vertex = true;
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    from_elsewhere(m);
    add_call(m, "toolu_1", "look", "{}");
    tool_answers(&b, "toolu_1", "look", "one");
    GOLDEN(b, "vertex-ids");
}

TEST(a_call_to_what_is_no_name_gets_one)
{
    AUTO(build) struct build b;
    struct message *m;
    struct part *p;

    build_init(&b);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    from_elsewhere(m);
    add_call(m, "c1", "9 lives", "{}");
    p = add_call(m, "c2", "", "*** patch");
    p->is_free_text = true;
    tool_answers(&b, "c1", "9 lives", "no such tool");
    tool_answers(&b, "c2", "", "no such tool");
    GOLDEN(b, "odd-names");
}

TEST(a_call_with_bad_arguments_goes_back_without_them)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                  .id = S("c1"),
                                  .name = S("look"),
                                  .args = S("{}"),
                                  .bad_args = S("[1]"),
                                  .native = S("{\"functionCall\":{\"id\":\"c1\",\"name\":\"look\","
                                              "\"args\":[1]}}")});
    tool_fails(&b, "c1", "look", "arguments must be an object");
    GOLDEN(b, "bad-arguments");
}

/* --- files --- */

TEST(files_of_all_kinds_are_sent)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    m = user_says(&b, "What are these?");
    add_media(m, "image/png", "PNG", "a.png");
    add_media(m, "application/pdf", "PDF", NULL);
    add_media(m, "audio/wav", "WAV", NULL);
    add_blob(&b, m, "text/plain", "cafe");
    add_media_url(m, "video/mp4", "https://example.com/v.mp4");
    add_media_url(m, "", "https://www.youtube.com/watch?v=1");
    GOLDEN(b, "files");
}

TEST(a_file_of_another_kind_is_refused)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_media(user_says(&b, NULL), "application/zip", "PK", NULL);
    assert_not_encoded(&b, &protocol_gemini, ERR_VALIDATION);
}

static void show_two_files(struct build *b)
{
    struct message *m;
    struct part content[] = {{.kind = PART_TEXT, .text = S("a page")},
                             media_part("application/pdf", "PDF", NULL),
                             media_url_part("image/png", "https://example.com/a.png")};

    user_says(b, "Show.");
    m = assistant_says(b, NULL);
    add_call(m, "c1", "shoot", "{}");
    add_call(m, "c2", "print", "{}");
    tool_shows(b, "c1", "shoot", "a picture", "image/png", "PNG");
    add_result(add_message(b, ROLE_TOOL), "c2", "print", content, ARRAY_LEN(content));
}

TEST(files_in_results_follow_them)
{
    AUTO(build) struct build b;

    build_init(&b);
    show_two_files(&b);
    GOLDEN(b, "result-files");
}

TEST(newer_models_take_files_inside_results)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, REASONS_BY_LEVEL);
    show_two_files(&b);
    GOLDEN(b, "result-files-inside");
}

TEST(vertex_takes_addresses_inside_results_too)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, REASONS_BY_LEVEL);
    b.dialect.vertex = true;
    show_two_files(&b);
    GOLDEN(b, "result-files-vertex");
}

/* --- what the model said --- */

/* One assistant message with a part of every kind. */
static struct message *say_everything(struct build *b)
{
    struct message *m;
    struct part picture = media_part("image/png", "PNG", NULL);

    user_says(b, "Say everything.");
    m = assistant_says(b, "Plain.");
    picture.signature = S("s3");
    add_reasoning(m, "unsigned", NULL, NULL);
    add_reasoning(m, "signed", "s0",
                  "{\"text\":\"signed\",\"thought\":true,\"thoughtSignature\":\"s0\"}");
    message_add(m, &(struct part){.kind = PART_TEXT,
                                  .text = S("Signed."),
                                  .signature = S("s1"),
                                  .native = S("{\"text\":\"Signed.\","
                                              "\"thoughtSignature\":\"s1\"}")});
    message_add(m, &(struct part){.kind = PART_TEXT,
                                  .signature = S("s2"),
                                  .native = S("{\"text\":\"\",\"thoughtSignature\":\"s2\"}")});
    message_add(m, &picture);
    add_native(m, PART_SERVER_TOOL_USE, "{\"executableCode\":{\"code\":\"1\"}}");
    add_native(m, PART_SERVER_TOOL_RESULT, "{\"codeExecutionResult\":{\"output\":\"1\"}}");
    add_native(m, PART_CITATION, "{\"web\":{\"uri\":\"http://x\"}}");
    add_refusal(m, "No more.");
    user_says(b, "Thanks.");
    return m;
}

TEST(what_the_provider_made_goes_back_to_it_as_it_came)
{
    AUTO(build) struct build b;

    build_init(&b);
    say_everything(&b);
    GOLDEN(b, "native");
}

TEST(what_another_provider_made_is_told_in_plain_parts)
{
    AUTO(build) struct build b;

    build_init(&b);
    from_elsewhere(say_everything(&b));
    GOLDEN(b, "foreign");
}

TEST(an_answer_goes_back_in_the_bytes_in_which_it_came)
{
    struct str text = S("{\"text\": \"\\u0048i\",  \"thoughtSignature\":\"a+/=\"}");
    struct str call = S("{\"functionCall\":{\"args\":{\"n\": 1.0},\"name\":\"f\",\"id\":\"x\"}}");
    AUTO(build) struct build b;
    AUTO(reply) struct reply r;
    AUTO(decoder) struct decoder d;
    AUTO(strbuf) struct strbuf answer = {0}, body = {0};

    strbuf_addf(&answer, "{\"candidates\":[{\"content\":{\"parts\":[%s,%s]}}]}", text.p, call.p);
    reply_init(&r, (struct delta_sink){0});
    decoder_init(&d, &protocol_gemini, 200, NULL, 0, &r);
    assert_ok(decoder_feed(&d, strbuf_str(&answer)));
    assert_ok(decoder_end(&d));

    build_init(&b);
    user_says(&b, "Hi?");
    b.messages[b.request.n_messages++] =
        reply_to_message(&r, S("m"), MESSAGE_COMPLETE, (struct origin){.provider = BUILD_PROVIDER});
    tool_answers(&b, "x", "f", "done");
    assert_ok(protocol_gemini.encode(&b.request, &b.dialect, &body));
    assert_true(str_find(strbuf_str(&body), text) != STR_NONE);
    assert_true(str_find(strbuf_str(&body), call) != STR_NONE);
}

TEST(empty_texts_and_empty_turns_are_left_out)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    b.request.system = S(" \n");
    message_add_text(user_says(&b, " \n"), S("Hello?"));
    m = assistant_says(&b, "");
    add_reasoning(m, "thought of another", "s", "{}");
    from_elsewhere(m);
    user_says(&b, "Still there?");
    GOLDEN(b, "blanks");
}

TEST(the_next_request_begins_with_the_bytes_of_this_one)
{
    AUTO(build) struct build b;
    AUTO(strbuf) struct strbuf first = {0}, second = {0};

    build_init(&b);
    b.request.system = S("Be brief.");
    add_tool(&b, "weather", "", weather);
    user_says(&b, "Hello?");
    assert_ok(protocol_gemini.encode(&b.request, &b.dialect, &first));
    assistant_says(&b, "Hello!");
    user_says(&b, "And?");
    assert_ok(protocol_gemini.encode(&b.request, &b.dialect, &second));
    strbuf_cut(&first, first.n - 2); /* the ends of the contents and of the body */
    assert_true(str_starts(strbuf_str(&second), strbuf_str(&first)));
}

/* --- addresses --- */

static void assert_path_(const char *model, bool stream, bool vertex, const char *want,
                         const char *file, int line)
{
    AUTO(strbuf) struct strbuf path = {0};
    struct model_request r = {.model = str_of(model), .stream = stream};
    struct dialect d = {.vertex = vertex};

    protocol_gemini.path(&r, &d, &path);
    assert_str_(strbuf_str(&path), want, file, line);
}
#define assert_path(model, stream, vertex, want)                                                   \
    assert_path_((model), (stream), (vertex), (want), __FILE__, __LINE__)

TEST(the_model_is_in_the_path)
{
    assert_path("gemini-3-pro", false, false, "/v1beta/models/gemini-3-pro:generateContent");
    assert_path("gemini-3-pro", true, false,
                "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
    assert_path("models/gemini-3-pro", false, false, "/v1beta/models/gemini-3-pro:generateContent");
    assert_path("tunedModels/mine-1", false, false, "/v1beta/tunedModels/mine-1:generateContent");
    assert_path("gemini-3-pro", true, true,
                "/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse");
}

TEST(a_model_cannot_lead_out_of_the_path)
{
    assert_path("../../x?key=1#", false, false,
                "/v1beta/models/..%2F..%2Fx%3Fkey%3D1%23:generateContent");
    assert_path("models/../x", false, true, "/publishers/google/models/..%2Fx:generateContent");
}

RUN_TESTS(
    UNIT(a_question_is_one_content), UNIT(every_setting_has_its_place),
    UNIT(models_without_sampling_get_none), UNIT(the_answer_may_have_to_fit_a_schema),
    UNIT(older_models_are_told_the_schema_beside_tools), UNIT(older_models_think_within_a_budget),
    UNIT(newer_models_think_at_a_level), UNIT(models_that_always_think_are_not_asked_to_stop),
    UNIT(models_that_cannot_think_are_not_asked_to), UNIT(options_win_and_their_objects_are_merged),
    UNIT(cached_content_brings_its_own_system_text_and_tools),
    UNIT(tools_are_declared_with_their_schema), UNIT(a_tool_may_be_forced),
    UNIT(tools_may_be_switched_off), UNIT(the_provider_searches_and_fetches),
    UNIT(newer_models_mix_their_tools_with_ours), UNIT(a_tool_needs_a_name_that_the_api_takes),
    UNIT(results_of_one_round_stand_together), UNIT(calls_that_run_into_each_other_are_one_turn),
    UNIT(a_call_goes_back_as_it_came_and_its_result_has_an_id_if_it_had_one),
    UNIT(newer_models_get_a_stand_in_for_the_signature_of_a_turn_that_has_none),
    UNIT(vertex_gets_no_ids_for_models_that_give_none), UNIT(a_call_to_what_is_no_name_gets_one),
    UNIT(a_call_with_bad_arguments_goes_back_without_them), UNIT(files_of_all_kinds_are_sent),
    UNIT(a_file_of_another_kind_is_refused), UNIT(files_in_results_follow_them),
    UNIT(newer_models_take_files_inside_results), UNIT(vertex_takes_addresses_inside_results_too),
    UNIT(what_the_provider_made_goes_back_to_it_as_it_came),
    UNIT(what_another_provider_made_is_told_in_plain_parts),
    UNIT(an_answer_goes_back_in_the_bytes_in_which_it_came),
    UNIT(empty_texts_and_empty_turns_are_left_out),
    UNIT(the_next_request_begins_with_the_bytes_of_this_one), UNIT(the_model_is_in_the_path),
    UNIT(a_model_cannot_lead_out_of_the_path))
