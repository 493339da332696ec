/* exit_code.c - a table of commands for which exit code 1 is an answer. */
#include "tool/shell/exit_code.h"

#include <string.h>

#define NOTHING "nothing matches"
#define DIFFERENT "they differ"
#define FALSE "the condition is false"
#define MISSING "it is not there"

static const struct {
    const char *command, *meaning;
} answers[] = {
    {"grep", NOTHING},       {"egrep", NOTHING},      {"fgrep", NOTHING}, {"zgrep", NOTHING},
    {"rg", NOTHING},         {"ag", NOTHING},         {"ack", NOTHING},   {"git grep", NOTHING},
    {"pgrep", NOTHING},      {"diff", DIFFERENT},     {"cmp", DIFFERENT}, {"colordiff", DIFFERENT},
    {"git diff", DIFFERENT}, {"test", FALSE},         {"[", FALSE},       {"[[", FALSE},
    {"which", MISSING},      {"command -v", MISSING}, {"type", MISSING},
};

/* After the bracket that closes the one at `at`, or the end. */
static size_t skip_brackets(struct str line, size_t at)
{
    size_t depth = 0;

    for (; at < line.n; at++) {
        depth += line.p[at] == '(';
        depth -= line.p[at] == ')';
        if (depth == 0)
            break;
    }
    return at;
}

/* "<(sort a)" and "$(pwd)" are words of a command; "(" begins a command. */
static bool is_substitution(struct str line, size_t at)
{
    return line.p[at] == '(' && at && strchr("<>$", line.p[at - 1]);
}

/* Where the last command of the line begins. Understands quotes and substitutions only: if it is
 * wrong, the result is marked as a failure. */
static size_t last_start(struct str line, bool *ret_is_conditional)
{
    size_t start = 0;
    char quote = 0;

    *ret_is_conditional = false;
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];

        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (is_substitution(line, i)) {
            i = skip_brackets(line, i);
        } else if (strchr("|;&\n(", c) && c) {
            *ret_is_conditional = c == '&' && i + 1 > start && i > 0 && line.p[i - 1] == '&';
            start = i + 1;
        }
    }
    return start;
}

/* Assignments precede the name of a command. */
static struct str skip_settings(struct str command)
{
    for (;;) {
        struct str rest = command = str_trim(command), word;
        size_t equals;

        if (!str_split(&rest, ' ', &word))
            return command;
        equals = str_find_char(word, '=');
        if (equals == STR_NONE || equals == 0 || !rest.n)
            return command;
        command = rest;
    }
}

static bool begins_with(struct str command, struct str name)
{
    return str_starts(command, name) &&
           (command.n == name.n || command.p[name.n] == ' ' || command.p[name.n] == ')');
}

/* "cd src && ": cd would have reported its failure. */
static bool is_only_cd(struct str before, struct str output)
{
    bool is_conditional;

    return str_ends(before, S("&&")) && begins_with(str_trim(before), S("cd")) &&
           last_start(str_slice(before, 0, before.n - 2), &is_conditional) == 0 &&
           str_find(output, S(" cd: ")) == STR_NONE;
}

const char *exit_code_meaning(struct str command, int exit_code, struct str output)
{
    bool is_conditional;
    size_t start;

    if (exit_code != 1)
        return NULL;
    command = str_trim(command);
    if (str_starts(command, S("(")) && str_ends(command, S(")")))
        command = str_trim(str_slice(command, 0, command.n - 1));
    start = last_start(command, &is_conditional);
    if (is_conditional && output.n && !is_only_cd(str_slice(command, 0, start), output))
        return NULL; /* an earlier command may have failed */
    command = skip_settings(str_skip(command, start));
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (begins_with(command, str_of(answers[i].command)))
            return answers[i].meaning;
    return NULL;
}
