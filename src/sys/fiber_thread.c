/* fiber_thread.c - fibers by threads: each fiber has one, and only the one that has the turn runs.
 *
 * Slow. It is for gdb and ThreadSanitizer, which see plain threads and plain stacks. */
#include "sys/fiber.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { STACK_BYTES = 1 << 20 };

enum fiber_turn { TURN_CALLER, TURN_FIBER };

struct fiber {
    struct fiber_pool *pool;
    void (*fn)(void *arg);
    void *arg;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    enum fiber_turn turn;
    bool started, ended;
};

struct fiber_pool {
    unsigned n_live;
};

struct fiber_pool *fiber_pool_new(void)
{
    return mem_alloc(sizeof(struct fiber_pool));
}

void fiber_pool_free(struct fiber_pool *p)
{
    BUG_IF(p && p->n_live);
    mem_free(p);
}

struct fiber *fiber_new(struct fiber_pool *p, void (*fn)(void *arg), void *arg)
{
    struct fiber *f = mem_alloc(sizeof *f);

    f->pool = p;
    f->fn = fn;
    f->arg = arg;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->turned, NULL);
    p->n_live++;
    return f;
}

void fiber_free(struct fiber *f)
{
    if (!f)
        return;
    BUG_IF(f->started && !f->ended);
    if (f->started)
        pthread_join(f->thread, NULL);
    pthread_cond_destroy(&f->turned);
    pthread_mutex_destroy(&f->lock);
    f->pool->n_live--;
    mem_free(f);
}

/* Passes the turn on under the lock and waits until it comes back. */
static void hand_over(struct fiber *f, enum fiber_turn other, enum fiber_turn own)
{
    f->turn = other;
    pthread_cond_broadcast(&f->turned);
    while (f->turn != own)
        pthread_cond_wait(&f->turned, &f->lock);
}

static void *fiber_thread_run(void *arg)
{
    struct fiber *f = arg;

    pthread_mutex_lock(&f->lock); /* the caller releases it when it waits */
    f->fn(f->arg);
    f->ended = true;
    f->turn = TURN_CALLER;
    pthread_cond_broadcast(&f->turned);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

static void start(struct fiber *f)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    if (pthread_create(&f->thread, &attr, fiber_thread_run, f) != 0) {
        fprintf(stderr, "keel: no thread for another task (%u are alive)\n", f->pool->n_live);
        abort();
    }
    pthread_attr_destroy(&attr);
    f->started = true;
}

bool fiber_enter(struct fiber *f)
{
    BUG_IF(f->ended);
    pthread_mutex_lock(&f->lock);
    if (!f->started)
        start(f);
    hand_over(f, TURN_FIBER, TURN_CALLER);
    pthread_mutex_unlock(&f->lock);
    return !f->ended;
}

void fiber_leave(struct fiber *f)
{
    hand_over(f, TURN_CALLER, TURN_FIBER);
}
