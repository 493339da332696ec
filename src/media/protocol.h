/* protocol.h - what keel and keel-media say to each other.
 *
 * keel starts keel-media for one file: it writes a struct media_request and the file to its stdin,
 * and reads a struct media_reply, a text for people and the new file from its stdout. Numbers are
 * in the machine's own byte order: both programs come from one build, and the version tells when
 * they do not. An exit before the reply is whole means that the decoder crashed or met a limit. */
#ifndef KEEL_MEDIA_PROTOCOL_H
#define KEEL_MEDIA_PROTOCOL_H

#include <stdint.h>

#define MEDIA_PROTOCOL_VERSION 1
#define MEDIA_MAX_FILE_BYTES ((size_t)64 << 20)
#define MEDIA_MAX_TEXT 256
/* Of images; what is decoded takes four bytes each. */
#define MEDIA_MAX_PIXELS 100000000u
#define MEDIA_MAX_MEMORY ((size_t)1 << 30)
#define MEDIA_MAX_CPU_SECONDS 20

enum media_work {
    MEDIA_SCALE = 1, /* an image becomes one within max_edge and max_bytes */
    MEDIA_COUNT,     /* how many pages has the PDF? */
    MEDIA_PAGES,     /* a PDF of these pages */
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
    MEDIA_REFUSED,   /* the request itself is wrong */
    MEDIA_BROKEN,    /* the file is, the text says how */
    MEDIA_ENCRYPTED, /* a PDF that wants a password */
    MEDIA_TOO_LARGE, /* more pixels than are decoded, or it cannot be made small enough */
    MEDIA_UNKNOWN,   /* no format, or no library for it */
};

enum media_format { MEDIA_PNG = 1, MEDIA_JPEG, MEDIA_GIF, MEDIA_WEBP, MEDIA_PDF };

struct media_reply {
    uint32_t version;       /* MEDIA_PROTOCOL_VERSION */
    uint32_t outcome;       /* enum media_outcome */
    uint32_t format;        /* of the new file: enum media_format */
    uint32_t width, height; /* as they were */
    uint32_t new_width, new_height;
    uint32_t n_pages; /* of the PDF as it came */
    uint32_t n_text;  /* at most MEDIA_MAX_TEXT */
    uint32_t reserved;
    uint64_t n_bytes;
};

#endif
