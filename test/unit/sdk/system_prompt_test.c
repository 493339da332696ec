/* system_prompt_test.c - what the model is told, and that it stays the same. */
#include "sdk/system_prompt.h"

#include "test.h"

static char *write(const char *instead, const char *append)
{
    AUTO(strbuf) struct strbuf out = {0};

    system_prompt_write(&out, instead, append);
    return strbuf_take(&out);
}

TEST(nothing_in_it_changes)
{
    AUTO_FREE char *first = write(NULL, NULL), *second = write(NULL, NULL);

    assert_true(str_starts(str_of(first), S("You are keel")));
    assert_string_equal(first, second);
}

TEST(given_text_replaces_everything)
{
    AUTO_FREE char *text = write("Be brief.", NULL);

    assert_string_equal(text, "Be brief.");
}

TEST(appended_text_stands_after_a_blank_line)
{
    AUTO_FREE char *own = write(NULL, NULL), *added = write(NULL, "Speak Latin."),
                   *both = write("Be brief.", "Speak Latin.");

    assert_memory_equal(added, own, strlen(own));
    assert_string_equal(added + strlen(own), "\nSpeak Latin.");
    assert_string_equal(both, "Be brief.\n\nSpeak Latin.");
}

TEST(nothing_instead_and_something_appended_is_only_that)
{
    AUTO_FREE char *text = write("", "Speak Latin.");

    assert_string_equal(text, "Speak Latin.");
}

RUN_TESTS(UNIT(nothing_in_it_changes), UNIT(given_text_replaces_everything),
          UNIT(appended_text_stands_after_a_blank_line),
          UNIT(nothing_instead_and_something_appended_is_only_that))
