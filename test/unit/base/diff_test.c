/* diff_test.c */
#include "test.h"

#include "base/diff.h"
#include "diff_apply.h"

static void diff3(struct strbuf *out, const char *old_text, const char *new_text)
{
    diff_unified(out, S("a"), str_of(old_text), S("b"), str_of(new_text), 3, NULL);
}

static void assert_diff(const char *old_text, const char *new_text, const char *want)
{
    AUTO(strbuf) struct strbuf out = {0};

    diff3(&out, old_text, new_text);
    assert_str(strbuf_str(&out), want);
}

/* Fails unless the diff leads from the old text to the new one. */
static void assert_applies(struct str old_text, struct str diff, struct str new_text)
{
    AUTO(strbuf) struct strbuf out = {0};

    assert_ok(diff_apply(&out, old_text, diff));
    assert_true(str_eq(strbuf_str(&out), new_text));
}

/* --- the form --- */

TEST(equal_texts_give_nothing)
{
    struct diff_stat stat = {7, 7, 7};
    AUTO(strbuf) struct strbuf out = {0};

    diff_unified(&out, S("a"), S("x\ny"), S("b"), S("x\ny"), 3, &stat);
    assert_int_equal(out.n, 0);
    assert_int_equal(stat.n_added + stat.n_removed + stat.first_line, 0);
    assert_diff("", "", "");
}

TEST(a_change_stands_between_three_lines_of_context)
{
    assert_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
                "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(a_range_of_one_line_has_no_length_and_an_empty_one_names_the_line_before)
{
    assert_diff("x\n", "y\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n");
    assert_diff("", "x\n", "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n");
    assert_diff("x\ny\n", "", "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-x\n-y\n");
}

TEST(a_missing_line_end_is_told_on_the_side_that_lacks_it)
{
    assert_diff("x\ny", "x\ny\n",
                "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n");
    assert_diff("x\ny\n", "x\nz",
                "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n\\ No newline at end of file\n");
    assert_diff("x\ny", "w\ny",
                "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x\n+w\n y\n\\ No newline at end of file\n");
}

TEST(changes_six_lines_apart_share_a_hunk_and_changes_seven_apart_do_not)
{
    assert_diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
                "--- a\n+++ b\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
    assert_diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
                "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
                "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

TEST(without_context_only_the_changes_are_shown)
{
    AUTO(strbuf) struct strbuf out = {0};

    diff_unified(&out, S(""), S("1\n2\n3\n4\n"), S(""), S("1\n3\nx\n4\n"), 0, NULL);
    assert_str(strbuf_str(&out), "@@ -2 +1,0 @@\n-2\n@@ -3,0 +3 @@\n+x\n");
}

TEST(a_new_function_ends_with_its_own_brace)
{
    assert_diff("f()\n{\n  x;\n}\n", "f()\n{\n  x;\n}\n\ng()\n{\n  x;\n}\n",
                "--- a\n+++ b\n@@ -2,3 +2,8 @@\n {\n   x;\n }\n+\n+g()\n+{\n+  x;\n+}\n");
    assert_diff("q\nf\n{\n}\nz\n", "Q\nf\n{\n}\ng\n{\n}\nz\n",
                "--- a\n+++ b\n@@ -1,5 +1,8 @@\n-q\n+Q\n f\n {\n }\n+g\n+{\n+}\n z\n");
}

TEST(the_statistics_count_lines_and_name_the_first_that_differs)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct diff_stat stat;

    diff_unified(&out, S(""), S("1\n2\n3\n"), S(""), S("1\n2\nx\ny\n"), 3, &stat);
    assert_int_equal(stat.n_added, 2);
    assert_int_equal(stat.n_removed, 1);
    assert_int_equal(stat.first_line, 3);
}

TEST(a_file_name_cannot_forge_a_line_of_the_diff)
{
    AUTO(strbuf) struct strbuf out = {0};

    diff_unified(&out, S("a\n@@ -1 +1 @@"), S("x\n"), S("say \"b\\\""), S("y\n"), 3, NULL);
    assert_str(strbuf_str(&out), "--- \"a\\012@@ -1 +1 @@\"\n+++ \"say \\\"b\\\\\\\"\"\n"
                                 "@@ -1 +1 @@\n-x\n+y\n");
    assert_applies(S("x\n"), strbuf_str(&out), S("y\n"));
}

/* --- applying --- */

TEST(a_diff_that_does_not_fit_is_refused_and_nothing_is_appended)
{
    static const struct {
        const char *old_text, *diff, *error;
    } cases[] = {
        {"x\n", "garbage\n", "line 1 of the diff: expected the start of a hunk"},
        {"x\n", "--- a\nx\n", "line 2 of the diff: a +++ line must follow the --- line"},
        {"x\n", "@@ -1 +1 @@\n-y\n+z\n", "line 2 of the diff: the text has a different line there"},
        {"x\n", "@@ -1 +1 @@\n-x\n", "line 2 of the diff: the diff ends within a hunk"},
        {"x\n", "@@ -5 +5 @@\n-x\n+y\n", "line 1 of the diff: the text has fewer lines"},
        {"x\n", "@@ -0 +1 @@\n-x\n+y\n", "line 1 of the diff: expected the start of a hunk"},
        {"x\n", "@@ -1 +2 @@\n-x\n+y\n",
         "line 1 of the diff: the hunk does not follow the one before"},
        {"x\n", "@@ -1 +1 @@\n-x\n-x\n",
         "line 3 of the diff: the hunk does not have the lines that its header announces"},
        {"x\n", "@@ -1 +1 @@\n?x\n",
         "line 2 of the diff: the hunk does not have the lines that its header announces"},
        {"x\n", "@@ -1,2 +1,2 @@\n x\n-y\n+z\n", "line 3 of the diff: the text has fewer lines"},
        {"x", "@@ -1 +1 @@\n-x\n+y\n", "line 2 of the diff: the text has a different line there"},
        {"x\ny\n", "@@ -1 +1 @@\n-x\n+z\n\\ No newline at end of file\n",
         "line 4 of the diff: a line without a line end is not the last one"},
        {"x\n", "@@ -1 +99999999999999999999 @@\n",
         "line 1 of the diff: expected the start of a hunk"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(strbuf) struct strbuf out = {0};
        AUTO(err) struct err *e = NULL;

        strbuf_add_cstr(&out, "before");
        e = diff_apply(&out, str_of(cases[i].old_text), str_of(cases[i].diff));
        assert_true(err_is(e, ERR_VALIDATION));
        assert_string_equal(e->text, cases[i].error);
        assert_str(strbuf_str(&out), "before");
    }
}

TEST(an_empty_diff_changes_nothing)
{
    assert_applies(S("x\ny"), S(""), S("x\ny"));
    assert_applies(S(""), S(""), S(""));
}

/* --- properties --- */

static uint64_t seed = 88172645463325252u;

static unsigned below(unsigned bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % bound;
}

static void add_random_line(struct strbuf *out, unsigned n_kinds)
{
    strbuf_addf(out, "%u\n", below(n_kinds));
}

static void make_random(struct strbuf *out, unsigned n_kinds)
{
    for (unsigned n = below(40); n > 0; n--)
        add_random_line(out, n_kinds);
}

/* The same text with a few lines added and removed. */
static void make_edited(struct strbuf *out, struct str text, unsigned n_kinds)
{
    struct str line;

    while (text.n && str_split(&text, '\n', &line)) {
        if (below(8) == 0)
            add_random_line(out, n_kinds);
        if (below(8) != 0)
            strbuf_addf(out, "%" STR_FMT "\n", STR_ARG(line));
    }
}

static void make_pair(struct strbuf *old_text, struct strbuf *new_text)
{
    unsigned n_kinds = 2 + below(30);

    make_random(old_text, n_kinds);
    if (below(3))
        make_edited(new_text, strbuf_str(old_text), n_kinds);
    else
        make_random(new_text, n_kinds);
    if (below(4) == 0 && old_text->n)
        strbuf_cut(old_text, old_text->n - 1);
    if (below(4) == 0 && new_text->n)
        strbuf_cut(new_text, new_text->n - 1);
}

TEST(applying_the_diff_of_any_two_texts_gives_the_second)
{
    for (int i = 0; i < 5000; i++) {
        AUTO(strbuf) struct strbuf old_text = {0}, new_text = {0}, diff = {0};

        make_pair(&old_text, &new_text);
        diff_unified(&diff, S("a"), strbuf_str(&old_text), S("b"), strbuf_str(&new_text), below(5),
                     NULL);
        assert_applies(strbuf_str(&old_text), strbuf_str(&diff), strbuf_str(&new_text));
    }
}

static size_t split_lines(struct str text, struct str *lines)
{
    size_t n = 0;

    while (text.n) {
        size_t end = str_find_char(text, '\n');

        lines[n] = str_slice(text, 0, end == STR_NONE ? text.n : end + 1);
        text = str_skip(text, lines[n++].n);
    }
    return n;
}

/* The textbook's way, with a table of all pairs. */
static size_t longest_common(struct str old_text, struct str new_text)
{
    struct str a[128], b[128];
    size_t n = split_lines(old_text, a), m = split_lines(new_text, b);
    size_t best[128][128] = {0};

    for (size_t i = n; i-- > 0;)
        for (size_t k = m; k-- > 0;)
            best[i][k] =
                str_eq(a[i], b[k]) ? best[i + 1][k + 1] + 1 : MAX(best[i + 1][k], best[i][k + 1]);
    return best[0][0];
}

TEST(no_shorter_diff_exists)
{
    for (int i = 0; i < 1000; i++) {
        AUTO(strbuf) struct strbuf old_text = {0}, new_text = {0}, diff = {0};
        struct diff_stat stat;
        struct str lines[128];
        size_t n_common;

        make_pair(&old_text, &new_text);
        n_common = longest_common(strbuf_str(&old_text), strbuf_str(&new_text));
        diff_unified(&diff, S(""), strbuf_str(&old_text), S(""), strbuf_str(&new_text), 3, &stat);
        assert_int_equal(stat.n_removed, split_lines(strbuf_str(&old_text), lines) - n_common);
        assert_int_equal(stat.n_added, split_lines(strbuf_str(&new_text), lines) - n_common);
    }
}

/* --- hostile texts --- */

static void check_large(const struct strbuf *old_text, const struct strbuf *new_text)
{
    AUTO(strbuf) struct strbuf diff = {0};

    diff_unified(&diff, S("a"), strbuf_str(old_text), S("b"), strbuf_str(new_text), 3, NULL);
    assert_applies(strbuf_str(old_text), strbuf_str(&diff), strbuf_str(new_text));
}

TEST(a_hundred_thousand_lines_that_all_differ_are_no_trouble)
{
    AUTO(strbuf) struct strbuf old_text = {0}, new_text = {0};

    for (int i = 0; i < 100000; i++) {
        strbuf_addf(&old_text, "old %d\n", i);
        strbuf_addf(&new_text, "new %d\n", i);
    }
    check_large(&old_text, &new_text);
}

TEST(lines_that_are_alike_everywhere_do_not_cost_the_square_of_their_number)
{
    AUTO(strbuf) struct strbuf old_text = {0}, new_text = {0};

    for (int i = 0; i < 100000; i++) {
        add_random_line(&old_text, 500);
        add_random_line(&new_text, 500);
    }
    check_large(&old_text, &new_text);
}

TEST(more_lines_than_are_compared_become_one_change)
{
    AUTO(strbuf) struct strbuf old_text = {0}, new_text = {0}, diff = {0};
    struct diff_stat stat;

    strbuf_add_cstr(&old_text, "same\nold\n");
    strbuf_add_cstr(&new_text, "same\nnew\n");
    for (int i = 0; i < 600000; i++)
        strbuf_add_cstr(&new_text, "\n");
    strbuf_add_cstr(&old_text, "tail\n");
    strbuf_add_cstr(&new_text, "tail\n");
    diff_unified(&diff, S("a"), strbuf_str(&old_text), S("b"), strbuf_str(&new_text), 3, &stat);
    assert_int_equal(stat.n_removed, 1);
    assert_int_equal(stat.n_added, 600001);
    assert_int_equal(stat.first_line, 2);
    assert_applies(strbuf_str(&old_text), strbuf_str(&diff), strbuf_str(&new_text));
}

/* Lines that all want the same place in a small hash table. */
TEST(lines_whose_hashes_collide_make_the_diff_longer_but_not_wrong)
{
    AUTO(strbuf) struct strbuf old_text = {0}, new_text = {0}, diff = {0};
    struct diff_stat stat;
    unsigned n = 0;

    strbuf_add_cstr(&old_text, "first\n");
    strbuf_add_cstr(&new_text, "other\n");
    for (unsigned i = 0; n < 200; i++) {
        char line[32];

        snprintf(line, sizeof line, "%u\n", i);
        if (str_hash(str_of(line)) % 1024 != 0)
            continue;
        strbuf_add_cstr(&old_text, line);
        strbuf_add_cstr(&new_text, line);
        n++;
    }
    strbuf_add_cstr(&old_text, "last\n");
    strbuf_add_cstr(&new_text, "end\n");
    diff_unified(&diff, S("a"), strbuf_str(&old_text), S("b"), strbuf_str(&new_text), 3, &stat);
    assert_in_range(stat.n_removed, 3, 201);
    assert_applies(strbuf_str(&old_text), strbuf_str(&diff), strbuf_str(&new_text));
}

RUN_TESTS(UNIT(equal_texts_give_nothing), UNIT(a_change_stands_between_three_lines_of_context),
          UNIT(a_range_of_one_line_has_no_length_and_an_empty_one_names_the_line_before),
          UNIT(a_missing_line_end_is_told_on_the_side_that_lacks_it),
          UNIT(changes_six_lines_apart_share_a_hunk_and_changes_seven_apart_do_not),
          UNIT(without_context_only_the_changes_are_shown),
          UNIT(a_new_function_ends_with_its_own_brace),
          UNIT(the_statistics_count_lines_and_name_the_first_that_differs),
          UNIT(a_file_name_cannot_forge_a_line_of_the_diff),
          UNIT(a_diff_that_does_not_fit_is_refused_and_nothing_is_appended),
          UNIT(an_empty_diff_changes_nothing),
          UNIT(applying_the_diff_of_any_two_texts_gives_the_second), UNIT(no_shorter_diff_exists),
          UNIT(a_hundred_thousand_lines_that_all_differ_are_no_trouble),
          UNIT(lines_that_are_alike_everywhere_do_not_cost_the_square_of_their_number),
          UNIT(more_lines_than_are_compared_become_one_change),
          UNIT(lines_whose_hashes_collide_make_the_diff_longer_but_not_wrong))
