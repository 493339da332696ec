/* image_head.h - how large an image is, and whether all of it is there: told from its structure.
 *
 * PNG, JPEG, GIF and WebP. Nothing is decoded: chunks, markers and blocks are walked as far as the
 * first picture. Pure. */
#ifndef KEEL_BASE_IMAGE_HEAD_H
#define KEEL_BASE_IMAGE_HEAD_H

#include "base/str.h"

enum image_state {
    IMAGE_WHOLE,
    IMAGE_CUT,   /* it ends before the first picture does */
    IMAGE_WRONG, /* its structure is broken: `problem` says where */
};

struct image_head {
    const char *mime;       /* "image/png" */
    const char *name;       /* "PNG" */
    uint32_t width, height; /* 0: the file ends before it says */
    enum image_state state;
    const char *problem;
};

/* False: the bytes are none of these formats. */
bool image_head_read(struct str bytes, struct image_head *ret_head);

#endif
