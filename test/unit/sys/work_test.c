/* work_test.c - the pool of threads. It has one thread here, so that a second item must wait. */
#include "sys/work.h"

#include "sys/pool.h"
#include "sys/tasks.h"

#include <pthread.h>
#include <semaphore.h>

struct job {
    pthread_t thread;
    sem_t started, go_on;
    bool was_cancelled, ran;
    struct err *result;
    struct loop *loop; /* that a second passes on once the work runs, or NULL */
};

static void job_init(struct job *j)
{
    *j = (struct job){0};
    sem_init(&j->started, 0, 0);
    sem_init(&j->go_on, 0, 0);
}

static struct err *note_thread(void *arg)
{
    struct job *j = arg;

    j->ran = true;
    j->thread = pthread_self();
    j->was_cancelled = work_cancelled();
    return err_new(ERR_STORAGE, "the disk is full");
}

static struct err *run_elsewhere(void *arg)
{
    struct job *j = arg;

    EXPECT_TEXT(work_run(note_thread, j), "the disk is full");
    return NULL;
}

TEST(work_runs_in_another_thread_and_its_error_comes_back)
{
    struct job j = {0};

    assert_ok(run_tasks(run_elsewhere, &j));
    assert_true(j.ran);
    assert_false(j.was_cancelled);
    assert_false(pthread_equal(j.thread, pthread_self()));
    assert_false(work_cancelled());
}

/* --- the loop goes on meanwhile --- */

static struct err *block(void *arg)
{
    struct job *j = arg;

    sem_post(&j->started);
    sem_wait(&j->go_on);
    j->was_cancelled = work_cancelled();
    return NULL;
}

static struct err *run_block(void *arg)
{
    struct job *j = arg;

    j->result = work_run(block, j);
    return NULL;
}

static struct err *unblock(void *arg)
{
    struct job *j = arg;

    sem_post(&j->go_on);
    return NULL;
}

static struct err *block_and_unblock(void *arg)
{
    struct job j;
    struct group g;

    job_init(&j);
    group_begin(&g, 0, 0);
    group_spawn(&g, "blocked", run_block, &j);
    group_spawn(&g, "other", unblock, &j);
    TRY(group_end(&g));
    EXPECT(!j.was_cancelled);
    return j.result;
}

TEST(other_tasks_run_while_one_waits_for_its_work)
{
    assert_ok(run_tasks(block_and_unblock, NULL));
}

/* --- interruption --- */

static struct err *wait_for_cancel(void *arg)
{
    struct job *j = arg;

    sem_post(&j->started);
    if (j->loop)
        loop_post(j->loop, let_a_second_pass, j->loop);
    while (!work_cancelled())
        usleep(100);
    j->was_cancelled = true;
    return NULL;
}

static struct err *run_wait_for_cancel(void *arg)
{
    struct job *j = arg;

    TRY(work_run(wait_for_cancel, j)); /* fine: it has done what it was told */
    j->result = task_yield();
    return NULL;
}

static struct err *cancel_running_work(void *arg)
{
    struct job j;
    struct group g;
    struct err *e;

    job_init(&j);
    group_begin(&g, 0, 0);
    group_spawn(&g, "worker", run_wait_for_cancel, &j);
    e = task_yield();
    sem_wait(&j.started);
    group_cancel(&g);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(j.was_cancelled);
    EXPECT_ERR(j.result, ERR_CANCELLED);
    return NULL;
}

TEST(work_that_runs_is_told_of_cancel_and_waited_for)
{
    assert_ok(run_tasks(cancel_running_work, NULL));
}

static struct err *time_out_running_work(void *arg)
{
    AUTO(deadline) struct deadline d;
    struct job j;

    job_init(&j);
    j.loop = task_loop();
    deadline_begin(&d, 1000, "the work");
    TRY(work_run(wait_for_cancel, &j));
    EXPECT(j.was_cancelled);
    EXPECT_TEXT(task_yield(), "the work took longer than 1 s");
    return NULL;
}

TEST(work_that_runs_is_told_of_a_deadline)
{
    assert_ok(run_tasks(time_out_running_work, NULL));
}

static struct err *shield_the_work(void *arg)
{
    struct job *j = arg;

    task_shield_begin();
    j->result = work_run(block, j);
    task_shield_end();
    return NULL;
}

static struct err *cancel_shielded_work(void *arg)
{
    struct job j;
    struct group g;
    struct err *e;

    job_init(&j);
    group_begin(&g, 0, 0);
    group_spawn(&g, "shielded", shield_the_work, &j);
    e = task_yield();
    group_cancel(&g);
    sem_post(&j.go_on);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT(!j.was_cancelled && !j.result);
    return NULL;
}

TEST(shielded_work_is_not_told_of_cancel)
{
    assert_ok(run_tasks(cancel_shielded_work, NULL));
}

static struct err *run_second(void *arg)
{
    struct job *j = arg;

    j->result = work_run(note_thread, j);
    return NULL;
}

static struct err *cancel_queued_work(void *arg)
{
    struct job first, second;
    struct group kept, cancelled;
    struct err *e;

    job_init(&first);
    job_init(&second);
    group_begin(&kept, 0, 0);
    group_spawn(&kept, "first", run_block, &first);
    group_begin(&cancelled, 0, 0);
    group_spawn(&cancelled, "second", run_second, &second);
    e = task_yield();
    sem_wait(&first.started);
    group_cancel(&cancelled);
    if (!e)
        e = group_end(&cancelled); /* while the only thread is still taken */
    sem_post(&first.go_on);
    if (!e)
        e = group_end(&kept);
    TRY(e);
    EXPECT_ERR(second.result, ERR_CANCELLED);
    EXPECT(!second.ran);
    return first.result;
}

TEST(work_that_no_thread_has_taken_up_yet_is_dropped_when_cancelled)
{
    assert_ok(run_tasks(cancel_queued_work, NULL));
}

static struct err *time_out_queued_work(void *arg)
{
    struct job first, second;
    struct deadline d;
    struct group g;
    struct err *e;

    job_init(&first);
    job_init(&second);
    group_begin(&g, 0, 0);
    group_spawn(&g, "first", run_block, &first);
    e = task_yield();
    sem_wait(&first.started);
    deadline_begin(&d, 1000, "the look-up");
    loop_post(task_loop(), let_a_second_pass, task_loop());
    second.result = work_run(note_thread, &second);
    deadline_end(&d);
    sem_post(&first.go_on);
    if (!e)
        e = group_end(&g);
    TRY(e);
    EXPECT_TEXT(second.result, "the look-up took longer than 1 s");
    EXPECT(!second.ran);
    return first.result;
}

TEST(work_that_no_thread_has_taken_up_in_time_is_dropped)
{
    assert_ok(run_tasks(time_out_queued_work, NULL));
}

/* --- without a task --- */

static void block_beside(void *arg)
{
    struct job *j = arg;

    err_free(block(j));
    j->thread = pthread_self();
    j->ran = true;
}

TEST(work_beside_a_caller_without_a_loop_is_waited_for_at_its_end)
{
    struct work_beside *w;
    struct job j;

    job_init(&j);
    w = work_beside_begin(block_beside, &j);
    assert_non_null(w);
    sem_wait(&j.started); /* it runs, and this thread too */
    assert_false(j.ran);
    sem_post(&j.go_on);
    work_beside_end(w);
    assert_true(j.ran);
    assert_false(pthread_equal(j.thread, pthread_self()));
    work_beside_end(NULL);
}

/* --- ahead of whoever needs it --- */

TEST(work_that_is_begun_ahead_runs_in_a_worker_and_its_error_comes_back)
{
    struct job j;
    struct work_ahead *w;

    job_init(&j);
    w = work_ahead_begin(block, &j);
    sem_wait(&j.started); /* it runs, and this thread too */
    sem_post(&j.go_on);
    assert_ok(work_ahead_end(w));
    w = work_ahead_begin(note_thread, &j);
    assert_err(work_ahead_end(w), ERR_STORAGE);
    assert_ok(work_ahead_end(NULL));
}

TEST(work_ahead_that_no_worker_has_taken_up_runs_where_it_is_needed)
{
    struct job first, second;
    struct work_ahead *w, *x;

    job_init(&first);
    job_init(&second);
    w = work_ahead_begin(block, &first); /* the only worker there is */
    sem_wait(&first.started);
    x = work_ahead_begin(note_thread, &second);
    assert_err(work_ahead_end(x), ERR_STORAGE);
    assert_true(pthread_equal(second.thread, pthread_self()));
    sem_post(&first.go_on);
    assert_ok(work_ahead_end(w));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT(work_runs_in_another_thread_and_its_error_comes_back),
        UNIT(other_tasks_run_while_one_waits_for_its_work),
        UNIT(work_that_runs_is_told_of_cancel_and_waited_for),
        UNIT(work_that_runs_is_told_of_a_deadline),
        UNIT(shielded_work_is_not_told_of_cancel),
        UNIT(work_that_no_thread_has_taken_up_yet_is_dropped_when_cancelled),
        UNIT(work_that_no_thread_has_taken_up_in_time_is_dropped),
        UNIT(work_beside_a_caller_without_a_loop_is_waited_for_at_its_end),
        UNIT(work_that_is_begun_ahead_runs_in_a_worker_and_its_error_comes_back),
        UNIT(work_ahead_that_no_worker_has_taken_up_runs_where_it_is_needed),
    };

    pool_set_max(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
