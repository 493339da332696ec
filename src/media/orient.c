/* orient.c - turns pictures. Cameras store photographs as the sensor was and note the orientation.
 * A new file loses that note, so the picture itself is turned. */
#include "media/media.h"

#include <string.h>

#define ORIENTATION_TAG 0x0112
#define EXIF_HEAD 6 /* "Exif\0\0" */

static uint32_t number(const uint8_t *p, size_t n, bool is_big)
{
    uint32_t value = 0;

    for (size_t i = 0; i < n; i++)
        value = value << 8 | p[is_big ? i : n - 1 - i];
    return value;
}

/* From the first directory of a TIFF structure; 1: not turned. */
static unsigned find_tag(const uint8_t *tiff, size_t n)
{
    bool is_big = n >= 8 && tiff[0] == 'M';
    size_t at = n >= 8 ? number(tiff + 4, 4, is_big) : n;
    size_t n_entries = at < n && n - at >= 2 ? number(tiff + at, 2, is_big) : 0;

    for (size_t i = 0; i < n_entries && n - at >= 2 + 12 * (i + 1); i++) {
        const uint8_t *entry = tiff + at + 2 + 12 * i;

        if (number(entry, 2, is_big) == ORIENTATION_TAG)
            return number(entry + 8, 2, is_big);
    }
    return 1;
}

unsigned media_jpeg_orientation(struct bytes file)
{
    size_t at = 2;

    while (file.n > at && file.n - at >= 4 && file.p[at] == 0xFF && file.p[at + 1] != 0xDA) {
        size_t n = number(file.p + at + 2, 2, /* is_big= */ true);

        if (n < 2 || n > file.n - at - 2)
            break;
        if (file.p[at + 1] == 0xE1 && n >= 2 + EXIF_HEAD &&
            memcmp(file.p + at + 4, "Exif\0", EXIF_HEAD) == 0)
            return find_tag(file.p + at + 4 + EXIF_HEAD, n - 2 - EXIF_HEAD);
        at += 2 + n;
    }
    return 1;
}

/* From 5 on rows become columns; the others are only mirrored. */
void picture_orient(struct picture *p, unsigned orientation)
{
    bool swaps = orientation >= 5;
    bool flips_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
    bool flips_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
    struct picture to = {.width = swaps ? p->height : p->width,
                         .height = swaps ? p->width : p->height,
                         .is_opaque = p->is_opaque};

    if (orientation < 2 || orientation > 8)
        return;
    to.pixels = mem_alloc((size_t)to.width * to.height * 4);
    for (uint32_t y = 0; y < to.height; y++)
        for (uint32_t x = 0; x < to.width; x++) {
            uint32_t from_x = swaps ? y : x, from_y = swaps ? x : y;

            if (flips_x)
                from_x = p->width - 1 - from_x;
            if (flips_y)
                from_y = p->height - 1 - from_y;
            memcpy(to.pixels + ((size_t)y * to.width + x) * 4,
                   p->pixels + ((size_t)from_y * p->width + from_x) * 4, 4);
        }
    picture_done(p);
    *p = to;
}
