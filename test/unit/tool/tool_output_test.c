/* tool_output_test.c - reading on in stored results. */
#include "tool/fixture.h"

#include "base/utf8.h"
#include "port/stored_result.h"
#include "store/blob_files.h"
#include "tool/builtin.h"

struct setup {
    struct tool_fixture fixture;
    struct blob_store *blobs;
    char handle[SHA256_HEX_SIZE];
};

static void setup_done(struct setup *s)
{
    blob_store_free(s->blobs);
    tool_fixture_done(&s->fixture);
}
DEFINE_AUTO_VAL(setup, setup_done)

/* Stores a result as the engine does. */
static void store(struct setup *s, struct str text)
{
    AUTO(arena) struct arena a = {0};
    struct json *value = json_new(&a, JSON_OBJECT);

    assert_ok(blob_put(s->blobs, text, s->handle));
    json_set_str(&a, value, "tool", S("Bash"));
    json_set_int(&a, value, "bytes", (int64_t)text.n);
    json_set_int(&a, value, "lines", 3);
    tool_state_set(s->fixture.state, STATE_RESULT, str_of(s->handle), value);
}

static struct setup stored(struct str text)
{
    struct setup s = {.fixture = tool_fixture_make()};

    s.blobs = blob_files_new(temp_path(&s.fixture.dir, "blobs"), 0);
    s.fixture.context.blobs = s.blobs;
    store(&s, text);
    return s;
}

/* `args` without its braces and without the handle. */
static struct tool_result read_stored(struct setup *s, const char *args)
{
    AUTO(strbuf) struct strbuf all = {0};

    strbuf_addf(&all, "{\"handle\":\"%s\"%s%s}", s->handle, *args ? "," : "", args);
    return tool_call(&s->fixture, &tool_tool_output, strbuf_cstr(&all));
}

static void assert_shown(struct str text, const char *args, const char *want)
{
    AUTO(setup) struct setup s = stored(text);
    AUTO(tool_result) struct tool_result r = read_stored(&s, args);

    assert_str(strbuf_str(&r.text), want);
    assert_false(r.is_error);
}

static void assert_refused(struct str text, const char *args, const char *want)
{
    AUTO(setup) struct setup s = stored(text);
    AUTO(tool_result) struct tool_result r = read_stored(&s, args);

    assert_str(strbuf_str(&r.text), want);
    assert_true(r.is_error);
}

static bool holds(const struct tool_result *r, const char *words)
{
    return strstr(strbuf_cstr(&r->text), words) != NULL;
}

static void assert_holds_(const struct tool_result *r, const char *words, const char *file,
                          int line)
{
    if (holds(r, words))
        return;
    print_error("want \"%s\"\n in  \"%.3000s\"\n", words, strbuf_cstr(&r->text));
    _fail(file, line);
}
#define assert_holds(r, words) assert_holds_((r), (words), __FILE__, __LINE__)

/* "line 1\nline 2\n..." */
static struct strbuf numbered(size_t n)
{
    struct strbuf b = {0};

    for (size_t i = 1; i <= n; i++)
        strbuf_addf(&b, "line %zu\n", i);
    return b;
}

/* --- handles --- */

TEST(only_handles_of_this_session_can_be_read)
{
    AUTO(setup) struct setup s = stored(S("mine"));
    AUTO(tool_result) struct tool_result r = {0};
    AUTO(strbuf) struct strbuf want = {0};
    char mine[SHA256_HEX_SIZE];

    memcpy(mine, s.handle, sizeof mine);
    assert_ok(blob_put(s.blobs, S("of another session"), s.handle));
    r = read_stored(&s, "");
    strbuf_addf(&want,
                "There is no such handle in this session. Copy the handle from the message that "
                "names it. The latest:\n%s (Bash, 4 bytes, 3 lines)",
                mine);
    assert_true(r.is_error);
    assert_str(strbuf_str(&r.text), strbuf_cstr(&want));
}

TEST(the_latest_handles_are_named_when_one_is_wrong)
{
    AUTO(setup) struct setup s = stored(S("text 0"));
    AUTO(tool_result) struct tool_result r = {0};
    char handles[8][SHA256_HEX_SIZE], text[16];

    memcpy(handles[0], s.handle, sizeof s.handle);
    for (int i = 1; i < 8; i++) {
        snprintf(text, sizeof text, "text %d", i);
        store(&s, str_of(text));
        memcpy(handles[i], s.handle, sizeof s.handle);
    }
    r = tool_call(&s.fixture, &tool_tool_output, "{\"handle\":\"abc\"}");
    assert_true(r.is_error);
    for (int i = 0; i < 8; i++)
        assert_int_equal(holds(&r, handles[i]), i >= 3);
}

TEST(without_stored_results_there_is_nothing_to_read)
{
    static const char *const handles[] = {"", "abc", "../../etc/passwd", "x:y"};
    AUTO(setup) struct setup s = {.fixture = tool_fixture_make()};

    s.blobs = blob_files_new(temp_path(&s.fixture.dir, "blobs"), 0);
    s.fixture.context.blobs = s.blobs;
    for (size_t i = 0; i < ARRAY_LEN(handles); i++) {
        AUTO(tool_result) struct tool_result r = {0};
        char args[64];

        snprintf(args, sizeof args, "{\"handle\":\"%s\"}", handles[i]);
        r = tool_call(&s.fixture, &tool_tool_output, args);
        assert_true(r.is_error);
        assert_holds(&r, "no result of this session was stored");
    }
}

TEST(a_state_key_that_names_no_blob_is_not_followed)
{
    AUTO(setup) struct setup s = stored(S("text"));
    AUTO(tool_result) struct tool_result r = {0};
    AUTO(arena) struct arena a = {0};

    tool_state_set(s.fixture.state, STATE_RESULT, S("../x"), json_new(&a, JSON_OBJECT));
    r = tool_call(&s.fixture, &tool_tool_output, "{\"handle\":\"../x\"}");
    assert_true(r.is_error);
    assert_holds(&r, "There is no such handle");
}

TEST(a_result_that_was_removed_meanwhile_is_told)
{
    AUTO(setup) struct setup s = stored(S("text"));
    AUTO(tool_result) struct tool_result r = {0};

    assert_ok(blob_remove(s.blobs, str_of(s.handle)));
    r = read_stored(&s, "");
    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_TOOL_FAILED);
    assert_holds(&r, "is missing. Run the tool that returned it again");
}

/* --- lines --- */

TEST(lines_are_numbered)
{
    assert_shown(S("one\ntwo\r\n\nfour"), "",
                 "1\tone\n2\ttwo\n3\t\n4\tfour\n"
                 "[lines 1-4: the end]");
}

TEST(offset_and_limit_choose_lines)
{
    AUTO(strbuf) struct strbuf text = numbered(10);
    struct str s = strbuf_str(&text);

    assert_shown(s, "\"offset\":3,\"limit\":2",
                 "3\tline 3\n4\tline 4\n"
                 "[lines 3-4, up to byte 28 of 71; to continue, set offset to 5]");
    assert_shown(s, "\"offset\":0,\"limit\":1",
                 "1\tline 1\n[lines 1-1, up to byte 7 of 71; to continue, set offset to 2]");
    assert_shown(s, "\"offset\":10", "10\tline 10\n[lines 10-10: the end]");
    assert_refused(s, "\"offset\":11", "offset 11 is past the end: there are 10 lines");
    assert_refused(s, "\"offset\":9223372036854775807",
                   "offset 9223372036854775807 is past the end: there are 10 lines");
    assert_refused(S("one\n"), "\"offset\":2", "offset 2 is past the end: there is 1 line");
}

TEST(two_hundred_lines_are_shown_unless_more_are_asked_for)
{
    AUTO(strbuf) struct strbuf text = numbered(300);
    AUTO(setup) struct setup s = stored(strbuf_str(&text));
    AUTO(tool_result) struct tool_result some = read_stored(&s, "");
    AUTO(tool_result) struct tool_result all = read_stored(&s, "\"limit\":300");

    assert_holds(&some, "200\tline 200\n[lines 1-200, up to byte 1692 of 2592; to continue, "
                        "set offset to 201]");
    assert_holds(&all, "300\tline 300\n[lines 1-300: the end]");
}

TEST(an_empty_result_is_told_as_such)
{
    assert_shown(S(""), "", "The stored result is empty.");
    assert_shown(S(""), "\"mode\":\"full-chunked\"", "The stored result is empty.");
    assert_shown(S(""), "\"pattern\":\"x\"", "The stored result is empty.");
}

TEST(long_lines_are_cut)
{
    AUTO(strbuf) struct strbuf text = {0}, want = {0};

    for (int i = 0; i < 2100; i++)
        strbuf_add_cstr(&text, "\xC3\xA4");
    strbuf_add_cstr(&want, "1\t");
    strbuf_add(&want, str_slice(strbuf_str(&text), 0, 4000));
    strbuf_add_cstr(&want, "... [100 characters left out]\n2\tend\n"
                           "[long lines are cut; to read the first of them whole, add "
                           "\"mode\":\"full-chunked\",\"offset\":0]\n"
                           "[lines 1-2: the end]");
    strbuf_add_cstr(&text, "\nend");
    assert_shown(strbuf_str(&text), "", strbuf_cstr(&want));
}

TEST(bytes_that_are_no_text_are_repaired)
{
    assert_shown(S("a\xff"
                   "b\n\0c"),
                 "\"limit\":1",
                 "1\ta\xEF\xBF\xBD"
                 "b\n[lines 1-1, up to byte 4 of 6; to continue, set offset to 2]");
}

/* What one call shows is never stored in turn, and following its last line reads everything. */
TEST(going_on_as_told_reads_everything_in_bounded_steps)
{
    AUTO(strbuf) struct strbuf text = {0}, seen = {0}, want = {0};
    AUTO(setup) struct setup s = {0};
    unsigned long offset = 1;
    int n_calls = 0;

    for (int i = 1; i <= 3000; i++) {
        strbuf_addf(&text, "%d:%0*d\n", i, i % 300 + 1, i);
        strbuf_addf(&want, "%d\t%d:%0*d\n", i, i, i % 300 + 1, i);
    }
    s = stored(strbuf_str(&text));
    while (offset) {
        AUTO(tool_result) struct tool_result r = {0};
        char args[64];
        const char *note, *next;

        snprintf(args, sizeof args, "\"offset\":%lu,\"limit\":2000", offset);
        r = read_stored(&s, args);
        assert_false(r.is_error);
        assert_true(utf8_count(strbuf_str(&r.text)) < TOOL_CODING_MAX_CHARS);
        note = strrchr(r.text.p, '[');
        strbuf_add(&seen, str_make(r.text.p, (size_t)(note - r.text.p)));
        next = strstr(note, "offset to ");
        offset = next ? strtoul(next + 10, NULL, 10) : 0;
        n_calls++;
    }
    assert_true(str_eq(strbuf_str(&seen), strbuf_str(&want)));
    assert_true(n_calls > 10);
}

TEST(a_single_line_of_a_megabyte_can_be_reached_by_line_numbers)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(setup) struct setup s = {0};
    AUTO(tool_result) struct tool_result found = {0}, last = {0};

    for (int i = 0; i < 1 << 18; i++)
        strbuf_add_cstr(&text, i == 200000 ? "xyz" : "\xE2\x82\xAC");
    s = stored(strbuf_str(&text));
    /* in pieces of 65535 bytes, since a character of three bytes does not fit into one more */
    found = read_stored(&s, "\"pattern\":\"xyz\"");
    assert_true(str_starts(strbuf_str(&found.text), S("10:[9684 bytes left out] ...\xE2\x82\xAC")));
    assert_holds(&found, "\xE2\x82\xACxyz\xE2\x82\xAC");
    last = read_stored(&s, "\"offset\":13");
    assert_str(strbuf_str(&last.text), "13\t\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\n"
                                       "[lines 13-13: the end]");
}

/* --- patterns --- */

TEST(a_pattern_shows_the_lines_that_match)
{
    static const char text[] = "ok 1\nFAIL 2\nok 3\nfail 4\nFAIL 5";

    assert_shown(str_of(text), "\"pattern\":\"^FAIL \\\\d$\"",
                 "2:FAIL 2\n--\n5:FAIL 5\n[2 matching lines: no others]");
    assert_shown(str_of(text), "\"pattern\":\"(?i)fail\",\"limit\":2",
                 "2:FAIL 2\n--\n4:fail 4\n[2 matching lines; there are more: to continue, repeat "
                 "the pattern and "
                 "set offset to 5]");
    assert_shown(str_of(text), "\"pattern\":\"(?i)fail\",\"offset\":5",
                 "5:FAIL 5\n[1 matching line: no others]");
    assert_shown(str_of(text), "\"pattern\":\"ok\",\"mode\":\"read-grep\",\"extract\":\"fail\"",
                 "1:ok 1\n--\n3:ok 3\n[2 matching lines: no others]");
}

#define GAP "\n[930 bytes in 7 lines after line 1 were too much to keep. "

/* A stored output without its middle. */
static void assert_shown_with_gap(const char *args, const char *want)
{
    AUTO(setup) struct setup s = stored(S("row 1\n... [930 bytes of output left out] ...\nrow 9"));
    AUTO(arena) struct arena a = {0};
    struct json *value, *gap = json_new(&a, JSON_OBJECT);
    struct stored_result known;

    assert_true(stored_result_find(s.fixture.state, str_of(s.handle), &known));
    value = json_copy(&a, known.value);
    json_set_int(&a, gap, "bytes", 930);
    json_set_int(&a, gap, "lines", 7);
    json_set_int(&a, gap, "line", 1);
    json_set(&a, value, TOOL_LEFT_OUT, gap);
    tool_state_set(s.fixture.state, STATE_RESULT, str_of(s.handle), value);
    {
        AUTO(tool_result) struct tool_result r = read_stored(&s, args);

        assert_str(strbuf_str(&r.text), want);
    }
}

TEST(what_was_never_stored_is_told)
{
    assert_shown_with_gap("\"pattern\":\"row 5\"",
                          "No line of the stored result matches. Try another pattern ((?i) at its "
                          "start ignores case), or read the lines with offset and limit." GAP
                          "What you look for may have been there: run the command again and filter "
                          "what it prints.]");
    assert_shown_with_gap("\"pattern\":\"row 9\"",
                          "3:row 9\n[1 matching line: no others]" GAP
                          "Lines after it are numbered as if nothing were missing.]");
    assert_shown_with_gap("\"offset\":9",
                          "offset 9 is past the end: there are 3 lines" GAP
                          "Lines after it are numbered as if nothing were missing.]");
}

TEST(a_result_is_found_by_its_short_name_and_by_its_hash)
{
    AUTO(setup) struct setup s = stored(S("old"));
    AUTO(arena) struct arena a = {0};
    char hash[SHA256_HEX_SIZE];

    assert_ok(blob_put(s.blobs, S("first"), hash));
    assert_str(stored_result_add(s.fixture.state, &a, str_of(hash), json_new(&a, JSON_OBJECT)),
               "out_1");
    assert_ok(blob_put(s.blobs, S("second"), hash));
    assert_str(stored_result_add(s.fixture.state, &a, str_of(hash), json_new(&a, JSON_OBJECT)),
               "out_2");
    assert_str(stored_result_add(s.fixture.state, &a, str_of(hash), json_new(&a, JSON_OBJECT)),
               "out_2"); /* it is the same */
    {
        AUTO(tool_result)
        struct tool_result by_name =
            tool_call(&s.fixture, &tool_tool_output, "{\"handle\":\"out_1\"}");
        AUTO(tool_result) struct tool_result by_hash = {0};

        assert_str(strbuf_str(&by_name.text), "1\tfirst\n[lines 1-1: the end]");
        memcpy(s.handle, hash, sizeof hash);
        by_hash = read_stored(&s, "");
        assert_str(strbuf_str(&by_hash.text), "1\tsecond\n[lines 1-1: the end]");
    }
}

TEST(models_are_shown_four_plain_arguments)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *set = NULL;
    AUTO(strbuf) struct strbuf names = {0};

    assert_ok(tool_registry_add(r, &tool_tool_output, NULL));
    set = tool_registry_snapshot(r);
    json_each (property, json_get(set->entries[0].def.input_schema, "properties"))
        strbuf_addf(&names, "%" STR_FMT " ", STR_ARG(property->key));
    assert_str(strbuf_str(&names), "handle pattern offset limit ");
}

TEST(context_is_shown_once_where_it_overlaps)
{
    AUTO(strbuf) struct strbuf text = numbered(20);

    assert_shown(strbuf_str(&text), "\"pattern\":\" (3|5|6|15|20)$\",\"context\":2",
                 "1-line 1\n2-line 2\n3:line 3\n4-line 4\n5:line 5\n6:line 6\n7-line 7\n8-line 8\n"
                 "--\n13-line 13\n14-line 14\n15:line 15\n16-line 16\n17-line 17\n18-line 18\n"
                 "19-line 19\n20:line 20\n[5 matching lines: no others]");
}

TEST(no_match_is_told_with_what_to_try)
{
    AUTO(setup) struct setup s = stored(S("one\ntwo\n"));
    AUTO(tool_result) struct tool_result r = read_stored(&s, "\"pattern\":\"three\"");

    assert_false(r.is_error);
    assert_true(str_starts(strbuf_str(&r.text), S("No line of the stored result matches. Try")));
}

TEST(at_most_two_hundred_matches_are_shown)
{
    AUTO(strbuf) struct strbuf text = numbered(500);
    AUTO(setup) struct setup s = stored(strbuf_str(&text));
    AUTO(tool_result) struct tool_result r = read_stored(&s, "\"pattern\":\".\",\"limit\":2000");

    assert_holds(
        &r,
        "\n200:line 200\n[200 matching lines; there are more: to continue, repeat the pattern and "
        "set offset to 201]");
    assert_int_equal(json_int_or(json_get(r.details, "matches"), 0), 200);
}

TEST(matches_stop_when_enough_is_shown)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(setup) struct setup s = {0};
    AUTO(tool_result) struct tool_result r = {0};

    for (int i = 0; i < 100; i++)
        strbuf_addf(&text, "%01500d\n", i);
    s = stored(strbuf_str(&text));
    r = read_stored(&s, "\"pattern\":\"[05]$\",\"context\":50");
    assert_true(utf8_count(strbuf_str(&r.text)) < TOOL_CODING_MAX_CHARS);
    assert_holds(&r, "[4 matching lines; there are more: to continue, repeat the pattern and "
                     "set offset to 17]");
}

TEST(a_match_is_shown_even_when_its_context_alone_is_too_much)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(setup) struct setup s = {0};
    AUTO(tool_result) struct tool_result r = {0};

    for (int i = 0; i < 100; i++)
        strbuf_addf(&text, "%01900d%s\n", i, i == 60 ? "here" : "");
    s = stored(strbuf_str(&text));
    r = read_stored(&s, "\"pattern\":\"here\",\"context\":50");
    assert_true(utf8_count(strbuf_str(&r.text)) < TOOL_CODING_MAX_CHARS);
    assert_holds(&r, "\n--\n61:");
    assert_holds(&r, "60here\n[1 matching line: no others]");
}

TEST(a_long_line_is_shown_around_its_match)
{
    AUTO(strbuf) struct strbuf text = {0}, want = {0};

    strbuf_addf(&text, "%05000dhere%05000d", 0, 0);
    strbuf_addf(&want,
                "1:[4500 bytes left out] ...%0500dhere%01496d... [3504 characters left out]\n"
                "[1 matching line: no others]",
                0, 0);
    assert_shown(strbuf_str(&text), "\"pattern\":\"here\"", strbuf_cstr(&want));
}

TEST(a_pattern_that_is_wrong_is_told)
{
    AUTO(setup) struct setup s = stored(S("text"));
    AUTO(tool_result) struct tool_result r = read_stored(&s, "\"pattern\":\"(\"");

    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_VALIDATION);
    assert_holds(&r, "is not a regular expression");
}

TEST(a_pattern_that_runs_away_ends)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(setup) struct setup s = {0};
    AUTO(tool_result) struct tool_result r = {0};

    for (int i = 0; i < 3000; i++)
        strbuf_add_char(&text, 'a');
    strbuf_add_char(&text, '!');
    s = stored(strbuf_str(&text));
    r = read_stored(&s, "\"pattern\":\"^(a|aa)+$\"");
    assert_true(r.is_error);
    assert_holds(&r, "takes too many steps");
}

TEST(a_result_of_many_blocks_is_searched_and_read_on_from_any_line)
{
    AUTO(strbuf) struct strbuf text = numbered(200000);
    AUTO(setup) struct setup s = stored(strbuf_str(&text));
    AUTO(tool_result)
    struct tool_result found = read_stored(&s, "\"pattern\":\"line 1?99999$\",\"context\":1");
    AUTO(tool_result)
    struct tool_result lines = read_stored(&s, "\"offset\":123456,\"limit\":1");

    assert_str(strbuf_str(&found.text),
               "99998-line 99998\n99999:line 99999\n100000-line 100000\n--\n"
               "199998-line 199998\n199999:line 199999\n200000-line 200000\n"
               "[2 matching lines: no others]");
    assert_true(str_starts(strbuf_str(&lines.text), S("123456\tline 123456\n")));
}

/* --- words --- */

TEST(words_find_the_lines_that_hold_most_of_them)
{
    static const char text[] = "the build began\n"
                               "warning: unused variable\n"
                               "the build goes on\n"
                               "Error: undefined Symbol in main.c\n"
                               "the build has an error\n";

    assert_shown(str_of(text), "\"extract\":\"the error with the symbol\",\"limit\":1",
                 "4:Error: undefined Symbol in main.c\n[1 line with these words, the best ones; "
                 "there are more: search with a pattern, or read around a line with offset]");
    assert_shown(str_of(text), "\"extract\":\"ERROR\",\"mode\":\"read-grep\"",
                 "4:Error: undefined Symbol in main.c\n5:the build has an error\n"
                 "[2 lines with these words: no others]");
    assert_shown(str_of(text), "\"extract\":\"unused?\",\"context\":1,\"mode\":\"auto\"",
                 "1-the build began\n2:warning: unused variable\n3-the build goes on\n"
                 "[1 line with these words: no others]");
}

TEST(rare_words_count_for_more)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < 100; i++)
        strbuf_addf(&text, "common frequent\n");
    strbuf_add_cstr(&text, "singular\n");
    for (int i = 0; i < 100; i++)
        strbuf_addf(&text, "common frequent\n");
    assert_shown(strbuf_str(&text), "\"extract\":\"common frequent singular\",\"limit\":2",
                 "1:common frequent\n--\n101:singular\n[2 lines with these words, the best ones; "
                 "there are more: search with a pattern, or read around a line with offset]");
}

TEST(short_words_count_when_there_are_no_others)
{
    assert_shown(S("a b\nc d\n"), "\"extract\":\"d\"",
                 "2:c d\n[1 line with these words: no others]");
}

TEST(words_in_other_letters_are_found_in_any_case)
{
    assert_shown(S("x\n\xC3\x9C"
                   "BERMUT\n"),
                 "\"extract\":\"\xC3\xBC"
                 "bermut\"",
                 "2:\xC3\x9C"
                 "BERMUT\n[1 line with these words: no others]");
}

TEST(words_that_are_not_there_show_the_ends_instead)
{
    assert_shown(S("one\ntwo\n"), "\"extract\":\"three\"",
                 "No line of the stored result holds one of these words. Its start and its end:\n"
                 "one\ntwo\n[bytes 0-8 of 8: the end]");
    assert_shown(S("one\n"), "\"extract\":\"?!\"",
                 "No line of the stored result holds one of these words. Its start and its end:\n"
                 "one\n[bytes 0-4 of 4: the end]");
}

TEST(a_search_needs_something_to_look_for)
{
    assert_refused(S("text"), "\"mode\":\"read-grep\"",
                   "mode=read-grep needs a pattern, or extract with the words to look for.");
}

/* --- chunks and ends --- */

TEST(chunks_give_every_byte)
{
    AUTO(strbuf) struct strbuf text = {0}, seen = {0};
    AUTO(setup) struct setup s = {0};
    unsigned long offset = 0;
    int n_calls = 0;

    for (int i = 0; i < 30000; i++)
        strbuf_add_cstr(&text, i % 3000 == 2999 ? "\n" : "\xE2\x82\xAC");
    s = stored(strbuf_str(&text));
    do {
        AUTO(tool_result) struct tool_result r = {0};
        char args[64];
        const char *note, *next;

        snprintf(args, sizeof args, "\"mode\":\"full-chunked\",\"offset\":%lu", offset);
        r = read_stored(&s, args);
        assert_false(r.is_error);
        assert_true(utf8_count(strbuf_str(&r.text)) < TOOL_CODING_MAX_CHARS);
        note = strrchr(r.text.p, '[');
        next = strstr(note, "offset to ");
        strbuf_add(&seen, str_make(r.text.p, (size_t)(note - r.text.p)));
        if (next && text.p[strtoul(next + 10, NULL, 10) - 1] != '\n')
            strbuf_cut(&seen, seen.n - 1); /* the note stands on a line of its own */
        offset = next ? strtoul(next + 10, NULL, 10) : 0;
        n_calls++;
    } while (offset);
    assert_int_equal(n_calls, 4);
    assert_true(str_eq(strbuf_str(&seen), strbuf_str(&text)));
    assert_refused(S("text"), "\"mode\":\"full-chunked\",\"offset\":4",
                   "offset 4 is past the end: there are 4 bytes");
    assert_refused(S("t"), "\"mode\":\"full-chunked\",\"offset\":1",
                   "offset 1 is past the end: there is 1 byte");
}

TEST(a_chunk_that_ends_inside_a_line_leaves_out_no_byte)
{
    assert_shown(S("some\ntext"), "\"mode\":\"full-chunked\",\"offset\":5",
                 "text\n[bytes 5-9 of 9: the end]");
}

TEST(the_ends_of_a_long_result_are_whole_lines)
{
    AUTO(strbuf) struct strbuf text = numbered(5000);
    AUTO(setup) struct setup s = stored(strbuf_str(&text));
    AUTO(tool_result) struct tool_result r = read_stored(&s, "\"mode\":\"truncate\"");

    assert_true(str_starts(strbuf_str(&r.text), S("line 1\nline 2\n")));
    assert_holds(&r, "\n... [24900 bytes left out; to read them, set mode to full-chunked and "
                     "offset to 11993] ...\nline 3801\n");
    assert_true(
        str_ends(strbuf_str(&r.text), S("\nline 5000\n[the start and the end of 48893 bytes]")));
}

TEST(a_short_result_has_no_ends)
{
    assert_shown(S("one\ntwo"), "\"mode\":\"truncate\"", "one\ntwo\n[bytes 0-7 of 7: the end]");
}

/* --- cancelling --- */

struct cancelled_call {
    struct setup *setup;
    const char *args;
    struct tool_result result;
};

static struct err *call_in_task(void *arg)
{
    struct cancelled_call *c = arg;

    c->result = tool_call_in_task(&c->setup->fixture, &tool_tool_output, c->args);
    return NULL;
}

/* A child of a cancelled group is cancelled from its first wait on. */
static struct err *call_cancelled(void *arg)
{
    struct group g;

    group_begin(&g, 0, 0);
    group_cancel(&g);
    group_spawn(&g, "call", call_in_task, arg);
    return group_end(&g);
}

TEST(a_call_that_is_cancelled_shows_nothing)
{
    static const char *const ways[] = {"", ",\"pattern\":\"e\"", ",\"extract\":\"text\"",
                                       ",\"mode\":\"truncate\""};
    AUTO(setup) struct setup s = stored(S("text"));

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        AUTO(strbuf) struct strbuf args = {0};
        struct cancelled_call c = {.setup = &s};

        strbuf_addf(&args, "{\"handle\":\"%s\"%s}", s.handle, ways[i]);
        c.args = strbuf_cstr(&args);
        assert_ok(loop_run_once(call_cancelled, &c));
        assert_true(c.result.is_error);
        assert_int_equal(c.result.code, ERR_CANCELLED);
        tool_result_done(&c.result);
    }
}

TEST(arguments_are_checked)
{
    static const char *const wrong[] = {
        "\"limit\":0",      "\"limit\":2001",   "\"offset\":-1",   "\"context\":51",
        "\"mode\":\"all\"", "\"pattern\":\"\"", "\"query\":\"x\"",
    };
    AUTO(setup) struct setup s = stored(S("text"));

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        AUTO(tool_result) struct tool_result r = read_stored(&s, wrong[i]);

        assert_true(r.is_error);
        assert_int_equal(r.code, ERR_VALIDATION);
    }
}

RUN_TESTS(UNIT(only_handles_of_this_session_can_be_read),
          UNIT(the_latest_handles_are_named_when_one_is_wrong),
          UNIT(without_stored_results_there_is_nothing_to_read),
          UNIT(a_state_key_that_names_no_blob_is_not_followed),
          UNIT(a_result_that_was_removed_meanwhile_is_told), UNIT(lines_are_numbered),
          UNIT(offset_and_limit_choose_lines),
          UNIT(two_hundred_lines_are_shown_unless_more_are_asked_for),
          UNIT(an_empty_result_is_told_as_such), UNIT(long_lines_are_cut),
          UNIT(bytes_that_are_no_text_are_repaired),
          UNIT(going_on_as_told_reads_everything_in_bounded_steps),
          UNIT(a_single_line_of_a_megabyte_can_be_reached_by_line_numbers),
          UNIT(a_pattern_shows_the_lines_that_match), UNIT(what_was_never_stored_is_told),
          UNIT(a_result_is_found_by_its_short_name_and_by_its_hash),
          UNIT(models_are_shown_four_plain_arguments),
          UNIT(context_is_shown_once_where_it_overlaps), UNIT(no_match_is_told_with_what_to_try),
          UNIT(at_most_two_hundred_matches_are_shown), UNIT(matches_stop_when_enough_is_shown),
          UNIT(a_match_is_shown_even_when_its_context_alone_is_too_much),
          UNIT(a_long_line_is_shown_around_its_match), UNIT(a_pattern_that_is_wrong_is_told),
          UNIT(a_pattern_that_runs_away_ends),
          UNIT(a_result_of_many_blocks_is_searched_and_read_on_from_any_line),
          UNIT(words_find_the_lines_that_hold_most_of_them), UNIT(rare_words_count_for_more),
          UNIT(short_words_count_when_there_are_no_others),
          UNIT(words_in_other_letters_are_found_in_any_case),
          UNIT(words_that_are_not_there_show_the_ends_instead),
          UNIT(a_search_needs_something_to_look_for), UNIT(chunks_give_every_byte),
          UNIT(a_chunk_that_ends_inside_a_line_leaves_out_no_byte),
          UNIT(the_ends_of_a_long_result_are_whole_lines), UNIT(a_short_result_has_no_ends),
          UNIT(a_call_that_is_cancelled_shows_nothing), UNIT(arguments_are_checked))
