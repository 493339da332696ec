/* anthropic_encode_test.c */
#include "provider/build.h"

#define CITY_SCHEMA                                                                                \
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]" \
    "}"
#define THOUGHT "{\"type\":\"thinking\",\"thinking\":\"Let me see.\",\"signature\":\"c2ln\"}"
#define SEARCH "{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":\"web_search\",\"input\":{}}"
#define FOUND "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"s\",\"content\":[]}"

static const struct protocol *const anthropic = &protocol_anthropic_messages;

/* --- settings --- */

TEST(a_question_is_a_model_a_limit_and_messages)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.system = S("Be brief.");
    user_says(&b, "Hello?");
    assert_golden(&b, anthropic, "anthropic-messages/question");
}

TEST(every_setting_has_its_member)
{
    static const struct str stop[] = {{"END", 3}, {"###", 3}};
    AUTO(build) struct build b;

    build_init(&b);
    b.request.stream = true;
    b.request.max_output = 1000;
    b.request.sampling = (struct sampling){.temperature = just(0.5),
                                           .top_p = just(0.9),
                                           .frequency_penalty = just(1),
                                           .presence_penalty = just(1),
                                           .top_k = 40,
                                           .has_seed = true,
                                           .seed = 7,
                                           .stop = stop,
                                           .n_stop = 2};
    user_says(&b, "Hello?");
    assert_golden(&b, anthropic, "anthropic-messages/settings");
}

TEST(the_limit_is_the_catalogues_when_none_is_asked_for)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, NO_SAMPLING);
    b.info.max_output = 8192;
    b.request.sampling.temperature = just(0.5);
    user_says(&b, "Hello?");
    assert_golden(&b, anthropic, "anthropic-messages/known-model");
}

TEST(options_of_the_profile_win_and_pass_unread)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.options = parse_json(&b, "{\"max_tokens\":5,\"metadata\":{\"user_id\":\"u\"}}");
    user_says(&b, "Hello?");
    assert_golden(&b, anthropic, "anthropic-messages/options");
}

TEST(caching_marks_what_stays_and_lets_the_api_mark_the_rest)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.cache = PROMPT_CACHE_LONG;
    b.request.system = S("Be brief.");
    add_tool(&b, "now", "", NULL);
    user_says(&b, "Hello?");
    assert_golden(&b, anthropic, "anthropic-messages/cache");
}

TEST(without_a_system_text_the_last_tool_is_marked)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.no_top_level_cache = true;
    b.request.cache = PROMPT_CACHE_SHORT;
    add_tool(&b, "now", "", NULL);
    add_tool(&b, "later", "", NULL);
    user_says(&b, "Hello?");
    assert_golden(&b, anthropic, "anthropic-messages/cache-tools");
}

TEST(the_answer_must_fit_the_schema)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.output_schema = parse_json(&b, CITY_SCHEMA);
    user_says(&b, "Where?");
    assert_golden(&b, anthropic, "anthropic-messages/schema");
}

/* --- thinking --- */

TEST(models_that_are_not_known_choose_their_own_budget)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.effort = EFFORT_MINIMAL;
    b.request.sampling.temperature = just(0.5);
    user_says(&b, "Think.");
    assert_golden(&b, anthropic, "anthropic-messages/thinking-adaptive");
}

TEST(older_models_are_given_a_budget)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, CAN_REASON);
    b.request.max_output = 10000;
    b.request.effort = EFFORT_LOW;
    user_says(&b, "Think.");
    assert_golden(&b, anthropic, "anthropic-messages/thinking-budget");
}

TEST(thinking_is_switched_off)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.effort = EFFORT_NONE;
    user_says(&b, "Think.");
    assert_golden(&b, anthropic, "anthropic-messages/thinking-off");
}

TEST(a_forced_tool_leaves_no_room_for_thinking)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.effort = EFFORT_HIGH;
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = S("now")};
    add_tool(&b, "now", "", NULL);
    user_says(&b, "Think.");
    assert_golden(&b, anthropic, "anthropic-messages/tool-forced");
}

TEST(thoughts_go_back_as_the_bytes_that_came_and_to_their_maker_only)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Think.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "Let me see.", "c2ln", THOUGHT);
    message_add_text(m, S("Done."));
    user_says(&b, "Again.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "Not yours.", "c2ln", THOUGHT);
    message_add_text(m, S("Done."));
    from_elsewhere(m);
    user_says(&b, "Once more.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "Cut off.", NULL, "{\"type\":\"thinking\",\"thinking\":\"Cut off.\"}");
    message_add_text(m, S("Done."));
    user_says(&b, "Thanks.");
    assert_golden(&b, anthropic, "anthropic-messages/thoughts");
}

/* --- tools --- */

TEST(tools_are_offered)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_tool(&b, "weather", "Tells the weather.", CITY_SCHEMA)->strict = true;
    add_tool(&b, "now", "", NULL);
    add_tool(&b, "run", "Runs a script.", NULL)->takes_free_text = true;
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_ANY, .one_at_a_time = true};
    b.request.web_search = true;
    b.request.web_fetch = true;
    user_says(&b, "Weather?");
    assert_golden(&b, anthropic, "anthropic-messages/tools");
}

TEST(a_round_of_tools_is_calls_and_their_results_in_one_message)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Weather?");
    m = assistant_says(&b, "I'll look.");
    add_call(m, "toolu_1", "weather", "{\"city\":\"Rome\"}");
    add_call(m, "an id with spaces", "now", "");
    add_call(m, "toolu_3", "run", "print 1")->is_free_text = true;
    tool_shows(&b, "toolu_1", "weather", "a map", "image/png", "PNG");
    tool_fails(&b, "an id with spaces", "now", "broken clock");
    tool_answers(&b, "toolu_3", "run", " ");
    assert_golden(&b, anthropic, "anthropic-messages/tool-round");
}

TEST(tools_of_the_provider_go_back_to_it_alone)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    for (int i = 0; i < 2; i++) {
        user_says(&b, "Search.");
        m = assistant_says(&b, NULL);
        add_native(m, PART_SERVER_TOOL_USE, SEARCH);
        add_native(m, PART_SERVER_TOOL_RESULT, FOUND);
        message_add_text(m, S("Found."));
        add_native(m, PART_CITATION, "{\"url\":\"x\"}");
        if (i == 1)
            from_elsewhere(m);
    }
    user_says(&b, "Thanks.");
    assert_golden(&b, anthropic, "anthropic-messages/server-tools");
}

/* --- content --- */

TEST(media_go_out_as_the_api_names_them)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    m = user_says(&b, "Look:");
    add_media(m, "image/png", "PNG", NULL);
    add_media_url(m, "image/jpeg", "https://example.com/cat.jpg");
    add_blob(&b, m, "image/gif", "cafe");
    add_media(m, "application/pdf", "%PDF", "paper.pdf");
    add_media_url(m, "application/pdf", "https://example.com/paper.pdf");
    add_media(m, "text/markdown", "one\ntwo", "notes.md");
    assert_golden(&b, anthropic, "anthropic-messages/media");
}

TEST(what_the_api_cannot_carry_is_refused)
{
    AUTO(build) struct build b;

    build_init(&b);
    add_media(user_says(&b, NULL), "audio/wav", "RIFF", NULL);
    assert_not_encoded(&b, anthropic, ERR_VALIDATION);
}

TEST(nothing_empty_is_written)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    b.request.system = S(" \n");
    m = user_says(&b, " ");
    message_add_text(m, S("Hello?"));
    m = assistant_says(&b, " ");
    add_reasoning(m, "Not yours.", "c2ln", THOUGHT);
    from_elsewhere(m);
    add_refusal(assistant_says(&b, NULL), "I refuse.");
    user_says(&b, "\t");
    assert_golden(&b, anthropic, "anthropic-messages/nothing-empty");
}

TEST(a_request_begins_with_the_bytes_of_the_one_before)
{
    AUTO(build) struct build b;
    AUTO(strbuf) struct strbuf first = {0}, second = {0};
    struct str shared;

    build_init(&b);
    b.request.system = S("Be brief.");
    b.request.cache = PROMPT_CACHE_SHORT;
    add_tool(&b, "now", "", NULL);
    user_says(&b, "Now?");
    add_call(assistant_says(&b, NULL), "toolu_1", "now", "{}");
    tool_answers(&b, "toolu_1", "now", "12");
    assert_ok(anthropic->encode(&b.request, &b.dialect, &first));
    assistant_says(&b, "There.");
    user_says(&b, "More.");
    assert_ok(anthropic->encode(&b.request, &b.dialect, &second));

    shared = str_slice(strbuf_str(&first), 0, first.n - strlen("]}"));
    assert_true(str_starts(strbuf_str(&second), shared));
}

TEST(headers_name_the_version_and_what_is_beta)
{
    AUTO(build) struct build b;
    struct http_headers headers = {0};

    build_init(&b);
    b.request.web_fetch = true;
    anthropic->headers(&b.request, &b.dialect, &b.arena, &headers);
    assert_str(http_headers_get(&headers, "anthropic-version"), "2023-06-01");
    assert_str(http_headers_get(&headers, "anthropic-beta"), "web-fetch-2025-09-10");
}

RUN_TESTS(UNIT(a_question_is_a_model_a_limit_and_messages), UNIT(every_setting_has_its_member),
          UNIT(the_limit_is_the_catalogues_when_none_is_asked_for),
          UNIT(options_of_the_profile_win_and_pass_unread),
          UNIT(caching_marks_what_stays_and_lets_the_api_mark_the_rest),
          UNIT(without_a_system_text_the_last_tool_is_marked), UNIT(the_answer_must_fit_the_schema),
          UNIT(models_that_are_not_known_choose_their_own_budget),
          UNIT(older_models_are_given_a_budget), UNIT(thinking_is_switched_off),
          UNIT(a_forced_tool_leaves_no_room_for_thinking),
          UNIT(thoughts_go_back_as_the_bytes_that_came_and_to_their_maker_only),
          UNIT(tools_are_offered), UNIT(a_round_of_tools_is_calls_and_their_results_in_one_message),
          UNIT(tools_of_the_provider_go_back_to_it_alone), UNIT(media_go_out_as_the_api_names_them),
          UNIT(what_the_api_cannot_carry_is_refused), UNIT(nothing_empty_is_written),
          UNIT(a_request_begins_with_the_bytes_of_the_one_before),
          UNIT(headers_name_the_version_and_what_is_beta))
