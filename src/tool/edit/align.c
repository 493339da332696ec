/* align.c - finds equal lines by looking ahead. Within a line, the common beginning and end of old
 * and new text stay. */
#include "tool/edit/align.h"

#include "tool/edit/fold.h"

#define MAX_LOOKAHEAD 256 /* lines of the old text, for one new line */

/* --- lines --- */

struct str align_body(struct str line)
{
    line = str_skip(line, fold_blanks(line));
    while (str_ends(line, S(" ")) || str_ends(line, S("\t")))
        line.n--;
    return line;
}

/* A line that differs only in indentation matters if the file may have other quotes in it. */
static bool is_moved(const struct line_range *r, size_t old_at, size_t new_at)
{
    return str_eq(r->old_bodies[old_at], r->new_bodies[new_at]) &&
           fold_kinds(r->old_bodies[old_at]);
}

/* The index, from old_at on, of the old line that equals the new one; old_to if there is none. */
static size_t find_same(const struct line_range *r, size_t old_at, size_t new_at)
{
    size_t end = MIN(r->old_to, old_at + MAX_LOOKAHEAD);

    if (r->new_bodies[new_at].n == 0) /* blank lines are everywhere: only the next one counts */
        return old_at < end && str_eq(r->old_lines[old_at], r->new_lines[new_at]) ? old_at
                                                                                  : r->old_to;
    for (size_t i = old_at; i < end; i++)
        if (str_eq(r->old_lines[i], r->new_lines[new_at]))
            return i;
    for (size_t i = old_at; i < end; i++)
        if (is_moved(r, i, new_at))
            return i;
    return r->old_to;
}

static void fill_gap(struct line_origin *origins, size_t old_from, size_t old_to, size_t new_from,
                     size_t new_to)
{
    bool is_even = old_to - old_from == new_to - new_from;

    for (size_t i = new_from; i < new_to; i++)
        origins[i] = (struct line_origin){.is_known = is_even,
                                          .line = MIN(old_from + (i - new_from), old_to),
                                          .gap_from = old_from,
                                          .gap_to = old_to};
}

void align_lines(const struct line_range *r, struct line_origin *origins)
{
    size_t old_at = r->old_from, new_at = r->new_from;

    for (size_t i = r->new_from; i < r->new_to; i++) {
        size_t same = find_same(r, old_at, i), n = 0;

        if (same == r->old_to)
            continue;
        while (n < MIN(same - old_at, i - new_at) &&
               str_eq(r->old_lines[same - n - 1], r->new_lines[i - n - 1]))
            n++; /* blank lines before it */
        fill_gap(origins, old_at, same - n, new_at, i - n);
        for (size_t k = 0; k <= n; k++)
            origins[i - k] = (struct line_origin){.is_known = true, .line = same - k};
        old_at = same + 1;
        new_at = i + 1;
    }
    fill_gap(origins, old_at, r->old_to, new_at, r->new_to);
}

/* --- within a line --- */

/* The old body and the file's, unit by unit. */
struct pair_walk {
    struct fold old_fold, found_fold;
    struct fold_unit old_unit, found_unit;
};

static void walk_init(struct pair_walk *w, struct str old_body, struct str found)
{
    fold_init(&w->old_fold, old_body, FOLD_BLANKS, /* is_part= */ true);
    fold_init(&w->found_fold, found, FOLD_BLANKS, /* is_part= */ true);
}

static bool walk_next(struct pair_walk *w)
{
    return fold_next(&w->old_fold, &w->old_unit) && fold_next(&w->found_fold, &w->found_unit);
}

static struct str unit_text(const struct fold *f, struct fold_unit unit)
{
    return str_slice(f->text, unit.from, unit.to - unit.from);
}

uint32_t align_forgiven(struct str old_body, struct str found)
{
    struct pair_walk w;
    uint32_t kinds = 0;

    walk_init(&w, old_body, found);
    while (walk_next(&w)) {
        struct str given = unit_text(&w.old_fold, w.old_unit);

        if (!str_eq(given, unit_text(&w.found_fold, w.found_unit)))
            kinds |= fold_kinds(given);
    }
    return kinds;
}

static size_t common_head(struct str a, struct str b)
{
    size_t n = 0;

    while (n < MIN(a.n, b.n) && a.p[n] == b.p[n])
        n++;
    return n;
}

static size_t common_tail(struct str a, struct str b)
{
    size_t n = 0;

    while (n < MIN(a.n, b.n) && a.p[a.n - 1 - n] == b.p[b.n - 1 - n])
        n++;
    return n;
}

bool align_add(struct strbuf *out, struct str old_body, struct str new_body, struct str found)
{
    size_t head = common_head(old_body, new_body);
    size_t tail = common_tail(str_skip(old_body, head), str_skip(new_body, head));
    /* Common head and tail in whole units, of the old text and of the file. */
    size_t old_head = 0, found_head = 0, old_tail = old_body.n, found_tail = found.n;
    struct pair_walk w;
    struct str changed;

    walk_init(&w, old_body, found);
    while (walk_next(&w)) {
        if (w.old_unit.to <= head) {
            old_head = w.old_unit.to;
            found_head = w.found_unit.to;
        } else if (old_tail == old_body.n && w.old_unit.from >= old_body.n - tail) {
            old_tail = w.old_unit.from;
            found_tail = w.found_unit.from;
        }
    }
    changed = str_slice(new_body, old_head, new_body.n - old_head - (old_body.n - old_tail));
    strbuf_add(out, str_slice(found, 0, found_head));
    strbuf_add(out, changed);
    strbuf_add(out, str_skip(found, found_tail));
    return !(align_forgiven(old_body, found) & fold_kinds(changed));
}
