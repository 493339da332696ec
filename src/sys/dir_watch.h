/* dir_watch.h - the directories below a root, known without walking them again.
 *
 * The first update reads all of them, by descriptor and through no link. In a large tree, and where
 * files are followed, the kernel then reports which have changed (inotify; it is per inode, so
 * through whatever mount or namespace a change is made), and an update reads only those. Where it
 * cannot (a limit, a file system of another machine, lost events), and in a small tree whose files
 * nobody asks about, an update asks each directory for the time of its last change, which no
 * command can set.
 *
 * What is in proc, where nobody can make anything, is not read.
 *
 * Several readers share one. A reader has a judge, which is asked about every entry of a directory
 * that is read; what it finds stays known. What has changed is told apart by versions and by marks
 * in a log: each reader keeps its own.
 *
 * All of it blocks. Any thread may call; callbacks run under a lock, and may call only what takes a
 * struct watched_dir, which they may not keep. */
#ifndef KEEL_SYS_DIR_WATCH_H
#define KEEL_SYS_DIR_WATCH_H

#include "base/strbuf.h"

#include <sys/types.h>

#define DIR_WATCH_MAX_DIRS (1 << 20)
#define DIR_WATCH_MAX_DEPTH                                                                        \
    2048                  /* what lies deeper has a path that is longer than any program's         \
                           */
#define DIR_WATCH_FEW 512 /* directories that are sooner asked than watched */

struct dir_watch;
struct watched_dir;

/* `root` is absolute and canonical; nothing is read yet. */
struct dir_watch *dir_watch_new(const char *root) MUST_USE;
struct dir_watch *dir_watch_ref(struct dir_watch *w) MUST_USE;
void dir_watch_unref(struct dir_watch *w);
DEFINE_AUTO_PTR(dir_watch, dir_watch_unref)
const char *dir_watch_root(const struct dir_watch *w);
int dir_watch_root_fd(const struct dir_watch *w); /* O_PATH; -1: the last update found none */

/* Watches that several parts of a program share, one a root. */
struct dir_watches;
struct dir_watches *dir_watches_new(void) MUST_USE;
void dir_watches_free(struct dir_watches *all);
/* A new reference. Those that have no other reference any more are closed meanwhile. */
struct dir_watch *dir_watches_get(struct dir_watches *all, const char *root) MUST_USE;
/* Closes them at once. */
void dir_watches_trim(struct dir_watches *all);

/* --- updates --- */

/* What makes a directory readable for a while whose mode forbids it. It has been given as O_PATH.
 */
struct dir_unlocker {
    bool (*unlock)(void *self, int path_fd);
    void *self;
};

/* Finds out what has changed. `unlocker` may be NULL: then what cannot be read stays shut, and what
 * was known of it before still counts. ERR_SANDBOX when there is more than can be known; a root
 * that is not there holds nothing. Ends early when work_cancelled() says so, to continue with the
 * next update. */
MUST_USE struct err *dir_watch_update(struct dir_watch *w, const struct dir_unlocker *unlocker);
/* Begins to have the kernel report, in a thread of its own, so that no caller waits. For a tree
 * that will be looked at again; without effect on a small one whose files are not followed. */
void dir_watch_settle(struct dir_watch *w);
void dir_watch_wait(struct dir_watch *w); /* until that thread has ended */

/* Has the last update found out all that was asked for since? */
bool dir_watch_is_whole(struct dir_watch *w);
/* Counts the updates that found anything changed. */
uint64_t dir_watch_version(const struct dir_watch *w);
size_t dir_watch_n_dirs(const struct dir_watch *w);
size_t dir_watch_n_read(const struct dir_watch *w);  /* directories, by the last update */
size_t dir_watch_n_asked(const struct dir_watch *w); /* for their times, by the last update */
size_t dir_watch_n_watched(struct dir_watch *w);     /* by the kernel */
/* Is an update over in less time than the way to another thread and back takes? */
bool dir_watch_is_quick(struct dir_watch *w);

/* --- readers --- */

#define DIR_WATCH_MAX_READERS 8

struct dir_judge {
    unsigned (*judge)(void *self, const struct watched_dir *dir, const char *name); /* 0: nothing */
    void *self;
    unsigned closing; /* in an entry that means one of these, nothing is judged */
};

/* From the next update on, which reads all directories, unless a reader with the same judge is
 * there already. -1: there are too many. */
int dir_watch_add_reader(struct dir_watch *w, const struct dir_judge *judge) MUST_USE;
void dir_watch_remove_reader(struct dir_watch *w, int reader);
/* All that meant something when it was last read, in no order. */
void dir_watch_each(struct dir_watch *w, int reader,
                    void (*found)(void *self, const struct watched_dir *dir, const char *name,
                                  unsigned meaning),
                    void *self);

/* The directories that came or changed after that version. */
void dir_watch_each_changed(struct dir_watch *w, uint64_t since,
                            void (*found)(void *self, const struct watched_dir *dir), void *self);

/* Why a directory was not read. */
enum dir_shut {
    DIR_IS_OPEN,
    DIR_IS_SHUT,     /* keel's user may not, but may change its mode or make something in it */
    DIR_IS_TOO_DEEP, /* DIR_WATCH_MAX_DEPTH */
};
void dir_watch_each_shut(struct dir_watch *w,
                         void (*found)(void *self, const struct watched_dir *dir,
                                       enum dir_shut why),
                         void *self);

/* Appends the path of a directory with this number, other than the root's; false: there is none. */
bool dir_watch_find(struct dir_watch *w, ino_t inode, struct strbuf *path) MUST_USE;

/* Appends the path from the root, which is "". */
void watched_dir_path(const struct watched_dir *d, struct strbuf *path);
dev_t watched_dir_device(const struct watched_dir *d);
ino_t watched_dir_inode(const struct watched_dir *d);
uint64_t watched_dir_since(const struct watched_dir *d);   /* the version that it came in */
uint64_t watched_dir_changed(const struct watched_dir *d); /* and that it last changed in */

/* --- which files have changed --- */

/* From here on, if it is called before the first dir_watch_settle(). */
void dir_watch_follow_files(struct dir_watch *w);
uint64_t dir_watch_mark(const struct dir_watch *w); /* in the log, as of the last update */
/* Calls `changed` for every entry that was made, removed, renamed, written or given other
 * attributes between `mark` and the last update, once or more; `name` NULL: for all entries of the
 * directory. False, without a call: that is not known. */
bool dir_watch_changes(struct dir_watch *w, uint64_t mark,
                       void (*changed)(void *self, const struct watched_dir *dir, const char *name),
                       void *self) MUST_USE;

#endif
