/* sync_ahead.c - one sync at a time, in a worker. */
#include "snapshot/sync_ahead.h"

void sync_ahead_init(struct sync_ahead *s, struct blob_store *blobs)
{
    *s = (struct sync_ahead){.blobs = blobs};
    pthread_mutex_init(&s->lock, NULL);
}

static void end(struct sync_ahead *s)
{
    err_ignore(work_ahead_end(TAKE(s->begun)), "the journal syncs it again");
}

void sync_ahead_done(struct sync_ahead *s)
{
    end(s);
    pthread_mutex_destroy(&s->lock);
}

static struct err *sync_ahead_run(void *blobs)
{
    return blob_sync(blobs);
}

void sync_ahead_begin(struct sync_ahead *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->begun || work_ahead_has_ended(s->begun)) {
        end(s);
        s->begun = work_ahead_begin(sync_ahead_run, s->blobs);
    }
    pthread_mutex_unlock(&s->lock);
}
