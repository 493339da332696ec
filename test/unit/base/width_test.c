/* width_test.c */
#include "test.h"

#include "base/width.h"

TEST(a_text_takes_the_columns_of_its_characters)
{
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        {"", 0},
        {"plain", 5},
        {"w\xC3\xB6rld", 5},
        {"\xE6\x97\xA5\xE6\x9C\xAC", 4}, /* two ideographs */
        {"e\xCC\x81", 1},                /* e and an accent */
        {"\xF0\x9F\x9A\x80", 2},         /* a rocket */
        {"\xED\x95\x9C", 2},             /* a Hangul syllable */
        {"a\xE2\x80\x8B\xE2\x80\x8D"
         "b",
         2},                 /* a space without width, a joiner */
        {"\xFF\xFE", 2},     /* no characters at all */
        {"\xE2\x94\x80", 1}, /* a line that boxes are drawn with */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(width_of(str_of(cases[i].text)), cases[i].columns);
}

TEST(a_text_is_cut_between_characters_and_never_takes_more)
{
    struct str text = S("a\xE6\x97\xA5"
                        "e\xCC\x81z");

    assert_str(width_truncate(text, 0), "");
    assert_str(width_truncate(text, 1), "a");
    assert_str(width_truncate(text, 2), "a");
    assert_str(width_truncate(text, 3), "a\xE6\x97\xA5");
    assert_str(width_truncate(text, 4), "a\xE6\x97\xA5"
                                        "e\xCC\x81");
    assert_str(width_truncate(text, 99), "a\xE6\x97\xA5"
                                         "e\xCC\x81z");
}

RUN_TESTS(UNIT(a_text_takes_the_columns_of_its_characters),
          UNIT(a_text_is_cut_between_characters_and_never_takes_more))
