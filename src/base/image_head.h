/* image_head.h - reads the size of an image and checks that it is complete, by its structure.
 *
 * PNG, JPEG, GIF and WebP. Decodes nothing: walks chunks, markers and blocks as far as the first
 * picture. Pure. */
#ifndef KEEL_BASE_IMAGE_HEAD_H
#define KEEL_BASE_IMAGE_HEAD_H

#include "base/str.h"

enum image_state {
    IMAGE_WHOLE,
    IMAGE_CUT,   /* it ends before the first picture does */
    IMAGE_WRONG, /* its structure is broken: `problem` says how */
};

struct image_head {
    const char *mime;       /* "image/png" */
    const char *name;       /* "PNG" */
    uint32_t width, height; /* 0: the file ends before them */
    enum image_state state;
    const char *problem;
};

/* False: the bytes have none of these formats. */
bool image_head_read(struct str bytes, struct image_head *ret_head);

#endif
