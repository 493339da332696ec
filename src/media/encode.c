/* encode.c - turns a picture into a file that fits. PNG if it came as one or has transparency, JPEG
 * if it came as one or PNG is too large. Reduces quality, then size, until it fits. */
#include "media/media.h"

#include <png.h>
#include <string.h>
#include <turbojpeg.h>

enum { MAX_SHRINKS = 12 };

static void encode_png(const struct picture *p, struct bytes *ret)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = p->width,
                       .height = p->height,
                       .format = PNG_FORMAT_RGBA};
    png_alloc_size_t n = PNG_IMAGE_PNG_SIZE_MAX(image);

    ret->p = mem_alloc(n);
    if (png_image_write_to_memory(&image, ret->p, &n, 0, p->pixels, 0, NULL))
        ret->n = n;
    png_image_free(&image);
}

static bool encode_jpeg(const struct picture *p, int quality, struct bytes *ret)
{
    tjhandle jpeg = tjInitCompress();
    unsigned char *made = NULL;
    unsigned long n = 0;
    bool is_written = jpeg && tjCompress2(jpeg, p->pixels, (int)p->width, 0, (int)p->height,
                                          TJPF_RGBX, &made, &n, TJSAMP_420, quality, 0) == 0;

    if (is_written) {
        ret->p = mem_copy(made, n);
        ret->n = n;
    }
    tjFree(made);
    if (jpeg)
        tjDestroy(jpeg);
    return is_written;
}

static bool takes(struct media_job *job, struct bytes made, enum media_format format)
{
    if (made.n == 0 || made.n > job->request.max_bytes) {
        mem_free(made.p);
        return false;
    }
    job->made = made;
    job->reply.format = format;
    return true;
}

static bool encode_at_this_size(struct media_job *job, const struct picture *p,
                                enum media_format from)
{
    static const int qualities[] = {88, 75, 60};
    struct bytes made = {0};

    if (from != MEDIA_JPEG) {
        encode_png(p, &made);
        if (takes(job, made, MEDIA_PNG))
            return true;
    }
    for (size_t i = 0; p->is_opaque && i < ARRAY_LEN(qualities); i++) {
        made = (struct bytes){0};
        if (encode_jpeg(p, qualities[i], &made) && takes(job, made, MEDIA_JPEG))
            return true;
    }
    return false;
}

/* Fits it within the edge, in proportion. */
static void fit_edge(struct media_job *job, const struct picture *p, uint32_t edge)
{
    uint64_t longer = MAX(p->width, p->height), most = MIN(longer, edge);

    job->reply.new_width = (uint32_t)MAX(p->width * most / longer, 1);
    job->reply.new_height = (uint32_t)MAX(p->height * most / longer, 1);
}

bool media_encode(struct media_job *job, struct picture *take_picture, enum media_format from)
{
    uint32_t edge = job->request.max_edge;

    for (int i = 0; i < MAX_SHRINKS && edge > 0; i++) {
        struct picture smaller;
        bool is_fine;

        fit_edge(job, take_picture, edge);
        smaller = picture_scale(take_picture, job->reply.new_width, job->reply.new_height);
        picture_done(take_picture);
        *take_picture = smaller;
        is_fine = encode_at_this_size(job, take_picture, from);
        if (is_fine)
            return true;
        edge = MAX(take_picture->width, take_picture->height) * 7 / 10;
    }
    media_fail(job, MEDIA_TOO_LARGE, "it cannot be made small enough");
    return false;
}
