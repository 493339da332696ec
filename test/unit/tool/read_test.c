/* read_test.c - the Read tool. */
#include "calls.h"

#include "tool/file/encoding.h"
#include "tool/file/excerpt.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define PNG "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"

static void put_many_lines(struct tool_fixture *f, const char *name, size_t n)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 1; i <= n; i++)
        strbuf_addf(&text, "line %zu\n", i);
    put_bytes(&f->dir, name, strbuf_str(&text));
}

/* --- text --- */

TEST(text_comes_with_line_numbers)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.txt", "one\n\n\tthree\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a.txt\"}", "1\tone\n2\t\n3\t\tthree\n");
}

TEST(the_seeds_spelling_of_the_path_is_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    assert_says(&f, &tool_read, "{\"filePath\":\"a\"}", "1\tx\n");
}

TEST(a_path_may_be_absolute)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf args = {0};

    put(&f.dir, "a", "x\n");
    strbuf_addf(&args, "{\"file_path\":\"%s/a\"}", f.dir.path);
    assert_says(&f, &tool_read, strbuf_cstr(&args), "1\tx\n");
}

TEST(a_last_line_without_an_end_is_a_line)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\ntwo");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\"}", "1\tone\n2\ttwo\n");
}

TEST(offset_and_limit_choose_lines_and_the_last_line_tells_how_to_read_on)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_many_lines(&f, "a", 10);
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":3,\"limit\":2}",
                "3\tline 3\n4\tline 4\n"
                "[lines 3-4 of 10; to continue, set offset to 5]\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":10,\"limit\":5}", "10\tline 10\n");
}

TEST(an_offset_of_zero_is_the_first_line)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":0}", "1\tx\n");
}

TEST(two_thousand_lines_are_read_unless_told_otherwise)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_many_lines(&f, "a", 2001);
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_has(strbuf_str(&r.text), "\n2000\tline 2000\n"
                                    "[lines 1-2000 of 2001; to continue, set offset to 2001]\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":2001}", "2001\tline 2001\n");
}

TEST(an_offset_past_the_end_tells_how_many_lines_there_are)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_many_lines(&f, "a", 3);
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":4}",
                 "a has 3 lines: line 4 is past its end");
}

TEST(a_huge_offset_is_past_the_end_too)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_many_lines(&f, "a", 3);
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":1e300,\"limit\":1e300}",
                 "a has 3 lines");
}

TEST(a_long_line_is_cut_with_a_note)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0}, want = {0};

    for (int i = 0; i < EXCERPT_LINE_CHARS; i++)
        strbuf_add(&text, S("\xC3\xA9"));
    strbuf_addf(&want,
                "1\t%s... [3 characters left out; to continue in this line, set offset to 1 and "
                "column to 10001]\n2\tb\n",
                strbuf_cstr(&text));
    strbuf_add(&text, S("\xC3\xA9xy\nb\n"));
    put_bytes(&f.dir, "a", strbuf_str(&text));
    assert_says(&f, &tool_read, "{\"file_path\":\"a\"}", strbuf_cstr(&want));
}

TEST(a_line_of_a_megabyte_is_cut_and_its_characters_are_counted)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < 1 << 20; i++)
        strbuf_add_char(&text, 'x');
    put_bytes(&f.dir, "a", strbuf_str(&text));
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_has(strbuf_str(&r.text), "x... [1038576 characters left out; to continue in this line, "
                                    "set offset to 1 and column to 10001]\n");
    assert_true(r.text.n < 10200);
}

TEST(six_kilobytes_of_json_in_one_line_come_whole)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0}, want = {0};

    strbuf_add_cstr(&text, "[0");
    while (text.n < 6000)
        strbuf_add_cstr(&text, ",12345");
    strbuf_add_cstr(&text, "]");
    put_bytes(&f.dir, "a.json", strbuf_str(&text));
    strbuf_addf(&want, "1\t%s\n", strbuf_cstr(&text));
    assert_says(&f, &tool_read, "{\"file_path\":\"a.json\"}", strbuf_cstr(&want));
    assert_true(json_bool(json_get(file_state(&f, "a.json"), "whole"), false));
}

TEST(a_long_line_can_be_read_on_from_a_column)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add_cstr(&text, "first\n");
    for (int i = 0; i < 10000; i++)
        strbuf_add(&text, S("\xC3\xA9"));
    strbuf_add_cstr(&text, "the end\nlast\n");
    put_bytes(&f.dir, "a", strbuf_str(&text));
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_false(json_bool(json_get(file_state(&f, "a"), "whole"), true));
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":2,\"column\":10001}",
                "2\tthe end\n3\tlast\n");
    assert_true(json_bool(json_get(file_state(&f, "a"), "whole"), false));
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":1,\"limit\":1,\"column\":3}",
                "1\trst\n[lines 1-1 of 3; to continue, set offset to 2]\n");
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":1,\"column\":6}",
                 "line 1 of a has 5 characters: column 6 is past its end");
}

TEST(a_part_of_a_line_counts_only_if_what_is_before_it_was_seen)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "0123456789\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"column\":5}");
    assert_false(json_bool(json_get(file_state(&f, "a"), "whole"), true));
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}", "only a part of a");
}

TEST(a_call_returns_at_most_100000_bytes_and_tells_where_it_stopped)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0};

    for (int i = 0; i < 1000; i++)
        strbuf_addf(&text, "%0999d\n", i);
    put_bytes(&f.dir, "a", strbuf_str(&text));
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_true(r.text.n <= EXCERPT_MAX_BYTES + 100);
    assert_has(strbuf_str(&r.text),
               "[lines 1-99 of 1000, cut at 100000 bytes; to continue, set offset to 100]\n");
    assert_true(r.text.n < tool_read.max_chars);
}

TEST(an_empty_file_is_said_to_be_empty)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\"}", "a is empty.");
}

TEST(line_ends_of_windows_and_byte_order_marks_are_not_shown)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "\xEF\xBB\xBFone\r\ntwo\r\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\"}", "1\tone\n2\ttwo\n");
}

TEST(utf_16_with_a_mark_is_read_as_text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "le", S("\xFF\xFEh\0\xE9\0\r\0\n\0\x3D\xD8\x00\xDE"));
    put_bytes(&f.dir, "be", S("\xFE\xFF\0h\0i"));
    assert_says(&f, &tool_read, "{\"file_path\":\"le\"}", "1\th\xC3\xA9\n2\t\xF0\x9F\x98\x80\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"be\"}", "1\thi\n");
}

TEST(latin_1_is_read_as_text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "caf\xE9 \x80 5");
    assert_says(
        &f, &tool_read, "{\"file_path\":\"a\"}",
        "1\tcaf\xC3\xA9 \xE2\x82\xAC 5\n"
        "[not UTF-8: shown as Windows-1252, which Edit and Write keep. If the text makes no "
        "sense, it has another encoding: convert a copy with iconv]\n");
}

TEST(a_text_with_a_stray_nul_is_a_text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(tool_result) struct tool_result r = {0};

    put_bytes(&f.dir, "log", S("started\0 up at noon\nand stopped\n"));
    put_bytes(&f.dir, "table", S("\0\1\0\2\0\3\n\0\4"));
    put_bytes(&f.dir, "list", S("one file\0another file\0a third file\0"));
    r = tool_call(&f, &tool_read, "{\"file_path\":\"log\"}");
    assert_true(str_eq(strbuf_str(&r.text), S("1\tstarted\0 up at noon\n2\tand stopped\n"
                                              "[NUL bytes are shown as \u2400]\n")));
    assert_fails(&f, &tool_read, "{\"file_path\":\"table\"}", "binary file");
    assert_fails(&f, &tool_read, "{\"file_path\":\"list\"}", "binary file");
}

TEST(lines_in_the_words_of_other_agents_are_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "1\n2\n3\n4\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"start_line\":2,\"end_line\":3}",
                "2\t2\n3\t3\n[lines 2-3 of 4; to continue, set offset to 4]\n");
    assert_says(&f, &tool_read, "{\"path\":\"a\",\"view_range\":[3,-1]}", "3\t3\n4\t4\n");
    assert_says(&f, &tool_read, "{\"path\":\"a\",\"start_line\":4}", "4\t4\n");
    assert_fails(&f, &tool_read, "{\"path\":\"a\",\"view_range\":[3,2]}",
                 "has the unknown property \"view_range\" (Read takes file_path, offset, limit, "
                 "column, pages)");
    assert_fails(&f, &tool_read, "{\"path\":\"a\",\"offset\":1,\"start_line\":2}",
                 "unknown property \"start_line\"");
}

TEST(bad_bytes_among_utf_8_are_repaired)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "\xC3\xA9 \xFF x\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\"}", "1\t\xC3\xA9 \xEF\xBF\xBD x\n");
}

/* --- huge files --- */

/* Text at the start, then a hole of a terabyte. */
static void put_huge(struct tool_fixture *f, const char *name)
{
    AUTO(strbuf) struct strbuf text = {0};

    while (text.n < TEXT_HEAD_BYTES)
        strbuf_add(&text, S("some line\n"));
    put_bytes(&f->dir, name, strbuf_str(&text));
    assert_int_equal(truncate(temp_path(&f->dir, name), (off_t)1 << 40), 0);
}

TEST(a_huge_file_is_not_read_on_to_count_its_lines)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_huge(&f, "a");
    assert_says(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":1}",
                "1\tsome line\n[lines 1-1; to continue, set offset to 2]\n");
}

TEST(reading_a_huge_file_ends_when_it_is_cancelled)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct cancelled_call c = {.fixture = &f,
                               .tool = &tool_read,
                               .args = "{\"file_path\":\"a\",\"offset\":1000000}",
                               .has_begun = true};

    put_huge(&f, "a");
    assert_ok(loop_run_once(cancel_it_, &c));
    assert_int_equal(c.code, ERR_CANCELLED);
    assert_null(file_state(&f, "a"));
}

/* --- what is no text --- */

TEST(a_directory_is_refused_with_the_way_to_list_it)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "d/", "");
    assert_fails(&f, &tool_read, "{\"file_path\":\"d\"}", "is a directory");
    assert_fails(&f, &tool_read, "{\"file_path\":\"d\"}", "Glob (pattern \"*\"");
}

TEST(a_missing_file_is_told_with_the_working_directory)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf want = {0};

    strbuf_addf(&want, "there is no file %s/a.c (the working directory is %s)\nHint: find it",
                f.dir.path, f.dir.path);
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.c\"}", strbuf_cstr(&want));
}

TEST(a_missing_file_is_told_with_a_name_that_is_like_it)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "src/settings.c", "");
    put(&f.dir, "src/Makefile", "");
    put(&f.dir, "src/page.tsx", "");
    assert_fails(&f, &tool_read, "{\"file_path\":\"src/setings.c\"}",
                 "did you mean src/settings.c?");
    assert_fails(&f, &tool_read, "{\"file_path\":\"src/makefile\"}", "did you mean src/Makefile?");
    assert_fails(&f, &tool_read, "{\"file_path\":\"src/page.ts\"}", "did you mean src/page.tsx?");
    assert_fails(&f, &tool_read, "{\"file_path\":\"src/other.c\"}", "Hint: find it with Glob");
}

TEST(directories_of_another_case_are_recognised)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct path_filter hidden = {hides_name, "Docs"};

    put(&f.dir, "Docs/Api/Guide.md", "");
    assert_fails(&f, &tool_read, "{\"file_path\":\"docs/Api/Guide.md\"}",
                 "did you mean Docs/Api/Guide.md?");
    assert_fails(&f, &tool_read, "{\"file_path\":\"DOCS/api/guide.md\"}",
                 "did you mean Docs/Api/Guide.md?");
    assert_fails(&f, &tool_read, "{\"file_path\":\"docs/api/other.c\"}",
                 "there is no directory docs/api either, but Docs/Api; find the file with Glob");
    assert_fails(&f, &tool_read, "{\"file_path\":\"else/where.md\"}",
                 "there is no directory else either; find it with Glob (pattern **/where.md)");
    f.context.hidden = &hidden;
    assert_fails(&f, &tool_read, "{\"file_path\":\"docs/Api/Guide.md\"}",
                 "there is no directory docs/Api either; find it");
}

TEST(a_name_that_looks_the_same_is_proposed_so_that_it_can_be_passed)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "u\u0308ber/e\u0301te\u0301.txt", "");
    put(&f.dir, "\u00E9.txt", "");
    assert_fails(
        &f, &tool_read, "{\"file_path\":\"\u00FCber/\u00E9t\u00E9.txt\"}",
        "did you mean \"u\\314\\210ber/e\\314\\201te\\314\\201.txt\"? Its name has special "
        "characters: pass it as it is written here, with the quotes");
    assert_fails(&f, &tool_read, "{\"file_path\":\"e\u0301.txt\"}", "did you mean \u00E9.txt?");
}

static void assert_meant(struct tool_fixture *f, const char *path, const char *want)
{
    AUTO(strbuf) struct strbuf args = {0}, hint = {0};

    strbuf_addf(&args, "{\"file_path\":\"%s\"}", path);
    strbuf_addf(&hint, "Hint: did you mean %s?", temp_path(&f->dir, want));
    assert_fails(f, &tool_read, strbuf_cstr(&args), strbuf_cstr(&hint));
}

TEST(a_path_that_counts_from_the_workspace_is_recognised)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf url = {0};
    struct path_filter hidden = {hides_name, "a.c"};

    put(&f.dir, "src/a.c", "");
    strbuf_addf(&url, "file://%s/src/a.c", f.dir.path);
    assert_meant(&f, "@src/a.c", "src/a.c");
    assert_meant(&f, "b/src/a.c", "src/a.c");
    assert_meant(&f, "/src/a.c", "src/a.c");
    assert_meant(&f, strbuf_cstr(&url), "src/a.c");
    tool_state_set_cwd(f.state, temp_path(&f.dir, "src"));
    assert_meant(&f, "src/a.c", "src/a.c");
    assert_fails(&f, &tool_read, "{\"file_path\":\"src/b.c\"}",
                 "there is no directory src either; find it with Glob (pattern **/b.c)");
    f.context.hidden = &hidden;
    assert_fails(&f, &tool_read, "{\"file_path\":\"src/a.c\"}", "find it with Glob");
}

TEST(a_name_that_is_hidden_by_a_rule_is_not_proposed)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct path_filter hidden = {hides_name, "secrets.env"};

    put(&f.dir, "secrets.env", "");
    f.context.hidden = &hidden;
    assert_fails(&f, &tool_read, "{\"file_path\":\"secret.env\"}", "Hint: find it with Glob");
}

TEST(a_missing_directory_is_told_too)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_fails(&f, &tool_read, "{\"file_path\":\"src/a.c\"}", "there is no directory src either");
}

TEST(a_path_with_a_nul_is_refused)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x");
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\\u0000b\"}", "NUL");
}

TEST(a_pipe_is_refused_without_waiting_for_a_writer)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_int_equal(mkfifo(temp_path(&f.dir, "p"), 0600), 0);
    assert_fails(&f, &tool_read, "{\"file_path\":\"p\"}", "is a pipe, not a file");
}

TEST(a_socket_is_refused)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s", temp_path(&f.dir, "s"));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_fails(&f, &tool_read, "{\"file_path\":\"s\"}", "is a socket, not a file");
    close(fd);
}

TEST(a_device_is_refused)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_fails(&f, &tool_read, "{\"file_path\":\"/dev/zero\"}", "is a device, not a file");
}

TEST(a_file_without_a_size_is_read_to_its_end)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    AUTO(tool_result)
    struct tool_result r = tool_call(&f, &tool_read, "{\"file_path\":\"/proc/self/status\"}");
    assert_false(r.is_error);
    assert_has(strbuf_str(&r.text), "1\tName:");
}

TEST(memory_of_a_process_cannot_be_read_as_a_file)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_fails(&f, &tool_read, "{\"file_path\":\"/proc/self/mem\"}", "cannot read");
}

TEST(a_binary_file_is_refused_with_its_kind)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "a",
              S("\x7F"
                "ELF\2\1\1\0\0\0\0\0"));
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\"}", "it is an ELF program");
}

/* --- media --- */

TEST(an_image_becomes_media)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "d/a.png", S(PNG));
    AUTO(tool_result)
    struct tool_result r = tool_call(&f, &tool_read, "{\"file_path\":\"d/a.png\"}");
    assert_false(r.is_error);
    assert_str(strbuf_str(&r.text), "d/a.png: a PNG image, 16 bytes.");
    assert_int_equal(r.n_media, 1);
    assert_str(r.media[0].mime, "image/png");
    assert_str(r.media[0].name, "a.png");
    assert_int_equal(r.media[0].source, MEDIA_BYTES);
    assert_true(str_eq(r.media[0].data, S(PNG)));
}

TEST(an_image_is_refused_when_the_model_cannot_see)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    const struct model_info blind = {.capabilities = CAN_TOOLS | CAN_READ_PDF};

    put_bytes(&f.dir, "a.png", S(PNG));
    f.context.model = &blind;
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.png\"}", "this model cannot see images");
    assert_null(file_state(&f, "a.png"));
}

TEST(a_pdf_becomes_media_when_the_model_can_read_it)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    const struct model_info reader = {.capabilities = CAN_READ_PDF};
    const struct model_info blind = {.capabilities = CAN_SEE_IMAGES};

    put(&f.dir, "a.pdf", "%PDF-1.7\n");
    f.context.model = &reader;
    AUTO(tool_result)
    struct tool_result r = tool_call(&f, &tool_read, "{\"file_path\":\"a.pdf\"}");
    assert_str(strbuf_str(&r.text), "a.pdf: a PDF document, 9 bytes.");
    assert_str(r.media[0].mime, "application/pdf");
    f.context.model = &blind;
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.pdf\"}",
                 "this model cannot see PDF documents");
}

TEST(media_over_their_limits_are_refused)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "a.png", S(PNG));
    put(&f.dir, "a.pdf", "%PDF-1.7\n");
    assert_int_equal(truncate(temp_path(&f.dir, "a.png"), (32 << 20) + 1), 0);
    assert_int_equal(truncate(temp_path(&f.dir, "a.pdf"), (60 << 20) + 1), 0);
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.png\"}", "over the limit of 33554432");
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.pdf\"}", "over the limit of 62914560");
}

TEST(an_image_that_no_model_takes_is_refused_with_its_kind)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "a.tif", S("II*\0\x08\0\0\0"));
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.tif\"}", "it is a TIFF image");
}

TEST(an_svg_image_is_text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a.svg", "<svg></svg>\n");
    assert_says(&f, &tool_read, "{\"file_path\":\"a.svg\"}", "1\t<svg></svg>\n");
}

TEST(pages_are_for_pdfs_only)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\",\"pages\":\"1\"}", "has no pages");
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\",\"pages\":\"first\"}", "pages");
    put(&f.dir, "a.pdf", "%PDF-1.7\n");
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.pdf\",\"pages\":\"5-3\"}",
                 "there are no pages 5-3");
    assert_fails(&f, &tool_read, "{\"file_path\":\"a.pdf\",\"pages\":\"0\"}",
                 "there are no pages 0");
}

/* --- what is remembered --- */

TEST(what_was_read_is_remembered_with_its_state)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    const struct json *seen;
    struct stat st;

    put(&f.dir, "a", "one\ntwo\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_int_equal(stat(temp_path(&f.dir, "a"), &st), 0);
    seen = file_state(&f, "a");
    assert_int_equal(json_int_or(json_get(seen, "size"), -1), 8);
    assert_int_equal(json_int_or(json_get(seen, "inode"), -1), st.st_ino);
    assert_int_equal(json_int_or(json_get(seen, "mtime_ns"), -1),
                     st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
    assert_true(json_bool(json_get(seen, "whole"), false));
}

TEST(a_part_is_remembered_as_a_part)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\ntwo\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":1}");
    assert_false(json_bool(json_get(file_state(&f, "a"), "whole"), true));
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":1}");
    assert_false(json_bool(json_get(file_state(&f, "a"), "whole"), true));
}

TEST(all_parts_together_are_the_whole)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "1\n2\n3\n4\n5\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":4}");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":2}");
    assert_false(json_bool(json_get(file_state(&f, "a"), "whole"), true));
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":3,\"limit\":1}");
    assert_true(json_bool(json_get(file_state(&f, "a"), "whole"), false));
}

TEST(parts_of_a_file_that_changed_in_between_are_not_the_whole)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "1\n2\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"offset\":2}");
    put(&f.dir, "a", "1\n3\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":1}");
    assert_false(json_bool(json_get(file_state(&f, "a"), "whole"), true));
}

TEST(a_link_to_nothing_is_told_as_such)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_int_equal(symlink("gone.go", temp_path(&f.dir, "dangling.go")), 0);
    f.context.target = temp_path(&f.dir, "gone.go");
    assert_fails(&f, &tool_read, "{\"file_path\":\"dangling.go\"}",
                 "dangling.go is a link to gone.go, which does not exist\nHint: find the file");
}

RUN_TESTS(UNIT(a_text_with_a_stray_nul_is_a_text),
          UNIT(lines_in_the_words_of_other_agents_are_taken),
          UNIT(a_path_that_counts_from_the_workspace_is_recognised),
          UNIT(text_comes_with_line_numbers), UNIT(the_seeds_spelling_of_the_path_is_taken),
          UNIT(a_path_may_be_absolute), UNIT(a_last_line_without_an_end_is_a_line),
          UNIT(offset_and_limit_choose_lines_and_the_last_line_tells_how_to_read_on),
          UNIT(an_offset_of_zero_is_the_first_line),
          UNIT(two_thousand_lines_are_read_unless_told_otherwise),
          UNIT(an_offset_past_the_end_tells_how_many_lines_there_are),
          UNIT(a_huge_offset_is_past_the_end_too), UNIT(a_long_line_is_cut_with_a_note),
          UNIT(a_line_of_a_megabyte_is_cut_and_its_characters_are_counted),
          UNIT(six_kilobytes_of_json_in_one_line_come_whole),
          UNIT(a_long_line_can_be_read_on_from_a_column),
          UNIT(a_part_of_a_line_counts_only_if_what_is_before_it_was_seen),
          UNIT(a_call_returns_at_most_100000_bytes_and_tells_where_it_stopped),
          UNIT(an_empty_file_is_said_to_be_empty),
          UNIT(line_ends_of_windows_and_byte_order_marks_are_not_shown),
          UNIT(utf_16_with_a_mark_is_read_as_text), UNIT(latin_1_is_read_as_text),
          UNIT(bad_bytes_among_utf_8_are_repaired),
          UNIT(a_huge_file_is_not_read_on_to_count_its_lines),
          UNIT(reading_a_huge_file_ends_when_it_is_cancelled),
          UNIT(a_directory_is_refused_with_the_way_to_list_it),
          UNIT(a_missing_file_is_told_with_the_working_directory),
          UNIT(a_missing_file_is_told_with_a_name_that_is_like_it),
          UNIT(directories_of_another_case_are_recognised),
          UNIT(a_name_that_looks_the_same_is_proposed_so_that_it_can_be_passed),
          UNIT(a_name_that_is_hidden_by_a_rule_is_not_proposed),
          UNIT(a_missing_directory_is_told_too), UNIT(a_path_with_a_nul_is_refused),
          UNIT(a_pipe_is_refused_without_waiting_for_a_writer), UNIT(a_socket_is_refused),
          UNIT(a_device_is_refused), UNIT(a_file_without_a_size_is_read_to_its_end),
          UNIT(memory_of_a_process_cannot_be_read_as_a_file),
          UNIT(a_binary_file_is_refused_with_its_kind), UNIT(an_image_becomes_media),
          UNIT(an_image_is_refused_when_the_model_cannot_see),
          UNIT(a_pdf_becomes_media_when_the_model_can_read_it),
          UNIT(media_over_their_limits_are_refused),
          UNIT(an_image_that_no_model_takes_is_refused_with_its_kind), UNIT(an_svg_image_is_text),
          UNIT(pages_are_for_pdfs_only), UNIT(what_was_read_is_remembered_with_its_state),
          UNIT(a_part_is_remembered_as_a_part), UNIT(all_parts_together_are_the_whole),
          UNIT(parts_of_a_file_that_changed_in_between_are_not_the_whole),
          UNIT(a_link_to_nothing_is_told_as_such))
