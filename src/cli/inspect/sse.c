/* sse.c - `keel inspect sse`: the events of a recorded stream. */
#include "cli/inspect/inspect.h"

#include "base/json.h"
#include "net/sse.h"
#include "sys/fs.h"

#define FLUSH_BYTES ((size_t)1 << 16)

static void add_event(struct strbuf *out, const struct sse_event *event)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", event->type);
    jw_kv_str(&w, "data", event->data);
    jw_kv_str(&w, "lastEventId", event->last_event_id);
    jw_end_object(&w);
    strbuf_add_char(out, '\n');
}

static struct err *flush(struct strbuf *out)
{
    TRY(strbuf_check(out, "the output"));
    TRY(cli_print(strbuf_str(out)));
    strbuf_clear(out);
    return NULL;
}

static struct err *drain(struct sse_reader *reader, struct str bytes, struct strbuf *out)
{
    struct sse_event event;
    bool has_event;

    sse_feed(reader, bytes);
    for (;;) {
        TRY(sse_next(reader, &event, &has_event));
        if (!has_event)
            return NULL;
        add_event(out, &event);
        if (out->n > FLUSH_BYTES) /* an event of six bytes makes a line of fifty */
            TRY(flush(out));
    }
}

static struct err *run(const struct args *args, int *ret_status)
{
    AUTO(strbuf) struct strbuf text = {0}, out = {0};
    AUTO(sse_reader) struct sse_reader reader;
    int64_t chunk;

    sse_init(&reader, FS_READ_MAX_BYTES);
    TRY(args_count(args, 1, 1, "one FILE"));
    TRY(args_int(args, "chunk", 1, INT32_MAX, INT32_MAX, &chunk));
    TRY(cli_read_file(args->operands[0], &text));
    for (size_t at = 0; at < text.n; at += (size_t)chunk)
        TRY(drain(&reader, str_slice(strbuf_str(&text), at, (size_t)chunk), &out));
    return flush(&out);
}

static const struct option options[] = {
    {"chunk", 0, "N", "feed N bytes at a time; the result is the same"},
    {0},
};

const struct command command_inspect_sse = {
    .name = "inspect sse",
    .usage = "[--chunk N] FILE",
    .summary = "print the events of a text/event-stream, one JSON object per line",
    .details = "  keel inspect sse answer.sse\n",
    .options = options,
    .run = run,
};
