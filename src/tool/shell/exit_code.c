/* exit_code.c - a table of commands whose exit code 1 is one of their two answers. */
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

/* Where the last command of the line begins. Quotes are respected, nothing else is: what is taken
 * for another command than it is only leaves its failure marked as one. */
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
        } else if (strchr("|;&\n(", c) && c) {
            *ret_is_conditional = c == '&' && i + 1 > start && i > 0 && line.p[i - 1] == '&';
            start = i + 1;
        }
    }
    return start;
}

/* Variables that are set for it come before its name. */
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
    return str_starts(command, name) && (command.n == name.n || command.p[name.n] == ' ');
}

const char *exit_code_meaning(struct str command, int exit_code, bool has_output)
{
    bool is_conditional;
    size_t start;

    if (exit_code != 1)
        return NULL;
    while (str_ends(command = str_trim(command), S(")")))
        command.n--;
    start = last_start(command, &is_conditional);
    if (is_conditional && has_output) /* a command before it may be the one that failed */
        return NULL;
    command = skip_settings(str_skip(command, start));
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (begins_with(command, str_of(answers[i].command)))
            return answers[i].meaning;
    return NULL;
}
