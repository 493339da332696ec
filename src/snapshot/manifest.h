/* manifest.h - a tree as one blob, so that it can be restored when keel died before it compared.
 *
 * Records end in NUL, as names of files may hold everything else. The first one names the version
 * and the base: a manifest holds all files, or those that differ from another one's, its base,
 * which holds all. So a command that changes little costs little.
 *
 *     keel-tree 1 BASE|-
 *     KIND MODE SHA256|- MTIME CTIME SIZE INODE DEVICE BORN<tab>PATH     times in ns; by path */
#ifndef KEEL_SNAPSHOT_MANIFEST_H
#define KEEL_SNAPSHOT_MANIFEST_H

#include "snapshot/file_tree.h"

/* The last manifest that holds all files. Zeroed: there is none. */
struct manifest_base {
    struct file_tree *tree;
    char handle[SHA256_HEX_SIZE];
};
void manifest_base_done(struct manifest_base *b);

/* Stores it, durable after the next blob_sync(); the base is replaced when too much differs from
 * it. */
MUST_USE struct err *manifest_store(struct blob_store *blobs, struct file_tree *t,
                                    struct manifest_base *base, char handle[SHA256_HEX_SIZE]);

/* Calls on_content for each content that the list itself names, without those of its base. Reads it
 * in pieces. ERR_STORAGE as below. */
MUST_USE struct err *manifest_each_content(struct blob_store *blobs, struct str handle,
                                           void (*on_content)(void *self, struct str handle),
                                           void *self);

/* ERR_STORAGE when it is not there or damaged. The tree's taken_ns is the caller's to set. */
MUST_USE struct err *manifest_load(struct blob_store *blobs, struct str handle,
                                   struct file_tree **ret_tree);

#endif
