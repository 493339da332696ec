/* ledger_test.c */
#include "test.h"

#include "engine/ledger.h"

static struct message *text_of(enum role role, size_t n_chars)
{
    struct message *m = message_new(role, S("m"));
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < n_chars; i++)
        strbuf_add_char(&text, 'x');
    message_add_text(m, strbuf_str(&text));
    return m;
}

static struct message *answer(size_t n_chars, int64_t input, int64_t output)
{
    struct message *m = text_of(ROLE_ASSISTANT, n_chars);

    m->usage.input = input;
    m->usage.output = output;
    return m;
}

static struct token_estimate estimate(struct message **take, size_t n, int64_t floor)
{
    struct token_estimate e = ledger_estimate((const struct message *const *)take, n, 0, floor);

    for (size_t i = 0; i < n; i++)
        message_unref(take[i]);
    return e;
}

TEST(without_a_count_the_size_of_the_messages_decides)
{
    struct message *list[] = {text_of(ROLE_USER, 396), text_of(ROLE_USER, 5)};
    struct token_estimate e = estimate(list, 2, 0);

    assert_int_equal(e.serialized, (4 + 99) + (4 + 2));
    assert_int_equal(e.used, e.serialized);
    assert_int_equal(e.counted, 0);
    assert_false(e.is_exact);
}

TEST(a_count_on_the_last_message_is_exact)
{
    struct message *list[] = {text_of(ROLE_USER, 40000), answer(10, 7000, 50)};
    struct token_estimate e = estimate(list, 2, 99999);

    assert_true(e.is_exact);
    assert_int_equal(e.used, 7050);
}

TEST(what_came_after_the_last_count_is_added_and_earlier_counts_are_not)
{
    struct message *list[] = {text_of(ROLE_USER, 4), answer(4, 1000, 10), text_of(ROLE_USER, 4),
                              answer(4, 3000, 20), text_of(ROLE_USER, 400)};
    struct token_estimate e = estimate(list, 5, 0);

    assert_int_equal(e.counted, 3020 + 104);
    assert_int_equal(e.used, 3124);
    assert_false(e.is_exact);
}

TEST(a_large_prompt_is_not_hidden_by_an_old_count)
{
    struct message *list[] = {text_of(ROLE_USER, 4000000), answer(4, 10, 1), text_of(ROLE_USER, 4)};
    struct token_estimate e = estimate(list, 3, 0);

    assert_true(e.used >= 1000000);
}

TEST(the_callers_floor_counts)
{
    struct message *list[] = {text_of(ROLE_USER, 4)};

    assert_int_equal(estimate(list, 1, 500).used, 500);
}

TEST(media_and_results_take_room)
{
    struct message *m = message_new(ROLE_TOOL, S("m"));
    struct part content[] = {{.kind = PART_TEXT, .text = S("12345678")},
                             {.kind = PART_MEDIA, .media = {.mime = S("image/png")}}};

    message_add(m, &(struct part){.kind = PART_TOOL_RESULT, .content = content, .n_content = 2});
    assert_int_equal(ledger_message_tokens(m), 4 + 2 + 1600);
    message_unref(m);
    assert_int_equal(ledger_result_tokens(S("12345")), 3);
    assert_int_equal(ledger_result_tokens(S("\xF0\x9F\x98\x80\xF0\x9F\x98\x80")), 1);
}

TEST(thresholds_are_shares_of_the_window)
{
    AUTO(strbuf) struct strbuf why = {0};
    struct token_estimate e = {.serialized = 191000, .counted = 150000, .used = 191000};

    assert_false(ledger_is_over(190000, 200000, LEDGER_GUARD_PER_MILLE));
    assert_true(ledger_is_over(190001, 200000, LEDGER_GUARD_PER_MILLE));
    assert_true(ledger_is_over(167001, 200000, LEDGER_COMPACT_PER_MILLE));
    assert_false(ledger_is_over(INT64_MAX, 0, LEDGER_GUARD_PER_MILLE));
    ledger_explain_guard(&e, 200000, /* is_first= */ false, &why);
    assert_non_null(strstr(strbuf_cstr(&why), "about 191000 tokens"));
    assert_non_null(strstr(strbuf_cstr(&why), "the limit is 190000"));
}

TEST(a_last_turn_keeps_room_for_its_answer_and_a_tenth_of_the_window_at_most)
{
    assert_int_equal(ledger_reserve(200000, 4096, 100), 4096 + 256);
    assert_int_equal(ledger_reserve(200000, 64000, 100), 20000);
    assert_int_equal(ledger_reserve(200000, 0, 100), 16384 + 256);
    assert_int_equal(ledger_reserve(8000, 16384, 100), 800);
}

RUN_TESTS(UNIT(a_last_turn_keeps_room_for_its_answer_and_a_tenth_of_the_window_at_most),
          UNIT(without_a_count_the_size_of_the_messages_decides),
          UNIT(a_count_on_the_last_message_is_exact),
          UNIT(what_came_after_the_last_count_is_added_and_earlier_counts_are_not),
          UNIT(a_large_prompt_is_not_hidden_by_an_old_count), UNIT(the_callers_floor_counts),
          UNIT(media_and_results_take_room), UNIT(thresholds_are_shares_of_the_window))
