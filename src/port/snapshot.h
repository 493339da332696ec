/* snapshot.h - what files held before a call changed them, so that the change can be undone.
 *
 * The engine asks before a call and after it. Contents go to the blob store, each once; short ones
 * that a command changes are in the events themselves. The one file of a call is saved before it
 * runs; what a command changes is saved while it runs, by an observer of what it is about to do.
 * EVENT_SNAPSHOT names what was saved, or the log that the observer writes, so that nothing is lost
 * when keel dies in the middle of the call; after it one EVENT_PRE_IMAGE a file reports what was
 * changed, and those events are all that an undo needs. What cannot be saved (too large, no regular
 * file) does not keep a call from running, but is reported: a person who relies on it must know. */
#ifndef KEEL_PORT_SNAPSHOT_H
#define KEEL_PORT_SNAPSHOT_H

#include "port/tool.h"
#include "sys/write_observer.h"

enum image_kind {
    IMAGE_NONE, /* nothing was there */
    IMAGE_FILE,
    IMAGE_LINK,
    IMAGE_DIRECTORY,
    IMAGE_OTHER, /* a pipe, a socket, a device: never saved */
};
const char *image_kind_name(enum image_kind k); /* "none", "file", "link", "directory", "other" */
bool image_kind_find(struct str name, enum image_kind *ret_kind);

/* Which file it is, wherever it is moved: so that what could not be saved is found again. */
struct file_identity {
    uint64_t device, inode; /* inode 0: not known */
    uint64_t size;
    int64_t mtime_ns, ctime_ns;
};

/* One path as it was before. */
struct pre_image {
    struct str path;      /* absolute, without links; any bytes but NUL */
    enum image_kind kind; /* NONE: an undo removes what is there now */
    unsigned mode;        /* permissions; 0 for a link */
    struct str content;   /* a blob's handle: the file's bytes, the link's target; else empty */
    uint64_t n_bytes;     /* of the content; not recorded; 0: not known */
    bool has_bytes;       /* the next one is the content, and no blob holds it: it is short */
    struct str bytes;
    bool keeps_content; /* only attributes were changed: there is no content */
    struct str why_not; /* cannot be undone: "it is larger than 64 MiB"; else empty */
    bool is_ignored;    /* git ignores it */
    bool has_owner;     /* the next two are known */
    unsigned uid, gid;
    bool has_xattrs;   /* the next one is known; else it had none, and the call left none */
    struct str xattrs; /* a blob's handle: its extended attributes; empty: it had none */
    /* Of a file: how many names it has, and which file it is. 0 names: not known. */
    unsigned n_names;
    uint64_t device, inode;
    struct file_identity identity; /* of what could not be saved, and of what git ignores */
    /* What the call left: SHA-256 of the file, "link:" and that of its target, "directory",
     * "other", "stamp:..." for a file that was not read; empty: nothing is there. */
    struct str after;
    uint64_t now_inode; /* of what is there; not recorded */
};

struct pre_images {
    struct pre_image *items;
    size_t n, room;
};
void pre_images_add(struct pre_images *list, struct arena *a, struct pre_image image);

/* What is about to run. All borrowed. */
struct snapshot_call {
    const struct tool *tool;
    const struct json *args;
    const char *target; /* the one file that it is about, without links; NULL: not known */
};

struct snapshot; /* of one call, between begin and end */

/* What begin() saved. Lives in the arena it was given. */
struct snapshot_record {
    struct snapshot *snapshot; /* for end(); NULL: the call changes nothing, or nothing is saved */
    /* For the commands that the call starts; a reference. NULL: none is needed. */
    struct write_observer *observer;
    bool has_file;
    struct pre_image file;    /* of the call's target; `after` is empty */
    struct str log;           /* name of what the observer writes, in keel's home; may be empty */
    struct pre_images before; /* what commands in the background have changed since the last look */
    struct str note;          /* for the person: what is not covered; empty: nothing to tell */
    /* Why not all that the call may change is saved: "the sandbox is off". Reported with every
     * such call, so that an undo knows what it cannot undo; empty: all of it is. */
    struct str unsaved;
    /* Of earlier versions, which listed all files before a command: the list, and when. */
    struct str tree;
    int64_t taken_ns, ready_ns;
    size_t n_files;
};

struct snapshot_changes {
    struct pre_images images;
    struct str note;
    struct str unsaved; /* the same, of what was seen after the call only */
};

struct snapshotter {
    /* All required; all may wait. */
    struct err *(*begin)(struct snapshotter *s, const struct snapshot_call *call, struct arena *a,
                         struct snapshot_record *ret_record);
    /* Compares, and frees the snapshot, whatever comes of it. */
    struct err *(*end)(struct snapshotter *s, struct snapshot *take_snapshot, struct arena *a,
                       struct snapshot_changes *ret_changes);
    /* At the end of a run: what commands in the background have changed since the last look. */
    struct err *(*settle)(struct snapshotter *s, struct arena *a,
                          struct snapshot_changes *ret_changes);
    void (*free)(struct snapshotter *s);
};

/* NULL is a snapshotter that saves nothing. */
MUST_USE struct err *snapshot_begin(struct snapshotter *s, const struct snapshot_call *call,
                                    struct arena *a, struct snapshot_record *ret_record);
MUST_USE struct err *snapshot_end(struct snapshotter *s, struct snapshot *take_snapshot,
                                  struct arena *a, struct snapshot_changes *ret_changes);
MUST_USE struct err *snapshot_settle(struct snapshotter *s, struct arena *a,
                                     struct snapshot_changes *ret_changes);
void snapshotter_free(struct snapshotter *s);
DEFINE_AUTO_PTR(snapshotter, snapshotter_free)

#endif
