/* model_list_test.c */
#include "test.h"

#include "provider/model_list.h"

/* One line a model: id, name, window, output, prices in cents, lifecycle, abilities. */
static void tell(const struct model_list *models, struct strbuf *out)
{
    for (size_t i = 0; i < models->n; i++) {
        const struct model_info *m = &models->items[i];

        strbuf_addf(out, "%s|%s|%lld|%lld|", m->id, m->name, (long long)m->context_window,
                    (long long)m->max_output);
        if (m->price.input >= 0)
            strbuf_addf(out, "%lld %lld %lld %lld", (long long)m->price.input / 1000,
                        (long long)m->price.output / 1000, (long long)m->price.cache_read / 1000,
                        (long long)m->price.cache_write / 1000);
        strbuf_addf(out, "|%s|", lifecycle_name(m->lifecycle));
        capability_names(m->capabilities, out);
        strbuf_add_char(out, '\n');
    }
}

static void assert_lists_(const char *json, const char *want, const char *file, int line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    struct model_list models;
    struct json *root;

    assert_ok_(json_parse(&a, str_of(json), 0, &root), file, line);
    assert_ok_(model_list_parse(&a, root, &models), file, line);
    tell(&models, &got);
    assert_str_(strbuf_str(&got), want, file, line);
}
#define assert_lists(json, want) assert_lists_((json), (want), __FILE__, __LINE__)

TEST(openai_gives_ids_and_the_day_on_which_a_model_ends)
{
    assert_lists("{\"object\":\"list\",\"data\":["
                 "{\"id\":\"gpt-6.1-sol\",\"object\":\"model\",\"created\":1,\"owned_by\":"
                 "\"openai\",\"shutdown_date\":null},"
                 "{\"id\":\"gpt-5\",\"object\":\"model\",\"shutdown_date\":\"2026-12-11\"}]}",
                 "gpt-6.1-sol|gpt-6.1-sol|0|0||active|\n"
                 "gpt-5|gpt-5|0|0||deprecated|\n");
}

TEST(anthropic_gives_limits_and_a_tree_of_abilities)
{
    assert_lists("{\"data\":[{\"type\":\"model\",\"id\":\"claude-x\",\"display_name\":\"Claude X\","
                 "\"max_input_tokens\":1000000,\"max_tokens\":128000,\"capabilities\":{"
                 "\"image_input\":{\"supported\":true},\"pdf_input\":{\"supported\":false},"
                 "\"structured_outputs\":{\"supported\":true},\"thinking\":{\"supported\":true,"
                 "\"types\":{\"adaptive\":{\"supported\":true}}}}}],\"has_more\":false}",
                 "claude-x|Claude X|1000000|128000||active|images reasoning structured-output\n");
}

TEST(a_claude_that_thinks_adaptively_is_known_for_it)
{
    AUTO(arena) struct arena a = {0};
    struct model_list models;
    struct json *root;

    assert_ok(json_parse(&a,
                         S("[{\"id\":\"c\",\"capabilities\":{\"thinking\":{\"supported\":true,"
                           "\"types\":{\"adaptive\":{\"supported\":true}}}}},"
                           "{\"id\":\"d\",\"capabilities\":{\"thinking\":{\"supported\":true,"
                           "\"types\":{\"adaptive\":{\"supported\":false}}}}}]"),
                         0, &root));
    assert_ok(model_list_parse(&a, root, &models));
    assert_int_equal(models.items[0].capabilities, CAN_REASON | REASONS_ADAPTIVELY);
    assert_int_equal(models.items[1].capabilities, CAN_REASON);
}

TEST(gemini_names_lose_their_collection_and_what_cannot_talk_is_left_out)
{
    assert_lists(
        "{\"models\":[{\"name\":\"models/gemini-9\",\"displayName\":\"Gemini 9\","
        "\"inputTokenLimit\":1048576,\"outputTokenLimit\":65536,\"thinking\":true,"
        "\"supportedGenerationMethods\":[\"countTokens\",\"generateContent\"]},"
        "{\"name\":\"models/embedding-9\",\"supportedGenerationMethods\":[\"embedContent\"]}]}",
        "gemini-9|Gemini 9|1048576|65536||active|reasoning\n");
}

TEST(ollama_gives_names_and_details)
{
    assert_lists("{\"models\":[{\"name\":\"qwen3:4b\",\"model\":\"qwen3:4b\",\"size\":2600000000,"
                 "\"details\":{\"family\":\"qwen3\",\"parameter_size\":\"4.0B\"}},"
                 "{\"name\":\"gemma3\",\"capabilities\":[\"completion\",\"vision\",\"tools\"]}]}",
                 "qwen3:4b|qwen3:4b|0|0||active|\n"
                 "gemma3|gemma3|0|0||active|tools images\n");
}

TEST(openrouter_gives_prices_of_one_token_as_text)
{
    assert_lists(
        "{\"data\":[{\"id\":\"a/b\",\"name\":\"A: B\",\"context_length\":200000,"
        "\"architecture\":{\"input_modalities\":[\"text\",\"image\",\"file\"],"
        "\"output_modalities\":[\"text\"]},\"pricing\":{\"prompt\":\"0.000003\",\"completion\":"
        "\"0.000015\",\"input_cache_read\":\"0.0000003\",\"input_cache_write\":\"0.00000375\"},"
        "\"top_provider\":{\"max_completion_tokens\":64000},"
        "\"supported_parameters\":[\"tools\",\"reasoning\",\"structured_outputs\"],"
        "\"expiration_date\":\"2027-01-01\"},"
        "{\"id\":\"openrouter/auto\",\"pricing\":{\"prompt\":\"-1\",\"completion\":\"-1\"}},"
        "{\"id\":\"a/paints\",\"architecture\":{\"output_modalities\":[\"image\"]}}]}",
        "a/b|A: B|200000|64000|300000 1500000 30000 375000|deprecated|"
        "tools images pdf reasoning structured-output\n"
        "openrouter/auto|openrouter/auto|0|0||active|\n");
}

TEST(together_gives_a_bare_array_and_prices_of_a_million)
{
    assert_lists("[{\"id\":\"x/y\",\"type\":\"chat\",\"display_name\":\"Y\",\"context_length\":"
                 "131072,\"pricing\":{\"hourly\":0,\"input\":0.6,\"output\":1.7,"
                 "\"cached_input\":0.3}},{\"id\":\"x/vectors\",\"type\":\"embedding\"}]",
                 "x/y|Y|131072|0|60000 170000 30000 0|active|\n");
}

TEST(mistral_gives_switches_and_the_day_of_deprecation)
{
    assert_lists("{\"object\":\"list\",\"data\":["
                 "{\"id\":\"m-medium\",\"name\":\"m-medium\",\"max_context_length\":262144,"
                 "\"deprecation\":null,\"capabilities\":{\"completion_chat\":true,"
                 "\"function_calling\":true,\"vision\":true,\"reasoning\":true,"
                 "\"completion_fim\":false},\"type\":\"base\"},"
                 "{\"id\":\"m-old\",\"deprecation\":\"2026-05-31T12:00:00Z\","
                 "\"capabilities\":{\"completion_chat\":true}},"
                 "{\"id\":\"m-embed\",\"capabilities\":{\"completion_chat\":false}}]}",
                 "m-medium|m-medium|262144|0||active|tools images reasoning\n"
                 "m-old|m-old|0|0||deprecated|\n");
}

TEST(groq_gives_windows_and_says_which_models_are_on)
{
    assert_lists("{\"data\":[{\"id\":\"openai/gpt-oss-20b\",\"active\":true,\"context_window\":"
                 "131072,\"max_completion_tokens\":65536},{\"id\":\"gone\",\"active\":false}]}",
                 "openai/gpt-oss-20b|openai/gpt-oss-20b|131072|65536||active|\n");
}

TEST(fireworks_and_azure_say_what_can_chat)
{
    assert_lists(
        "{\"data\":[{\"id\":\"accounts/f/models/g\",\"context_length\":262144,"
        "\"supports_chat\":true,\"supports_tools\":true,\"supports_image_input\":false},"
        "{\"id\":\"flux\",\"supports_chat\":false},"
        "{\"id\":\"gpt\",\"lifecycle_status\":\"preview\",\"deprecation\":{\"inference\":1},"
        "\"capabilities\":{\"chat_completion\":true,\"embeddings\":false}},"
        "{\"id\":\"ada\",\"capabilities\":{\"chat_completion\":false}}]}",
        "accounts/f/models/g|accounts/f/models/g|262144|0||active|tools\n"
        "gpt|gpt|0|0||preview|\n");
}

TEST(local_servers_tell_their_windows)
{
    assert_lists("{\"models\":[{\"name\":\"other\"}],\"object\":\"list\",\"data\":[{\"id\":"
                 "\"qwen.gguf\",\"meta\":{\"n_ctx_train\":40960}}]}",
                 "qwen.gguf|qwen.gguf|40960|0||active|\n");
    assert_lists("{\"data\":[{\"id\":\"facebook/opt\",\"max_model_len\":2048}]}",
                 "facebook/opt|facebook/opt|2048|0||active|\n");
    assert_lists("{\"data\":[{\"id\":\"q\",\"type\":\"vlm\",\"max_context_length\":32768},"
                 "{\"id\":\"nomic\",\"type\":\"embeddings\"}]}",
                 "q|q|32768|0||active|\n");
    assert_lists("{\"data\":[{\"id\":\"q\",\"max_context_length\":262144,"
                 "\"loaded_context_length\":4096}]}",
                 "q|q|4096|0||active|\n");
    assert_lists("{\"data\":[{\"id\":\"q\",\"meta\":{\"n_ctx_train\":262144,\"n_ctx\":8192}}]}",
                 "q|q|8192|0||active|\n");
}

TEST(vercel_gives_tags_and_prices_of_one_token_under_the_names_of_a_million)
{
    assert_lists("{\"data\":[{\"id\":\"anthropic/claude\",\"name\":\"Claude\",\"context_window\":"
                 "200000,\"max_tokens\":64000,\"type\":\"language\",\"tags\":[\"file-input\","
                 "\"reasoning\",\"tool-use\",\"vision\"],\"pricing\":{\"input\":\"0.000003\","
                 "\"output\":\"0.000015\",\"input_cache_read\":\"0.0000003\","
                 "\"input_cache_write\":\"0.00000375\"}},"
                 "{\"id\":\"cohere/rank\",\"type\":\"reranking\"}]}",
                 "anthropic/claude|Claude|200000|64000|300000 1500000 30000 375000|active|"
                 "tools images pdf reasoning\n");
}

TEST(hugging_face_lists_who_serves_a_model_and_the_smallest_window_of_them_fits_all)
{
    assert_lists("{\"data\":[{\"id\":\"zai-org/GLM\",\"architecture\":{\"input_modalities\":"
                 "[\"text\"],\"output_modalities\":[\"text\"]},\"providers\":["
                 "{\"provider\":\"a\",\"status\":\"live\",\"context_length\":202752,"
                 "\"pricing\":{\"input\":0.6,\"output\":2.2},\"supports_tools\":true,"
                 "\"supports_structured_output\":false},"
                 "{\"provider\":\"b\",\"status\":\"live\",\"context_length\":131072,"
                 "\"pricing\":{\"input\":1,\"output\":3.2},\"supports_tools\":false,"
                 "\"supports_structured_output\":true},"
                 "{\"provider\":\"c\",\"status\":\"live\"},"
                 "{\"provider\":\"d\",\"status\":\"staging\",\"context_length\":4096}]}]}",
                 "zai-org/GLM|zai-org/GLM|131072|0|100000 320000 0 0|active|"
                 "tools structured-output\n");
}

TEST(copilot_gives_limits_within_the_abilities_and_the_prompts_counts)
{
    assert_lists("{\"data\":[{\"id\":\"gpt-5\",\"name\":\"GPT-5\",\"capabilities\":{\"type\":"
                 "\"chat\",\"limits\":{\"max_context_window_tokens\":400000,"
                 "\"max_prompt_tokens\":128000,\"max_output_tokens\":64000},\"supports\":"
                 "{\"tool_calls\":true,\"vision\":true,\"streaming\":true}}},"
                 "{\"id\":\"old\",\"capabilities\":{\"limits\":"
                 "{\"max_context_window_tokens\":32768}}},"
                 "{\"id\":\"ada\",\"capabilities\":{\"type\":\"embeddings\"}}]}",
                 "gpt-5|GPT-5|128000|64000||active|tools images\nold|old|32768|0||active|\n");
}

TEST(moonshot_and_litellm_say_what_a_model_supports)
{
    assert_lists("{\"data\":[{\"id\":\"kimi-k3\",\"context_length\":1048576,"
                 "\"supports_image_in\":true,\"supports_video_in\":true,"
                 "\"supports_reasoning\":true}]}",
                 "kimi-k3|kimi-k3|1048576|0||active|images reasoning\n");
    assert_lists("{\"data\":[{\"model_group\":\"team\",\"providers\":[\"openai\"],"
                 "\"max_input_tokens\":272000.0,\"max_output_tokens\":128000.0,\"mode\":\"chat\","
                 "\"supports_vision\":true,\"supports_function_calling\":true},"
                 "{\"model_group\":\"vectors\",\"mode\":\"embedding\"}]}",
                 "team|team|272000|128000||active|tools images\n");
}

TEST(a_model_is_found_in_a_list_without_the_wish_behind_its_name)
{
    struct model_info items[] = {{.id = "a/b"}, {.id = "a/b:free"}};
    struct model_list list = {.items = items, .n = 2};

    assert_ptr_equal(model_list_find(&list, S("a/b:nitro")), &items[0]);
    assert_ptr_equal(model_list_find(&list, S("a/b:free")), &items[1]);
    assert_null(model_list_find(&list, S("a/c:nitro")));
}

TEST(a_model_is_found_in_a_list_by_its_name_with_or_without_a_tag)
{
    struct model_info items[] = {{.id = "qwen3:latest"}, {.id = "qwen3:8b"}};
    struct model_list list = {.items = items, .n = 2};

    assert_ptr_equal(model_list_find(&list, S("qwen3")), &items[0]);
    assert_ptr_equal(model_list_find(&list, S("qwen3:8b")), &items[1]);
    assert_null(model_list_find(&list, S("qwen")));
    assert_null(model_list_find(&list, S("")));
}

static int64_t window_shown(const char *json, unsigned *ret_capabilities)
{
    AUTO(arena) struct arena a = {0};
    struct model_info m;
    struct json *root;
    AUTO(err) struct err *e = NULL;

    assert_ok(json_parse(&a, str_of(json), 0, &root));
    e = model_show_parse(&a, S("qwen3"), root, &m);
    if (e) {
        assert_true(err_is(e, ERR_BAD_RESPONSE));
        return -1;
    }
    assert_string_equal(m.id, "qwen3");
    *ret_capabilities = m.capabilities;
    return m.context_window;
}

TEST(ollama_shows_the_window_that_is_to_be_used)
{
    unsigned can = 0;

    assert_int_equal(window_shown("{\"model_info\":{\"general.architecture\":\"qwen3\","
                                  "\"qwen3.context_length\":40960},"
                                  "\"capabilities\":[\"completion\",\"tools\",\"thinking\"]}",
                                  &can),
                     40960);
    assert_int_equal(can, CAN_TOOLS | CAN_REASON);
    assert_int_equal(window_shown("{\"model_info\":{\"llama.context_length\":1048576}}", &can),
                     MODEL_LOCAL_WINDOW);
    assert_int_equal(window_shown("{\"parameters\":\"stop \\\"x\\\"\\nnum_ctx    131072\","
                                  "\"model_info\":{\"llama.context_length\":1048576}}",
                                  &can),
                     131072);
    assert_int_equal(window_shown("{\"parameters\":\"num_ctxx 5\\nnum_ctx -1\"}", &can), -1);
    assert_int_equal(window_shown("{\"model_info\":{\"a.context_length\":\"8\"}}", &can), -1);
    assert_int_equal(window_shown("[]", &can), -1);
}

TEST(numbers_that_are_none_are_unknown)
{
    assert_lists("[{\"id\":\"a\",\"context_length\":-5,\"max_tokens\":1e30,\"pricing\":"
                 "{\"prompt\":\"nan\",\"completion\":\"inf\"}},"
                 "{\"id\":\"b\",\"context_length\":\"many\",\"pricing\":{\"prompt\":1e300,"
                 "\"completion\":\"\"}},{\"id\":\"c\",\"pricing\":[]}]",
                 "a|a|0|0||active|\nb|b|0|0||active|\nc|c|0|0||active|\n");
}

TEST(ids_that_would_disturb_a_terminal_are_left_out)
{
    assert_lists("[{\"id\":\"\"},{\"id\":7},{},\"x\",null,{\"id\":\"a\\u001b[2J\"},"
                 "{\"id\":\"b\\u009b2J\",\"name\":\"fine\"},{\"id\":\"c\\nd\"},"
                 "{\"id\":\"e\\u0000f\"},"
                 "{\"id\":\"\\u00e9\",\"name\":\"bad\\u0007name\"}]",
                 "\xc3\xa9|\xc3\xa9|0|0||active|\n");
}

TEST(a_list_has_an_end)
{
    AUTO(arena) struct arena a = {0};
    struct json *root = json_new(&a, JSON_ARRAY);
    struct model_list models;

    for (size_t i = 0; i < MODEL_LIST_MAX + 10; i++) {
        struct json *entry = json_new(&a, JSON_OBJECT);

        json_set_str(&a, entry, "id", S("m"));
        json_push(root, entry);
    }
    assert_ok(model_list_parse(&a, root, &models));
    assert_int_equal(models.n, MODEL_LIST_MAX);
}

TEST(what_is_no_list_is_refused)
{
    static const char *const answers[] = {"{}", "7", "{\"data\":{}}", "{\"models\":\"none\"}",
                                          "{\"error\":{\"message\":\"no\"}}"};
    AUTO(arena) struct arena a = {0};
    struct model_list models;
    struct json *root;

    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        assert_ok(json_parse(&a, str_of(answers[i]), 0, &root));
        assert_err(model_list_parse(&a, root, &models), ERR_BAD_RESPONSE);
    }
}

RUN_TESTS(UNIT(openai_gives_ids_and_the_day_on_which_a_model_ends),
          UNIT(anthropic_gives_limits_and_a_tree_of_abilities),
          UNIT(a_claude_that_thinks_adaptively_is_known_for_it),
          UNIT(gemini_names_lose_their_collection_and_what_cannot_talk_is_left_out),
          UNIT(ollama_gives_names_and_details), UNIT(openrouter_gives_prices_of_one_token_as_text),
          UNIT(together_gives_a_bare_array_and_prices_of_a_million),
          UNIT(mistral_gives_switches_and_the_day_of_deprecation),
          UNIT(groq_gives_windows_and_says_which_models_are_on),
          UNIT(fireworks_and_azure_say_what_can_chat), UNIT(local_servers_tell_their_windows),
          UNIT(numbers_that_are_none_are_unknown),
          UNIT(ids_that_would_disturb_a_terminal_are_left_out), UNIT(a_list_has_an_end),
          UNIT(vercel_gives_tags_and_prices_of_one_token_under_the_names_of_a_million),
          UNIT(hugging_face_lists_who_serves_a_model_and_the_smallest_window_of_them_fits_all),
          UNIT(copilot_gives_limits_within_the_abilities_and_the_prompts_counts),
          UNIT(moonshot_and_litellm_say_what_a_model_supports),
          UNIT(a_model_is_found_in_a_list_without_the_wish_behind_its_name),
          UNIT(a_model_is_found_in_a_list_by_its_name_with_or_without_a_tag),
          UNIT(ollama_shows_the_window_that_is_to_be_used), UNIT(what_is_no_list_is_refused))
