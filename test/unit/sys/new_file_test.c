/* new_file_test.c - a file that is written piece by piece is there as a whole, or not at all. */
#include "files.h"
#include "sys/new_file.h"

#include <sys/stat.h>

static void assert_content(const char *path, const char *want)
{
    AUTO(strbuf) struct strbuf text = {0};

    assert_ok(fs_read(path, &text, NULL));
    assert_string_equal(strbuf_cstr(&text), want);
}

TEST(the_pieces_are_there_at_the_end_and_private)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(new_file) struct new_file f = NEW_FILE_NONE;
    struct stat st;

    assert_ok(new_file_begin(&f, temp_path(&d, "a"), 0600));
    assert_ok(new_file_add(&f, S("one ")));
    assert_false(fs_exists(temp_path(&d, "a")));
    assert_ok(new_file_add(&f, S("two")));
    assert_ok(new_file_end(&f));
    assert_content(temp_path(&d, "a"), "one two");
    assert_int_equal(stat(temp_path(&d, "a"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(count_entries(d.path), 1);
}

TEST(without_an_end_the_old_file_stays)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct new_file f;

    put(&d, "a", "old");
    assert_ok(new_file_begin(&f, temp_path(&d, "a"), 0600));
    assert_ok(new_file_add(&f, S("new")));
    new_file_done(&f);
    assert_content(temp_path(&d, "a"), "old");
    assert_int_equal(count_entries(d.path), 1);
}

TEST(a_link_stays_one_and_its_file_is_replaced)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(new_file) struct new_file f = NEW_FILE_NONE;
    struct stat st;

    put(&d, "a", "old");
    assert_int_equal(symlink("a", temp_path(&d, "link")), 0);
    assert_ok(new_file_begin(&f, temp_path(&d, "link"), 0600));
    assert_ok(new_file_add(&f, S("new")));
    assert_ok(new_file_end(&f));
    assert_content(temp_path(&d, "a"), "new");
    assert_int_equal(lstat(temp_path(&d, "link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

TEST(a_device_is_written_to)
{
    AUTO(new_file) struct new_file f = NEW_FILE_NONE;
    struct stat st;

    assert_ok(new_file_begin(&f, "/dev/null", 0600));
    assert_ok(new_file_add(&f, S("gone")));
    assert_ok(new_file_end(&f));
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

TEST(a_directory_that_is_missing_is_an_error)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(new_file) struct new_file f = NEW_FILE_NONE;

    assert_err(new_file_begin(&f, temp_path(&d, "no/a"), 0600), ERR_STORAGE);
}

RUN_TESTS(UNIT(the_pieces_are_there_at_the_end_and_private),
          UNIT(without_an_end_the_old_file_stays), UNIT(a_link_stays_one_and_its_file_is_replaced),
          UNIT(a_device_is_written_to), UNIT(a_directory_that_is_missing_is_an_error))
