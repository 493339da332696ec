/* str_test.c */
#include "test.h"

TEST(splitting_gives_every_part_also_empty_ones)
{
    struct str rest = S("a,b,,"), part;
    const char *want[] = {"a", "b", "", ""};
    size_t n = 0;

    while (str_split(&rest, ',', &part))
        assert_str(part, want[n++]);
    assert_int_equal(n, 4);
    rest = S("");
    assert_true(str_split(&rest, ',', &part));
    assert_false(str_split(&rest, ',', &part));
}

TEST(integers_fit_exactly_or_are_refused)
{
    int64_t v;

    assert_true(str_to_int64(S("9223372036854775807"), &v) && v == INT64_MAX);
    assert_true(str_to_int64(S("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_false(str_to_int64(S("9223372036854775808"), &v));
    assert_false(str_to_int64(S("-9223372036854775809"), &v));
    assert_false(str_to_int64(S(""), &v));
    assert_false(str_to_int64(S("-"), &v));
    assert_false(str_to_int64(S("1x"), &v));
    assert_true(str_to_int64(S("0"), &v) && v == 0);
}

TEST(doubles_use_a_point_whatever_the_locale)
{
    double d;

    assert_true(str_to_double(S("1.5e3"), &d) && d == 1500.0);
    assert_false(str_to_double(S("1,5"), &d));
    assert_false(str_to_double(S(""), &d));
    assert_false(str_to_double(S(" 1"), &d));
}

TEST(searching_and_trimming)
{
    assert_int_equal(str_find(S("hello"), S("lo")), 3);
    assert_int_equal(str_find(S("hello"), S("x")), STR_NONE);
    assert_int_equal(str_rfind_char(S("a/b/c"), '/'), 3);
    assert_str(str_trim(S(" \t x y \r\n")), "x y");
    assert_true(str_eq_nocase(S("Content-Type"), S("content-type")));
    assert_true(str_cmp(S("a"), S("ab")) < 0);
    assert_true(str_starts(S("abc"), S("ab")) && str_ends(S("abc"), S("bc")));
    assert_str(str_slice(S("abc"), 1, 100), "bc");
    assert_str(str_slice(S("abc"), 9, 1), "");
}

RUN_TESTS(UNIT(splitting_gives_every_part_also_empty_ones),
          UNIT(integers_fit_exactly_or_are_refused), UNIT(doubles_use_a_point_whatever_the_locale),
          UNIT(searching_and_trimming))
