/* snapshot.h - what files held before a call changed them, so that the change can be taken back.
 *
 * The engine asks before a call and after it. Contents go to the blob store, each once. Before the
 * call EVENT_SNAPSHOT tells what was saved, so that nothing is lost when keel dies in the middle of
 * it; after the call one EVENT_PRE_IMAGE a file tells what was changed, and those events are all
 * that taking back needs. What cannot be saved (too large, no regular file) does not keep a call
 * from running, but is told: a person who relies on it must know. */
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

/* One path as it was before. */
struct pre_image {
    struct str path;      /* absolute, without links; any bytes but NUL */
    enum image_kind kind; /* NONE: taking back removes what is there now */
    unsigned mode;        /* permissions; 0 for a link */
    struct str content;   /* a blob's handle: the file's bytes, the link's target; else empty */
    struct str why_not;   /* cannot be taken back: "it is larger than 64 MiB"; else empty */
    /* What the call left: SHA-256 of the file, "link:" and that of its target, "directory",
     * "other", "stamp:..." for a file too large to be read; empty: nothing is there. */
    struct str after;
};

struct pre_images {
    struct pre_image *items;
    size_t n, room;
};

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
    struct str tree;          /* handle of the list of all files; empty: there is none */
    struct str tree_base;     /* of the list that this one says the difference to; may be empty */
    int64_t taken_ns;         /* of the tree: since 1970, by the kernel's clock for files */
    int64_t ready_ns;         /* files that were made later are the call's */
    size_t n_files;           /* of the tree */
    struct pre_images before; /* what commands in the background have changed since the last look */
    struct str note;          /* for the person: what is not covered; empty: nothing to tell */
    /* Why not all that the call may change is saved: "there are more than 20000 files". Told with
     * every such call, so that an undo knows what it cannot undo; empty: all of it is. */
    struct str unsaved;
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
