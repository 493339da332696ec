/* tasks.h - what the tests of tasks share.
 *
 * A task has a stack of its own, where cmocka's asserts must not be used: they jump to the test's.
 * So tasks return errors, with EXPECT, and the test asserts that its loop's result is fine. */
#ifndef KEEL_TEST_UNIT_SYS_TASKS_H
#define KEEL_TEST_UNIT_SYS_TASKS_H

#include "sys/loop.h"
#include "test.h"

/* Threads are dear: fewer of them stand for the same thing. */
#ifdef KEEL_TASK_THREADS
enum { N_MANY = 2000 };
#else
enum { N_MANY = 10000 };
#endif

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return err_new(ERR_INTERNAL, "%s:%d: not so: %s", __FILE__, __LINE__, #condition);     \
    } while (0)

/* Frees the error. */
#define EXPECT_ERR(e, wanted)                                                                      \
    do {                                                                                           \
        AUTO(err) struct err *got_ = (e);                                                          \
        if (!err_is(got_, wanted))                                                                 \
            return err_new(ERR_INTERNAL, "%s:%d: wanted %s, got %s", __FILE__, __LINE__,           \
                           err_code(wanted), got_ ? got_->text : "no error");                      \
    } while (0)

#define EXPECT_TEXT(e, wanted)                                                                     \
    do {                                                                                           \
        AUTO(err) struct err *got_ = (e);                                                          \
        if (!got_ || strcmp(got_->text, wanted) != 0)                                              \
            return err_new(ERR_INTERNAL, "%s:%d: wanted \"%s\", got \"%s\"", __FILE__, __LINE__,   \
                           wanted, got_ ? got_->text : "no error");                                \
    } while (0)

/* On a virtual clock that starts at 0. */
static inline struct err *run_tasks(task_fn fn, void *arg)
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 0);
    l = loop_new(&clock.clock);
    return loop_run(l, fn, arg);
}

static inline uint64_t now_ms(void)
{
    return loop_now_ms(task_loop());
}

#endif
