/* undo_recorder.h - saves files that one command is about to change, and finds out which changed.
 *
 * It is the observer of the command: before each change it saves the present state, once per path,
 * and adds it to the undo log. Afterwards it looks at the paths again and reports differences as
 * pre-images. For a command in the background it looks several times, and each look reports the
 * changes since the last one.
 *
 * A path is recorded completely if content is written or a name is removed or moved, and with
 * attributes and the hash of its content if only attributes change. If content is written later,
 * the state at that time counts as the former one only if it has that hash. If a file with several
 * names is written by one of them, its content is saved for all recorded names. All calls block;
 * any thread may make them. */
#ifndef KEEL_SNAPSHOT_UNDO_RECORDER_H
#define KEEL_SNAPSHOT_UNDO_RECORDER_H

#include "snapshot/coverage.h"
#include "snapshot/sync_ahead.h"
#include "snapshot/undo_log.h"

#include <pthread.h>

/* Why a change cannot be undone that was not announced, or not in time. */
#define UNDO_UNREPORTED "it changed while a command ran, but the change was not reported"

struct undo_recorder;

/* The state before commands that run side by side, shared by all of them: one may have changed a
 * file when another reaches it. Zeroed except for the lock. */
struct undo_recorder_peers {
    pthread_mutex_t lock;
    struct path_table states;
};
void undo_recorder_peers_init(struct undo_recorder_peers *p);
void undo_recorder_peers_clear(struct undo_recorder_peers *p); /* none of them runs any more */
void undo_recorder_peers_done(struct undo_recorder_peers *p);

struct undo_recorder_options {
    const struct coverage *coverage; /* borrowed until undo_recorder_close() */
    struct blob_store *blobs;        /* the same */
    struct sync_ahead *disk;         /* the same; of the blobs */
    const char *home;                /* of the undo log; NULL: none */
    struct undo_log_spare *spare;    /* borrowed until undo_recorder_close(); NULL: none */
    uint64_t max_bytes, max_file_bytes;
    struct undo_recorder_peers *peers; /* borrowed until undo_recorder_leave_peers(); NULL: none */
};
struct undo_recorder *undo_recorder_new(const struct undo_recorder_options *options) MUST_USE;
/* The command continues in the background: calls of later turns have another former state. */
void undo_recorder_leave_peers(struct undo_recorder *r);
/* From now on it saves nothing, also as observer. */
void undo_recorder_close(struct undo_recorder *r);
void undo_recorder_unref(struct undo_recorder *r);

struct write_observer *undo_recorder_observer(struct undo_recorder *r); /* borrowed */
const char *undo_recorder_log_name(const struct undo_recorder *r);      /* "": none */
/* Does a command still run under it? */
bool undo_recorder_is_in_use(const struct undo_recorder *r);
size_t undo_recorder_n_entries(struct undo_recorder *r);     /* paths that were about to change */
bool undo_recorder_has_begun(const struct undo_recorder *r); /* has the command started? */
bool undo_recorder_has_missed(struct undo_recorder *r);      /* not everything is recorded */

/* The changes since the last look. *ret_unsaved: why some may be missing; else empty. `is_last`:
 * the command has ended. */
MUST_USE struct err *undo_recorder_look(struct undo_recorder *r, bool is_last, struct arena *a,
                                        struct pre_images *ret_images, struct str *ret_unsaved);

/* Was it recorded before it was changed? A file that had changed since the command began, by a name
 * that is not recorded, was not. */
bool undo_recorder_has(struct undo_recorder *r, struct str path);
/* Was a file with several names recorded by one of them, before it was changed? */
bool undo_recorder_has_file(struct undo_recorder *r, uint64_t device, uint64_t inode);
/* Was a name in this directory about to change, recorded or not? */
bool undo_recorder_has_in(struct undo_recorder *r, struct str dir);
/* Would it be recorded if it were about to change? Rules of git apply as they were before the
 * command. */
bool undo_recorder_covers(struct undo_recorder *r, struct str path, bool is_dir);
bool undo_recorder_covers_rules(struct undo_recorder *r, struct str path); /* for a file of rules */

/* After a crash: the same as a look, from the log. */
MUST_USE struct err *undo_recorder_recover(const struct undo_records *records,
                                           uint64_t max_file_bytes, struct arena *a,
                                           struct pre_images *ret_images);

#endif
