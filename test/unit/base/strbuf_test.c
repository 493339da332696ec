/* strbuf_test.c */
#include "test.h"

TEST(an_append_over_the_cap_is_dropped_whole_and_told)
{
    AUTO(strbuf) struct strbuf b;

    strbuf_init(&b, 8);
    strbuf_add_cstr(&b, "12345678");
    assert_ok(strbuf_check(&b, "text"));
    strbuf_add_cstr(&b, "9");
    strbuf_add_cstr(&b, "");
    assert_str(strbuf_str(&b), "12345678");
    assert_err(strbuf_check(&b, "text"), ERR_VALIDATION);
    strbuf_clear(&b);
    strbuf_addf(&b, "%04d", 7);
    assert_ok(strbuf_check(&b, "text"));
    assert_string_equal(strbuf_cstr(&b), "0007");
}

TEST(a_zeroed_buffer_works)
{
    AUTO(strbuf) struct strbuf b = {0};
    AUTO_FREE char *text = NULL;

    assert_string_equal(strbuf_cstr(&b), "");
    for (int i = 0; i < 1000; i++)
        strbuf_add_char(&b, 'x');
    strbuf_drop_front(&b, 990);
    strbuf_cut(&b, 5);
    text = strbuf_take(&b);
    assert_string_equal(text, "xxxxx");
    assert_int_equal(b.n, 0);
}

RUN_TESTS(UNIT(an_append_over_the_cap_is_dropped_whole_and_told), UNIT(a_zeroed_buffer_works))
