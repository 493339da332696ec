/* matcher_test.c */
#include "test.h"

#include "hook/matcher.h"

static bool matches(const char *pattern, struct str text)
{
    AUTO(matcher) struct matcher *m = NULL;

    assert_ok(matcher_new(str_of(pattern), /* names_are_regex= */ false, &m));
    return matcher_matches(m, text);
}

#define fits(pattern, text) assert_true(matches(pattern, S(text)))
#define fits_not(pattern, text) assert_false(matches(pattern, S(text)))

TEST(nothing_and_a_star_match_everything)
{
    fits("", "Bash");
    fits("*", "mcp__db__query");
    fits("*", "");
}

TEST(a_name_matches_the_whole_name_only)
{
    fits("Bash", "Bash");
    fits_not("Bash", "BashOutput");
    fits_not("Bash", "MyBash");
    fits_not("Bash", "bash");
    fits_not("Bash", "");
}

TEST(names_with_bars_match_each_of_them)
{
    fits("Edit|Write", "Write");
    fits("Edit|Write", "Edit");
    fits_not("Edit|Write", "Edit|Write");
    fits_not("Edit|Write", "NotebookEdit");
}

TEST(names_with_commas_or_blanks_around_bars_are_names_too)
{
    fits("Bash, Read", "Bash");
    fits("Bash, Read", "Read");
    fits("Bash,Read", "Read");
    fits("Edit | Write", "Write");
    fits("Bash, Edit|Write,", "Edit");
    fits("mcp__my-db__query, Bash", "mcp__my-db__query");
    fits_not("Bash, Read", "BashOutput");
    fits_not("Bash, Read", "Bash, Read");
    fits_not("Bash, Read", "");
    fits("a{1,2}", "Bash"); /* a comma that is not between names */
    fits("code reviewer", "the code reviewer");
}

TEST(anything_else_is_a_regular_expression_found_anywhere)
{
    fits("Notebook.*", "NotebookEdit");
    fits("mcp__db__.*", "mcp__db__query");
    fits_not("mcp__db__.*", "mcp__github__query");
    fits("^Edit", "EditMore");
    fits_not("^Edit$", "NotebookEdit");
    fits("(Edit|Write)$", "NotebookEdit");
    fits("mcp__brave-search__", "mcp__brave-search__web");
}

TEST(a_name_may_be_meant_as_a_regular_expression)
{
    AUTO(matcher) struct matcher *m = NULL;

    assert_ok(matcher_new(S("Gl|Edit"), /* names_are_regex= */ true, &m));
    assert_true(matcher_matches(m, S("Glob")));
    assert_true(matcher_matches(m, S("NotebookEdit")));
    assert_false(matcher_matches(m, S("Bash")));
}

TEST(a_line_end_is_no_end_of_the_text)
{
    fits_not("^Edit.?$", "Edit\n");
}

TEST(a_pattern_that_does_not_compile_is_told_with_its_place)
{
    struct matcher *m;
    AUTO(err) struct err *e = matcher_new(S("Edit("), false, &m);

    assert_true(err_is(e, ERR_VALIDATION));
    assert_string_equal(e->text, "\"Edit(\" is not a regular expression: missing closing "
                                 "parenthesis, at offset 5");
}

TEST(hostile_patterns_are_refused_or_limited)
{
    AUTO(strbuf) struct strbuf deep = {0}, text = {0};
    struct matcher *m;

    while (deep.n < 3000)
        strbuf_add_char(&deep, '(');
    assert_err(matcher_new(strbuf_str(&deep), false, &m), ERR_VALIDATION);
    while (deep.n < 10000)
        strbuf_add_char(&deep, 'a');
    assert_err(matcher_new(strbuf_str(&deep), false, &m), ERR_VALIDATION);
    while (text.n < 100000)
        strbuf_add_char(&text, 'a');
    /* takes for ever, so it counts as a match */
    assert_true(matches("^(a+)+[bc]$", strbuf_str(&text)));
}

TEST(texts_that_are_not_utf8_are_matched_all_the_same)
{
    fits("db.*", "mcp__\xff__db__x");
    fits_not("^x.*$", "\xff\xfe");
}

RUN_TESTS(UNIT(nothing_and_a_star_match_everything), UNIT(a_name_matches_the_whole_name_only),
          UNIT(names_with_bars_match_each_of_them),
          UNIT(names_with_commas_or_blanks_around_bars_are_names_too),
          UNIT(anything_else_is_a_regular_expression_found_anywhere),
          UNIT(a_name_may_be_meant_as_a_regular_expression), UNIT(a_line_end_is_no_end_of_the_text),
          UNIT(a_pattern_that_does_not_compile_is_told_with_its_place),
          UNIT(hostile_patterns_are_refused_or_limited),
          UNIT(texts_that_are_not_utf8_are_matched_all_the_same))
