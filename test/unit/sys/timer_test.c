/* timer_test.c - the heap of timers against a plain sorted order. */
#include "sys/timer.h"

#include "sys/random.h"
#include "test.h"

enum { N_TIMERS = 500 };

struct alarm {
    struct timer timer;
    struct record *record;
};

struct record {
    struct timer_heap heap;
    struct alarm alarms[N_TIMERS];
    unsigned order[N_TIMERS], n_fired;
};

static void on_fire(void *arg)
{
    struct alarm *a = arg;

    a->record->order[a->record->n_fired++] = (unsigned)(a - a->record->alarms);
}

TEST(timers_fire_by_time_and_then_in_the_order_in_which_they_were_added)
{
    struct record r = {0};
    struct seeded_random random;
    unsigned n_removed = 0;

    seeded_random_init(&random, 7);
    for (unsigned i = 0; i < N_TIMERS; i++) {
        r.alarms[i].record = &r;
        timer_add(&r.heap, &r.alarms[i].timer, random_below(&random.random, 100), on_fire,
                  &r.alarms[i]);
    }
    for (unsigned i = 0; i < N_TIMERS; i += 3, n_removed++) {
        timer_remove(&r.heap, &r.alarms[i].timer);
        timer_remove(&r.heap, &r.alarms[i].timer);
    }
    timer_fire_due(&r.heap, 49);
    assert_true(timer_find_next(&r.heap)->at_ms >= 50);
    timer_fire_due(&r.heap, 99);
    assert_null(timer_find_next(&r.heap));
    assert_int_equal(r.n_fired, N_TIMERS - n_removed);
    for (unsigned i = 0; i < r.n_fired; i++) {
        const struct timer *now = &r.alarms[r.order[i]].timer;
        const struct timer *before = i ? &r.alarms[r.order[i - 1]].timer : NULL;

        assert_int_not_equal(r.order[i] % 3, 0);
        assert_true(!before || before->at_ms < now->at_ms ||
                    (before->at_ms == now->at_ms && r.order[i - 1] < r.order[i]));
    }
    timer_heap_done(&r.heap);
}

struct again {
    struct timer timer;
    struct timer_heap *heap;
    unsigned n_fired;
};

static void add_again(void *arg)
{
    struct again *a = arg;

    a->n_fired++;
    timer_add(a->heap, &a->timer, 0, add_again, a);
}

TEST(a_timer_that_adds_itself_again_waits_for_the_next_time)
{
    struct timer_heap heap = {0};
    struct again a = {.heap = &heap};

    timer_add(&heap, &a.timer, 0, add_again, &a);
    timer_fire_due(&heap, 0);
    assert_int_equal(a.n_fired, 1);
    timer_fire_due(&heap, 0);
    assert_int_equal(a.n_fired, 2);
    timer_remove(&heap, &a.timer);
    timer_heap_done(&heap);
}

RUN_TESTS(UNIT(timers_fire_by_time_and_then_in_the_order_in_which_they_were_added),
          UNIT(a_timer_that_adds_itself_again_waits_for_the_next_time))
