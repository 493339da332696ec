/* git_state.c - branch, main branch and what is in progress. */
#include "sdk/prompt/git_state.h"

#include "base/utf8.h"
#include "sys/fs.h"

#define MAX_LINE_BYTES 4096
#define MAX_PACKED_BYTES ((size_t)1 << 20) /* of refs: a larger list is not read */
#define MAX_BRANCH_BYTES 250
#define HEADS "refs/heads/"
#define ORIGIN "refs/remotes/origin/"
#define SHORT_HASH 10

/* The first line of a file; empty: there is none, or it is too long. */
static struct str read_line(struct arena *a, const char *dir, const char *name)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_LINE_BYTES};
    struct str rest, line;
    bool exists;

    err_ignore(fs_read(fs_join(a, dir, name), &text, &exists), "nothing is said of it then");
    rest = strbuf_str(&text);
    return str_split(&rest, '\n', &line) ? arena_str(a, str_trim(line)) : (struct str){0};
}

/* As git allows it; so it holds no sentence that a model could obey. */
static bool is_branch(struct str name)
{
    if (name.n == 0 || name.n > MAX_BRANCH_BYTES || !utf8_is_valid(name))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if ((unsigned char)name.p[i] <= ' ' || name.p[i] == 127 || strchr("~^:?*[\\<>", name.p[i]))
            return false;
    return true;
}

/* The branch in "ref: refs/heads/NAME"; empty: it is something else. */
static struct str branch_of(struct str line, const char *below)
{
    struct str start = S("ref: "), name;

    if (!str_starts(line, start) || !str_starts(str_skip(line, start.n), str_of(below)))
        return (struct str){0};
    name = str_skip(line, start.n + strlen(below));
    return is_branch(name) ? name : (struct str){0};
}

/* --- where --- */

/* A path in the first line of a file, after `label`, from `dir` on; NULL: there is none. */
static const char *find_lead(struct arena *a, const char *dir, const char *name, struct str label)
{
    struct str line = read_line(a, dir, name), path = str_skip(line, label.n);

    if (!str_starts(line, label) || path.n == 0)
        return NULL;
    return path.p[0] == '/' ? arena_cstr(a, path) : fs_join(a, dir, arena_cstr(a, path));
}

/* --- what --- */

static bool is_packed(struct arena *a, const char *common, const char *ref)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_PACKED_BYTES};
    struct str rest, line;
    bool exists;

    err_ignore(fs_read(fs_join(a, common, "packed-refs"), &text, &exists), "it is not told");
    rest = strbuf_str(&text);
    while (str_split(&rest, '\n', &line))
        if (str_ends(line, str_of(ref)) && line.n > strlen(ref) &&
            line.p[line.n - strlen(ref) - 1] == ' ')
            return true;
    return false;
}

/* That of the place it was cloned from, else one with the usual name. */
static struct str find_main(struct arena *a, const char *common)
{
    static const char *const usual[] = {HEADS "main", HEADS "master"};
    struct str name = branch_of(read_line(a, common, ORIGIN "HEAD"), ORIGIN);

    if (name.n)
        return name;
    for (size_t i = 0; i < ARRAY_LEN(usual); i++)
        if (fs_exists(fs_join(a, common, usual[i])) || is_packed(a, common, usual[i]))
            return str_of(usual[i] + strlen(HEADS));
    return name;
}

static const char *find_operation(struct arena *a, const char *git)
{
    static const struct {
        const char *file, *what;
    } marks[] = {{"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"},
                 {"MERGE_HEAD", "a merge"},    {"CHERRY_PICK_HEAD", "a cherry-pick"},
                 {"REVERT_HEAD", "a revert"},  {"BISECT_LOG", "a bisection"}};

    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (fs_exists(fs_join(a, git, marks[i].file)))
            return marks[i].what;
    return NULL;
}

static bool is_hash(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!line.p[i] || !strchr("0123456789abcdef", line.p[i]))
            return false;
    return line.n == 40 || line.n == 64;
}

struct str git_state_describe(struct arena *a, const char *top)
{
    AUTO(strbuf) struct strbuf text = {0};
    const char *git = fs_join(a, top, ".git"), *common, *operation;
    struct str head, branch, main_branch;

    if (!fs_is_dir(git))
        git = find_lead(a, top, ".git", S("gitdir: "));
    if (!git)
        return (struct str){0};
    common = find_lead(a, git, "commondir", (struct str){0});
    head = read_line(a, git, "HEAD");
    branch = branch_of(head, HEADS);
    main_branch = find_main(a, common ? common : git);
    operation = find_operation(a, git);
    if (branch.n)
        strbuf_addf(&text, "on branch %" STR_FMT, STR_ARG(branch));
    else if (is_hash(head))
        strbuf_addf(&text, "HEAD is detached at %.*s", SHORT_HASH, head.p);
    if (main_branch.n && str_eq(main_branch, branch))
        strbuf_add_cstr(&text, ", the main branch");
    else if (main_branch.n)
        strbuf_addf(&text, "%smain branch: %" STR_FMT, text.n ? "; " : "", STR_ARG(main_branch));
    if (operation)
        strbuf_addf(&text, "%s%s is in progress", text.n ? "; " : "", operation);
    return arena_str(a, strbuf_str(&text));
}
