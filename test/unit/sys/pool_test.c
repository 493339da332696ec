/* pool_test.c - when threads are started, and who gets a job. */
#include "sys/pool.h"

#include "test.h"

#include <pthread.h>
#include <semaphore.h>

struct note {
    struct pool_job job; /* first */
    pthread_t thread;
    sem_t begun, may_end, ended;
    bool blocks;
};

static void note_run(struct pool_job *j)
{
    struct note *n = (struct note *)j;

    n->thread = pthread_self();
    sem_post(&n->begun);
    if (n->blocks)
        sem_wait(&n->may_end);
    sem_post(&n->ended);
}

static void note_add(struct note *n, bool blocks)
{
    *n = (struct note){.job.run = note_run, .blocks = blocks};
    sem_init(&n->begun, 0, 0);
    sem_init(&n->may_end, 0, 0);
    sem_init(&n->ended, 0, 0);
    pool_add(&n->job);
}

static bool has_begun(struct note *n)
{
    return sem_trywait(&n->begun) == 0;
}

static void let_end(struct note *n)
{
    sem_post(&n->may_end);
    sem_wait(&n->ended);
}

TEST(while_a_library_is_loaded_jobs_wait_for_the_threads_that_there_are)
{
    struct note first, second, third;

    pool_freeze(2);
    note_add(&first, true);
    note_add(&second, true);
    sem_wait(&first.begun);
    sem_wait(&second.begun);
    note_add(&third, true);
    assert_true(pool_take_back(&third.job)); /* no thread was started for it */
    pool_thaw();
    note_add(&third, true);
    sem_wait(&third.begun);
    assert_false(pool_take_back(&third.job));
    let_end(&third);
    let_end(&second);
    let_end(&first);
}

TEST(no_more_threads_are_started_than_allowed_and_the_rest_waits_in_order)
{
    struct note running[POOL_MAX_THREADS], waiting[3];

    for (size_t i = 0; i < ARRAY_LEN(running); i++)
        note_add(&running[i], true);
    for (size_t i = 0; i < ARRAY_LEN(running); i++)
        sem_wait(&running[i].begun);
    for (size_t i = 0; i < ARRAY_LEN(waiting); i++)
        note_add(&waiting[i], true);
    assert_true(pool_take_back(&waiting[1].job));
    assert_false(pool_take_back(&waiting[1].job));
    let_end(&running[0]);
    sem_wait(&waiting[0].begun);
    assert_false(has_begun(&waiting[2]));
    let_end(&waiting[0]);
    sem_wait(&waiting[2].begun);
    assert_false(has_begun(&waiting[1]));
    let_end(&waiting[2]);
    for (size_t i = 1; i < ARRAY_LEN(running); i++)
        let_end(&running[i]);
}

RUN_TESTS(UNIT(while_a_library_is_loaded_jobs_wait_for_the_threads_that_there_are),
          UNIT(no_more_threads_are_started_than_allowed_and_the_rest_waits_in_order))
