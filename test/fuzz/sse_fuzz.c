/* sse_fuzz.c - an event stream reads the same whole and in pieces. */
#include "net/sse.h"

#define MAX_EVENT_BYTES 64

static bool read_all(struct str body, size_t step, struct strbuf *out)
{
    AUTO(sse_reader) struct sse_reader r;

    sse_init(&r, MAX_EVENT_BYTES);
    for (; body.n; body = str_skip(body, step)) {
        bool has_event = true;

        sse_feed(&r, str_slice(body, 0, step));
        while (has_event) {
            struct sse_event event;
            AUTO(err) struct err *e = sse_next(&r, &event, &has_event);

            if (e)
                return false;
            if (has_event) {
                strbuf_add(out, event.type);
                strbuf_add_char(out, 0);
                strbuf_add(out, event.data);
                strbuf_add_char(out, 0);
                strbuf_add(out, event.last_event_id);
            }
        }
    }
    return true;
}

/* The first byte of the input says how the rest is cut. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(strbuf) struct strbuf whole = {0}, pieces = {0};
    struct str body;

    if (size < 2)
        return 0;
    body = str_make((const char *)data + 1, size - 1);
    BUG_IF(read_all(body, SIZE_MAX, &whole) != read_all(body, 1 + data[0] % 16, &pieces));
    BUG_IF(!str_eq(strbuf_str(&whole), strbuf_str(&pieces)));
    return 0;
}
