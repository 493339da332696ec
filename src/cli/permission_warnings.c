/* permission_warnings.c - what people write and do not mean. */
#include "cli/permission_warnings.h"

#include "cli/permission_call.h"
#include "cli/permission_examples.h"
#include "cli/text.h"
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
        warn(l, S("It is for every tool, those of MCP servers and of later versions too."));
    if (str_find_char(name, '*') != STR_NONE || str_starts(name, S("mcp__")) ||
        permission_tool_is_known(name) || l->tool->permission_arg)
        return;
    guess = tool_name_guess(name);
    warn(l, guess ? arena_format(l->arena,
                                 "keel has no tool %" STR_FMT "; is %s meant? Names must be "
                                 "written exactly so.",
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
                         "Which argument of %" STR_FMT
                         " it could be about is not known: it never allows anything, and as a "
                         "rule that denies it asks about every call. Write %" STR_FMT " alone.",
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
        warn(l, S("It begins with a star: any program can stand there."));
    else if (!takes_more && str_ends(pattern, S("*")) && !str_ends(pattern, S("\\*")))
        warn(l, arena_format(l->arena,
                             "The star is not set off by a blank: other words that begin so are "
                             "meant too. With a blank, Bash(%" STR_FMT " *), it ends the word.",
                             STR_ARG(str_slice(pattern, 0, pattern.n - 1))));
    if (takes_more && str_eq(head, program) && runs_others(program))
        warn(l, arena_format(l->arena,
                             "%" STR_FMT " can run other programs: as a rule that allows, it "
                             "allows more than it says.",
                             STR_ARG(program)));
    for (size_t i = 0; i < pattern.n; i++)
        if (strchr(";|&<>", pattern.p[i])) {
            warn(l, S("A rule is for one simple command; with ; | & < or > in it, it allows only a "
                      "line that is exactly this text."));
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
                             "One slash is the project's root: as a rule that allows it means "
                             "%s%" STR_FMT ". The file system's is /%" STR_FMT
                             "; a rule that denies means both.",
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
                             "Without a slash a rule that allows means only %s/%" STR_FMT
                             ", one that denies that name in every directory.",
                             l->root, STR_ARG(pattern)));
    if (is_relative(pattern) &&
        fs_is_dir(arena_format(l->arena, "%s/%" STR_FMT, l->root, STR_ARG(pattern)).p))
        warn(l, arena_format(l->arena,
                             "It is a directory: to allow what is in it, write %" STR_FMT
                             "(%" STR_FMT "%s**).",
                             STR_ARG(l->pattern->tool), STR_ARG(pattern),
                             str_ends(pattern, S("/")) ? "" : "/"));
    if (l->tool->risk == RISK_MODIFY && !is_relative(pattern) &&
        (str_starts(pattern, S("//")) || str_starts(pattern, S("~"))))
        warn(l, S("As a rule that allows, it lets files outside the workspace be changed."));
}

/* --- URLs --- */

static void look_at_url(struct look *l)
{
    struct str pattern = l->pattern->argument;
    bool names_host = str_starts(pattern, S("domain:")) || str_starts(pattern, S("host:"));

    if (names_host && str_find(pattern, S("/")) != STR_NONE)
        warn(l, S("A domain has no scheme and no path: it never matches."));
    else if (str_starts(pattern, S("host:")) && str_find_char(pattern, '*') != STR_NONE)
        warn(l, S("A host is written out, without stars: it never matches."));
    else if (!names_host && str_find(pattern, S("://")) == STR_NONE && !str_starts(pattern, S("*")))
        warn(l, arena_format(l->arena,
                             "It is compared with whole URLs, and none is like it: it never "
                             "matches. For a host write %" STR_FMT "(domain:%" STR_FMT ").",
                             STR_ARG(l->pattern->tool), STR_ARG(pattern)));
    else if (!names_host && str_find_char(pattern, '*') != STR_NONE)
        warn(l, S("A star takes slashes and dots too; domain:HOST is safer."));
}

void rule_warnings_find(struct rule_warnings *w, struct arena *a, const struct pattern *p,
                        const struct tool *tool, const char *root)
{
    struct look l = {w, a, p, tool, root};

    *w = (struct rule_warnings){0};
    look_at_name(&l);
    if (pattern_takes_any(p)) {
        if (tool->risk == RISK_EXECUTE)
            warn(&l, S("As a rule that allows, it lets every command run without a question."));
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
