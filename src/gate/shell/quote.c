/* quote.c - quoted text. */
#include "gate/shell/parser.h"

#include "base/utf8.h"

void parser_single_quoted(struct parser *p, struct word_builder *b)
{
    for (; !parser_is_at_end(p); p->at++) {
        char c = parser_char(p, 0);

        if (c == '\'') {
            p->at++;
            return;
        }
        if (c == '\n' && p->n_pending)
            splitter_doubt(p->out); /* a here-document starts after a whole line */
        builder_add(b, c);
    }
    splitter_doubt(p->out);
}

/* At a backslash. */
static void escaped_in_double_quotes(struct parser *p, struct word_builder *b)
{
    char next = parser_char(p, 1);

    if (next && strchr("$`\"\\", next)) {
        builder_add(b, next);
        p->at += 2;
    } else if (next == '\n') {
        p->at += 2;
    } else {
        builder_add(b, '\\');
        p->at++;
    }
}

void parser_double_quoted(struct parser *p, struct word_builder *b)
{
    while (!parser_is_at_end(p)) {
        char c = parser_char(p, 0);

        if (c == '"') {
            p->at++;
            return;
        }
        if (c == '\\') {
            escaped_in_double_quotes(p, b);
        } else if (c == '$') {
            parser_dollar(p, b, IN_DOUBLE_QUOTES);
        } else if (c == '`') {
            parser_backquoted(p, IN_DOUBLE_QUOTES);
            builder_add_anything(b);
        } else {
            if (c == '\n' && p->n_pending)
                splitter_doubt(p->out);
            builder_add(b, c);
            p->at++;
        }
    }
    splitter_doubt(p->out);
}

/* --- $'...' --- */

static int digit_value(char c, int base)
{
    int v = c >= '0' && c <= '9'   ? c - '0'
            : c >= 'a' && c <= 'f' ? c - 'a' + 10
            : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                   : 99;

    return v < base ? v : -1;
}

static uint32_t take_number(struct parser *p, int base, int max_digits, int *ret_n_digits)
{
    uint32_t value = 0;
    int n = 0;

    for (; n < max_digits && digit_value(parser_char(p, 0), base) >= 0; n++)
        value = value * (uint32_t)base + (uint32_t)digit_value(p->src.p[p->at++], base);
    *ret_n_digits = n;
    return value;
}

/* A NUL ends the text, and beyond ASCII the locale matters. */
static void add_code(struct parser *p, struct word_builder *b, uint32_t code, bool is_byte)
{
    p->out->holds_operators |= code == '=' || code == '+' || code == '-';
    if (code == 0)
        splitter_doubt(p->out);
    else if (code < 0x80 || is_byte)
        builder_add(b, (char)code);
    else
        builder_add_anything(b);
}

/* After "\x", "\u" or "\U". */
static void hexadecimal(struct parser *p, struct word_builder *b, char kind)
{
    int max_digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8, n;
    uint32_t code = take_number(p, 16, max_digits, &n);

    if (n == 0)
        splitter_doubt(p->out); /* "\x{" and others */
    else
        add_code(p, b, code, kind == 'x');
}

static void escaped_in_ansi(struct parser *p, struct word_builder *b)
{
    static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char c = parser_char(p, 1);
    const char *known = c ? strchr(from, c) : NULL;
    int n;

    p->at += 2;
    if (known) {
        builder_add(b, to[known - from]);
    } else if (c == 'x' || c == 'u' || c == 'U') {
        hexadecimal(p, b, c);
    } else if (c >= '0' && c <= '7') {
        p->at--;
        add_code(p, b, take_number(p, 8, 3, &n) & 0xFF, /* is_byte= */ true);
    } else if (c == 'c') {
        char control = parser_char(p, 0);

        if (control < '@' || control == '\\')
            splitter_doubt(p->out);
        add_code(p, b, control & 0x1F, /* is_byte= */ true);
        p->at++;
    } else {
        builder_add(b, '\\');
        p->at--;
    }
}

void parser_ansi_quoted(struct parser *p, struct word_builder *b)
{
    while (!parser_is_at_end(p)) {
        char c = parser_char(p, 0);

        if (c == '\'') {
            p->at++;
            return;
        }
        if (c == '\n' && p->n_pending)
            splitter_doubt(p->out);
        if (c == '\\' && p->at + 1 < p->src.n) {
            escaped_in_ansi(p, b);
        } else {
            builder_add(b, c);
            p->at++;
        }
    }
    splitter_doubt(p->out);
}
