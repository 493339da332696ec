/* quoted_test.c - names of files as one line of text, and back. */
#include "test.h"

#include "base/quoted.h"

static void assert_written(struct str path, const char *want)
{
    AUTO(strbuf) struct strbuf text = {0}, back = {0};
    AUTO(arena) struct arena a = {0};

    quoted_add(&text, path);
    assert_string_equal(strbuf_cstr(&text), want);
    assert_string_equal(quoted(&a, path).p, want);
    assert_int_equal(quoted_read(&back, strbuf_str(&text)), want[0] == '"');
    if (want[0] == '"')
        assert_true(str_eq(strbuf_str(&back), path));
}

TEST(ordinary_names_stay_as_they_are)
{
    assert_written(S("src/a.c"), "src/a.c");
    assert_written(S("with blank, 'quotes' and \"these\".txt"),
                   "with blank, 'quotes' and \"these\".txt");
    assert_written(S("back\\slash"), "back\\slash");
    assert_written(S("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
    assert_written(S(""), "");
}

TEST(a_name_with_a_newline_stays_one_line)
{
    assert_written(S("a\nb.txt"), "\"a\\nb.txt\"");
    assert_written(S("tab\there\r"), "\"tab\\there\\r\"");
    assert_written(S("\033[31m\177"), "\"\\033[31m\\177\"");
    assert_written(S("line\xE2\x80\xA8separator"), "\"line\\342\\200\\250separator\"");
    assert_written(S("next\xC2\x85line"), "\"next\\302\\205line\"");
}

TEST(bytes_that_are_not_utf8_can_be_written)
{
    assert_written(S("caf\xE9.txt"), "\"caf\\351.txt\"");
    assert_written(S("\xC3"), "\"\\303\"");
    assert_written(S("\xC3\n\xA9"), "\"\\303\\n\\251\"");
}

/* Who has read such a name writes another one. */
TEST(characters_that_look_like_others_are_quoted)
{
    assert_written(S("cafe\u0301.txt"), "\"cafe\\314\\201.txt\"");
    assert_written(S("3.04\u202FPM"), "\"3.04\\342\\200\\257PM\"");
    assert_written(S("\uD55C\uAE00"), "\uD55C\uAE00");
}

TEST(a_name_that_begins_with_a_quote_is_quoted)
{
    assert_written(S("\"a\\b\""), "\"\\\"a\\\\b\\\"\"");
}

static void assert_not_quoted(const char *text)
{
    AUTO(strbuf) struct strbuf path = {0};

    assert_false(quoted_read(&path, str_of(text)));
    assert_int_equal(path.n, 0);
}

/* Or a rule about /etc/shadow could be evaded. */
TEST(what_needs_no_quotes_is_not_read_as_quoted)
{
    assert_not_quoted("\"/etc/shadow\"");
    assert_not_quoted("\"/etc/shado\\167\"");
    assert_not_quoted("\"gr\\303\\274n\"");
    assert_not_quoted("\"a\\012b\"");
    assert_not_quoted("\"a\nb\"");
    assert_not_quoted("\"nul\\000\"");
    assert_not_quoted("\"\\n");
    assert_not_quoted("\\n\"");
    assert_not_quoted("\"\\n\"x");
    assert_not_quoted("\"\\n\\\"");
    assert_not_quoted("\"\\n\\9\"");
    assert_not_quoted("\"\\777\"");
    assert_not_quoted("\"");
    assert_not_quoted("\"\"");
    assert_not_quoted("");
}

RUN_TESTS(UNIT(ordinary_names_stay_as_they_are), UNIT(a_name_with_a_newline_stays_one_line),
          UNIT(bytes_that_are_not_utf8_can_be_written),
          UNIT(characters_that_look_like_others_are_quoted),
          UNIT(a_name_that_begins_with_a_quote_is_quoted),
          UNIT(what_needs_no_quotes_is_not_read_as_quoted))
