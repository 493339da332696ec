/* dir_watch_test.c - what is known of directories, by asking them and by what the kernel reports,
 * and how much is read to know it. */
#include "sys/dir_watch.h"

#include "files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOUND = 1, CLOSED = 2 };

/* Files called "key" are found; below "closed" nothing is. */
static unsigned judge(void *self, const struct watched_dir *dir, const char *name)
{
    if (strcmp(name, "key") == 0)
        return FOUND;
    return strcmp(name, "closed") == 0 ? CLOSED : 0;
}

struct tree {
    struct temp_dir dir;
    struct dir_watch *watch;
    int reader;
    bool is_watched;
};

static struct dir_watch *watch_of(const char *root, int *ret_reader)
{
    struct dir_watch *w = dir_watch_new(root);

    *ret_reader = dir_watch_add_reader(w, &(struct dir_judge){judge, NULL, CLOSED});
    assert_true(*ret_reader >= 0);
    return w;
}

/* With so many directories that the kernel is asked to report them. */
static void add_many(const struct temp_dir *d)
{
    char path[64];

    for (int i = 0; i <= DIR_WATCH_FEW; i++) {
        snprintf(path, sizeof path, "many/%d/", i);
        put(d, path, "");
    }
}

static void tree_open(struct tree *t, void **state)
{
    *t = (struct tree){.dir = temp_dir_make(), .is_watched = *state};
    if (t->is_watched)
        add_many(&t->dir);
    t->watch = watch_of(t->dir.path, &t->reader);
}

static void tree_done(struct tree *t)
{
    dir_watch_unref(t->watch);
    temp_dir_done(&t->dir);
}
DEFINE_AUTO_VAL(tree, tree_done)

/* Then the kernel reports a small tree, too. */
static void follow(struct tree *t)
{
    dir_watch_follow_files(t->watch);
    t->is_watched = true;
}

/* Until no time is young any more, and the kernel reports what it is to report. */
static void settle(struct tree *t)
{
    do
        assert_ok(dir_watch_update(t->watch, NULL));
    while (dir_watch_n_read(t->watch) > 0);
    dir_watch_settle(t->watch);
    dir_watch_wait(t->watch);
    assert_ok(dir_watch_update(t->watch, NULL));
    assert_int_equal(dir_watch_n_watched(t->watch), t->is_watched ? dir_watch_n_dirs(t->watch) : 0);
}

static int text_cmp(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct found {
    char *paths[64];
    size_t n;
};

static void add_path(struct found *f, const struct watched_dir *dir, const char *name,
                     const char *more)
{
    AUTO(strbuf) struct strbuf path = {0};

    watched_dir_path(dir, &path);
    strbuf_addf(&path, "%s%s%s", path.n && *name ? "/" : "", name, more);
    assert_true(f->n < ARRAY_LEN(f->paths));
    f->paths[f->n++] = mem_strdup(strbuf_cstr(&path));
}

static void add_found(void *self, const struct watched_dir *dir, const char *name, unsigned meaning)
{
    add_path(self, dir, name, "");
}

static void add_shut(void *self, const struct watched_dir *dir, enum dir_shut why)
{
    add_path(self, dir, "", why == DIR_IS_SHUT ? " (shut)" : " (deep)");
}

static void assert_paths(struct found *f, const char *wanted)
{
    AUTO(strbuf) struct strbuf all = {0};

    qsort(f->paths, f->n, sizeof f->paths[0], text_cmp);
    for (size_t i = 0; i < f->n; i++) {
        strbuf_addf(&all, "%s%s", i ? " " : "", f->paths[i]);
        mem_free(f->paths[i]);
    }
    assert_string_equal(strbuf_cstr(&all), wanted);
}

static void assert_found(struct tree *t, const char *wanted)
{
    struct found f = {0};

    dir_watch_each(t->watch, t->reader, add_found, &f);
    dir_watch_each_shut(t->watch, add_shut, &f);
    assert_paths(&f, wanted);
}

static void update_finds(struct tree *t, const char *wanted)
{
    assert_ok(dir_watch_update(t->watch, NULL));
    assert_found(t, wanted);
}

#define BOTH(t)                                                                                    \
    cmocka_unit_test_prestate(t, NULL), {#t " (watched)", t, NULL, NULL, (void *)(uintptr_t)1}

/* --- what is found --- */

TEST(what_means_something_is_found_at_every_depth)
{
    AUTO(tree) struct tree t;

    tree_open(&t, state);
    put(&t.dir, "key", "");
    put(&t.dir, "a/b/.c/key", "");
    put(&t.dir, "a/closed/key", "");
    assert_int_equal(symlink("a", temp_path(&t.dir, "z")), 0);
    settle(&t);
    assert_found(&t, "a/b/.c/key a/closed key");
}

TEST(only_directories_that_changed_are_read_again)
{
    AUTO(tree) struct tree t;

    tree_open(&t, state);
    put(&t.dir, "a/b/c/", "");
    put(&t.dir, "x/y/", "");
    settle(&t);
    assert_ok(dir_watch_update(t.watch, NULL));
    assert_int_equal(dir_watch_n_read(t.watch), 0);
    if (t.is_watched)
        assert_int_equal(dir_watch_n_asked(t.watch), 0);
    put(&t.dir, "a/b/key", "");
    update_finds(&t, "a/b/key");
    assert_int_equal(dir_watch_n_read(t.watch), 1);
}

TEST(a_change_right_after_a_look_is_not_missed)
{
    AUTO(tree) struct tree t;

    tree_open(&t, state);
    if (t.is_watched)
        settle(&t);
    for (int i = 0; i < 50; i++) {
        put(&t.dir, "key", "");
        update_finds(&t, "key");
        assert_int_equal(unlink(temp_path(&t.dir, "key")), 0);
        update_finds(&t, "");
    }
}

TEST(what_was_moved_or_removed_is_known_under_its_new_path_only)
{
    AUTO(tree) struct tree t;

    tree_open(&t, state);
    put(&t.dir, "a/b/key", "");
    put(&t.dir, "c/", "");
    settle(&t);
    assert_int_equal(rename(temp_path(&t.dir, "a/b"), temp_path(&t.dir, "c/e")), 0);
    update_finds(&t, "c/e/key");
    put(&t.dir, "c/e/f/key", "");
    update_finds(&t, "c/e/f/key c/e/key");
    assert_int_equal(rename(temp_path(&t.dir, "c"), temp_path(&t.dir, "a/c")), 0);
    assert_int_equal(unlink(temp_path(&t.dir, "a/c/e/key")), 0);
    update_finds(&t, "a/c/e/f/key");
}

TEST(another_directory_under_the_same_name_is_read)
{
    AUTO(tree) struct tree t;
    uint64_t before;

    tree_open(&t, state);
    put(&t.dir, "a/b/key", "");
    put(&t.dir, "other/x/key", "");
    settle(&t);
    before = dir_watch_version(t.watch);
    assert_int_equal(renameat2(AT_FDCWD, temp_path(&t.dir, "a/b"), AT_FDCWD,
                               temp_path(&t.dir, "other"), RENAME_EXCHANGE),
                     0);
    update_finds(&t, "a/b/x/key other/key");
    assert_true(dir_watch_version(t.watch) > before);
}

TEST(a_file_that_becomes_a_link_or_a_directory_is_no_surprise)
{
    AUTO(tree) struct tree t;

    tree_open(&t, state);
    put(&t.dir, "a/key", "");
    settle(&t);
    assert_int_equal(unlink(temp_path(&t.dir, "a/key")), 0);
    assert_int_equal(rmdir(temp_path(&t.dir, "a")), 0);
    assert_int_equal(symlink("/", temp_path(&t.dir, "a")), 0);
    update_finds(&t, "");
}

TEST(no_link_leads_out_of_the_tree)
{
    AUTO(tree) struct tree t;

    tree_open(&t, state);
    put(&t.dir, "in/b/", "");
    put(&t.dir, "out/b/key", "");
    dir_watch_unref(t.watch);
    t.watch = watch_of(temp_path(&t.dir, "in"), &t.reader);
    assert_ok(dir_watch_update(t.watch, NULL));
    assert_int_equal(rename(temp_path(&t.dir, "in/b"), temp_path(&t.dir, "in/c")), 0);
    assert_int_equal(symlink(temp_path(&t.dir, "out/b"), temp_path(&t.dir, "in/b")), 0);
    update_finds(&t, "");
    assert_int_equal(dir_watch_n_dirs(t.watch), 2);
}

/* A command that can write above it could have keel put files right elsewhere. */
TEST(a_link_in_the_place_of_the_root_leads_nowhere)
{
    AUTO(temp_dir) struct temp_dir d = temp_dir_make();
    int reader;
    struct dir_watch *w;

    put(&d, "above/root/key", "");
    put(&d, "home/root/key", "");
    w = watch_of(temp_path(&d, "above/root"), &reader);
    assert_ok(dir_watch_update(w, NULL));
    assert_int_equal(dir_watch_n_dirs(w), 1);
    assert_int_equal(rename(temp_path(&d, "above/root"), temp_path(&d, "above/was")), 0);
    assert_int_equal(symlink(temp_path(&d, "home/root"), temp_path(&d, "above/root")), 0);
    assert_ok(dir_watch_update(w, NULL));
    assert_int_equal(dir_watch_n_dirs(w), 0);
    assert_int_equal(dir_watch_root_fd(w), -1);
    assert_int_equal(rename(temp_path(&d, "above"), temp_path(&d, "real")), 0);
    assert_int_equal(symlink("home", temp_path(&d, "above")), 0);
    assert_ok(dir_watch_update(w, NULL));
    assert_int_equal(dir_watch_root_fd(w), -1);
    dir_watch_unref(w);
}

TEST(a_root_that_is_not_there_holds_nothing)
{
    AUTO(tree) struct tree t;

    tree_open(&t, state);
    dir_watch_unref(t.watch);
    t.watch = watch_of(temp_path(&t.dir, "none"), &t.reader);
    update_finds(&t, "");
    assert_int_equal(dir_watch_root_fd(t.watch), -1);
    put(&t.dir, "none/key", "");
    update_finds(&t, "key");
    assert_int_equal(rename(temp_path(&t.dir, "none"), temp_path(&t.dir, "gone")), 0);
    put(&t.dir, "none/a/key", "");
    update_finds(&t, "a/key");
}

/* --- trees that are hard to read --- */

static void change_mode(const struct temp_dir *d, const char *path, mode_t mode)
{
    assert_int_equal(chmod(temp_path(d, path), mode), 0);
}

/* Root may enter every directory. */
static uid_t become_user(const struct temp_dir *d)
{
    uid_t user = geteuid();

    if (user == 0)
        assert_int_equal(chown(d->path, 65534, 65534) + seteuid(65534), 0);
    return user;
}

TEST(a_directory_that_was_shut_keeps_what_was_known_of_it)
{
    AUTO(tree) struct tree t;
    uid_t user;

    tree_open(&t, state);
    user = become_user(&t.dir);
    put(&t.dir, "a/b/key", "");
    settle(&t);
    change_mode(&t.dir, "a", 0600);
    update_finds(&t, "a (shut) a/b/key");
    change_mode(&t.dir, "a", 0);
    update_finds(&t, "a (shut) a/b/key");
    change_mode(&t.dir, "a", 0311);
    put(&t.dir, "a/key", "");
    update_finds(&t, "a (shut) a/b/key");
    change_mode(&t.dir, "a", 0700);
    update_finds(&t, "a/b/key a/key");
    assert_int_equal(seteuid(user), 0);
}

static bool allow_all(void *self, int path_fd)
{
    char path[64];
    int *n = self;

    snprintf(path, sizeof path, "/proc/self/fd/%d", path_fd);
    (*n)++;
    return chmod(path, 0700) == 0;
}

TEST(what_is_shut_is_read_if_it_may_be_unlocked)
{
    AUTO(tree) struct tree t;
    uid_t user;
    int n_unlocked = 0;
    const struct dir_unlocker unlocker = {allow_all, &n_unlocked};

    tree_open(&t, state);
    user = become_user(&t.dir);
    settle(&t);
    put(&t.dir, "a/b/c/d/key", "");
    change_mode(&t.dir, "a/b/c", 0600);
    change_mode(&t.dir, "a/b", 0311);
    change_mode(&t.dir, "a", 0);
    assert_ok(dir_watch_update(t.watch, &unlocker));
    assert_found(&t, "a/b/c/d/key");
    assert_int_equal(n_unlocked, 3);
    change_mode(&t.dir, "a/b/c/d", 0);
    change_mode(&t.dir, "", 0111);
    assert_ok(dir_watch_update(t.watch, &unlocker));
    assert_found(&t, "a/b/c/d/key");
    assert_int_equal(seteuid(user), 0);
}

TEST(paths_that_are_longer_than_the_kernel_takes_are_gone_in_steps)
{
    AUTO(tree) struct tree t;
    char name[201] = "";
    int dir;

    tree_open(&t, state);
    memset(name, 'n', sizeof name - 1);
    dir = open(t.dir.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 40; i++) { /* 8,000 bytes */
        int next;

        assert_int_equal(mkdirat(dir, name, 0700), 0);
        next = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(dir);
        dir = next;
    }
    settle(&t);
    close(openat(dir, "key", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(mkdirat(dir, "a", 0700), 0);
    close(openat(dir, "a/key", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    close(dir);
    assert_ok(dir_watch_update(t.watch, NULL));
    {
        struct found f = {0};

        dir_watch_each(t.watch, t.reader, add_found, &f);
        assert_int_equal(f.n, 2);
        assert_true(strlen(f.paths[0]) > 8000);
        mem_free(f.paths[0]);
        mem_free(f.paths[1]);
    }
}

TEST(a_tree_that_is_too_deep_is_reported_and_does_not_end_the_program)
{
    AUTO(tree) struct tree t;
    struct found f = {0};
    int dir;

    tree_open(&t, state);
    dir = open(t.dir.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < DIR_WATCH_MAX_DEPTH + 20; i++) {
        int next;

        assert_int_equal(mkdirat(dir, "d", 0700), 0);
        next = openat(dir, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(dir);
        dir = next;
    }
    close(dir);
    put(&t.dir, "key", "");
    assert_ok(dir_watch_update(t.watch, NULL));
    dir_watch_each_shut(t.watch, add_shut, &f);
    assert_int_equal(f.n, 1);
    assert_int_equal(strlen(f.paths[0]), 2 * (DIR_WATCH_MAX_DEPTH + 1) - 1 + strlen(" (deep)"));
    mem_free(f.paths[0]);
}

/* --- readers --- */

static unsigned judge_lock(void *self, const struct watched_dir *dir, const char *name)
{
    return strcmp(name, "lock") == 0;
}

TEST(readers_share_a_tree_and_have_finds_of_their_own)
{
    AUTO(tree) struct tree t;
    struct found f = {0};
    int second;

    tree_open(&t, state);
    put(&t.dir, "a/closed/lock", "");
    put(&t.dir, "a/key", "");
    settle(&t);
    second = dir_watch_add_reader(t.watch, &(struct dir_judge){.judge = judge_lock});
    assert_ok(dir_watch_update(t.watch, NULL));
    dir_watch_each(t.watch, second, add_found, &f);
    assert_paths(&f, "a/closed/lock");
    assert_found(&t, "a/closed a/key");
    dir_watch_remove_reader(t.watch, t.reader);
    t.reader = dir_watch_add_reader(t.watch, &(struct dir_judge){judge, NULL, 0});
    assert_ok(dir_watch_update(t.watch, NULL));
    assert_found(&t, "a/closed a/key");
    dir_watch_remove_reader(t.watch, second);
}

/* --- what the kernel reports --- */

struct log {
    struct found names;
};

static void add_change(void *self, const struct watched_dir *dir, const char *name)
{
    struct log *l = self;

    add_path(&l->names, dir, name ? name : "*", "");
}

TEST(files_that_change_are_known_by_name)
{
    AUTO(tree) struct tree t;
    struct log l = {0};
    uint64_t mark, second;

    tree_open(&t, state);
    follow(&t);
    put(&t.dir, "a/file", "");
    put(&t.dir, "a/other", "");
    settle(&t);
    assert_ok(dir_watch_update(t.watch, NULL));
    mark = dir_watch_mark(t.watch);
    put(&t.dir, "a/file", "more");
    assert_ok(dir_watch_update(t.watch, NULL));
    second = dir_watch_mark(t.watch);
    put(&t.dir, "new/file", "x");
    assert_ok(dir_watch_update(t.watch, NULL));
    assert_int_equal(dir_watch_changes(t.watch, mark, add_change, &l), t.is_watched);
    assert_paths(&l.names, t.is_watched ? "a/file new new/*" : "");
    l = (struct log){0};
    assert_int_equal(dir_watch_changes(t.watch, second, add_change, &l), t.is_watched);
    assert_paths(&l.names, t.is_watched ? "new new/*" : "");
}

/* More than the kernel keeps: it says so, and nothing is missed. */
TEST(lost_events_make_it_ask)
{
    AUTO(tree) struct tree t;
    struct log l = {0};
    uint64_t mark;

    tree_open(&t, state);
    follow(&t);
    put(&t.dir, "a/x", "");
    put(&t.dir, "b/", "");
    settle(&t);
    assert_ok(dir_watch_update(t.watch, NULL));
    mark = dir_watch_mark(t.watch);
    for (int i = 0; i < 40000; i++)
        assert_int_equal(rename(temp_path(&t.dir, i % 2 ? "a/y" : "a/x"),
                                strdupa(temp_path(&t.dir, i % 2 ? "a/x" : "a/y"))),
                         0);
    put(&t.dir, "b/c/key", "");
    update_finds(&t, "b/c/key");
    assert_int_equal(dir_watch_n_asked(t.watch) > 0, true);
    assert_false(dir_watch_changes(t.watch, mark, add_change, &l));
    assert_ok(dir_watch_update(t.watch, NULL));
    mark = dir_watch_mark(t.watch);
    put(&t.dir, "b/c/more", "");
    assert_ok(dir_watch_update(t.watch, NULL));
    assert_int_equal(dir_watch_changes(t.watch, mark, add_change, &l), t.is_watched);
    assert_paths(&l.names, t.is_watched ? "b/c/more" : "");
}

RUN_TESTS(BOTH(what_means_something_is_found_at_every_depth),
          BOTH(only_directories_that_changed_are_read_again),
          BOTH(a_change_right_after_a_look_is_not_missed),
          BOTH(what_was_moved_or_removed_is_known_under_its_new_path_only),
          BOTH(another_directory_under_the_same_name_is_read),
          BOTH(a_file_that_becomes_a_link_or_a_directory_is_no_surprise),
          BOTH(no_link_leads_out_of_the_tree), BOTH(a_root_that_is_not_there_holds_nothing),
          UNIT(a_link_in_the_place_of_the_root_leads_nowhere),
          BOTH(a_directory_that_was_shut_keeps_what_was_known_of_it),
          BOTH(what_is_shut_is_read_if_it_may_be_unlocked),
          BOTH(paths_that_are_longer_than_the_kernel_takes_are_gone_in_steps),
          BOTH(a_tree_that_is_too_deep_is_reported_and_does_not_end_the_program),
          BOTH(readers_share_a_tree_and_have_finds_of_their_own),
          BOTH(files_that_change_are_known_by_name), BOTH(lost_events_make_it_ask))
