/* diff_myers.c - the shortest way from one list to another, in linear space.
 *
 * E. Myers, "An O(ND) difference algorithm and its variations", 1986: think of a grid with the old
 * list along x and the new one along y. A step to the right removes, a step down adds, and where
 * both lists have the same item a diagonal step is free. Two searches, from the start and from the
 * end, grow by one edit in turn until they meet; that point splits the problem in two. */
#include "base/diff_script.h"

#include <stdlib.h>

/* How many edits each search may make, so that edits x items stays below a bound. Within it the
 * result is the shortest; beyond it the searches stop where they got farthest. */
#define MAX_WORK ((size_t)1 << 26)
#define LEAST_EDITS 256
#define MOST_EDITS 4096

/* A rectangle of the grid that is still to be solved. */
struct box {
    int32_t left, right; /* of the old list */
    int32_t top, bottom; /* of the new list */
};

struct point {
    int32_t x, y;
};

/* How far a search got: on diagonal k = x - y it is at far[k]. Only every second diagonal from low
 * to high belongs to the current number of edits. */
struct frontier {
    int32_t *far;
    int32_t low, high;
};

struct myers_search {
    const struct diff_list *old_list, *new_list;
    int32_t *forward, *backward; /* one number for every diagonal, and room at both ends */
    int32_t max_edits;
};

static bool same(const struct myers_search *s, int32_t x, int32_t y)
{
    return s->old_list->ids[x] == s->new_list->ids[y];
}

/* One more edit reaches one more diagonal at each end, within the box. Beyond it is `nothing`, a
 * place that is worse than all others. */
static void widen(struct frontier *f, const struct box *b, int32_t nothing)
{
    if (f->low > b->left - b->bottom)
        f->far[--f->low - 1] = nothing;
    else
        f->low++;
    if (f->high < b->right - b->top)
        f->far[++f->high + 1] = nothing;
    else
        f->high--;
}

static bool is_on(const struct frontier *f, int32_t k)
{
    return k >= f->low && k <= f->high;
}

static bool step_forward(const struct myers_search *s, const struct box *b, struct frontier *f,
                         const struct frontier *other, bool may_meet, struct point *ret_meeting)
{
    widen(f, b, -1);
    for (int32_t k = f->high; k >= f->low; k -= 2) {
        int32_t x = MAX(f->far[k - 1] + 1, f->far[k + 1]), y = x - k;

        while (x < b->right && y < b->bottom && same(s, x, y))
            x++, y++;
        f->far[k] = x;
        if (may_meet && is_on(other, k) && other->far[k] <= x) {
            *ret_meeting = (struct point){x, y};
            return true;
        }
    }
    return false;
}

static bool step_backward(const struct myers_search *s, const struct box *b, struct frontier *f,
                          const struct frontier *other, bool may_meet, struct point *ret_meeting)
{
    widen(f, b, INT32_MAX);
    for (int32_t k = f->high; k >= f->low; k -= 2) {
        int32_t x = MIN(f->far[k - 1], f->far[k + 1] - 1), y = x - k;

        while (x > b->left && y > b->top && same(s, x - 1, y - 1))
            x--, y--;
        f->far[k] = x;
        if (may_meet && is_on(other, k) && other->far[k] >= x) {
            *ret_meeting = (struct point){x, y};
            return true;
        }
    }
    return false;
}

static bool is_in(const struct box *b, struct point p)
{
    return p.x >= b->left && p.x <= b->right && p.y >= b->top && p.y <= b->bottom;
}

static int32_t distance(struct point p, struct point q)
{
    return abs(p.x - q.x) + abs(p.y - q.y);
}

/* The farthest point of the search from `start`. */
static struct point farthest(const struct box *b, const struct frontier *f, struct point start)
{
    struct point best = start;

    for (int32_t k = f->low; k <= f->high; k += 2) {
        struct point p = {f->far[k], f->far[k] - k};

        if (is_in(b, p) && distance(p, start) > distance(best, start))
            best = p;
    }
    return best;
}

/* A point inside the box, not at its start or end, that a shortest way leads through. When the
 * search gives up: one that a good way leads through. */
static struct point split(const struct myers_search *s, const struct box *b)
{
    struct point start = {b->left, b->top}, end = {b->right, b->bottom}, meeting, p, q;
    int32_t first = start.x - start.y, last = end.x - end.y;
    struct frontier forward = {s->forward, first, first}, backward = {s->backward, last, last};
    bool is_odd = (first - last) % 2; /* so is the number of edits, and forward meets backward */

    forward.far[first] = start.x;
    backward.far[last] = end.x;
    for (int32_t i = 0; i < s->max_edits; i++) {
        if (step_forward(s, b, &forward, &backward, is_odd, &meeting) ||
            step_backward(s, b, &backward, &forward, !is_odd, &meeting)) {
            BUG_IF(!is_in(b, meeting));
            return meeting;
        }
    }
    p = farthest(b, &forward, start);
    q = farthest(b, &backward, end);
    return distance(p, start) >= distance(q, end) ? p : q;
}

static void skip_same(const struct myers_search *s, struct box *b)
{
    while (b->left < b->right && b->top < b->bottom && same(s, b->left, b->top))
        b->left++, b->top++;
    while (b->left < b->right && b->top < b->bottom && same(s, b->right - 1, b->bottom - 1))
        b->right--, b->bottom--;
}

static void mark(const struct diff_list *list, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        list->changed[list->at[i]] = true;
}

static int32_t size_of(const struct box *b)
{
    return b->right - b->left + b->bottom - b->top;
}

/* Recursion takes the smaller part, so it goes no deeper than the logarithm of the size. */
static void solve(const struct myers_search *s, struct box b)
{
    for (;;) {
        struct box before, after;
        struct point p;

        skip_same(s, &b);
        if (b.left == b.right || b.top == b.bottom)
            break;
        p = split(s, &b);
        before = (struct box){b.left, p.x, b.top, p.y};
        after = (struct box){p.x, b.right, p.y, b.bottom};
        if (size_of(&before) < size_of(&after)) {
            solve(s, before);
            b = after;
        } else {
            solve(s, after);
            b = before;
        }
    }
    mark(s->old_list, b.left, b.right);
    mark(s->new_list, b.top, b.bottom);
}

void diff_compare(struct arena *a, const struct diff_list *old_list,
                  const struct diff_list *new_list)
{
    size_t n = old_list->n + new_list->n, max_edits = n ? MAX_WORK / n : 0;
    struct myers_search s = {.old_list = old_list, .new_list = new_list};

    BUG_IF(n > INT32_MAX - 3);
    s.max_edits = (int32_t)MAX(MIN(max_edits, (size_t)MOST_EDITS), (size_t)LEAST_EDITS);
    s.forward = ARENA_ARRAY(a, n + 3, int32_t) + new_list->n + 1;
    s.backward = ARENA_ARRAY(a, n + 3, int32_t) + new_list->n + 1;
    solve(&s, (struct box){0, (int32_t)old_list->n, 0, (int32_t)new_list->n});
}
