/* utf8_test.c */
#include "test.h"

#include "base/utf8.h"

TEST(every_scalar_value_survives_a_round_trip_and_surrogates_do_not_exist)
{
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char bytes[4];
        uint32_t back = 0;
        unsigned n = utf8_encode(c, bytes);
        bool surrogate = c >= 0xD800 && c < 0xE000;

        assert_int_equal(utf8_decode(str_make(bytes, n), &back), surrogate ? 0 : n);
        if (!surrogate)
            assert_int_equal(back, c);
    }
}

TEST(bad_bytes_are_repaired_as_browsers_do)
{
    static const struct {
        const char *bad, *good;
    } cases[] = {
        {"a\xff"
         "b",
         "a\xEF\xBF\xBD"
         "b"},
        {"\xE2\x82", "\xEF\xBF\xBD"},
        {"\xE2\x82"
         "a",
         "\xEF\xBF\xBD"
         "a"},
        {"\xC0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(strbuf) struct strbuf b = {0};
        utf8_add_repaired(&b, str_of(cases[i].bad));
        assert_str(strbuf_str(&b), cases[i].good);
    }
}

TEST(a_cut_never_splits_a_character)
{
    assert_str(utf8_truncate(S("a\xE2\x82\xAC"), 3), "a");
    assert_str(utf8_truncate(S("a\xE2\x82\xAC"), 4), "a\xE2\x82\xAC");
    assert_int_equal(utf8_incomplete_tail(S("x\xF0\x9F\x98")), 3);
    assert_int_equal(utf8_incomplete_tail(S("x\xF0\x9F\x98\x80")), 0);
    assert_int_equal(utf8_incomplete_tail(S("\x80\x80\x80\x80")), 0);
}

TEST(characters_are_counted_and_a_bad_byte_counts_as_one)
{
    assert_int_equal(utf8_count(S("")), 0);
    assert_int_equal(utf8_count(S("a\xE2\x82\xAC\xff")), 3);
    assert_int_equal(utf8_count(S("0123456789abcdef")), 16);
    assert_int_equal(utf8_count(S("01234567\xE2\x82\xAC"
                                  "89abcdef\xE2\x82")),
                     19);
}

RUN_TESTS(UNIT(every_scalar_value_survives_a_round_trip_and_surrogates_do_not_exist),
          UNIT(bad_bytes_are_repaired_as_browsers_do), UNIT(a_cut_never_splits_a_character),
          UNIT(characters_are_counted_and_a_bad_byte_counts_as_one))
