/* file_kind.h - identifies a file by its first bytes. Pure. */
#ifndef KEEL_BASE_FILE_KIND_H
#define KEEL_BASE_FILE_KIND_H

#include "base/str.h"

enum file_class { FILE_TEXT, FILE_IMAGE, FILE_PDF, FILE_AUDIO, FILE_VIDEO, FILE_BINARY };

struct file_kind {
    enum file_class class;
    const char *mime; /* "image/png"; "application/octet-stream" if unknown */
    const char *name; /* for people: "a PNG image", "a ZIP archive", "an ELF program" */
};

/* From the first 8 KB or so. Text is valid UTF-8 (but for a character cut at the end), UTF-16 with
 * a BOM, or Latin-1-like text without control characters; a NUL makes it binary. Text is
 * "text/plain", but for SVG images: they are text too, with their own type. */
struct file_kind file_kind_of(struct str head);

#endif
