/* profile_test.c */
#include "temp_dir.h"

#include "config/credentials.h"
#include "config/profile.h"
#include "config/saved_catalogue.h"

struct world {
    struct arena arena;
    struct settings *settings;
    const char *home; /* keel's */
    struct profile profile;
};

static void world_done(struct world *w)
{
    settings_free(w->settings);
    arena_done(&w->arena);
}
DEFINE_AUTO_VAL(world, world_done)

/* What `settings`, `model` and an environment of up to two variables lead to. */
static struct err *resolve(struct world *w, const char *settings, const char *model,
                           const char *first, const char *second)
{
    const char *const environment[] = {first ? first : "A=b", second ? second : "C=d", NULL};
    const char *const *kept = arena_copy(&w->arena, environment, sizeof environment);
    struct json *flags = NULL;

    assert_ok(json_parse(&w->arena, str_of(settings), 0, &flags));
    assert_ok(settings_load(&(struct settings_sources){.environment = kept, .flags = flags},
                            &w->settings));
    return profile_resolve(
        w->settings, &(struct profile_query){.model = model, .environment = kept, .home = w->home},
        &w->arena, &w->profile);
}

TEST(a_key_in_the_environment_is_enough_and_is_told)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w, "{}", NULL, "ANTHROPIC_API_KEY=k", NULL));
    assert_str(w.profile.id, "anthropic");
    assert_str(w.profile.base_url, "https://api.anthropic.com");
    assert_true(str_ends(w.profile.notice, S("because ANTHROPIC_API_KEY is set")));
    assert_str(w.profile.key_source, "ANTHROPIC_API_KEY");
}

TEST(a_base_url_in_the_environment_replaces_the_vendors)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w, "{}", "anthropic/some-model", "ANTHROPIC_API_KEY=k",
                      "ANTHROPIC_BASE_URL=http://127.0.0.1:9"));
    assert_str(w.profile.base_url, "http://127.0.0.1:9");
    assert_str(w.profile.model, "some-model");
    assert_int_equal(w.profile.info.context_window, MODEL_DEFAULT_CONTEXT_WINDOW);
    assert_int_equal(w.profile.info.max_output, MODEL_DEFAULT_MAX_OUTPUT);
    assert_int_equal(w.profile.notice.n, 0);
}

TEST(an_address_without_scheme_and_port_gets_those_of_the_vendor)
{
    AUTO(world) struct world w = {0}, v = {0}, u = {0};

    assert_ok(resolve(&w, "{}", "ollama/m", "OLLAMA_HOST=0.0.0.0", NULL));
    assert_str(w.profile.base_url, "http://0.0.0.0:11434");
    assert_ok(resolve(&v, "{}", "ollama/m", "OLLAMA_HOST=[::1]:9", NULL));
    assert_str(v.profile.base_url, "http://[::1]:9");
    assert_ok(resolve(&u, "{}", "ollama/m", "OLLAMA_HOST=https://ollama.com", NULL));
    assert_str(u.profile.base_url, "https://ollama.com");
}

TEST(nothing_set_up_says_what_to_set_and_where_to_get_it)
{
    AUTO(world) struct world w = {0};
    AUTO(err) struct err *e = resolve(&w, "{}", NULL, NULL, NULL);

    assert_int_equal(e->kind, ERR_CONFIGURATION);
    assert_int_equal(err_exit_code(e), 6);
    assert_non_null(strstr(err_find_hint(e), "ANTHROPIC_API_KEY"));
    assert_non_null(strstr(err_find_hint(e), "https://"));
}

TEST(a_vendor_without_its_key_names_the_variable_and_the_link)
{
    AUTO(world) struct world w = {0};
    AUTO(err) struct err *e = resolve(&w, "{}", "anthropic/x", NULL, NULL);

    assert_string_equal(e->text, "anthropic needs an API key, but ANTHROPIC_API_KEY is not set");
    assert_non_null(strstr(err_find_hint(e), vendor_setup_link(vendor_find(S("anthropic")))));
}

TEST(a_profile_over_a_protocol_needs_only_an_address_and_a_model)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w,
                      "{\"currentProvider\":\"x\",\"providers\":{\"x\":{\"type\":"
                      "\"anthropic-messages\",\"baseUrl\":\"http://127.0.0.1:8080/v1\",\"apiKey\":"
                      "\"$ENV:KEY\",\"model\":\"m\",\"contextWindow\":32768,\"options\":{\"a\":1},"
                      "\"headers\":{\"x-team\":\"$ENV:KEY\"}}}}",
                      NULL, "KEY=secret-value", NULL));
    assert_str(w.profile.id, "x");
    assert_str(w.profile.model, "m");
    assert_int_equal(w.profile.info.context_window, 32768);
    assert_str(w.profile.key_source, "providers.x.apiKey");
    assert_str(w.profile.headers.items[0].value, "secret-value");
    assert_non_null(json_get(w.profile.options, "a"));
    assert_null(w.profile.vendor);
}

TEST(credentials_are_read_anew_each_time_and_cannot_be_renewed)
{
    AUTO(world) struct world w = {0};
    AUTO(secret) struct secret key = {0};
    const char *const environment[] = {"KEY=first-secret", NULL};
    struct profile_credentials credentials;

    assert_ok(resolve(&w,
                      "{\"providers\":{\"x\":{\"type\":\"anthropic\",\"apiKey\":\"$ENV:KEY\"}}}",
                      NULL, "KEY=first-secret", NULL));
    profile_credentials_init(&credentials, w.settings, environment);
    assert_ok(credentials_get(&credentials.port, S("x"), false, &key));
    assert_string_equal(key.p, "first-secret");
    assert_err(credentials_get(&credentials.port, S("x"), true, &key), ERR_PROVIDER_AUTH);
}

TEST(the_only_profile_is_used_and_a_model_may_name_one)
{
    AUTO(world) struct world w = {0}, v = {0};
    const char *one =
        "{\"providers\":{\"x\":{\"type\":\"anthropic\",\"apiKey\":\"k\",\"model\":\"m\"}}}";

    assert_ok(resolve(&w, one, NULL, NULL, NULL));
    assert_str(w.profile.id, "x");
    assert_ok(resolve(&v, one, "x/other/model", NULL, NULL));
    assert_str(v.profile.model, "other/model");
}

TEST(a_vendors_name_alone_means_its_default_model)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w, "{}", "claude", "ANTHROPIC_API_KEY=k", NULL));
    assert_str(w.profile.id, "anthropic");
    assert_str(w.profile.model, vendor_find(S("anthropic"))->default_model);
}

TEST(an_unknown_type_lists_what_is_known)
{
    AUTO(world) struct world w = {0};
    AUTO(err)
    struct err *e = resolve(&w, "{\"providers\":{\"x\":{\"type\":\"no such\"}}}", "x", NULL, NULL);

    assert_non_null(strstr(err_find_hint(e), "anthropic-messages"));
}

TEST(a_misspelt_type_names_the_nearest_one)
{
    AUTO(world) struct world w = {0};
    AUTO(err)
    struct err *e = resolve(&w, "{\"providers\":{\"x\":{\"type\":\"antropic\"}}}", "x", NULL, NULL);

    assert_string_equal(e->text, "profile \"x\": unknown type \"antropic\"");
    assert_string_equal(err_find_hint(e), "did you mean \"anthropic\"?");
}

/* A name without a vendor, with Anthropic's key in the environment. */
static void assert_refused(const char *name, const char *hint)
{
    AUTO(world) struct world w = {0};
    AUTO(err) struct err *e = resolve(&w, "{}", name, "ANTHROPIC_API_KEY=k", NULL);

    assert_true(err_is(e, ERR_VALIDATION));
    assert_non_null(strstr(err_find_hint(e), hint));
}

static void assert_taken(const char *name, const char *base_url)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w, "{}", name, "ANTHROPIC_API_KEY=k", base_url));
    assert_str(w.profile.model, str_starts(str_of(name), S("anthropic/")) ? name + 10 : name);
}

TEST(a_misspelt_model_is_sent_to_nobody)
{
    assert_refused("claude-sonet-5", "did you mean claude-sonnet-5-5?");
    assert_refused("Claude-Opus-5", "did you mean claude-opus-5-5?");
    assert_refused("cluade-haiku-4-5", "did you mean claude-haiku-5-5?");
    assert_refused("sonet", "did you mean claude-sonnet-5-5?");
    assert_refused("hiaku", "did you mean claude-haiku-5-5?");
    assert_refused("opsu", "use --model anthropic/opsu");
}

TEST(a_name_that_the_vendor_does_not_have_is_sent_to_nobody)
{
    assert_refused("claude-sonnet-55", "did you mean claude-sonnet-5-5? For a new model, use "
                                       "--model anthropic/claude-sonnet-55");
    assert_refused("some-model", "keel models anthropic --refresh lists its models. For a new "
                                 "model, use --model anthropic/some-model");
    assert_refused("llama3", "did you mean groq/llama-");
}

TEST(a_new_model_is_asked_for_with_its_vendor_or_once_the_vendor_has_listed_it)
{
    AUTO(temp_dir) struct temp_dir home = temp_dir_make();
    AUTO(world) struct world w = {.home = home.path}, other = {.home = home.path};
    AUTO(err) struct err *e = NULL;
    struct model_info listed = {.id = "claude-xyz-2027", .name = "New"};

    assert_taken("anthropic/claude-xyz-2027", NULL);
    assert_taken("anthropic/sonet", NULL);
    assert_ok(saved_catalogue_write(home.path, &vendors[0], &(struct model_list){&listed, 1}));
    assert_ok(resolve(&w, "{}", "claude-xyz-2027", "ANTHROPIC_API_KEY=k", NULL));
    assert_str(w.profile.model, "claude-xyz-2027");
    e = resolve(&other, "{}", "claude-xyz-2028", "ANTHROPIC_API_KEY=k", NULL);
    assert_true(err_is(e, ERR_VALIDATION));
}

TEST(a_model_that_openrouter_did_not_list_is_refused)
{
    AUTO(temp_dir) struct temp_dir home = temp_dir_make();
    AUTO(world) struct world w = {.home = home.path}, other = {.home = home.path};
    AUTO(err) struct err *e = NULL;
    struct model_info listed = {.id = "meta-llama/llama-4", .name = "Llama"};

    assert_ok(saved_catalogue_write(home.path, vendor_find(S("openrouter")),
                                    &(struct model_list){&listed, 1}));
    assert_ok(resolve(&w, "{}", "meta-llama/llama-4", "OPENROUTER_API_KEY=k", NULL));
    e = resolve(&other, "{}", "meta-lama/llama-4", "OPENROUTER_API_KEY=k", NULL);
    assert_true(err_is(e, ERR_VALIDATION));
    assert_non_null(strstr(err_find_hint(e), "use --model openrouter/meta-lama/llama-4"));
}

/* Its names are its own, but one word for a family is keel's at every address. */
TEST(a_server_of_ones_own_has_its_own_names)
{
    const char *own = "ANTHROPIC_BASE_URL=http://127.0.0.1:9";
    AUTO(world) struct world w = {0};
    AUTO(err) struct err *e = resolve(&w, "{}", "sonet", "ANTHROPIC_API_KEY=k", own);

    assert_true(err_is(e, ERR_VALIDATION));
    assert_string_equal(
        err_find_hint(e),
        "did you mean sonnet? For a model of this name, use --model anthropic/sonet");
    assert_taken("some-model", own);
    assert_taken("claude-sonet-5", own);
    assert_taken("anthropic/sonet", own);
    assert_taken("m", own);
}

static void assert_empty(const char *settings, const char *model, const char *text)
{
    AUTO(world) struct world w = {0};
    AUTO(err) struct err *e = resolve(&w, settings, model, "ANTHROPIC_API_KEY=k", NULL);

    assert_true(err_is(e, ERR_VALIDATION));
    assert_string_equal(e->text, text);
    assert_non_null(err_find_hint(e));
}

TEST(an_empty_name_is_not_the_default)
{
    assert_empty("{}", "", "the model name is empty");
    assert_empty("{}", "  ", "the model name is empty");
    assert_empty("{\"model\":\"\"}", NULL, "the setting model is empty");
    assert_empty("{}", "anthropic/", "no model name after \"anthropic/\"");
    assert_empty("{}", "/x", "no vendor before the slash of \"/x\"");
}

static void assert_resolves(const char *name, const char *id)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w, "{}", name, "ANTHROPIC_API_KEY=k", NULL));
    assert_str(w.profile.model, id);
    assert_true(w.profile.info_is_known);
}

TEST(one_word_is_the_newest_model_of_its_family)
{
    assert_resolves("sonnet", "claude-sonnet-5-5");
    assert_resolves("opus", "claude-opus-5-5");
    assert_resolves("Haiku", "claude-haiku-5-5");
    assert_resolves("anthropic/sonnet", "claude-sonnet-5-5");
    assert_resolves("sonnet[1m]", "claude-sonnet-5-5");
    assert_resolves("claude-opus-4-8[1M]", "claude-opus-4-8");
}

TEST(one_word_is_the_newest_model_in_a_profile_too)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w,
                      "{\"providers\":{\"p\":{\"type\":\"anthropic\",\"model\":\"opus\","
                      "\"baseUrl\":\"http://127.0.0.1:9\"}}}",
                      NULL, "ANTHROPIC_API_KEY=k", NULL));
    assert_str(w.profile.model, "claude-opus-5-5");
}

static void assert_no_vendor(const char *model, const char *variable, const char *hint)
{
    AUTO(world) struct world w = {0};
    AUTO(err) struct err *e = resolve(&w, "{}", model, variable, NULL);

    assert_true(err_is(e, ERR_VALIDATION));
    assert_true(strncmp(err_find_hint(e), hint, strlen(hint)) == 0);
}

TEST(a_misspelt_vendor_sends_the_prompt_to_no_other)
{
    assert_no_vendor("opnai/gpt-5", "ANTHROPIC_API_KEY=k", "did you mean openai/gpt-5?");
    assert_no_vendor("nosuch/x", "ANTHROPIC_API_KEY=k", "one of: anthropic");
}

TEST(a_misspelt_vendor_without_any_key_is_told_as_that_and_not_as_a_missing_key)
{
    AUTO(world) struct world w = {0}, several = {0};
    AUTO(err) struct err *e = resolve(&w, "{}", "nope/m", NULL, NULL), *of_several = NULL;

    assert_string_equal(e->text, "unknown vendor or profile \"nope\"");
    assert_no_vendor("antropic/m", NULL, "did you mean anthropic/m?");
    assert_no_vendor("antropic", NULL, "did you mean anthropic?");
    assert_no_vendor("claude-opus-5-4", NULL, "did you mean claude-opus-5-5?");
    assert_no_vendor("no-such-model", NULL, "use --model VENDOR/MODEL");
    of_several = resolve(&several,
                         "{\"providers\":{\"one\":{\"type\":\"openai\"},"
                         "\"two\":{\"type\":\"openai\"}}}",
                         "three/m", NULL, NULL);
    assert_true(err_is(of_several, ERR_VALIDATION));
    assert_true(str_starts(str_of(err_find_hint(of_several)), S("one of: one, two, anthropic")));
}

TEST(where_names_of_models_have_slashes_no_vendor_is_needed)
{
    AUTO(world) struct world w = {0}, v = {0};

    assert_ok(resolve(&w, "{}", "meta-llama/llama-4", "OPENROUTER_API_KEY=k", NULL));
    assert_str(w.profile.id, "openrouter");
    assert_str(w.profile.model, "meta-llama/llama-4");
    assert_ok(resolve(&v,
                      "{\"providers\":{\"x\":{\"type\":\"custom\",\"baseUrl\":\"http://a/v1\","
                      "\"apiKey\":\"k\"}}}",
                      "Qwen/Qwen3", NULL, NULL));
    assert_str(v.profile.model, "Qwen/Qwen3");
}

/* --- clouds --- */

static void assert_address(const char *model, const char *first, const char *second,
                           const char *want)
{
    AUTO(world) struct world w = {0};

    assert_ok(resolve(&w, "{}", model, first, second));
    assert_str(w.profile.base_url, want);
}

TEST(the_parts_of_an_address_that_the_person_says_are_filled_in)
{
    assert_address("bedrock/m", "AWS_REGION=eu-west-1", NULL,
                   "https://bedrock-runtime.eu-west-1.amazonaws.com");
    assert_address("vertex/m", "GOOGLE_CLOUD_PROJECT=p", "GOOGLE_CLOUD_LOCATION=us-east5",
                   "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5");
    assert_address("vertex/m", "GOOGLE_CLOUD_PROJECT=p", NULL,
                   "https://aiplatform.googleapis.com/v1/projects/p/locations/global");
    assert_address("vertex-anthropic/m", "ANTHROPIC_VERTEX_PROJECT_ID=p", "CLOUD_ML_REGION=eu",
                   "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu");
    assert_address("foundry/m", "ANTHROPIC_FOUNDRY_RESOURCE=r", "ANTHROPIC_FOUNDRY_API_KEY=k",
                   "https://r.services.ai.azure.com/anthropic");
    assert_address("azure/m", "AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com",
                   "AZURE_OPENAI_API_KEY=k", "https://r.openai.azure.com/openai/v1");
}

TEST(a_part_that_would_change_the_address_is_refused)
{
    AUTO(world) struct world w = {0};
    AUTO(err)
    struct err *e = resolve(&w, "{}", "bedrock/m", "AWS_REGION=evil.example/?x=", NULL);

    assert_int_equal(e->kind, ERR_CONFIGURATION);
    assert_non_null(strstr(e->text, "is not a valid region"));
}

TEST(a_hosted_model_is_known_by_its_makers_name_and_has_no_known_price)
{
    AUTO(world) struct world w = {0}, v = {0};
    const struct model_info *own =
        vendor_find_model(vendor_find(S("anthropic")), S("claude-sonnet-4-5"));

    assert_non_null(own);
    assert_ok(resolve(&w, "{}", "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                      "AWS_REGION=us-east-1", NULL));
    assert_true(w.profile.info_is_known);
    assert_int_equal(w.profile.info.max_output, own->max_output);
    assert_int_equal(w.profile.info.price.input, -1);
    assert_ok(resolve(&v, "{}", "vertex-anthropic/claude-sonnet-4-5@20250929",
                      "GOOGLE_CLOUD_PROJECT=p", NULL));
    assert_true(v.profile.info_is_known);
}

TEST(keys_of_a_cloud_that_may_be_meant_for_other_things_choose_no_vendor)
{
    AUTO(world) struct world w = {0};
    AUTO(err)
    struct err *e =
        resolve(&w, "{}", NULL, "AWS_ACCESS_KEY_ID=k", "GOOGLE_APPLICATION_CREDENTIALS=/x");

    assert_string_equal(e->text, "no model provider is configured");
}

TEST(a_token_in_the_environment_is_bearer_whatever_keys_are)
{
    AUTO(world) struct world w = {0}, v = {0};

    assert_ok(resolve(&w, "{}", "anthropic/m", "ANTHROPIC_AUTH_TOKEN=t", "ANTHROPIC_API_KEY=k"));
    assert_int_equal(w.profile.auth, AUTH_BEARER);
    assert_str(w.profile.key_source, "ANTHROPIC_AUTH_TOKEN");
    assert_ok(resolve(&v, "{}", "anthropic/m", "ANTHROPIC_API_KEY=k", NULL));
    assert_int_equal(v.profile.auth, AUTH_X_API_KEY);
}

RUN_TESTS(UNIT(the_parts_of_an_address_that_the_person_says_are_filled_in),
          UNIT(a_part_that_would_change_the_address_is_refused),
          UNIT(a_hosted_model_is_known_by_its_makers_name_and_has_no_known_price),
          UNIT(keys_of_a_cloud_that_may_be_meant_for_other_things_choose_no_vendor),
          UNIT(a_token_in_the_environment_is_bearer_whatever_keys_are),
          UNIT(a_key_in_the_environment_is_enough_and_is_told),
          UNIT(a_base_url_in_the_environment_replaces_the_vendors),
          UNIT(an_address_without_scheme_and_port_gets_those_of_the_vendor),
          UNIT(nothing_set_up_says_what_to_set_and_where_to_get_it),
          UNIT(a_vendor_without_its_key_names_the_variable_and_the_link),
          UNIT(a_profile_over_a_protocol_needs_only_an_address_and_a_model),
          UNIT(credentials_are_read_anew_each_time_and_cannot_be_renewed),
          UNIT(the_only_profile_is_used_and_a_model_may_name_one),
          UNIT(a_vendors_name_alone_means_its_default_model),
          UNIT(an_unknown_type_lists_what_is_known), UNIT(a_misspelt_type_names_the_nearest_one),
          UNIT(a_misspelt_model_is_sent_to_nobody),
          UNIT(a_name_that_the_vendor_does_not_have_is_sent_to_nobody),
          UNIT(a_new_model_is_asked_for_with_its_vendor_or_once_the_vendor_has_listed_it),
          UNIT(a_model_that_openrouter_did_not_list_is_refused),
          UNIT(a_server_of_ones_own_has_its_own_names), UNIT(an_empty_name_is_not_the_default),
          UNIT(a_misspelt_vendor_sends_the_prompt_to_no_other),
          UNIT(one_word_is_the_newest_model_of_its_family),
          UNIT(one_word_is_the_newest_model_in_a_profile_too),
          UNIT(a_misspelt_vendor_without_any_key_is_told_as_that_and_not_as_a_missing_key),
          UNIT(where_names_of_models_have_slashes_no_vendor_is_needed))
