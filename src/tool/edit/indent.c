/* indent.c - from the indentation of the model to that of the file. */
#include "tool/edit/indent.h"

#include "tool/edit/fold.h"

bool indent_of(struct str line, struct str *ret_indent)
{
    size_t n = 0;

    while (n < line.n && n <= INDENT_MAX_BYTES && (line.p[n] == ' ' || line.p[n] == '\t'))
        n++;
    if (n == line.n || n > INDENT_MAX_BYTES || line.p[n] == '\n' || line.p[n] == '\r' ||
        fold_blank(str_skip(line, n)))
        return false;
    *ret_indent = str_slice(line, 0, n);
    return true;
}

static bool find_pair(const struct indent_map *map, struct str given, struct str *ret_found)
{
    for (size_t i = 0; i < map->n; i++) {
        if (str_eq(map->pairs[i].given, given)) {
            *ret_found = map->pairs[i].found;
            return true;
        }
    }
    return false;
}

void indent_learn(struct indent_map *map, struct str given, struct str found)
{
    struct str known;

    if (map->n == INDENT_MAX_PAIRS || find_pair(map, given, &known))
        return;
    map->pairs[map->n].given = given;
    map->pairs[map->n++].found = found;
    map->differs |= !str_eq(given, found);
}

static bool is_all(struct str s, char c)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != c)
            return false;
    return true;
}

/* How many spaces a tab is, when one side indents by tabs and the other by spaces throughout; 0
 * when that is not so. */
static size_t tab_width(const struct indent_map *map, bool given_is_tabs)
{
    size_t width = 0;

    for (size_t i = 0; i < map->n; i++) {
        struct str given = map->pairs[i].given, found = map->pairs[i].found;
        struct str tabs = given_is_tabs ? given : found, spaces = given_is_tabs ? found : given;

        if (given.n == 0)
            continue;
        if (tabs.n == 0 || !is_all(tabs, '\t') || !is_all(spaces, ' ') || spaces.n % tabs.n ||
            (width && width != spaces.n / tabs.n))
            return 0;
        width = spaces.n / tabs.n;
    }
    return width;
}

static void add_times(struct strbuf *out, char c, size_t n)
{
    while (n--)
        strbuf_add_char(out, c);
}

/* The longest known indentation that `given` goes on from, and what it adds to that. */
static void add_by_prefix(const struct indent_map *map, struct strbuf *out, struct str given)
{
    size_t best = map->n;

    for (size_t i = 0; i < map->n; i++)
        if (str_starts(given, map->pairs[i].given) &&
            (best == map->n || map->pairs[i].given.n > map->pairs[best].given.n))
            best = i;
    if (best < map->n) {
        strbuf_add(out, map->pairs[best].found);
        given = str_skip(given, map->pairs[best].given.n);
    }
    strbuf_add(out, given);
}

void indent_add(const struct indent_map *map, struct strbuf *out, struct str given)
{
    struct str found;
    size_t width;

    if (!map->differs)
        strbuf_add(out, given);
    else if (find_pair(map, given, &found))
        strbuf_add(out, found);
    else if (is_all(given, ' ') && (width = tab_width(map, /* given_is_tabs= */ false))) {
        add_times(out, '\t', given.n / width);
        add_times(out, ' ', given.n % width);
    } else if (is_all(given, '\t') && (width = tab_width(map, /* given_is_tabs= */ true)))
        add_times(out, ' ', given.n * width);
    else
        add_by_prefix(map, out, given);
}
