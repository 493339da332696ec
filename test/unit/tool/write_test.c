/* write_test.c - the Write tool. */
#include "calls.h"

#include <sys/stat.h>
#include <sys/time.h>

TEST(a_new_file_is_created_with_its_directories)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_says(&f, &tool_write, "{\"file_path\":\"a/b/c.txt\",\"content\":\"one\\ntwo\\n\"}",
                "Created a/b/c.txt (8 bytes, 2 lines).\n");
    assert_file(&f, "a/b/c.txt", "one\ntwo\n");
}

TEST(the_seeds_spelling_of_the_path_is_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_works(&f, &tool_write, "{\"filePath\":\"a\",\"content\":\"x\"}");
    assert_file(&f, "a", "x");
}

TEST(a_new_file_gets_the_mode_that_the_mask_leaves)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    mode_t was = umask(027);
    struct stat st;

    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}");
    umask(was);
    assert_int_equal(stat(temp_path(&f.dir, "a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

TEST(a_file_that_was_not_read_is_not_overwritten)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "mine\n");
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}",
                 "a exists and has not been read in this session\nHint: read it with Read");
    assert_file(&f, "a", "mine\n");
}

TEST(a_file_that_was_read_is_updated_and_the_change_is_shown)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\ntwo\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_says(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"one\\nTWO\\n\"}",
                "Updated a (8 bytes, 2 lines).\n\n"
                "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n");
    assert_file(&f, "a", "one\nTWO\n");
}

TEST(a_file_that_changed_since_it_was_read_is_not_overwritten)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    put(&f.dir, "a", "another\n");
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}",
                 "a has changed since it was read");
    assert_file(&f, "a", "another\n");
}

TEST(a_file_with_the_same_content_counts_as_unchanged)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    const struct timeval times[2] = {{1000, 0}, {1000, 0}};

    put(&f.dir, "a", "one\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_int_equal(utimes(temp_path(&f.dir, "a"), times), 0);
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"two\\n\"}");
    put(&f.dir, "b", "two\n");
    assert_int_equal(rename(temp_path(&f.dir, "b"), temp_path(&f.dir, "a")), 0);
    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"old_string\":\"two\",\"new_string\":\"three\"}");
    assert_file(&f, "a", "three\n");
}

TEST(a_file_that_was_seen_in_part_is_not_overwritten)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0};

    put(&f.dir, "a", "1\n2\n3\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":1}");
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}",
                 "only a part of a has been read, and Write would replace all of it; nothing was "
                 "written\nHint: read the rest with Read (from offset 2 on), or use Edit");
    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"old_string\":\"1\",\"new_string\":\"one\"}");
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}", "only a part of a");
    assert_file(&f, "a", "one\n2\n3\n");

    strbuf_add_cstr(&text, "short\n");
    for (int i = 0; i < 20000; i++)
        strbuf_add_char(&text, 'x');
    put_bytes(&f.dir, "long", strbuf_str(&text));
    assert_works(&f, &tool_read, "{\"file_path\":\"long\"}");
    assert_fails(&f, &tool_write, "{\"file_path\":\"long\",\"content\":\"x\"}",
                 "Hint: read the rest with Read (offset 2, column 10001), or use Edit");
    assert_works(&f, &tool_read, "{\"file_path\":\"long\",\"offset\":2,\"column\":10001}");
    assert_works(&f, &tool_write, "{\"file_path\":\"long\",\"content\":\"x\"}");
}

TEST(a_note_of_what_was_left_out_is_not_written)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "1\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_fails(
        &f, &tool_write,
        "{\"file_path\":\"a\",\"content\":\"x... [98000 characters left out; to read on\"}",
        "the content contains \"[98000 characters left out...\"");
    assert_fails(&f, &tool_write,
                 "{\"file_path\":\"new\",\"content\":\"a\\n... [1 character left out] ...\"}",
                 "a note in place of text that was not shown");
    assert_file(&f, "a", "1\n");
    /* unless the file is about such notes */
    put(&f.dir, "b", "[5 bytes left out]\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"b\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"b\",\"content\":\"[5 bytes left out]\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"c\",\"content\":\"[a characters left out\"}");
}

TEST(a_change_that_keeps_the_size_is_noticed)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    const struct timeval times[2] = {{1000, 0}, {1000, 0}};

    put(&f.dir, "a", "one\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    put(&f.dir, "a", "two\n");
    assert_int_equal(utimes(temp_path(&f.dir, "a"), times), 0);
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}", "has changed since");
}

TEST(another_file_in_its_place_is_noticed_though_time_and_size_are_the_same)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    const struct timeval times[2] = {{1000, 0}, {1000, 0}};

    put(&f.dir, "a", "one\n");
    put(&f.dir, "b", "two\n");
    assert_int_equal(utimes(temp_path(&f.dir, "a"), times), 0);
    assert_int_equal(utimes(temp_path(&f.dir, "b"), times), 0);
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_int_equal(rename(temp_path(&f.dir, "b"), temp_path(&f.dir, "a")), 0);
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}", "has changed since");
}

TEST(a_file_that_was_removed_since_is_created_again)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_int_equal(unlink(temp_path(&f.dir, "a")), 0);
    assert_says(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}",
                "Created a (1 byte, 1 line).\n");
}

TEST(what_was_written_may_be_written_again)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}");
    assert_true(json_bool(json_get(file_state(&f, "a"), "whole"), false));
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"longer\"}");
    assert_file(&f, "a", "longer");
}

TEST(the_same_content_changes_nothing_and_says_so)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct stat before, after;

    put(&f.dir, "a", "one\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_int_equal(stat(temp_path(&f.dir, "a"), &before), 0);
    assert_says(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"one\\n\"}",
                "a already has this content: nothing was changed.\n");
    assert_int_equal(stat(temp_path(&f.dir, "a"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

TEST(the_mode_of_a_file_is_kept)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct stat st;

    put(&f.dir, "a", "one\n");
    assert_int_equal(chmod(temp_path(&f.dir, "a"), 0750), 0);
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}");
    assert_int_equal(stat(temp_path(&f.dir, "a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
}

TEST(a_file_that_nobody_may_write_is_not_replaced)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\n");
    assert_int_equal(chmod(temp_path(&f.dir, "a"), 0444), 0);
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_fails(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"x\"}",
                 "a is not writable (its mode is 0444)");
}

TEST(line_ends_and_mark_of_the_file_are_kept)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "\xEF\xBB\xBFone\r\ntwo\r\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"1\\n2\\n3\"}");
    assert_file(&f, "a",
                "\xEF\xBB\xBF"
                "1\r\n2\r\n3");
}

TEST(content_with_line_ends_of_its_own_is_taken_as_it_is)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\r\ntwo\r\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"1\\r\\n2\\n\"}");
    assert_file(&f, "a", "1\r\n2\n");
}

TEST(plain_line_ends_stay_plain)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\ntwo\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"1\\n2\\n\"}");
    assert_file(&f, "a", "1\n2\n");
}

TEST(a_utf_16_file_stays_utf_16)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "a", S("\xFF\xFEh\0i\0"));
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"\\u20ac\"}");
    assert_file(&f, "a", "\xFF\xFE\xAC\x20");
}

TEST(a_latin_1_file_stays_so_unless_the_content_needs_more)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "caf\xE9");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"\\u00e9\"}");
    assert_file(&f, "a", "\xE9");
    AUTO(tool_result)
    struct tool_result r =
        tool_call(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"\\u2192\"}");
    assert_has(strbuf_str(&r.text), "It was Latin-1 and is now UTF-8.");
    assert_file(&f, "a", "\xE2\x86\x92");
}

TEST(a_link_is_followed_to_its_file)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct stat st;

    put(&f.dir, "real", "one\n");
    assert_int_equal(symlink("real", temp_path(&f.dir, "link")), 0);
    assert_works(&f, &tool_read, "{\"file_path\":\"link\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"link\",\"content\":\"x\"}");
    assert_file(&f, "real", "x");
    assert_int_equal(lstat(temp_path(&f.dir, "link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

TEST(a_link_to_nothing_is_not_replaced)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_int_equal(symlink("nothing", temp_path(&f.dir, "link")), 0);
    assert_fails(&f, &tool_write, "{\"file_path\":\"link\",\"content\":\"x\"}",
                 "link is a link to a file that does not exist");
}

TEST(what_is_no_file_is_refused)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "d/", "");
    assert_int_equal(mkfifo(temp_path(&f.dir, "p"), 0600), 0);
    assert_fails(&f, &tool_write, "{\"file_path\":\"d\",\"content\":\"\"}", "is a directory");
    assert_fails(&f, &tool_write, "{\"file_path\":\"p\",\"content\":\"\"}", "is a pipe");
    assert_fails(&f, &tool_write, "{\"file_path\":\"/dev/null\",\"content\":\"\"}", "is a device");
}

TEST(a_path_that_names_a_directory_makes_no_file)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_fails(&f, &tool_write, "{\"file_path\":\"new/\",\"content\":\"x\"}",
                 "new/ names a directory, not a file\nHint: add the name of the file");
    assert_fails(&f, &tool_write, "{\"file_path\":\"new/sub/.\",\"content\":\"x\"}",
                 "names a directory");
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"new/\",\"old_string\":\"\",\"new_string\":\"x\"}", "mkdir -p");
    assert_int_equal(count_entries(f.dir.path), 0);
}

TEST(a_file_on_the_way_to_the_path_is_told)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x");
    assert_fails(&f, &tool_write, "{\"file_path\":\"a/b\",\"content\":\"\"}", "/a");
    assert_file(&f, "a", "x");
}

TEST(details_hold_the_diff_the_first_line_and_the_size)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "one\ntwo\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\"}");
    AUTO(tool_result)
    struct tool_result r =
        tool_call(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"one\\n2\\n\"}");
    assert_int_equal(json_int_or(json_get(r.details, "startLine"), -1), 2);
    assert_int_equal(json_int_or(json_get(r.details, "bytes"), -1), 6);
    assert_false(json_bool(json_get(r.details, "created"), true));
    assert_str(json_get_text(r.details, "diff"), "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
}

TEST(details_of_a_new_file_hold_its_whole_diff)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    AUTO(tool_result)
    struct tool_result r = tool_call(&f, &tool_write, "{\"file_path\":\"a\",\"content\":\"1\\n\"}");
    assert_true(json_bool(json_get(r.details, "created"), false));
    assert_int_equal(json_int_or(json_get(r.details, "startLine"), -1), 1);
    assert_str(json_get_text(r.details, "diff"), "--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+1\n");
}

TEST(a_long_diff_is_cut_for_the_model)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf text = {0}, args = {0};

    for (int i = 0; i < 5000; i++)
        strbuf_addf(&text, "line %d\n", i);
    put_bytes(&f.dir, "a", strbuf_str(&text));
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":5000}");
    strbuf_add_cstr(&args, "{\"file_path\":\"a\",\"content\":\"");
    for (int i = 0; i < 5000; i++)
        strbuf_addf(&args, "other %d\\n", i);
    strbuf_add_cstr(&args, "\"}");
    AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_write, strbuf_cstr(&args));
    assert_false(r.is_error);
    assert_has(strbuf_str(&r.text), "characters left out]");
    assert_true(r.text.n < 5000);
    assert_true(json_get_text(r.details, "diff").n > 50000);
}

TEST(a_binary_file_that_was_seen_may_be_replaced)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "a.png", S("\x89PNG\r\n\x1A\n\0\0\0\rIHDR"));
    assert_works(&f, &tool_read, "{\"file_path\":\"a.png\"}");
    assert_says(&f, &tool_write, "{\"file_path\":\"a.png\",\"content\":\"x\"}",
                "Updated a.png (1 byte, 1 line).\n");
}

TEST(nothing_is_left_beside_the_file)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_works(&f, &tool_write, "{\"file_path\":\"d/a\",\"content\":\"x\"}");
    assert_works(&f, &tool_write, "{\"file_path\":\"d/a\",\"content\":\"y\"}");
    assert_says(&f, &tool_glob, "{\"pattern\":\"**\",\"hidden\":true}", "d/a\n");
}

TEST(a_write_changes_files_and_runs_alone)
{
    assert_int_equal(tool_write.risk, RISK_MODIFY);
    assert_true(tool_write.is_barrier);
    assert_string_equal(tool_write.permission_arg, "file_path");
}

TEST(the_sign_for_a_nul_is_not_written_in_its_place)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_bytes(&f.dir, "log", S("started\0 up at noon\nand stopped\n"));
    assert_works(&f, &tool_read, "{\"file_path\":\"log\"}");
    assert_fails(
        &f, &tool_write, "{\"file_path\":\"log\",\"content\":\"started\u2400 up at noon\\n\"}",
        "the content contains \u2400, which stands for a NUL byte of log; nothing was written");
    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"log\",\"old_string\":\"stopped\",\"new_string\":\"ended\"}");
    assert_file(&f, "log", "started\0 up at noon\nand ended\n");
}

TEST(a_new_file_is_told_by_all_of_its_path_where_the_directory_is_not_the_workspace)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    AUTO(strbuf) struct strbuf want = {0};

    put(&f.dir, "src/a.c", "");
    tool_state_set_cwd(f.state, temp_path(&f.dir, "src"));
    strbuf_addf(&want, "Created %s (1 byte, 1 line).\n", temp_path(&f.dir, "src/src/b.c"));
    assert_says(&f, &tool_write, "{\"file_path\":\"src/b.c\",\"content\":\"x\"}",
                strbuf_cstr(&want));
}

RUN_TESTS(
    UNIT(the_sign_for_a_nul_is_not_written_in_its_place),
    UNIT(a_new_file_is_told_by_all_of_its_path_where_the_directory_is_not_the_workspace),
    UNIT(a_new_file_is_created_with_its_directories), UNIT(the_seeds_spelling_of_the_path_is_taken),
    UNIT(a_new_file_gets_the_mode_that_the_mask_leaves),
    UNIT(a_file_that_was_not_read_is_not_overwritten),
    UNIT(a_file_that_was_read_is_updated_and_the_change_is_shown),
    UNIT(a_file_that_changed_since_it_was_read_is_not_overwritten),
    UNIT(a_file_with_the_same_content_counts_as_unchanged),
    UNIT(a_file_that_was_seen_in_part_is_not_overwritten),
    UNIT(a_note_of_what_was_left_out_is_not_written), UNIT(a_change_that_keeps_the_size_is_noticed),
    UNIT(another_file_in_its_place_is_noticed_though_time_and_size_are_the_same),
    UNIT(a_file_that_was_removed_since_is_created_again),
    UNIT(what_was_written_may_be_written_again), UNIT(the_same_content_changes_nothing_and_says_so),
    UNIT(the_mode_of_a_file_is_kept), UNIT(a_file_that_nobody_may_write_is_not_replaced),
    UNIT(line_ends_and_mark_of_the_file_are_kept),
    UNIT(content_with_line_ends_of_its_own_is_taken_as_it_is), UNIT(plain_line_ends_stay_plain),
    UNIT(a_utf_16_file_stays_utf_16), UNIT(a_latin_1_file_stays_so_unless_the_content_needs_more),
    UNIT(a_link_is_followed_to_its_file), UNIT(a_link_to_nothing_is_not_replaced),
    UNIT(what_is_no_file_is_refused), UNIT(a_path_that_names_a_directory_makes_no_file),
    UNIT(a_file_on_the_way_to_the_path_is_told),
    UNIT(details_hold_the_diff_the_first_line_and_the_size),
    UNIT(details_of_a_new_file_hold_its_whole_diff), UNIT(a_long_diff_is_cut_for_the_model),
    UNIT(a_binary_file_that_was_seen_may_be_replaced), UNIT(nothing_is_left_beside_the_file),
    UNIT(a_write_changes_files_and_runs_alone))
