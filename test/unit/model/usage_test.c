/* usage_test.c */
#include "test.h"

#include "model/request.h"
#include "model/usage.h"

TEST(totals_mean_the_same_whatever_the_provider_counts)
{
    struct usage apart = USAGE_UNKNOWN, inside = USAGE_UNKNOWN;

    apart.input = 10;
    apart.cache_read = 90;
    apart.cache_write = 5;
    apart.output = 7;
    inside.input = 105;
    inside.cache_read = 90;
    inside.cache_write = 5;
    inside.input_includes_cache = true;
    inside.output = 4;
    inside.reasoning = 3;
    inside.output_lacks_reasoning = true;
    assert_int_equal(usage_total(&apart), 112);
    assert_int_equal(usage_total(&inside), 112);
    assert_int_equal(usage_fresh_input(&inside), 10);
    assert_int_equal(usage_completion(&inside), 7);
    assert_false(usage_is_known(&USAGE_UNKNOWN));
}

TEST(money_is_whole_microcents_and_a_reported_cost_wins)
{
    struct price price = {.input = 300000000,
                          .output = 1500000000,
                          .cache_read = 30000000,
                          .cache_write = -1}; /* $3, $15, $0.30 a million */
    struct usage u = USAGE_UNKNOWN;

    u.input = 1000;
    u.output = 1000;
    u.cache_read = 1000;
    assert_int_equal(usage_cost_microcents(&u, &price), 300000 + 1500000 + 30000);
    u = USAGE_UNKNOWN;
    u.output = 0;
    u.input = 1; /* 300 micro-cents exactly; rounding only ever goes up */
    assert_int_equal(usage_cost_microcents(&u, &price), 300);
    price.input = -1;
    assert_int_equal(usage_cost_microcents(&u, &price), -1);
    u.cost_microcents = 42;
    assert_int_equal(usage_cost_microcents(&u, &price), 42);
}

TEST(searches_of_the_provider_are_paid_for)
{
    struct price price = {.input = 200000000, .output = 1000000000, .search = 1000000}; /* 1 cent */
    struct usage u = USAGE_UNKNOWN;

    u.input = u.output = 0;
    assert_int_equal(usage_cost_microcents(&u, &price), 0);
    u.web_searches = 3;
    assert_int_equal(usage_cost_microcents(&u, &price), 3000000);
    u.web_searches = -1;
    assert_int_equal(usage_cost_microcents(&u, &price), 0);
    price.search = 0;
    price.search_request = 3500000; /* however many */
    assert_int_equal(usage_cost_microcents(&u, &price), 0);
    u.web_searches = 3;
    assert_int_equal(usage_cost_microcents(&u, &price), 3500000);
}

TEST(a_long_prompt_makes_the_whole_call_dearer)
{
    struct price price = {.input = 200000000, /* $2 and $10 a million, twice and 1.5 times above */
                          .output = 1000000000,
                          .cache_read = 20000000,
                          .cache_write = -1,
                          .long_from = 1000,
                          .long_input_percent = 200,
                          .long_output_percent = 150};
    struct usage u = USAGE_UNKNOWN;

    u.input = 600;
    u.cache_read = 400;
    u.output = 100;
    assert_int_equal(usage_cost_microcents(&u, &price), 120000 + 8000 + 100000);
    u.input = 601;
    assert_int_equal(usage_cost_microcents(&u, &price), 2 * (120200 + 8000) + 150000);
}

TEST(absurd_counts_do_not_overflow)
{
    struct price price = {.input = 300000000, .output = 1500000000, -1, -1};
    struct usage u = USAGE_UNKNOWN;

    u.input = u.output = u.cache_read = u.cache_write = INT64_MAX;
    assert_true(usage_total(&u) > 0);
    assert_true(usage_cost_microcents(&u, &price) > 0);
}

static struct usage taken(const char *input, const char *cache_read)
{
    AUTO(arena) struct arena a = {0};
    struct usage u = USAGE_UNKNOWN;
    struct json *v;

    u.output = 7;
    assert_ok(json_parse(&a, str_of(input), 0, &v));
    usage_take_count(&u, &u.input, v);
    assert_ok(json_parse(&a, str_of(cache_read), 0, &v));
    usage_take_count(&u, &u.cache_read, v);
    usage_settle(&u, 0);
    return u;
}

TEST(a_prompt_of_zero_tokens_is_not_a_count)
{
    struct usage of_prompt = taken("0", "0"), cached = taken("0", "3"), of_both = USAGE_UNKNOWN;

    of_both.input = of_both.output = of_both.cache_read = of_both.cost_microcents = 0;
    usage_doubt_zeros(&of_prompt, /* has_answer= */ true);
    usage_doubt_zeros(&cached, /* has_answer= */ true);
    usage_doubt_zeros(&of_both, /* has_answer= */ true);
    assert_int_equal(of_both.cache_read, -1);
    assert_false(usage_is_known(&of_both));
    assert_int_equal(of_both.cost_microcents, -1);
    assert_int_equal(of_prompt.input, -1);
    assert_int_equal(of_prompt.output, 7);
    assert_int_equal(cached.input, 0);
    assert_int_equal(usage_total(&cached), 10);
}

TEST(a_count_that_no_provider_can_mean_is_not_known)
{
    static const char *const nonsense[] = {"-1",        "\"-5\"",
                                           "100000001", "9223372036854775807",
                                           "1e30",      "1e999999",
                                           "5.5",       "99999999999999999999",
                                           "\"1e9\"",   "\"99999999999999999999\""};

    for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
        struct usage of_prompt = taken(nonsense[i], "3"), of_cache = taken("5", nonsense[i]);

        assert_false(usage_is_known(&of_prompt));
        assert_int_equal(usage_total(&of_prompt), 0);
        assert_int_equal(of_cache.cache_read, -1);
        assert_int_equal(usage_total(&of_cache), 12);
    }
}

TEST(a_count_may_be_digits_and_what_is_none_says_nothing)
{
    struct usage digits = taken("\"5\"", "5.0"), none = taken("null", "\"many\"");

    assert_int_equal(digits.input, 5);
    assert_int_equal(digits.cache_read, 5);
    assert_int_equal(none.input, -1);
    assert_int_equal(none.output, 7);
    assert_int_equal(none.cache_read, -1);
}

TEST(without_counts_it_does_not_matter_how_they_are_counted)
{
    struct usage u = USAGE_UNKNOWN, known = USAGE_UNKNOWN;

    known.input = 5;
    u.input_includes_cache = known.input_includes_cache = true;
    u.output_lacks_reasoning = known.output_lacks_reasoning = true;
    usage_settle(&u, 0);
    usage_settle(&known, 0);
    assert_false(u.input_includes_cache || u.output_lacks_reasoning);
    assert_true(known.input_includes_cache && known.output_lacks_reasoning);
}

TEST(a_count_far_beyond_the_window_is_not_known)
{
    struct usage u = USAGE_UNKNOWN, v = USAGE_UNKNOWN;

    u.input = v.input = 16 * 200000;
    v.output = 1 + 16 * 200000;
    usage_settle(&u, 200000);
    usage_settle(&v, 200000);
    assert_true(usage_is_known(&u));
    assert_false(usage_is_known(&v));
}

TEST(an_unknown_count_has_no_price_and_a_cost_that_cannot_be_is_none)
{
    struct price price = {.input = 300000000, .output = 1500000000, -1, -1};
    struct usage u = USAGE_UNKNOWN;

    assert_int_equal(usage_cost_microcents(&u, &price), -1);
    usage_take_cost(&u, INT64_MAX);
    assert_int_equal(u.cost_microcents, -1);
    usage_take_cost(&u, -1);
    assert_int_equal(u.cost_microcents, -1);
    usage_take_cost(&u, 12);
    assert_int_equal(usage_cost_microcents(&u, &price), 12);
}

TEST(dollars_become_microcents)
{
    AUTO(arena) struct arena a = {0};
    int64_t m;

    assert_true(money_from_usd(json_new_double(&a, 0.00012345), &m) && m == 12345);
    assert_false(money_from_usd(json_new_double(&a, -1), &m));
    assert_false(money_from_usd(json_new_str(&a, S("1")), &m));
}

TEST(an_effort_stands_for_a_share_of_the_output)
{
    struct model_request r = {.max_output = 10000};

    assert_int_equal(request_reasoning_budget(&r), 0);
    r.effort = EFFORT_MINIMAL;
    assert_int_equal(request_reasoning_budget(&r), 1024);
    r.effort = EFFORT_MEDIUM;
    assert_int_equal(request_reasoning_budget(&r), 5000);
    r.reasoning_budget = 77;
    assert_int_equal(request_reasoning_budget(&r), 77);
    assert_int_equal(request_max_output(&(struct model_request){0}), MODEL_DEFAULT_MAX_OUTPUT);
}

TEST(counts_are_short_for_people)
{
    char out[16];

    token_count_format(200000, out);
    assert_string_equal(out, "200K");
    token_count_format(1000000, out);
    assert_string_equal(out, "1M");
    token_count_format(32768, out);
    assert_string_equal(out, "32.8K");
    token_count_format(12, out);
    assert_string_equal(out, "12");
}

RUN_TESTS(UNIT(totals_mean_the_same_whatever_the_provider_counts),
          UNIT(money_is_whole_microcents_and_a_reported_cost_wins),
          UNIT(a_long_prompt_makes_the_whole_call_dearer), UNIT(absurd_counts_do_not_overflow),
          UNIT(a_prompt_of_zero_tokens_is_not_a_count),
          UNIT(a_count_that_no_provider_can_mean_is_not_known),
          UNIT(a_count_may_be_digits_and_what_is_none_says_nothing),
          UNIT(without_counts_it_does_not_matter_how_they_are_counted),
          UNIT(a_count_far_beyond_the_window_is_not_known),
          UNIT(an_unknown_count_has_no_price_and_a_cost_that_cannot_be_is_none),
          UNIT(dollars_become_microcents), UNIT(an_effort_stands_for_a_share_of_the_output),
          UNIT(searches_of_the_provider_are_paid_for), UNIT(counts_are_short_for_people))
