/* absent_test.c - of which names keel-exec says that they are missing, without looking for each.
 *
 * keel-exec is a program of its own, so its source is compiled in. */
#include "exec/absent.c" // NOLINT(bugprone-suspicious-include)

#include "files.h"

struct scene {
    struct temp_dir dir;
    struct root_fds roots;
    struct absent absent;
    union {
        struct policy_item item;
        char room[sizeof(struct policy_item) + 64];
    };
};

static void scene_init(struct scene *s)
{
    *s = (struct scene){.dir = temp_dir_make()};
    assert_ok(fs_make_dirs(temp_path(&s->dir, ".git"), 0755));
    put(&s->dir, "Makefile", "all:\n");
    s->roots.fd[1] = open(s->dir.path, O_PATH | O_CLOEXEC);
    s->roots.n = 2;
}

static void scene_done(struct scene *s)
{
    close(s->roots.fd[1]);
    temp_dir_done(&s->dir);
}

static bool is_certain(struct scene *s, const char *path, enum policy_expect expect, unsigned root)
{
    s->item = (struct policy_item){.root = root, .expect = expect};
    snprintf(s->item.text, sizeof s->room - sizeof s->item, "%s", path);
    return absent_is_certain(&s->absent, &s->roots, &s->item);
}

TEST(a_missing_name_and_what_is_below_it_are_certain)
{
    struct scene s;

    scene_init(&s);
    assert_true(is_certain(&s, ".envrc", POLICY_ABSENT, 1));
    assert_true(is_certain(&s, ".vscode/tasks.json", POLICY_ABSENT, 1));
    assert_true(is_certain(&s, "Make", POLICY_ABSENT, 1));
    assert_true(is_certain(&s, "Makefile.am", POLICY_ABSENT, 1));
    scene_done(&s);
}

TEST(what_is_there_has_to_be_looked_for)
{
    struct scene s;

    scene_init(&s);
    assert_false(is_certain(&s, "Makefile", POLICY_ABSENT, 1));
    assert_false(is_certain(&s, ".git/hooks", POLICY_ABSENT, 1));
    assert_false(is_certain(&s, "", POLICY_ABSENT, 1));
    assert_false(is_certain(&s, ".envrc", POLICY_ANY, 1));
    assert_false(is_certain(&s, ".envrc", POLICY_THIS, 1));
    assert_false(is_certain(&s, "etc", POLICY_ABSENT, 0));
    scene_done(&s);
}

/* A file system may ignore case, and other letters it may fold in its own way. */
TEST(a_name_that_could_be_taken_for_it_has_to_be_looked_for)
{
    struct scene s;

    scene_init(&s);
    assert_false(is_certain(&s, "makefile", POLICY_ABSENT, 1));
    assert_false(is_certain(&s, ".GIT/config", POLICY_ABSENT, 1));
    assert_false(is_certain(&s, "caf\xc3\xa9", POLICY_ABSENT, 1));
    put(&s.dir, "\xe2\x84\xaa", "a sign that small letters make a k\n");
    s.absent = ABSENT_NONE;
    assert_false(is_certain(&s, ".envrc", POLICY_ABSENT, 1));
    scene_done(&s);
}

TEST(a_listing_that_does_not_fit_says_nothing)
{
    struct scene s;
    char name[16];

    scene_init(&s);
    for (int i = 0; i < ABSENT_LISTING_BYTES / 16; i++) {
        snprintf(name, sizeof name, "file%d", i);
        put(&s.dir, name, "");
    }
    assert_false(is_certain(&s, ".envrc", POLICY_ABSENT, 1));
    scene_done(&s);
}

TEST(each_root_has_its_own_names)
{
    struct scene s;

    scene_init(&s);
    s.roots.fd[2] = openat(s.roots.fd[1], ".git", O_PATH | O_CLOEXEC);
    s.roots.n = 3;
    put(&s.dir, ".git/config", "");
    assert_true(is_certain(&s, "config", POLICY_ABSENT, 1));
    assert_false(is_certain(&s, "config", POLICY_ABSENT, 2));
    assert_true(is_certain(&s, "Makefile", POLICY_ABSENT, 2));
    assert_true(is_certain(&s, "config", POLICY_ABSENT, 1));
    close(s.roots.fd[2]);
    scene_done(&s);
}

RUN_TESTS(UNIT(a_missing_name_and_what_is_below_it_are_certain),
          UNIT(what_is_there_has_to_be_looked_for),
          UNIT(a_name_that_could_be_taken_for_it_has_to_be_looked_for),
          UNIT(a_listing_that_does_not_fit_says_nothing), UNIT(each_root_has_its_own_names))
