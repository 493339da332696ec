/* leftover_test.c - what a killed process leaves is removed by a later one, and nothing else. */
#include "files.h"
#include "sys/leftover.h"
#include "sys/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

static const char *lists(const struct temp_dir *d)
{
    return temp_path(d, "lists");
}

static int open_dir(const char *path)
{
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    return fd;
}

/* A process that dies with a name in use. */
static void die_with(const struct temp_dir *d, const char *dir, struct leftover *ret_name)
{
    int to_parent[2], status;
    pid_t pid;

    assert_int_equal(pipe(to_parent), 0);
    pid = fork();
    if (pid == 0) {
        int fd = open_dir(dir);

        leftover_end();
        leftover_keep_in(lists(d));
        leftover_begin(ret_name, fd, "a.txt");
        close(openat(fd, ret_name->name, O_WRONLY | O_CREAT | O_EXCL, 0600));
        _exit(write(to_parent[1], ret_name, sizeof *ret_name) == sizeof *ret_name ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(read(to_parent[0], ret_name, sizeof *ret_name), sizeof *ret_name);
    close(to_parent[0]);
    close(to_parent[1]);
}

TEST(a_later_process_removes_the_file_and_the_list)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct leftover l;

    put(&d, "work/", "");
    die_with(&d, temp_path(&d, "work"), &l);
    assert_int_equal(count_entries(temp_path(&d, "work")), 1);
    assert_int_equal(count_entries(lists(&d)), 1);
    leftover_sweep(lists(&d));
    assert_int_equal(count_entries(temp_path(&d, "work")), 0);
    assert_int_equal(count_entries(lists(&d)), 0);
}

TEST(the_file_of_a_process_that_lives_stays)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    int fd = open_dir(d.path);
    struct leftover l;

    leftover_keep_in(lists(&d));
    leftover_begin(&l, fd, "a.txt");
    close(openat(fd, l.name, O_WRONLY | O_CREAT | O_EXCL, 0600));
    leftover_sweep(lists(&d));
    assert_int_equal(faccessat(fd, l.name, F_OK, 0), 0);
    leftover_done(&l);
    leftover_end();
    assert_int_equal(count_entries(lists(&d)), 0);
    close(fd);
}

/* Lists can be written by anybody who may write in keel's home. */
TEST(a_list_that_names_files_of_others_removes_none)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf text = {0};

    put(&d, "lists/", "");
    put(&d, "precious", "1");
    put(&d, ".a.keel-0123456789ab-1", "of another list");
    strbuf_add_cstr(&text, temp_path(&d, "precious"));
    strbuf_add_char(&text, '\0');
    strbuf_add_cstr(&text, temp_path(&d, ".a.keel-0123456789ab-1"));
    strbuf_add_char(&text, '\0');
    strbuf_add_cstr(&text, "relative/.a.keel-ffffffffffff-1");
    strbuf_add_char(&text, '\0');
    strbuf_add_cstr(&text, temp_path(&d, ".half.keel-ffffffffffff"));
    write_file(temp_path(&d, "lists/ffffffffffff"), strbuf_str(&text));
    leftover_sweep(lists(&d));
    assert_true(fs_exists(temp_path(&d, "precious")));
    assert_true(fs_exists(temp_path(&d, ".a.keel-0123456789ab-1")));
    assert_int_equal(count_entries(lists(&d)), 0);
}

TEST(nothing_is_removed_through_a_link)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct leftover l;

    put(&d, "work/", "");
    die_with(&d, temp_path(&d, "work"), &l);
    assert_int_equal(rename(temp_path(&d, "work"), temp_path(&d, "elsewhere")), 0);
    assert_int_equal(symlink("elsewhere", temp_path(&d, "work")), 0);
    leftover_sweep(lists(&d));
    assert_int_equal(count_entries(temp_path(&d, "elsewhere")), 1);
}

TEST(a_long_name_gets_one_that_fits)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    char name[NAME_MAX + 1] = {0};
    int fd = open_dir(d.path);
    struct leftover l;

    memset(name, 'n', NAME_MAX);
    leftover_begin(&l, fd, name);
    assert_true(strlen(l.name) <= NAME_MAX);
    assert_int_equal(close(openat(fd, l.name, O_WRONLY | O_CREAT | O_EXCL, 0600)), 0);
    leftover_done(&l);
    close(fd);
}

/* --- temporary files --- */

TEST(a_file_without_a_name_shows_nowhere_until_it_is_created)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;
    int fd = open_dir(d.path);

    assert_int_equal(temp_file_open(&t, fd, "a"), 0);
    if (t.has_name) {
        print_message("[ SKIPPED because every file has a name on this disk ]\n");
        skip();
    }
    assert_int_equal(count_entries(d.path), 0);
    assert_int_equal(temp_file_create(&t), 0);
    assert_int_equal(count_entries(d.path), 1);
    close(fd);
}

TEST(what_has_the_name_stays_or_is_replaced_as_is_wanted)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(strbuf) struct strbuf text = {0};
    struct temp_file t;
    int fd = open_dir(d.path);

    put(&d, "a", "old");
    assert_int_equal(temp_file_open(&t, fd, "a"), 0);
    assert_int_equal(write(t.fd, "new", 3), 3);
    assert_int_equal(temp_file_create(&t), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(temp_file_replace(&t), 0);
    temp_file_done(&t);
    assert_ok(fs_read(temp_path(&d, "a"), &text, NULL));
    assert_string_equal(strbuf_cstr(&text), "new");
    assert_int_equal(count_entries(d.path), 1);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(a_later_process_removes_the_file_and_the_list),
        UNIT(the_file_of_a_process_that_lives_stays),
        UNIT(a_list_that_names_files_of_others_removes_none),
        UNIT(nothing_is_removed_through_a_link),
        UNIT(a_long_name_gets_one_that_fits),
        UNIT(a_file_without_a_name_shows_nowhere_until_it_is_created),
        UNIT(what_has_the_name_stays_or_is_replaced_as_is_wanted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
