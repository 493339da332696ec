/* name_cache.c - looks up names in workers; a task can stop waiting. */
#include "net/name_cache.h"

#include "sys/loop.h"
#include "sys/pool.h"

#include <pthread.h>

#define BELIEVED_MS 60000
#define MAX_NAMES 64
#define MAX_RUNNING 2 /* of POOL_MAX_THREADS */

/* A task that waits for a name. */
struct name_wait {
    struct name_wait *next;
    struct waker waker;
    bool has_come;
    struct lookup *result;
};

struct name_entry {
    struct name_entry *next;
    char *host;
    struct name_job *job;    /* that looks it up, or NULL */
    struct name_wait *waits; /* while it is unknown */
    bool is_known;
    uint64_t end_ms;
    struct lookup found;
};

struct name_cache {
    struct loop *loop;
    struct name_entry *entries; /* newest first */
    unsigned n_running;
};

/* --- in a worker --- */

/* Belongs to the worker until it is posted, then to the loop. */
struct name_job {
    struct pool_job job; /* first */
    struct lookup lookup;
    char *host;
    struct name_cache *cache; /* NULL: abandoned */
    struct name_entry *entry;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of `cache` in all jobs */

static void name_job_free(struct name_job *j)
{
    mem_free(j->host);
    mem_free(j);
}

static void name_job_ended(void *arg);

static void name_job_run(struct pool_job *job)
{
    struct name_job *j = (struct name_job *)job;
    bool is_wanted;

    lookup_block(&j->lookup);
    pthread_mutex_lock(&lock);
    is_wanted = j->cache != NULL;
    if (is_wanted)
        loop_post(j->cache->loop, name_job_ended, j);
    pthread_mutex_unlock(&lock);
    if (!is_wanted)
        name_job_free(j);
}

/* The worker frees it, or the post if it is already on its way. */
static void name_job_abandon(struct name_job *j)
{
    if (pool_take_back(&j->job)) {
        name_job_free(j);
        return;
    }
    pthread_mutex_lock(&lock);
    j->cache = NULL;
    pthread_mutex_unlock(&lock);
}

/* --- on the loop --- */

static void start_waiting(struct name_cache *c)
{
    for (struct name_entry *e = c->entries; e && c->n_running < MAX_RUNNING; e = e->next)
        if (!e->is_known && !e->job && e->waits) {
            struct name_job *j = mem_alloc(sizeof *j);

            j->job.run = name_job_run;
            j->host = mem_strdup(e->host);
            j->lookup.host = j->host;
            j->cache = c;
            j->entry = e;
            e->job = j;
            c->n_running++;
            pool_add(&j->job);
        }
}

static void remove_entry(struct name_cache *c, struct name_entry *entry)
{
    struct name_entry **link = &c->entries;

    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    if (entry->job)
        name_job_abandon(entry->job);
    mem_free(entry->host);
    mem_free(entry);
}

static void copy_answer(const struct name_entry *entry, struct lookup *ret)
{
    const char *host = ret->host;

    *ret = entry->found;
    ret->host = host;
}

static void name_job_ended(void *arg)
{
    struct name_job *j = arg;
    struct name_cache *c = j->cache;
    struct name_entry *entry = j->entry;

    if (c) {
        c->n_running--;
        entry->job = NULL;
        entry->found = j->lookup;
        entry->is_known = true;
        entry->end_ms = loop_now_ms(c->loop) + BELIEVED_MS;
        for (struct name_wait *w = entry->waits; w; w = w->next) {
            copy_answer(entry, w->result);
            w->has_come = true;
            waker_wake(&w->waker);
        }
        entry->waits = NULL;
        if (entry->found.n == 0)
            remove_entry(c, entry);
        start_waiting(c);
    }
    name_job_free(j);
}

/* --- asking --- */

static struct name_entry *find_entry(const struct name_cache *c, const char *host)
{
    struct name_entry *e = c->entries;

    while (e && strcmp(e->host, host) != 0)
        e = e->next;
    return e;
}

static struct name_entry *add_entry(struct name_cache *c, const char *host)
{
    struct name_entry *e = mem_alloc(sizeof *e), *oldest_idle = NULL;
    size_t n = 0;

    for (struct name_entry *old = c->entries; old; old = old->next, n++)
        if (!old->waits && !old->job)
            oldest_idle = old;
    if (n >= MAX_NAMES && oldest_idle)
        remove_entry(c, oldest_idle);
    e->host = mem_strdup(host);
    e->next = c->entries;
    c->entries = e;
    return e;
}

static struct err *wait_for(struct name_cache *c, struct name_entry *entry, struct lookup *ret)
{
    struct name_wait wait = {.next = entry->waits, .result = ret};
    struct err *e;

    waker_init(&wait.waker);
    entry->waits = &wait;
    start_waiting(c);
    loop_external_begin(c->loop);
    e = waker_park(&wait.waker);
    loop_external_end(c->loop);
    if (!wait.has_come) {
        struct name_wait **link = &entry->waits;

        while (*link != &wait)
            link = &(*link)->next;
        *link = wait.next;
    }
    return e;
}

struct err *name_cache_find(struct name_cache *c, const char *host, struct lookup *ret)
{
    struct name_entry *entry = find_entry(c, host);

    *ret = (struct lookup){.host = host};
    if (entry && entry->is_known && loop_now_ms(c->loop) >= entry->end_ms) {
        remove_entry(c, entry);
        entry = NULL;
    }
    if (entry && entry->is_known) {
        copy_answer(entry, ret);
        return NULL;
    }
    return wait_for(c, entry ? entry : add_entry(c, host), ret);
}

void name_cache_forget(struct name_cache *c, const char *host)
{
    struct name_entry *entry = find_entry(c, host);

    if (entry && entry->is_known)
        remove_entry(c, entry);
}

struct name_cache *name_cache_new(struct loop *l)
{
    struct name_cache *c = mem_alloc(sizeof *c);

    c->loop = l;
    return c;
}

void name_cache_free(struct name_cache *c)
{
    if (!c)
        return;
    while (c->entries)
        remove_entry(c, c->entries);
    mem_free(c);
}
