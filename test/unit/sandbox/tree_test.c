/* tree_test.c - what is found below a directory, and how much is read to know it. */
#include "files.h"
#include "sandbox/tree.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

enum { FOUND = TREE_CLOSED << 1, SHUT = TREE_CLOSED << 2 };

/* Files called "key" are found; below "closed" nothing is. */
static unsigned judge(void *self, const char *path, const char *name)
{
    if (strcmp(name, "key") == 0)
        return FOUND;
    return strcmp(name, "closed") == 0 ? FOUND | TREE_CLOSED : 0;
}

static struct tree *tree_of(const char *root)
{
    return tree_new(root, (struct tree_judge){judge, NULL, SHUT});
}

struct found {
    struct strbuf text;
    size_t n_root;
};

static void add(void *self, const char *path, unsigned meaning)
{
    struct found *f = self;

    strbuf_addf(&f->text, "%s%s ", path + f->n_root + 1, meaning == SHUT ? " (shut)" : "");
}

#define ASSERT_FOUND(t, d, wanted)                                                                 \
    do {                                                                                           \
        struct found found_ = {.n_root = strlen((d)->path)};                                       \
        tree_each(t, add, &found_);                                                                \
        assert_string_equal(strbuf_cstr(&found_.text), wanted);                                    \
        strbuf_done(&found_.text);                                                                 \
    } while (0)

/* Later than any change could be mistaken for an earlier one. */
static time_t later(void)
{
    return time(NULL) + 10;
}

static void change_mode(const struct temp_dir *d, const char *path, mode_t mode)
{
    assert_int_equal(chmod(temp_path(d, path), mode), 0);
}

TEST(what_means_something_is_found_at_every_depth)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);

    put(&d, "key", "");
    put(&d, "a/b/.c/key", "");
    put(&d, "a/closed/key", "");
    assert_int_equal(symlink("a", temp_path(&d, "z")), 0);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "key a/closed a/b/.c/key ");
}

TEST(only_directories_that_changed_are_read_again)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);

    put(&d, "a/b/c/", "");
    put(&d, "x/y/", "");
    assert_ok(tree_update(t, later()));
    assert_int_equal(tree_n_read(t), 6);
    assert_ok(tree_update(t, later()));
    assert_int_equal(tree_n_read(t), 0);
    put(&d, "a/b/key", "");
    assert_ok(tree_update(t, later()));
    assert_int_equal(tree_n_read(t), 1);
    ASSERT_FOUND(t, &d, "a/b/key ");
}

TEST(a_change_right_after_a_look_is_not_missed)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);

    for (int i = 0; i < 50; i++) {
        put(&d, "key", "");
        assert_ok(tree_update(t, time(NULL)));
        ASSERT_FOUND(t, &d, "key ");
        assert_int_equal(unlink(temp_path(&d, "key")), 0);
        assert_ok(tree_update(t, time(NULL)));
        ASSERT_FOUND(t, &d, "");
    }
}

TEST(what_was_moved_or_removed_is_known_under_its_new_path_only)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);

    put(&d, "a/b/key", "");
    put(&d, "c/", "");
    assert_ok(tree_update(t, later()));
    assert_int_equal(rename(temp_path(&d, "a/b"), temp_path(&d, "c/e")), 0);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "c/e/key ");
    assert_int_equal(unlink(temp_path(&d, "c/e/key")), 0);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "");
}

TEST(another_directory_under_the_same_name_is_read)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);

    put(&d, "a/b/", "");
    put(&d, "other/key", "");
    assert_ok(tree_update(t, later()));
    assert_int_equal(rename(temp_path(&d, "a/b"), temp_path(&d, "a/old")), 0);
    assert_int_equal(rename(temp_path(&d, "other"), temp_path(&d, "a/b")), 0);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "a/b/key ");
}

TEST(a_file_that_becomes_a_link_or_a_directory_is_no_surprise)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);

    put(&d, "a/key", "");
    assert_ok(tree_update(t, later()));
    assert_int_equal(unlink(temp_path(&d, "a/key")), 0);
    assert_int_equal(rmdir(temp_path(&d, "a")), 0);
    assert_int_equal(symlink("/", temp_path(&d, "a")), 0);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "");
}

TEST(a_root_that_is_not_there_holds_nothing)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(temp_path(&d, "none"));

    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "");
    put(&d, "none/key", "");
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "none/key ");
}

TEST(a_directory_that_was_shut_keeps_what_was_known_of_it)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);
    uid_t user = geteuid();

    if (user == 0) /* who may enter every directory */
        assert_int_equal(chown(d.path, 65534, 65534) + seteuid(65534), 0);
    put(&d, "a/b/key", "");
    assert_ok(tree_update(t, later()));
    change_mode(&d, "a", 0600);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "a (shut) a/b/key ");
    change_mode(&d, "a", 0);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "a (shut) a/b/key ");
    change_mode(&d, "a", 0700);
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "a/b/key ");
    assert_int_equal(seteuid(user), 0);
}

TEST(a_deep_tree_ends_the_look_and_not_the_program)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    AUTO(tree) struct tree *t = tree_of(d.path);
    AUTO(strbuf) struct strbuf path = {0};

    for (int i = 0; i < TREE_MAX_DEPTH + 20; i++)
        strbuf_add_cstr(&path, "d/");
    put(&d, strbuf_cstr(&path), "");
    strbuf_add_cstr(&path, "key");
    put(&d, strbuf_cstr(&path), "");
    put(&d, "key", "");
    assert_ok(tree_update(t, later()));
    ASSERT_FOUND(t, &d, "key ");
}

RUN_TESTS(UNIT(what_means_something_is_found_at_every_depth),
          UNIT(only_directories_that_changed_are_read_again),
          UNIT(a_change_right_after_a_look_is_not_missed),
          UNIT(what_was_moved_or_removed_is_known_under_its_new_path_only),
          UNIT(another_directory_under_the_same_name_is_read),
          UNIT(a_file_that_becomes_a_link_or_a_directory_is_no_surprise),
          UNIT(a_root_that_is_not_there_holds_nothing),
          UNIT(a_directory_that_was_shut_keeps_what_was_known_of_it),
          UNIT(a_deep_tree_ends_the_look_and_not_the_program))
