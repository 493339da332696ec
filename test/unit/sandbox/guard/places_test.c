/* places_test.c - what is secret, what is protected, and a place for temporary files. */
#include "files.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lists(const char *const *paths, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(paths[i], path) == 0)
            return true;
    return false;
}

/* --- secrets --- */

TEST(the_homes_of_others_are_secret_but_not_one_s_own)
{
    AUTO(arena) struct arena a = {0};
    size_t n;
    const char *const *paths = sandbox_secret_places(&a, "/root", "/keel", &n);

    assert_true(lists(paths, n, "/home") && lists(paths, n, "/keel"));
    assert_false(lists(paths, n, "/root"));
    paths = sandbox_secret_places(&a, "/home/somebody", NULL, &n);
    assert_true(lists(paths, n, "/root") && lists(paths, n, "/home"));
    assert_true(lists(paths, n, "/home/somebody/.ssh"));
}

TEST(a_secret_behind_a_link_is_named_by_its_own_path)
{
    struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    const char *const *paths;
    size_t n;

    put(&d, "vault/ssh/id", "x");
    put(&d, "home/", "");
    assert_int_equal(symlink(temp_path(&d, "vault/ssh"), temp_path(&d, "home/.ssh")), 0);
    paths = sandbox_secret_places(&a, temp_path(&d, "home"), NULL, &n);
    assert_true(lists(paths, n, temp_path(&d, "vault/ssh")));
    temp_dir_done(&d);
}

TEST(secrets_that_variables_name_are_found)
{
    struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct path_list l = {.arena = &a};
    const char *home = arena_cstr(&a, str_of(temp_path(&d, "home"))),
               *workspace = arena_cstr(&a, str_of(temp_path(&d, "home/work")));
    const char *const environment[] = {
        arena_format(&a, "KUBECONFIG=%s:/nonexistent:relative", temp_path(&d, "k/one")).p,
        arena_format(&a, "CARGO_HOME=%s", temp_path(&d, "cargo")).p,
        arena_format(&a, "GNUPGHOME=%s", home).p, /* holds the workspace */
        "HISTFILE=/dev/null",
        "PGPASSFILE=",
        "PASSWORD_STORE_DIR=/",
        NULL};

    put(&d, "home/work/x", "");
    put(&d, "k/one", "x");
    put(&d, "cargo/credentials.toml", "x");
    put(&d, "cargo/config.toml", "x");
    sandbox_find_named_secrets(&l, environment, home, workspace);
    assert_int_equal(l.n, 2);
    assert_true(lists(l.paths, l.n, temp_path(&d, "k/one")));
    assert_true(lists(l.paths, l.n, temp_path(&d, "cargo/credentials.toml")));
    temp_dir_done(&d);
}

TEST(secrets_in_a_moved_configuration_directory_are_found)
{
    struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    struct path_list l = {.arena = &a};
    const char *home = arena_cstr(&a, str_of(temp_path(&d, "home")));
    const char *const environment[] = {
        arena_format(&a, "XDG_CONFIG_HOME=%s", temp_path(&d, "cfg")).p,
        arena_format(&a, "XDG_DATA_HOME=%s/.local/share", home).p, /* where it usually is */
        "XDG_STATE_HOME=relative", NULL};

    put(&d, "home/.local/share/keyrings/x", "x");
    put(&d, "cfg/gh/hosts.yml", "x");
    put(&d, "cfg/ordinary/x", "x");
    sandbox_find_named_secrets(&l, environment, home, NULL);
    assert_int_equal(l.n, 1);
    assert_true(lists(l.paths, l.n, temp_path(&d, "cfg/gh")));
    temp_dir_done(&d);
}

/* --- protected files --- */

static void put_git_dir(struct temp_dir *d, const char *path)
{
    static const char *const names[] = {"HEAD", "objects/x", "refs/x"};
    char name[256];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(name, sizeof name, "%s/%s", path, names[i]);
        put(d, name, "");
    }
}

TEST(repositories_are_found_wherever_they_are)
{
    struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    const char *const *paths;
    size_t n;

    put_git_dir(&d, ".git");
    put_git_dir(&d, ".git/modules/group/sub");
    put_git_dir(&d, ".git/modules/group/sub/modules/inner");
    put(&d, ".git/worktrees/other/HEAD", "");
    put(&d, ".git/worktrees/other/commondir", "../..\n");
    put_git_dir(&d, "bare");
    put(&d, "group/sub/.git", "gitdir: ../../.git/modules/group/sub\n");
    put_git_dir(&d, "node_modules/.hidden/repo/.git");
    put(&d, ".gitignore", "node_modules\n");
    assert_ok(sandbox_protected_places(&a, d.path, &paths, &n));
    assert_true(lists(paths, n, temp_path(&d, ".git/hooks")));
    assert_true(lists(paths, n, temp_path(&d, ".git/modules/group/sub/config")));
    assert_true(lists(paths, n, temp_path(&d, ".git/modules/group/sub/modules/inner/hooks")));
    assert_true(lists(paths, n, temp_path(&d, ".git/worktrees/other/commondir")));
    assert_true(lists(paths, n, temp_path(&d, "group/sub/.git")));
    assert_true(lists(paths, n, temp_path(&d, "bare/config")));
    assert_true(lists(paths, n, temp_path(&d, "node_modules/.hidden/repo/.git/config")));
    assert_true(lists(paths, n, temp_path(&d, "node_modules/.hidden/repo/.mcp.json")));
    temp_dir_done(&d);
}

TEST(what_git_runs_is_protected_where_its_configuration_says)
{
    struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    const char *const *paths;
    size_t n;

    put_git_dir(&d, ".git");
    put(&d, ".git/config",
        "[core]\n\thooksPath = .husky/_\n[include]\n\tpath = ../more\n"
        "[filter \"f\"]\n\tclean = sh 'tools/clean.sh' %f\n\tsmudge = cat\n");
    put(&d, "more", "[diff \"x\"]\n\ttextconv = ./tools/text\n[alias]\n\tx = !/bin/true\n");
    put(&d, "tools/clean.sh", "");
    put(&d, "tools/text", "");
    assert_ok(sandbox_protected_places(&a, d.path, &paths, &n));
    assert_true(lists(paths, n, temp_path(&d, ".husky")));
    assert_true(lists(paths, n, temp_path(&d, "more")));
    assert_true(lists(paths, n, temp_path(&d, "tools/clean.sh")));
    assert_true(lists(paths, n, temp_path(&d, "tools/text")));
    assert_false(lists(paths, n, temp_path(&d, "tools")));
    assert_false(lists(paths, n, "/bin/true"));
    temp_dir_done(&d);
}

static void put_link(struct temp_dir *d, const char *path, const char *target)
{
    assert_int_equal(symlink(target, temp_path(d, path)), 0);
}

TEST(links_on_the_way_to_what_git_runs_are_protected)
{
    static const char *const names[] = {"a",           "b",          "real/hooks",
                                        "tools/check", ".git/hooks", "hk/none"};
    struct temp_dir d = temp_dir_make();
    AUTO(arena) struct arena a = {0};
    const char *const *paths;
    size_t n;

    put_git_dir(&d, ".git");
    put(&d, ".git/config", "[core]\n\thooksPath = b/hooks\n\tpager = loop/x\n");
    put(&d, "real/hooks/README", "");
    put(&d, "tools/check", "");
    put_link(&d, "a", "real");
    put_link(&d, "b", "./a");
    put_link(&d, "loop", "loop");
    put_link(&d, "real/hooks/pre-commit", "../../tools/check");
    put_link(&d, ".git/hooks", "../hk/none");
    assert_ok(sandbox_protected_places(&a, d.path, &paths, &n));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_true(lists(paths, n, temp_path(&d, names[i])));
    assert_false(lists(paths, n, temp_path(&d, "real")));
    temp_dir_done(&d);
}

/* --- temporary files --- */

TEST(a_tree_as_deep_as_it_likes_is_removed)
{
    char path[4096];
    int dir;

    assert_ok(sandbox_make_tmp(path));
    dir = open(path, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 300; i++) {
        int next;

        assert_int_equal(mkdirat(dir, "a-rather-long-name-for-a-directory", 0700), 0);
        assert_int_equal(symlinkat("/etc", dir, "link"), 0);
        next = openat(dir, "a-rather-long-name-for-a-directory", O_RDONLY | O_DIRECTORY);
        close(dir);
        dir = next;
    }
    fchmod(dir, 0);
    close(dir);
    sandbox_remove_tmp(path);
    assert_false(fs_exists(path));
    assert_true(fs_exists("/etc/passwd"));
}

RUN_TESTS(UNIT(the_homes_of_others_are_secret_but_not_one_s_own),
          UNIT(a_secret_behind_a_link_is_named_by_its_own_path),
          UNIT(secrets_that_variables_name_are_found),
          UNIT(secrets_in_a_moved_configuration_directory_are_found),
          UNIT(repositories_are_found_wherever_they_are),
          UNIT(what_git_runs_is_protected_where_its_configuration_says),
          UNIT(links_on_the_way_to_what_git_runs_are_protected),
          UNIT(a_tree_as_deep_as_it_likes_is_removed))
