/* event_frames.c - parses frames. All numbers are big-endian. */
#include "net/event_frames.h"

#include "base/crc32.h"

#define PRELUDE_BYTES 12 /* two lengths and their CRC */
#define LEAST_BYTES (PRELUDE_BYTES + 4)

void event_frames_init(struct event_frame_reader *r, size_t max_frame_bytes)
{
    *r = (struct event_frame_reader){0};
    strbuf_init(&r->pending, max_frame_bytes);
}

void event_frames_done(struct event_frame_reader *r)
{
    strbuf_done(&r->pending);
}

void event_frames_feed(struct event_frame_reader *r, struct str bytes)
{
    r->feed = bytes;
}

static uint32_t number_at(struct str bytes, size_t at)
{
    const unsigned char *p = (const unsigned char *)bytes.p + at;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Moves bytes from the feed until `n` are pending. False: the feed has too few. */
static bool collect(struct event_frame_reader *r, size_t n)
{
    size_t n_missing = n > r->pending.n ? n - r->pending.n : 0;

    strbuf_add(&r->pending, str_slice(r->feed, 0, n_missing));
    r->feed = str_skip(r->feed, n_missing);
    return r->pending.n >= n;
}

static struct err *check_prelude(struct str prelude, size_t max_bytes)
{
    size_t n_total = number_at(prelude, 0), n_headers = number_at(prelude, 4);

    if (crc32_add(0, str_slice(prelude, 0, 8)) != number_at(prelude, 8))
        return err_new(ERR_VALIDATION, "the checksum of a frame's prelude does not match");
    if (n_total < LEAST_BYTES || n_headers > n_total - LEAST_BYTES)
        return err_new(ERR_VALIDATION, "the lengths of a frame do not add up");
    if (n_total > max_bytes)
        return err_new(ERR_VALIDATION, "a frame has %zu bytes, more than the limit of %zu", n_total,
                       max_bytes);
    return NULL;
}

struct err *event_frames_next(struct event_frame_reader *r, struct event_frame *ret_frame,
                              bool *ret_has)
{
    struct str frame;
    size_t n_total, n_headers;

    *ret_has = false;
    if (r->handed_out)
        strbuf_clear(&r->pending);
    r->handed_out = false;
    if (!collect(r, PRELUDE_BYTES))
        return NULL;
    frame = strbuf_str(&r->pending);
    TRY(check_prelude(frame, r->pending.max_bytes));
    n_total = number_at(frame, 0);
    n_headers = number_at(frame, 4);
    if (!collect(r, n_total))
        return NULL;
    frame = strbuf_str(&r->pending);
    if (crc32_add(0, str_slice(frame, 0, n_total - 4)) != number_at(frame, n_total - 4))
        return err_new(ERR_VALIDATION, "the checksum of a frame does not match");
    *ret_frame = (struct event_frame){
        .headers = str_slice(frame, PRELUDE_BYTES, n_headers),
        .payload = str_slice(frame, PRELUDE_BYTES + n_headers, n_total - LEAST_BYTES - n_headers),
    };
    r->handed_out = *ret_has = true;
    return NULL;
}

/* --- headers --- */

enum { VALUE_BINARY = 6, VALUE_STRING = 7 };

/* The length of a value with this type and these first bytes. STR_NONE: the type is unknown, or the
 * bytes end before. *ret_skip: bytes of a length before the value. */
static size_t value_bytes(unsigned type, struct str rest, size_t *ret_skip)
{
    static const unsigned char sizes[] = {0, 0, 1, 2, 4, 8, 0, 0, 8, 16};
    size_t n = 0;

    *ret_skip = 0;
    if (type >= sizeof sizes)
        return STR_NONE;
    n = sizes[type];
    if (type == VALUE_BINARY || type == VALUE_STRING) {
        if (rest.n < 2)
            return STR_NONE;
        n = (size_t)((unsigned char)rest.p[0] << 8 | (unsigned char)rest.p[1]);
        *ret_skip = 2;
    }
    return n + *ret_skip <= rest.n ? n : STR_NONE;
}

struct str event_frame_get(const struct event_frame *f, const char *name)
{
    struct str rest = f->headers;

    while (rest.n) {
        size_t n_name = (unsigned char)rest.p[0], n_skip, n;
        struct str key = str_slice(rest, 1, n_name);
        unsigned type;

        if (rest.n < n_name + 2)
            break;
        type = (unsigned char)rest.p[1 + n_name];
        rest = str_skip(rest, n_name + 2);
        n = value_bytes(type, rest, &n_skip);
        if (n == STR_NONE)
            break;
        if (type == VALUE_STRING && str_is(key, name))
            return str_slice(rest, n_skip, n);
        rest = str_skip(rest, n_skip + n);
    }
    return (struct str){0};
}
