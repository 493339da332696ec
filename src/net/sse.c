/* sse.c - reads an event stream line by line. */
#include "net/sse.h"

#define LONGEST_FIELD_START 8 /* "retry: " and the like do not count as bytes of the event */

void sse_init(struct sse_reader *r, size_t max_event_bytes)
{
    size_t max_line_bytes = max_event_bytes + LONGEST_FIELD_START;

    *r = (struct sse_reader){.max_event_bytes = max_event_bytes, .retry_ms = -1};
    strbuf_init(&r->line, max_line_bytes);
    strbuf_init(&r->type, max_line_bytes);
    strbuf_init(&r->data, max_event_bytes);
    strbuf_init(&r->id, max_line_bytes);
    strbuf_init(&r->next_id, max_line_bytes);
}

void sse_done(struct sse_reader *r)
{
    strbuf_done(&r->line);
    strbuf_done(&r->type);
    strbuf_done(&r->data);
    strbuf_done(&r->id);
    strbuf_done(&r->next_id);
}

void sse_feed(struct sse_reader *r, struct str bytes)
{
    BUG_IF(r->feed.n);
    r->feed = bytes;
    r->feed_has_cr = str_find_char(bytes, '\r') != STR_NONE;
}

struct str sse_last_event_id(const struct sse_reader *r)
{
    return strbuf_str(&r->id);
}

static struct err *too_large(const struct sse_reader *r)
{
    return err_new(ERR_VALIDATION, "an event of the stream is larger than its limit of %zu bytes",
                   r->max_event_bytes);
}

/* With both kinds of line end it searches once: two searches would read a long feed once per
 * line. */
static size_t find_line_end(const struct sse_reader *r)
{
    struct str s = r->feed;

    if (!r->feed_has_cr)
        return str_find_char(s, '\n');
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\n' || s.p[i] == '\r')
            return i;
    return STR_NONE;
}

/* Cuts the next whole line off the feed, and keeps the start of an incomplete one. */
static struct err *next_line(struct sse_reader *r, struct str *ret_line, bool *ret_has)
{
    size_t end;

    if (r->after_cr && r->feed.n) {
        r->after_cr = false;
        if (r->feed.p[0] == '\n')
            r->feed = str_skip(r->feed, 1);
    }
    end = find_line_end(r);
    *ret_line = str_slice(r->feed, 0, end);
    if (end == STR_NONE || r->line.n) {
        strbuf_add(&r->line, *ret_line);
        *ret_line = strbuf_str(&r->line);
    }
    if (strbuf_is_over(&r->line) || ret_line->n > r->line.max_bytes)
        return too_large(r);
    *ret_has = end != STR_NONE;
    if (*ret_has)
        r->after_cr = r->feed.p[end] == '\r';
    r->feed = *ret_has ? str_skip(r->feed, end + 1) : (struct str){0};
    return NULL;
}

static void set(struct strbuf *b, struct str value)
{
    strbuf_clear(b);
    strbuf_add(b, value);
}

static struct err *take_field(struct sse_reader *r, struct str line)
{
    size_t colon = str_find_char(line, ':');
    struct str name = str_slice(line, 0, colon);
    struct str value = colon == STR_NONE ? (struct str){0} : str_skip(line, colon + 1);

    if (value.n && value.p[0] == ' ')
        value = str_skip(value, 1);
    if (str_eq(name, S("data"))) {
        if (r->has_data)
            strbuf_add_char(&r->data, '\n');
        strbuf_add(&r->data, value);
        r->has_data = true;
        return strbuf_is_over(&r->data) ? too_large(r) : NULL;
    }
    if (str_eq(name, S("event"))) {
        set(&r->type, value);
    } else if (str_eq(name, S("id")) && str_find_char(value, 0) == STR_NONE) {
        set(&r->next_id, value);
        r->has_next_id = true;
    } else if (str_eq(name, S("retry"))) {
        int64_t ms;

        if (value.n && value.p[0] != '-' && str_to_int64(value, &ms))
            r->retry_ms = ms;
    }
    return NULL; /* comments have an empty name; unknown fields are ignored, too */
}

/* A blank line ends the event. False: there is no event to return. */
static bool end_event(struct sse_reader *r, struct sse_event *ret_event)
{
    if (r->has_next_id) {
        struct strbuf old = r->id;
        r->id = r->next_id;
        r->next_id = old;
        r->has_next_id = false;
    }
    r->handed_out = true;
    if (!r->has_data)
        return false;
    ret_event->type = r->type.n ? strbuf_str(&r->type) : S("message");
    ret_event->data = strbuf_str(&r->data);
    ret_event->last_event_id = strbuf_str(&r->id);
    return true;
}

static struct str without_bom(struct sse_reader *r, struct str line)
{
    if (!r->started && str_starts(line, S("\xEF\xBB\xBF")))
        line = str_skip(line, 3);
    r->started = true;
    return line;
}

struct err *sse_next(struct sse_reader *r, struct sse_event *ret_event, bool *ret_has)
{
    for (;;) {
        bool has_line, has_event = false;
        struct str line;

        if (r->handed_out) {
            strbuf_clear(&r->type);
            strbuf_clear(&r->data);
            r->has_data = r->handed_out = false;
        }
        TRY(next_line(r, &line, &has_line));
        if (has_line) {
            line = without_bom(r, line);
            if (line.n)
                TRY(take_field(r, line));
            else
                has_event = end_event(r, ret_event);
            strbuf_clear(&r->line);
        }
        if (has_event || !has_line) {
            *ret_has = has_event;
            return NULL;
        }
    }
}
