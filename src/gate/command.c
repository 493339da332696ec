/* command.c - a pattern against a command that is taken as it stands. */
#include "gate/command.h"

#include "gate/command_parts.h"
#include "gate/wildcard.h"

/* --- single commands --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Skips what is quoted; `*at` stands after the opening quote. False: something may hide in it. */
static bool skip_quoted(struct str s, size_t *at, char quote)
{
    for (size_t i = *at; i < s.n; i++) {
        char c = s.p[i], next = i + 1 < s.n ? s.p[i + 1] : '\0';

        if (c == quote) {
            *at = i + 1;
            return true;
        }
        if (quote == '\'')
            continue;
        if (c == '`' || (c == '$' && next && strchr("({[", next)) || (c == '\\' && next == '\n'))
            return false;
        if (c == '\\')
            i++;
    }
    return false;
}

/* A program that an assignment or a variable stands before, or is. */
static bool starts_plainly(struct str command)
{
    for (size_t i = 0; i < command.n && !is_blank(command.p[i]); i++)
        if (command.p[i] == '=' || command.p[i] == '$')
            return false;
    return true;
}

bool command_is_single(struct str command)
{
    struct str s = str_trim(command);

    if (s.n == 0 || s.n > COMMAND_MAX_BYTES || str_find_char(s, '\0') != STR_NONE ||
        !starts_plainly(s))
        return false;
    for (size_t i = 0; i < s.n;) {
        char c = s.p[i], next = i + 1 < s.n ? s.p[i + 1] : '\0';
        bool is_word_start = i == 0 || is_blank(s.p[i - 1]);

        i++;
        if (c == '\'' || c == '"') {
            if (!skip_quoted(s, &i, c))
                return false;
        } else if (c == '\\') {
            if (next == '\n' || next == '\0')
                return false;
            i++;
        } else if (strchr(";&|\n\r`(){}<>", c) || (c == '#' && is_word_start) ||
                   (c == '$' && next && strchr("'\"[", next))) {
            return false; /* a comment may hold a quote that is none, and $'' has its own rules */
        }
    }
    return true;
}

/* --- patterns --- */

/* "git log:*" and "git log *" are the command and whatever follows it; the head is "git log". */
bool command_pattern_matches(struct str pattern, struct str command)
{
    bool is_prefix = str_ends(pattern, S(":*")),
         takes_more = is_prefix || str_ends(pattern, S(" *"));
    struct str head = takes_more ? str_slice(pattern, 0, pattern.n - 2) : pattern;
    AUTO(strbuf) struct strbuf longer = {0};

    if (wildcard_matches(head, command))
        return true;
    if (!takes_more)
        return false;
    strbuf_add(&longer, head);
    if (!is_prefix || head.n == 0 || !strchr("/=:-", head.p[head.n - 1]))
        strbuf_add_char(&longer, ' '); /* "git log:*" is not for "git logs" */
    strbuf_add_char(&longer, '*');
    return wildcard_matches(strbuf_str(&longer), command);
}

static enum match match_narrowly(struct str pattern, struct str command)
{
    if (!wildcard_is_literal(pattern) && !command_is_single(command))
        return MATCH_NO;
    return command_pattern_matches(pattern, command) ? MATCH_YES : MATCH_NO;
}

enum match command_match(struct str pattern, struct str command, enum reading reading)
{
    command = str_trim(command);
    if (reading == READ_NARROWLY)
        return match_narrowly(pattern, command);
    if (command.n > COMMAND_MAX_BYTES || str_find_char(command, '\0') != STR_NONE)
        return MATCH_UNCLEAR;
    if (command_pattern_matches(pattern, command))
        return MATCH_YES;
    return command_match_parts(pattern, command);
}
