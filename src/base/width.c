/* width.c - columns of a text, one cluster after another. */
#include "base/width.h"

#include "base/grapheme.h"

/* A letter of ASCII is alone unless a mark follows. */
static bool is_plain(struct str text)
{
    return (unsigned char)text.p[0] < 0x80 && (text.n == 1 || (unsigned char)text.p[1] < 0x80);
}

static size_t step(struct str text, unsigned *ret_columns)
{
    if (!is_plain(text))
        return grapheme_first(text, ret_columns);
    *ret_columns = 1;
    return 1;
}

size_t width_of(struct str text)
{
    size_t all = 0;
    unsigned columns;

    while (text.n) {
        text = str_skip(text, step(text, &columns));
        all += columns;
    }
    return all;
}

struct str width_truncate(struct str text, size_t n_columns)
{
    size_t end = 0, all = 0;
    unsigned columns;

    while (end < text.n) {
        size_t n = step(str_skip(text, end), &columns);

        if (all + columns > n_columns)
            break;
        all += columns;
        end += n;
    }
    return str_slice(text, 0, end);
}
