/* sync_ahead.h - has the disk take up what was saved while the command still runs.
 *
 * No caller waits for it, and its result does not count: the journal syncs the blobs before it
 * stores references to them, and then finds most of the work done. Any thread. */
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
