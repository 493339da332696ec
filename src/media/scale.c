/* scale.c - makes a picture smaller. */
#include "media/media.h"

#include <string.h>

void picture_done(struct picture *p)
{
    mem_free(p->pixels);
    *p = (struct picture){0};
}

/* The mean of a rectangle; transparent pixels do not contribute colour. */
static void add_mean(const struct picture *from, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1,
                     uint8_t out[4])
{
    uint64_t sums[3] = {0}, alpha = 0, n = (uint64_t)(x1 - x0) * (y1 - y0);

    for (uint32_t y = y0; y < y1; y++) {
        const uint8_t *p = from->pixels + ((size_t)y * from->width + x0) * 4;

        for (uint32_t x = x0; x < x1; x++, p += 4) {
            for (int i = 0; i < 3; i++)
                sums[i] += (uint64_t)p[i] * p[3];
            alpha += p[3];
        }
    }
    for (int i = 0; i < 3; i++)
        out[i] = (uint8_t)(alpha ? (sums[i] + alpha / 2) / alpha : 0);
    out[3] = (uint8_t)((alpha + n / 2) / n);
}

/* The position of the i-th of n_new pixels among n_old. */
static uint32_t edge(uint32_t i, uint32_t n_old, uint32_t n_new)
{
    return (uint32_t)((uint64_t)i * n_old / n_new);
}

struct picture picture_scale(const struct picture *from, uint32_t width, uint32_t height)
{
    struct picture to = {.width = MIN(width, from->width),
                         .height = MIN(height, from->height),
                         .is_opaque = from->is_opaque};

    to.pixels = mem_alloc((size_t)to.width * to.height * 4);
    for (uint32_t y = 0; y < to.height; y++)
        for (uint32_t x = 0; x < to.width; x++)
            add_mean(from, edge(x, from->width, to.width), edge(x + 1, from->width, to.width),
                     edge(y, from->height, to.height), edge(y + 1, from->height, to.height),
                     to.pixels + ((size_t)y * to.width + x) * 4);
    return to;
}
