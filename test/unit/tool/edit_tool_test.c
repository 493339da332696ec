/* edit_tool_test.c - the Edit tool; how places are found is in edit_match_test.c. */
#include "calls.h"

#include <sys/stat.h>

static void put_and_read(struct tool_fixture *f, const char *name, struct str bytes)
{
    AUTO(strbuf) struct strbuf args = {0};

    put_bytes(&f->dir, name, bytes);
    strbuf_addf(&args, "{\"file_path\":\"%s\"}", name);
    assert_works(f, &tool_read, strbuf_cstr(&args));
}

TEST(a_text_is_replaced_and_the_change_is_shown)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a.c", S("1\n2\n3\n4\nfive\n6\n7\n8\n9\n"));
    assert_says(&f, &tool_edit,
                "{\"file_path\":\"a.c\",\"old_string\":\"five\",\"new_string\":\"5\"}",
                "Edited a.c: 1 place replaced.\n\n"
                "--- a.c\n+++ a.c\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-five\n+5\n 6\n 7\n 8\n");
    assert_file(&f, "a.c", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
}

TEST(the_seeds_spellings_are_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("x x\n"));
    assert_works(
        &f, &tool_edit,
        "{\"filePath\":\"a\",\"oldString\":\"x\",\"newString\":\"y\",\"replaceAll\":true}");
    assert_file(&f, "a", "y y\n");
}

TEST(spellings_of_other_agents_are_taken)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("x x\n"));
    assert_works(&f, &tool_edit,
                 "{\"path\":\"a\",\"old_str\":\"x\",\"new_str\":\"y\",\"replace_all\":\"true\"}");
    assert_file(&f, "a", "y y\n");
    assert_works(&f, &tool_edit,
                 "{\"absolute_path\":\"a\",\"edits\":[{\"oldText\":\"y y\",\"newText\":\"z\"}]}");
    assert_file(&f, "a", "z\n");
}

TEST(several_edits_are_made_in_order)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    static const char edits[] =
        "{\"file_path\":\"a\",\"edits\":[{\"old_string\":\"one\",\"new_string\":\"two\"},"
        "{\"old_string\":\"two\",\"new_string\":\"three\",\"replace_all\":true}]}";

    put_and_read(&f, "a", S("one two\n"));
    assert_works(&f, &tool_edit, edits);
    assert_file(&f, "a", "three three\n");
    put_and_read(&f, "a", S("one two\n"));
    assert_works(&f, &tool_edit, edits);
    assert_file(&f, "a", "three three\n");
}

TEST(when_one_edit_fails_none_is_made)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("one two\n"));
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"edits\":[{\"old_string\":\"one\",\"new_string\":\"1\"},"
                 "{\"old_string\":\"absent\",\"new_string\":\"2\"}]}",
                 "a was not changed: edit 2 of 2: old_string is not in the file");
    assert_file(&f, "a", "one two\n");
}

TEST(a_name_with_a_newline_is_quoted_once)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a\nb", "one\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\\nb\"}");
    assert_says(&f, &tool_edit,
                "{\"file_path\":\"a\\nb\",\"old_string\":\"one\",\"new_string\":\"two\"}",
                "Edited \"a\\nb\": 1 place replaced.\n\n--- \"a\\012b\"\n+++ \"a\\012b\"\n@@ -1 "
                "+1 @@\n-one\n+two\n");
}

TEST(details_tell_the_change)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("one\ntwo\ntwo\n"));
    AUTO(tool_result)
    struct tool_result r = tool_call(
        &f, &tool_edit,
        "{\"file_path\":\"a\",\"old_string\":\"two\",\"new_string\":\"2\",\"replace_all\":true}");
    assert_int_equal(json_int_or(json_get(r.details, "startLine"), -1), 2);
    assert_int_equal(json_int_or(json_get(r.details, "replaced"), -1), 2);
    assert_false(json_bool(json_get(r.details, "normalised"), true));
    assert_str(json_get_text(r.details, "diff"),
               "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n-two\n+2\n+2\n");
}

TEST(a_match_by_normalised_white_space_is_told)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("\tif (x)\n\t\treturn;\n"));
    AUTO(tool_result)
    struct tool_result r = tool_call(&f, &tool_edit,
                                     "{\"file_path\":\"a\",\"old_string\":\"    if (x)\\n"
                                     "        return;\",\"new_string\":\"    if (y)\\n"
                                     "        return;\"}");
    assert_has(strbuf_str(&r.text), "only after ignoring indentation");
    assert_true(json_bool(json_get(r.details, "normalised"), false));
    assert_file(&f, "a", "\tif (y)\n\t\treturn;\n");
}

TEST(a_text_that_is_there_twice_is_refused_with_its_lines)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("x\ny\nx\n"));
    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"z\"}",
                 "2 times, at lines 1, 3\nHint: include more lines");
}

TEST(a_file_that_was_not_read_is_not_edited)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"z\"}",
                 "has not been read in this session");
    assert_file(&f, "a", "x\n");
}

TEST(a_file_that_changed_since_it_was_read_is_not_edited)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("x\n"));
    put(&f.dir, "a", "x and more\n");
    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"z\"}",
                 "has changed since it was read");
    assert_file(&f, "a", "x and more\n");
}

TEST(edits_may_follow_each_other_without_reading_again)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("x\n"));
    assert_works(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"y\"}");
    assert_works(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"y\",\"new_string\":\"z\"}");
    assert_file(&f, "a", "z\n");
}

TEST(a_part_that_was_read_stays_a_part_after_an_edit)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\ny\n");
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":1}");
    assert_works(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"z\"}");
    assert_false(json_bool(json_get(file_state(&f, "a"), "whole"), true));
}

TEST(an_empty_old_text_makes_a_new_file)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_says(&f, &tool_edit,
                "{\"file_path\":\"d/a\",\"old_string\":\"\",\"new_string\":\"one\\n\"}",
                "Created d/a (4 bytes, 1 line).\n");
    assert_file(&f, "d/a", "one\n");
}

TEST(more_edits_of_a_new_file_work_on_its_first_text)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"edits\":[{\"old_string\":\"\",\"new_string\":\"one\\n\"},"
                 "{\"old_string\":\"one\",\"new_string\":\"1\"}]}");
    assert_file(&f, "a", "1\n");
}

TEST(an_empty_old_text_is_refused_for_a_file_with_content)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("x\n"));
    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"\",\"new_string\":\"y\"}",
                 "a exists and is not empty");
    assert_file(&f, "a", "x\n");
}

TEST(an_empty_file_may_be_filled)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S(""));
    assert_works(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"\",\"new_string\":\"y\"}");
    assert_file(&f, "a", "y");
}

TEST(a_missing_file_is_told_with_a_name_that_is_like_it)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "main.c", "x\n");
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"main.cc\",\"old_string\":\"x\",\"new_string\":\"y\"}",
                 "did you mean main.c?");
}

TEST(arguments_that_do_not_go_together_are_told)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\"}", "old_string and new_string are missing");
    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\"}",
                 "new_string is missing\nHint: pass old_string and new_string, or a list");
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"old_string\":\"x\",\"edits\":[{\"old_string\":\"x\","
                 "\"new_string\":\"y\"}]}",
                 "passed together with old_string");
    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\",\"edits\":[]}", "edits");
}

TEST(line_ends_and_mark_of_the_file_are_kept)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("\xEF\xBB\xBFone\r\ntwo\r\n"));
    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"old_string\":\"one\\ntwo\",\"new_string\":\"1\\n2\"}");
    assert_file(&f, "a",
                "\xEF\xBB\xBF"
                "1\r\n2\r\n");
}

TEST(a_utf_16_file_is_edited_as_text_and_stays_utf_16)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("\xFE\xFF\0h\0i\0\n"));
    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"old_string\":\"hi\",\"new_string\":\"ho\"}");
    assert_file(&f, "a", "\xFE\xFF\0h\0o\0\n");
}

TEST(a_latin_1_file_is_edited_as_text_and_stays_latin_1)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("caf\xE9 au lait\n"));
    assert_works(
        &f, &tool_edit,
        "{\"file_path\":\"a\",\"old_string\":\"caf\\u00e9\",\"new_string\":\"th\\u00e9\"}");
    assert_file(&f, "a", "th\xE9 au lait\n");
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"old_string\":\"au\",\"new_string\":\"\\u2192\"}",
                 "Latin-1 has no character U+2192");
    assert_file(&f, "a", "th\xE9 au lait\n");
}

TEST(bad_bytes_elsewhere_in_the_file_stay)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("\xC3\xA9 \xFF\nx\n"));
    assert_works(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"y\"}");
    assert_file(&f, "a", "\xC3\xA9 \xFF\ny\n");
}

TEST(a_binary_file_is_refused_with_its_kind)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a.png", S("\x89PNG\r\n\x1A\n\0\0\0\rIHDR"));
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"a.png\",\"old_string\":\"PNG\",\"new_string\":\"JPG\"}",
                 "cannot be edited as text: it is a PNG image");
}

TEST(a_file_over_64_mib_is_refused)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put(&f.dir, "a", "x\n");
    assert_int_equal(truncate(temp_path(&f.dir, "a"), (64 << 20) + 1), 0);
    assert_fails(&f, &tool_read, "{\"file_path\":\"a\"}", "cannot be read as text");
    AUTO(strbuf) struct strbuf text = {0};
    while (text.n < 16384)
        strbuf_add(&text, S("x\n"));
    put_bytes(&f.dir, "a", strbuf_str(&text));
    assert_int_equal(truncate(temp_path(&f.dir, "a"), (64 << 20) + 1), 0);
    assert_works(&f, &tool_read, "{\"file_path\":\"a\",\"limit\":1}");
    assert_fails(&f, &tool_edit, "{\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"y\"}",
                 "it is larger than 64 MiB");
}

TEST(edits_that_undo_each_other_change_nothing)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();

    put_and_read(&f, "a", S("x\n"));
    assert_fails(&f, &tool_edit,
                 "{\"file_path\":\"a\",\"edits\":[{\"old_string\":\"x\",\"new_string\":\"y\"},"
                 "{\"old_string\":\"y\",\"new_string\":\"x\"}]}",
                 "the edits undo each other");
}

TEST(the_mode_of_a_file_is_kept)
{
    AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
    struct stat st;

    put(&f.dir, "run", "#!/bin/sh\n");
    assert_int_equal(chmod(temp_path(&f.dir, "run"), 0755), 0);
    assert_works(&f, &tool_read, "{\"file_path\":\"run\"}");
    assert_works(&f, &tool_edit,
                 "{\"file_path\":\"run\",\"old_string\":\"/bin/sh\",\"new_string\":\"/bin/dash\"}");
    assert_int_equal(stat(temp_path(&f.dir, "run"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
}

TEST(an_edit_changes_files_and_runs_alone)
{
    assert_int_equal(tool_edit.risk, RISK_MODIFY);
    assert_true(tool_edit.is_barrier);
}

RUN_TESTS(UNIT(a_text_is_replaced_and_the_change_is_shown), UNIT(the_seeds_spellings_are_taken),
          UNIT(spellings_of_other_agents_are_taken), UNIT(several_edits_are_made_in_order),
          UNIT(when_one_edit_fails_none_is_made), UNIT(a_name_with_a_newline_is_quoted_once),
          UNIT(details_tell_the_change), UNIT(a_match_by_normalised_white_space_is_told),
          UNIT(a_text_that_is_there_twice_is_refused_with_its_lines),
          UNIT(a_file_that_was_not_read_is_not_edited),
          UNIT(a_file_that_changed_since_it_was_read_is_not_edited),
          UNIT(edits_may_follow_each_other_without_reading_again),
          UNIT(a_part_that_was_read_stays_a_part_after_an_edit),
          UNIT(an_empty_old_text_makes_a_new_file),
          UNIT(more_edits_of_a_new_file_work_on_its_first_text),
          UNIT(an_empty_old_text_is_refused_for_a_file_with_content),
          UNIT(an_empty_file_may_be_filled),
          UNIT(a_missing_file_is_told_with_a_name_that_is_like_it),
          UNIT(arguments_that_do_not_go_together_are_told),
          UNIT(line_ends_and_mark_of_the_file_are_kept),
          UNIT(a_utf_16_file_is_edited_as_text_and_stays_utf_16),
          UNIT(a_latin_1_file_is_edited_as_text_and_stays_latin_1),
          UNIT(bad_bytes_elsewhere_in_the_file_stay), UNIT(a_binary_file_is_refused_with_its_kind),
          UNIT(a_file_over_64_mib_is_refused), UNIT(edits_that_undo_each_other_change_nothing),
          UNIT(the_mode_of_a_file_is_kept), UNIT(an_edit_changes_files_and_runs_alone))
