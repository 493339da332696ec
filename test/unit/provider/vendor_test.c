/* vendor_test.c - the table of vendors is complete, and what is looked up in it is found. */
#include "test.h"

#include "net/url.h"
#include "provider/catalogue.h"
#include "provider/vendor.h"

/* Fails with the name of the row. */
#define check(v, condition)                                                                        \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s: %s", (v)->name, #condition);                                             \
    } while (0)

/* --- the table --- */

TEST(all_promised_vendors_are_there_and_found_by_every_name)
{
    static const char *const names[] = {"anthropic",
                                        "openai",
                                        "gemini",
                                        "google",
                                        "ollama",
                                        "deepseek",
                                        "openrouter",
                                        "groq",
                                        "mistral",
                                        "xai",
                                        "grok",
                                        "together",
                                        "fireworks",
                                        "azure-openai",
                                        "azure",
                                        "llama.cpp",
                                        "llamacpp",
                                        "vllm",
                                        "lmstudio",
                                        "custom",
                                        "claude",
                                        "bedrock",
                                        "vertex",
                                        "vertex-anthropic",
                                        "azure-deployments",
                                        "foundry",
                                        "cerebras",
                                        "moonshot",
                                        "zai",
                                        "dashscope",
                                        "vercel",
                                        "huggingface",
                                        "litellm",
                                        "github-copilot"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!vendor_find(str_of(names[i])))
            fail_msg("%s is not there", names[i]);
    assert_ptr_equal(vendor_find(S("google")), vendor_find(S("gemini")));
    assert_ptr_equal(vendor_find(S("GROK")), vendor_find(S("xAI")));
    assert_null(vendor_find(S("")));
    assert_null(vendor_find(S("google gemini")));
}

static size_t count_owners(struct str name)
{
    size_t n = 0;

    for (const struct vendor *v = vendors; v->name; v++) {
        struct str rest = str_of(v->aliases), alias;

        n += str_eq_nocase(name, str_of(v->name));
        while (str_split(&rest, ' ', &alias))
            n += alias.n && str_eq_nocase(name, alias);
    }
    return n;
}

TEST(no_name_has_two_owners)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        struct str rest = str_of(v->aliases), alias;

        check(v, count_owners(str_of(v->name)) == 1);
        while (str_split(&rest, ' ', &alias))
            check(v, alias.n == 0 || count_owners(alias) == 1);
    }
}

TEST(hosts_come_before_local_servers_because_the_order_is_that_of_the_search)
{
    bool is_local = false;

    assert_string_equal(vendors[0].name, "anthropic");
    assert_string_equal(vendors[1].name, "openai");
    assert_string_equal(vendors[2].name, "gemini");
    for (const struct vendor *v = vendors; v->name; v++) {
        check(v, !is_local || v->key_need != KEY_REQUIRED);
        is_local = v->key_need != KEY_REQUIRED;
    }
}

TEST(every_row_says_what_people_are_shown)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        check(v, v->display_name && *v->display_name);
        check(v, v->aliases);
        check(v, v->setup_prompt && *v->setup_prompt);
        check(v, v->protocol && protocol_find(str_of(v->protocol->name)) == v->protocol);
        check(v, v->key_need != KEY_REQUIRED || vendor_setup_link(v));
        check(v, v->base_url || v->base_url_env);
        check(v, !v->models_path || v->models_path[0] == '/');
        check(v, !v->about_path || (v->about_path[0] == '/' && v->models_path));
    }
}

static bool is_variable(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!(name.p[i] >= 'A' && name.p[i] <= 'Z') && name.p[i] != '_')
            return false;
    return name.n > 0;
}

TEST(variables_look_like_variables)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        struct str rest = str_of(v->key_env), name;

        check(v, v->key_env && v->key_need != KEY_NONE);
        check(v, *v->key_env || v->auth == AUTH_GOOGLE);
        while (rest.n && str_split(&rest, ' ', &name))
            check(v, is_variable(name));
        check(v, !v->base_url_env || is_variable(str_of(v->base_url_env)));
        check(v, !v->endpoint_env || is_variable(str_of(v->endpoint_env)));
        check(v, !v->token_env || is_variable(str_of(v->token_env)));
        check(v, !v->model_env || is_variable(str_of(v->model_env)));
        check(v, !v->headers_env || is_variable(str_of(v->headers_env)));
    }
}

/* "{region}" as if it were said. Every place has a row of its own. */
static struct str without_places(struct arena *a, const struct vendor *v, const char *text)
{
    struct str rest = str_of(text), part;
    AUTO(strbuf) struct strbuf out = {0};

    while (rest.n && str_split(&rest, '{', &part)) {
        strbuf_add(&out, part);
        if (rest.n == 0)
            break;
        str_split(&rest, '}', &part);
        check(v, (v->places[0].name && str_is(part, v->places[0].name)) ||
                     (v->places[1].name && str_is(part, v->places[1].name)));
        strbuf_add_cstr(&out, "x");
    }
    return arena_str(a, strbuf_str(&out));
}

static void check_url(const struct vendor *v, const char *text)
{
    AUTO(arena) struct arena a = {0};
    struct url url;

    if (!text)
        return;
    assert_ok(url_parse(&a, without_places(&a, v, text), &url));
    check(v, str_is(url.scheme, "https") ||
                 (str_is(url.scheme, "http") && url_host_is_loopback(url.host)));
    check(v, url.userinfo.n == 0 && url.query.n == 0 && url.fragment.n == 0);
}

TEST(addresses_are_https_except_on_this_machine)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        check_url(v, v->base_url);
        check_url(v, v->api_key_url);
        check_url(v, v->console_url);
        check_url(v, v->official_url);
    }
}

/* The protocols of Anthropic and Gemini add the version themselves; OpenAI's do not. */
TEST(base_urls_have_a_version_only_where_the_protocol_adds_none)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        struct str url = str_of(v->base_url);
        bool adds = v->protocol == &protocol_anthropic_messages || v->protocol == &protocol_gemini;

        check(v, !adds || v->dialect.vertex || str_find(url, S("/v1")) == STR_NONE);
        check(v, !str_ends(url, S("/")));
    }
    assert_string_equal(vendor_find(S("openai"))->base_url, "https://api.openai.com/v1");
}

TEST(names_for_error_texts_have_their_aliases_in_brackets)
{
    AUTO(strbuf) struct strbuf names = {0};

    vendor_list_names(&names);
    assert_true(str_starts(strbuf_str(&names), S("anthropic (claude), openai, gemini (google), ")));
    assert_true(str_ends(strbuf_str(&names), S(", custom")));
}

TEST(the_best_link_is_that_to_a_key)
{
    struct vendor v = {.official_url = "docs"};

    assert_string_equal(vendor_setup_link(&v), "docs");
    v.console_url = "console";
    assert_string_equal(vendor_setup_link(&v), "console");
    v.api_key_url = "key";
    assert_string_equal(vendor_setup_link(&v), "key");
    assert_null(vendor_setup_link(&(struct vendor){0}));
}

static void add_row(const struct vendor *v, struct strbuf *out)
{
    struct str rest = str_of(v->key_env), name;
    const char *between = "";

    strbuf_addf(out, "| `%s` | %s | `%s` | ", v->name, v->aliases, v->protocol->name);
    if (v->token_env) {
        strbuf_addf(out, "`%s`", v->token_env);
        between = ", ";
    }
    while (rest.n && str_split(&rest, ' ', &name)) {
        strbuf_addf(out, "%s`%" STR_FMT "`", between, STR_ARG(name));
        between = ", ";
    }
    if (v->auth == AUTH_AWS || v->auth == AUTH_GOOGLE)
        strbuf_addf(out, "%s%s", between,
                    v->auth == AUTH_AWS ? "[AWS](#amazon-bedrock)" : "[Google](#vertex-ai)");
    strbuf_addf(out, "%s | `%s` | %s |\n", v->key_need == KEY_REQUIRED ? "" : " (optional)",
                v->base_url_env, v->base_url ? v->base_url : "must be given");
}

TEST(the_documentation_has_the_same_rows)
{
    const char *source = getenv("KEEL_SOURCE");
    AUTO(strbuf) struct strbuf path = {0}, page = {0}, row = {0};

    assert_non_null(source);
    strbuf_addf(&path, "%s/docs/vendors.md", source);
    page = read_file(strbuf_cstr(&path));
    for (const struct vendor *v = vendors; v->name; v++) {
        strbuf_clear(&row);
        add_row(v, &row);
        if (str_find(strbuf_str(&page), strbuf_str(&row)) == STR_NONE)
            fail_msg("docs/vendors.md lacks: %s", strbuf_cstr(&row));
    }
}

/* --- the catalogues --- */

TEST(a_default_model_is_one_that_is_known_and_lives)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        const struct model_info *m = vendor_find_model(v, str_of(v->default_model));

        check(v, v->catalogue != NULL);
        check(v, v->catalogue->n == 0 || v->default_model);
        check(v, !v->catalogue->n || (m && m->lifecycle == LIFECYCLE_ACTIVE));
        check(v, !v->catalogue->n || (m->capabilities & CAN_TOOLS));
    }
}

static bool is_day(const char *text)
{
    static const char form[] = "2026-00-00";

    if (!text || strlen(text) != strlen(form))
        return false;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '0' && i > 3 ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

static void for_each_model(void (*look)(const struct vendor *v, const struct model_info *m))
{
    for (const struct vendor *v = vendors; v->name; v++)
        for (size_t i = 0; i < v->catalogue->n; i++)
            look(v, &v->catalogue->models[i]);
}

static void look_at_origin(const struct vendor *v, const struct model_info *m)
{
    check(v, m->id && *m->id && m->name && *m->name);
    check_url(v, m->source);
    if (!m->source || !is_day(m->last_verified))
        fail_msg("%s: where is %s from?", v->name, m->id);
    if (vendor_find_model(v, str_of(m->id)) != m)
        fail_msg("%s: %s stands there twice", v->name, m->id);
}

TEST(every_model_has_a_source_and_a_day)
{
    for_each_model(look_at_origin);
}

static bool is_sane(const struct price *p)
{
    bool has_step = p->long_from > 0;

    if (p->input < 0 || p->output < p->input || p->output > USD(1000))
        return false;
    if (p->cache_read > p->input || (p->cache_write >= 0 && p->cache_write < p->input))
        return false;
    if (!has_step)
        return p->long_input_percent == 0 && p->long_output_percent == 0;
    return p->long_input_percent > 100 && p->long_output_percent > 100;
}

static void look_at_numbers(const struct vendor *v, const struct model_info *m)
{
    if (!is_sane(&m->price) || m->context_window < 1000 || m->context_window > 10000000 ||
        m->max_output < 0 || m->max_output >= m->context_window)
        fail_msg("%s: the numbers of %s", v->name, m->id);
}

TEST(windows_and_prices_are_possible)
{
    for_each_model(look_at_numbers);
}

static void look_at_abilities(const struct vendor *v, const struct model_info *m)
{
    unsigned can = m->capabilities;

    if ((can & (REASONS_ADAPTIVELY | REASONS_ALWAYS | REASONS_BY_LEVEL)) && !(can & CAN_REASON))
        fail_msg("%s: %s reasons and cannot", v->name, m->id);
    if ((can & CAN_SEARCH_WEB && !v->has_web_search) || (can & CAN_FETCH_WEB && !v->has_web_fetch))
        fail_msg("%s has no web tools for %s", v->name, m->id);
}

TEST(abilities_do_not_contradict_each_other)
{
    for_each_model(look_at_abilities);
}

TEST(dollars_are_exact)
{
    assert_int_equal(USD(2), 200000000);
    assert_int_equal(USD(75), 7500000000);
    assert_int_equal(USD(0.0375), 3750000);
    assert_int_equal(USD(0.006), 600000);
    assert_int_equal(USD(0.29), 29000000);
}

TEST(a_model_with_a_date_is_the_model)
{
    const struct vendor *anthropic = vendor_find(S("anthropic")),
                        *openai = vendor_find(S("openai"));
    const struct model_info *opus = vendor_find_model(anthropic, S("claude-opus-4-5"));

    assert_non_null(opus);
    assert_ptr_equal(vendor_find_model(anthropic, S("claude-opus-4-5-20251101")), opus);
    assert_string_equal(vendor_find_model(openai, S("gpt-5.4-2026-03-05"))->id, "gpt-5.4");
    assert_null(vendor_find_model(anthropic, S("claude-opus-4-5-2025110")));
    assert_null(vendor_find_model(anthropic, S("claude-opus-4-5-20251101-x")));
    assert_null(vendor_find_model(anthropic, S("-20251101")));
    assert_null(vendor_find_model(openai, S("claude-opus-4-5")));
    assert_null(vendor_find_model(openai, (struct str){0}));
}

RUN_TESTS(UNIT(all_promised_vendors_are_there_and_found_by_every_name),
          UNIT(no_name_has_two_owners),
          UNIT(hosts_come_before_local_servers_because_the_order_is_that_of_the_search),
          UNIT(every_row_says_what_people_are_shown), UNIT(variables_look_like_variables),
          UNIT(addresses_are_https_except_on_this_machine),
          UNIT(base_urls_have_a_version_only_where_the_protocol_adds_none),
          UNIT(names_for_error_texts_have_their_aliases_in_brackets),
          UNIT(the_best_link_is_that_to_a_key), UNIT(the_documentation_has_the_same_rows),
          UNIT(a_default_model_is_one_that_is_known_and_lives),
          UNIT(every_model_has_a_source_and_a_day), UNIT(windows_and_prices_are_possible),
          UNIT(abilities_do_not_contradict_each_other), UNIT(dollars_are_exact),
          UNIT(a_model_with_a_date_is_the_model))
