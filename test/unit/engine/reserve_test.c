/* reserve_test.c - estimates of requests, limits of answers, and what counts in the end. */
#include "test.h"

#include "engine/reserve.h"

static const struct price price = {1000000, 2000000, -1, -1}; /* 1 and 2 micro-cents a token */

static struct attempt ended(struct reply *reply, const struct err *e)
{
    static const struct target target = {.price = {1000000, 2000000, -1, -1}};
    struct attempt a = {.target = &target, .number = 1, .reply = reply, .error = e};

    a.cost_microcents = usage_cost_microcents(&reply->usage, &target.price);
    return a;
}

/* -1: nothing is counted. */
static int64_t total_of(struct settlement s)
{
    return usage_is_known(&s.usage) ? usage_total(&s.usage) : -1;
}

/* --- before it leaves --- */

TEST(system_text_and_tools_are_part_of_the_prompt)
{
    AUTO(message) struct message *m = message_new(ROLE_USER, S("m"));
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct json *schema;
    struct tool_def tool = {.name = S("Echo"), .description = S("says it")};
    const struct tool_def *tools[] = {&tool};
    struct model_request q = {.messages = (const struct message *const *)&m,
                              .n_messages = 1,
                              .tools = tools,
                              .n_tools = 1};
    struct reservation r;

    for (size_t i = 0; i < 4000; i++)
        strbuf_add_char(&text, 'x');
    q.system = strbuf_str(&text);
    assert_ok(json_parse(&a, S("{\"type\":\"object\"}"), 0, &schema)); /* 17 bytes */
    tool.input_schema = schema;
    message_add_text(m, strbuf_str(&text));
    r = reservation_of(&q, &price, 0);
    assert_int_equal(r.input, 1000 + 4 + (4000 + 4 + 7 + 17) / 4);
    assert_int_equal(r.output, RESERVE_USUAL_OUTPUT);
    assert_int_equal(r.microcents, r.input + 2 * r.output);
    assert_int_equal(reservation_of(&q, &price, 50000).input, 50000);
    q.max_output = 7;
    assert_int_equal(reservation_of(&q, &price, 0).output, 7);
}

TEST(what_has_no_price_has_no_cost)
{
    struct model_request q = {.system = S("Be brief.")};

    assert_int_equal(reservation_of(&q, &(struct price){-1, -1, -1, -1}, 0).microcents, -1);
}

/* --- how long an answer may be --- */

TEST(an_answer_is_limited_where_it_could_be_longer)
{
    struct reservation r = {.max_output = 4096};
    struct model_request q = {.max_output = 64000, .reasoning_budget = 32000};

    reservation_limit(&r, &q);
    assert_int_equal(q.max_output, 4096);
    assert_int_equal(q.reasoning_budget, 2048); /* there must be room for the answer itself */
    assert_int_equal(r.max_output, 4096);
}

TEST(an_answer_that_is_shorter_anyway_is_left_alone)
{
    struct reservation r = {.max_output = 4096};
    struct model_info info = {.max_output = 2000};
    struct model_request asked = {.max_output = 4096, .reasoning_budget = 3000};
    struct model_request known = {.info = &info};

    reservation_limit(&r, &asked);
    assert_int_equal(asked.max_output, 4096);
    assert_int_equal(asked.reasoning_budget, 3000);
    assert_int_equal(r.max_output, 0);
    r.max_output = 4096;
    reservation_limit(&r, &known);
    assert_int_equal(known.max_output, 0);
    assert_int_equal(r.max_output, 0);
}

TEST(a_model_that_nothing_is_known_about_gets_no_more_than_the_default)
{
    struct reservation r = {.max_output = 1 << 20};
    struct model_request q = {0};

    reservation_limit(&r, &q);
    assert_int_equal(q.max_output, MODEL_DEFAULT_MAX_OUTPUT);
    assert_int_equal(r.max_output, MODEL_DEFAULT_MAX_OUTPUT);
}

/* --- what counts --- */

static struct settlement settle(struct usage usage, const char *text, enum err_kind kind,
                                bool has_failed)
{
    struct reservation r = {.input = 100, .output = 10, .microcents = 120};
    AUTO(err) struct err *e = has_failed ? err_new(kind, "it failed") : NULL;
    struct reply reply;
    struct attempt a;
    struct settlement s;
    size_t index;

    reply_init(&reply, (struct delta_sink){0});
    reply.usage = usage;
    if (*text) {
        assert_ok(reply_begin(&reply, PART_TEXT, (struct str){0}, (struct str){0}, &index));
        assert_ok(reply_add_text(&reply, index, str_of(text)));
    }
    a = ended(&reply, e);
    s = reservation_settle(&r, &a, /* was_sent= */ true);
    reply_done(&reply);
    return s;
}

static struct usage counted(int64_t input, int64_t output)
{
    struct usage u = USAGE_UNKNOWN;

    u.input = input;
    u.output = output;
    return u;
}

#define FORTY_FIVE "forty-five bytes, which are fifteen tokens..."

TEST(what_the_provider_counts_is_what_counts)
{
    struct settlement s = settle(counted(7, 3), FORTY_FIVE, ERR_INTERNAL, false);

    assert_int_equal(usage_total(&s.usage), 10);
    assert_int_equal(s.microcents, 7 + 2 * 3);
    assert_false(s.is_estimated);
}

TEST(an_answer_without_a_count_counts_as_reserved_or_as_long_as_it_was)
{
    struct settlement s = settle(USAGE_UNKNOWN, "short", ERR_INTERNAL, false);

    assert_int_equal(usage_total(&s.usage), 110);
    assert_int_equal(s.microcents, 100 + 2 * 10);
    assert_true(s.is_estimated);
    s = settle(USAGE_UNKNOWN, FORTY_FIVE, ERR_INTERNAL, false);
    assert_int_equal(usage_total(&s.usage), 115);
}

TEST(an_answer_that_broke_off_counts_as_far_as_it_had_come)
{
    struct settlement s = settle(counted(7, 1), FORTY_FIVE, ERR_NETWORK, true);

    assert_int_equal(s.usage.input, 7);
    assert_int_equal(s.usage.output, 15);
    assert_int_equal(s.microcents, 7 + 2 * 15);
    assert_true(s.is_estimated);
}

TEST(a_provider_that_was_left_or_fell_silent_may_have_worked)
{
    assert_int_equal(total_of(settle(USAGE_UNKNOWN, "", ERR_CANCELLED, true)), 110);
    assert_int_equal(total_of(settle(USAGE_UNKNOWN, "", ERR_TIMEOUT, true)), 110);
}

TEST(a_provider_that_refused_or_was_not_reached_has_not)
{
    static const enum err_kind kinds[] = {ERR_PROVIDER_AUTH, ERR_PROVIDER_RATE_LIMIT,
                                          ERR_PROVIDER_UNAVAILABLE, ERR_NETWORK};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        assert_int_equal(total_of(settle(USAGE_UNKNOWN, "", kinds[i], true)), -1);
}

TEST(a_request_that_never_left_costs_nothing)
{
    struct reservation r = {.input = 100, .output = 10};
    AUTO(err) struct err *e = err_new(ERR_CANCELLED, "interrupted");
    struct reply reply;
    struct attempt a;

    reply_init(&reply, (struct delta_sink){0});
    reply.usage = USAGE_UNKNOWN;
    a = ended(&reply, e);
    assert_int_equal(total_of(reservation_settle(&r, &a, /* was_sent= */ false)), -1);
    reply_done(&reply);
}

TEST(a_process_that_died_leaves_its_reservation_or_what_had_come)
{
    struct reservation r = {.input = 100, .output = 10};

    assert_int_equal(total_of(reservation_settle_lost(&r, &price, 0)), 110);
    assert_int_equal(total_of(reservation_settle_lost(&r, &price, 45)), 115);
    assert_int_equal(reservation_settle_lost(&r, &price, 45).microcents, 100 + 2 * 15);
}

RUN_TESTS(UNIT(system_text_and_tools_are_part_of_the_prompt), UNIT(what_has_no_price_has_no_cost),
          UNIT(an_answer_is_limited_where_it_could_be_longer),
          UNIT(an_answer_that_is_shorter_anyway_is_left_alone),
          UNIT(a_model_that_nothing_is_known_about_gets_no_more_than_the_default),
          UNIT(what_the_provider_counts_is_what_counts),
          UNIT(an_answer_without_a_count_counts_as_reserved_or_as_long_as_it_was),
          UNIT(an_answer_that_broke_off_counts_as_far_as_it_had_come),
          UNIT(a_provider_that_was_left_or_fell_silent_may_have_worked),
          UNIT(a_provider_that_refused_or_was_not_reached_has_not),
          UNIT(a_request_that_never_left_costs_nothing),
          UNIT(a_process_that_died_leaves_its_reservation_or_what_had_come));
