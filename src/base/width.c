/* width.c - columns, by two tables of ranges. */
#include "base/width.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "base/width_table.h"

static bool is_in(const struct range *ranges, size_t n, uint32_t c)
{
    size_t from = 0, to = n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (c > ranges[middle].last)
            from = middle + 1;
        else if (c < ranges[middle].first)
            to = middle;
        else
            return true;
    }
    return false;
}

unsigned width_of_char(uint32_t c)
{
    if (c < no_columns[0].first)
        return 1;
    if (is_in(no_columns, ARRAY_LEN(no_columns), c))
        return 0;
    return is_in(two_columns, ARRAY_LEN(two_columns), c) ? 2 : 1;
}

/* The next character, and its columns. */
static size_t step(struct str text, unsigned *ret_width)
{
    uint32_t c;
    unsigned n = utf8_decode(text, &c);

    *ret_width = n ? width_of_char(c) : 1;
    return n ? n : 1;
}

size_t width_of(struct str text)
{
    size_t columns = 0;
    unsigned width;

    while (text.n) {
        text = str_skip(text, step(text, &width));
        columns += width;
    }
    return columns;
}

struct str width_truncate(struct str text, size_t n_columns)
{
    size_t end = 0, columns = 0;
    unsigned width;

    while (end < text.n) {
        size_t n = step(str_skip(text, end), &width);

        if (columns + width > n_columns)
            break;
        columns += width;
        end += n;
    }
    return str_slice(text, 0, end);
}
