/* media.h - the pieces of keel-media: formats in, one picture in memory, formats out.
 *
 * Everything that comes in was made by somebody else, and the libraries that read it have had
 * holes: so this is a program of its own that gives up all it could do with them before it reads
 * the first byte (confine.c). Memory is never given back: the process lives for one file. */
#ifndef KEEL_MEDIA_MEDIA_H
#define KEEL_MEDIA_MEDIA_H

#include "base/mem.h"
#include "media/protocol.h"

struct bytes {
    uint8_t *p;
    size_t n;
};

/* Rows of red, green, blue and alpha, a byte each, without gaps. */
struct picture {
    uint32_t width, height;
    uint8_t *pixels;
    bool is_opaque;
};

struct media_job {
    struct media_request request;
    struct bytes file; /* borrowed */
    struct media_reply reply;
    char text[MEDIA_MAX_TEXT];
    struct bytes made; /* on the heap */
};

/* handle.c: the whole of it, from the bytes of a request to the job's reply, text and file. */
void media_handle(struct bytes input, struct media_job *job);
void media_job_done(struct media_job *job);
/* Sets outcome and text. */
void media_fail(struct media_job *job, enum media_outcome outcome, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* decode.c: false when it fails, and the reply says why. `max_edge`: the decoder may make it
 * smaller at once, but not smaller than this. */
enum media_format media_sniff(struct bytes file);
bool media_decode(struct media_job *job, enum media_format format, struct picture *ret_picture);
/* false: it has more pixels than are decoded. */
bool media_check_size(struct media_job *job, uint64_t width, uint64_t height);
bool media_decode_gif(struct media_job *job, struct picture *ret_picture);

/* scale.c: each new pixel is the mean of those that it stands for. */
struct picture picture_scale(const struct picture *from, uint32_t width, uint32_t height);
void picture_done(struct picture *p);

/* orient.c: how a JPEG wants to be turned, 1 to 8 as Exif counts; and the picture turned so. */
unsigned media_jpeg_orientation(struct bytes file);
void picture_orient(struct picture *p, unsigned orientation);

/* encode.c: the picture as a file of at most max_bytes; smaller and coarser as it must be. */
bool media_encode(struct media_job *job, struct picture *take_picture, enum media_format from);

/* pdf.c */
void media_pdf(struct media_job *job);

/* confine.c: limits, no new privileges, and no system call but those that compute. false: that
 * cannot be had here. */
bool media_confine(void);

#endif
