/* markdown_text.c - escapes characters only where Markdown would interpret them. */
#include "tool/html/markdown_text.h"

#include "base/utf8.h"

bool markdown_is_space(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0xA0 || c == 0x2028 || c == 0x2029;
}

bool markdown_is_dropped(uint32_t c)
{
    if (c < 0x20 || (c >= 0x7F && c < 0xA0))
        return c != '\n' && c != '\t';
    return c == 0xAD ||                                                    /* soft hyphen */
           c == 0x200B || c == 0x2060 || c == 0xFEFF ||                    /* zero width */
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || /* bidi */
           (c >= 0xE0000 && c <= 0xE007F);                                 /* tags */
}

void markdown_add_plain(struct strbuf *out, struct str text)
{
    size_t start = out->n;
    bool has_space = false;

    while (text.n) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);

        if (n && markdown_is_space(c)) {
            has_space = true;
        } else if (n && !markdown_is_dropped(c)) {
            if (has_space && out->n > start)
                strbuf_add_char(out, ' ');
            has_space = false;
            strbuf_add(out, str_slice(text, 0, n));
        }
        text = str_skip(text, n ? n : 1);
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* A letter or digit of any script, approximately. */
static bool is_word(char c)
{
    return is_alpha(c) || is_digit(c) || (unsigned char)c >= 0x80;
}

static bool is_punctuation(char c)
{
    return c > ' ' && c < 0x7F && !is_alpha(c) && !is_digit(c);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* "12" before the '.' or ')' of an ordered list. */
static bool is_number(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!is_digit(line.p[i]))
            return false;
    return line.n > 0 && line.n < 10;
}

/* Markdown would read "&amp;" or "&#39;" as a character. */
static bool is_entity(struct str rest)
{
    size_t n = 0;

    if (rest.n && rest.p[0] == '#')
        n++;
    while (n < rest.n && n < 33 && (is_alpha(rest.p[n]) || is_digit(rest.p[n])))
        n++;
    return n == rest.n || (n > 0 && rest.p[n] == ';');
}

/* Characters that Markdown interprets only at the start of a line. */
static bool starts_block(char c, char next)
{
    bool is_marker = next == 0 || is_blank(next);

    switch (c) {
    case '>':
        return true;
    case '#':
        return is_marker || next == '#';
    case '+':
        return is_marker;
    case '-':
        return is_marker || next == '-';
    case '=':
        return is_marker || next == '=';
    default:
        return false;
    }
}

bool markdown_needs_escape(const struct markdown_place *place, char c, struct str rest)
{
    struct str line = place->line;
    char next = rest.n ? rest.p[0] : 0, last = line.n ? line.p[line.n - 1] : 0;
    bool is_free = (last == 0 || is_blank(last)) && is_blank(next); /* blanks on both sides */

    if (line.n == 0 && starts_block(c, next))
        return true;
    switch (c) {
    case '\\':
        return next == 0 || is_punctuation(next);
    case '`':
        return true;
    case '*':
        return line.n == 0 || !is_free;
    case '_':
        return !is_free && !(is_word(last) && is_word(next));
    case '~':
        return next == '~' || last == '~' || next == 0;
    case '[':
    case ']':
        return place->is_in_link;
    case '(':
        return last == ']';
    case ':':
        return last == ']' && line.p[0] == '[';
    case '<':
        return next == 0 || is_alpha(next) || next == '/' || next == '!' || next == '?';
    case '&':
        return is_entity(rest);
    case '|':
        return place->is_in_cell;
    case '#':
        return place->is_in_heading && last == ' ';
    case '.':
    case ')':
        return (next == 0 || is_blank(next)) && is_number(line);
    default:
        return false;
    }
}
