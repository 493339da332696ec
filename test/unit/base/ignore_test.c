/* ignore_test.c */
#include "test.h"

#include "base/ignore.h"
#include "base/json.h"

static bool is_ignored(const char *file_text, const char *path, bool is_dir)
{
    AUTO(ignore) struct ignore *i = ignore_new(S(""), str_of(file_text), /* nocase= */ false);
    const struct ignore *files[] = {i};

    return ignore_is_ignored(files, 1, str_of(path), is_dir);
}

/* --- the vectors of ripgrep --- */

/* "./a/./b" becomes "a/b"; "." and absolute paths, which stand for the root, become "". */
static struct str relative(struct arena *a, struct str path)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str part;

    if (str_starts(path, S("/")))
        return S("");
    while (str_split(&path, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (out.n)
            strbuf_add_char(&out, '/');
        strbuf_add(&out, part);
    }
    return arena_str(a, strbuf_str(&out));
}

TEST(the_public_vectors_agree)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    const char *path = shared_path("vectors/gitignore-ripgrep.json");
    struct json *root;
    size_t n_checked = 0;

    if (!path)
        skip();
    text = read_file(path);
    assert_ok(json_parse(&a, strbuf_str(&text), 0, &root));
    json_each (c, json_get(root, "cases")) {
        struct str base = relative(&a, json_get_text(c, "root"));
        AUTO(ignore) struct ignore *i = ignore_new(base, json_get_text(c, "gitignore"), false);
        const struct ignore *files[] = {i};
        bool is_dir = json_bool(json_get(c, "is_dir"), false);
        bool want = json_bool(json_get(c, "ignored"), false);

        if (ignore_is_ignored(files, 1, relative(&a, json_get_text(c, "path")), is_dir) != want)
            fail_msg("%" STR_FMT " must %sbe ignored", STR_ARG(json_get_text(c, "name")),
                     want ? "" : "not ");
        n_checked++;
    }
    assert_int_equal(n_checked, 67);
}

/* --- what each rule means --- */

TEST(the_last_rule_that_fits_decides)
{
    assert_false(is_ignored("*.c\n!x.c", "x.c", false));
    assert_true(is_ignored("!x.c\n*.c", "x.c", false));
    assert_true(is_ignored("*.c\n!x.c\nx.*", "x.c", false));
}

TEST(a_file_in_an_ignored_directory_cannot_be_taken_back)
{
    assert_true(is_ignored("build\n!build/keep", "build/keep", false));
    assert_false(is_ignored("build/*\n!build/keep", "build/keep", false));
    assert_true(is_ignored("build/*\n!build/keep", "build/drop", false));
}

TEST(a_slash_anchors_and_a_slash_at_the_end_asks_for_a_directory)
{
    assert_true(is_ignored("name", "a/b/name", false));
    assert_false(is_ignored("/name", "a/name", false));
    assert_false(is_ignored("a/name", "b/a/name", false));
    assert_true(is_ignored("name/", "a/name", true));
    assert_false(is_ignored("name/", "a/name", false));
    assert_true(is_ignored("name/", "a/name/file", false));
}

TEST(comments_blanks_and_line_ends_are_read_as_git_does)
{
    assert_false(is_ignored("#x", "#x", false));
    assert_true(is_ignored("\\#x", "#x", false));
    assert_true(is_ignored("\\!x", "!x", false));
    assert_true(is_ignored("x   ", "x", false));
    assert_true(is_ignored("x\\ ", "x ", false));
    assert_false(is_ignored("x\\ ", "x", false));
    assert_true(is_ignored("x\\\\ ", "x\\", false));
    assert_false(is_ignored("x\t", "x", false));
    assert_true(is_ignored("x\r\ny\r\n", "x", false));
    assert_true(is_ignored("a\nx\r", "x", false));
    assert_true(is_ignored("\xEF\xBB\xBFx", "x", false));
    assert_false(is_ignored("\n/\n!\n \n", "x", true));
}

TEST(a_line_that_is_not_valid_is_skipped_and_the_others_count)
{
    assert_true(is_ignored("[a\nx\n[[:nope:]]\ny\\\n", "x", false));
    assert_false(is_ignored("[a\nx\n", "[a", false));
}

TEST(rules_count_from_the_directory_of_their_file)
{
    AUTO(ignore) struct ignore *i = ignore_new(S("a/b"), S("/x\ny\n!z"), false);

    assert_int_equal(ignore_check(i, S("a/b/x"), false), IGNORE_YES);
    assert_int_equal(ignore_check(i, S("a/b/c/x"), false), IGNORE_NO_RULE);
    assert_int_equal(ignore_check(i, S("a/b/c/y"), false), IGNORE_YES);
    assert_int_equal(ignore_check(i, S("a/b/c/z"), false), IGNORE_TAKEN_BACK);
    assert_int_equal(ignore_check(i, S("x"), false), IGNORE_NO_RULE);
    assert_int_equal(ignore_check(i, S("a/bb/y"), false), IGNORE_NO_RULE);
    assert_int_equal(ignore_check(i, S("a/b"), true), IGNORE_NO_RULE);
}

TEST(the_file_nearest_to_the_path_has_the_last_word)
{
    AUTO(ignore) struct ignore *outer = ignore_new(S(""), S("*.log\n!keep.log"), false);
    AUTO(ignore) struct ignore *inner = ignore_new(S("a"), S("!x.log\nkeep.log"), false);
    const struct ignore *files[] = {outer, inner};

    assert_true(ignore_is_ignored(files, 2, S("x.log"), false));
    assert_false(ignore_is_ignored(files, 2, S("a/x.log"), false));
    assert_false(ignore_is_ignored(files, 2, S("keep.log"), false));
    assert_true(ignore_is_ignored(files, 2, S("a/b/keep.log"), false));
    assert_true(ignore_is_ignored(files, 2, S("a/b/other.log"), false));
}

TEST(case_counts_unless_told_otherwise)
{
    AUTO(ignore) struct ignore *i = ignore_new(S("Sub"), S("*.HTML"), /* nocase= */ true);

    assert_int_equal(ignore_check(i, S("sub/a.html"), false), IGNORE_YES);
    assert_false(is_ignored("*.HTML", "a.html", false));
}

TEST(the_number_of_rules_is_capped)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < IGNORE_MAX_RULES; i++)
        strbuf_addf(&text, "%d\n", i);
    strbuf_add_cstr(&text, "late\n");
    assert_true(is_ignored(strbuf_cstr(&text), "65535", false));
    assert_false(is_ignored(strbuf_cstr(&text), "late", false));
}

RUN_TESTS(UNIT(the_public_vectors_agree), UNIT(the_last_rule_that_fits_decides),
          UNIT(a_file_in_an_ignored_directory_cannot_be_taken_back),
          UNIT(a_slash_anchors_and_a_slash_at_the_end_asks_for_a_directory),
          UNIT(comments_blanks_and_line_ends_are_read_as_git_does),
          UNIT(a_line_that_is_not_valid_is_skipped_and_the_others_count),
          UNIT(rules_count_from_the_directory_of_their_file),
          UNIT(the_file_nearest_to_the_path_has_the_last_word),
          UNIT(case_counts_unless_told_otherwise), UNIT(the_number_of_rules_is_capped))
