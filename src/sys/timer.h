/* timer.h - timers in the order in which they are due: a heap over the loop's clock.
 *
 * A timer lives in its owner's memory and must be removed before that ends. Zeroed is idle. Timers
 * that are due at the same time fire in the order in which they were added. */
#ifndef KEEL_SYS_TIMER_H
#define KEEL_SYS_TIMER_H

#include "base/mem.h"

struct timer {
    uint64_t at_ms, sequence;
    size_t position; /* in the heap, from 1; 0: idle */
    void (*fn)(void *arg);
    void *arg;
};

struct timer_heap {
    struct timer **timers; /* timers[0] is number 1 */
    size_t n, room;
    uint64_t next_sequence;
};

void timer_heap_done(struct timer_heap *h); /* it must be empty */

void timer_add(struct timer_heap *h, struct timer *t, uint64_t at_ms, void (*fn)(void *arg),
               void *arg);
void timer_remove(struct timer_heap *h, struct timer *t);  /* idle ones too */
struct timer *timer_find_next(const struct timer_heap *h); /* NULL when there is none */

/* Fires the due timers. A timer that one of them adds waits for the next call. */
void timer_fire_due(struct timer_heap *h, uint64_t now_ms);

#endif
