/* warnings.c - what people write and do not mean. */
#include "cli/permissions/explain.h"

#include "cli/output/text.h"
#include "cli/permissions/call.h"
#include "port/mcp_name.h"
#include "sys/fs.h"
#include "tool/names.h"

/* What is being looked at. */
struct look {
    struct rule_warnings *warnings;
    struct arena *arena;
    const struct pattern *pattern;
    const struct tool *tool;
    const char *root;
};

static void warn(struct look *l, struct str text)
{
    if (l->warnings->n < MAX_RULE_WARNINGS)
        l->warnings->items[l->warnings->n++] = text;
}

/* --- names --- */

static void look_at_name(struct look *l)
{
    struct str name = l->pattern->tool;
    const char *guess;

    if (str_is(name, "*"))
        warn(l, S("It matches every tool, including those of MCP servers and later versions."));
    if (str_find_char(name, '*') != STR_NONE || mcp_name_is(name) ||
        permission_tool_is_known(name) || l->tool->permission_arg)
        return;
    guess = tool_name_guess(name);
    warn(l, guess ? arena_format(l->arena,
                                 "keel has no tool %" STR_FMT "; did you mean %s? Names must "
                                 "match exactly.",
                                 STR_ARG(name), guess)
                  : arena_format(l->arena,
                                 "keel has no tool %" STR_FMT
                                 ": it never matches, unless a tool of that name is added.",
                                 STR_ARG(name)));
}

/* A tool whose rules are about nothing. */
static void look_at_none(struct look *l)
{
    warn(l, arena_format(l->arena,
                         "keel does not know which argument of %" STR_FMT
                         " to match: as an allow rule it never matches, and as a deny rule it "
                         "makes keel ask about every call. Write %" STR_FMT " alone.",
                         STR_ARG(l->pattern->tool), STR_ARG(l->pattern->tool)));
}

/* --- commands --- */

static struct str first_word(struct str command)
{
    struct str word = {0};

    str_split(&command, ' ', &word);
    if (str_ends(word, S(":*")))
        word.n -= 2;
    return word;
}

static bool runs_others(struct str program)
{
    static const char *const programs[] = {
        "awk",  "bash", "bun", "dash",    "deno",   "docker",  "env",   "eval", "exec",
        "find", "fish", "git", "make",    "nice",   "node",    "nohup", "npm",  "npx",
        "perl", "php",  "pip", "podman",  "python", "python3", "ruby",  "sed",  "sh",
        "ssh",  "sudo", "tar", "timeout", "vim",    "xargs",   "yarn",  "zsh",
    };

    for (size_t i = 0; i < ARRAY_LEN(programs); i++)
        if (str_is(program, programs[i]))
            return true;
    return false;
}

static void look_at_command(struct look *l)
{
    struct str pattern = l->pattern->argument, head, program = first_word(pattern);
    bool takes_more = rule_command_head(pattern, &head);

    if (str_starts(pattern, S("*")))
        warn(l, S("It begins with a star, so it matches any program."));
    else if (!takes_more && str_ends(pattern, S("*")) && !str_ends(pattern, S("\\*")))
        warn(l, arena_format(l->arena,
                             "There is no space before the star, so it also matches longer words. "
                             "Bash(%" STR_FMT " *) matches the whole word only.",
                             STR_ARG(str_slice(pattern, 0, pattern.n - 1))));
    if (takes_more && str_eq(head, program) && runs_others(program))
        warn(l, arena_format(l->arena,
                             "%" STR_FMT " can run other programs: as an allow rule, it allows "
                             "more than it says.",
                             STR_ARG(program)));
    for (size_t i = 0; i < pattern.n; i++)
        if (strchr(";|&<>", pattern.p[i])) {
            warn(l, S("A rule is about one simple command; with ; | & < or > in it, it allows only "
                      "a line that is exactly this text."));
            return;
        }
}

/* --- paths --- */

static void look_at_slash(struct look *l)
{
    struct str pattern = l->pattern->argument, rest = str_skip(pattern, 1), first;

    if (!str_starts(pattern, S("/")) || str_starts(pattern, S("//")) ||
        !str_split(&rest, '/', &first) || first.n == 0)
        return;
    if (fs_exists(arena_format(l->arena, "/%" STR_FMT, STR_ARG(first)).p))
        warn(l, arena_format(l->arena,
                             "One slash is the project's root: an allow rule means %s%" STR_FMT
                             ". For the root of the file system, write /%" STR_FMT
                             ". A deny rule means both.",
                             l->root, STR_ARG(pattern), STR_ARG(pattern)));
}

static bool is_relative(struct str pattern)
{
    return !str_starts(pattern, S("/")) && !str_starts(pattern, S("~"));
}

static void look_at_path(struct look *l)
{
    struct str pattern = l->pattern->argument;

    look_at_slash(l);
    if (str_find(pattern, S("..")) != STR_NONE && str_find_char(pattern, '*') != STR_NONE)
        warn(l, S("A path that climbs with .. after a wildcard never matches."));
    if (is_relative(pattern) && str_find_char(pattern, '/') == STR_NONE && !str_is(pattern, "**") &&
        !str_is(pattern, "."))
        warn(l, arena_format(l->arena,
                             "Without a slash, an allow rule means only %s/%" STR_FMT
                             "; a deny rule means that name in every directory.",
                             l->root, STR_ARG(pattern)));
    if (is_relative(pattern) &&
        fs_is_dir(arena_format(l->arena, "%s/%" STR_FMT, l->root, STR_ARG(pattern)).p))
        warn(l, arena_format(l->arena,
                             "This is a directory: to allow its contents, write %" STR_FMT
                             "(%" STR_FMT "%s**).",
                             STR_ARG(l->pattern->tool), STR_ARG(pattern),
                             str_ends(pattern, S("/")) ? "" : "/"));
    if (l->tool->risk == RISK_MODIFY && !is_relative(pattern) &&
        (str_starts(pattern, S("//")) || str_starts(pattern, S("~"))))
        warn(l, S("As an allow rule, it lets the agent change files outside the workspace."));
}

/* --- URLs --- */

static void look_at_url(struct look *l)
{
    struct str pattern = l->pattern->argument;

    if (str_starts(pattern, S("*")) && !str_starts(pattern, S("*://")))
        warn(l, S("It begins with a star, so as an allow rule it never matches; write domain:HOST "
                  "or a URL."));
}

void rule_warnings_find(struct rule_warnings *w, struct arena *a, const struct pattern *p,
                        const struct tool *tool, const char *root)
{
    struct look l = {w, a, p, tool, root};

    *w = (struct rule_warnings){0};
    look_at_name(&l);
    if (pattern_takes_any(p)) {
        if (tool->risk == RISK_EXECUTE)
            warn(&l, S("As an allow rule, it lets every command run without asking."));
        return;
    }
    switch (rule_argument_of(tool)) {
    case ARGUMENT_NONE:
        look_at_none(&l);
        break;
    case ARGUMENT_COMMAND:
        look_at_command(&l);
        break;
    case ARGUMENT_PATH:
        look_at_path(&l);
        break;
    case ARGUMENT_URL:
        look_at_url(&l);
        break;
    case ARGUMENT_TEXT:
        break;
    }
}
