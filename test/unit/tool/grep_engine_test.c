/* grep_engine_test.c - searches over small trees; what they print is compared whole. */
#include "tool/search/engine.h"

#include "files.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sys/time.h>

static struct strbuf search(const char *root, struct grep_query query, struct grep_report *report)
{
    struct walk_options options = {.root = root};
    struct strbuf out = {0};

    assert_ok(grep_run(&query, &options, &out, report));
    return out;
}

static void assert_search_(const struct temp_dir *d, struct grep_query query, const char *want,
                           const char *file, int line)
{
    struct grep_report report;
    AUTO(strbuf) struct strbuf out = search(d->path, query, &report);

    assert_str_(strbuf_str(&out), want, file, line);
}
/* assert_search(&d, "wanted output", .pattern = S("a"), ...) */
#define assert_search(d, want, ...)                                                                \
    assert_search_((d), (struct grep_query){__VA_ARGS__}, (want), __FILE__, __LINE__)

#define CONTENT .mode = GREP_CONTENT, .line_numbers = true

TEST(lines_are_printed_with_path_and_number_in_order_of_paths)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "b.c", "int x;\nint y;\n");
    put(&d, "a/z.c", "long x;\n\nint z;");
    put(&d, "none", "nothing\n");
    assert_search(&d, "a/z.c:3:int z;\nb.c:1:int x;\nb.c:2:int y;\n", .pattern = S("int"), CONTENT);
    assert_search(&d, "a/z.c:int z;\nb.c:int x;\nb.c:int y;\n", .pattern = S("int"),
                  .mode = GREP_CONTENT);
    assert_search(&d, "a/z.c:1\nb.c:2\n", .pattern = S("int"), .mode = GREP_COUNT);
}

TEST(files_are_printed_newest_first)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const struct timeval old[2] = {{1000, 0}, {1000, 0}}, new[2] = {{2000, 0}, {2000, 0}};

    put(&d, "a", "x");
    put(&d, "b", "x");
    put(&d, "c", "x");
    utimes(temp_path(&d, "a"), old);
    utimes(temp_path(&d, "b"), new);
    utimes(temp_path(&d, "c"), old);
    assert_search(&d, "b\na\nc\n", .pattern = S("x"));
}

TEST(a_file_can_be_the_root)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf want = {0}, out = {0};
    struct grep_report report;

    put(&d, "a.c", "one\ntwo\n");
    out = search(temp_path(&d, "a.c"),
                 (struct grep_query){.pattern = S("t"), CONTENT, .type = S("py")}, &report);
    strbuf_addf(&want, "%s/a.c:2:two\n", d.path);
    assert_str(strbuf_str(&out), strbuf_cstr(&want));
    assert_int_equal(report.n_files_searched, 1);
}

TEST(context_is_marked_and_groups_are_separated)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "1\n2 x\n3\n4\n5\n6\n7 x\n8 x\n9\n");
    put(&d, "b", "x\n");
    assert_search(&d, "a-1-1\na:2:2 x\na-3-3\n--\na-6-6\na:7:7 x\na:8:8 x\na-9-9\n--\nb:1:x\n",
                  .pattern = S("x"), CONTENT, .n_before = 1, .n_after = 1);
    assert_search(&d, "a:2:2 x\na-3-3\na-4-4\na-5-5\na-6-6\na:7:7 x\na:8:8 x\na-9-9\n--\nb:1:x\n",
                  .pattern = S("x"), CONTENT, .n_after = 5);
}

TEST(matching_ignores_case_when_asked_also_outside_ascii)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "Gr\xC3\x96SSE\nother\nGR\xC3\xB6sse\n");
    assert_search(&d, "a:2\n", .pattern = S("gr\xC3\xB6sse"), .ignore_case = true,
                  .mode = GREP_COUNT);
    assert_search(&d, "a:2\n", .pattern = S("gr\xC3\xB6sse"), .ignore_case = true,
                  .fixed_string = true, .mode = GREP_COUNT);
    assert_search(&d, "a:3:GR\xC3\xB6sse\n", .pattern = S("\xC3\xB6"), CONTENT);
    assert_search(&d, "a:1:Gr\xC3\x96SSE\na:3:GR\xC3\xB6sse\n", .pattern = S("^\\w{6}$"), CONTENT);
}

TEST(a_fixed_string_has_no_special_characters)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "f(x)\nfx\n[a.b]*\n");
    assert_search(&d, "a:1:f(x)\n", .pattern = S("f(x"), CONTENT, .fixed_string = true);
    assert_search(&d, "a:3:[a.b]*\n", .pattern = S("[a.b]*"), CONTENT, .fixed_string = true);
}

TEST(no_part_of_a_pattern_crosses_a_line)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "foo\nbar\nfoo bar\n\"\nx");
    assert_search(&d, "a:3:foo bar\n", .pattern = S("o\\sb"), CONTENT);
    assert_search(&d, "a:3:foo bar\n", .pattern = S("[^x]o[^x]b"), CONTENT);
    assert_search(&d, "a:3:foo bar\n", .pattern = S("(?:o)[\\s,]+b"), CONTENT);
    assert_search(&d, "a:3:foo bar\n", .pattern = S("(?s)(?:o).b"), CONTENT);
    assert_search(&d, "a:1:foo\n", .pattern = S("o\\z"), CONTENT);
    assert_search(&d, "a:1:foo\na:3:foo bar\n", .pattern = S("^(?:f)[^\"]*"), CONTENT);
    assert_search(&d, "a:2:bar\n", .pattern = S("(?<!\\s)ba\\w"), CONTENT);
}

TEST(a_multiline_match_may_span_lines_and_prints_all_of_them)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "begin\n  x\nend\nbegin end\nother\n");
    assert_search(&d, "a:1:begin\na:2:  x\na:3:end\na:4:begin end\n", .pattern = S("begin.*?end"),
                  CONTENT, .multiline = true);
    assert_search(&d, "a:1:begin\na:2:  x\n", .pattern = S("begin\n +x$"), CONTENT,
                  .multiline = true);
    assert_search(&d, "a:3:end\na:4:begin end\n", .pattern = S("d\nbegin"), CONTENT,
                  .multiline = true, .fixed_string = true);
    assert_search(&d, "a:2\n", .pattern = S("begin.*?end"), .mode = GREP_COUNT, .multiline = true);
}

TEST(matches_that_share_a_line_print_it_once_and_count_each)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "\nx x\ny x\nx\n\n");
    assert_search(&d, "a:2:x x\na:3:y x\na:4:x\n", .pattern = S("x\ny|x\nx|x "), CONTENT,
                  .multiline = true);
    assert_search(&d, "a:3\n", .pattern = S("x\ny|x\nx|x "), .mode = GREP_COUNT, .multiline = true);
}

TEST(lines_may_end_in_cr_lf)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "foo\r\nfoo bar\r\nx\r\n");
    assert_search(&d, "a:1:foo\n", .pattern = S("foo$"), CONTENT);
    assert_search(&d, "a:1:foo\na:3:x\n", .pattern = S("^\\w+$"), CONTENT);
    assert_search(&d, "a:1:foo\n", .pattern = S("o\\r$"), CONTENT, .head_limit = 1);
    assert_search(&d, "a:1:foo\na:2:foo bar\n", .pattern = S("^foo$.*r$"), CONTENT,
                  .multiline = true);
}

TEST(every_line_matches_an_empty_pattern_and_no_more)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "x\n\ny\n");
    put(&d, "b", "x\n\ny");
    put(&d, "empty", "");
    assert_search(&d, "a:3\nb:3\n", .pattern = S(""), .mode = GREP_COUNT);
    assert_search(&d, "a:1\nb:1\n", .pattern = S("^$"), .mode = GREP_COUNT);
    assert_search(&d, "a:3\nb:3\n", .pattern = S("z*$"), .mode = GREP_COUNT);
}

/* --- what is searched --- */

TEST(binary_and_large_files_are_skipped_and_counted)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct grep_report report;
    AUTO(strbuf) struct strbuf out = {0};

    put_bytes(&d, "bin", S("x\0x"));
    put(&d, "large", "x 3456789");
    put(&d, "ok", "x");
    assert_int_equal(symlink("ok", temp_path(&d, "link")), 0);
    out = search(d.path, (struct grep_query){.pattern = S("x"), .max_file_bytes = 8}, &report);
    assert_str(strbuf_str(&out), "ok\n");
    assert_int_equal(report.n_files_searched, 1);
    assert_int_equal(report.n_files_matched, 1);
    assert_int_equal(report.n_files_skipped, 2);
}

TEST(globs_and_types_choose_files)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(glob) struct glob *ts = NULL, *src = NULL;
    const struct glob *both[2];

    assert_ok(glob_compile(S("*.{ts,tsx}"), GLOB_LITERAL_SEPARATOR, &ts));
    assert_ok(glob_compile(S("src/**"), GLOB_LITERAL_SEPARATOR, &src));
    both[0] = ts;
    both[1] = src;
    put(&d, "lib/a.ts", "x");
    put(&d, "lib/b.py", "x");
    put(&d, "src/c.h", "x");
    put(&d, "Makefile", "x");
    assert_search(&d, "lib/a.ts:1\n", .pattern = S("x"), .mode = GREP_COUNT, .globs = both,
                  .n_globs = 1);
    assert_search(&d, "lib/a.ts:1\nsrc/c.h:1\n", .pattern = S("x"), .mode = GREP_COUNT,
                  .globs = both, .n_globs = 2);
    assert_search(&d, "src/c.h:1\n", .pattern = S("x"), .mode = GREP_COUNT, .type = S("c"));
    assert_search(&d, "Makefile:1\n", .pattern = S("x"), .mode = GREP_COUNT, .type = S("make"));
    assert_search(&d, "", .pattern = S("x"), .mode = GREP_COUNT, .type = S("c"), .globs = both,
                  .n_globs = 1);
}

TEST(every_type_is_known_by_the_names_that_are_listed)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf names = {0};
    struct str rest, name;
    size_t n = 0;

    grep_type_names(&names);
    for (rest = strbuf_str(&names); str_split(&rest, ',', &name); n++)
        assert_search(&d, "", .pattern = S("x"), .type = str_trim(name));
    assert_in_range(n, 80, 200);
}

/* With files that all versions of ripgrep agree on. */
TEST(ripgrep_has_the_same_globs_for_a_type)
{
    static const char *const names[] = {"c",  "py", "rust", "go",   "make", "md",
                                        "ts", "js", "java", "yaml", "html", "ruby"};
    static const char *const files[] = {
        "a.c",    "a.h",    "a.py", "a.rs",    "a.go",     "a.mk",   "a.md",
        "a.ts",   "a.tsx",  "a.js", "a.jsx",   "a.vue",    "a.java", "a.yml",
        "a.yaml", "a.html", "a.rb", "Gemfile", "Makefile", "README", "a.cc"};
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    char out_path[] = "/tmp/keel-grep-XXXXXX";
    bool has_rg = true;

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        put(&d, files[i], "x\n");
    close(mkstemp(out_path));
    for (size_t i = 0; i < ARRAY_LEN(names) && has_rg; i++) {
        const char *argv[] = {"rg", "--no-config", "-c", "--sort", "path",
                              "-t", names[i],      "x",  d.path,   NULL};
        AUTO(strbuf) struct strbuf by_rg = {0}, want = {0};
        struct str rest, line;

        has_rg = run_program(argv, "/dev/null", out_path) >= 0;
        by_rg = read_file(out_path);
        rest = strbuf_str(&by_rg);
        while (rest.n && str_split(&rest, '\n', &line)) {
            strbuf_add(&want, str_skip(line, strlen(d.path) + 1));
            strbuf_add_char(&want, '\n');
        }
        if (has_rg)
            assert_search(&d, strbuf_cstr(&want), .pattern = S("x"), .mode = GREP_COUNT,
                          .type = str_of(names[i]));
    }
    unlink(out_path);
    if (!has_rg) {
        print_message("[ SKIPPED because ripgrep is not installed ]\n");
        skip();
    }
}

/* --- limits --- */

TEST(output_starts_at_the_offset_and_ends_at_the_limit)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct grep_report report;

    put(&d, "a", "x1\nx2\nx3\n");
    put(&d, "b", "x4\nx5\n");
    assert_search(&d, "a:3:x3\nb:1:x4\n", .pattern = S("x"), CONTENT, .offset = 2, .head_limit = 2);
    assert_search(&d, "b:2\n", .pattern = S("x"), .mode = GREP_COUNT, .offset = 1);

    AUTO(strbuf)
    struct strbuf some =
        search(d.path, (struct grep_query){.pattern = S("x"), CONTENT, .head_limit = 3}, &report);
    assert_true(report.was_cut);
    assert_int_equal(report.n_matches, 5);
    AUTO(strbuf)
    struct strbuf all =
        search(d.path, (struct grep_query){.pattern = S("x"), CONTENT, .head_limit = 5}, &report);
    assert_false(report.was_cut);
    assert_str(strbuf_str(&all), "a:1:x1\na:2:x2\na:3:x3\nb:1:x4\nb:2:x5\n");
}

TEST(output_stays_within_its_bytes_and_holds_whole_lines)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct grep_report report;
    AUTO(strbuf) struct strbuf out = {0};

    put(&d, "a", "x1\nx2\nx3\n");
    out = search(d.path, (struct grep_query){.pattern = S("x"), CONTENT, .max_output_bytes = 15},
                 &report);
    assert_str(strbuf_str(&out), "a:1:x1\na:2:x2\n");
    assert_true(report.was_cut);
}

TEST(thousands_of_results_are_cut_to_the_first_ones)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct grep_report report;
    AUTO(strbuf) struct strbuf out = {0};
    char name[32];

    for (int i = 2999; i >= 0; i--) {
        snprintf(name, sizeof name, "d%d/f%04d", i % 7, i);
        put(&d, name, "x\n");
    }
    out = search(d.path,
                 (struct grep_query){.pattern = S("x"), CONTENT, .offset = 2, .head_limit = 2},
                 &report);
    assert_str(strbuf_str(&out), "d0/f0014:1:x\nd0/f0021:1:x\n");
    assert_int_equal(report.n_files_matched, 3000);
    assert_true(report.was_cut);
}

TEST(a_long_line_is_cut_around_its_match_and_between_characters)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "abc 0123456789\n");
    put(&d, "b", "0123456789 abc 0123456789\n");
    put(&d, "c", "abc 0\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\n");
    assert_search(&d, "a:abc 0123 ...\nb:... 9 abc 01 ...\nc:abc 0\xC3\xA4 ...\n",
                  .pattern = S("abc"), .mode = GREP_CONTENT, .max_line_bytes = 8);
}

TEST(text_that_is_not_utf8_is_repaired)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a", "\xC3\xA4 caf\xE9 x\n");
    assert_search(&d, "a:1:\xC3\xA4 caf\xEF\xBF\xBD x\n", .pattern = S("x$"), CONTENT);
    assert_search(&d, "a:1:\xC3\xA4 caf\xEF\xBF\xBD x\n", .pattern = S("\\bcaf"), CONTENT);
}

/* Several blocks, with matches and their context on both sides of where they meet. */
TEST(a_file_of_many_blocks_is_searched_as_one)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf text = {0}, want = {0};

    for (int i = 1; i <= 100000; i++)
        strbuf_addf(&text, "line %d%s\n", i, i % 1000 == 0 ? " match" : "");
    put_bytes(&d, "a", strbuf_str(&text));
    for (int i = 1000; i <= 100000; i += 1000) {
        strbuf_addf(&want, "%sa-%d-line %d\na-%d-line %d\na:%d:line %d match\n",
                    i > 1000 ? "--\n" : "", i - 2, i - 2, i - 1, i - 1, i, i);
        if (i < 100000)
            strbuf_addf(&want, "a-%d-line %d\n", i + 1, i + 1);
    }
    assert_search(&d, strbuf_cstr(&want), .pattern = S("match$"), CONTENT, .n_before = 2,
                  .n_after = 1);
    assert_search(&d, strbuf_cstr(&want), .pattern = S("\\d (?:m)\\w+$"), CONTENT, .n_before = 2,
                  .n_after = 1);
}

TEST(a_line_longer_than_a_block_is_one_line)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < 100000; i++)
        strbuf_add_cstr(&text, "abcdefghi ");
    strbuf_add_cstr(&text, "needle\nlast needle\n");
    put_bytes(&d, "a", strbuf_str(&text));
    assert_search(&d, "a:1:... fghi needle\na:2:last needle\n", .pattern = S("need[l]e"), CONTENT,
                  .max_line_bytes = 20);
    assert_search(&d, "a:2\n", .pattern = S("(?:n)ee\\w+$"), .mode = GREP_COUNT);
}

/* --- errors --- */

static void assert_refused_(const struct temp_dir *d, struct grep_query query, const char *words,
                            const char *file, int line)
{
    struct walk_options options = {.root = d->path};
    AUTO(strbuf) struct strbuf out = {0};
    struct grep_report report;
    AUTO(err) struct err *e = grep_run(&query, &options, &out, &report);
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (!err_is(e, ERR_VALIDATION) || !strstr(text, words) || !err_find_hint(e)) {
        print_error("wanted \"%s\", got \"%s\"\n", words, text ? text : "no error");
        _fail(file, line);
    }
}
#define assert_refused(d, words, ...)                                                              \
    assert_refused_((d), (struct grep_query){__VA_ARGS__}, (words), __FILE__, __LINE__)

TEST(a_wrong_query_says_what_is_wrong)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    assert_refused(&d, "the pattern \"a(b\" is not a regular expression: missing closing",
                   .pattern = S("a(b"));
    assert_refused(&d, "contains a line end", .pattern = S("a\\nb"));
    assert_refused(&d, "contains a line end", .pattern = S("a\nb"), .fixed_string = true);
    assert_refused(&d, "there is no file type \"cobol85\"", .pattern = S("a"),
                   .type = S("cobol85"));
    assert_refused(&(struct temp_dir){"/nonexistent"}, "cannot search the directory /nonexistent",
                   .pattern = S("a"));
}

TEST(a_pattern_that_runs_away_is_an_error_that_names_it)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < 1000; i++)
        strbuf_add_char(&text, 'a');
    strbuf_add_cstr(&text, "!\n");
    put_bytes(&d, "short", strbuf_str(&text));
    assert_refused(&d, "cannot search short: the pattern \"(a+)+$\" takes too many steps",
                   .pattern = S("(a+)+$"), CONTENT);

    strbuf_clear(&text);
    for (int i = 0; i < 10000; i++)
        strbuf_add_char(&text, 'a');
    strbuf_add_cstr(&text, "!\n");
    assert_ok(fs_remove(temp_path(&d, "short")));
    put_bytes(&d, "long", strbuf_str(&text));
    assert_refused(&d, "cannot search long: the pattern \"(a+)+$\" takes too many steps",
                   .pattern = S("(a+)+$"), CONTENT);
    assert_refused(&d, "cannot search long: the pattern \"(a+)+$\" takes too many steps",
                   .pattern = S("(a+)+$"), CONTENT, .multiline = true);
}

/* --- against other programs --- */

static const char *const shared_patterns[] = {
    "alpha",     "alpha beta",    "^gamma",  "delta$",    "(alpha|beta) +gamma",
    "[a-m]{4,}", "a.*b",          "[^a-z ]", "x|y|z",     "beta[0-9]+",
    "^$",        "(be|al)[^ ]+ ", "gam?ma",  "(delta )+", "^ *[0-9]+$",
    "b{2}|t+a$", "alpha.*[0-9]$", "\\(|\\{", "[]{}()]",   "a{2,3}",
};

/* The same tree every time. */
static void make_random_tree(const struct temp_dir *d)
{
    static const char *const words[] = {"alpha", "beta", "gamma", "delta", "alphabet", "beta42",
                                        "aaa",   "bb",   "(",     "{x}",   "",         "7",
                                        "  ",    "y]z",  "gama",  "Delta"};
    uint32_t seed = 42;
    char name[32];

    for (int f = 0; f < 8; f++) {
        AUTO(strbuf) struct strbuf text = {0};

        for (int line = 0; line < 120; line++) {
            seed = seed * 1664525 + 1013904223;
            for (unsigned w = (seed >> 24) % 6; w > 0; w--) {
                seed = seed * 1664525 + 1013904223;
                strbuf_addf(&text, "%s%s", words[(seed >> 16) % ARRAY_LEN(words)],
                            w > 1 ? " " : "");
            }
            strbuf_add_char(&text, '\n');
        }
        snprintf(name, sizeof name, "d%d/f%d.txt", f / 3, f);
        put_bytes(d, name, strbuf_str(&text));
    }
}

/* Appends what a program prints, without the directory in front of its lines. */
static void add_without_root(struct strbuf *out, struct str text, const struct temp_dir *d)
{
    struct str line;

    while (text.n && str_split(&text, '\n', &line)) {
        if (str_starts(line, str_of(d->path)))
            line = str_skip(line, strlen(d->path) + 1);
        strbuf_add(out, line);
        strbuf_add_char(out, '\n');
    }
}

/* Asks grep file by file, in order of the paths. */
static bool ask_grep(const struct temp_dir *d, const char *pattern, struct strbuf *out)
{
    char out_path[] = "/tmp/keel-grep-XXXXXX", name[512];
    bool has_grep = true;

    close(mkstemp(out_path));
    for (int f = 0; f < 8 && has_grep; f++) {
        const char *argv[] = {"grep", "-nHE", "-C2", "-e", pattern, name, NULL};
        AUTO(strbuf) struct strbuf text = {0};

        snprintf(name, sizeof name, "%s/d%d/f%d.txt", d->path, f / 3, f);
        has_grep = run_program(argv, "/dev/null", out_path) >= 0;
        text = read_file(out_path);
        if (out->n && text.n)
            strbuf_add_cstr(out, "--\n");
        add_without_root(out, strbuf_str(&text), d);
    }
    unlink(out_path);
    return has_grep;
}

static bool ask_ripgrep(const struct temp_dir *d, const char *pattern, struct strbuf *out)
{
    const char *argv[] = {"rg",   "--no-config", "-n",    "--no-heading", "-C2", "--sort",
                          "path", "-e",          pattern, d->path,        NULL};
    char out_path[] = "/tmp/keel-grep-XXXXXX";
    bool has_rg;

    close(mkstemp(out_path));
    has_rg = run_program(argv, "/dev/null", out_path) >= 0;
    if (has_rg) {
        AUTO(strbuf) struct strbuf text = read_file(out_path);

        add_without_root(out, strbuf_str(&text), d);
    }
    unlink(out_path);
    return has_rg;
}

static void compare_with(bool (*ask)(const struct temp_dir *, const char *, struct strbuf *),
                         const char *program)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    size_t n_lines = 0;

    make_random_tree(&d);
    for (size_t i = 0; i < ARRAY_LEN(shared_patterns); i++) {
        AUTO(strbuf) struct strbuf want = {0};

        if (!ask(&d, shared_patterns[i], &want)) {
            print_message("[ SKIPPED because %s cannot be run ]\n", program);
            skip();
        }
        assert_search(&d, strbuf_cstr(&want), .pattern = str_of(shared_patterns[i]), CONTENT,
                      .n_before = 2, .n_after = 2);
        n_lines += want.n > 0;
    }
    assert_int_equal(n_lines, ARRAY_LEN(shared_patterns)); /* each found something */
}

TEST(grep_prints_the_same)
{
    compare_with(ask_grep, "grep");
}

TEST(ripgrep_prints_the_same)
{
    compare_with(ask_ripgrep, "ripgrep");
}

/* Every printed line matches, and no line that matches is missing. */
TEST(exactly_the_lines_that_match_are_printed)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf text = {0};

    make_random_tree(&d);
    assert_ok(fs_remove(temp_path(&d, "d0/f1.txt")));
    assert_ok(fs_remove(temp_path(&d, "d0/f2.txt")));
    text = read_file(temp_path(&d, "d0/f0.txt"));
    for (size_t i = 0; i < ARRAY_LEN(shared_patterns); i++) {
        struct str pattern = str_of(shared_patterns[i]), rest = strbuf_str(&text), line;
        AUTO(strbuf) struct strbuf want = {0}, out = {0};
        struct grep_report report;
        size_t offset;
        int error, n = 0;
        pcre2_code *code =
            pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, 0, &error, &offset, NULL);
        pcre2_match_data *data = pcre2_match_data_create(1, NULL);

        assert_non_null(code);
        while (rest.n && str_split(&rest, '\n', &line)) {
            n++;
            if (pcre2_match(code, (PCRE2_SPTR)line.p, line.n, 0, 0, data, NULL) >= 0)
                strbuf_addf(&want, "f0.txt:%d:%" STR_FMT "\n", n, STR_ARG(line));
        }
        pcre2_match_data_free(data);
        pcre2_code_free(code);
        out =
            search(temp_path(&d, "d0"), (struct grep_query){.pattern = pattern, CONTENT}, &report);
        assert_str(strbuf_str(&out), strbuf_cstr(&want));
    }
}

/* --- globs --- */

static struct strbuf find(const struct temp_dir *d, struct str pattern, size_t max_results,
                          struct grep_report *report)
{
    struct walk_options options = {.root = d->path};
    AUTO(glob) struct glob *g = NULL;
    struct strbuf out = {0};

    assert_ok(glob_compile(pattern, GLOB_LITERAL_SEPARATOR, &g));
    assert_ok(glob_run(&(struct glob_query){.patterns = (const struct glob *const *)&g,
                                            .n_patterns = 1,
                                            .max_results = max_results},
                       &options, &out, report));
    return out;
}

TEST(a_glob_finds_files_newest_first_and_no_directories)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    const struct timeval old[2] = {{1000, 0}, {1000, 0}}, new[2] = {{2000, 0}, {2000, 0}};
    struct grep_report report;

    put(&d, "a.c", "");
    put(&d, "b/c.c", "");
    put(&d, "b/dir.c/", "");
    put(&d, "z.h", "");
    put(&d, ".gitignore", "ignored.c\n");
    put(&d, "ignored.c", "");
    utimes(temp_path(&d, "a.c"), old);
    utimes(temp_path(&d, "b/c.c"), new);

    AUTO(strbuf) struct strbuf all = find(&d, S("**/*.c"), 0, &report);
    assert_str(strbuf_str(&all), "b/c.c\na.c\n");
    assert_false(report.was_cut);
    AUTO(strbuf) struct strbuf first = find(&d, S("**/*.c"), 1, &report);
    assert_str(strbuf_str(&first), "b/c.c\n");
    assert_int_equal(report.n_files_matched, 2);
    assert_true(report.was_cut);
    AUTO(strbuf) struct strbuf top = find(&d, S("*"), 0, &report);
    assert_int_equal(report.n_files_matched, 2);
}

RUN_TESTS(UNIT(lines_are_printed_with_path_and_number_in_order_of_paths),
          UNIT(files_are_printed_newest_first), UNIT(a_file_can_be_the_root),
          UNIT(context_is_marked_and_groups_are_separated),
          UNIT(matching_ignores_case_when_asked_also_outside_ascii),
          UNIT(a_fixed_string_has_no_special_characters), UNIT(no_part_of_a_pattern_crosses_a_line),
          UNIT(a_multiline_match_may_span_lines_and_prints_all_of_them),
          UNIT(matches_that_share_a_line_print_it_once_and_count_each),
          UNIT(lines_may_end_in_cr_lf), UNIT(every_line_matches_an_empty_pattern_and_no_more),
          UNIT(binary_and_large_files_are_skipped_and_counted), UNIT(globs_and_types_choose_files),
          UNIT(every_type_is_known_by_the_names_that_are_listed),
          UNIT(ripgrep_has_the_same_globs_for_a_type),
          UNIT(output_starts_at_the_offset_and_ends_at_the_limit),
          UNIT(output_stays_within_its_bytes_and_holds_whole_lines),
          UNIT(thousands_of_results_are_cut_to_the_first_ones),
          UNIT(a_long_line_is_cut_around_its_match_and_between_characters),
          UNIT(text_that_is_not_utf8_is_repaired), UNIT(a_file_of_many_blocks_is_searched_as_one),
          UNIT(a_line_longer_than_a_block_is_one_line), UNIT(a_wrong_query_says_what_is_wrong),
          UNIT(a_pattern_that_runs_away_is_an_error_that_names_it), UNIT(grep_prints_the_same),
          UNIT(ripgrep_prints_the_same), UNIT(exactly_the_lines_that_match_are_printed),
          UNIT(a_glob_finds_files_newest_first_and_no_directories))
