/* paths.c - `keel inspect glob` and `keel inspect ignore`: which paths do patterns match? */
#include "cli/inspect/inspect.h"

#include "base/arena.h"
#include "base/glob.h"
#include "base/ignore.h"
#include "sys/fs.h"

/* --- glob --- */

static const struct option glob_options[] = {
    {"nocase", 0, NULL, "letters match in either case"},
    {"literal-separator", 0, NULL, "* and ? do not match a slash"},
    {"no-escape", 0, NULL, "a backslash is an ordinary character"},
    {"empty-alternates", 0, NULL, "{,a} may match nothing"},
    {0},
};

static int flags_of(const struct args *args)
{
    return (args_has(args, "nocase") ? GLOB_NOCASE : 0) |
           (args_has(args, "literal-separator") ? GLOB_LITERAL_SEPARATOR : 0) |
           (args_has(args, "no-escape") ? GLOB_NO_ESCAPE : 0) |
           (args_has(args, "empty-alternates") ? GLOB_EMPTY_ALTERNATES : 0);
}

static struct err *inspect_glob_run(const struct args *args, int *ret_status)
{
    AUTO(glob) struct glob *glob = NULL;
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 2, SIZE_MAX, "a PATTERN and PATHs"));
    TRY(glob_compile(str_of(args->operands[0]), flags_of(args), &glob));
    for (size_t i = 1; i < args->n_operands; i++)
        strbuf_addf(&out, "%s %s\n", glob_matches(glob, str_of(args->operands[i])) ? "yes" : "no",
                    args->operands[i]);
    return cli_print_visible(strbuf_str(&out));
}

const struct command command_inspect_glob = {
    .name = "inspect glob",
    .usage = "[OPTIONS] PATTERN PATH...",
    .summary = "match paths against a pattern",
    .details = "Prints a line for each path: \"yes PATH\" or \"no PATH\".\n\n"
               "  keel inspect glob 'src/**/*.{c,h}' src/base/json.c\n",
    .options = glob_options,
    .run = inspect_glob_run,
};

/* --- ignore --- */

#define MAX_FILE ((size_t)1 << 20)

/* The .gitignore files on the way from the root to a path, in that order. */
struct rules {
    const struct ignore **files;
    size_t n, room;
    struct arena arena;
};

static void rules_done(struct rules *r)
{
    for (size_t i = 0; i < r->n; i++)
        ignore_free((struct ignore *)r->files[i]);
    arena_done(&r->arena);
}
DEFINE_AUTO_VAL(rules, rules_done)

static struct err *add_file(struct rules *r, const char *dir, struct str base, const char *name)
{
    AUTO(strbuf) struct strbuf text;
    AUTO_FREE char *below = str_dup(base);
    const char *file = fs_join(&r->arena, fs_join(&r->arena, dir, below), name);
    bool exists;

    strbuf_init(&text, MAX_FILE);
    TRY(fs_read(file, &text, &exists));
    if (!exists)
        return NULL;
    r->files = arena_grow(&r->arena, r->files, r->n, &r->room, sizeof *r->files);
    r->files[r->n++] = ignore_new(base, strbuf_str(&text), /* nocase= */ false);
    return NULL;
}

static struct err *check(const char *dir, const char *path, struct strbuf *out)
{
    AUTO(rules) struct rules rules = {0};
    struct str p = str_of(path);
    bool is_dir = str_ends(p, S("/"));
    const char *full = fs_join(&rules.arena, dir, path);

    while (str_starts(p, S("./")))
        p = str_skip(p, 2);
    while (p.n && p.p[p.n - 1] == '/')
        p.n--;
    TRY(add_file(&rules, dir, S(""), ".git/info/exclude"));
    TRY(add_file(&rules, dir, S(""), ".gitignore"));
    for (size_t i = 0; i < p.n; i++)
        if (p.p[i] == '/')
            TRY(add_file(&rules, dir, str_slice(p, 0, i), ".gitignore"));
    strbuf_addf(
        out, "%s %s\n",
        ignore_is_ignored(rules.files, rules.n, p, is_dir || fs_is_dir(full)) ? "yes" : "no", path);
    return NULL;
}

static struct err *inspect_ignore_run(const struct args *args, int *ret_status)
{
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 2, SIZE_MAX, "a DIR and PATHs below it"));
    if (!fs_is_dir(args->operands[0]))
        return err_new(ERR_VALIDATION, "%s is not a directory", args->operands[0]);
    for (size_t i = 1; i < args->n_operands; i++)
        TRY(check(args->operands[0], args->operands[i], &out));
    return cli_print_visible(strbuf_str(&out));
}

const struct command command_inspect_ignore = {
    .name = "inspect ignore",
    .usage = "DIR PATH...",
    .summary = "show which paths .gitignore files exclude",
    .details = "Prints a line for each path: \"yes PATH\" is ignored, \"no PATH\" is not. DIR is\n"
               "the top of the repository; PATHs are relative to it. A path with a slash at its\n"
               "end is a directory, also when it does not exist.\n\n"
               "  keel inspect ignore . build/ src/main.c\n",
    .run = inspect_ignore_run,
};
