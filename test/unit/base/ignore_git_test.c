/* ignore_git_test.c - the same rules and the same files, asked of keel and of git itself. */
#include "program.h"

#include "base/arena.h"
#include "base/ignore.h"

#include <errno.h>

static const struct {
    const char *base, *text;
} git_files[] = {
    {"", "# comment\n"
         "*.o\n"
         "!keep.o\n"
         "/build/\n"
         "!build/keep.o\n"
         "logs/**/debug*.log\n"
         "**/cache/\n"
         "doc/*.[ch]\n"
         "trailing   \n"
         "escaped\\ \n"
         "two\\ \\ \n"
         "tab\t\n"
         "\\#hash\n"
         "\\!bang\n"
         "back\\\\slash\n"
         "[[:digit:]]*.txt\n"
         "[!a-y]ebra\n"
         "[\\]]bracket\n"
         "[unclosed\n"
         "\n"
         "src/**\n"
         "!src/lib\n"
         "!src/lib/**\n"
         "src/lib/*.tmp\n"
         "pre**/inner\n"
         "???d\n"
         "\xC3\xA4?\n"
         "{a,b}.x\n"
         "vendor/*\n"
         "!vendor/ours/\n"},
    {"doc", "*.pdf\r\n!/api\r\n/api/*.o\r\nnote\\\r\n*.md \r\n"},
    {"doc/api", "!*.o\n*.txt\n!7.txt\n"},
    {"src/lib", "*\n!*.c\n!deep/\n"},
    {"vendor/ours", "/*.h\n!/keep.h\n**/sub/*.c\n"},
    {"build", "!keep.o\n"},
    {"logs", "!a/\n/**/x.log\nb**\n"},
};

static const char *const git_dirs[] = {
    "",
    "build",
    "cache",
    "doc",
    "doc/api",
    "doc/cache",
    "logs",
    "logs/a",
    "logs/a/b",
    "prefix",
    "prefix/q",
    "prefix/q/inner",
    "src",
    "src/lib",
    "src/other",
    "src/lib/deep",
    "trailing",
    "vendor",
    "vendor/ours",
    "vendor/ours/sub",
    "vendor/theirs",
};

static const char *const git_names[] = {
    "a.o",      "keep.o",    "debug.log", "debug1.log",
    "x.log",    "trailing",  "trailing ", "escaped",
    "escaped ", "two  ",     "two ",      "tab",
    "tab\t",    "#hash",     "!bang",     "back\\slash",
    "7.txt",    "x7.txt",    "zebra",     "aebra",
    "]bracket", "[unclosed", "inner",     "abc",
    "abcd",     "\xC3\xA4x", "\xC3\xA4",  "\xC3\xA4\xC3\xA4",
    "a.x",      "{a,b}.x",   "x.c",       "x.h",
    "keep.h",   "x.pdf",     "x.md",      "x.tmp",
    "note",     "note\\",    "b",         "bb",
    "cache",
};

struct path_list {
    struct arena arena;
    struct str *paths;
    bool *is_dir;
    size_t n;
};

static struct str join(struct arena *a, const char *dir, const char *name)
{
    return arena_format(a, "%s%s%s", dir, dir[0] ? "/" : "", name);
}

static void make_file(const char *root, struct str path, const char *text)
{
    char full[4096];

    snprintf(full, sizeof full, "%s/%s", root, path.p);
    write_file(full, str_of(text));
}

static bool is_listed_dir(struct str path)
{
    for (size_t i = 0; i < ARRAY_LEN(git_dirs); i++)
        if (str_is(path, git_dirs[i]))
            return true;
    return false;
}

/* Every name in every directory, and the directories themselves. */
static struct path_list make_tree(const char *root)
{
    static const size_t max = ARRAY_LEN(git_dirs) * (ARRAY_LEN(git_names) + 1);
    struct path_list list = {0};

    list.paths = ARENA_ARRAY(&list.arena, max, struct str);
    list.is_dir = ARENA_ARRAY(&list.arena, max, bool);
    for (size_t d = 0; d < ARRAY_LEN(git_dirs); d++) {
        char full[4096];

        snprintf(full, sizeof full, "%s/%s", root, git_dirs[d]);
        assert_true(mkdir(full, 0777) == 0 || errno == EEXIST);
        if (git_dirs[d][0]) {
            list.is_dir[list.n] = true;
            list.paths[list.n++] = str_of(git_dirs[d]);
        }
    }
    for (size_t d = 0; d < ARRAY_LEN(git_dirs); d++) {
        for (size_t k = 0; k < ARRAY_LEN(git_names); k++) {
            struct str path = join(&list.arena, git_dirs[d], git_names[k]);

            if (is_listed_dir(path))
                continue;
            make_file(root, path, "");
            list.paths[list.n++] = path;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(git_files); i++)
        make_file(root, join(&list.arena, git_files[i].base, ".gitignore"), git_files[i].text);
    return list;
}

/* Asks git which of the paths it ignores: a list with a NUL after each. False without git. */
static bool ask_git(const char *root, const struct path_list *list, struct strbuf *ret_ignored)
{
    const char *init[] = {"git", "-C", root, "init", "-q", NULL};
    const char *check[] = {"git",          "-C",      root, "-c",         "core.ignorecase=false",
                           "check-ignore", "--stdin", "-z", "--no-index", NULL};
    AUTO(strbuf) struct strbuf questions = {0};
    char in_path[4096], out_path[4096];

    snprintf(in_path, sizeof in_path, "%s/.git-input", root);
    snprintf(out_path, sizeof out_path, "%s/.git-output", root);
    if (run_program(init, "/dev/null", "/dev/null") != 0)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        strbuf_add(&questions, list->paths[i]);
        strbuf_add_char(&questions, 0);
    }
    write_file(in_path, strbuf_str(&questions));
    assert_int_equal(run_program(check, in_path, out_path), 0);
    *ret_ignored = read_file(out_path);
    return true;
}

/* How many paths keel sees as git does; *ret_n_ignored of them are ignored. */
static size_t count_agreements(const struct path_list *list, struct str ignored_by_git,
                               size_t *ret_n_ignored)
{
    const struct ignore *files[ARRAY_LEN(git_files)];
    size_t n_agree = 0;

    *ret_n_ignored = 0;
    for (size_t i = 0; i < ARRAY_LEN(git_files); i++)
        files[i] = ignore_new(str_of(git_files[i].base), str_of(git_files[i].text), false);
    for (size_t i = 0; i < list->n; i++) {
        struct str path = list->paths[i], next = str_of(ignored_by_git.p);
        bool by_git = str_eq(next, path);
        bool by_keel = ignore_is_ignored(files, ARRAY_LEN(files), path, list->is_dir[i]);

        if (by_git) /* git answers in the order of the questions */
            ignored_by_git = str_skip(ignored_by_git, next.n + 1);
        if (by_git != by_keel)
            print_error("\"%s\" is %signored by git\n", path.p, by_git ? "" : "not ");
        n_agree += by_git == by_keel;
        *ret_n_ignored += by_keel;
    }
    for (size_t i = 0; i < ARRAY_LEN(git_files); i++)
        ignore_free((struct ignore *)files[i]);
    return n_agree;
}

TEST(git_ignores_the_same_of_several_hundred_paths)
{
    char root[] = "/tmp/keel-ignore-XXXXXX";
    AUTO(strbuf) struct strbuf ignored = {0};
    struct path_list list;
    size_t n_agree = 0, n_ignored = 0;
    bool has_git;

    assert_non_null(mkdtemp(root));
    list = make_tree(root);
    has_git = ask_git(root, &list, &ignored);
    if (has_git)
        n_agree = count_agreements(&list, strbuf_str(&ignored), &n_ignored);
    remove_tree(root);
    if (has_git) {
        assert_int_equal(n_agree, list.n);
        assert_in_range(n_ignored, list.n / 4, list.n * 3 / 4);
    }
    arena_done(&list.arena);
    if (!has_git) {
        print_message("[ SKIPPED because git cannot be run ]\n");
        skip();
    }
}

RUN_TESTS(UNIT(git_ignores_the_same_of_several_hundred_paths))
