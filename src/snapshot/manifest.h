/* manifest.h - lists of all files of a workspace, which earlier versions stored before a command.
 *
 * Old sessions refer to such lists, and verifying one checks the contents that they name. Records
 * end in NUL:
 *
 *     keel-tree 1 BASE|-
 *     KIND MODE SHA256|- MTIME CTIME SIZE INODE DEVICE BORN<tab>PATH     times in ns; by path */
#ifndef KEEL_SNAPSHOT_MANIFEST_H
#define KEEL_SNAPSHOT_MANIFEST_H

#include "port/blob.h"

/* Calls on_content for each content that the list itself names, not for those of its base. Reads in
 * pieces. ERR_STORAGE if the list is missing or damaged. */
MUST_USE struct err *manifest_each_content(struct blob_store *blobs, struct str handle,
                                           void (*on_content)(void *self, struct str handle),
                                           void *self);

#endif
