/* media.h - the parts of keel-media: formats in, one picture in memory, formats out.
 *
 * All input is untrusted, and the libraries that read it have had holes. So this is a program of
 * its own, which gives up everything that it could do with them before it reads the first byte
 * (confine.c). Memory is never freed: the process lives for one file. */
#ifndef KEEL_MEDIA_MEDIA_H
#define KEEL_MEDIA_MEDIA_H

#include "base/mem.h"
#include "media/protocol.h"

struct bytes {
    uint8_t *p;
    size_t n;
};

/* Rows of red, green, blue and alpha, one byte each, without gaps. */
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

/* handle.c: from the bytes of a request to the reply, text and file of the job. */
void media_handle(struct bytes input, struct media_job *job);
void media_job_done(struct media_job *job);
/* Sets outcome and text. */
void media_fail(struct media_job *job, enum media_outcome outcome, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* decode.c: false on failure, and the reply says why. `max_edge`: the decoder may reduce the size,
 * but not below this. */
enum media_format media_sniff(struct bytes file);
bool media_decode(struct media_job *job, enum media_format format, struct picture *ret_picture);
/* false: more pixels than are decoded */
bool media_check_size(struct media_job *job, uint64_t width, uint64_t height);
bool media_decode_gif(struct media_job *job, struct picture *ret_picture);

/* scale.c: each new pixel is the mean of the old ones it replaces. */
struct picture picture_scale(const struct picture *from, uint32_t width, uint32_t height);
void picture_done(struct picture *p);

/* orient.c: the orientation of a JPEG, 1 to 8 as in Exif, and the picture turned accordingly. */
unsigned media_jpeg_orientation(struct bytes file);
void picture_orient(struct picture *p, unsigned orientation);

/* encode.c: the picture as a file of at most max_bytes, with less quality and size if necessary. */
bool media_encode(struct media_job *job, struct picture *take_picture, enum media_format from);

/* pdf.c */
void media_pdf(struct media_job *job);

/* confine.c: limits, no new privileges, and only system calls for computing. false: this machine
 * does not support it. */
bool media_confine(void);

#endif
