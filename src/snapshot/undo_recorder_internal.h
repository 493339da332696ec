/* undo_recorder_internal.h - shared by the files of a recorder.
 *
 *     undo_recorder.c          saves what is about to change, and adds it to the log
 *     undo_recorder_look.c     looks again, and finds what has changed
 *     undo_recorder_ignored.c  directories that git ignores
 *     undo_recorder_peers.c    shares states between commands that run side by side */
#ifndef KEEL_SNAPSHOT_UNDO_RECORDER_INTERNAL_H
#define KEEL_SNAPSHOT_UNDO_RECORDER_INTERNAL_H

#include "snapshot/undo_recorder.h"

#define RECORDER_READ_ROOM ((size_t)1 << 18) /* of the buffer, beside the largest file */
#define INODE_KEY_SIZE 48

/* One path that is about to change, or has changed. */
struct change_entry {
    struct file_state before;
    struct file_state last; /* as of the last look; at first the former state */
    bool has_attributes_only;
    bool has_changed;               /* found by a look */
    bool is_late;                   /* it had changed since the command began, unannounced */
    bool is_uncovered;              /* it is not restored, but its other names are */
    struct change_entry *same_file; /* the next one with the same inode */
};

/* A directory that git ignores, and the announced changes in it, or of it. */
struct ignored_dir {
    struct file_state before;
    struct file_state seen[8]; /* the first paths */
    size_t n_seen;
    bool has_more;
};

struct undo_recorder {
    struct write_observer observer; /* first: they are one */
    pthread_mutex_t lock;
    struct undo_recorder_options options;
    int64_t began_ns;
    struct covered_rules rules;
    struct path_table by_path;
    struct path_table by_inode; /* of files with several names: the first entry */
    struct path_table dirs; /* directories in which names were about to change, covered or not */
    struct change_entry **entries;
    size_t n, room;
    struct undo_log log;
    bool has_begun_sync;            /* since the last look */
    size_t n_blobs, n_looked_blobs; /* saved, and at the last look */
    struct strbuf buffer;
    uint64_t n_bytes;          /* saved */
    size_t n_short_bytes;      /* of these in the log */
    uint64_t n_hashed_bytes;   /* read, but not saved */
    struct path_table ignored; /* struct ignored_dir */
    size_t n_ignored;          /* files that git ignores, one by one */
    uint64_t n_ignored_bytes;  /* saved of these */
    bool has_more_ignored;     /* there are more than recorded */
    struct str missed;         /* why not everything is recorded; in by_path's arena */
    bool is_closed;
};

/* The state that another command found. */
struct peer_state {
    struct file_state state;
    bool has_attributes_only;
};

/* Call all of these under the recorder's lock. */

struct str undo_recorder_inode_key(const struct file_state *f, char text[INODE_KEY_SIZE]);
struct change_entry *undo_recorder_add_entry(struct undo_recorder *r, struct str path,
                                             const struct file_state *before,
                                             bool has_attributes_only);
/* Saves the content that belongs to the recorded attributes, if it is unchanged. */
void undo_recorder_take_content(struct undo_recorder *r, struct change_entry *entry,
                                const struct file_state *content);
/* The record of a file that had changed before keel could save it. */
struct file_state undo_recorder_unreported(const struct file_state *f);
/* `top`: the topmost directory that git ignores; `path` is about to change. */
void undo_recorder_note_ignored(struct undo_recorder *r, struct str top, struct str path);
/* The command has created it: nothing was there before. */
void undo_recorder_note_made(struct undo_recorder *r, const struct file_state *before);
void undo_recorder_look_at_ignored(struct undo_recorder *r, struct arena *a,
                                   struct pre_images *images);
/* Shares a state as the former one with all commands that run side by side. */
void undo_recorder_share(struct undo_recorder *r, const struct change_entry *entry);
/* The state that another running command found; false: none. */
bool undo_recorder_find_shared(struct undo_recorder *r, struct str path,
                               struct peer_state *ret_state);

#endif
