/* reads_only.c - commands that write nothing. */
#include "sdk/reads_only.h"

#include "gate/shell/split.h"

/* Whatever their arguments are. */
static const char *const harmless[] = {
    "[",    "basename", "cat",      "cd",   "cmp",    "column",  "comm",      "cut",   "df",
    "diff", "dirname",  "du",       "echo", "egrep",  "false",   "fgrep",     "fold",  "grep",
    "head", "id",       "jq",       "ls",   "md5sum", "nl",      "nproc",     "pgrep", "ps",
    "pwd",  "readlink", "realpath", "rev",  "seq",    "sha1sum", "sha256sum", "stat",  "tac",
    "tail", "test",     "tr",       "true", "type",   "uname",   "wc",        "which", "whoami",
};

/* Unless one of their arguments begins like this, or cannot be seen. */
static const struct {
    const char *program;
    const char *but[6];
} careful[] = {
    {"find", {"-delete", "-exec", "-ok", "-fprint", "-fls"}},
    {"rg", {"--pre", "--hostname-bin"}},
    {"sort", {"-", "--"}}, /* -o may hide in any bundle of letters */
    {"printf", {"-v"}},
};

/* Of git, where nothing stands before the subcommand. */
static const char *const git_harmless[] = {
    "blame",   "cat-file", "describe",  "diff",     "log",  "ls-files",
    "ls-tree", "rev-list", "rev-parse", "shortlog", "show", "status",
};
static const char *const git_but[] = {"--output", "--ext-diff", "--textconv", "--filters"};

static bool is_in(struct str word, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(word, list[i]))
            return true;
    return false;
}

/* Are all arguments from `from` on known, and is none of those? */
static bool has_none(const struct shell_command *c, size_t from, const char *const *but, size_t n)
{
    for (size_t i = from; i < c->n_words; i++) {
        if (!c->words[i].is_known)
            return false;
        for (size_t k = 0; k < n && but[k]; k++)
            if (str_starts(c->words[i].text, str_of(but[k])))
                return false;
    }
    return true;
}

static bool git_reads_only(const struct shell_command *c)
{
    return c->n_words > 1 && c->words[1].is_known &&
           is_in(c->words[1].text, git_harmless, ARRAY_LEN(git_harmless)) &&
           has_none(c, 2, git_but, ARRAY_LEN(git_but));
}

static bool reads_only(const struct shell_command *c)
{
    struct str program;

    if (c->n_assignments || c->n_words == 0 || !c->words[0].is_known)
        return false;
    program = c->words[0].text; /* with its directory: /tmp/ls is not ls */
    if (is_in(program, harmless, ARRAY_LEN(harmless)))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(careful); i++)
        if (str_is(program, careful[i].program))
            return has_none(c, 1, careful[i].but, ARRAY_LEN(careful[i].but));
    return str_is(program, "git") && git_reads_only(c);
}

bool command_reads_only(struct str line)
{
    AUTO(arena) struct arena a = {0};
    struct shell_split split;

    shell_split(&a, line, &split);
    if (!split.is_sure || split.changes_names || split.sets_variables || split.n_commands == 0)
        return false;
    for (size_t i = 0; i < split.n_redirections; i++) {
        const struct shell_word *target = &split.redirections[i].target;

        if (split.redirections[i].writes &&
            !(target->is_known && str_is(target->text, "/dev/null")))
            return false;
    }
    for (size_t i = 0; i < split.n_commands; i++)
        if (!reads_only(&split.commands[i]))
            return false;
    return true;
}
