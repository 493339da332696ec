/* spot_test.c - opening without links, and what is done in a directory that is held open. */
#include "sys/spot.h"

#include "either_way.h"
#include "files.h"
#include "sys/open_plain.h"

#include <limits.h>

/* --- opening --- */

/* Opens and closes it: 0, or the errno. */
static int try_open(const struct temp_dir *d, const char *name, int flags)
{
    int fd = open_plain(temp_path(d, name), flags);

    if (fd < 0)
        return errno;
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    close(fd);
    return 0;
}

TEST(files_and_directories_are_opened)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    int root = open_plain("/", O_PATH | O_DIRECTORY);

    put(&d, "a/b/c", "");
    assert_int_equal(try_open(&d, "a/b/c", O_RDONLY), 0);
    assert_int_equal(try_open(&d, "a/b", O_RDONLY | O_DIRECTORY), 0);
    assert_int_equal(try_open(&d, "a/b/c", O_PATH), 0);
    assert_true(root >= 0);
    close(root);
}

TEST(a_link_is_not_followed_wherever_it_is)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a/b/c", "");
    assert_int_equal(symlink("c", temp_path(&d, "a/b/link")), 0);
    assert_int_equal(symlink("b", temp_path(&d, "a/dir")), 0);
    assert_int_equal(symlink("nothing", temp_path(&d, "gone")), 0);
    assert_int_equal(try_open(&d, "a/b/link", O_RDONLY), ELOOP);
    assert_int_equal(try_open(&d, "a/b/link", O_PATH), ELOOP);
    assert_int_equal(try_open(&d, "a/dir", O_RDONLY | O_DIRECTORY), ELOOP);
    assert_int_equal(try_open(&d, "a/dir", O_PATH | O_DIRECTORY), ELOOP);
    assert_int_equal(try_open(&d, "a/dir/c", O_RDONLY), ELOOP);
    assert_int_equal(try_open(&d, "gone", O_RDONLY), ELOOP);
}

TEST(links_of_proc_that_lead_to_open_files_are_not_followed)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    char path[64];
    int dir_fd = open(d.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    put(&d, "a", "");
    snprintf(path, sizeof path, "/proc/%d/fd/%d/a", getpid(), dir_fd);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(open_plain(path, O_RDONLY), -1);
    assert_int_equal(errno, ELOOP);
    close(dir_fd);
}

TEST(what_is_not_there_is_told_as_open_tells_it)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    char name[NAME_MAX + 8];

    memset(name, 'x', sizeof name);
    memcpy(name + NAME_MAX + 1, "/y", 3);
    put(&d, "file", "");
    assert_int_equal(try_open(&d, "nothing", O_RDONLY), ENOENT);
    assert_int_equal(try_open(&d, "nothing/at/all", O_RDONLY), ENOENT);
    assert_int_equal(try_open(&d, "file/x", O_RDONLY), ENOTDIR);
    assert_int_equal(try_open(&d, "file/x/y", O_RDONLY), ENOTDIR);
    assert_int_equal(try_open(&d, "file", O_RDONLY | O_DIRECTORY), ENOTDIR);
    assert_int_equal(try_open(&d, name, O_RDONLY), ENAMETOOLONG);
}

TEST(no_descriptor_stays_open)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    size_t n_before = count_entries("/proc/self/fd");

    put(&d, "a/b/c", "");
    assert_int_equal(symlink("b", temp_path(&d, "a/dir")), 0);
    assert_int_equal(try_open(&d, "a/b/c", O_RDONLY), 0);
    assert_int_equal(try_open(&d, "a/dir/c", O_RDONLY), ELOOP);
    assert_int_equal(try_open(&d, "a/x/c", O_RDONLY), ENOENT);
    assert_int_equal(try_open(&d, "a/b/c/d", O_RDONLY), ENOTDIR);
    assert_int_equal(count_entries("/proc/self/fd"), n_before);
}

/* --- spots --- */

static struct spot find(const struct temp_dir *d, const char *name)
{
    struct spot p = SPOT_NONE;

    assert_ok(spot_find(temp_path(d, name), name, &p));
    return p;
}

static void assert_refused_(struct err *e, const char *part, const char *file, int line)
{
    AUTO_FREE char *text = e ? err_message(e) : mem_strdup("no error");

    err_free(e);
    if (!strstr(text, part)) {
        print_error("want \"%s\" in \"%s\"\n", part, text);
        _fail(file, line);
    }
}
#define assert_refused(e, part) assert_refused_((e), (part), __FILE__, __LINE__)

TEST(a_spot_is_a_directory_and_a_name)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(spot) struct spot top = SPOT_NONE;
    struct stat st;
    bool exists;

    put(&d, "a/b", "12345");
    AUTO(spot) struct spot p = find(&d, "a/b");
    assert_string_equal(p.name, "b");
    assert_ok(spot_look(&p, &exists, &st));
    assert_true(exists);
    assert_int_equal(st.st_size, 5);
    assert_ok(spot_find("/", "/", &top));
    assert_ok(spot_look(&top, &exists, &st));
    assert_true(exists && S_ISDIR(st.st_mode));
}

TEST(a_spot_tells_which_directories_are_missing)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct stat st;
    bool exists;
    int fd;

    put(&d, "a/", "");
    AUTO(spot) struct spot p = find(&d, "a/b/c/d");
    assert_string_equal(p.name, "b/c/d");
    assert_ok(spot_look(&p, &exists, &st));
    assert_false(exists);
    assert_ok(spot_open(&p, O_RDONLY, &fd));
    assert_int_equal(fd, -1);
}

TEST(a_spot_behind_a_link_is_not_found)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct spot p = SPOT_NONE;

    put(&d, "a/b", "");
    assert_int_equal(symlink("a", temp_path(&d, "link")), 0);
    assert_refused(spot_find(temp_path(&d, "link/b"), "link/b", &p),
                   "link/b became a symbolic link after it was checked");
    assert_refused(spot_find(temp_path(&d, "link/x/y"), "link/x/y", &p), "became a symbolic link");
}

TEST(a_name_that_becomes_a_link_is_neither_looked_at_nor_opened)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct stat st;
    bool exists;
    int fd;

    put(&d, "a", "");
    put(&d, "other", "");
    AUTO(spot) struct spot p = find(&d, "a");
    assert_int_equal(unlink(temp_path(&d, "a")), 0);
    assert_int_equal(symlink("other", temp_path(&d, "a")), 0);
    assert_refused(spot_look(&p, &exists, &st), "a became a symbolic link");
    assert_refused(spot_open(&p, O_RDONLY, &fd), "a became a symbolic link");
}

TEST(missing_directories_are_made)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(spot) struct spot p = find(&d, "a/b/c");

    put(&d, "a/", ""); /* by another, meanwhile */
    assert_ok(spot_make_dirs(&p, 0700));
    assert_string_equal(p.name, "c");
    assert_true(fs_is_dir(temp_path(&d, "a/b")));
    assert_false(fs_exists(temp_path(&d, "a/b/c")));
}

TEST(directories_are_not_made_behind_a_link_or_a_file)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "outside/", "");
    AUTO(spot) struct spot p = find(&d, "a/b/c");
    assert_int_equal(symlink("outside", temp_path(&d, "a")), 0);
    assert_refused(spot_make_dirs(&p, 0700), "a is not a directory");
    assert_int_equal(count_entries(temp_path(&d, "outside")), 0);
    put(&d, "file", "");
    AUTO(spot) struct spot q = find(&d, "file/x");
    assert_refused(spot_make_dirs(&q, 0700), "file is not a directory");
}

/* --- writing --- */

static void assert_content(const struct temp_dir *d, const char *name, const char *want)
{
    AUTO(strbuf) struct strbuf got = read_file(temp_path(d, name));

    assert_str(strbuf_str(&got), want);
}

TEST(a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct stat st;

    put(&d, "a/f", "old");
    assert_int_equal(chmod(temp_path(&d, "a/f"), 0751), 0);
    AUTO(spot) struct spot p = find(&d, "a/f");
    assert_ok(fs_write_atomic_at(&p, S("new"), 0600));
    assert_content(&d, "a/f", "new");
    assert_int_equal(stat(temp_path(&d, "a/f"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0751);
    assert_int_equal(count_entries(temp_path(&d, "a")), 1);
}

TEST(a_link_in_its_place_is_replaced_and_not_written_through)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    struct stat st;

    put(&d, "outside", "mine");
    assert_int_equal(chmod(temp_path(&d, "outside"), 0666), 0);
    AUTO(spot) struct spot p = find(&d, "f");
    assert_int_equal(symlink("outside", temp_path(&d, "f")), 0);
    assert_ok(fs_write_atomic_at(&p, S("new"), 0600));
    assert_content(&d, "outside", "mine");
    assert_content(&d, "f", "new");
    assert_int_equal(lstat(temp_path(&d, "f"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 07777, 0600);
}

TEST(a_directory_that_is_moved_away_is_still_the_one_written_to)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "a/f", "old");
    put(&d, "outside/f", "mine");
    AUTO(spot) struct spot p = find(&d, "a/f");
    assert_int_equal(rename(temp_path(&d, "a"), temp_path(&d, "b")), 0);
    assert_int_equal(symlink("outside", temp_path(&d, "a")), 0);
    assert_ok(fs_write_atomic_at(&p, S("new"), 0600));
    assert_content(&d, "outside/f", "mine");
    assert_content(&d, "b/f", "new");
}

TEST(creating_replaces_neither_a_file_nor_a_link)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    bool created;

    put(&d, "a/f", "mine");
    assert_int_equal(symlink("../nothing", temp_path(&d, "a/link")), 0);
    AUTO(spot) struct spot file = find(&d, "a/f");
    AUTO(spot) struct spot link = find(&d, "a/link");
    AUTO(spot) struct spot fresh = find(&d, "a/new");
    assert_ok(fs_create_at(&file, S("x"), 0600, &created));
    assert_false(created);
    assert_content(&d, "a/f", "mine");
    assert_ok(fs_create_at(&link, S("x"), 0600, &created));
    assert_false(created);
    assert_false(fs_exists(temp_path(&d, "nothing")));
    assert_ok(fs_create_at(&fresh, S("x"), 0600, &created));
    assert_true(created);
    assert_int_equal(count_entries(temp_path(&d, "a")), 3);
}

TEST(the_longest_name_can_be_written)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    char name[NAME_MAX + 1];

    memset(name, 'x', NAME_MAX);
    name[NAME_MAX] = '\0';
    AUTO(spot) struct spot p = find(&d, name);
    assert_ok(fs_write_atomic_at(&p, S("new"), 0600));
    assert_content(&d, name, "new");
    assert_int_equal(count_entries(d.path), 1);
}

RUN_TESTS_EITHER_WAY(
    UNIT(files_and_directories_are_opened), UNIT(a_link_is_not_followed_wherever_it_is),
    UNIT(links_of_proc_that_lead_to_open_files_are_not_followed),
    UNIT(what_is_not_there_is_told_as_open_tells_it), UNIT(no_descriptor_stays_open),
    UNIT(a_spot_is_a_directory_and_a_name), UNIT(a_spot_tells_which_directories_are_missing),
    UNIT(a_spot_behind_a_link_is_not_found),
    UNIT(a_name_that_becomes_a_link_is_neither_looked_at_nor_opened),
    UNIT(missing_directories_are_made), UNIT(directories_are_not_made_behind_a_link_or_a_file),
    UNIT(a_file_is_replaced_with_its_mode_and_nothing_is_left_beside_it),
    UNIT(a_link_in_its_place_is_replaced_and_not_written_through),
    UNIT(a_directory_that_is_moved_away_is_still_the_one_written_to),
    UNIT(creating_replaces_neither_a_file_nor_a_link), UNIT(the_longest_name_can_be_written))
