/* in_task.h - a test whose body runs in a task of its own loop, because what it tests may wait. */
#ifndef KEEL_TEST_UNIT_SYS_IN_TASK_H
#define KEEL_TEST_UNIT_SYS_IN_TASK_H

#include "sys/loop.h"
#include "sys/task.h"
#include "test.h"

#define IN_TASK(name)                                                                              \
    static void name##_body(void);                                                                 \
    static struct err *name##_task(void *arg)                                                      \
    {                                                                                              \
        name##_body();                                                                             \
        return NULL;                                                                               \
    }                                                                                              \
    TEST(name)                                                                                     \
    {                                                                                              \
        assert_ok(loop_run_once(name##_task, NULL));                                               \
    }                                                                                              \
    static void name##_body(void)

#endif
