/* command_path_test.c - the place that a path means: as texts, and compared with what the kernel
 * says, over random trees of directories and links. */
#include "sandbox/watch/command_path.h"

#include "files.h"
#include "own_mounts.h"
#include "sys/fs.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- texts --- */

static const char *joined(const char *base, const char *path)
{
    static char text[PATH_MAX];

    return command_path_join(base, path, text) ? text : NULL;
}
#define assert_joined(base, path, want) assert_string_equal(joined(base, path), want)

TEST(a_plain_path_is_put_behind_its_directory)
{
    assert_joined("/w", "a", "/w/a");
    assert_joined("/", "a", "/a");
    assert_joined("/w/s", "a/b//c", "/w/s/a/b/c");
    assert_joined("/w/s", "./a/./b", "/w/s/a/b");
    assert_joined("/w/s", "/x/y", "/x/y");
    assert_joined("/w/s", "//x", "/x");
    assert_joined("/w/s", "/", "/");
    assert_joined("/w/s", ".", "/w/s");
    assert_joined("/w/s", "...", "/w/s/...");
    assert_joined("/w/s", "..a", "/w/s/..a");
}

TEST(dots_at_the_beginning_go_up)
{
    assert_joined("/w/s", "../a", "/w/a");
    assert_joined("/w/s", "./.././a", "/w/a");
    assert_joined("/w/s", "..", "/w");
    assert_joined("/w/s", "../../../../a", "/a");
    assert_joined("/w/s", "/../a", "/a");
}

TEST(what_depends_on_links_is_not_said_by_the_text)
{
    assert_null(joined("/w", "a/../b"));
    assert_null(joined("/w", "a/.."));
    assert_null(joined("/w", "a/."));
    assert_null(joined("/w", "a/"));
    assert_null(joined("/w", "a//"));
    assert_null(joined("/w", "a/./"));
}

TEST(a_text_that_is_too_long_is_refused)
{
    char name[PATH_MAX + 1];

    memset(name, 'a', PATH_MAX);
    name[PATH_MAX] = 0;
    assert_null(joined("/w", name));
    assert_null(joined(name, "x"));
    name[PATH_MAX - 4] = 0;
    assert_int_equal(strlen(joined("/w", name)), PATH_MAX - 1);
    assert_null(joined("/ww", name));
}

/* --- random trees --- */

enum { N_TREES = 40, N_PATHS = 250 };

static unsigned pick(unsigned n)
{
    return (unsigned)rand() % n;
}

static const char *const names[] = {"a", "b", "c", "d"};

/* Up to five names, with dots and slashes as people and programs write them. */
static void random_path(char path[256], bool is_target)
{
    static const char *const words[] = {"a", "b", "c", "d", ".", "..", "x"};
    unsigned n = 1 + pick(5);

    path[0] = 0;
    if (is_target && pick(6) == 0)
        (void)!getcwd(path, 200);
    if (path[0])
        strcat(path, "/");
    for (unsigned i = 0; i < n; i++) {
        strcat(path, words[pick(ARRAY_LEN(words))]);
        if (i + 1 < n || pick(8) == 0)
            strcat(path, pick(6) ? "/" : "//");
    }
}

static void grow(unsigned depth)
{
    char target[256];

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        switch (pick(5)) {
        case 0:
            close(open(names[i], O_WRONLY | O_CREAT, 0644));
            break;
        case 1:
        case 2:
            random_path(target, /* is_target= */ true);
            assert_int_equal(symlink(target, names[i]), 0);
            break;
        case 3:
            if (depth > 2 || mkdir(names[i], 0755) < 0)
                break;
            assert_int_equal(chdir(names[i]), 0);
            grow(depth + 1);
            assert_int_equal(chdir(".."), 0);
            break;
        }
}

static struct command_path found;

/* What is there: the kernel's own answer. */
static void check_existing(const struct write_roots *roots, const char *path)
{
    char want[PATH_MAX];
    int error = command_path_find(&found, roots, getpid(), AT_FDCWD, path, true);

    if (realpath(path, want)) {
        if (error || strcmp(found.text, want) != 0)
            fail_msg("%s: %s, not %s", path, error ? strerror(error) : found.text, want);
    } else if (errno != ENOENT && error != errno) {
        fail_msg("%s: %s, not %s", path, strerror(error), strerror(errno));
    }
}

/* What an open makes, and what a name is made as, where nothing is followed at the end. */
static void check_new(const struct write_roots *roots, const char *path, bool follows_last)
{
    int flags = O_WRONLY | O_CREAT | (follows_last ? 0 : O_EXCL), fd, error;
    char made[64], want[PATH_MAX];
    ssize_t n;

    error = command_path_find(&found, roots, getpid(), AT_FDCWD, path, follows_last);
    fd = open(path, flags, 0644);
    if (fd < 0)
        return;
    snprintf(made, sizeof made, "/proc/self/fd/%d", fd);
    n = readlink(made, want, sizeof want - 1);
    close(fd);
    want[n > 0 ? n : 0] = 0;
    if (error || strcmp(found.text, want) != 0)
        fail_msg("%s: %s, not %s", path, error ? strerror(error) : found.text, want);
    unlink(want);
}

static void check_tree(const char *root)
{
    const char *roots_list[] = {root};
    struct write_roots roots;
    char path[256];

    write_roots_init(&roots, roots_list, 1, NULL);
    grow(0);
    for (int i = 0; i < N_PATHS; i++) {
        random_path(path, /* is_target= */ false);
        check_existing(&roots, path);
        check_new(&roots, path, /* follows_last= */ pick(2));
    }
    write_roots_done(&roots);
}

TEST(random_paths_mean_what_the_kernel_says)
{
    const char *given = getenv("KEEL_SEED");
    unsigned seed = given ? (unsigned)atoi(given) : (unsigned)time(NULL);

    print_message("KEEL_SEED=%u\n", seed);
    srand(seed);
    for (int i = 0; i < N_TREES; i++) {
        struct temp_dir dir = temp_dir_make();
        char root[PATH_MAX];

        assert_int_equal(chdir(dir.path), 0);
        assert_non_null(getcwd(root, sizeof root));
        check_tree(root);
        assert_int_equal(chdir("/"), 0);
        temp_dir_done(&dir);
    }
}

/* --- mounts --- */

/* In a child with mounts of its own: 0, or the line that failed. */
static int find_under_second_path(const char *root, const char *second)
{
    struct write_roots roots;
    char path[PATH_MAX], want[PATH_MAX];
    int line = 0;

    if (!own_mounts() || mount(root, second, NULL, MS_BIND, NULL) < 0)
        return 77;
    write_roots_init(&roots, &root, 1, NULL);
    snprintf(path, sizeof path, "%s/d/new", second);
    snprintf(want, sizeof want, "%s/d/new", root);
    if (command_path_find(&found, &roots, getpid(), AT_FDCWD, path, true) ||
        strcmp(found.text, want) != 0)
        line = __LINE__;
    if (chdir(second) < 0 || chdir("d") < 0 ||
        command_path_find(&found, &roots, getpid(), AT_FDCWD, "../d/new", false) ||
        strcmp(found.text, want) != 0)
        line = __LINE__;
    write_roots_done(&roots);
    return line;
}

/* Landlock grants what a directory holds under each of its paths. */
TEST(a_writable_directory_that_is_mounted_elsewhere_too_has_one_name)
{
    struct temp_dir dir = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    const char *root = fs_join(&a, dir.path, "ws"), *second = fs_join(&a, dir.path, "second");
    int status;
    pid_t pid;

    assert_ok(fs_make_dirs(fs_join(&a, root, "d"), 0755));
    assert_ok(fs_make_dirs(second, 0755));
    pid = fork();
    if (pid == 0)
        _exit(find_under_second_path(root, second));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    temp_dir_done(&dir);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("[ SKIPPED because nothing can be mounted here ]\n");
        arena_done(&a);
        skip();
    }
    assert_int_equal(status, 0);
}

RUN_TESTS(UNIT(a_plain_path_is_put_behind_its_directory), UNIT(dots_at_the_beginning_go_up),
          UNIT(what_depends_on_links_is_not_said_by_the_text),
          UNIT(a_text_that_is_too_long_is_refused), UNIT(random_paths_mean_what_the_kernel_says),
          UNIT(a_writable_directory_that_is_mounted_elsewhere_too_has_one_name))
