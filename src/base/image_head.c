/* image_head.c - walks the structure of images. */
#include "base/image_head.h"

#include "base/crc32.h"

static uint32_t byte_at(struct str s, size_t at)
{
    return (unsigned char)s.p[at];
}

static uint32_t big16(struct str s, size_t at)
{
    return byte_at(s, at) << 8 | byte_at(s, at + 1);
}

static uint32_t big32(struct str s, size_t at)
{
    return big16(s, at) << 16 | big16(s, at + 2);
}

static uint32_t little16(struct str s, size_t at)
{
    return byte_at(s, at) | byte_at(s, at + 1) << 8;
}

static uint32_t little24(struct str s, size_t at)
{
    return little16(s, at) | byte_at(s, at + 2) << 16;
}

static uint32_t little32(struct str s, size_t at)
{
    return little24(s, at) | byte_at(s, at + 3) << 24;
}

/* --- PNG --- */

/* Other chunks may be damaged: decoders skip them. */
static bool is_needed(struct str chunk_type)
{
    return !(chunk_type.p[0] & 0x20);
}

static void walk_png(struct str s, struct image_head *h)
{
    size_t at = 8;

    h->state = IMAGE_CUT;
    while (s.n - at >= 12) {
        uint64_t n = big32(s, at);
        struct str type = str_slice(s, at + 4, 4);

        if (n > s.n - at - 12)
            return;
        if (is_needed(type) && crc32_add(0, str_slice(s, at + 4, 4 + n)) != big32(s, at + 8 + n)) {
            h->state = IMAGE_WRONG;
            h->problem = "the checksum of a chunk does not match";
            return;
        }
        if (str_is(type, "IEND")) {
            h->state = IMAGE_WHOLE;
            return;
        }
        at += 12 + n;
    }
}

static void read_png(struct str s, struct image_head *h)
{
    if (s.n >= 24 && str_is(str_slice(s, 12, 4), "IHDR")) {
        h->width = big32(s, 16);
        h->height = big32(s, 20);
    }
    walk_png(s, h);
}

/* --- JPEG --- */

static bool is_frame(uint32_t marker)
{
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

static bool has_end(struct str s)
{
    for (size_t at = s.n - 1; at-- > 0;)
        if (byte_at(s, at) == 0xFF && byte_at(s, at + 1) == 0xD9)
            return true;
    return false;
}

static void read_jpeg(struct str s, struct image_head *h)
{
    size_t at = 2;

    h->state = IMAGE_CUT;
    while (s.n - at >= 4) {
        uint32_t marker = byte_at(s, at + 1), n = big16(s, at + 2);

        if (byte_at(s, at) != 0xFF || (marker != 0xFF && n < 2)) {
            h->state = IMAGE_WRONG;
            h->problem = "a marker is missing";
            return;
        }
        if (marker == 0xFF) { /* padding */
            at++;
            continue;
        }
        if (n > s.n - at - 2)
            return;
        if (is_frame(marker) && n >= 7) {
            h->height = big16(s, at + 5);
            h->width = big16(s, at + 7);
        }
        at += 2 + n;
        if (marker == 0xDA) {
            h->state = s.n > at && has_end(str_skip(s, at)) ? IMAGE_WHOLE : IMAGE_CUT;
            return;
        }
    }
}

/* --- GIF --- */

/* The position after the last of the sub-blocks that begin there; 0: they do not end. */
static size_t skip_blocks(struct str s, size_t at)
{
    while (at < s.n) {
        size_t n = byte_at(s, at);

        if (n == 0)
            return at + 1;
        at += 1 + n;
    }
    return 0;
}

static size_t table_size(uint32_t flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

static void read_gif(struct str s, struct image_head *h)
{
    size_t at = 13;

    h->state = IMAGE_CUT;
    if (s.n < 13)
        return;
    h->width = little16(s, 6);
    h->height = little16(s, 8);
    at += table_size(byte_at(s, 10));
    while (at && at + 2 <= s.n) {
        uint32_t kind = byte_at(s, at);

        if (kind == 0x21) {
            at = skip_blocks(s, at + 2);
        } else if (kind == 0x2C) {
            if (at + 11 > s.n)
                return;
            at = skip_blocks(s, at + 11 + table_size(byte_at(s, at + 9)));
            h->state = at ? IMAGE_WHOLE : IMAGE_CUT;
            return;
        } else {
            h->state = IMAGE_WRONG;
            h->problem = "it contains no image";
            return;
        }
    }
}

/* --- WebP --- */

static void read_webp(struct str s, struct image_head *h)
{
    struct str kind = str_slice(s, 12, 4);

    if (str_is(kind, "VP8X") && s.n >= 30) {
        h->width = little24(s, 24) + 1;
        h->height = little24(s, 27) + 1;
    } else if (str_is(kind, "VP8 ") && s.n >= 30) {
        h->width = little16(s, 26) & 0x3FFF;
        h->height = little16(s, 28) & 0x3FFF;
    } else if (str_is(kind, "VP8L") && s.n >= 25) {
        uint32_t bits = little32(s, 21);

        h->width = (bits & 0x3FFF) + 1;
        h->height = (bits >> 14 & 0x3FFF) + 1;
    }
    h->state = (uint64_t)little32(s, 4) + 8 <= s.n && h->width ? IMAGE_WHOLE : IMAGE_CUT;
}

/* --- any --- */

bool image_head_read(struct str bytes, struct image_head *ret_head)
{
    static const struct {
        const char *mime, *name;
        struct str magic;
        void (*read)(struct str s, struct image_head *h);
    } formats[] = {
        {"image/png", "PNG", {"\x89PNG\r\n\x1a\n", 8}, read_png},
        {"image/jpeg", "JPEG", {"\xff\xd8\xff", 3}, read_jpeg},
        {"image/gif", "GIF", {"GIF8", 4}, read_gif},
        {"image/webp", "WebP", {"RIFF", 4}, read_webp},
    };

    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        struct image_head head = {.mime = formats[i].mime, .name = formats[i].name};

        if (!str_starts(bytes, formats[i].magic) ||
            (formats[i].read == read_webp && !str_is(str_slice(bytes, 8, 4), "WEBP")))
            continue;
        formats[i].read(bytes, &head);
        if (head.state == IMAGE_WHOLE && (head.width == 0 || head.height == 0)) {
            head.state = IMAGE_WRONG;
            head.problem = "it is 0 pixels wide or high";
        }
        *ret_head = head;
        return true;
    }
    return false;
}
