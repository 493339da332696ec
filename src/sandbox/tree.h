/* tree.h - what is to be found below a directory: by one walk, and kept up to date after it.
 *
 * Every directory is known with the time of its last change, which no command can set (ctime). To
 * look again takes one stat() a directory, and only those that changed are read. The clock of file
 * systems is coarse: a directory that had changed just before it was read is read again. Links are
 * entries like others and never followed. All of it blocks; not thread-safe. */
#ifndef KEEL_SANDBOX_TREE_H
#define KEEL_SANDBOX_TREE_H

#include "base/err.h"

#include <time.h>

#define TREE_MAX_DIRS 200000
#define TREE_MAX_DEPTH 128 /* what lies deeper is not looked at */

/* What entries mean to the owner of the tree: bits, of which this one is the tree's. */
enum { TREE_CLOSED = 1 }; /* nothing below it is looked at */

struct tree_judge {
    unsigned (*judge)(void *self, const char *path, const char *name); /* 0: nothing */
    void *self;
    unsigned shut; /* what a directory means that its owner, who is keel's user, may not enter */
};

struct tree;

/* `root` is absolute and canonical. */
struct tree *tree_new(const char *root, struct tree_judge judge) MUST_USE;
void tree_free(struct tree *t);
DEFINE_AUTO_PTR(tree, tree_free)

/* ERR_SANDBOX when there are too many directories; a root that is not there holds nothing. `now` is
 * the time of day. Ends early when work_cancelled() says so. */
MUST_USE struct err *tree_update(struct tree *t, time_t now);

/* All that meant something when it was last read, a directory before what is in it. */
void tree_each(const struct tree *t, void (*found)(void *self, const char *path, unsigned meaning),
               void *self);
size_t tree_n_read(const struct tree *t); /* directories, by the last update */
size_t tree_n_dirs(const struct tree *t); /* that are known */

#endif
