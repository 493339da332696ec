/* post.c - calls from other threads into a loop. */
#include "sys/scheduler.h"

struct post {
    struct post *next;
    void (*fn)(void *arg);
    void *arg;
};

static void on_posted(uv_async_t *handle)
{
    post_queue_run(handle->data);
}

void post_queue_init(struct post_queue *q, uv_loop_t *uv)
{
    pthread_mutex_init(&q->lock, NULL);
    BUG_IF(uv_async_init(uv, &q->posted, on_posted) < 0);
    q->posted.data = q;
}

void post_queue_done(struct post_queue *q)
{
    BUG_IF(q->first);
    pthread_mutex_destroy(&q->lock);
}

static struct post *take_all(struct post_queue *q)
{
    struct post *first;

    pthread_mutex_lock(&q->lock);
    first = q->first;
    q->first = q->last = NULL;
    pthread_mutex_unlock(&q->lock);
    return first;
}

bool post_queue_run(struct post_queue *q)
{
    struct post *p = take_all(q);
    bool any = p != NULL;

    while (p) {
        struct post *next = p->next;

        p->fn(p->arg);
        mem_free(p);
        p = next;
    }
    return any;
}

void loop_post(struct loop *l, void (*fn)(void *arg), void *arg)
{
    struct post_queue *q = &l->posts;
    struct post *p = mem_alloc(sizeof *p);

    p->fn = fn;
    p->arg = arg;
    pthread_mutex_lock(&q->lock);
    if (q->last)
        q->last->next = p;
    else
        q->first = p;
    q->last = p;
    uv_async_send(&q->posted); /* under the lock: the loop may be freed once the post has run */
    pthread_mutex_unlock(&q->lock);
}
