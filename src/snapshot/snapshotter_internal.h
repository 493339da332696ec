/* snapshotter_internal.h - what the files of a snapshotter share, and only they.
 *
 *     snapshotter.c       which calls are looked at, and the looks
 *     snapshot_notes.c    what a person must know after them
 *     snapshot_recover.c  the same after a crash */
#ifndef KEEL_SNAPSHOT_SNAPSHOTTER_INTERNAL_H
#define KEEL_SNAPSHOT_SNAPSHOTTER_INTERNAL_H

#include "snapshot/snapshot.h"

#define SNAPSHOT_MAX_ONE_FILE ((uint64_t)64 << 20) /* as Write and Edit have it */

struct snapshot_options snapshot_with_defaults(const struct snapshot_options *o);
/* Empty: all can be undone. */
struct str snapshot_note_lost(struct arena *a, const struct pre_images *images);

#endif
