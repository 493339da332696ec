/* snapshot.h - the snapshotter of an agent: saves one file before Write and Edit, and files that a
 * command is about to change while it runs.
 *
 * Before a call that modifies one known file, that file is saved. Calls that start commands get an
 * observer. Calls that only inspect are ignored. Changes by commands in the background are reported
 * before the next call that may write, and at the end of the run.
 *
 * docs/undo.md has the reasons and the limits. */
#ifndef KEEL_SNAPSHOT_SNAPSHOT_H
#define KEEL_SNAPSHOT_SNAPSHOT_H

#include "port/snapshot.h"

#define SNAPSHOT_DEFAULT_MAX_BYTES ((uint64_t)256 << 20)
#define SNAPSHOT_DEFAULT_MAX_FILE_BYTES ((uint64_t)10 << 20)

struct dir_watches;

struct snapshot_options {
    const char *workspace;         /* absolute */
    const char *const *added_dirs; /* may be NULL */
    size_t n_added_dirs;
    struct blob_store *blobs; /* borrowed */
    const char *home;         /* keel's, which is never saved; undo logs are there. NULL: none */
    uint64_t max_bytes;       /* of all changes of one command; 0: the default */
    uint64_t max_file_bytes;  /* of one file; 0: the default */
    /* Files of keel's store, which are not part of the workspace; NULL: none. Borrowed; called from
     * several threads. */
    const struct path_filter *own;
    struct dir_watches
        *watches; /* borrowed, shared with the sandbox; NULL: times of files are read */
    bool is_off;  /* nothing is saved, and every call reports that */
    /* Might this call of a tool that starts commands write? NULL: every call might. */
    bool (*may_write)(void *self, const struct snapshot_call *call);
    void *self;
};

/* Copies everything except the store and the watches. Reads nothing yet. */
struct snapshotter *snapshotter_new(const struct snapshot_options *options) MUST_USE;
/* The journal is durable: removes undo logs of calls that have ended. */
void snapshotter_forget_logs(struct snapshotter *port);

/* After a crash: EVENT_SNAPSHOT came without the pre-images that should follow it. Returns them, as
 * if the call had ended now. `has_ended`: the journal has the end of the call, so that only a
 * command in the background is left. *ret_unsaved: why they cannot be returned; else empty. Blocks:
 * tasks use work_run(). */
struct recovered_call {
    struct pre_images images;
    struct str unsaved;
    bool has_no_log; /* the command has changed nothing, or its log was removed */
    bool keeps_log;  /* it could not be read, and may be some day */
};
MUST_USE struct err *snapshot_recover(const struct snapshot_options *options,
                                      const struct snapshot_record *record, bool has_ended,
                                      struct arena *a, struct recovered_call *ret_call);
/* The journal has them durably. */
void snapshot_forget_log(const struct snapshot_options *options,
                         const struct snapshot_record *record);

#endif
