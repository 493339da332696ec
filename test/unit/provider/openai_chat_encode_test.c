/* openai_chat_encode_test.c */
#include "provider/build.h"

#define CITY_SCHEMA                                                                                \
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},"                        \
    "\"required\":[\"city\"],\"additionalProperties\":false}"
#define LOOSE_SCHEMA "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}"

static const struct protocol *const chat = &protocol_openai_chat;

/* --- settings --- */

TEST(a_question_is_a_model_and_messages)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.system = S("Be brief.");
    user_says(&b, "Hello?");
    assert_golden(&b, chat, "openai-chat/question");
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
                                           .frequency_penalty = just(-1),
                                           .presence_penalty = just(1),
                                           .top_k = 40,
                                           .has_seed = true,
                                           .seed = 7,
                                           .stop = stop,
                                           .n_stop = 2};
    user_says(&b, "Hello?");
    assert_golden(&b, chat, "openai-chat/settings");
}

TEST(vendors_with_old_names_get_old_names)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.max_tokens_old_name = true;
    b.dialect.no_stream_usage = true;
    b.dialect.developer_role = true;
    b.dialect.takes_top_k = true;
    b.request.system = S("Be brief.");
    b.request.stream = true;
    b.request.max_output = 1000;
    b.request.sampling.top_k = 40;
    user_says(&b, "Hello?");
    assert_golden(&b, chat, "openai-chat/dialect");
}

TEST(models_that_refuse_sampling_get_none)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, NO_SAMPLING);
    b.request.sampling.temperature = just(0.5);
    b.request.sampling.has_seed = true;
    user_says(&b, "Hello?");
    assert_golden(&b, chat, "openai-chat/no-sampling");
}

TEST(options_of_the_profile_win_and_pass_unread)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.max_output = 1000;
    b.request.options = parse_json(
        &b, "{\"max_completion_tokens\":5,\"service_tier\":\"flex\",\"x\":{\"y\":[1.0]}}");
    user_says(&b, "Hello?");
    assert_golden(&b, chat, "openai-chat/options");
}

TEST(caching_marks_what_stays_and_lets_the_router_mark_the_rest)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.cache_marks = true;
    b.dialect.has_prompt_cache_key = true;
    b.dialect.reports_cost = true;
    b.request.cache = PROMPT_CACHE_LONG;
    b.request.cache_key = S("session-1");
    b.request.system = S("Be brief.");
    user_says(&b, "Hello?");
    assert_golden(&b, chat, "openai-chat/cache");
}

TEST(the_web_is_searched_where_the_vendor_can)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.web_search_options = true;
    b.request.web_search = true;
    user_says(&b, "What happened today?");
    assert_golden(&b, chat, "openai-chat/web-search");
}

/* --- reasoning --- */

static void effort_in_style(int style, enum effort effort, int64_t budget, const char *name)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.reasoning_style = style;
    b.request.effort = effort;
    b.request.reasoning_budget = budget;
    user_says(&b, "Think.");
    assert_golden(&b, chat, name);
}

TEST(effort_is_a_word)
{
    effort_in_style(REASONING_EFFORT_FIELD, EFFORT_LOW, 0, "openai-chat/effort");
}

TEST(the_highest_effort_is_the_highest_word_that_the_api_has)
{
    effort_in_style(REASONING_EFFORT_FIELD, EFFORT_MAX, 0, "openai-chat/effort-max");
}

TEST(effort_is_an_object_for_routers)
{
    effort_in_style(REASONING_OBJECT, EFFORT_NONE, 0, "openai-chat/effort-object");
}

TEST(a_budget_wins_over_effort_where_it_can_be_sent)
{
    effort_in_style(REASONING_OBJECT, EFFORT_LOW, 2000, "openai-chat/effort-budget");
}

TEST(thinking_is_switched_off_by_its_type)
{
    effort_in_style(REASONING_THINKING_TYPE, EFFORT_NONE, 0, "openai-chat/effort-type");
}

TEST(thinking_is_switched_on_with_a_budget)
{
    effort_in_style(REASONING_ENABLE_THINKING, EFFORT_HIGH, 500, "openai-chat/effort-switch");
}

TEST(effort_is_not_sent_where_there_is_none)
{
    effort_in_style(REASONING_UNSUPPORTED, EFFORT_HIGH, 500, "openai-chat/effort-unsupported");
}

TEST(effort_is_not_sent_to_a_model_that_does_not_reason)
{
    AUTO(build) struct build b;

    build_init(&b);
    can(&b, CAN_TOOLS);
    b.request.effort = EFFORT_HIGH;
    user_says(&b, "Think.");
    assert_golden(&b, chat, "openai-chat/effort-unsupported");
}

/* --- structured output --- */

TEST(a_closed_schema_is_enforced)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.output_schema = parse_json(&b, CITY_SCHEMA);
    b.request.output_name = S("place");
    user_says(&b, "Where?");
    assert_golden(&b, chat, "openai-chat/schema");
}

TEST(a_schema_with_optional_members_is_not_enforced)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.output_schema = parse_json(&b, LOOSE_SCHEMA);
    user_says(&b, "Where?");
    assert_golden(&b, chat, "openai-chat/schema-loose");
}

TEST(the_schema_stands_at_the_end_where_the_api_takes_none)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.no_json_schema = true;
    b.request.system = S("Be brief.");
    b.request.output_schema = parse_json(&b, CITY_SCHEMA);
    user_says(&b, "Where?");
    assert_golden(&b, chat, "openai-chat/schema-in-prompt");
}

/* --- tools --- */

static void offer_tools(struct build *b)
{
    add_tool(b, "weather", "Tells the weather.", CITY_SCHEMA)->strict = true;
    add_tool(b, "now", "", NULL);
    add_tool(b, "run", "Runs a script.", NULL)->takes_free_text = true;
}

TEST(tools_are_offered)
{
    AUTO(build) struct build b;

    build_init(&b);
    offer_tools(&b);
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_ANY, .one_at_a_time = true};
    user_says(&b, "Weather?");
    assert_golden(&b, chat, "openai-chat/tools");
}

TEST(tools_are_offered_in_the_vendors_way)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.no_strict_tools = true;
    b.dialect.no_custom_tools = true;
    b.dialect.no_parallel_switch = true;
    offer_tools(&b);
    b.request.tool_choice =
        (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = S("run"), .one_at_a_time = true};
    user_says(&b, "Weather?");
    assert_golden(&b, chat, "openai-chat/tools-dialect");
}

TEST(a_custom_tool_is_chosen_as_such)
{
    AUTO(build) struct build b;

    build_init(&b);
    offer_tools(&b);
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = S("run")};
    user_says(&b, "Run it.");
    assert_golden(&b, chat, "openai-chat/tool-choice-custom");
}

TEST(without_tools_nothing_is_chosen)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.request.tool_choice = (struct tool_choice){.kind = TOOL_CHOICE_NONE, .one_at_a_time = true};
    user_says(&b, "Think.");
    assert_golden(&b, chat, "openai-chat/effort-unsupported");
}

TEST(a_round_of_tools_is_calls_and_their_results)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Weather?");
    m = assistant_says(&b, "I'll look.");
    add_call(m, "call_1", "weather", "{\"city\":\"Rome\"}");
    add_call(m, "call_2", "weather", "{\"city\":\"Oslo\"}");
    tool_answers(&b, "call_1", "weather", "warm");
    tool_fails(&b, "call_2", "weather", "no such city");
    assert_golden(&b, chat, "openai-chat/tool-round");
}

TEST(calls_without_words_or_arguments_are_whole_messages)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Now?");
    m = assistant_says(&b, "\n");
    add_call(m, "call_1", "now", "");
    tool_answers(&b, "call_1", "now", " ");
    assert_golden(&b, chat, "openai-chat/tool-silent");
}

static void run_a_script(struct build *b)
{
    struct message *m;

    user_says(b, "Run it.");
    m = assistant_says(b, NULL);
    add_call(m, "call_1", "run", "print \"1\"")->is_free_text = true;
    tool_answers(b, "call_1", "run", "1");
}

TEST(a_call_with_free_text_goes_back_as_it_came)
{
    AUTO(build) struct build b;

    build_init(&b);
    run_a_script(&b);
    assert_encodes(&b, chat,
                   "{'model':'a-model','messages':[{'role':'user','content':'Run it.'},"
                   "{'role':'assistant','content':null,'tool_calls':[{'id':'call_1',"
                   "'type':'custom','custom':{'name':'run','input':'print \\'1\\''}}]},"
                   "{'role':'tool','tool_call_id':'call_1','content':'1'}]}");
}

TEST(a_call_with_free_text_is_a_function_with_one_argument_elsewhere)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.no_custom_tools = true;
    run_a_script(&b);
    assert_golden(&b, chat, "openai-chat/tool-custom-as-function");
}

TEST(call_ids_fit_the_api_and_stay_pairs)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Now?");
    m = assistant_says(&b, NULL);
    add_call(m, "an id with spaces", "now", "{}");
    add_call(m, "an-id-that-is-longer-than-forty-characters-in-all", "now", "{}");
    tool_answers(&b, "an id with spaces", "now", "12");
    tool_answers(&b, "an-id-that-is-longer-than-forty-characters-in-all", "now", "13");
    assert_golden(&b, chat, "openai-chat/call-ids");
}

TEST(short_call_ids_have_nine_letters_and_digits)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    b.dialect.short_call_ids = true;
    user_says(&b, "Now?");
    m = assistant_says(&b, NULL);
    add_call(m, "abcDEF123", "now", "{}");
    add_call(m, "call_1234", "now", "{}");
    tool_answers(&b, "abcDEF123", "now", "12");
    tool_answers(&b, "call_1234", "now", "13");
    assert_golden(&b, chat, "openai-chat/call-ids-short");
}

TEST(what_a_vendor_attached_to_a_call_goes_back_to_it_alone)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    user_says(&b, "Now?");
    for (int i = 0; i < 2; i++) {
        m = assistant_says(&b, NULL);
        add_call(m, "call_1", "now", "{}")->native =
            S("{\"google\":{\"thought_signature\":\"c2ln\"}}");
        if (i == 1)
            from_elsewhere(m);
        tool_answers(&b, "call_1", "now", "12");
    }
    assert_golden(&b, chat, "openai-chat/extra-content");
}

/* --- media --- */

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
    add_media(m, "audio/wav", "RIFF", NULL);
    add_media(m, "audio/mpeg", "ID3", NULL);
    add_media(m, "text/plain", "one\ntwo", "notes.txt");
    assert_golden(&b, chat, "openai-chat/media");
}

TEST(what_the_api_cannot_carry_is_refused)
{
    static const struct {
        const char *mime;
        bool is_url;
    } refused[] = {{"video/mp4", false},
                   {"audio/flac", false},
                   {"application/pdf", true},
                   {"audio/wav", true}};

    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        AUTO(build) struct build b;
        struct message *m;

        build_init(&b);
        m = user_says(&b, NULL);
        if (refused[i].is_url)
            add_media_url(m, refused[i].mime, "https://example.com/file");
        else
            add_media(m, refused[i].mime, "bytes", NULL);
        assert_not_encoded(&b, chat, ERR_VALIDATION);
    }
}

TEST(addresses_of_files_go_where_they_are_taken)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.file_urls = true;
    add_media_url(user_says(&b, NULL), "application/pdf", "https://example.com/paper.pdf");
    assert_golden(&b, chat, "openai-chat/file-url");
}

static void take_two_pictures(struct build *b)
{
    struct message *m;

    user_says(b, "Show me.");
    m = assistant_says(b, NULL);
    add_call(m, "call_1", "shot", "{}");
    add_call(m, "call_2", "shot", "{}");
    add_call(m, "call_3", "now", "{}");
    tool_shows(b, "call_1", "shot", "first", "image/png", "PNG1");
    tool_shows(b, "call_2", "shot", "", "image/png", "PNG2");
    tool_answers(b, "call_3", "now", "12");
    user_says(b, "And?");
}

TEST(pictures_in_results_follow_behind_all_results)
{
    AUTO(build) struct build b;

    build_init(&b);
    take_two_pictures(&b);
    assert_golden(&b, chat, "openai-chat/tool-pictures");
}

TEST(pictures_stay_in_results_where_they_may)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.tool_images = true;
    take_two_pictures(&b);
    assert_golden(&b, chat, "openai-chat/tool-pictures-inside");
}

TEST(the_assistant_speaks_between_results_and_user_where_it_must)
{
    AUTO(build) struct build b;

    build_init(&b);
    b.dialect.answer_after_tools = true;
    take_two_pictures(&b);
    assert_golden(&b, chat, "openai-chat/tool-bridge");
}

/* --- assistant --- */

static void replay_reasoning(int replay, const char *native, const char *name)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    b.dialect.reasoning_replay = replay;
    user_says(&b, "Think.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "Let me ", NULL, native);
    add_reasoning(m, "see.", NULL, NULL);
    message_add_text(m, S("Done"));
    message_add_text(m, S(" so."));
    user_says(&b, "Again.");
    m = assistant_says(&b, NULL);
    add_reasoning(m, "Not yours.", NULL, "[{\"type\":\"reasoning.text\"}]");
    message_add_text(m, S("Done."));
    from_elsewhere(m);
    user_says(&b, "Thanks.");
    assert_golden(&b, chat, name);
}

TEST(reasoning_stays_here_unless_the_vendor_wants_it)
{
    replay_reasoning(REPLAY_NO_REASONING, "[{}]", "openai-chat/replay-none");
}

TEST(reasoning_goes_back_as_reasoning_content)
{
    replay_reasoning(REPLAY_REASONING_CONTENT, NULL, "openai-chat/replay-content");
}

TEST(reasoning_goes_back_as_reasoning)
{
    replay_reasoning(REPLAY_REASONING_FIELD, NULL, "openai-chat/replay-field");
}

TEST(reasoning_details_go_back_as_the_bytes_that_came)
{
    replay_reasoning(REPLAY_REASONING_DETAILS,
                     "[{\"type\":\"reasoning.text\",\"text\":\"Let me \",\"signature\":\"c2ln\"}]",
                     "openai-chat/replay-details");
}

TEST(reasoning_without_details_goes_back_as_text)
{
    replay_reasoning(REPLAY_REASONING_DETAILS, NULL, "openai-chat/replay-field");
}

TEST(reasoning_goes_back_as_thinking_parts)
{
    replay_reasoning(REPLAY_THINKING_PARTS, NULL, "openai-chat/replay-parts");
}

TEST(speech_goes_back_as_its_words)
{
    AUTO(build) struct build b;
    struct part speech = media_part("audio/wav", "RIFF", NULL);

    build_init(&b);
    user_says(&b, "Say it.");
    speech.id = S("audio_1");
    speech.text = S("It.");
    message_add(assistant_says(&b, NULL), &speech);
    user_says(&b, "Louder.");
    assert_golden(&b, chat, "openai-chat/speech");
}

TEST(a_refusal_goes_back_as_what_was_said)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Do it.");
    add_refusal(assistant_says(&b, NULL), "I won't.");
    user_says(&b, "Why?");
    assert_golden(&b, chat, "openai-chat/refusal");
}

TEST(nothing_empty_is_written)
{
    AUTO(build) struct build b;
    struct message *m;

    build_init(&b);
    b.request.system = S(" \n");
    m = user_says(&b, " ");
    message_add_text(m, S("Hello?"));
    message_add_text(m, S(""));
    m = assistant_says(&b, " ");
    add_native(m, PART_SERVER_TOOL_USE, "{\"type\":\"search\"}");
    add_native(m, PART_CITATION, "{\"url\":\"x\"}");
    user_says(&b, "\t");
    assert_golden(&b, chat, "openai-chat/nothing-empty");
}

TEST(a_system_message_in_between_keeps_its_role)
{
    AUTO(build) struct build b;

    build_init(&b);
    user_says(&b, "Hello?");
    message_add_text(add_message(&b, ROLE_SYSTEM), S("Be quick now."));
    assert_golden(&b, chat, "openai-chat/system-between");
}

TEST(a_request_begins_with_the_bytes_of_the_one_before)
{
    AUTO(build) struct build b;
    AUTO(strbuf) struct strbuf first = {0}, second = {0};
    struct str shared;

    build_init(&b);
    b.request.system = S("Be brief.");
    b.request.cache = PROMPT_CACHE_SHORT;
    b.dialect.cache_marks = true;
    offer_tools(&b);
    take_two_pictures(&b);
    assert_ok(chat->encode(&b.request, &b.dialect, &first));
    assistant_says(&b, "There.");
    user_says(&b, "More.");
    assert_ok(chat->encode(&b.request, &b.dialect, &second));

    shared = str_slice(strbuf_str(&first), 0, first.n - strlen("]}"));
    assert_true(str_starts(strbuf_str(&second), shared));
}

RUN_TESTS(UNIT(a_question_is_a_model_and_messages), UNIT(every_setting_has_its_member),
          UNIT(vendors_with_old_names_get_old_names), UNIT(models_that_refuse_sampling_get_none),
          UNIT(options_of_the_profile_win_and_pass_unread),
          UNIT(caching_marks_what_stays_and_lets_the_router_mark_the_rest),
          UNIT(the_web_is_searched_where_the_vendor_can), UNIT(effort_is_a_word),
          UNIT(the_highest_effort_is_the_highest_word_that_the_api_has),
          UNIT(effort_is_an_object_for_routers),
          UNIT(a_budget_wins_over_effort_where_it_can_be_sent),
          UNIT(thinking_is_switched_off_by_its_type), UNIT(thinking_is_switched_on_with_a_budget),
          UNIT(effort_is_not_sent_where_there_is_none),
          UNIT(effort_is_not_sent_to_a_model_that_does_not_reason),
          UNIT(a_closed_schema_is_enforced), UNIT(a_schema_with_optional_members_is_not_enforced),
          UNIT(the_schema_stands_at_the_end_where_the_api_takes_none), UNIT(tools_are_offered),
          UNIT(tools_are_offered_in_the_vendors_way), UNIT(a_custom_tool_is_chosen_as_such),
          UNIT(without_tools_nothing_is_chosen), UNIT(a_round_of_tools_is_calls_and_their_results),
          UNIT(calls_without_words_or_arguments_are_whole_messages),
          UNIT(a_call_with_free_text_goes_back_as_it_came),
          UNIT(a_call_with_free_text_is_a_function_with_one_argument_elsewhere),
          UNIT(call_ids_fit_the_api_and_stay_pairs),
          UNIT(short_call_ids_have_nine_letters_and_digits),
          UNIT(what_a_vendor_attached_to_a_call_goes_back_to_it_alone),
          UNIT(media_go_out_as_the_api_names_them), UNIT(what_the_api_cannot_carry_is_refused),
          UNIT(addresses_of_files_go_where_they_are_taken),
          UNIT(pictures_in_results_follow_behind_all_results),
          UNIT(pictures_stay_in_results_where_they_may),
          UNIT(the_assistant_speaks_between_results_and_user_where_it_must),
          UNIT(reasoning_stays_here_unless_the_vendor_wants_it),
          UNIT(reasoning_goes_back_as_reasoning_content), UNIT(reasoning_goes_back_as_reasoning),
          UNIT(reasoning_details_go_back_as_the_bytes_that_came),
          UNIT(reasoning_without_details_goes_back_as_text),
          UNIT(reasoning_goes_back_as_thinking_parts), UNIT(speech_goes_back_as_its_words),
          UNIT(a_refusal_goes_back_as_what_was_said), UNIT(nothing_empty_is_written),
          UNIT(a_system_message_in_between_keeps_its_role),
          UNIT(a_request_begins_with_the_bytes_of_the_one_before))
