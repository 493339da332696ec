/* edit_match_test.c */
#include "test.h"

#include "tool/edit/match.h"

static struct edit edit_of(const char *old_text, const char *new_text)
{
    return (struct edit){str_of(old_text), str_of(new_text), false};
}

static struct edit edit_all(const char *old_text, const char *new_text)
{
    return (struct edit){str_of(old_text), str_of(new_text), true};
}

/* One edit that leads from `text` to `want`. */
static struct edit_report assert_edit(const char *text, struct edit edit, const char *want)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct edit_report report;

    assert_ok(edit_apply(str_of(text), &edit, 1, &out, &report));
    assert_str(strbuf_str(&out), want);
    return report;
}

static void assert_exact(const char *text, const char *old_text, const char *new_text,
                         const char *want)
{
    struct edit_report report = assert_edit(text, edit_of(old_text, new_text), want);

    assert_false(report.was_normalised);
    assert_int_equal(report.n_replaced, 1);
}

static void assert_normalised(const char *text, const char *old_text, const char *new_text,
                              const char *want)
{
    struct edit_report report = assert_edit(text, edit_of(old_text, new_text), want);

    assert_true(report.was_normalised);
    assert_int_equal(report.n_replaced, 1);
}

static void assert_fails(const char *text, const struct edit *edits, size_t n_edits,
                         const char *message)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct edit_report report;
    AUTO(err) struct err *e = edit_apply(str_of(text), edits, n_edits, &out, &report);
    AUTO_FREE char *got = e ? err_message(e) : NULL;

    assert_non_null(e);
    assert_int_equal(e->kind, ERR_TOOL_FAILED);
    assert_string_equal(got, message);
    assert_int_equal(out.n, 0);
}

static void assert_refused(const char *text, struct edit edit, const char *message)
{
    assert_fails(text, &edit, 1, message);
}

/* --- exactly --- */

TEST(a_unique_text_is_replaced)
{
    assert_exact("one two three\n", "two", "2", "one 2 three\n");
    assert_exact("one\ntwo\nthree\n", "two\n", "", "one\nthree\n");
    assert_exact("a", "a", "b", "b");
}

TEST(an_exact_match_is_taken_even_if_others_would_fit_loosely)
{
    assert_exact("a  b\na b\na\tb\n", "a b", "x", "a  b\nx\na\tb\n");
}

TEST(an_exact_match_writes_the_new_text_as_it_is)
{
    assert_exact("\tif x:\n\t\ty\n", "\t\ty", "    y \xE2\x80\x9Cz\xE2\x80\x9D  ",
                 "\tif x:\n    y \xE2\x80\x9Cz\xE2\x80\x9D  \n");
}

TEST(a_line_that_is_removed_goes_with_its_end)
{
    assert_exact("a\nb\nc\n", "b", "", "a\nc\n");
    assert_exact("a\n  b  \nc\n", "b", "", "a\nc\n");
    assert_exact("a\r\nb\r\nc\r\n", "b", "", "a\r\nc\r\n");
    assert_exact("a\nb\nc\nd\n", "b\nc", "", "a\nd\n");
    assert_normalised("a\n  b\n    c\nd\n", "b\n  c", "", "a\nd\n");
    /* but not that of another */
    assert_exact("x b\nc\n", "b", "", "x \nc\n");
    assert_exact("b x\nc\n", "b", "", " x\nc\n");
    assert_exact("a\n\nb\nc\n", "\nb", "", "a\n\nc\n");
    assert_exact("a\nb\nc\n", "b\n", "", "a\nc\n");
    assert_edit("x\ny\nx x\nx", edit_all("x", ""), "y\n \n");
}

TEST(a_text_that_is_there_twice_is_refused_with_its_lines)
{
    assert_refused("x\na\nx\n", edit_of("x", "y"),
                   "old_string occurs in the file 2 times, at lines 1, 3");
    assert_refused("x\nx\nx\nx\nx x\nx\n", edit_of("x", "y"),
                   "old_string occurs in the file 7 times, at lines 1, 2, 3, 4, 5 and others");
    assert_refused("a\nx x x\n", edit_of("x", "y"),
                   "old_string occurs in the file 3 times, at line 2");
}

TEST(two_places_that_overlap_are_two_places)
{
    assert_refused("}\n}\n}\n", edit_of("}\n}\n", "}\n"),
                   "old_string occurs in the file 2 times, at lines 1, 2");
}

TEST(replace_all_replaces_each)
{
    struct edit_report report =
        assert_edit("x\na x\nxx\n", edit_all("x", "yy"), "yy\na yy\nyyyy\n");

    assert_int_equal(report.n_replaced, 4);
    assert_false(report.was_normalised);
    assert_edit("aaa", edit_all("aa", "b"), "ba");
}

/* --- several edits --- */

TEST(each_edit_works_on_the_result_of_the_one_before)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct edit edits[] = {edit_of("a", "b\nc"), edit_of("c", "d"), edit_all("d", "e")};
    struct edit_report report;

    strbuf_add_cstr(&out, "before:");
    assert_ok(edit_apply(S("1\na\n"), edits, 3, &out, &report));
    assert_str(strbuf_str(&out), "before:1\nb\ne\n");
    assert_int_equal(report.n_replaced, 3);
    assert_int_equal(report.first_line, 2);
}

TEST(an_edit_that_fails_is_named_and_nothing_is_written)
{
    struct edit edits[] = {edit_of("a", "b"), edit_of("a", "c")};

    assert_fails("1\na\n", edits, 2,
                 "edit 2 of 2: old_string is not in the file, nor is anything similar");
}

TEST(the_number_of_edits_is_bounded)
{
    struct edit edits[EDIT_MAX_EDITS + 1];

    for (size_t i = 0; i < ARRAY_LEN(edits); i++)
        edits[i] = edit_of("a", "aa");
    assert_fails("a", edits, 0, "edits must have 1 to 100 items, not 0");
    assert_fails("a", edits, 101, "edits must have 1 to 100 items, not 101");
}

TEST(the_report_names_the_first_line_that_differs)
{
    assert_int_equal(
        assert_edit("a\nb\nc\n", edit_of("a\nb\nc", "a\nb\nx"), "a\nb\nx\n").first_line, 3);
    assert_int_equal(assert_edit("a\n", edit_of("a\n", "a\nb\n"), "a\nb\n").first_line, 2);
}

TEST(a_result_over_the_cap_of_the_buffer_is_an_error)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct edit edit = edit_all("a", "0123456789");
    struct edit_report report;

    strbuf_init(&out, 64);
    assert_err(edit_apply(S("aaaaaaaa"), &edit, 1, &out, &report), ERR_VALIDATION);
    assert_int_equal(out.n, 0);
}

/* --- line ends --- */

TEST(in_a_file_with_crlf_a_text_with_lf_matches_and_is_written_with_crlf)
{
    assert_exact("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n");
    assert_exact("a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n");
    assert_exact("a\r\nb", "b", "x\ny", "a\r\nx\r\ny");
}

TEST(a_carriage_return_is_never_split_from_its_newline)
{
    assert_exact("a\r\nb\r\n", "\nb", "\nx", "a\r\nx\r\n");
    assert_exact("a\r\nb\r\n", "a\n", "", "b\r\n");
    assert_refused("a\r\nb\r\n", edit_of("\r", "x"),
                   "old_string is not in the file, nor is anything similar");
}

TEST(in_a_file_with_lf_a_text_with_crlf_matches_and_is_written_with_lf)
{
    assert_exact("a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\nc\n");
    assert_exact("a\nb\n", "b", "x\r\ny", "a\nx\ny\n");
}

TEST(in_a_mixed_file_the_new_text_takes_the_line_end_of_the_place)
{
    assert_exact("a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n");
    assert_exact("a\nb\r\nc\n", "c", "x\ny", "a\nb\r\nx\ny\n");
    assert_exact("a\nb\r\nc\n", "b\nc", "b\nx\nc", "a\nb\r\nx\r\nc\n");
    /* a line that is changed keeps its own */
    assert_exact("a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", "a\r\nB\nc\r\n");
    assert_exact("a\r\nb\nc\r\n", "a\nb\nc\n", "A\nB\nC\n", "A\r\nB\nC\r\n");
    assert_exact("a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nx\nc\n", "a\r\nB\nx\nc\r\n");
    assert_normalised("a  \r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", "a  \r\nB\nc\r\n");
}

TEST(an_edit_that_names_the_line_ends_of_the_file_may_change_them)
{
    assert_exact("a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n");
}

TEST(a_file_without_line_ends_gets_those_of_the_new_text)
{
    assert_exact("a", "a", "x\r\ny\n", "x\r\ny\n");
}

/* --- the BOM --- */

TEST(a_bom_at_the_start_stays_and_takes_no_part)
{
    assert_exact("\xEF\xBB\xBFone\ntwo\n", "one\n", "1\n",
                 "\xEF\xBB\xBF"
                 "1\ntwo\n");
    assert_exact("\xEF\xBB\xBFone\n", "\xEF\xBB\xBFone", "\xEF\xBB\xBFtwo", "\xEF\xBB\xBFtwo\n");
    assert_refused("\xEF\xBB\xBFone\n", edit_of("\xEF\xBB\xBF", "x"), "old_string is empty");
}

/* --- normalised --- */

TEST(tabs_and_spaces_do_not_matter_and_the_new_text_is_indented_as_the_file_is)
{
    assert_normalised("all:\n\tcc a.c\n\tcc b.c\n", "    cc a.c\n", "    cc -O2 a.c\n    strip\n",
                      "all:\n\tcc -O2 a.c\n\tstrip\n\tcc b.c\n");
    assert_normalised("\tif x:\n\t\ty()\n", "    if x:\n        y()\n",
                      "    if x:\n        if z:\n            y()\n",
                      "\tif x:\n\t\tif z:\n\t\t\ty()\n");
    assert_normalised("    if x:\n        y()\n", "\tif x:\n\t\ty()\n",
                      "\tif x:\n\t\tif z:\n\t\t\ty()\n",
                      "    if x:\n        if z:\n            y()\n");
}

TEST(an_indentation_that_was_left_out_is_put_back)
{
    assert_normalised("class A:\n    def f(self):\n        return 1\n",
                      "def f(self):\n    return 1\n",
                      "def f(self):\n    return 2\n\ndef g(self):\n    if 1:\n        return 3\n",
                      "class A:\n    def f(self):\n        return 2\n\n    def g(self):\n"
                      "        if 1:\n            return 3\n");
}

TEST(lines_that_the_edit_leaves_keep_the_bytes_of_the_file)
{
    assert_normalised("a \t\nsay \xE2\x80\x9Chi\xE2\x80\x9D\nb\t\n", "a\nsay \"hi\"\nb\n",
                      "a\nsay \"hi\"\nnew\nb\n",
                      "a \t\nsay \xE2\x80\x9Chi\xE2\x80\x9D\nnew\nb\t\n");
    assert_normalised("x = 1;  \n  y = 2;\nz = 3;\t\n", "x = 1;\n  y = 2;\nz = 3;\n",
                      "x = 1;\n  y = 5;\nz = 3;\n", "x = 1;  \n  y = 5;\nz = 3;\t\n");
    /* those between two that change, too */
    assert_normalised("a  \nsay \xE2\x80\x9Chi\xE2\x80\x9D\nb\n", "a\nsay \"hi\"\nb\n",
                      "A\nsay \"hi\"\nB\n", "A  \nsay \xE2\x80\x9Chi\xE2\x80\x9D\nB\n");
}

TEST(a_changed_line_keeps_the_blanks_at_its_end_unless_the_edit_changes_them)
{
    assert_normalised("a = 1  \r\nb\t\r\n", "a = 1\nb\n", "a = 2\nc\n", "a = 2  \r\nc\t\r\n");
    assert_normalised("a = 1  \nb\n", "a = 1 \nb\n", "a = 1\nb\n", "a = 1\nb\n");
}

TEST(blanks_in_the_last_line_without_an_end_stay)
{
    assert_normalised("x\r\na\r\n  ", "a\n\n", "b\n\n", "x\r\nb\r\n  ");
}

TEST(blank_lines_beside_lines_that_are_removed_keep_their_blanks)
{
    assert_normalised("a \nb\n\t\nc\n", "a\nb\n\nc\n", "a\n\nc\n", "a \n\t\nc\n");
    assert_normalised("a \n\t\nb\nc\n", "a\n\nb\nc\n", "a\n\nc\n", "a \n\t\nc\n");
}

TEST(trailing_blanks_do_not_matter)
{
    assert_normalised("a  \nb\n", "a\nb", "x", "x\n");
    assert_normalised("a\nb\n", "a  \nb \n", "x\n", "x\n");
    assert_normalised("a\nb\n", "b  ", "x", "a\nx\n");
    assert_normalised("f()\n\n  \ng()\n", "f()\n  \n\ng()\n", "h()\n", "h()\n");
}

TEST(blanks_inside_of_a_line_are_data)
{
    assert_refused("1\t2\t3\n", edit_of("1 2 3", "1 2 4"),
                   "old_string is not in the file; the most similar text starts at line 1:\n"
                   "1\t1\t2\t3\n"
                   "line 1 differs after \"1\": the file has U+0009 there, old_string "
                   "U+0020");
    assert_refused(
        "print(\"x   y\")\n", edit_of("print(\"x y\")", "print(\"z\")"),
        "old_string is not in the file; the most similar text starts at line 1:\n"
        "1\tprint(\"x   y\")\n"
        "line 1 differs after \"print(\"x \": the file has U+0020 there, old_string U+0079 (y)");
    assert_refused("a\xC2\xA0= 1;\n", edit_of("a = 1;", "a = 2;"),
                   "old_string is not in the file; the most similar text starts at line 1:\n"
                   "1\ta\xC2\xA0= 1;\n"
                   "line 1 differs after \"a\": the file has U+00A0 there, old_string "
                   "U+0020");
}

TEST(a_match_that_is_not_exact_is_no_part_of_a_word)
{
    assert_refused("sub = 1\n  c = 2\n", edit_of("b = 1\nc = 2", "b = 2\nc = 2"),
                   "old_string is not in the file; the most similar text starts at line 1:\n"
                   "1\tsub = 1\n2\t  c = 2");
    assert_refused("a = 1\n  c = 23\n", edit_of("a = 1\nc = 2", "x"),
                   "old_string is not in the file; the most similar text starts at line 1:\n"
                   "1\ta = 1\n2\t  c = 23");
}

TEST(characters_that_look_the_same_are_named)
{
    assert_refused(
        "x\ncafe\xCC\x81 x\n", edit_of("caf\xC3\xA9 x", "tea"),
        "old_string is not in the file; the most similar text starts at line 2:\n"
        "2\tcafe\xCC\x81 x\n"
        "line 2 differs after \"caf\": the file has U+0065 (e) U+0301 there, old_string U+00E9");
    assert_refused("x\nfoo\xE2\x80\x8B"
                   "bar()\n",
                   edit_of("foobar()", "x"),
                   "old_string is not in the file; the most similar text starts at line 2:\n"
                   "2\tfoo\xE2\x80\x8B"
                   "bar()\n"
                   "line 2 differs after \"foo\": the file has U+200B there, old_string "
                   "U+0062 (b)");
}

TEST(a_flat_text_is_not_spread_over_lines_of_several_depths)
{
    assert_refused("svc:\n  image: x\n  ports: y\n",
                   edit_of("svc:\nimage: x\nports: y", "svc:\nimage: z\nports: y"),
                   "old_string is in the file only with other indentation, and how to indent "
                   "new_string is ambiguous; from line 1:\n"
                   "1\tsvc:\n2\t  image: x\n3\t  ports: y");
    assert_refused("    def f():\n        b = 2\n", edit_of("def f():\nb = 2", "def f():\nb = 3"),
                   "old_string is in the file only with other indentation, and how to indent "
                   "new_string is ambiguous; from line 1:\n"
                   "1\t    def f():\n2\t        b = 2");
    /* what is removed, or stays, needs none */
    assert_normalised("svc:\n  image: x\n  ports: y\n", "svc:\nimage: x\nports: y",
                      "svc:\nports: y", "svc:\n  ports: y\n");
}

TEST(an_indentation_that_could_be_two_is_refused)
{
    /* the block moved, or another width */
    assert_refused("x\n    a()\n    b()\n", edit_of("  a()\n  b()\n", "  if x:\n    a()\n  b()\n"),
                   "old_string is in the file only with other indentation, and how to indent "
                   "new_string is ambiguous; from line 2:\n"
                   "2\t    a()\n3\t    b()");
    assert_normalised("x\n    a()\n    b()\n", "  a()\n  b()\n", "  a()\n  c()\n  b()\n",
                      "x\n    a()\n    c()\n    b()\n");
    /* one line that was given without it */
    assert_refused("    say \xE2\x80\x9Chi\xE2\x80\x9D\n",
                   edit_of("say \"hi\"", "say \"x\"\nsay 2"),
                   "old_string is in the file only with other indentation, and how to indent "
                   "new_string is ambiguous; from line 1:\n"
                   "1\t    say \xE2\x80\x9Chi\xE2\x80\x9D");
    assert_normalised("    say \xE2\x80\x9Chi\xE2\x80\x9D\n", "say \"hi\"", "say 1\n    say 2",
                      "    say 1\n    say 2\n");
}

TEST(another_width_of_indentation_is_carried_over)
{
    assert_normalised("def f():\n    if x:\n        a()\n", "def f():\n  if x:\n    a()\n",
                      "def f():\n  if x:\n    while y:\n      a()\n",
                      "def f():\n    if x:\n        while y:\n            a()\n");
    assert_normalised("\t\tif x:\n\t\t\ty()\n", "if x:\n    y()\n",
                      "if x:\n    if z:\n        y()\n", "\t\tif x:\n\t\t\tif z:\n\t\t\t\ty()\n");
}

TEST(quotes_and_dashes_match_their_plain_forms)
{
    assert_normalised("it\xE2\x80\x99s \xE2\x80\x9Cso\xE2\x80\x9D \xE2\x80\x94 yes\n",
                      "it's \"so\" - yes", "no", "no\n");
    assert_normalised("it's \"so\" - yes\n",
                      "it\xE2\x80\x98s \xE2\x80\x9Eso\xE2\x80\x9C \xE2\x80\x93", "no", "no yes\n");
}

#define LQ "\xE2\x80\x9C"
#define RQ "\xE2\x80\x9D"
#define APO "\xE2\x80\x99"
#define EN "\xE2\x80\x93"
#define EM "\xE2\x80\x94"

TEST(a_changed_line_keeps_the_quotes_and_dashes_that_the_edit_does_not_change)
{
    assert_normalised("He said " LQ "Hello" RQ " " EM " then foo left.\n",
                      "He said \"Hello\" - then foo left.", "He said \"Hello\" - then bar left.",
                      "He said " LQ "Hello" RQ " " EM " then bar left.\n");
    assert_normalised("Range 1" EN "2 stays\n", "Range 1-2 stays", "Range 1-2 goes",
                      "Range 1" EN "2 goes\n");
    assert_normalised("x = \xE2\x80\x98it" APO "s" APO "\n", "'it's'", "'it's ok'",
                      "x = \xE2\x80\x98it" APO "s ok" APO "\n");
    assert_normalised("s = " LQ "x" RQ ";\n", "s = \"x\";", "s = \"y\";", "s = " LQ "y" RQ ";\n");
    /* lines of a block, each by itself */
    assert_normalised("  a " LQ "1" RQ "\n  b " LQ "2" RQ "\n", "a \"1\"\nb \"2\"\n",
                      "A \"1\"\nB \"2\"\n", "  A " LQ "1" RQ "\n  B " LQ "2" RQ "\n");
    /* one that only moves, and one that others follow */
    assert_normalised("\tsay " LQ "hi" RQ "\n\tend\n", "\tsay \"hi\"\n\tend\n",
                      "\tif x\n\t\tsay \"hi\"\n\tend\n", "\tif x\n\t\tsay " LQ "hi" RQ "\n\tend\n");
    assert_normalised("say " LQ "hi" RQ "\n", "say \"hi\"", "say \"hi\"\nbye",
                      "say " LQ "hi" RQ "\nbye\n");
}

TEST(quotes_of_the_new_text_that_could_be_either_kind_are_refused)
{
    static const char message[] =
        "old_string is in the file only with other quotes or dashes, and which kind new_string "
        "means is ambiguous; from line 1:\n"
        "1\tf(a, \xE2\x80\x98"
        "b" APO ");\n"
        "line 1 differs after \"f(a, \": the file has U+2018 there, old_string U+0027 (')";

    assert_refused("f(a, \xE2\x80\x98"
                   "b" APO ");\n",
                   edit_of("f(a, 'b');", "f('b', a);"), message);
    assert_refused("f(a, \xE2\x80\x98"
                   "b" APO ");\n",
                   edit_of("f(a, 'b');", "f(a, 'b', 'c');"), message);
    assert_refused("f(a, \xE2\x80\x98"
                   "b" APO ");\n",
                   edit_of("f(a, 'b');", "if (x)\nf('c');"), message);
    /* other quotes, and those of lines that hold none in question */
    assert_normalised("it" APO "s so\n", "it's so", "it's \"so\"", "it" APO "s \"so\"\n");
    assert_normalised("it" APO "s\nx = 'a'\n", "it's\nx = 'a'", "it's\nx = 'b'",
                      "it" APO "s\nx = 'b'\n");
    /* the kind that the file has is no question */
    assert_normalised("say " LQ "hi" RQ "\n", "say \"hi\"", "say " LQ "bye" RQ,
                      "say " LQ "bye" RQ "\n");
}

TEST(a_blank_between_words_is_not_nothing)
{
    assert_refused(
        "foobar\n", edit_of("foo bar", "x"),
        "old_string is not in the file; the most similar text starts at line 1:\n"
        "1\tfoobar\n"
        "line 1 differs after \"foo\": the file has U+0062 (b) there, old_string U+0020");
    assert_refused("foo bar\n", edit_of("foobar", "x"),
                   "old_string is not in the file; the most similar text starts at line 1:\n"
                   "1\tfoo bar\n"
                   "line 1 differs after \"foo\": the file has U+0020 there, old_string "
                   "U+0062 (b)");
    assert_refused("x ==1\n", edit_of("x = ", "y = "),
                   "old_string is not in the file; the most similar text starts at line 1:\n"
                   "1\tx ==1");
}

TEST(a_normalised_match_must_be_unique)
{
    static const char message[] =
        "old_string is not in the file exactly; ignoring indentation, trailing whitespace and the "
        "kind of quotes and dashes it occurs 2 times, at lines 1, 3";
    struct edit edits[] = {edit_of("a\nb", "x"), edit_all("a\nb", "x")};

    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        AUTO(strbuf) struct strbuf out = {0};
        struct edit_report report;
        AUTO(err)
        struct err *e = edit_apply(S("a\n  b\n  a\n    b\n"), &edits[i], 1, &out, &report);

        assert_non_null(e);
        assert_string_equal(e->text, message);
        assert_null(strstr(err_find_hint(e), "replace_all"));
    }
}

TEST(replace_all_takes_normalised_matches_that_are_the_same)
{
    struct edit_report report =
        assert_edit("a\n  b\nc\na\n  b\n", edit_all("a\n    b", "x"), "x\nc\nx\n");

    assert_int_equal(report.n_replaced, 2);
    assert_true(report.was_normalised);
    report = assert_edit("a\n  b\na\n b\n", edit_all("a\n b", "x"), "a\n  b\nx\n");
    assert_int_equal(report.n_replaced, 1);
    assert_false(report.was_normalised);
}

TEST(blanks_quotes_and_dashes_alone_are_never_normalised)
{
    assert_refused("a b - 'c'\n", edit_all("\t", "    "),
                   "old_string is not in the file, nor is anything similar");
    assert_refused("a b - 'c'\n", edit_all("\xE2\x80\x94", "--"),
                   "old_string is not in the file, nor is anything similar");
    assert_refused("a b - 'c'\n", edit_all("\xE2\x80\x99", "x"),
                   "old_string is not in the file, nor is anything similar");
}

TEST(a_last_line_without_an_end_matches_one_with_it_and_gets_none)
{
    assert_normalised("a\nb", "a\nb\n", "a\nc\n", "a\nc");
    assert_normalised("a\nb", "b\n", "b\nc\n", "a\nb\nc");
    assert_normalised("a\r\nb", "b\r\n", "c\r\nd\r\n", "a\r\nc\r\nd");
}

TEST(crlf_and_blanks_may_differ_together)
{
    assert_normalised("\tif (x)\r\n\t\ty();\r\nz\r\n", "    if (x)\n        y();\n",
                      "    if (x)\n        w();\n", "\tif (x)\r\n\t\tw();\r\nz\r\n");
}

TEST(the_rest_of_the_line_stays_when_a_match_is_within_it)
{
    assert_normalised("f(a, \xE2\x80\x98"
                      "b\xE2\x80\x99); g( c );\n",
                      "f(a, 'b')", "f(c, 'b')",
                      "f(c, \xE2\x80\x98"
                      "b\xE2\x80\x99); g( c );\n");
}

TEST(bytes_that_are_not_utf8_stay_as_they_are)
{
    assert_normalised("gr\xFC\xDF\n  a b\n\xE2\x80\n", "\ta b\n", "\tx\n",
                      "gr\xFC\xDF\n  x\n\xE2\x80\n");
}

/* --- what is refused --- */

TEST(an_edit_of_nothing_or_to_the_same_is_refused)
{
    assert_refused("a", edit_of("", "x"), "old_string is empty");
    assert_refused("", edit_of("", "x"), "old_string is empty");
    assert_refused("a", edit_of("a", "a"), "old_string and new_string are the same");
    assert_refused(
        "it\xE2\x80\x99s\n", edit_of("it's", "it\xE2\x80\x99s"),
        "the edit changes nothing: ignoring indentation, quotes and dashes, new_string is "
        "what the file already has");
}

TEST(a_text_that_is_not_there_is_answered_with_the_lines_most_like_it)
{
    assert_refused("int a;\n\nint main(void)\n{\n    puts(\"hi\");\n    return 0;\n}\n",
                   edit_of("{\n    puts(\"hello\");\n    return 0;\n}\n", "{\n}\n"),
                   "old_string is not in the file; the most similar text starts at line 4:\n"
                   "4\t{\n5\t    puts(\"hi\");\n6\t    return 0;\n7\t}");
    assert_refused("alpha = 1\nbeta_value = compute(alpha)\ngamma = 3\n",
                   edit_of("beta_value = computed(alpha)", "x"),
                   "old_string is not in the file; the most similar text starts at line 2:\n"
                   "2\tbeta_value = compute(alpha)");
}

TEST(at_most_ten_lines_are_shown_and_long_ones_are_cut)
{
    AUTO(strbuf) struct strbuf text = {0}, wanted = {0}, out = {0};
    AUTO(err) struct err *e = NULL;
    struct edit_report report;
    struct edit edit;
    size_t n_lines = 0;

    for (int i = 0; i < 40; i++) {
        strbuf_addf(&text, "line %d %0200d\n", i, i);
        strbuf_addf(&wanted, "line %d %0200d\n", i, i);
    }
    strbuf_add_cstr(&wanted, "and more\n");
    edit = (struct edit){strbuf_str(&wanted), S("x"), false};
    e = edit_apply(strbuf_str(&text), &edit, 1, &out, &report);
    assert_true(err_is(e, ERR_TOOL_FAILED));
    for (const char *p = e->text; (p = strchr(p, '\n')); p++)
        n_lines++;
    assert_int_equal(n_lines, 10);
    assert_non_null(strstr(e->text, "characters left out]"));
    assert_true(strlen(e->text) < 3000);
}

TEST(lines_after_a_nul_are_shown_too)
{
    struct edit edit = edit_of("one two\nthree\nfour", "x");
    AUTO(strbuf) struct strbuf out = {0};
    struct edit_report report;
    AUTO(err) struct err *e = edit_apply(S("one\0two\nthree\nfive\n"), &edit, 1, &out, &report);
    AUTO_FREE char *got = err_message(e);

    assert_non_null(strstr(got, "1\tone\u2400two\n2\tthree\n3\tfive"));
}

TEST(line_numbers_that_were_copied_along_are_named)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct edit edits[] = {edit_of("1\tone\n2\ttwo", "2"), edit_of("     1\tone", "2"),
                           edit_of("1\t2\n", "3")};
    struct edit_report report;
    AUTO(err) struct err *e = edit_apply(S("one\ntwo\n"), &edits[0], 1, &out, &report);
    AUTO(err) struct err *padded = edit_apply(S("one\ntwo\n"), &edits[1], 1, &out, &report);
    AUTO(err) struct err *other = edit_apply(S("1 2\nx\n"), &edits[2], 1, &out, &report);

    assert_string_equal(e->hint, "omit the line numbers and the tab after them, which Read adds");
    assert_string_equal(padded->hint, e->hint);
    assert_non_null(other);
}

TEST(an_edit_that_was_made_before_is_recognised)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct edit edit = edit_of("int old_name(void);", "int new_name(void);");
    struct edit_report report;
    AUTO(err) struct err *e = edit_apply(S("int new_name(void);\n"), &edit, 1, &out, &report);

    assert_true(err_is(e, ERR_TOOL_FAILED));
    assert_string_equal(err_find_hint(e), "new_string is already in the file, so the edit may have "
                                          "been made before; read the file again");
}

/* --- large --- */

static void add_times(struct strbuf *out, const char *text, size_t n)
{
    while (n--)
        strbuf_add_cstr(out, text);
}

TEST(repetition_made_to_be_slow_ends_soon)
{
    static const struct {
        const char *text, *old_text, *end;
        size_t n_text, n_old;
        bool replace_all;
    } cases[] = {
        {"a", "a", "b", 1 << 20, 1 << 19, false},
        {"a\n", "a ", "b", 1 << 19, 1 << 18, false},
        {" \t", " ", "b", 1 << 20, 1 << 19, true},
        {"a b\n", " ", "", 1 << 18, 1 << 20, true},
        {"\n", "\n", "b", 1 << 20, 1 << 19, false},
        {"x y z w\n", "z w x y\n", "", 1 << 17, 1 << 16, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(strbuf) struct strbuf text = {0}, old_text = {0}, out = {0};
        struct edit edit = {.new_text = S("new\ntext"), .replace_all = cases[i].replace_all};
        struct edit_report report;

        add_times(&text, cases[i].text, cases[i].n_text);
        add_times(&old_text, cases[i].old_text, cases[i].n_old);
        strbuf_add_cstr(&old_text, cases[i].end);
        edit.old_text = strbuf_str(&old_text);
        assert_err(edit_apply(strbuf_str(&text), &edit, 1, &out, &report), ERR_TOOL_FAILED);
    }
}

TEST(many_replacements_in_one_long_line_end_soon)
{
    AUTO(strbuf) struct strbuf text = {0}, out = {0};
    struct edit edit = edit_all("a", "b\n");
    struct edit_report report;

    strbuf_add_cstr(&text, "first\n");
    add_times(&text, "a", 1 << 18);
    strbuf_add_cstr(&text, "\r\n");
    assert_ok(edit_apply(strbuf_str(&text), &edit, 1, &out, &report));
    assert_int_equal(report.n_replaced, 1 << 18);
    assert_int_equal(out.n, 6 + 3 * (1 << 18) + 2);
}

TEST(many_loose_matches_of_a_wide_text_end_soon)
{
    AUTO(strbuf) struct strbuf text = {0}, old_text = {0}, out = {0};
    struct edit edit = edit_all("", "a\n");
    struct edit_report report;

    add_times(&text, "a\nb\n", 1 << 16);
    strbuf_add_cstr(&old_text, "a\n");
    add_times(&old_text, " ", 1 << 20);
    strbuf_add_cstr(&old_text, "b");
    edit.old_text = strbuf_str(&old_text);
    assert_ok(edit_apply(strbuf_str(&text), &edit, 1, &out, &report));
    assert_int_equal(report.n_replaced, 1 << 16);
}

RUN_TESTS(UNIT(a_unique_text_is_replaced),
          UNIT(an_exact_match_is_taken_even_if_others_would_fit_loosely),
          UNIT(an_exact_match_writes_the_new_text_as_it_is),
          UNIT(a_line_that_is_removed_goes_with_its_end),
          UNIT(a_text_that_is_there_twice_is_refused_with_its_lines),
          UNIT(two_places_that_overlap_are_two_places), UNIT(replace_all_replaces_each),
          UNIT(each_edit_works_on_the_result_of_the_one_before),
          UNIT(an_edit_that_fails_is_named_and_nothing_is_written),
          UNIT(the_number_of_edits_is_bounded), UNIT(the_report_names_the_first_line_that_differs),
          UNIT(a_result_over_the_cap_of_the_buffer_is_an_error),
          UNIT(in_a_file_with_crlf_a_text_with_lf_matches_and_is_written_with_crlf),
          UNIT(a_carriage_return_is_never_split_from_its_newline),
          UNIT(in_a_file_with_lf_a_text_with_crlf_matches_and_is_written_with_lf),
          UNIT(in_a_mixed_file_the_new_text_takes_the_line_end_of_the_place),
          UNIT(an_edit_that_names_the_line_ends_of_the_file_may_change_them),
          UNIT(a_file_without_line_ends_gets_those_of_the_new_text),
          UNIT(a_bom_at_the_start_stays_and_takes_no_part),
          UNIT(tabs_and_spaces_do_not_matter_and_the_new_text_is_indented_as_the_file_is),
          UNIT(an_indentation_that_was_left_out_is_put_back),
          UNIT(lines_that_the_edit_leaves_keep_the_bytes_of_the_file),
          UNIT(a_changed_line_keeps_the_blanks_at_its_end_unless_the_edit_changes_them),
          UNIT(blanks_in_the_last_line_without_an_end_stay),
          UNIT(blank_lines_beside_lines_that_are_removed_keep_their_blanks),
          UNIT(trailing_blanks_do_not_matter), UNIT(blanks_inside_of_a_line_are_data),
          UNIT(a_match_that_is_not_exact_is_no_part_of_a_word),
          UNIT(characters_that_look_the_same_are_named),
          UNIT(a_flat_text_is_not_spread_over_lines_of_several_depths),
          UNIT(an_indentation_that_could_be_two_is_refused),
          UNIT(another_width_of_indentation_is_carried_over),
          UNIT(quotes_and_dashes_match_their_plain_forms),
          UNIT(a_changed_line_keeps_the_quotes_and_dashes_that_the_edit_does_not_change),
          UNIT(quotes_of_the_new_text_that_could_be_either_kind_are_refused),
          UNIT(a_blank_between_words_is_not_nothing), UNIT(a_normalised_match_must_be_unique),
          UNIT(replace_all_takes_normalised_matches_that_are_the_same),
          UNIT(blanks_quotes_and_dashes_alone_are_never_normalised),
          UNIT(a_last_line_without_an_end_matches_one_with_it_and_gets_none),
          UNIT(crlf_and_blanks_may_differ_together),
          UNIT(the_rest_of_the_line_stays_when_a_match_is_within_it),
          UNIT(bytes_that_are_not_utf8_stay_as_they_are),
          UNIT(an_edit_of_nothing_or_to_the_same_is_refused),
          UNIT(a_text_that_is_not_there_is_answered_with_the_lines_most_like_it),
          UNIT(at_most_ten_lines_are_shown_and_long_ones_are_cut),
          UNIT(lines_after_a_nul_are_shown_too),
          UNIT(line_numbers_that_were_copied_along_are_named),
          UNIT(an_edit_that_was_made_before_is_recognised),
          UNIT(repetition_made_to_be_slow_ends_soon),
          UNIT(many_replacements_in_one_long_line_end_soon),
          UNIT(many_loose_matches_of_a_wide_text_end_soon))
