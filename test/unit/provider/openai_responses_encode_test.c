/* openai_responses_encode_test.c */
#include "provider/build.h"

#define assert_request(b, name)                                                                    \
    assert_golden((b), &protocol_openai_responses, "openai-responses/" name)

#define REASONING(id)                                                                              \
    "{\"id\":\"" id "\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"x\"}"
#define MESSAGE(id, text)                                                                          \
    "{\"id\":\"" id "\",\"type\":\"message\",\"role\":\"assistant\",\"phase\":\"commentary\","     \
    "\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\"}]}"
#define CALL(id, call_id)                                                                          \
    "{\"id\":\"" id "\",\"type\":\"function_call\",\"call_id\":\"" call_id "\",\"name\":\"look\"," \
    "\"arguments\":\"{}\",\"status\":\"completed\"}"

static void add_native_text(struct message *m, const char *text, const char *native)
{
    message_add(m,
                &(struct part){.kind = PART_TEXT, .text = str_of(text), .native = str_of(native)});
}

static void add_native_call(struct message *m, const char *id, const char *native)
{
    add_call(m, id, "look", "{}")->native = str_of(native);
}

/* --- settings --- */

TEST(a_request_holds_the_conversation_and_is_not_stored)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.system = S("Be brief.");
    b.request.stream = true;
    user_says(&b, "Hello");
    assistant_says(&b, "Hi.");
    user_says(&b, "Who are you?");
    assert_request(&b, "conversation");
}

TEST(every_setting_that_the_api_has_is_sent)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, CAN_REASON);
    b.request.effort = EFFORT_HIGH;
    b.request.max_output = 1000;
    b.request.sampling.temperature = just(0.5);
    b.request.sampling.top_p = just(0.9);
    b.request.output_schema =
        parse_json(&b, "{\"type\":\"object\",\"properties\":{\"a\":{}},"
                       "\"required\":[\"a\"],\"additionalProperties\":false}");
    b.request.output_name = S("letter");
    b.request.cache = PROMPT_CACHE_LONG;
    b.request.cache_key = S("session-1");
    b.request.web_search = true;
    user_says(&b, "Hello");
    assert_request(&b, "settings");
}

TEST(a_schema_that_strict_mode_refuses_is_sent_without_it)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.output_schema = parse_json(&b, "{\"type\":\"object\",\"properties\":{\"a\":{}}}");
    user_says(&b, "Hello");
    assert_request(&b, "loose-schema");
}

TEST(options_of_the_profile_win)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.effort = EFFORT_LOW;
    b.request.options = parse_json(&b, "{\"store\":true,\"service_tier\":\"flex\","
                                       "\"reasoning\":{\"effort\":\"high\"},\"include\":[]}");
    user_says(&b, "Hello");
    assert_request(&b, "options");
}

TEST(a_model_that_does_not_reason_is_not_asked_to)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, CAN_TOOLS | NO_SAMPLING);
    b.request.effort = EFFORT_HIGH;
    b.request.sampling.temperature = just(1);
    user_says(&b, "Hello");
    assert_request(&b, "without-reasoning");
}

TEST(reasoning_is_switched_off_without_asking_for_a_summary)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.effort = EFFORT_NONE;
    user_says(&b, "Hello");
    assert_request(&b, "reasoning-off");
}

TEST(reasoning_that_cannot_be_switched_off_is_left_alone)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, CAN_REASON | REASONS_ALWAYS);
    b.request.effort = EFFORT_NONE;
    user_says(&b, "Hello");
    assert_request(&b, "reasoning-always");
}

TEST(a_vendor_that_stores_nothing_is_not_told_so)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.stores_nothing = true;
    user_says(&b, "Hello");
    assert_request(&b, "stores-nothing");
}

/* --- tools --- */

#define STRICT_SCHEMA                                                                              \
    "{\"type\":\"object\",\"properties\":{\"to\":{\"type\":\"string\"}},"                          \
    "\"required\":[\"to\"],\"additionalProperties\":false}"

static void add_tools(struct build *b)
{
    add_tool(b, "look", "Looks.", "{\"type\":\"object\",\"properties\":{\"at\":{}}}");
    add_tool(b, "wait", NULL, NULL)->strict = true;
    add_tool(b, "go", NULL, STRICT_SCHEMA)->strict = true;
    add_tool(b, "query", "Takes SQL.", NULL)->takes_free_text = true;
}

TEST(tools_say_whether_they_are_strict_and_only_if_their_schema_is)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_tools(&b);
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_ANY, .one_at_a_time = true};
    user_says(&b, "Hello");
    assert_request(&b, "tools");
}

TEST(a_vendor_may_know_neither_strict_tools_nor_the_switch_for_parallel_calls)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_tools(&b);
    b.dialect.no_strict_tools = b.dialect.no_parallel_switch = true;
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NONE, .one_at_a_time = true};
    user_says(&b, "Hello");
    assert_request(&b, "plain-tools");
}

TEST(one_tool_may_be_demanded)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_tools(&b);
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = S("look")};
    user_says(&b, "Hello");
    assert_request(&b, "named-function");
    b.request.tool_choice.name = S("query");
    assert_request(&b, "named-custom");
}

/* --- what goes in --- */

TEST(pictures_and_files_stand_in_the_message)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    m = user_says(&b, "See these.");
    add_media(m, "image/png", "pixels", NULL);
    add_media_url(m, "image/jpeg", "https://a.example/b.jpg");
    add_media(m, "application/pdf", "pages", "report.pdf");
    add_media(m, "application/pdf", "pages", NULL);
    add_media(m, "text/plain", "words", NULL);
    add_media_url(m, "application/pdf", "https://a.example/c.pdf");
    add_blob(&b, m, "image/webp", "abc");
    assert_request(&b, "media");
}

TEST(a_sound_is_refused)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_media(user_says(&b, NULL), "audio/wav", "noise", NULL);
    assert_not_encoded(&b, &protocol_openai_responses, ERR_VALIDATION);
}

TEST(empty_texts_and_messages_are_left_out)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.system = S(" ");
    user_says(&b, "Hello");
    message_add_text(assistant_says(&b, ""), S(" \n"));
    user_says(&b, "Still there?");
    assert_request(&b, "empty");
}

TEST(texts_of_one_message_stay_together)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    message_add_text(user_says(&b, "One."), S("Two."));
    m = assistant_says(&b, "Three.");
    add_native(m, PART_CITATION, "{}");
    message_add_text(m, S("Four."));
    add_refusal(m, "No more.");
    assert_request(&b, "texts");
}

TEST(system_messages_keep_their_place)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Hello");
    message_add_text(add_message(&b, ROLE_SYSTEM), S("The mode has changed."));
    assert_request(&b, "system-message");
}

TEST(calls_and_results_are_items_of_their_own)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Compare them.");
    m = assistant_says(&b, "I look.");
    add_call(m, "call_1", "look", "{\"at\":1}");
    add_call(m, "call_2", "look", "");
    tool_answers(&b, "call_1", "look", "one");
    tool_fails(&b, "call_2", "look", "no such thing");
    message_add_text(user_says(&b, NULL), S("And now?"));
    assert_request(&b, "tool-round");
}

TEST(a_result_may_hold_pictures)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Look.");
    add_call(assistant_says(&b, NULL), "call_1", "look", "{}");
    tool_shows(&b, "call_1", "look", "a ship", "image/png", "pixels");
    assert_request(&b, "tool-picture");
}

TEST(a_custom_call_is_answered_as_one)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Count them.");
    add_call(assistant_says(&b, NULL), "call_1", "query", "SELECT 1")->is_free_text = true;
    tool_answers(&b, "call_1", "query", "1");
    assert_request(&b, "custom-tool");
}

TEST(ids_that_the_api_refuses_are_mapped_alike_in_call_and_result)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Look.");
    add_call(assistant_says(&b, NULL), "look:1", "look", "{}");
    tool_answers(&b, "look:1", "look", "one");
    assert_request(&b, "call-ids");
}

/* --- what goes back --- */

TEST(reasoning_goes_back_with_what_followed_it)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "", NULL, REASONING("rs_1"));
    add_native_text(m, "I look.", MESSAGE("msg_1", "I look."));
    add_reasoning(m, "", NULL, REASONING("rs_2"));
    add_native_call(m, "call_1", CALL("fc_1", "call_1"));
    add_native_call(m, "call_2", CALL("fc_2", "call_2"));
    tool_answers(&b, "call_1", "look", "one");
    tool_answers(&b, "call_2", "look", "two");
    assert_request(&b, "replay");
}

TEST(reasoning_without_its_bytes_takes_the_ids_behind_it_away)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "lost", NULL, NULL);
    add_native_text(m, "I look.", MESSAGE("msg_1", "I look."));
    add_native(m, PART_SERVER_TOOL_USE, "{\"type\":\"web_search_call\",\"id\":\"ws_1\"}");
    add_reasoning(m, "", NULL, REASONING("rs_2"));
    add_native_call(m, "call_1", CALL("fc_1", "call_1"));
    tool_answers(&b, "call_1", "look", "one");
    assert_request(&b, "replay-lost");
}

TEST(reasoning_stays_out_when_what_followed_it_cannot_go_back)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "", NULL, REASONING("rs_1"));
    add_reasoning(m, "", NULL, REASONING("rs_2"));
    add_call(m, "call_1", "look", "{}");
    add_native_call(m, "call_2", CALL("fc_2", "call_2"));
    tool_answers(&b, "call_1", "look", "one");
    tool_answers(&b, "call_2", "look", "two");
    assert_request(&b, "replay-changed");
}

TEST(reasoning_that_led_to_nothing_stays_out)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    add_native_text(m, "I look.", MESSAGE("msg_1", "I look."));
    add_reasoning(m, "", NULL, REASONING("rs_1"));
    user_says(&b, "And?");
    assert_request(&b, "replay-cut");
}

TEST(an_item_of_several_parts_goes_back_once)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Hello");
    m = assistant_says(&b, NULL);
    add_native_text(m, "One.", MESSAGE("msg_1", "One.Two."));
    add_native(m, PART_CITATION, "{\"type\":\"url_citation\"}");
    add_native_text(m, "Two.", MESSAGE("msg_1", "One.Two."));
    add_native_text(m, "Three.", MESSAGE("msg_2", "Three."));
    assert_request(&b, "replay-parts");
}

TEST(another_provider_sees_only_what_was_said)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Look.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "hm", NULL, REASONING("rs_1"));
    add_native(m, PART_SERVER_TOOL_USE, "{\"type\":\"web_search_call\",\"id\":\"ws_1\"}");
    add_native_text(m, "I look.", MESSAGE("msg_1", "I look."));
    add_media(m, "image/png", "pixels", NULL);
    add_native_call(m, "call_1", CALL("fc_1", "call_1"));
    from_elsewhere(m);
    tool_answers(&b, "call_1", "look", "one");
    assert_request(&b, "foreign");
}

TEST(the_next_request_begins_with_the_bytes_of_this_one)
{
    AUTO(strbuf) struct strbuf first = {0}, second = {0};
    AUTO(build) struct build b;

    build_init(&b);
    b.request.system = S("Be brief.");
    add_tools(&b);
    user_says(&b, "Look.");
    assert_ok(protocol_openai_responses.encode(&b.request, &b.dialect, &first));
    add_call(assistant_says(&b, NULL), "call_1", "look", "{}");
    tool_answers(&b, "call_1", "look", "one");
    assert_ok(protocol_openai_responses.encode(&b.request, &b.dialect, &second));
    strbuf_cut(&first, first.n - S("]}").n);
    assert_true(str_starts(strbuf_str(&second), strbuf_str(&first)));
}

RUN_TESTS(UNIT(a_request_holds_the_conversation_and_is_not_stored),
          UNIT(every_setting_that_the_api_has_is_sent),
          UNIT(a_schema_that_strict_mode_refuses_is_sent_without_it),
          UNIT(options_of_the_profile_win), UNIT(a_model_that_does_not_reason_is_not_asked_to),
          UNIT(reasoning_is_switched_off_without_asking_for_a_summary),
          UNIT(reasoning_that_cannot_be_switched_off_is_left_alone),
          UNIT(a_vendor_that_stores_nothing_is_not_told_so),
          UNIT(tools_say_whether_they_are_strict_and_only_if_their_schema_is),
          UNIT(a_vendor_may_know_neither_strict_tools_nor_the_switch_for_parallel_calls),
          UNIT(one_tool_may_be_demanded), UNIT(pictures_and_files_stand_in_the_message),
          UNIT(a_sound_is_refused), UNIT(empty_texts_and_messages_are_left_out),
          UNIT(texts_of_one_message_stay_together), UNIT(system_messages_keep_their_place),
          UNIT(calls_and_results_are_items_of_their_own), UNIT(a_result_may_hold_pictures),
          UNIT(a_custom_call_is_answered_as_one),
          UNIT(ids_that_the_api_refuses_are_mapped_alike_in_call_and_result),
          UNIT(reasoning_goes_back_with_what_followed_it),
          UNIT(reasoning_without_its_bytes_takes_the_ids_behind_it_away),
          UNIT(reasoning_stays_out_when_what_followed_it_cannot_go_back),
          UNIT(reasoning_that_led_to_nothing_stays_out),
          UNIT(an_item_of_several_parts_goes_back_once),
          UNIT(another_provider_sees_only_what_was_said),
          UNIT(the_next_request_begins_with_the_bytes_of_this_one))
