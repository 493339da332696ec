/* grep_tool_test.c - the Grep tool; how it searches is in grep_engine_test.c. */
#include "calls.h"

#include <sys/stat.h>
#include <sys/time.h>

static void set_time(struct tool_fixture *f, const char *name, long seconds)
{
    const struct timeval times[2] = {{seconds, 0}, {seconds, 0}};

    assert_int_equal(utimes(temp_path(&f->dir, name), times), 0);
}

/* --- names --- */

#define HOW_TO_READ_QUOTES                                                                         \
    "[paths in double quotes have special characters and are escaped as git does it: pass them "   \
    "with the quotes, in Bash as $'...']\n"

TEST(a_name_with_a_newline_is_one_path_in_every_mode)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "names/a\nb.txt", "before\nint x;\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\"}",
                "\"names/a\\nb.txt\"\n" HOW_TO_READ_QUOTES);
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\",\"output_mode\":\"count\"}",
                "\"names/a\\nb.txt\":1\n[1 match in 1 file]\n" HOW_TO_READ_QUOTES);
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\",\"output_mode\":\"content\",\"-B\":1}",
                "\"names/a\\nb.txt\"-1-before\n\"names/a\\nb.txt\":2:int x;\n"
                "[1 match in 1 file]\n" HOW_TO_READ_QUOTES);
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\",\"path\":\"\\\"names/a\\\\nb.txt\\\"\"}",
                "\"names/a\\nb.txt\"\n" HOW_TO_READ_QUOTES);
}

TEST(a_name_that_is_not_utf8_can_be_given_back)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "caf\xE9", "int x;\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\"}", "\"caf\\351\"\n" HOW_TO_READ_QUOTES);
    assert_says(&f, &tool_read, "{\"file_path\":\"\\\"caf\\\\351\\\"\"}", "1\tint x;\n");
}

/* --- output modes --- */

TEST(files_with_matches_are_told_newest_first_by_default)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.c", "int x;\n");
    put(&f.dir, "src/b.c", "int y;\n");
    put(&f.dir, "none", "nothing\n");
    set_time(&f, "a.c", 1000);
    set_time(&f, "src/b.c", 2000);
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\"}", "src/b.c\na.c\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\",\"output_mode\":\"files_with_matches\"}",
                "src/b.c\na.c\n");
}

TEST(content_has_line_numbers_by_default)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.c", "long z;\nint x;\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\",\"output_mode\":\"content\"}",
                "a.c:2:int x;\n[1 match in 1 file]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"int\",\"output_mode\":\"content\",\"-n\":false}",
                "a.c:int x;\n[1 match in 1 file]\n");
}

TEST(what_matched_is_printed_without_the_rest_of_its_line_when_asked)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.c", "long z;\nint x1, x2;\n\nx3\r\n");
    assert_says(&f, &tool_grep,
                "{\"pattern\":\"x.\",\"output_mode\":\"content\",\"-o\":true,\"-A\":1}",
                "a.c:2:x1\na.c:2:x2\na.c:4:x3\n[3 matches in 1 file]\n");
    assert_says(&f, &tool_grep,
                "{\"pattern\":\"x2;\\\\n\\\\nx\",\"output_mode\":\"content\",\"-o\":true,"
                "\"multiline\":true}",
                "a.c:2:x2;\na.c:3:\na.c:4:x\n[1 match in 1 file]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x.\",\"-o\":true}", "a.c\n");
}

TEST(counts_are_told_by_file_and_in_all)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\nx\n");
    put(&f.dir, "b", "x\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"outputMode\":\"count\"}",
                "a:2\nb:1\n[3 matches in 2 files]\n");
}

TEST(details_hold_the_numbers)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\nx\n");
    AUTO(tool_result)
    struct tool_result r =
        tool_call(&f, &tool_grep, "{\"pattern\":\"x\",\"output_mode\":\"content\"}");
    assert_int_equal(json_int_or(json_get(r.details, "matches"), -1), 2);
    assert_int_equal(json_int_or(json_get(r.details, "files"), -1), 1);
    assert_false(json_bool(json_get(r.details, "cut"), true));
}

TEST(lines_around_a_match_are_printed)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "d/a", "1\n2\n3 x\n4\n5\n6\n7 x\n");
    assert_says(&f, &tool_grep,
                "{\"pattern\":\"x\",\"output_mode\":\"content\",\"path\":\"d\",\"-C\":1}",
                "d/a-2-2\nd/a:3:3 x\nd/a-4-4\n--\nd/a-6-6\nd/a:7:7 x\n[2 matches in 1 file]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"3\",\"output_mode\":\"content\",\"-A\":1,\"-B\":2}",
                "d/a-1-1\nd/a-2-2\nd/a:3:3 x\nd/a-4-4\n[1 match in 1 file]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"3\",\"output_mode\":\"content\",\"-C\":1,\"-A\":0}",
                "d/a-2-2\nd/a:3:3 x\n[1 match in 1 file]\n");
}

/* --- patterns --- */

TEST(case_may_be_ignored)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "Word\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"wORD\"}", "No matches found\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"wORD\",\"-i\":true}", "a\n");
}

TEST(a_match_may_span_lines_when_asked)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\ntwo\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"one.two\"}", "No matches found\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"one.two\",\"multiline\":true}", "a\n");
}

TEST(a_pattern_may_be_plain_text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "f(x)\n");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"f(\"}", "");
    assert_says(&f, &tool_grep, "{\"pattern\":\"f(\",\"fixed_strings\":true}", "a\n");
}

TEST(a_wrong_pattern_is_a_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"a[\"}", "a[");
}

TEST(a_pattern_that_runs_away_is_a_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"^(a|aa|a?)+\\\\1$\"}", "cannot search a");
}

TEST(a_file_that_a_pattern_runs_away_in_does_not_hide_the_others)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    static const char many[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n";

    put(&f.dir, "slow", many);
    put(&f.dir, "src/b", "aa\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"^(a|aa|a?)+\\\\1$\"}",
                "src/b\n[cannot search slow: the pattern \"^(a|aa|a?)+\\1$\" takes too many steps: "
                "simplify the pattern, or exclude such files]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"^(a|aa|a?)+\\\\1$\",\"glob\":\"!slow\"}",
                "src/b\n");
}

TEST(a_pattern_that_runs_away_in_many_files_ends_the_search)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(arena) struct arena a = {0};

    for (int i = 0; i < 30; i++)
        put(&f.dir, arena_format(&a, "slow%d", i).p,
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"^(a|aa|a?)+\\\\1$\"}", "takes too many steps");
}

/* --- where --- */

TEST(globs_choose_files_and_leave_some_out)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.js", "x\n");
    put(&f.dir, "a.min.js", "x\n");
    put(&f.dir, "lib/b.ts", "x\n");
    put(&f.dir, "lib/c.py", "x\n");
    set_time(&f, "a.js", 3000);
    set_time(&f, "a.min.js", 2500);
    set_time(&f, "lib/b.ts", 2000);
    set_time(&f, "lib/c.py", 1000);
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"glob\":\"*.{js,ts}\"}",
                "a.js\na.min.js\nlib/b.ts\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"glob\":\"*.js *.py\"}",
                "a.js\na.min.js\nlib/c.py\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"glob\":\"*.js, !*.min.js\"}", "a.js\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"glob\":\"!lib\"}", "a.js\na.min.js\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"glob\":\"lib/**\"}", "lib/b.ts\nlib/c.py\n");
}

TEST(a_type_chooses_files_and_an_unknown_one_is_a_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.c", "x\n");
    put(&f.dir, "a.py", "x\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"type\":\"py\"}", "a.py\n");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"x\",\"type\":\"nonsense\"}", "nonsense");
}

TEST(one_file_can_be_searched)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "d/a", "y\nx\n");
    put(&f.dir, "d/b", "x\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"d/a\",\"output_mode\":\"content\"}",
                "d/a:2:x\n[1 match in 1 file]\n");
}

TEST(paths_outside_the_working_directory_are_absolute)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf want = {0};

    put(&f.dir, "a", "x\n");
    put(&f.dir, "d/", "");
    tool_state_set_cwd(f.state, temp_path(&f.dir, "d"));
    strbuf_addf(&want, "%s/a\n", f.dir.path);
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"..\"}", strbuf_cstr(&want));
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"../a\"}", strbuf_cstr(&want));
}

TEST(names_with_a_dot_are_searched_unless_told_otherwise)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, ".github/workflows/ci.yml", "x\n");
    put(&f.dir, ".git/config", "x\n");
    put(&f.dir, ".svn/entries", "x\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\"}", ".github/workflows/ci.yml\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"glob\":\".github/**\"}",
                ".github/workflows/ci.yml\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"hidden\":false}", "No matches found\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\".github\",\"hidden\":false}",
                ".github/workflows/ci.yml\n");
}

TEST(text_is_searched_as_read_shows_it)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "utf16le", S("\xFF\xFEh\0\xE9\0\n\0b\0\n\0"));
    put_bytes(&f.dir, "utf16be", S("\xFE\xFF\0h\0\xE9\0\n"));
    put_bytes(&f.dir, "latin1", S("x\ncaf\xE9 cr\xE8me\n"));
    put_bytes(&f.dir, "bom.py", S("\xEF\xBB\xBFprint(1)\n"));
    assert_says(&f, &tool_grep, "{\"pattern\":\"^h\xC3\xA9$\",\"output_mode\":\"content\"}",
                "utf16be:1:h\xC3\xA9\nutf16le:1:h\xC3\xA9\n[2 matches in 2 files]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"^b\",\"path\":\"utf16le\",\"multiline\":true}",
                "utf16le\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"caf\xC3\xA9\",\"output_mode\":\"content\"}",
                "latin1:2:caf\xC3\xA9 cr\xC3\xA8me\n[1 match in 1 file]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"^print\",\"output_mode\":\"content\"}",
                "bom.py:1:print(1)\n[1 match in 1 file]\n");
}

TEST(a_long_file_of_another_encoding_is_searched_to_its_end)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < 100000; i++)
        strbuf_add_cstr(&text, "line of \xE9\xE8\x80\n");
    strbuf_add_cstr(&text, "the end \xFC\n");
    put_bytes(&f.dir, "a", strbuf_str(&text));
    assert_says(&f, &tool_grep,
                "{\"pattern\":\"end \xC3\xBC\",\"output_mode\":\"content\",\"-B\":1}",
                "a-100000-line of \xC3\xA9\xC3\xA8\xE2\x82\xAC\na:100001:the end \xC3\xBC\n"
                "[1 match in 1 file]\n");
    assert_says(&f, &tool_grep,
                "{\"pattern\":\"end \xC3\xBC\",\"output_mode\":\"count\",\"multiline\":true}",
                "a:1\n[1 match in 1 file]\n");
}

TEST(word_boundaries_of_grep_are_known)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "keyword\nword\nwords\na<b\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"\\\\<word\\\\>\",\"output_mode\":\"content\"}",
                "a:2:word\n[1 match in 1 file]\n");
    assert_says(&f, &tool_grep,
                "{\"pattern\":\"\\\\<word\",\"output_mode\":\"count\",\"multiline\":true}",
                "a:2\n[2 matches in 1 file]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"a[\\\\<]b\"}", "a\n");
}

TEST(brackets_in_globs_are_also_taken_literally)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "app/[id]/page.tsx", "x\n");
    put(&f.dir, "app/other/page.tsx", "x\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"glob\":\"app/[id]/*.tsx\"}",
                "app/[id]/page.tsx\n");
}

TEST(what_a_rule_hides_is_not_searched)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct path_filter hidden = {hides_name, "private"};

    put(&f.dir, "a", "x\n");
    put(&f.dir, "private/b", "x\n");
    f.context.hidden = &hidden;
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\"}", "a\n");
}

TEST(a_file_that_a_rule_hides_is_not_searched_either)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct path_filter hidden = {hides_name, "private"};

    put(&f.dir, "private", "x\n");
    put(&f.dir, "d/private/b", "x\n");
    f.context.hidden = &hidden;
    assert_fails(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"private\"}", "cannot be searched");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"d/private/b\"}",
                 "cannot be searched");
}

TEST(a_missing_path_is_a_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "source/a.c", "");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"sourse\"}", "did you mean source?");
}

TEST(a_pipe_is_not_searched)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_int_equal(mkfifo(temp_path(&f.dir, "p"), 0600), 0);
    assert_fails(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"p\"}", "neither a file nor");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\"}", "No matches found\n");
}

/* --- how much --- */

TEST(no_match_is_no_failure)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"y\"}", "No matches found\n");
}

TEST(no_match_beside_ignored_files_is_told_so)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, ".gitignore", ".env\n");
    put(&f.dir, ".env", "SECRET=1\n");
    put(&f.dir, "a", "x\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"SECRET\"}",
                "No matches found\n[what .gitignore and .ignore exclude was not searched; to "
                "search it, name it as path]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"SECRET\",\"path\":\".env\"}", ".env\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"offset\":5}",
                "No more results: offset 5 is past the last one.\n");
}

TEST(a_binary_file_is_said_not_to_be_searched)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "a", S("x\0x\n"));
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"path\":\"a\"}",
                "No matches found\n[not searched: the file is binary or too large]\n");
}

TEST(output_is_cut_at_250_lines_and_tells_how_to_go_on)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 1; i <= 251; i++)
        strbuf_addf(&text, "x%d\n", i);
    put_bytes(&f.dir, "a", strbuf_str(&text));
    AUTO(tool_result)
    struct tool_result r =
        tool_call(&f, &tool_grep, "{\"pattern\":\"x\",\"output_mode\":\"content\"}");
    assert_has(strbuf_str(&r.text),
               "a:250:x250\n[251 matches in 1 file]\n"
               "[there is more: set offset to 250 to continue, or narrow the search]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"output_mode\":\"content\",\"offset\":250}",
                "a:251:x251\n[251 matches in 1 file]\n");
    AUTO(tool_result)
    struct tool_result all = tool_call(
        &f, &tool_grep, "{\"pattern\":\"x\",\"output_mode\":\"content\",\"head_limit\":0}");
    assert_has(strbuf_str(&all.text), "a:251:x251\n[251 matches in 1 file]\n");
}

TEST(head_limit_and_offset_count_files_too)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    put(&f.dir, "b", "x\n");
    put(&f.dir, "c", "x\n");
    set_time(&f, "a", 3000);
    set_time(&f, "b", 2000);
    set_time(&f, "c", 1000);
    assert_says(
        &f, &tool_grep, "{\"pattern\":\"x\",\"headLimit\":1,\"offset\":1}",
        "b\n[3 files match]\n[there is more: set offset to 2 to continue, or narrow the search]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"x\",\"offset\":3}",
                "No more results: offset 3 is past the last one.\n");
}

TEST(a_cancelled_call_ends_its_search)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct cancelled_call c = {.fixture = &f, .tool = &tool_grep, .args = "{\"pattern\":\"x\"}"};
    struct path_filter waits = {waits_to_be_cancelled, &c};

    put(&f.dir, "a", "x\n");
    f.context.hidden = &waits;
    assert_ok(loop_run_once(cancel_it_, &c));
    assert_int_equal(c.code, ERR_CANCELLED);
}

TEST(a_grep_only_looks)
{
    assert_int_equal(tool_grep.risk, RISK_INSPECT);
    assert_false(tool_grep.is_barrier);
}

TEST(what_read_shows_of_a_text_with_a_nul_is_found)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "log", S("started\0 up at noon\nand stopped\n"));
    assert_says(&f, &tool_grep, "{\"pattern\":\"stopped\",\"output_mode\":\"content\"}",
                "log:2:and stopped\n[1 match in 1 file]\n");
}

TEST(flags_of_other_searches_are_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "Foo\nfoo bar\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"foo\",\"-l\":true}", "a\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"foo\",\"-c\":true,\"case_sensitive\":false}",
                "a:2\n[2 matches in 1 file]\n");
    assert_says(&f, &tool_grep,
                "{\"pattern\":\"b.r\",\"output_mode\":\"content\",\"only_matching\":true}",
                "a:2:bar\n[1 match in 1 file]\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\".\",\"literal\":true}", "No matches found\n");
    assert_says(&f, &tool_grep, "{\"pattern\":\"o\",\"output_mode\":\"content\",\"limit\":1}",
                "a:1:Foo\n[2 matches in 1 file]\n[there is more: set offset to 1 to continue, or "
                "narrow the search]\n");
    assert_fails(&f, &tool_grep, "{\"pattern\":\"foo\",\"-l\":true,\"output_mode\":\"count\"}",
                 "unknown property \"-l\"");
}

RUN_TESTS(UNIT(what_read_shows_of_a_text_with_a_nul_is_found),
          UNIT(flags_of_other_searches_are_taken),
          UNIT(a_name_with_a_newline_is_one_path_in_every_mode),
          UNIT(a_name_that_is_not_utf8_can_be_given_back),
          UNIT(files_with_matches_are_told_newest_first_by_default),
          UNIT(content_has_line_numbers_by_default),
          UNIT(what_matched_is_printed_without_the_rest_of_its_line_when_asked),
          UNIT(counts_are_told_by_file_and_in_all), UNIT(details_hold_the_numbers),
          UNIT(lines_around_a_match_are_printed), UNIT(case_may_be_ignored),
          UNIT(a_match_may_span_lines_when_asked), UNIT(a_pattern_may_be_plain_text),
          UNIT(a_wrong_pattern_is_a_failure), UNIT(a_pattern_that_runs_away_is_a_failure),
          UNIT(a_file_that_a_pattern_runs_away_in_does_not_hide_the_others),
          UNIT(a_pattern_that_runs_away_in_many_files_ends_the_search),
          UNIT(globs_choose_files_and_leave_some_out),
          UNIT(a_type_chooses_files_and_an_unknown_one_is_a_failure),
          UNIT(one_file_can_be_searched), UNIT(paths_outside_the_working_directory_are_absolute),
          UNIT(names_with_a_dot_are_searched_unless_told_otherwise),
          UNIT(text_is_searched_as_read_shows_it),
          UNIT(a_long_file_of_another_encoding_is_searched_to_its_end),
          UNIT(word_boundaries_of_grep_are_known), UNIT(brackets_in_globs_are_also_taken_literally),
          UNIT(what_a_rule_hides_is_not_searched),
          UNIT(a_file_that_a_rule_hides_is_not_searched_either), UNIT(a_missing_path_is_a_failure),
          UNIT(a_pipe_is_not_searched), UNIT(no_match_is_no_failure),
          UNIT(no_match_beside_ignored_files_is_told_so),
          UNIT(a_binary_file_is_said_not_to_be_searched),
          UNIT(output_is_cut_at_250_lines_and_tells_how_to_go_on),
          UNIT(head_limit_and_offset_count_files_too), UNIT(a_cancelled_call_ends_its_search),
          UNIT(a_grep_only_looks))
