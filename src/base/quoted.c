/* quoted.c - quotes like git does, but only where necessary. */
#include "base/quoted.h"

#include "base/looks.h"
#include "base/utf8.h"

/* It has an effect in lists of paths, or on a screen. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

/* Bytes of the next character, if it needs no escape; else 0. */
static unsigned plain_length(struct str rest)
{
    uint32_t c;
    unsigned n = utf8_decode(rest, &c);

    return n && !is_control(c) && !looks_like_others(c) ? n : 0;
}

static bool is_plain(struct str path)
{
    if (str_starts(path, S("\"")))
        return false;
    while (path.n) {
        unsigned n = plain_length(path);

        if (!n)
            return false;
        path = str_skip(path, n);
    }
    return true;
}

/* --- writing --- */

/* Escapes a character byte by byte. */
static unsigned add_escaped(struct strbuf *out, struct str rest)
{
    uint32_t c;
    unsigned n = utf8_decode(rest, &c);

    n = n ? n : 1;
    for (unsigned i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)rest.p[i];
        static const char letters[] = "abtnvfr"; /* from 7 on */

        if (byte >= 7 && byte < 7 + sizeof letters - 1)
            strbuf_addf(out, "\\%c", letters[byte - 7]);
        else
            strbuf_addf(out, "\\%03o", byte);
    }
    return n;
}

void quoted_add(struct strbuf *out, struct str path)
{
    if (is_plain(path)) {
        strbuf_add(out, path);
        return;
    }
    strbuf_add_char(out, '"');
    while (path.n) {
        unsigned n = plain_length(path);

        if (path.p[0] == '"' || path.p[0] == '\\')
            strbuf_add_char(out, '\\');
        if (n)
            strbuf_add(out, str_slice(path, 0, n));
        else
            n = add_escaped(out, path);
        path = str_skip(path, n);
    }
    strbuf_add_char(out, '"');
}

struct str quoted(struct arena *a, struct str path)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (is_plain(path))
        return path;
    quoted_add(&text, path);
    return arena_str(a, strbuf_str(&text));
}

/* --- reading --- */

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

static bool read_escape(struct strbuf *out, struct str *rest)
{
    static const char letters[] = "abtnvfr";
    const char *letter;
    char c;

    if (rest->n < 2)
        return false;
    c = rest->p[1];
    letter = strchr(letters, c);
    if (c == '"' || c == '\\') {
        strbuf_add_char(out, c);
    } else if (c && letter) {
        strbuf_add_char(out, (char)(7 + (letter - letters)));
    } else if (rest->n >= 4 && c <= '3' && is_octal(c) && is_octal(rest->p[2]) &&
               is_octal(rest->p[3])) {
        strbuf_add_char(out, (char)((c - '0') << 6 | (rest->p[2] - '0') << 3 | (rest->p[3] - '0')));
        *rest = str_skip(*rest, 2);
    } else {
        return false;
    }
    *rest = str_skip(*rest, 2);
    return true;
}

static bool read_inside(struct strbuf *out, struct str rest)
{
    while (rest.n) {
        if (rest.p[0] == '\\') {
            if (!read_escape(out, &rest))
                return false;
            continue;
        }
        strbuf_add_char(out, rest.p[0]);
        rest = str_skip(rest, 1);
    }
    return true;
}

bool quoted_read(struct strbuf *out, struct str text)
{
    AUTO(strbuf) struct strbuf path = {0}, again = {0};

    if (text.n < 3 || text.p[0] != '"' || text.p[text.n - 1] != '"' ||
        !read_inside(&path, str_slice(text, 1, text.n - 2)))
        return false;
    quoted_add(&again, strbuf_str(&path)); /* the one way to write it? */
    if (!str_eq(strbuf_str(&again), text) || str_find_char(strbuf_str(&path), '\0') != STR_NONE)
        return false;
    strbuf_add(out, strbuf_str(&path));
    return true;
}
