/* guard_internal.h - what guard.c remembers and guard_check.c compares. Only they include this. */
#ifndef KEEL_SANDBOX_GUARD_INTERNAL_H
#define KEEL_SANDBOX_GUARD_INTERNAL_H

#include "sandbox/guard.h"

#include <sys/stat.h>

enum guarded_kind {
    GUARDED_ABSENT,
    GUARDED_LINK,
    GUARDED_FILE,
    GUARDED_DIRECTORY, /* with all that is in it, as items of their own */
    GUARDED_ANCESTOR,  /* a directory above another item: must stay the one that it is */
    GUARDED_SPECIAL,   /* a pipe, a socket: must stay the one that it is */
    /* A file or directory that is mounted read-only in every sandbox. It stays so as long as it is
     * the same: the kernel takes a mount away when somebody outside puts another in its place. */
    GUARDED_MOUNTED,
};

struct guarded {
    const char *path; /* relative to the root */
    enum guarded_kind kind;
    bool has_content;   /* it may be put back */
    struct str content; /* of a file; where a link leads */
    mode_t mode;
    dev_t device;
    ino_t inode;
    int fd; /* of an ancestor, to find it wherever it went; else -1 */
};

/* A writable directory, and what is guarded in it, sorted: a directory before what is in it. */
struct guarded_root {
    const char *path;
    int fd;
    struct guarded *items;
    size_t n, room;
    const char *last; /* path whose ancestors were remembered */
    /* while it is taken: the directory that was opened last */
    struct str parent;
    int parent_fd; /* -1: none that could be */
};

struct guard {
    struct arena arena;
    struct guarded_root *roots;
    size_t n_roots;
    bool namespaces;
    size_t n_bytes, n_items, n_ancestors; /* remembered */
};

#endif
