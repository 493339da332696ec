/* thinking_test.c - what is said about reasoning to every model of the catalogue. */
#include "provider/build.h"

#include "provider/vendor.h"

/* Points the request at a model as the catalogue knows it. */
static const struct vendor *ask_model(struct build *b, const char *vendor, const char *model)
{
    const struct vendor *v = vendor_find(str_of(vendor));

    build_init(b);
    b->request.model = str_of(model);
    b->request.info = vendor_find_model(v, str_of(model));
    b->dialect = v->dialect;
    if (!b->request.info)
        fail_msg("%s is not in the catalogue", model);
    user_says(b, "Think.");
    return v;
}

static void assert_says(const char *vendor, const char *model, enum effort effort, const char *want)
{
    AUTO(build) struct build b;
    AUTO(strbuf) struct strbuf body = {0};
    const struct vendor *v = ask_model(&b, vendor, model);

    b.request.effort = effort;
    assert_ok(v->protocol->encode(&b.request, &b.dialect, &body));
    if (str_find(strbuf_str(&body), str_of(want)) == STR_NONE)
        fail_msg("%s at \"%s\": no %s in %s", model, effort_name(effort), want, strbuf_cstr(&body));
}

static void assert_silent(const char *vendor, const char *model, enum effort effort,
                          const char *unwanted)
{
    AUTO(build) struct build b;
    AUTO(strbuf) struct strbuf body = {0};
    const struct vendor *v = ask_model(&b, vendor, model);

    b.request.effort = effort;
    assert_ok(v->protocol->encode(&b.request, &b.dialect, &body));
    if (str_find(strbuf_str(&body), str_of(unwanted)) != STR_NONE)
        fail_msg("%s at \"%s\": %s", model, effort_name(effort), strbuf_cstr(&body));
}

/* --- levels --- */

TEST(the_nearest_level_is_the_one_nearer_to_high_when_two_are)
{
    unsigned low_high_max = EFFORT_BIT(EFFORT_LOW) | EFFORT_BIT(EFFORT_HIGH) |
                            EFFORT_BIT(EFFORT_MAX) | EFFORT_BIT(EFFORT_NONE);

    assert_int_equal(effort_nearest(low_high_max, EFFORT_MINIMAL), EFFORT_LOW);
    assert_int_equal(effort_nearest(low_high_max, EFFORT_MEDIUM), EFFORT_HIGH);
    assert_int_equal(effort_nearest(low_high_max, EFFORT_XHIGH), EFFORT_HIGH);
    assert_int_equal(effort_nearest(low_high_max, EFFORT_MAX), EFFORT_MAX);
    assert_int_equal(effort_nearest(low_high_max, EFFORT_NONE), EFFORT_NONE);
    assert_int_equal(effort_nearest(low_high_max, EFFORT_UNSET), EFFORT_UNSET);
    assert_int_equal(effort_nearest(EFFORT_BIT(EFFORT_HIGH), EFFORT_MINIMAL), EFFORT_HIGH);
    assert_int_equal(effort_nearest(EFFORT_BIT(EFFORT_NONE), EFFORT_LOW), EFFORT_LOW);
    assert_int_equal(effort_nearest(0, EFFORT_XHIGH), EFFORT_XHIGH);
}

TEST(an_effort_goes_out_as_a_level_that_the_model_takes)
{
    assert_says("openai", "gpt-6.1-sol", EFFORT_MAX, "\"effort\":\"max\"");
    assert_says("openai", "gpt-6.1-sol", EFFORT_MINIMAL, "\"effort\":\"low\"");
    assert_says("openai", "gpt-5.4", EFFORT_MAX, "\"effort\":\"xhigh\"");
    assert_says("openai", "gpt-5", EFFORT_XHIGH, "\"effort\":\"high\"");
    assert_says("openai", "gpt-5", EFFORT_MINIMAL, "\"effort\":\"minimal\"");
    assert_says("openai", "o3", EFFORT_MAX, "\"effort\":\"high\"");
    assert_says("anthropic", "claude-opus-4-6", EFFORT_XHIGH, "\"effort\":\"high\"");
    assert_says("anthropic", "claude-opus-4-6", EFFORT_MAX, "\"effort\":\"max\"");
    assert_says("anthropic", "claude-sonnet-5-5", EFFORT_XHIGH, "\"effort\":\"xhigh\"");
    assert_says("anthropic", "claude-opus-4-5", EFFORT_MAX, "\"effort\":\"high\"");
    assert_silent("anthropic", "claude-haiku-4-5", EFFORT_HIGH, "\"effort\"");
    assert_says("gemini", "gemini-3.8-flash", EFFORT_MINIMAL, "\"thinkingLevel\":\"low\"");
    assert_says("gemini", "gemini-3.5-flash", EFFORT_MINIMAL, "\"thinkingLevel\":\"minimal\"");
    assert_says("xai", "grok-4.5", EFFORT_XHIGH, "\"effort\":\"high\"");
    assert_says("groq", "openai/gpt-oss-120b", EFFORT_MAX, "\"reasoning_effort\":\"high\"");
    assert_says("mistral", "mistral-medium-3.5", EFFORT_LOW, "\"reasoning_effort\":\"high\"");
}

TEST(deepseek_is_told_how_much_to_think)
{
    assert_says("deepseek", "deepseek-flash", EFFORT_LOW,
                "\"thinking\":{\"type\":\"enabled\"},\"reasoning_effort\":\"low\"");
    assert_says("deepseek", "deepseek-flash", EFFORT_MAX, "\"reasoning_effort\":\"max\"");
    assert_says("deepseek", "deepseek-flash", EFFORT_NONE, "\"thinking\":{\"type\":\"disabled\"}");
    assert_silent("deepseek", "deepseek-flash", EFFORT_NONE, "reasoning_effort");
}

/* --- without a word about it --- */

TEST(models_think_when_nobody_says_anything_about_it)
{
    static const char adaptive[] =
        "\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}";

    assert_says("anthropic", "claude-opus-4-6", EFFORT_UNSET, adaptive);
    assert_says("anthropic", "claude-opus-4-8", EFFORT_UNSET, adaptive);
    assert_says("anthropic", "claude-sonnet-5-5", EFFORT_UNSET, adaptive);
    assert_silent("anthropic", "claude-sonnet-5-5", EFFORT_UNSET, "\"effort\"");
    assert_says("anthropic", "claude-haiku-4-5", EFFORT_UNSET,
                "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":31999}");
    assert_says("openai", "gpt-5.4", EFFORT_UNSET,
                "\"reasoning\":{\"effort\":\"medium\",\"summary\":\"auto\"}");
    assert_says("openai", "gpt-6.1-sol", EFFORT_UNSET, "\"reasoning\":{\"summary\":\"auto\"}");
    assert_silent("xai", "grok-4.7", EFFORT_UNSET, "\"reasoning\":");
    assert_silent("openai", "gpt-4.1", EFFORT_UNSET, "\"reasoning\":");
    assert_says("gemini", "gemini-3.8-flash", EFFORT_UNSET,
                "\"thinkingConfig\":{\"includeThoughts\":true}");
    assert_says("mistral", "mistral-medium-3.5", EFFORT_UNSET, "\"reasoning_effort\":\"high\"");
    assert_silent("mistral", "codestral-2508", EFFORT_UNSET, "reasoning");
    assert_silent("deepseek", "deepseek-flash", EFFORT_UNSET, "thinking");
}

TEST(thinking_by_default_leaves_room_for_the_answer_and_for_a_temperature)
{
    AUTO(build) struct build b;
    AUTO(strbuf) struct strbuf small = {0}, warm = {0};

    ask_model(&b, "anthropic", "claude-haiku-4-5");
    b.request.max_output = 5000;
    assert_ok(protocol_anthropic_messages.encode(&b.request, &b.dialect, &small));
    assert_true(str_find(strbuf_str(&small), S("\"budget_tokens\":2500")) != STR_NONE);
    b.request.sampling.temperature = just(0.5);
    assert_ok(protocol_anthropic_messages.encode(&b.request, &b.dialect, &warm));
    assert_true(str_find(strbuf_str(&warm), S("\"thinking\"")) == STR_NONE);
    assert_true(str_find(strbuf_str(&warm), S("\"temperature\":0.5")) != STR_NONE);
}

/* --- switched off --- */

TEST(thinking_that_can_be_switched_off_is)
{
    assert_says("anthropic", "claude-sonnet-5-5", EFFORT_NONE,
                "\"thinking\":{\"type\":\"between_tools\"}");
    assert_says("anthropic", "claude-haiku-5-5", EFFORT_NONE,
                "\"thinking\":{\"type\":\"disabled\"}");
    assert_says("openai", "gpt-5.4", EFFORT_NONE, "\"reasoning\":{\"effort\":\"none\"}");
}

TEST(switching_off_what_always_reasons_is_refused_with_the_models_name)
{
    static const char *const always[][2] = {{"anthropic", "claude-opus-5-5"},
                                            {"openai", "gpt-6.1-sol"},
                                            {"gemini", "gemini-3.8-flash"},
                                            {"xai", "grok-4.5"}};

    for (size_t i = 0; i < ARRAY_LEN(always); i++) {
        AUTO(build) struct build b;
        AUTO(err) struct err *e = NULL;

        ask_model(&b, always[i][0], always[i][1]);
        assert_ok(request_check(&b.request));
        b.request.effort = EFFORT_NONE;
        e = request_check(&b.request);
        assert_true(err_is(e, ERR_VALIDATION));
        assert_non_null(strstr(e->text, always[i][1]));
        assert_non_null(strstr(e->hint, "--effort low"));
    }
}

TEST(what_can_be_switched_off_passes_the_check)
{
    AUTO(build) struct build sonnet, unknown;

    ask_model(&sonnet, "anthropic", "claude-sonnet-5-5");
    sonnet.request.effort = EFFORT_NONE;
    assert_ok(request_check(&sonnet.request));
    build_init(&unknown);
    unknown.request.effort = EFFORT_NONE;
    assert_ok(request_check(&unknown.request));
}

/* --- headers --- */

static size_t count_betas(struct build *b, const char *beta)
{
    struct http_headers headers = {0};
    size_t n = 0;

    protocol_anthropic_messages.headers(&b->request, &b->dialect, &b->arena, &headers);
    for (size_t i = 0; i < headers.n; i++)
        n +=
            str_is(headers.items[i].name, "anthropic-beta") && str_is(headers.items[i].value, beta);
    return n;
}

TEST(a_model_with_a_budget_may_think_between_its_calls)
{
    static const char beta[] = "interleaved-thinking-2025-05-14";
    AUTO(build) struct build old, young;

    ask_model(&old, "anthropic", "claude-opus-4-5");
    assert_int_equal(count_betas(&old, beta), 0);
    add_tool(&old, "now", "", NULL);
    assert_int_equal(count_betas(&old, beta), 1);
    old.request.effort = EFFORT_NONE;
    assert_int_equal(count_betas(&old, beta), 0);
    ask_model(&young, "anthropic", "claude-sonnet-5-5");
    add_tool(&young, "now", "", NULL);
    assert_int_equal(count_betas(&young, beta), 0);
}

/* --- the provider's own tools --- */

TEST(search_and_fetch_are_those_that_the_model_takes)
{
    AUTO(build) struct build old, young;
    AUTO(strbuf) struct strbuf old_body = {0}, young_body = {0};

    ask_model(&old, "anthropic", "claude-haiku-4-5");
    old.request.web_search = old.request.web_fetch = true;
    assert_ok(protocol_anthropic_messages.encode(&old.request, &old.dialect, &old_body));
    assert_true(str_find(strbuf_str(&old_body), S("web_search_20250305")) != STR_NONE);
    assert_true(str_find(strbuf_str(&old_body), S("web_fetch_20250910")) != STR_NONE);
    assert_int_equal(count_betas(&old, "web-fetch-2025-09-10"), 1);

    ask_model(&young, "anthropic", "claude-sonnet-5");
    young.request.web_search = young.request.web_fetch = true;
    assert_ok(protocol_anthropic_messages.encode(&young.request, &young.dialect, &young_body));
    assert_true(
        str_find(strbuf_str(&young_body), S("\"web_search_20260318\",\"name\":\"web_search\","
                                            "\"allowed_callers\":[\"direct\"]")) != STR_NONE);
    assert_true(str_find(strbuf_str(&young_body), S("web_fetch_20260318")) != STR_NONE);
    assert_int_equal(count_betas(&young, "web-fetch-2025-09-10"), 0);
}

/* --- the catalogue --- */

TEST(levels_and_limits_of_the_catalogue_agree_with_the_rest_of_the_row)
{
    for (const struct vendor *v = vendors; v->name; v++)
        for (size_t i = 0; i < v->catalogue->n; i++) {
            const struct model_info *m = &v->catalogue->models[i];
            bool has_none = m->efforts & EFFORT_BIT(EFFORT_NONE);

            if (has_none && m->capabilities & REASONS_ALWAYS)
                fail_msg("%s always reasons, and yet not", m->id);
            if (m->efforts && !(m->capabilities & CAN_REASON))
                fail_msg("%s has levels of what it cannot do", m->id);
            if (m->efforts & EFFORT_BIT(EFFORT_UNSET) || m->efforts >> (EFFORT_MAX + 1))
                fail_msg("%s has a level that does not exist", m->id);
            if (m->max_input > m->context_window)
                fail_msg("%s takes more than its window", m->id);
            assert_true(model_max_prompt(m) <= m->context_window);
        }
    assert_int_equal(
        model_max_prompt(vendor_find_model(vendor_find(S("openai")), S("gpt-6.1-sol"))), 922000);
}

RUN_TESTS(UNIT(the_nearest_level_is_the_one_nearer_to_high_when_two_are),
          UNIT(an_effort_goes_out_as_a_level_that_the_model_takes),
          UNIT(deepseek_is_told_how_much_to_think),
          UNIT(models_think_when_nobody_says_anything_about_it),
          UNIT(thinking_by_default_leaves_room_for_the_answer_and_for_a_temperature),
          UNIT(thinking_that_can_be_switched_off_is),
          UNIT(switching_off_what_always_reasons_is_refused_with_the_models_name),
          UNIT(what_can_be_switched_off_passes_the_check),
          UNIT(a_model_with_a_budget_may_think_between_its_calls),
          UNIT(search_and_fetch_are_those_that_the_model_takes),
          UNIT(levels_and_limits_of_the_catalogue_agree_with_the_rest_of_the_row))
