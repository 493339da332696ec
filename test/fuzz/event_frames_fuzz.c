/* event_frames_fuzz.c - frames read the same whole and in pieces, and no header leads outside. */
#include "base/crc32.h"
#include "net/event_frames.h"

#define MAX_FRAME_BYTES 512

static bool read_all(struct str body, size_t step, struct strbuf *out)
{
    AUTO(event_frame_reader) struct event_frame_reader r;

    event_frames_init(&r, MAX_FRAME_BYTES);
    for (; body.n; body = str_skip(body, step)) {
        bool has_frame = true;

        event_frames_feed(&r, str_slice(body, 0, step));
        while (has_frame) {
            struct event_frame f;
            AUTO(err) struct err *e = event_frames_next(&r, &f, &has_frame);

            if (e)
                return false;
            if (has_frame) {
                strbuf_add(out, event_frame_get(&f, ":event-type"));
                strbuf_add_char(out, 0);
                strbuf_add(out, f.payload);
                strbuf_add_char(out, 0);
            }
        }
    }
    return true;
}

static void put_number(char *at, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(n >> (24 - 8 * i));
}

/* Chance does not find a CRC: the input's first frame gets right ones, and its own length. */
static void repair(struct strbuf *body)
{
    if (body->n < 16)
        return;
    put_number(body->p, (uint32_t)body->n);
    put_number(body->p + 8, crc32_add(0, str_make(body->p, 8)));
    put_number(body->p + body->n - 4, crc32_add(0, str_make(body->p, body->n - 4)));
}

/* The first byte of the input says how the rest is cut, and whether it is repaired. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(strbuf) struct strbuf body = {0}, whole = {0}, pieces = {0};

    if (size < 2)
        return 0;
    strbuf_add(&body, str_make((const char *)data + 1, size - 1));
    if (data[0] & 0x80)
        repair(&body);
    BUG_IF(read_all(strbuf_str(&body), SIZE_MAX, &whole) !=
           read_all(strbuf_str(&body), 1 + data[0] % 16, &pieces));
    BUG_IF(!str_eq(strbuf_str(&whole), strbuf_str(&pieces)));
    return 0;
}
