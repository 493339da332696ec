/* pool.c - a queue of jobs, and a stack of idle threads. */
#include "sys/pool.h"

#include <pthread.h>

struct pool_thread {
    pthread_t id;
    pthread_cond_t wake;
    struct pool_job *job;          /* running, or given while the thread was idle */
    struct pool_thread *next_free; /* that became idle before it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of everything below */
static struct pool_thread threads[POOL_MAX_THREADS];
static struct pool_thread *last_free;
static struct pool_job *first_job, *last_job; /* without a thread so far */
static unsigned n_threads, n_freezes, max_threads = POOL_MAX_THREADS;
static bool is_ending;

/* --- in a thread --- */

static struct pool_job *take_first(void)
{
    struct pool_job *j = first_job;

    if (!j)
        return NULL;
    first_job = j->next;
    if (!first_job)
        last_job = NULL;
    return j;
}

/* Leaves it NULL when the process ends. */
static void find_job(struct pool_thread *t)
{
    t->job = take_first();
    if (t->job)
        return;
    t->next_free = last_free;
    last_free = t;
    while (!t->job && !is_ending)
        pthread_cond_wait(&t->wake, &lock);
}

static void *pool_thread_run(void *arg)
{
    struct pool_thread *t = arg;

    pthread_mutex_lock(&lock);
    if (!t->job)
        find_job(t);
    while (t->job) {
        pthread_mutex_unlock(&lock);
        t->job->run(t->job);
        pthread_mutex_lock(&lock);
        find_job(t);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* --- threads --- */

/* A child of fork() has none of them. */
static void forget_threads(void)
{
    pthread_mutex_init(&lock, NULL);
    last_free = NULL;
    first_job = last_job = NULL;
    n_threads = n_freezes = 0;
}

static void heed_fork(void)
{
    pthread_atfork(NULL, NULL, forget_threads);
}

/* With a job, or NULL. */
static bool start_thread(struct pool_job *j)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct pool_thread *t = &threads[n_threads];

    pthread_once(&once, heed_fork);
    *t = (struct pool_thread){.job = j};
    pthread_cond_init(&t->wake, NULL);
    if (pthread_create(&t->id, NULL, pool_thread_run, t) != 0)
        return false;
    n_threads++;
    return true;
}

/* The library may be unloaded, and its code with it. */
__attribute__((destructor)) static void end_threads(void)
{
    pthread_mutex_lock(&lock);
    is_ending = true;
    for (struct pool_thread *t = last_free; t; t = t->next_free)
        pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&lock);
    for (unsigned i = 0; i < n_threads; i++)
        if (!pthread_equal(threads[i].id, pthread_self()))
            pthread_join(threads[i].id, NULL);
}

/* --- jobs --- */

static bool give_to_free(struct pool_job *j)
{
    struct pool_thread *t = last_free;

    if (!t)
        return false;
    last_free = t->next_free;
    t->job = j;
    pthread_cond_signal(&t->wake);
    return true;
}

static bool give_to_new(struct pool_job *j)
{
    if (n_threads == max_threads || n_freezes)
        return false;
    if (start_thread(j))
        return true;
    if (n_threads == 0)
        BUG("the system refuses the first thread");
    return false; /* the existing threads do it later */
}

void pool_add(struct pool_job *j)
{
    j->next = NULL;
    pthread_mutex_lock(&lock);
    if (!give_to_free(j) && !give_to_new(j)) {
        if (last_job)
            last_job->next = j;
        else
            first_job = j;
        last_job = j;
    }
    pthread_mutex_unlock(&lock);
}

bool pool_take_back(struct pool_job *j)
{
    struct pool_job *before = NULL, *at;

    pthread_mutex_lock(&lock);
    for (at = first_job; at && at != j; at = at->next)
        before = at;
    if (at && before)
        before->next = j->next;
    else if (at)
        first_job = j->next;
    if (at && last_job == j)
        last_job = before;
    pthread_mutex_unlock(&lock);
    return at != NULL;
}

void pool_freeze(unsigned n)
{
    pthread_mutex_lock(&lock);
    while (n_threads < MIN(n, max_threads) && !n_freezes && start_thread(NULL))
        ;
    n_freezes += n_threads > 0; /* without threads, the first job still starts one */
    pthread_mutex_unlock(&lock);
}

void pool_thaw(void)
{
    pthread_mutex_lock(&lock);
    n_freezes -= n_freezes > 0;
    pthread_mutex_unlock(&lock);
}

void pool_set_max(unsigned n)
{
    max_threads = MIN(n, POOL_MAX_THREADS);
}
