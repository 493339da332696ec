/* locate_test.c - what keel-exec opens, and what it refuses because it was exchanged.
 *
 * keel-exec is a program of its own, so its source is compiled in. */
#include "exec/locate.c" // NOLINT(bugprone-suspicious-include)

#include "files.h"

const struct policy_item *policy_next(const struct policy_header *p, const struct policy_item *item)
{
    return NULL; /* no policy is read here */
}

struct scene {
    struct temp_dir dir;
    struct root_fds roots;
    union {
        struct policy_item item;
        char room[sizeof(struct policy_item) + 64];
    };
};

static void scene_init(struct scene *s)
{
    *s = (struct scene){.dir = temp_dir_make()};
    assert_ok(fs_make_dirs(temp_path(&s->dir, "a/b"), 0755));
    put(&s->dir, "a/file", "text");
    put(&s->dir, "other", "text");
    assert_int_equal(symlink("a", temp_path(&s->dir, "link")), 0);
    assert_int_equal(symlink("..", temp_path(&s->dir, "a/up")), 0);
    assert_true(roots_begin(&s->roots));
    s->roots.fd[s->roots.n++] = open(s->dir.path, O_PATH | O_CLOEXEC);
}

static void scene_done(struct scene *s)
{
    roots_close(&s->roots);
    temp_dir_done(&s->dir);
}

/* 0, or why it could not be located. */
static int look_for(struct scene *s, const char *path, enum policy_expect expect,
                    const struct stat *seen)
{
    struct stat st;
    int fd;

    s->item = (struct policy_item){.root = 1,
                                   .expect = expect,
                                   .device = seen ? seen->st_dev : 0,
                                   .inode = seen ? seen->st_ino : 0};
    snprintf(s->item.text, sizeof s->room - sizeof s->item, "%s", path);
    fd = locate(&s->roots, &s->item, &st);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static struct stat seen_at(struct scene *s, const char *path)
{
    struct stat st;

    assert_int_equal(lstat(temp_path(&s->dir, path), &st), 0);
    return st;
}

TEST(what_keel_saw_is_found)
{
    struct scene s;
    struct stat file, link;

    scene_init(&s);
    file = seen_at(&s, "a/file");
    link = seen_at(&s, "link");
    assert_int_equal(look_for(&s, "a/file", POLICY_THIS, &file), 0);
    assert_int_equal(look_for(&s, "link", POLICY_THIS, &link), 0); /* the link itself */
    assert_int_equal(look_for(&s, "", POLICY_ANY, NULL), 0);
    assert_int_equal(look_for(&s, "none/at/all", POLICY_ABSENT, NULL), ENOENT);
    assert_int_equal(look_for(&s, "none", POLICY_ANY, NULL), ENOENT);
    scene_done(&s);
}

TEST(what_was_exchanged_is_refused)
{
    struct scene s;
    struct stat file;

    scene_init(&s);
    file = seen_at(&s, "a/file");
    assert_int_equal(look_for(&s, "other", POLICY_THIS, &file), ESTALE);
    assert_int_equal(look_for(&s, "none", POLICY_THIS, &file), ESTALE);
    assert_int_equal(look_for(&s, "other/file", POLICY_THIS, &file), ESTALE);
    assert_int_equal(look_for(&s, "other", POLICY_ABSENT, NULL), ESTALE);
    scene_done(&s);
}

TEST(no_link_leads_to_it)
{
    struct scene s;
    struct stat file;

    scene_init(&s);
    file = seen_at(&s, "a/file");
    assert_int_equal(look_for(&s, "link/file", POLICY_THIS, &file), ESTALE);
    assert_int_equal(look_for(&s, "a/up/a/file", POLICY_THIS, &file), ESTALE);
    assert_int_equal(look_for(&s, "link/file", POLICY_ANY, NULL), ESTALE);
    assert_int_equal(look_for(&s, "link/file", POLICY_ABSENT, NULL), ENOENT);
    scene_done(&s);
}

TEST(part_by_part_is_as_strict)
{
    struct scene s;
    int fd;

    scene_init(&s);
    fd = open_by_parts(s.roots.fd[1], "a/b");
    assert_true(fd >= 0);
    close(fd);
    fd = open_by_parts(s.roots.fd[1], "link"); /* the link itself */
    assert_true(fd >= 0);
    close(fd);
    assert_true(open_by_parts(s.roots.fd[1], "link/b") < 0 && errno == ELOOP);
    assert_true(open_by_parts(s.roots.fd[1], "a/up/a") < 0 && errno == ELOOP);
    assert_true(open_by_parts(s.roots.fd[1], "a/none/b") < 0 && errno == ENOENT);
    assert_true(open_by_parts(s.roots.fd[1], "a/file/b") < 0 && errno == ENOTDIR);
    scene_done(&s);
}

RUN_TESTS(UNIT(what_keel_saw_is_found), UNIT(what_was_exchanged_is_refused),
          UNIT(no_link_leads_to_it), UNIT(part_by_part_is_as_strict))
