/* sync_ahead.h - has the disk take up what was saved while the command still runs.
 *
 * Nobody waits for it, and what comes of it does not count: whoever stores references to what was
 * saved syncs the blobs first, and then finds most of it done. Any thread. */
#ifndef KEEL_SNAPSHOT_SYNC_AHEAD_H
#define KEEL_SNAPSHOT_SYNC_AHEAD_H

#include "port/blob.h"
#include "sys/work.h"

#include <pthread.h>

struct sync_ahead {
    struct blob_store *blobs; /* borrowed */
    pthread_mutex_t lock;
    struct work_ahead *begun; /* NULL: none yet */
};
void sync_ahead_init(struct sync_ahead *s, struct blob_store *blobs);
void sync_ahead_done(struct sync_ahead *s); /* waits for the one under way */

/* Does nothing while one is under way. */
void sync_ahead_begin(struct sync_ahead *s);

#endif
