/* wildcard.c - matches text with one kind of wildcard. */
#include "gate/wildcard.h"

/* The next element of a pattern: a byte, or a star. */
struct element {
    bool is_star;
    char c;
    size_t n_bytes;
};

static struct element element_at(struct str pattern, size_t at)
{
    char c = pattern.p[at], next = at + 1 < pattern.n ? pattern.p[at + 1] : '\0';

    if (c == '\\' && (next == '*' || next == '\\'))
        return (struct element){.c = next, .n_bytes = 2};
    return (struct element){.is_star = c == '*', .c = c, .n_bytes = 1};
}

/* Only the last star needs backtracking: it can match whatever an earlier one could. */
bool wildcard_matches(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, after_star = STR_NONE, star_end = 0;

    for (;;) {
        struct element e = {0};

        if (p < pattern.n)
            e = element_at(pattern, p);
        else if (t == text.n)
            return true;
        if (e.is_star) {
            after_star = p += e.n_bytes;
            star_end = t;
        } else if (e.n_bytes && t < text.n && text.p[t] == e.c) {
            p += e.n_bytes;
            t++;
        } else if (after_star == STR_NONE || star_end == text.n) {
            return false;
        } else {
            p = after_star;
            t = ++star_end;
        }
    }
}

/* The position of the first star, or the length of the pattern. */
static size_t find_star(struct str pattern)
{
    size_t at = 0;

    while (at < pattern.n) {
        struct element e = element_at(pattern, at);

        if (e.is_star)
            break;
        at += e.n_bytes;
    }
    return at;
}

bool wildcard_is_literal(struct str pattern)
{
    return find_star(pattern) == pattern.n;
}

void wildcard_add_head(struct strbuf *out, struct str pattern)
{
    size_t end = find_star(pattern);

    for (size_t at = 0; at < end;) {
        struct element e = element_at(pattern, at);

        strbuf_add_char(out, e.c);
        at += e.n_bytes;
    }
}

void wildcard_add_escaped(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '*' || text.p[i] == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, text.p[i]);
    }
}
