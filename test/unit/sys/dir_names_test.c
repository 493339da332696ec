/* dir_names_test.c - a name is missing only where that is certain. */
#include "sys/dir_names.h"

#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lacks(const char *path, const char *name)
{
    AUTO(arena) struct arena a = {0};
    int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct dir_names names;

    assert_true(fd >= 0);
    dir_names_read(&names, &a, fd);
    close(fd);
    return dir_names_lack(&names, str_of(name));
}

TEST(what_is_not_there_is_missing_and_what_is_there_is_not)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".ssh/id", "");
    put(&d, ".netrc", "");
    assert_int_equal(symlink("nowhere", temp_path(&d, ".link")), 0);
    assert_true(lacks(d.path, ".aws"));
    assert_true(lacks(d.path, "id"));
    assert_false(lacks(d.path, ".ssh"));
    assert_false(lacks(d.path, ".netrc"));
    assert_false(lacks(d.path, ".link"));
    assert_false(lacks(d.path, "."));
    assert_false(lacks(d.path, ".."));
    assert_false(lacks(d.path, ""));
}

TEST(an_empty_directory_lacks_everything)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    assert_true(lacks(d.path, ".ssh"));
}

/* There are file systems to which they are the same. */
TEST(a_name_in_other_letters_may_be_there)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".SSH/id", "");
    put(&d, "makefile", "");
    assert_false(lacks(d.path, ".ssh"));
    assert_false(lacks(d.path, "Makefile"));
}

TEST(of_a_name_beyond_ascii_nothing_is_certain)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    assert_false(lacks(d.path, "caf\xc3\xa9"));
}

TEST(names_beyond_ascii_do_not_hide_others)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, ".\xc5\xbf\xc5\xbfh", ""); /* a file system that ignores case takes it for .ssh */
    put(&d, ".aws", "");
    assert_false(lacks(d.path, ".aws"));
}

/* Somebody may change it between two calls. */
TEST(of_a_directory_that_takes_several_calls_nothing_is_certain)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    char name[64];

    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "a-file-with-a-longer-name-%d", i);
        put(&d, name, "");
    }
    assert_false(lacks(d.path, ".ssh"));
}

/* There, a name means something else to each process, and not all are listed. */
TEST(of_file_systems_that_find_more_than_they_list_nothing_is_certain)
{
    assert_false(lacks("/proc", "no-such-name"));
    assert_false(lacks("/proc/self", "no-such-name"));
}

TEST(what_cannot_be_listed_lacks_nothing)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();

    put(&d, "shut/.ssh", "");
    assert_int_equal(chmod(temp_path(&d, "shut"), 0311), 0);
    assert_false(lacks(temp_path(&d, "shut"), ".ssh"));
    assert_int_equal(chmod(temp_path(&d, "shut"), 0755), 0);
}

TEST(of_some_directories_the_names_in_them_are_known_too)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct names_below n;

    put(&d, ".config/gh/hosts", "");
    put(&d, ".cache/x", "");
    names_below_init_home(&n, &a, d.path);
    assert_true(names_below_lack(&n, ".ssh"));
    assert_true(names_below_lack(&n, ".ssh/id_rsa"));
    assert_true(names_below_lack(&n, ".config/glab"));
    assert_true(names_below_lack(&n, ".config/glab/x"));
    assert_true(names_below_lack(&n, ".local/share/keyrings"));
    assert_false(names_below_lack(&n, ".config"));
    assert_false(names_below_lack(&n, ".config/gh"));
    assert_false(names_below_lack(&n, ".config/gh/hosts"));
    assert_false(names_below_lack(&n, ".cache/y"));
}

TEST(an_absolute_path_may_lie_elsewhere)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct names_below n;

    names_below_init(&n, &a, d.path);
    assert_true(names_below_lack_at(&n, temp_path(&d, ".ssh")));
    assert_false(names_below_lack_at(&n, d.path));
    assert_false(names_below_lack_at(&n, arena_format(&a, "%sless/.ssh", d.path).p));
    assert_false(names_below_lack_at(&n, "/no/such/place"));
    names_below_init(&n, &a, NULL);
    assert_false(names_below_lack_at(&n, "/no/such/place"));
}

TEST(the_directory_may_be_a_link_or_a_file_or_missing)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct names_below n;

    put(&d, "real/.ssh", "");
    put(&d, "file", "");
    assert_int_equal(symlink("real", temp_path(&d, "link")), 0);
    names_below_init(&n, &a, arena_cstr(&a, str_of(temp_path(&d, "link"))));
    assert_false(names_below_lack(&n, ".ssh"));
    assert_true(names_below_lack(&n, ".aws"));
    names_below_init(&n, &a, arena_cstr(&a, str_of(temp_path(&d, "file"))));
    assert_false(names_below_lack(&n, ".ssh"));
    names_below_init(&n, &a, arena_cstr(&a, str_of(temp_path(&d, "missing"))));
    assert_false(names_below_lack(&n, ".ssh"));
}

RUN_TESTS(UNIT(what_is_not_there_is_missing_and_what_is_there_is_not),
          UNIT(an_empty_directory_lacks_everything), UNIT(a_name_in_other_letters_may_be_there),
          UNIT(of_a_name_beyond_ascii_nothing_is_certain),
          UNIT(names_beyond_ascii_do_not_hide_others),
          UNIT(of_a_directory_that_takes_several_calls_nothing_is_certain),
          UNIT(of_file_systems_that_find_more_than_they_list_nothing_is_certain),
          UNIT(what_cannot_be_listed_lacks_nothing),
          UNIT(of_some_directories_the_names_in_them_are_known_too),
          UNIT(an_absolute_path_may_lie_elsewhere),
          UNIT(the_directory_may_be_a_link_or_a_file_or_missing))
