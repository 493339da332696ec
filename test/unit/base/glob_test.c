/* glob_test.c */
#include "test.h"

#include "base/glob.h"
#include "base/json.h"

#include <regex.h>

static bool matches(struct str pattern, struct str path, int flags)
{
    AUTO(glob) struct glob *g = NULL;

    assert_ok(glob_compile(pattern, flags, &g));
    return glob_matches(g, path);
}

static void assert_match(const char *pattern, const char *path, int flags)
{
    if (!matches(str_of(pattern), str_of(path), flags))
        fail_msg("%s must match %s", pattern, path);
}

static void assert_no_match(const char *pattern, const char *path, int flags)
{
    if (matches(str_of(pattern), str_of(path), flags))
        fail_msg("%s must not match %s", pattern, path);
}

/* --- the vectors of globset --- */

static int flags_of(const struct json *options)
{
    int flags = 0;

    if (str_is(json_get_text(options, "casei"), "true"))
        flags |= GLOB_NOCASE;
    if (str_is(json_get_text(options, "litsep"), "true"))
        flags |= GLOB_LITERAL_SEPARATOR;
    if (str_is(json_get_text(options, "bsesc"), "false"))
        flags |= GLOB_NO_ESCAPE;
    if (str_is(json_get_text(options, "ealtre"), "true"))
        flags |= GLOB_EMPTY_ALTERNATES;
    return flags;
}

/* Three cases are globset's expectations on Windows, where a backslash separates directories;
 * two of them contradict the case of the same name for Unix that stands before them. */
static bool is_for_windows(struct str name, struct str path, bool want)
{
    return (str_is(name, "matchslash2") && str_is(path, "abc\\def")) ||
           (str_is(name, "matchslash5") && want) || str_is(name, "matchbackslash8");
}

TEST(the_public_vectors_agree)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    const char *path = shared_path("vectors/glob-globset.json");
    struct json *root;
    size_t n_checked = 0, n_windows = 0;

    if (!path)
        skip();
    text = read_file(path);
    assert_ok(json_parse(&a, strbuf_str(&text), 0, &root));
    json_each (c, json_get(root, "cases")) {
        struct str name = json_get_text(c, "name"), file = json_get_text(c, "path");
        bool want = json_bool(json_get(c, "match"), false);

        if (is_for_windows(name, file, want)) {
            n_windows++;
            continue;
        }
        if (matches(json_get_text(c, "pattern"), file, flags_of(json_get(c, "options"))) != want)
            fail_msg("%" STR_FMT " must %smatch", STR_ARG(name), want ? "" : "not ");
        n_checked++;
    }
    assert_int_equal(n_checked, 125);
    assert_int_equal(n_windows, 3);
}

/* --- what the vectors leave open --- */

TEST(a_pattern_that_is_not_valid_is_refused_and_the_place_is_named)
{
    static const struct {
        const char *pattern, *text;
    } cases[] = {
        {"a[", "the glob pattern \"a[\": the '[' is not closed at byte 2"},
        {"[]", "the glob pattern \"[]\": the '[' is not closed at byte 1"},
        {"[!", "the glob pattern \"[!\": the '[' is not closed at byte 1"},
        {"[!]", "the glob pattern \"[!]\": the '[' is not closed at byte 1"},
        {"[z-a]", "the glob pattern \"[z-a]\": the range ends before it starts at byte 2"},
        {"[z--]", "the glob pattern \"[z--]\": the range ends before it starts at byte 2"},
        {"x{a,b", "the glob pattern \"x{a,b\": the '{' is not closed at byte 2"},
        {"{a,{b,c}", "the glob pattern \"{a,{b,c}\": the '{' is not closed at byte 1"},
        {"a,b}", "the glob pattern \"a,b}\": the '}' has no matching '{' at byte 4"},
        {"{a,b}}", "the glob pattern \"{a,b}}\": the '}' has no matching '{' at byte 6"},
        {"ab\\", "the glob pattern \"ab\\\": nothing follows the backslash at byte 3"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct glob *g = NULL;
        AUTO(err) struct err *e = glob_compile(str_of(cases[i].pattern), 0, &g);

        assert_null(g);
        assert_true(err_is(e, ERR_VALIDATION));
        assert_string_equal(e->text, cases[i].text);
        assert_non_null(err_find_hint(e));
    }
}

TEST(a_question_mark_takes_a_whole_character_and_a_bad_byte_is_one)
{
    assert_match("?", "\xE2\x98\x83", 0);
    assert_no_match("??", "\xE2\x98\x83", 0);
    assert_match("a?.c", "a\xFF.c", 0);
    assert_match("??", "\xE2\x98", 0);
    assert_match("*\xFF", "abc\xFF", 0);
    assert_no_match("\xC3*", "\xC3\x80", 0);
    assert_match("\xC3*", "\xC3x", 0);
}

TEST(classes_take_whole_characters)
{
    assert_match("[\xC3\xA0-\xC3\xBC]", "\xC3\xA4", 0);
    assert_no_match("[\xC3\xA0-\xC3\xBC]", "\xC3\xBF", 0);
    assert_match("[!a]", "\xE2\x98\x83", 0);
    assert_match("[!a]", "\xFF", 0);
}

TEST(letters_of_both_cases_are_one_when_case_does_not_count)
{
    assert_match("*.TXT", "a.txt", GLOB_NOCASE);
    assert_match("[A-C]x?Y", "bXzy", GLOB_NOCASE);
    assert_match("[a-c]*", "B", GLOB_NOCASE);
    assert_no_match("[!A]", "a", GLOB_NOCASE);
    assert_no_match("[!a]", "A", GLOB_NOCASE);
    assert_no_match("\xC3\xA4", "\xC3\x84", GLOB_NOCASE);
    assert_no_match("*.TXT", "a.txt", 0);
}

TEST(with_literal_separators_only_double_stars_and_named_slashes_cross)
{
    int flags = GLOB_LITERAL_SEPARATOR;

    assert_no_match("a*c", "a/c", flags);
    assert_no_match("a?c", "a/c", flags);
    assert_no_match("a[!b]c", "a/c", flags);
    assert_match("a[/]c", "a/c", flags);
    assert_match("a/**/c", "a/c", flags);
    assert_match("a/**/c", "a/b/b/c", flags);
    assert_match("**/c", "a/b/c", flags);
    assert_match("a/**", "a/b/c", flags);
    assert_no_match("a**c", "a/c", flags);
    assert_no_match("a/**c", "a/b/c", flags);
    assert_no_match("**a", "b/a", flags);
    assert_match("**", "a/b/c", flags);
    assert_match("**/", "a/b/c", flags);
    assert_match("**/*.c", "x.c", flags);
    assert_match("**/*.c", "a/b/x.c", flags);
    assert_no_match("*.c", "a/x.c", flags);
}

TEST(a_double_star_in_braces_stands_for_directories_where_it_would_without)
{
    int flags = GLOB_LITERAL_SEPARATOR;

    assert_match("{**/src,lib}/*.c", "a/b/src/x.c", flags);
    assert_match("{**/src,lib}/*.c", "lib/x.c", flags);
    assert_match("a/{**,b}", "a/x/y", flags);
    assert_match("a/{**/,}b", "a/x/y/b", flags);
    assert_no_match("a{**/b,c}", "a/x/b", flags);
    assert_match("a{**/b,c}", "ax/b", flags);
}

TEST(braces_nest_and_empty_alternatives_count_only_when_asked)
{
    assert_match("{a,b{c,d{e,f}}}g", "bdfg", 0);
    assert_no_match("{a,b{c,d{e,f}}}g", "bdg", 0);
    assert_match("x{,y}z", "xyz", 0);
    assert_no_match("x{,y}z", "xz", 0);
    assert_match("x{,y}z", "xz", GLOB_EMPTY_ALTERNATES);
    assert_no_match("x{y,}z", "xz", 0);
    assert_match("x{y,}z", "xz", GLOB_EMPTY_ALTERNATES);
    assert_match("x{y,,w}z", "xwz", 0);
    assert_match("x{{},{,}}z", "xz", 0);
    assert_match("{a,b}.{c,h}", "b.c", 0);
    assert_match("\\{a,b\\}", "{a,b}", 0);
}

TEST(braces_are_ordinary_when_they_are_switched_off)
{
    assert_match("{a,b}", "{a,b}", GLOB_NO_BRACES);
    assert_no_match("{a,b}", "a", GLOB_NO_BRACES);
    assert_match("}{", "}{", GLOB_NO_BRACES);
}

TEST(an_escaped_star_is_text_and_a_backslash_may_be_ordinary)
{
    assert_match("a\\*b*", "a*bc", 0);
    assert_no_match("a\\*b*", "axbc", 0);
    assert_match("a\\*", "a\\b", GLOB_NO_ESCAPE);
    assert_match("[\\]", "\\", 0);
}

TEST(git_reads_classes_byte_by_byte)
{
    assert_no_match("?", "\xC3\xA4", GLOB_GIT);
    assert_match("??", "\xC3\xA4", GLOB_GIT);
    assert_match("[[:alpha:]_]*", "_x", GLOB_GIT);
    assert_no_match("[![:digit:]]", "7", GLOB_GIT);
    assert_match("[[:x]", ":", GLOB_GIT);
    assert_match("[\\]]", "]", GLOB_GIT);
    assert_match("[\\a-\\c]", "b", GLOB_GIT);
    assert_match("[c-a]", "c", GLOB_GIT);
    assert_no_match("[c-a]", "b", GLOB_GIT);
    assert_no_match("a[/]b", "a/b", GLOB_GIT);
    assert_no_match("a[!x]b", "a/b", GLOB_GIT);
    assert_match("{a,b}", "{a,b}", GLOB_GIT);
}

TEST(a_class_name_that_git_does_not_know_is_refused)
{
    struct glob *g;

    assert_err(glob_compile(S("[[:nope:]]"), GLOB_GIT, &g), ERR_VALIDATION);
    assert_err(glob_compile(S("[[:alpha:]"), GLOB_GIT, &g), ERR_VALIDATION);
}

/* --- hostile patterns --- */

TEST(a_pattern_that_would_take_backtracking_for_ever_is_matched_at_once)
{
    AUTO(strbuf) struct strbuf pattern = {0}, path = {0};

    for (int i = 0; i < 1000; i++)
        strbuf_add_cstr(&pattern, "a*?*");
    strbuf_add_char(&pattern, 'b');
    for (int i = 0; i < 4000; i++)
        strbuf_add_char(&path, 'a');
    assert_false(matches(strbuf_str(&pattern), strbuf_str(&path), 0));
    strbuf_add_char(&path, 'b');
    assert_true(matches(strbuf_str(&pattern), strbuf_str(&path), 0));
}

TEST(braces_in_a_row_do_not_multiply)
{
    AUTO(strbuf) struct strbuf pattern = {0}, path = {0};

    for (int i = 0; i < 500; i++) {
        strbuf_add_cstr(&pattern, "{a,aa,b}");
        strbuf_add_char(&path, 'a');
    }
    assert_true(matches(strbuf_str(&pattern), strbuf_str(&path), 0));
    strbuf_add_char(&path, 'c');
    assert_false(matches(strbuf_str(&pattern), strbuf_str(&path), 0));
}

TEST(length_and_depth_are_capped)
{
    AUTO(strbuf) struct strbuf pattern = {0};
    AUTO(glob) struct glob *g = NULL;
    struct glob *none;

    for (int i = 0; i < GLOB_MAX_DEPTH; i++)
        strbuf_add_cstr(&pattern, "{a,");
    for (int i = 0; i < GLOB_MAX_DEPTH; i++)
        strbuf_add_cstr(&pattern, "b}");
    assert_ok(glob_compile(strbuf_str(&pattern), 0, &g));
    strbuf_clear(&pattern);
    for (int i = 0; i <= GLOB_MAX_DEPTH; i++)
        strbuf_add_char(&pattern, '{');
    assert_err(glob_compile(strbuf_str(&pattern), 0, &none), ERR_VALIDATION);

    strbuf_clear(&pattern);
    strbuf_add_char(&pattern, '{');
    while (pattern.n < GLOB_MAX_PATTERN - 1)
        strbuf_add_char(&pattern, ',');
    strbuf_add_char(&pattern, '}');
    assert_true(matches(strbuf_str(&pattern), S(""), GLOB_EMPTY_ALTERNATES));
    strbuf_add_char(&pattern, 'x');
    assert_err(glob_compile(strbuf_str(&pattern), 0, &none), ERR_VALIDATION);
}

/* --- against regular expressions --- */

static uint64_t seed = 1;

static unsigned below(unsigned bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % bound;
}

/* The same thing in two languages: tokens with literal separators, and what they mean. */
static const struct {
    const char *glob, *regex;
} tokens[] = {
    {"a", "a"},    {"b", "b"},          {"ab", "ab"},      {"*", "[^/]*"},
    {"?", "[^/]"}, {"[ab]", "[ab]"},    {"[!a]", "[^a/]"}, {"[a-c]", "[a-c]"},
    {"/", "/"},    {"/**/", "/(.*/)?"}, {"\\*", "\\*"},    {"/a**", "/a[^/]*"},
};

static void add_both(struct strbuf *glob, struct strbuf *regex, unsigned depth)
{
    unsigned n = 1 + below(4);

    for (unsigned i = 0; i < n; i++) {
        if (depth && below(4) == 0) {
            unsigned n_alternatives = 1 + below(3);

            for (unsigned k = 0; k < n_alternatives; k++) {
                strbuf_add_char(glob, k ? ',' : '{');
                strbuf_add_char(regex, k ? '|' : '(');
                add_both(glob, regex, depth - 1);
            }
            strbuf_add_char(glob, '}');
            strbuf_add_char(regex, ')');
        } else {
            unsigned t = below(ARRAY_LEN(tokens));

            if (tokens[t].glob[0] == '*' && str_ends(strbuf_str(glob), S("*")))
                continue; /* two stars would be another token */
            strbuf_add_cstr(glob, tokens[t].glob);
            strbuf_add_cstr(regex, tokens[t].regex);
        }
    }
}

TEST(ten_thousand_random_patterns_match_what_the_regular_expression_matches)
{
    size_t n_hits = 0;

    for (int i = 0; i < 10000; i++) {
        AUTO(strbuf) struct strbuf glob = {0}, regex = {0};
        AUTO(glob) struct glob *g = NULL;
        regex_t re;

        strbuf_add_char(&regex, '^');
        add_both(&glob, &regex, 2);
        strbuf_add_char(&regex, '$');
        assert_int_equal(regcomp(&re, strbuf_cstr(&regex), REG_EXTENDED | REG_NOSUB), 0);
        assert_ok(glob_compile(strbuf_str(&glob), GLOB_LITERAL_SEPARATOR, &g));
        for (int k = 0; k < 20; k++) {
            char path[16] = "";
            unsigned n = below(9);
            bool want;

            for (unsigned c = 0; c < n; c++)
                path[c] = "aaabbc/*"[below(8)];
            want = regexec(&re, path, 0, NULL, 0) == 0;
            n_hits += want;
            if (glob_matches(g, str_of(path)) != want)
                fail_msg("%s must %smatch %s", strbuf_cstr(&glob), want ? "" : "not ", path);
        }
        regfree(&re);
    }
    assert_true(n_hits > 1000);
}

RUN_TESTS(UNIT(the_public_vectors_agree),
          UNIT(a_pattern_that_is_not_valid_is_refused_and_the_place_is_named),
          UNIT(a_question_mark_takes_a_whole_character_and_a_bad_byte_is_one),
          UNIT(classes_take_whole_characters),
          UNIT(letters_of_both_cases_are_one_when_case_does_not_count),
          UNIT(with_literal_separators_only_double_stars_and_named_slashes_cross),
          UNIT(a_double_star_in_braces_stands_for_directories_where_it_would_without),
          UNIT(braces_nest_and_empty_alternatives_count_only_when_asked),
          UNIT(braces_are_ordinary_when_they_are_switched_off),
          UNIT(an_escaped_star_is_text_and_a_backslash_may_be_ordinary),
          UNIT(git_reads_classes_byte_by_byte),
          UNIT(a_class_name_that_git_does_not_know_is_refused),
          UNIT(a_pattern_that_would_take_backtracking_for_ever_is_matched_at_once),
          UNIT(braces_in_a_row_do_not_multiply), UNIT(length_and_depth_are_capped),
          UNIT(ten_thousand_random_patterns_match_what_the_regular_expression_matches))
