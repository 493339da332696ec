/* sync_ahead.h - writes saved contents to disk while the command still runs.
 *
 * No caller waits for it, and its result does not matter: the journal syncs the blobs before it
 * stores references to them, and then most of the work is done. Any thread. */
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
void sync_ahead_done(struct sync_ahead *s); /* waits for a sync in progress */

/* Does nothing during a sync. */
void sync_ahead_begin(struct sync_ahead *s);

#endif
