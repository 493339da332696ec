/* diff_patch_test.c - what keel writes as a diff, read by patch or by git. */
#include "program.h"

#include "base/diff.h"

static uint64_t seed = 2463534242u;

static unsigned below(unsigned bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % bound;
}

/* A text and another one with some lines of it added, removed or replaced. */
static void make_pair(struct strbuf *old_text, struct strbuf *new_text)
{
    unsigned n = 1 + below(60);

    for (unsigned i = 0; i < n; i++) {
        unsigned line = below(25);

        strbuf_addf(old_text, "%u\n", line);
        if (below(10) == 0)
            strbuf_addf(new_text, "%u\n", below(25));
        if (below(10) != 0)
            strbuf_addf(new_text, "%u\n", line);
    }
    strbuf_add_cstr(new_text, "the end\n");
    if (below(3) == 0)
        strbuf_cut(old_text, old_text->n - 1);
    if (below(3) == 0)
        strbuf_cut(new_text, new_text->n - 1);
}

enum tool { TOOL_PATCH, TOOL_GIT, TOOL_NONE };

static enum tool find_tool(void)
{
    const char *patch[] = {"patch", "--version", NULL}, *git[] = {"git", "--version", NULL};

    if (run_program(patch, "/dev/null", "/dev/null") == 0)
        return TOOL_PATCH;
    return run_program(git, "/dev/null", "/dev/null") == 0 ? TOOL_GIT : TOOL_NONE;
}

/* Changes the file `text` in the directory as the file `diff` there says. */
static int apply(enum tool tool, const char *dir)
{
    const char *patch[] = {"patch", "-d", dir, "-p1", "-s", "-f", "-i", "diff", NULL};
    const char *git[] = {"git", "-C", dir, "apply", "diff", NULL};

    return run_program(tool == TOOL_PATCH ? patch : git, "/dev/null", "/dev/null");
}

static void check_pair(enum tool tool, const char *dir)
{
    AUTO(strbuf) struct strbuf old_text = {0}, new_text = {0}, diff = {0}, result = {0};
    char text_path[4096], diff_path[4096];

    make_pair(&old_text, &new_text);
    diff_unified(&diff, S("a/text"), strbuf_str(&old_text), S("b/text"), strbuf_str(&new_text), 3,
                 NULL);
    snprintf(text_path, sizeof text_path, "%s/text", dir);
    snprintf(diff_path, sizeof diff_path, "%s/diff", dir);
    write_file(text_path, strbuf_str(&old_text));
    write_file(diff_path, strbuf_str(&diff));
    assert_int_equal(apply(tool, dir), 0);
    result = read_file(text_path);
    assert_str(strbuf_str(&result), strbuf_cstr(&new_text));
}

TEST(patch_or_git_turns_the_old_text_into_the_new_one)
{
    char dir[] = "/tmp/keel-diff-XXXXXX";
    enum tool tool = find_tool();

    if (tool == TOOL_NONE) {
        print_message("[ SKIPPED because neither patch nor git can be run ]\n");
        skip();
    }
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < 40; i++)
        check_pair(tool, dir);
    remove_tree(dir);
}

RUN_TESTS(UNIT(patch_or_git_turns_the_old_text_into_the_new_one))
