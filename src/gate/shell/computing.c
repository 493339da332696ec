/* computing.c - arithmetic of bash can set variables, and PATH decides which program `ls` is.
 *
 * "$((PATH=2))" sets it, and so does "$((x))" if x is "PATH=2", since bash evaluates the values of
 * variables again. So the characters in arithmetic, and in values of variables, matter. */
#include "gate/shell/parser.h"

static char char_at(struct str text, size_t i)
{
    return i < text.n ? text.p[i] : '\0';
}

/* "=", "+=" and "<<=", but not "==", "!=" and "<=". */
static bool is_assignment(struct str text, size_t at)
{
    char before = at ? text.p[at - 1] : '\0', earlier = at > 1 ? text.p[at - 2] : '\0';

    if (text.p[at] != '=' || char_at(text, at + 1) == '=' || before == '=' || before == '!')
        return false;
    return (before != '<' && before != '>') || earlier == before;
}

static bool has_assignment(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (is_assignment(text, i) || ((c == '+' || c == '-') && char_at(text, i + 1) == c))
            return true;
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The name or number at the start. */
static struct str token_at(struct str text, size_t at)
{
    size_t n = 1;

    while (shell_is_name_char(char_at(text, at + n), /* is_first= */ false))
        n++;
    return str_slice(text, at, n);
}

static bool has_name_to_heed(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        struct str token;

        if (c == '$' || c == '`' || c == SHELL_ANYTHING)
            return true;
        if (!is_digit(c) && !shell_is_name_char(c, /* is_first= */ true))
            continue;
        token = token_at(text, i);
        if (!is_digit(c) && !shell_is_harmless_name(token))
            return true;
        i += token.n - 1;
    }
    return false;
}

void splitter_note_computed(struct splitter *s, struct str text)
{
    if (has_assignment(text) && has_name_to_heed(text))
        s->split->changes_names = true;
}

/* Could it assign when evaluated, alone or joined with other values? */
static bool is_risky_value(struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '=' || ((c == '+' || c == '-') && !is_digit(char_at(text, i + 1))))
            return true;
    }
    return false;
}

void splitter_note_value(struct splitter *s, struct str source, struct str text)
{
    s->holds_operators |= is_risky_value(source) || is_risky_value(text);
}
