/* width_test.c */
#include "test.h"

#include "base/width.h"

static void assert_width(const char *text, size_t columns)
{
    if (width_of(str_of(text)) != columns)
        print_error("\"%s\": %zu\n", text, width_of(str_of(text)));
    assert_int_equal(width_of(str_of(text)), columns);
}

TEST(a_text_takes_the_columns_of_its_characters)
{
    assert_width("", 0);
    assert_width("plain", 5);
    assert_width("wörld", 5);
    assert_width("日本", 4);
    assert_width("한", 2);
    assert_width("─", 1);
    assert_width("a\u200B\u200D"
                 "b",
                 2);             /* a space without width, a joiner */
    assert_width("\xFF\xFE", 2); /* no characters at all */
    assert_width("a\xFF\xCC\x81", 2);
    assert_width("\t\r\n", 3);
}

TEST(marks_take_no_column_of_their_own)
{
    assert_width("e\u0301", 1);
    assert_width("e\u0301\u0302\u0303", 1);
    assert_width("\u0301", 0);
    assert_width("日\u0301", 2);
    assert_width("a\u200D", 1);
}

TEST(a_picture_takes_two_columns_whatever_it_is_made_of)
{
    assert_width("🚀", 2);
    assert_width("👍🏽", 2);                       /* a skin tone */
    assert_width("☝🏽", 2);                        /* of one that is narrow without */
    assert_width("👩\u200D👩\u200D👧\u200D👦", 2); /* a family */
    assert_width("❤\uFE0F\u200D🔥", 2);
    assert_width("🏳\uFE0F\u200D🌈", 2);
    assert_width("🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", 2); /* England */
    assert_width("🇩🇪", 2);
    assert_width("🇩🇪🇫🇷", 4);
    assert_width("🇩🇪🇫", 3);
    assert_width("👍🏽👍🏽", 4);
}

TEST(selector_16_makes_a_picture_of_what_may_be_one)
{
    assert_width("❤", 1);
    assert_width("❤\uFE0F", 2);
    assert_width("©\uFE0F", 2);
    assert_width("1\uFE0F\u20E3", 2); /* a keycap */
    assert_width("#\uFE0F\u20E3", 2);
    assert_width("a\uFE0F", 1);
    assert_width("日\uFE0F", 2);
    assert_width("12\uFE0F\u20E3", 3);
}

TEST(syllables_of_several_letters_take_at_most_two_columns)
{
    assert_width("\u1112\u1161\u11AB", 2); /* h, a, n */
    assert_width("\uAC00\u11A8", 2);
    assert_width("\u0915\u094D\u0937\u093F", 2); /* kshi */
    assert_width("\u0E01\u0E33", 2);             /* kam */
}

TEST(a_text_is_cut_between_clusters_and_never_takes_more)
{
    struct str text = S("a日e\u0301z"), family = S("x👩\u200D👧!");

    assert_str(width_truncate(text, 0), "");
    assert_str(width_truncate(text, 1), "a");
    assert_str(width_truncate(text, 2), "a");
    assert_str(width_truncate(text, 3), "a日");
    assert_str(width_truncate(text, 4), "a日e\u0301");
    assert_str(width_truncate(text, 99), "a日e\u0301z");
    assert_str(width_truncate(family, 2), "x");
    assert_str(width_truncate(family, 3), "x👩\u200D👧");
    assert_str(width_truncate(S("🇩🇪"), 1), "");
}

RUN_TESTS(UNIT(a_text_takes_the_columns_of_its_characters), UNIT(marks_take_no_column_of_their_own),
          UNIT(a_picture_takes_two_columns_whatever_it_is_made_of),
          UNIT(selector_16_makes_a_picture_of_what_may_be_one),
          UNIT(syllables_of_several_letters_take_at_most_two_columns),
          UNIT(a_text_is_cut_between_clusters_and_never_takes_more))
