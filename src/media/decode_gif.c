/* decode_gif.c - decodes the first frame of a GIF on its canvas. */
#include "media/media.h"

#include <gif_lib.h>
#include <string.h>

struct gif_reading {
    struct bytes file;
    size_t at;
};

static int gif_read(GifFileType *gif, GifByteType *to, int n)
{
    struct gif_reading *r = gif->UserData;
    size_t given = MIN((size_t)n, r->file.n - r->at);

    memcpy(to, r->file.p + r->at, given);
    r->at += given;
    return (int)given;
}

/* Reads up to the first frame; its transparent colour, or -1. */
static bool find_frame(GifFileType *gif, int *ret_transparent)
{
    GifRecordType type;

    *ret_transparent = NO_TRANSPARENT_COLOR;
    while (DGifGetRecordType(gif, &type) == GIF_OK && type != TERMINATE_RECORD_TYPE) {
        GraphicsControlBlock control;
        GifByteType *block = NULL;
        int code;

        if (type == IMAGE_DESC_RECORD_TYPE)
            return DGifGetImageDesc(gif) == GIF_OK;
        if (type != EXTENSION_RECORD_TYPE || DGifGetExtension(gif, &code, &block) != GIF_OK)
            return false;
        while (block) {
            if (code == GRAPHICS_EXT_FUNC_CODE &&
                DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
                *ret_transparent = control.TransparentColor;
            if (DGifGetExtensionNext(gif, &block) != GIF_OK)
                return false;
        }
    }
    return false;
}

static void paint(const GifFileType *gif, const uint8_t *line, int y, int transparent,
                  struct picture *p)
{
    const ColorMapObject *map = gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;

    for (int x = 0; x < gif->Image.Width; x++) {
        uint64_t at_x = (uint64_t)gif->Image.Left + (uint64_t)x;
        uint64_t at_y = (uint64_t)gif->Image.Top + (uint64_t)y;
        uint8_t *to = p->pixels + (at_y * p->width + at_x) * 4;

        if (at_x >= p->width || at_y >= p->height || line[x] >= map->ColorCount ||
            line[x] == transparent)
            continue;
        to[0] = map->Colors[line[x]].Red;
        to[1] = map->Colors[line[x]].Green;
        to[2] = map->Colors[line[x]].Blue;
        to[3] = 255;
    }
}

/* Interlaced lines come in four passes. */
static bool read_lines(GifFileType *gif, int transparent, struct picture *p)
{
    static const int starts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
    int n_passes = gif->Image.Interlace ? 4 : 1;
    AUTO_FREE uint8_t *line = mem_alloc((size_t)gif->Image.Width);

    for (int pass = 0; pass < n_passes; pass++)
        for (int y = n_passes > 1 ? starts[pass] : 0; y < gif->Image.Height;
             y += n_passes > 1 ? steps[pass] : 1) {
            if (DGifGetLine(gif, line, gif->Image.Width) != GIF_OK)
                return false;
            paint(gif, line, y, transparent, p);
        }
    return true;
}

static bool decode(struct media_job *job, GifFileType *gif, struct picture *p)
{
    int transparent;

    if (!media_check_size(job, (uint64_t)gif->SWidth, (uint64_t)gif->SHeight))
        return false;
    if (!find_frame(gif, &transparent) || gif->Image.Width <= 0 || gif->Image.Height <= 0 ||
        gif->Image.Left < 0 || gif->Image.Top < 0 ||
        !(gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap)) {
        media_fail(job, MEDIA_BROKEN, "giflib finds no frame in it");
        return false;
    }
    *p = (struct picture){.width = (uint32_t)gif->SWidth, .height = (uint32_t)gif->SHeight};
    p->pixels = mem_alloc((size_t)p->width * p->height * 4);
    if (read_lines(gif, transparent, p))
        return true;
    media_fail(job, MEDIA_BROKEN, "giflib: %.100s", GifErrorString(gif->Error));
    return false;
}

bool media_decode_gif(struct media_job *job, struct picture *ret_picture)
{
    struct gif_reading reading = {.file = job->file};
    int error = 0;
    GifFileType *gif = DGifOpen(&reading, gif_read, &error);
    bool is_read;

    if (!gif) {
        media_fail(job, MEDIA_BROKEN, "giflib: %.100s", GifErrorString(error));
        return false;
    }
    is_read = decode(job, gif, ret_picture);
    DGifCloseFile(gif, &error);
    return is_read;
}
