/* compare.h - what has changed from one tree to the next, as pre-images. */
#ifndef KEEL_SNAPSHOT_COMPARE_H
#define KEEL_SNAPSHOT_COMPARE_H

#include "snapshot/file_tree.h"

/* Blocks: what is in one tree only is looked at again. `now` must be filled; the images live
 * in `a`. */
MUST_USE struct err *file_tree_compare(const struct file_tree *before, const struct file_tree *now,
                                       const struct file_tree_limits *limits, struct arena *a,
                                       struct pre_images *ret_images);

void pre_images_add(struct pre_images *list, struct arena *a, struct pre_image image);

#endif
