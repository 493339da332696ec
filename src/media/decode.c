/* decode.c - turns images into pictures: PNG with libpng, JPEG with libjpeg-turbo, WebP with
 * libwebp, GIF with giflib (decode_gif.c). It reads the size first, and decodes nothing that is too
 * large. */
#include "media/media.h"

#include <png.h>
#include <string.h>
#include <turbojpeg.h>
#include <webp/decode.h>

static bool starts_with(struct bytes file, const char *magic, size_t at, size_t n)
{
    return file.n >= at + n && memcmp(file.p + at, magic, n) == 0;
}

enum media_format media_sniff(struct bytes file)
{
    if (starts_with(file, "\x89PNG\r\n\x1a\n", 0, 8))
        return MEDIA_PNG;
    if (starts_with(file, "\xff\xd8\xff", 0, 3))
        return MEDIA_JPEG;
    if (starts_with(file, "GIF87a", 0, 6) || starts_with(file, "GIF89a", 0, 6))
        return MEDIA_GIF;
    if (starts_with(file, "RIFF", 0, 4) && starts_with(file, "WEBP", 8, 4))
        return MEDIA_WEBP;
    return starts_with(file, "%PDF-", 0, 5) ? MEDIA_PDF : 0;
}

bool media_check_size(struct media_job *job, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0) {
        media_fail(job, MEDIA_BROKEN, "its size is %ux%u pixels", (unsigned)width,
                   (unsigned)height);
        return false;
    }
    job->reply.width = (uint32_t)width;
    job->reply.height = (uint32_t)height;
    if (width <= UINT32_MAX && height <= UINT32_MAX && width * height <= MEDIA_MAX_PIXELS)
        return true;
    media_fail(job, MEDIA_TOO_LARGE, "%llux%llu is more than %u million pixels",
               (unsigned long long)width, (unsigned long long)height, MEDIA_MAX_PIXELS / 1000000);
    return false;
}

static void note_alpha(struct picture *p)
{
    p->is_opaque = true;
    for (size_t i = 0; i < (size_t)p->width * p->height && p->is_opaque; i++)
        p->is_opaque = p->pixels[i * 4 + 3] == 255;
}

static bool decode_png(struct media_job *job, struct picture *p)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    bool is_read = png_image_begin_read_from_memory(&image, job->file.p, job->file.n);

    if (is_read && !media_check_size(job, image.width, image.height)) {
        png_image_free(&image);
        return false;
    }
    if (is_read) {
        *p = (struct picture){.width = image.width, .height = image.height};
        p->pixels = mem_alloc((size_t)image.width * image.height * 4);
        image.format = PNG_FORMAT_RGBA;
        is_read = png_image_finish_read(&image, NULL, p->pixels, 0, NULL);
    }
    if (!is_read)
        media_fail(job, MEDIA_BROKEN, "libpng: %.100s", image.message);
    png_image_free(&image);
    return is_read;
}

/* The smallest size that the decoder can produce directly and that is not below the limit. */
static void choose_scale(const struct media_job *job, int *width, int *height)
{
    int n, edge = (int)MIN(job->request.max_edge, (uint32_t)INT32_MAX), w = *width, h = *height;
    tjscalingfactor *factors = tjGetScalingFactors(&n);

    for (int i = 0; factors && i < n; i++) {
        int scaled_w = TJSCALED(w, factors[i]), scaled_h = TJSCALED(h, factors[i]);

        if (scaled_w <= *width && MAX(scaled_w, scaled_h) >= MIN(edge, MAX(w, h)) && scaled_w > 0 &&
            scaled_h > 0) {
            *width = scaled_w;
            *height = scaled_h;
        }
    }
}

/* Cameras write files that the library warns about; they are still readable. */
static bool is_fine(tjhandle jpeg, int status)
{
    return status == 0 || tjGetErrorCode(jpeg) == TJERR_WARNING;
}

static bool decode_jpeg(struct media_job *job, struct picture *p)
{
    tjhandle jpeg = tjInitDecompress();
    int width = 0, height = 0, subsampling, colours;
    bool is_read = jpeg && is_fine(jpeg, tjDecompressHeader3(jpeg, job->file.p, job->file.n, &width,
                                                             &height, &subsampling, &colours));

    if (is_read && !media_check_size(job, (uint64_t)width, (uint64_t)height)) {
        tjDestroy(jpeg);
        return false;
    }
    if (is_read) {
        choose_scale(job, &width, &height);
        *p = (struct picture){
            .width = (uint32_t)width, .height = (uint32_t)height, .is_opaque = true};
        p->pixels = mem_alloc((size_t)width * (size_t)height * 4);
        is_read = is_fine(jpeg, tjDecompress2(jpeg, job->file.p, job->file.n, p->pixels, width, 0,
                                              height, TJPF_RGBA, TJFLAG_LIMITSCANS));
    }
    if (!is_read)
        media_fail(job, MEDIA_BROKEN, "libjpeg: %.100s", tjGetErrorStr2(jpeg));
    if (jpeg)
        tjDestroy(jpeg);
    return is_read;
}

static bool decode_webp(struct media_job *job, struct picture *p)
{
    int width, height;

    if (!WebPGetInfo(job->file.p, job->file.n, &width, &height)) {
        media_fail(job, MEDIA_BROKEN, "libwebp cannot read its header");
        return false;
    }
    if (!media_check_size(job, (uint64_t)width, (uint64_t)height))
        return false;
    *p = (struct picture){.width = (uint32_t)width, .height = (uint32_t)height};
    p->pixels = mem_alloc((size_t)width * (size_t)height * 4);
    if (WebPDecodeRGBAInto(job->file.p, job->file.n, p->pixels, (size_t)width * (size_t)height * 4,
                           width * 4))
        return true;
    media_fail(job, MEDIA_BROKEN, "libwebp cannot decode it; it may be truncated or animated");
    return false;
}

bool media_decode(struct media_job *job, enum media_format format, struct picture *ret_picture)
{
    bool is_read = format == MEDIA_PNG    ? decode_png(job, ret_picture)
                   : format == MEDIA_JPEG ? decode_jpeg(job, ret_picture)
                   : format == MEDIA_WEBP ? decode_webp(job, ret_picture)
                                          : media_decode_gif(job, ret_picture);

    if (is_read)
        note_alpha(ret_picture);
    return is_read;
}
