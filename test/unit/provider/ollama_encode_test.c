/* ollama_encode_test.c */
#include "provider/build.h"

#define CITY_SCHEMA                                                                                \
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]" \
    "}"

static const struct protocol *const ollama = &protocol_ollama;

TEST(a_question_is_a_model_and_messages)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.system = S("Be brief.");
    b.request.stream = true;
    user_says(&b, "Hello?");
    assert_golden(&b, ollama, "ollama/question");
}

TEST(settings_of_the_run_stand_in_options)
{
    static const struct str stop[] = {{"END", 3}};
    AUTO(build) struct build b;

    build_init(&b);
    b.request.max_output = 1000;
    b.request.sampling = (struct sampling){.temperature = just(0.5),
                                           .top_p = just(0.9),
                                           .frequency_penalty = just(1),
                                           .presence_penalty = just(-1),
                                           .top_k = 40,
                                           .has_seed = true,
                                           .seed = 7,
                                           .stop = stop,
                                           .n_stop = 1};
    user_says(&b, "Hello?");
    assert_golden(&b, ollama, "ollama/settings");
}

TEST(options_of_the_profile_join_ours_and_win)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.max_output = 1000;
    b.request.sampling.temperature = just(0.5);
    b.request.options = parse_json(
        &b, "{\"keep_alive\":\"5m\",\"options\":{\"num_ctx\":32768,\"temperature\":0},\"x\":1}");
    user_says(&b, "Hello?");
    assert_golden(&b, ollama, "ollama/options");
}

TEST(the_schema_is_the_format)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.output_schema = parse_json(&b, CITY_SCHEMA);
    user_says(&b, "Where?");
    assert_golden(&b, ollama, "ollama/schema");
}

static bool says(struct build *b, const char *want)
{
    AUTO(strbuf) struct strbuf body = {0};

    assert_ok(ollama->encode(&b->request, &b->dialect, &body));
    return str_find(strbuf_str(&body), str_of(want)) != STR_NONE;
}

TEST(the_server_is_told_to_make_room_for_the_window_that_is_reckoned_with)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Hello?");
    assert_false(says(&b, "num_ctx"));
    b.request.context_window = 65536;
    assert_true(says(&b, "\"options\":{\"num_ctx\":65536}"));
    b.request.options = parse_json(&b, "{\"options\":{\"num_ctx\":8192}}");
    assert_true(says(&b, "\"options\":{\"num_ctx\":8192}"));
}

static void think(unsigned capabilities, enum effort effort, const char *name)
{
    AUTO(build) struct build b;

    build_init(&b);
    if (capabilities)
        can(&b, capabilities);
    b.request.effort = effort;
    user_says(&b, "Think.");
    assert_golden(&b, ollama, name);
}

TEST(thinking_is_switched_on_and_off)
{
    think(0, EFFORT_LOW, "ollama/think");
    think(0, EFFORT_NONE, "ollama/think-not");
}

TEST(thinking_has_levels_where_the_model_knows_them)
{
    think(CAN_REASON | REASONS_BY_LEVEL, EFFORT_MINIMAL, "ollama/think-low");
    think(CAN_REASON | REASONS_BY_LEVEL, EFFORT_MAX, "ollama/think-high");
}

TEST(thinking_is_not_mentioned_where_it_cannot_be_changed)
{
    think(CAN_TOOLS, EFFORT_HIGH, "ollama/think-unsaid");
    think(CAN_REASON | REASONS_ALWAYS, EFFORT_NONE, "ollama/think-unsaid");
    think(0, EFFORT_UNSET, "ollama/think-unsaid");
}

static void offer_tools(struct build *b)
{
    add_tool(b, "weather", "Tells the weather.", CITY_SCHEMA);
    add_tool(b, "now", "", NULL);
    add_tool(b, "run", "Runs a script.", NULL)->takes_free_text = true;
    user_says(b, "Weather?");
}

TEST(tools_are_offered)
{
    AUTO(build) struct build b;

    build_init(&b);
    offer_tools(&b);
    assert_golden(&b, ollama, "ollama/tools");
}

TEST(only_the_tool_that_may_be_called_is_offered)
{
    AUTO(build) struct build b;

    build_init(&b);
    offer_tools(&b);
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = S("now")};
    assert_golden(&b, ollama, "ollama/tool-named");
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NONE};
    assert_golden(&b, ollama, "ollama/tools"); /* the list of a session stays as it is */
}

TEST(a_round_of_tools_is_calls_and_their_results)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Weather?");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "I must look.", NULL, NULL);
    add_call(m, "call_1", "weather", "{\"city\":\"Rome\"}");
    add_call(m, "an id with spaces", "now", "");
    add_call(m, "call_3", "run", "print 1")->is_free_text = true;
    tool_shows(&b, "call_1", "weather", "a map", "image/png", "PNG");
    tool_fails(&b, "an id with spaces", "now", "broken clock");
    tool_answers(&b, "call_3", "run", "");
    assert_golden(&b, ollama, "ollama/tool-round");
}

TEST(thinking_goes_back_only_to_its_maker)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Think.");
    m = assistant_says(&b, "Done.");
    add_reasoning(m, "Mine.", NULL, NULL);
    user_says(&b, "Again.");
    m = assistant_says(&b, "Done.");
    add_reasoning(m, "Not yours.", NULL, NULL);
    from_elsewhere(m);
    user_says(&b, "Thanks.");
    assert_golden(&b, ollama, "ollama/thinking");
}

TEST(pictures_stand_beside_the_text)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    m = user_says(&b, "Look:");
    add_media(m, "image/png", "PNG", NULL);
    add_blob(&b, m, "image/gif", "cafe");
    add_media(m, "text/plain", "one\ntwo", "notes.txt");
    message_add_text(m, S("See?"));
    add_media(user_says(&b, NULL), "image/png", "PNG", NULL);
    assert_golden(&b, ollama, "ollama/pictures");
}

TEST(what_the_api_cannot_carry_is_refused)
{
    AUTO(build) struct build b, c;

    build_init(&b);
    add_media(user_says(&b, NULL), "application/pdf", "%PDF", NULL);
    assert_not_encoded(&b, ollama, ERR_VALIDATION);
    build_init(&c);
    add_media_url(user_says(&c, NULL), "image/png", "https://example.com/cat.png");
    assert_not_encoded(&c, ollama, ERR_VALIDATION);
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
    add_native(m, PART_SERVER_TOOL_USE, "{}");
    add_refusal(assistant_says(&b, NULL), "I refuse.");
    user_says(&b, "\t");
    message_add_text(add_message(&b, ROLE_SYSTEM), S("Be quick now."));
    assert_golden(&b, ollama, "ollama/nothing-empty");
}

RUN_TESTS(UNIT(a_question_is_a_model_and_messages), UNIT(settings_of_the_run_stand_in_options),
          UNIT(options_of_the_profile_join_ours_and_win), UNIT(the_schema_is_the_format),
          UNIT(thinking_is_switched_on_and_off),
          UNIT(thinking_has_levels_where_the_model_knows_them),
          UNIT(thinking_is_not_mentioned_where_it_cannot_be_changed), UNIT(tools_are_offered),
          UNIT(only_the_tool_that_may_be_called_is_offered),
          UNIT(a_round_of_tools_is_calls_and_their_results),
          UNIT(thinking_goes_back_only_to_its_maker), UNIT(pictures_stand_beside_the_text),
          UNIT(the_server_is_told_to_make_room_for_the_window_that_is_reckoned_with),
          UNIT(what_the_api_cannot_carry_is_refused), UNIT(nothing_empty_is_written))
