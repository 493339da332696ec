/* dir_watch_internal.h - what the files of dir_watch share.
 *
 *     dir_watch.c     updates: which directories are asked and read
 *     dir_open.c      opens a directory, and checks whether it is unchanged
 *     dir_read.c      reads one directory, or many
 *     dir_readers.c   the readers and their finds
 *     dir_watches.c   several watches
 *     dir_nodes.c     the directories in memory
 *     dir_events.c    the kernel's reports, and the log of them
 *     dir_prefetch.c  reads many directories with several threads */
#ifndef KEEL_SYS_DIR_WATCH_INTERNAL_H
#define KEEL_SYS_DIR_WATCH_INTERNAL_H

#include "sys/dir_watch.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

enum { DIR_BUFFER_BYTES = 64 << 10 };

struct dir_find {
    unsigned meaning;
    char *name;
};

/* What one reader found in one directory. */
struct dir_finds {
    struct watched_dir *dir;
    struct dir_finds *next, **back; /* of the same reader */
    struct dir_finds *beside;       /* in the same directory */
    int reader;
    size_t n;
    struct dir_find items[];
};

struct watched_dir {
    struct watched_dir *above;         /* NULL: the root, or no longer part of the tree */
    struct watched_dir *first, *after; /* its first child; the next child of the same parent */
    struct watched_dir **back;         /* the pointer to it among those */
    struct watched_dir *by_name, *by_watch;
    struct watched_dir *older, *newer; /* all, in the order of arrival: parents before children */
    struct watched_dir *next_to_read;
    struct dir_finds *finds;
    dev_t device;
    ino_t inode;
    struct timespec changed;     /* ctime when it was last read */
    uint64_t since, last_change; /* versions */
    unsigned n_logged;           /* entries of the log that point here */
    int watch;                   /* the kernel's number; -1: none */
    unsigned short depth;        /* of the root: 0 */
    unsigned char closed;        /* a bit per reader that judges nothing in it */
    unsigned char shut;          /* enum dir_shut */
    bool was_read, is_young, is_to_be_read, is_seen, is_gone, is_told;
    char name[];
};

struct dir_change {
    struct watched_dir *dir;
    char *name; /* NULL: the whole tree */
};

struct dir_device {
    dev_t device;
    bool is_reported; /* do changes there come as events? */
};

struct dir_watch {
    pthread_mutex_t lock;
    int n_refs;
    char *root_path;
    int root_fd; /* O_PATH; -1: not open */
    struct watched_dir *root, *oldest, *newest;
    size_t n_dirs, n_watched;
    struct watched_dir **by_name, **by_watch; /* chains */
    size_t n_slots;
    struct watched_dir *to_read; /* the next one, followed by the others */

    struct dir_judge judges[DIR_WATCH_MAX_READERS];
    unsigned n_users[DIR_WATCH_MAX_READERS]; /* with the same judge */
    struct dir_finds *finds[DIR_WATCH_MAX_READERS];

    uint64_t version, next_version;
    bool has_changed, must_ask_all;
    size_t n_entries, n_read, n_asked; /* of an update */
    const struct dir_unlocker *unlocker;
    char *buffer; /* for entries and events */

    /* The directory opened last to reach its children, and the one read last. */
    struct watched_dir *above, *last;
    int above_fd, last_fd;

    /* dir_events.c */
    int events_fd; /* -1: none */
    int mounts_fd; /* readable after a mount */
    size_t max_watches;
    bool follows_files;
    struct dir_device devices[16];
    size_t n_devices;
    struct dir_change *log;
    size_t n_log, log_room;
    uint64_t log_start;  /* the mark of the first entry */
    uint64_t log_update; /* its value at the start of the last update */
    uint64_t log_whole;  /* changes before this mark are unknown */
    bool is_log_broken;  /* and so are those before the next update */
    pthread_t settler;
    bool has_settler, is_closing;
    struct watched_dir *settle_next;
};

/* --- dir_nodes.c --- */

struct watched_dir *dir_node_add(struct dir_watch *w, struct watched_dir *above, const char *name);
struct watched_dir *dir_node_find(const struct dir_watch *w, const struct watched_dir *above,
                                  const char *name);
void dir_node_remove(struct dir_watch *w, struct watched_dir *d); /* with all below it */
void dir_node_empty(struct dir_watch *w, struct watched_dir *d);  /* removes all below it */
void dir_node_release(struct watched_dir *d); /* frees a removed one, unless the log refers to it */
void dir_node_set_watch(struct dir_watch *w, struct watched_dir *d, int watch);
void dir_node_read_later(struct dir_watch *w, struct watched_dir *d);
struct watched_dir *dir_node_next_to_read(struct dir_watch *w);
struct dir_finds *dir_finds_of(const struct watched_dir *d, int reader); /* NULL: none */
void dir_finds_free(struct dir_finds *f);
void dir_nodes_done(struct dir_watch *w);

/* --- dir_events.c --- */

void dir_events_init(struct dir_watch *w);
void dir_events_done(struct dir_watch *w);
/* Reads the kernel's reports. */
void dir_events_read(struct dir_watch *w);
/* Has the kernel watch the directory that is open as `fd`. */
void dir_events_watch(struct dir_watch *w, struct watched_dir *d, int fd);
void dir_events_unwatch(struct dir_watch *w, struct watched_dir *d);
void dir_log_add(struct dir_watch *w, struct watched_dir *d, const char *name);

/* --- dir_prefetch.c --- */

struct dir_prefetch {
    struct watched_dir *dir;
    char *path;
    struct stat st;
    char *bytes; /* struct dirent64, as the kernel returns them */
    size_t n;
    bool is_whole; /* all of it was read */
};
/* Reads as much as it can of each. */
void dir_prefetch(const struct dir_watch *w, struct dir_prefetch *items, size_t n);

/* --- dir_open.c --- */

/* Opens it, by descriptor. -1 and errno. */
int dir_open(struct dir_watch *w, struct watched_dir *d, struct stat *ret_stat);
/* Opens the parent of `d` and keeps it open for the next directory in it. -1 and errno. */
int dir_open_above(struct dir_watch *w, const struct watched_dir *d);
void dir_close_kept(int *fd); /* if it is open */
void dir_forget_fds(struct dir_watch *w);
/* May keel's user reach what is in it? */
bool dir_may_search(const struct stat *st);
bool dir_is_it(const struct watched_dir *d, const struct stat *st); /* or another in its place */
bool dir_is_as_it_was(const struct watched_dir *d, const struct stat *st);
/* Is it so close to now that a later change may get the same time? */
bool dir_is_young(const struct timespec *changed);

/* --- dir_read.c --- */

MUST_USE struct err *dir_read(struct dir_watch *w, struct watched_dir *d);
/* Reads the next ones of the list with several threads, if that is worth it. */
bool dir_may_prefetch(const struct dir_watch *w);
MUST_USE struct err *dir_read_many(struct dir_watch *w);

#endif
