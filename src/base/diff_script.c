/* diff_script.c - turns two texts into the list of their changes.
 *
 * It cuts off what is the same at both ends and turns lines into numbers. Lines that only one text
 * has are changes without further search. The rest goes to diff_compare(). */
#include "base/diff_script.h"

#define MAX_LINES ((size_t)1 << 19) /* of a side, after the cut; longer texts are one change */
#define SLIDE_ROOM 64
#define MAX_PROBES 64

bool diff_take_line(struct str *rest, struct str *ret_line)
{
    size_t end = str_find_char(*rest, '\n');

    if (rest->n == 0)
        return false;
    *ret_line = str_slice(*rest, 0, end == STR_NONE ? rest->n : end + 1);
    *rest = str_skip(*rest, ret_line->n);
    return true;
}

size_t diff_count_lines(struct str text)
{
    struct str line;
    size_t n = 0;

    while (diff_take_line(&text, &line))
        n++;
    return n;
}

/* --- equal ends --- */

static size_t cut_same_head(struct str *old_text, struct str *new_text)
{
    struct str a = *old_text, b = *new_text, line_a, line_b;
    size_t n = 0;

    while (diff_take_line(&a, &line_a) && diff_take_line(&b, &line_b) && str_eq(line_a, line_b)) {
        *old_text = a;
        *new_text = b;
        n++;
    }
    return n;
}

static struct str last_line(struct str text)
{
    size_t end = str_rfind_char(str_slice(text, 0, text.n - 1), '\n');

    return end == STR_NONE ? text : str_skip(text, end + 1);
}

/* Keeps some of the equal lines and returns their number: a change above may slide down into
 * them. */
static size_t cut_same_tail(struct str *old_text, struct str *new_text)
{
    struct str a = *old_text, b = *new_text, tail, line;
    size_t n_left = 0;

    while (a.n && b.n && str_eq(last_line(a), last_line(b))) {
        line = last_line(a);
        a.n -= line.n;
        b.n -= line.n;
    }
    tail = str_skip(*old_text, a.n);
    for (; n_left < SLIDE_ROOM && diff_take_line(&tail, &line); n_left++) {
        a.n += line.n;
        b.n += line.n;
    }
    *old_text = a;
    *new_text = b;
    return n_left;
}

/* --- lines as numbers --- */

struct distinct_line {
    struct str line;
    uint64_t hash;
    bool in_old, in_new;
};

/* All different lines of both texts. */
struct line_table {
    struct distinct_line *kinds; /* a line's number is its index here */
    uint32_t n_kinds;
    uint32_t *slots; /* number + 1; 0 is empty */
    size_t mask;
};

struct side {
    uint32_t *ids;
    size_t n;
    bool *changed; /* n entries and one more, which is false */
};

/* The number of the line. Somebody may have chosen lines whose hashes collide: after some probes a
 * line counts as different from all others, which makes the diff longer, not wrong. */
static uint32_t number_of(struct line_table *t, struct str line)
{
    uint64_t hash = str_hash(line);
    uint32_t *slot = NULL;

    for (size_t i = 0, at = hash; i < MAX_PROBES; i++, at += i) {
        const struct distinct_line *kind;

        slot = &t->slots[at & t->mask];
        if (*slot == 0)
            break;
        kind = &t->kinds[*slot - 1];
        if (kind->hash == hash && str_eq(kind->line, line))
            return *slot - 1;
        slot = NULL;
    }
    t->kinds[t->n_kinds] = (struct distinct_line){.line = line, .hash = hash};
    if (slot)
        *slot = t->n_kinds + 1;
    return t->n_kinds++;
}

static void read_side(struct side *s, struct arena *a, struct line_table *t, struct str text,
                      size_t n)
{
    struct str line;

    s->ids = ARENA_ARRAY(a, n, uint32_t);
    s->changed = ARENA_ARRAY(a, n + 1, bool);
    while (diff_take_line(&text, &line))
        s->ids[s->n++] = number_of(t, line);
}

/* The lines that the other side has too; the others are changes. */
static struct diff_list shared_lines(struct arena *a, const struct line_table *t,
                                     const struct side *s)
{
    struct diff_list list = {.changed = s->changed};

    list.ids = ARENA_ARRAY(a, s->n, uint32_t);
    list.at = ARENA_ARRAY(a, s->n, uint32_t);
    for (size_t i = 0; i < s->n; i++) {
        const struct distinct_line *kind = &t->kinds[s->ids[i]];

        if (kind->in_old && kind->in_new) {
            list.ids[list.n] = s->ids[i];
            list.at[list.n++] = (uint32_t)i;
        } else {
            s->changed[i] = true;
        }
    }
    return list;
}

static void compare(struct arena *a, struct line_table *t, struct side *old_side,
                    struct side *new_side)
{
    struct diff_list old_list, new_list;

    for (size_t i = 0; i < old_side->n; i++)
        t->kinds[old_side->ids[i]].in_old = true;
    for (size_t i = 0; i < new_side->n; i++)
        t->kinds[new_side->ids[i]].in_new = true;
    old_list = shared_lines(a, t, old_side);
    new_list = shared_lines(a, t, new_side);
    diff_compare(a, &old_list, &new_list);
}

/* --- from marks to changes --- */

/* Where lines repeat, a run of added lines may be in several places. People expect it as far down
 * as possible ("the new function ends with this brace"). If it then touches the next run or a
 * change of the other side, the two become one. */
static void slide_down(struct side *s, const struct side *other)
{
    size_t start, i = 0, k = 0; /* everything before s[i] and other[k] is done */

    while (i < s->n) {
        if (!s->changed[i]) {
            while (other->changed[k])
                k++;
            i++;
            k++;
            continue;
        }
        start = i;
        while (s->changed[i])
            i++;
        while (i < s->n && !other->changed[k] && s->ids[start] == s->ids[i]) {
            s->changed[start++] = false;
            s->changed[i++] = true;
            k++;
            while (s->changed[i])
                i++;
        }
    }
}

static size_t collect(const struct side *old_side, const struct side *new_side,
                      struct diff_change *changes)
{
    size_t i = 0, k = 0, n = 0;

    while (i < old_side->n || k < new_side->n) {
        struct diff_change change = {.old_at = i, .new_at = k};

        while (old_side->changed[i])
            i++;
        while (new_side->changed[k])
            k++;
        change.n_old = i - change.old_at;
        change.n_new = k - change.new_at;
        if (change.n_old || change.n_new) {
            changes[n++] = change;
        } else {
            i++;
            k++;
        }
    }
    return n;
}

/* Compares what is left between the ends; both sides have lines. */
static size_t compare_texts(struct arena *a, struct str old_text, size_t n_old, struct str new_text,
                            size_t n_new, struct diff_change **ret_changes)
{
    struct side old_side = {0}, new_side = {0};
    struct line_table table = {0};
    size_t n_lines = n_old + n_new;
    size_t n_slots = 16;

    while (n_slots < n_lines * 2)
        n_slots *= 2;
    table.kinds = ARENA_ARRAY(a, n_lines, struct distinct_line);
    table.slots = ARENA_ARRAY(a, n_slots, uint32_t);
    table.mask = n_slots - 1;
    read_side(&old_side, a, &table, old_text, n_old);
    read_side(&new_side, a, &table, new_text, n_new);
    compare(a, &table, &old_side, &new_side);
    slide_down(&old_side, &new_side);
    slide_down(&new_side, &old_side);
    *ret_changes = ARENA_ARRAY(a, MIN(n_old, n_new) + 1, struct diff_change);
    return collect(&old_side, &new_side, *ret_changes);
}

size_t diff_find_changes(struct arena *a, struct str old_text, struct str new_text,
                         struct diff_change **ret_changes)
{
    size_t n_head = cut_same_head(&old_text, &new_text);
    size_t n_tail = cut_same_tail(&old_text, &new_text);
    size_t n_old = diff_count_lines(old_text), n_new = diff_count_lines(new_text);
    size_t n_changes = n_old > n_tail || n_new > n_tail;

    if (MIN(n_old, n_new) == n_tail || MAX(n_old, n_new) > MAX_LINES) {
        *ret_changes = ARENA_NEW(a, struct diff_change);
        **ret_changes = (struct diff_change){.n_old = n_old - n_tail, .n_new = n_new - n_tail};
    } else {
        n_changes = compare_texts(a, old_text, n_old, new_text, n_new, ret_changes);
    }
    for (size_t i = 0; i < n_changes; i++) {
        (*ret_changes)[i].old_at += n_head;
        (*ret_changes)[i].new_at += n_head;
    }
    return n_changes;
}
