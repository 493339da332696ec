/* dir_watch.h - the directories below a root, known without walking them again.
 *
 * The first update reads all of them, by descriptor and through no link. In a large tree, and if
 * files are followed, the kernel then reports changes (inotify, which is per inode and so sees
 * changes through any mount or namespace), and an update reads only the changed directories. If it
 * cannot (a limit, a file system of another machine, lost events), and in a small tree whose files
 * are not followed, an update asks each directory for the time of its last change, which no command
 * can set.
 *
 * Directories in proc, where nothing can be created, are not read.
 *
 * Several readers share a watch. A reader has a judge, which sees every entry of a directory that
 * is read; its finds stay known. Versions and marks in a log show what has changed: each reader
 * keeps its own.
 *
 * All calls block. Any thread may call. Callbacks run under a lock, and may call only functions
 * that take a struct watched_dir, which they may not keep. */
#ifndef KEEL_SYS_DIR_WATCH_H
#define KEEL_SYS_DIR_WATCH_H

#include "base/strbuf.h"

#include <sys/types.h>

#define DIR_WATCH_MAX_DIRS (1 << 20)
#define DIR_WATCH_MAX_DEPTH 2048 /* deeper paths are longer than any program's */
#define DIR_WATCH_FEW 512        /* up to this many directories are asked, not watched */

struct dir_watch;
struct watched_dir;

/* `root` is absolute and canonical; nothing is read yet. */
struct dir_watch *dir_watch_new(const char *root) MUST_USE;
struct dir_watch *dir_watch_ref(struct dir_watch *w) MUST_USE;
void dir_watch_unref(struct dir_watch *w);
DEFINE_AUTO_PTR(dir_watch, dir_watch_unref)
const char *dir_watch_root(const struct dir_watch *w);
int dir_watch_root_fd(const struct dir_watch *w); /* O_PATH; -1: the last update found none */

/* Watches that several parts of a program share, one per root. */
struct dir_watches;
struct dir_watches *dir_watches_new(void) MUST_USE;
void dir_watches_free(struct dir_watches *all);
/* Returns a new reference. Closes watches without any other reference. */
struct dir_watch *dir_watches_get(struct dir_watches *all, const char *root) MUST_USE;
/* Closes them at once. */
void dir_watches_trim(struct dir_watches *all);

/* --- updates --- */

/* Makes a directory readable for a while although its mode forbids it. It gets the directory as
 * O_PATH. */
struct dir_unlocker {
    bool (*unlock)(void *self, int path_fd);
    void *self;
};

/* Finds out what has changed. `unlocker` may be NULL: unreadable directories stay shut then, and
 * what was known of them still counts. ERR_SANDBOX if there are too many entries. A missing root is
 * empty. Ends early when work_cancelled() says so; the next update continues. */
MUST_USE struct err *dir_watch_update(struct dir_watch *w, const struct dir_unlocker *unlocker);
/* Makes the kernel report, from a thread of its own, so that no caller waits. For a tree that will
 * be looked at again; it has no effect on a small one whose files are not followed. */
void dir_watch_settle(struct dir_watch *w);
void dir_watch_wait(struct dir_watch *w); /* until that thread has ended */

/* Has the last update read everything that was requested since? */
bool dir_watch_is_whole(struct dir_watch *w);
/* Counts the updates that found a change. */
uint64_t dir_watch_version(const struct dir_watch *w);
size_t dir_watch_n_dirs(const struct dir_watch *w);
size_t dir_watch_n_read(const struct dir_watch *w);  /* directories, by the last update */
size_t dir_watch_n_asked(const struct dir_watch *w); /* for their times, by the last update */
size_t dir_watch_n_watched(struct dir_watch *w);     /* by the kernel */
/* Does an update take less time than the way to another thread and back? */
bool dir_watch_is_quick(struct dir_watch *w);

/* --- readers --- */

#define DIR_WATCH_MAX_READERS 8

struct dir_judge {
    unsigned (*judge)(void *self, const struct watched_dir *dir, const char *name); /* 0: nothing */
    void *self;
    unsigned closing; /* in an entry with one of these meanings, nothing is judged */
};

/* Adds a reader from the next update on, which reads all directories, unless a reader with the same
 * judge exists. -1: there are too many. */
int dir_watch_add_reader(struct dir_watch *w, const struct dir_judge *judge) MUST_USE;
void dir_watch_remove_reader(struct dir_watch *w, int reader);
/* Visits all entries that had a meaning when they were last read, in no order. */
void dir_watch_each(struct dir_watch *w, int reader,
                    void (*found)(void *self, const struct watched_dir *dir, const char *name,
                                  unsigned meaning),
                    void *self);

/* Visits the directories that are new or changed since that version. */
void dir_watch_each_changed(struct dir_watch *w, uint64_t since,
                            void (*found)(void *self, const struct watched_dir *dir), void *self);

/* Why a directory was not read. */
enum dir_shut {
    DIR_IS_OPEN,
    DIR_IS_SHUT,     /* keel's user may change its mode or create something in it */
    DIR_IS_TOO_DEEP, /* DIR_WATCH_MAX_DEPTH */
};
void dir_watch_each_shut(struct dir_watch *w,
                         void (*found)(void *self, const struct watched_dir *dir,
                                       enum dir_shut why),
                         void *self);

/* Appends the path of a directory with this number, other than the root's. False: none has it. */
bool dir_watch_find(struct dir_watch *w, ino_t inode, struct strbuf *path) MUST_USE;

/* Appends the path from the root, which is "". */
void watched_dir_path(const struct watched_dir *d, struct strbuf *path);
dev_t watched_dir_device(const struct watched_dir *d);
ino_t watched_dir_inode(const struct watched_dir *d);
uint64_t watched_dir_since(const struct watched_dir *d);   /* the version that added it */
uint64_t watched_dir_changed(const struct watched_dir *d); /* the version that last changed it */

/* --- changed files --- */

/* Follows files from here on; call it before the first dir_watch_settle(). */
void dir_watch_follow_files(struct dir_watch *w);
uint64_t dir_watch_mark(const struct dir_watch *w); /* in the log, as of the last update */
/* Calls `changed` at least once for every entry that was created, removed, renamed, written or
 * given other attributes between `mark` and the last update. `name` NULL: for all entries of the
 * directory. False, without a call: the changes are unknown. */
bool dir_watch_changes(struct dir_watch *w, uint64_t mark,
                       void (*changed)(void *self, const struct watched_dir *dir, const char *name),
                       void *self) MUST_USE;

#endif
