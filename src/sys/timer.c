/* timer.c - a binary heap of timers. */
#include "sys/timer.h"

void timer_heap_done(struct timer_heap *h)
{
    BUG_IF(h->n);
    mem_free(h->timers);
    *h = (struct timer_heap){0};
}

static bool is_before(const struct timer *a, const struct timer *b)
{
    return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->sequence < b->sequence;
}

static struct timer *at(const struct timer_heap *h, size_t position)
{
    return h->timers[position - 1];
}

static void place(struct timer_heap *h, struct timer *t, size_t position)
{
    h->timers[position - 1] = t;
    t->position = position;
}

static void sift_up(struct timer_heap *h, struct timer *t, size_t position)
{
    while (position > 1 && is_before(t, at(h, position / 2))) {
        place(h, at(h, position / 2), position);
        position /= 2;
    }
    place(h, t, position);
}

static void sift_down(struct timer_heap *h, struct timer *t, size_t position)
{
    for (;;) {
        size_t child = position * 2;

        if (child < h->n && is_before(at(h, child + 1), at(h, child)))
            child++;
        if (child > h->n || !is_before(at(h, child), t))
            break;
        place(h, at(h, child), position);
        position = child;
    }
    place(h, t, position);
}

void timer_add(struct timer_heap *h, struct timer *t, uint64_t at_ms, void (*fn)(void *arg),
               void *arg)
{
    BUG_IF(t->position);
    h->timers = mem_grow(h->timers, h->n, &h->room, sizeof *h->timers);
    *t = (struct timer){.at_ms = at_ms, .sequence = h->next_sequence++, .fn = fn, .arg = arg};
    h->n++;
    sift_up(h, t, h->n);
}

void timer_remove(struct timer_heap *h, struct timer *t)
{
    size_t position = t->position;
    struct timer *last;

    if (position == 0)
        return;
    t->position = 0;
    last = at(h, h->n);
    h->n--;
    if (last == t)
        return;
    if (position > 1 && is_before(last, at(h, position / 2)))
        sift_up(h, last, position);
    else
        sift_down(h, last, position);
}

struct timer *timer_find_next(const struct timer_heap *h)
{
    return h->n ? at(h, 1) : NULL;
}

void timer_fire_due(struct timer_heap *h, uint64_t now_ms)
{
    uint64_t end =
        h->next_sequence; /* a timer that adds itself again must not keep the loop here */
    struct timer *t;

    while ((t = timer_find_next(h)) && t->at_ms <= now_ms && t->sequence < end) {
        timer_remove(h, t);
        t->fn(t->arg);
    }
}
