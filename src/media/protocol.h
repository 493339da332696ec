/* protocol.h - the protocol between keel and keel-media.
 *
 * keel starts keel-media for one file. It writes a struct media_request and the file to its stdin,
 * and reads a struct media_reply, a text for people and the new file from its stdout. Numbers are
 * in the machine's byte order: both programs come from one build, and the version shows if they do
 * not. If the process exits before the reply is complete, the decoder crashed or exceeded a
 * limit. */
#ifndef KEEL_MEDIA_PROTOCOL_H
#define KEEL_MEDIA_PROTOCOL_H

#include <stdint.h>

#define MEDIA_PROTOCOL_VERSION 1
#define MEDIA_MAX_FILE_BYTES ((size_t)64 << 20)
#define MEDIA_MAX_TEXT 256
/* Of images; decoded, each takes four bytes. */
#define MEDIA_MAX_PIXELS 100000000u
#define MEDIA_MAX_MEMORY ((size_t)1 << 30)
#define MEDIA_MAX_CPU_SECONDS 20

enum media_work {
    MEDIA_SCALE = 1, /* make an image fit within max_edge and max_bytes */
    MEDIA_COUNT,     /* count the pages of a PDF */
    MEDIA_PAGES,     /* make a PDF of these pages */
};

struct media_request {
    uint32_t version; /* MEDIA_PROTOCOL_VERSION */
    uint32_t work;    /* enum media_work */
    uint32_t max_edge;
    uint32_t first_page, last_page; /* from 1 */
    uint32_t reserved;
    uint64_t max_bytes;
    uint64_t n_bytes; /* of the file that follows */
};

enum media_outcome {
    MEDIA_DONE = 1,
    MEDIA_REFUSED,   /* the request is invalid */
    MEDIA_BROKEN,    /* the file is invalid; the text says how */
    MEDIA_ENCRYPTED, /* the PDF needs a password */
    MEDIA_TOO_LARGE, /* more pixels than are decoded, or it cannot be made small enough */
    MEDIA_UNKNOWN,   /* unknown format, or no library for it */
};

enum media_format { MEDIA_PNG = 1, MEDIA_JPEG, MEDIA_GIF, MEDIA_WEBP, MEDIA_PDF };

struct media_reply {
    uint32_t version;       /* MEDIA_PROTOCOL_VERSION */
    uint32_t outcome;       /* enum media_outcome */
    uint32_t format;        /* of the new file: enum media_format */
    uint32_t width, height; /* the original size */
    uint32_t new_width, new_height;
    uint32_t n_pages; /* of the original PDF */
    uint32_t n_text;  /* at most MEDIA_MAX_TEXT */
    uint32_t reserved;
    uint64_t n_bytes;
};

#endif
