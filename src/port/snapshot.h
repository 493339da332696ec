/* snapshot.h - what files held before a call changed them, so that the change can be taken back.
 *
 * The engine asks before a call and after it. Contents go to the blob store, each once; what was
 * changed is told as one EVENT_PRE_IMAGE a file, and those events are all that taking back needs.
 * What cannot be saved (too large, no regular file) does not keep a call from running, but is told:
 * a person who relies on it must know. */
#ifndef KEEL_PORT_SNAPSHOT_H
#define KEEL_PORT_SNAPSHOT_H

#include "base/arena.h"
#include "base/err.h"

/* One file as it was before. */
struct pre_image {
    struct str path; /* absolute, without links */
    bool existed;    /* false: taking back removes it */
    bool is_link;    /* `content` is the blob of its target */
    unsigned mode;
    struct str content; /* a blob's handle; empty: it did not exist, or could not be saved */
    struct str why_not; /* could not be saved: "it is larger than 64 MiB"; else empty */
    struct str after;   /* SHA-256 of what the call left; empty: it removed the file */
};

struct pre_images {
    struct pre_image *items;
    size_t n;
    struct str note; /* for the person: what is not covered; empty: everything is */
};

struct snapshot; /* of one call, between begin and end */

struct snapshotter {
    /* Both required; may wait. `path` is the file that the call is about; NULL: it runs a command,
     * and anything in the workspace may change. */
    struct err *(*begin)(struct snapshotter *s, const char *path, struct snapshot **ret_snapshot);
    /* Compares, and frees the snapshot, whatever comes of it. The images live in `a`. */
    struct err *(*end)(struct snapshotter *s, struct snapshot *take_snapshot, struct arena *a,
                       struct pre_images *ret_images);
};

/* NULL is a snapshotter that saves nothing. */
MUST_USE struct err *snapshot_begin(struct snapshotter *s, const char *path,
                                    struct snapshot **ret_snapshot);
MUST_USE struct err *snapshot_end(struct snapshotter *s, struct snapshot *take_snapshot,
                                  struct arena *a, struct pre_images *ret_images);

#endif
