/* indent.c - maps the model's indentation to the file's. */
#include "tool/edit/indent.h"

#include "tool/edit/fold.h"

bool indent_of(struct str line, struct str *ret_indent)
{
    size_t n = fold_blanks(str_slice(line, 0, INDENT_MAX_BYTES + 1));

    if (n == line.n || line.p[n] == '\n' || line.p[n] == '\r')
        return false;
    *ret_indent = str_slice(line, 0, n);
    return true;
}

void indent_learn(struct indent_map *map, struct str given, struct str found)
{
    for (size_t i = 0; i < map->n; i++) {
        bool same_given = str_eq(map->pairs[i].given, given);
        bool same_found = str_eq(map->pairs[i].found, found);

        map->is_unclear |= same_given != same_found;
        if (same_given)
            return;
    }
    if (map->n == INDENT_MAX_PAIRS || given.n > INDENT_MAX_BYTES || found.n > INDENT_MAX_BYTES) {
        map->is_unclear = true;
        return;
    }
    map->pairs[map->n].given = given;
    map->pairs[map->n++].found = found;
    map->differs |= !str_eq(given, found);
}

/* --- steps: how much the file indents for one step of the model --- */

/* `n_found` of found_char stand for `n_given` of given_char, counted from a known pair. */
struct indent_step {
    struct str given, found; /* the pair */
    char given_char, found_char;
    size_t n_given, n_found;
};

static bool is_all(struct str s, char c)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != c)
            return false;
    return true;
}

/* What both texts add to the step's pair is one step, or several equal ones. */
static bool fits_step(struct indent_step *s, struct str given, struct str found)
{
    if (!str_starts(given, s->given) || !str_starts(found, s->found))
        return false;
    given = str_skip(given, s->given.n);
    found = str_skip(found, s->found.n);
    if (given.n == 0 || found.n == 0)
        return false;
    if (s->n_given == 0) {
        s->given_char = given.p[0];
        s->found_char = found.p[0];
        s->n_given = given.n;
        s->n_found = found.n;
    }
    return is_all(given, s->given_char) && is_all(found, s->found_char) &&
           given.n * s->n_found == found.n * s->n_given;
}

/* From two or more pairs, which must agree on one step. */
static bool step_of_many(const struct indent_map *map, struct indent_step *ret_step)
{
    struct indent_step step = {0};
    size_t shortest = 0;

    for (size_t i = 1; i < map->n; i++)
        if (map->pairs[i].given.n < map->pairs[shortest].given.n)
            shortest = i;
    step.given = map->pairs[shortest].given;
    step.found = map->pairs[shortest].found;
    for (size_t i = 0; i < map->n; i++)
        if (i != shortest && !fits_step(&step, map->pairs[i].given, map->pairs[i].found))
            return false;
    *ret_step = step;
    return true;
}

/* From a single pair: a block moved to the left edge, or tabs for spaces. Two different numbers of
 * spaces are ambiguous: the block may have moved, or the width may differ. */
static bool step_of_one(struct str given, struct str found, struct indent_step *ret_step)
{
    struct indent_step step = {.given = given, .found = found};

    if (given.n == 0 && found.n && is_all(found, found.p[0])) {
        step.given_char = step.found_char = found.p[0];
        step.n_given = step.n_found = 1;
    } else if (given.n && found.n && given.p[0] != found.p[0] &&
               (given.n % found.n == 0 || found.n % given.n == 0)) {
        step.given = step.found = (struct str){0};
        if (!fits_step(&step, given, found))
            return false;
    } else {
        return false;
    }
    *ret_step = step;
    return true;
}

/* Adds steps to the step's pair, or removes them. */
static bool add_steps(const struct indent_step *s, struct strbuf *out, struct str given)
{
    bool is_more = given.n >= s->given.n;
    struct str longer = is_more ? given : s->given, shorter = is_more ? s->given : given;
    struct str rest = str_skip(longer, shorter.n), found = s->found;
    size_t n;

    if (given.n > INDENT_MAX_BYTES || !str_starts(longer, shorter) ||
        !is_all(rest, s->given_char) || rest.n * s->n_found % s->n_given)
        return false;
    n = rest.n * s->n_found / s->n_given;
    if (!is_more) {
        if (n > found.n || !is_all(str_skip(found, found.n - n), s->found_char))
            return false;
        found.n -= n;
    }
    strbuf_add(out, found);
    if (is_more)
        while (n--)
            strbuf_add_char(out, s->found_char);
    return true;
}

bool indent_add(const struct indent_map *map, struct strbuf *out, struct str given)
{
    struct indent_step step;

    if (map->is_unclear)
        return false;
    for (size_t i = 0; i < map->n; i++) {
        if (str_eq(map->pairs[i].given, given)) {
            strbuf_add(out, map->pairs[i].found);
            return true;
        }
    }
    if (!map->differs) {
        strbuf_add(out, given);
        return true;
    }
    if (map->n == 1 ? !step_of_one(map->pairs[0].given, map->pairs[0].found, &step)
                    : !step_of_many(map, &step))
        return false;
    return add_steps(&step, out, given);
}
