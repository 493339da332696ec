/* baseline_test.c - baselines as bytes, merged with others, and seen from another directory. */
#include "sandbox/guard/baseline.h"

#include "files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct baseline *baseline_of(const char *root, bool has_namespaces, int64_t time_ns)
{
    struct baseline *b = mem_alloc(sizeof *b);

    b->root = arena_cstr(&b->arena, str_of(root));
    b->has_namespaces = has_namespaces;
    b->time_ns = time_ns;
    b->covers = "";
    return b;
}

/* In the order of their paths. */
static void add_item(struct baseline *b, const char *path, enum guarded_kind kind,
                     const char *content, uint64_t inode)
{
    b->items = arena_grow(&b->arena, b->items, b->n, &b->room, sizeof *b->items);
    b->items[b->n++] = (struct guarded){.path = arena_cstr(&b->arena, str_of(path)),
                                        .kind = kind,
                                        .mode = kind == GUARDED_ABSENT ? 0 : 0100644,
                                        .identity = {inode, (int64_t)inode * 10},
                                        .has_content = content,
                                        .content = str_of(content)};
}

static void add_directory(struct baseline *b, const char *path, unsigned names, ino_t inode)
{
    struct directory *all = ARENA_ARRAY(&b->arena, b->n_directories + 1, struct directory);

    if (b->n_directories)
        memcpy(all, b->directories, b->n_directories * sizeof *all);
    all[b->n_directories++] = (struct directory){
        .path = arena_cstr(&b->arena, str_of(path)), .names = names, .inode = inode};
    b->directories = all;
}

static const char *shown(struct arena *a, const struct baseline *b)
{
    static const char letters[] = "alfdpsmt";
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < b->n; i++)
        strbuf_addf(&text, "%s:%c%s%" STR_FMT " ", b->items[i].path, letters[b->items[i].kind],
                    b->items[i].has_content ? "=" : "", STR_ARG(b->items[i].content));
    for (size_t i = 0; i < b->n_directories; i++)
        strbuf_addf(&text, "[%s]", b->directories[i].path);
    return arena_cstr(a, strbuf_str(&text));
}

static struct baseline *round_trip(const struct baseline *b)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    struct baseline *again = NULL;

    baseline_write(b, &bytes);
    assert_ok(baseline_parse(strbuf_str(&bytes), &again));
    return again;
}

TEST(what_is_written_can_be_read)
{
    AUTO(baseline) struct baseline *b = baseline_of("/ws", false, 4711), *again = NULL;

    add_item(b, ".envrc", GUARDED_ABSENT, NULL, 0);
    add_item(b, ".git", GUARDED_ANCESTOR, NULL, 7);
    add_item(b, ".git/config", GUARDED_FILE, "[core]\n", 8);
    add_item(b, "empty", GUARDED_FILE, "", 9);
    add_directory(b, "", GIT_NAME_DOT_GIT, 1);
    add_directory(b, ".git", GIT_NAME_HEAD, 7);
    again = round_trip(b);
    assert_true(baseline_eq(b, again));
    assert_int_equal(again->time_ns, 4711);
    again->items[2].content = S("[user]\n");
    assert_false(baseline_eq(b, again));
}

TEST(what_is_damaged_is_not_read)
{
    AUTO(baseline) struct baseline *b = baseline_of("/ws", true, 1), *again = NULL;
    AUTO(strbuf) struct strbuf bytes = {0};

    add_item(b, "a", GUARDED_FILE, "x", 1);
    baseline_write(b, &bytes);
    for (size_t i = 0; i < bytes.n; i++) {
        bytes.p[i] ^= 1;
        assert_err(baseline_parse(strbuf_str(&bytes), &again), ERR_STORAGE);
        bytes.p[i] ^= 1;
        assert_err(baseline_parse(str_make(bytes.p, i), &again), ERR_STORAGE);
    }
}

TEST(no_path_leads_out_of_the_directory)
{
    static const char *const paths[] = {"../x", "a/../b", "/x", "a//b", ".", "a/."};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        AUTO(baseline) struct baseline *b = baseline_of("/ws", true, 1), *again = NULL;
        AUTO(strbuf) struct strbuf bytes = {0};

        add_item(b, paths[i], GUARDED_ABSENT, NULL, 0);
        baseline_write(b, &bytes);
        assert_err(baseline_parse(strbuf_str(&bytes), &again), ERR_STORAGE);
    }
}

/* Another keel's command may have made what is there now. */
TEST(what_another_keel_remembers_counts)
{
    AUTO(arena) struct arena a = {0};
    struct baseline *old = baseline_of("/ws", false, 1), *fresh = baseline_of("/ws", false, 2);
    AUTO(baseline) struct baseline *b = NULL;

    add_item(old, ".claude", GUARDED_ABSENT, NULL, 0);
    add_item(old, ".git/config", GUARDED_FILE, "mine", 3);
    add_item(old, ".git/hooks", GUARDED_DIRECTORY, NULL, 4);
    add_directory(old, "", GIT_NAME_DOT_GIT, 1);
    add_item(fresh, ".claude", GUARDED_DIRECTORY, NULL, 7);
    add_item(fresh, ".claude/settings.json", GUARDED_FILE, "evil", 8);
    add_item(fresh, ".git/config", GUARDED_FILE, "evil", 3);
    add_item(fresh, ".git/hooks", GUARDED_DIRECTORY, NULL, 4);
    add_item(fresh, ".git/hooks/pre-commit", GUARDED_FILE, "evil", 9);
    add_item(fresh, "new/.git/config", GUARDED_FILE, "evil", 10);
    add_item(fresh, "rule", GUARDED_FILE, "of this one", 11);
    add_directory(fresh, "", GIT_NAME_DOT_GIT, 1);
    add_directory(fresh, "new", GIT_NAME_DOT_GIT, 12);
    b = baseline_merge(old, fresh);
    assert_string_equal(shown(&a, b), ".claude:a .git/config:f=mine .git/hooks:d "
                                      "rule:f=of this one []");
    assert_int_equal(b->time_ns, 1);
}

/* Mounts have kept it: what it holds is what it held. */
TEST(what_was_mounted_may_be_remembered_later)
{
    AUTO(arena) struct arena a = {0};
    struct baseline *old = baseline_of("/ws", true, 1), *fresh = baseline_of("/ws", false, 2);
    AUTO(baseline) struct baseline *b = NULL;

    add_item(old, ".git/config", GUARDED_MOUNTED, "mine", 3);
    add_item(old, ".git/hooks", GUARDED_MOUNTED, NULL, 4);
    add_item(old, ".mcp.json", GUARDED_MOUNTED, "mine", 5);
    add_item(fresh, ".git", GUARDED_ANCESTOR, NULL, 2);
    add_item(fresh, ".git/config", GUARDED_FILE, "mine, too", 3);
    add_item(fresh, ".git/hooks", GUARDED_DIRECTORY, NULL, 4);
    add_item(fresh, ".git/hooks/pre-push", GUARDED_FILE, "mine", 6);
    add_item(fresh, ".mcp.json", GUARDED_FILE, "another", 7);
    b = baseline_merge(old, fresh);
    assert_false(b->has_namespaces);
    assert_string_equal(shown(&a, b), ".git:p .git/config:f=mine, too .git/hooks:d "
                                      ".git/hooks/pre-push:f=mine .mcp.json:f=mine ");
}

TEST(a_part_is_seen_from_its_own_directory)
{
    AUTO(arena) struct arena a = {0};
    AUTO(baseline)
    struct baseline *b = baseline_of("/top/ws", false, 5), *below = NULL, *above = NULL;

    add_item(b, ".envrc", GUARDED_ABSENT, NULL, 0);
    add_item(b, "sub", GUARDED_ANCESTOR, NULL, 3);
    add_item(b, "sub/.git/config", GUARDED_FILE, "mine", 4);
    add_item(b, "subs/x", GUARDED_FILE, "mine", 5);
    add_directory(b, "sub", GIT_NAME_DOT_GIT, 3);
    add_directory(b, "sub/.git", GIT_NAME_HEAD, 6);
    below = baseline_part(b, "/top/ws/sub");
    assert_string_equal(shown(&a, below), ".git/config:f=mine [][.git]");
    assert_string_equal(below->root, "/top/ws/sub");
    above = baseline_part(below, "/top");
    assert_string_equal(above->covers, "ws/sub");
    assert_string_equal(shown(&a, above), "ws/sub/.git/config:f=mine [ws/sub][ws/sub/.git]");
    assert_null(baseline_part(b, "/other"));
}

/* A part of a directory says nothing of the rest. */
TEST(repositories_beside_a_part_stay_known)
{
    AUTO(arena) struct arena a = {0};
    struct baseline *fresh = baseline_of("/ws", false, 2);
    AUTO(baseline) struct baseline *part = baseline_of("/ws/sub", false, 1), *b = NULL;

    add_item(part, ".git/config", GUARDED_FILE, "mine", 3);
    add_directory(part, "", GIT_NAME_DOT_GIT, 1);
    add_item(fresh, "lib/.git/config", GUARDED_FILE, "lib's", 4);
    add_item(fresh, "sub/.git/config", GUARDED_FILE, "evil", 3);
    add_item(fresh, "sub/new/.git/config", GUARDED_FILE, "evil", 6);
    add_directory(fresh, "lib", GIT_NAME_DOT_GIT, 5);
    add_directory(fresh, "sub", GIT_NAME_DOT_GIT, 1);
    add_directory(fresh, "sub/new", GIT_NAME_DOT_GIT, 7);
    b = baseline_merge(baseline_part(part, "/ws"), fresh);
    assert_string_equal(shown(&a, b), "lib/.git/config:f=lib's sub/.git/config:f=mine [lib][sub]");
}

/* As git and editors do, again and again. */
static pid_t replace_for_ever(int dir)
{
    pid_t pid = fork();

    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (pid == 0) {
        int fd = openat(dir, "new", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

        if (fd < 0 || close(fd) < 0 || renameat(dir, "new", dir, "config") < 0)
            _exit(1);
    }
    assert_true(pid > 0);
    return pid;
}

/* While it is replaced, a file has no name for a moment: that is not a second one. */
TEST(a_file_that_is_replaced_right_now_is_kept_by_mounts)
{
    struct temp_dir d = temp_dir_make();
    const char *const paths[] = {temp_path(&d, "config")};
    struct sandbox_policy policy = {.workspace = d.path, .read_only = paths, .n_read_only = 1};
    struct survey s = {.root = d.path, .fd = open(d.path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    pid_t pid;

    put(&d, "config", "");
    pid = replace_for_ever(s.fd);
    for (int i = 0; i < 3000; i++) {
        AUTO(baseline) struct baseline *b = NULL;

        assert_ok(baseline_take(&s, &policy, /* has_namespaces= */ true, NULL, &b));
        assert_int_equal(b->n, 1);
        assert_int_equal(b->items[0].kind, GUARDED_MOUNTED);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(s.fd);
    temp_dir_done(&d);
}

RUN_TESTS(UNIT(a_file_that_is_replaced_right_now_is_kept_by_mounts),
          UNIT(what_is_written_can_be_read), UNIT(what_is_damaged_is_not_read),
          UNIT(no_path_leads_out_of_the_directory), UNIT(what_another_keel_remembers_counts),
          UNIT(what_was_mounted_may_be_remembered_later),
          UNIT(a_part_is_seen_from_its_own_directory), UNIT(repositories_beside_a_part_stay_known))
