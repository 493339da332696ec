/* fs_test.c */
#include "files.h"

#include <sys/socket.h>
#include <sys/un.h>

TEST(writing_replaces_whole_files_and_leaves_nothing_beside_them)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(strbuf) struct strbuf out = {0};
    const char *path = temp_path(&dir, "f");
    struct stat s;

    assert_ok(fs_write_atomic(path, S("one"), 0640));
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_mode & 0777, 0640);
    chmod(path, 0755);
    assert_ok(fs_write_atomic(path, S("two"), 0600));
    stat(path, &s);
    assert_int_equal(s.st_mode & 0777, 0755);
    assert_ok(fs_read(path, &out, NULL));
    assert_str(strbuf_str(&out), "two");
    assert_int_equal(count_entries(dir.path), 1);
}

TEST(a_link_is_written_through)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(strbuf) struct strbuf out = {0};
    struct stat s;

    assert_ok(fs_write_atomic(temp_path(&dir, "real"), S("1"), 0600));
    assert_int_equal(symlink("real", temp_path(&dir, "link")), 0);
    assert_ok(fs_write_atomic(temp_path(&dir, "link"), S("2"), 0600));
    assert_int_equal(lstat(temp_path(&dir, "link"), &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_ok(fs_read(temp_path(&dir, "real"), &out, NULL));
    assert_str(strbuf_str(&out), "2");
}

TEST(creating_never_replaces)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(strbuf) struct strbuf out = {0};
    bool created;

    assert_ok(fs_create(temp_path(&dir, "f"), S("first"), 0600, &created));
    assert_true(created);
    assert_ok(fs_create(temp_path(&dir, "f"), S("second"), 0600, &created));
    assert_false(created);
    assert_ok(fs_read(temp_path(&dir, "f"), &out, NULL));
    assert_str(strbuf_str(&out), "first");
    assert_int_equal(count_entries(dir.path), 1);
}

TEST(reading_obeys_the_cap_and_tells_absence)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(strbuf) struct strbuf fits, over, gone = {0};
    bool exists;

    strbuf_init(&fits, 5);
    strbuf_init(&over, 4);
    assert_ok(fs_write_atomic(temp_path(&dir, "f"), S("12345"), 0600));
    assert_ok(fs_read(temp_path(&dir, "f"), &fits, &exists));
    assert_true(exists);
    assert_str(strbuf_str(&fits), "12345");
    assert_err(fs_read(temp_path(&dir, "f"), &over, NULL), ERR_VALIDATION);
    assert_ok(fs_read(temp_path(&dir, "none"), &gone, &exists));
    assert_false(exists);
    assert_err(fs_read(temp_path(&dir, "none"), &gone, NULL), ERR_STORAGE);
    assert_ok(fs_read_range(temp_path(&dir, "f"), 3, 99, &gone));
    assert_str(strbuf_str(&gone), "45");
}

/* Each would wait for ever, or never end. */
TEST(what_is_not_a_file_is_refused_at_once)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    static const struct {
        const char *name, *told;
    } others[] = {{"fifo", "a FIFO"},
                  {"dir", "Is a directory"},
                  {"sock", "a socket"},
                  {"zero", "a device"},
                  {"tty", "a device"}};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(mkfifo(temp_path(&dir, "fifo"), 0600), 0);
    assert_int_equal(mkdir(temp_path(&dir, "dir"), 0700), 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", temp_path(&dir, "sock"));
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(symlink("/dev/zero", temp_path(&dir, "zero")), 0);
    assert_int_equal(symlink("/dev/null", temp_path(&dir, "tty")), 0);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        AUTO(strbuf) struct strbuf out = {0};
        AUTO(err) struct err *e = fs_read(temp_path(&dir, others[i].name), &out, NULL);
        AUTO_FREE char *text = e ? err_message(e) : NULL;

        assert_non_null(e);
        if (!strstr(text, others[i].told))
            fail_msg("%s", text);
    }
    close(fd);
}

TEST(directories_are_made_along_the_way)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();

    assert_ok(fs_make_dirs(temp_path(&dir, "a/b/c"), 0700));
    assert_ok(fs_make_dirs(temp_path(&dir, "a/b/c"), 0700));
    assert_true(fs_is_dir(temp_path(&dir, "a/b/c")));
    assert_ok(fs_write_atomic(temp_path(&dir, "file"), S(""), 0600));
    assert_err(fs_make_dirs(temp_path(&dir, "file/x"), 0700), ERR_STORAGE);
    assert_ok(fs_remove(temp_path(&dir, "file")));
    assert_ok(fs_remove(temp_path(&dir, "file")));
    assert_false(fs_exists(temp_path(&dir, "file")));
}

TEST(a_path_is_resolved_as_far_as_it_exists)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};

    put(&dir, "a/b/c", "");
    assert_int_equal(symlink("a/b", temp_path(&dir, "link")), 0);
    assert_int_equal(symlink("nothing", temp_path(&dir, "gone")), 0);
    assert_string_equal(fs_resolve(&a, temp_path(&dir, "link/c")), temp_path(&dir, "a/b/c"));
    assert_string_equal(fs_resolve(&a, temp_path(&dir, "link/x/y")), temp_path(&dir, "a/b/x/y"));
    assert_string_equal(fs_resolve(&a, temp_path(&dir, "link/c/x")), temp_path(&dir, "a/b/c/x"));
    assert_string_equal(fs_resolve(&a, temp_path(&dir, "gone")), temp_path(&dir, "gone"));
    assert_string_equal(fs_resolve(&a, "/"), "/");
    assert_string_equal(fs_resolve(&a, "/nothing-of-that-name/x"), "/nothing-of-that-name/x");
}

TEST(a_relative_path_is_resolved_where_the_process_is)
{
    AUTO(temp_dir) struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    AUTO_FREE char *before = getcwd(NULL, 0), *real = realpath(dir.path, NULL);

    assert_int_equal(chdir(dir.path), 0);
    assert_string_equal(fs_resolve(&a, "new"), fs_join(&a, real, "new"));
    assert_string_equal(fs_resolve(&a, "new/er"), fs_join(&a, real, "new/er"));
    assert_string_equal(fs_resolve(&a, "."), real);
    assert_string_equal(fs_resolve(&a, "/no/such/place"), "/no/such/place");
    assert_int_equal(chdir(before), 0);
}

RUN_TESTS(UNIT(writing_replaces_whole_files_and_leaves_nothing_beside_them),
          UNIT(a_link_is_written_through), UNIT(creating_never_replaces),
          UNIT(reading_obeys_the_cap_and_tells_absence),
          UNIT(what_is_not_a_file_is_refused_at_once), UNIT(directories_are_made_along_the_way),
          UNIT(a_path_is_resolved_as_far_as_it_exists),
          UNIT(a_relative_path_is_resolved_where_the_process_is))
