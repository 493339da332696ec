/* import_lines.c - lines and values of any length, of which only the used part is in memory.
 *
 * A short line is parsed in the buffer. A long one is walked over: unused members are skipped, and
 * of the rest JSON_MAX_BYTES and JSON_MAX_VALUES are kept, as much as a reader of a session
 * accepts. */
#include "transcript/import_parts.h"

#include "base/utf8.h"

#include <inttypes.h>

#define READ_BYTES ((size_t)256 << 10)
#define SHORT_LINE ((size_t)1 << 20)
#define SHORT_VALUE ((size_t)64 << 10) /* of a long line: parsed as a whole */
#define MAX_MEMBERS 1024               /* of a longer object */

/* --- bytes --- */

void import_rewind(struct importing *x)
{
    strbuf_clear(&x->buffer);
    x->next = x->start;
    x->at = x->line = 0;
    x->is_over = x->is_last = false;
}

/* Reads more after the rest in the buffer; nothing at the end. */
static void read_more(struct importing *x)
{
    size_t before;

    strbuf_drop_front(&x->buffer, x->at);
    x->at = 0;
    if (x->is_over)
        return;
    before = x->buffer.n;
    if (!x->error)
        x->error = x->source->read(x->source->self, x->next, READ_BYTES, &x->buffer);
    x->next += x->buffer.n - before;
    x->is_over = x->error || x->buffer.n == before || (x->end && x->next >= x->end);
}

static struct err *read_for_walk(void *self, struct strbuf *out)
{
    struct importing *x = self;
    size_t before = out->n;

    TRY(x->source->read(x->source->self, x->next, READ_BYTES, out));
    x->next += out->n - before;
    return NULL;
}

void import_walk(struct importing *x, struct json_walk *ret_walk)
{
    import_rewind(x);
    json_walk_init(ret_walk, read_for_walk, x);
}

/* --- values --- */

/* A member for a person or a model: a note in it says what is missing. */
static bool is_prose(struct str key)
{
    static const char *const names[] = {"text", "content", "thinking", "output", "message"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(key, names[i]))
            return true;
    return key.n == 0;
}

static struct json *instead_of_text(struct importing *x, struct str key, uint64_t n_bytes)
{
    struct str note = arena_format(&x->scratch, "[A text of %" PRIu64 " MB, too long to import.]",
                                   (n_bytes + 999999) / 1000000);

    x->was_cut = true;
    return json_new_str(&x->scratch, is_prose(key) ? note : (struct str){0});
}

struct capped_text {
    struct strbuf text;
    uint64_t n_bytes;
    size_t max_bytes;
};

static struct err *take_piece(void *self, struct str piece)
{
    struct capped_text *l = self;

    l->n_bytes += piece.n;
    if (l->n_bytes <= l->max_bytes)
        utf8_add_repaired(&l->text, piece);
    else
        strbuf_done(&l->text);
    return NULL;
}

static struct err *build_text(struct importing *x, struct json_walk *w, struct str key,
                              struct json **ret_value)
{
    struct capped_text l = {.max_bytes = x->n_bytes_left};
    struct err *e = json_walk_text(w, take_piece, &l);

    if (!e && l.n_bytes <= l.max_bytes) {
        *ret_value = json_new_str(&x->scratch, strbuf_str(&l.text));
        x->n_bytes_left -= l.n_bytes;
    } else if (!e) {
        *ret_value = instead_of_text(x, key, l.n_bytes);
    }
    strbuf_done(&l.text);
    return e;
}

static size_t count_values(const struct json *v)
{
    size_t n = 1;

    json_each (child, v)
        n += count_values(child);
    return n;
}

static struct err *build_short(struct importing *x, struct str raw, struct str key,
                               struct json **ret_value)
{
    struct json *v;

    if (raw.n > x->n_bytes_left) {
        *ret_value = raw.p[0] == '"' ? instead_of_text(x, key, raw.n) : NULL;
        x->was_cut = true;
        return NULL;
    }
    TRY(json_parse(&x->scratch, arena_str(&x->scratch, raw), JSON_REPAIR_UTF8, &v));
    x->n_bytes_left -= raw.n;
    x->n_values_left -= MIN(count_values(v), x->n_values_left);
    *ret_value = v;
    return NULL;
}

/* Is this member of a line used? A log that repeats its history has many unused ones. */
static bool is_used(const struct json *line, struct str key)
{
    static const char *const unused[] = {"messages", "history",     "historyStructure",
                                         "tools",    "toolSchemas", "result",
                                         "error",    "state"};
    static const char *const events[] = {"session_init", "history_mutation", "checkpoint"};
    struct str event = json_get_text(line, "event");
    bool is_event_used = false;

    if (str_is(key, "result") && str_is(event, "tool_end"))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(unused); i++)
        if (str_is(key, unused[i]))
            return false;
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        is_event_used |= str_is(event, events[i]);
    return !event.n || (is_event_used && !str_is(key, "payload")) || str_is(key, "sessionId") ||
           str_is(key, "parentSessionId");
}

static struct err *build(struct importing *x, struct json_walk *w, struct str key,
                         struct json **ret_value);

static struct err *build_inside(struct importing *x, struct json_walk *w, struct json *into)
{
    bool found, is_object = into->type == JSON_OBJECT, is_cut = false, lacks_content = false;
    struct str key;

    TRY(json_walk_enter(w));
    for (;;) {
        struct json *child = NULL;
        bool is_line = w->depth == 1, is_full = is_object && into->n >= MAX_MEMBERS;

        TRY(json_walk_next(w, &key, &found));
        if (!found)
            break;
        if (is_full || x->n_values_left == 0)
            import_leave_out(x, S("values of a message that has too many"));
        if (is_full || x->n_values_left == 0 || (is_line && !is_used(into, key))) {
            TRY(json_walk_skip(w));
            continue;
        }
        key = arena_str(&x->scratch, key);
        if (str_is(key, "parts") && !x->has_parts) { /* they repeat `content` */
            x->has_parts = true;
            x->n_bytes_left = JSON_MAX_BYTES;
        }
        TRY(build(x, w, key, &child));
        if (child && is_object)
            json_set_key(&x->scratch, into, key, child);
        else if (child)
            json_push(into, child);
        is_cut |= x->was_cut;
        lacks_content |= x->was_cut && str_is(key, "content");
        if (x->was_cut && !str_is(key, "content"))
            import_leave_out(x, S("texts that are too long"));
        x->was_cut = false;
    }
    if (lacks_content && !json_has(into, "parts"))
        import_leave_out(x, S("texts that are too long"));
    if (is_cut)
        json_remove(into, S("signature")); /* it was of the whole text */
    return NULL;
}

static struct err *build(struct importing *x, struct json_walk *w, struct str key,
                         struct json **ret_value)
{
    enum json_type type;
    struct str raw;
    bool fits;

    x->n_values_left -= x->n_values_left > 0;
    TRY(json_walk_take_short(w, x->options->short_bytes ? x->options->short_bytes : SHORT_VALUE,
                             &raw, &fits));
    if (fits)
        return build_short(x, raw, key, ret_value);
    TRY(json_walk_type(w, &type));
    if (type == JSON_STRING)
        return build_text(x, w, key, ret_value);
    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return json_walk_skip(w); /* endless digits are not a number */
    *ret_value = json_new(&x->scratch, type);
    return build_inside(x, w, *ret_value);
}

struct err *import_value(struct importing *x, struct json_walk *w, struct json **ret_value)
{
    struct json *v = NULL;

    x->n_values_left = JSON_MAX_VALUES;
    x->n_bytes_left = JSON_MAX_BYTES;
    x->has_parts = x->was_cut = false;
    TRY(build(x, w, (struct str){0}, &v));
    *ret_value = v ? v : json_new(&x->scratch, JSON_NULL);
    return NULL;
}

/* --- lines --- */

#define CUT_OFF "a last line that was cut off"

/* Finds the next line that is not empty: its bytes up to the line feed, or the bytes of a long one
 * that are in the buffer. False at the end. */
static bool find_line(struct importing *x, struct str *ret_text, bool *ret_is_long)
{
    size_t n_searched = 0, max = x->options->short_bytes ? x->options->short_bytes : SHORT_LINE;

    for (;;) {
        struct str rest = str_skip(strbuf_str(&x->buffer), x->at);
        const char *end = NULL;

        for (; n_searched == 0 && rest.n && rest.p[0] == '\n'; rest = str_skip(rest, 1)) {
            x->at++;
            x->line++;
        }
        if (rest.n > n_searched)
            end = memchr(rest.p + n_searched, '\n', rest.n - n_searched);
        if (end || x->is_over || rest.n > max) {
            *ret_text = str_slice(rest, 0, end ? (size_t)(end - rest.p) : rest.n);
            *ret_is_long = ret_text->n > max;
            x->is_last = !end;
            x->line += rest.n > 0;
            return rest.n > 0;
        }
        n_searched = rest.n;
        read_more(x);
    }
}

static bool parse_short(struct importing *x, struct str text, struct json **ret_value)
{
    struct json_where where;

    x->at += text.n + !x->is_last;
    text = str_trim(text);
    if (text.n == 0)
        return false;
    if (json_parse_at(&x->scratch, text, JSON_REPAIR_UTF8, ret_value, &where))
        return true;
    if (x->is_last)
        import_leave_out(x, S(CUT_OFF));
    else
        import_problem(x, "not valid JSON: %s at column %zu", where.reason, where.column);
    return false;
}

struct long_line {
    struct importing *x;
    bool has_ended;
};

static struct err *read_line_on(void *self, struct strbuf *out)
{
    struct long_line *l = self;
    struct importing *x = l->x;
    struct str rest;
    const char *end;

    if (l->has_ended)
        return NULL;
    if (x->at == x->buffer.n)
        read_more(x);
    rest = str_skip(strbuf_str(&x->buffer), x->at);
    end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
    rest.n = end ? (size_t)(end - rest.p) : rest.n;
    strbuf_add(out, rest);
    x->at += rest.n + (end != NULL);
    x->is_last = !end;
    l->has_ended = end || x->is_over;
    return NULL;
}

/* After an error it skips the rest of the line. */
static bool parse_long(struct importing *x, struct json **ret_value)
{
    AUTO(json_walk) struct json_walk w;
    AUTO(err) struct err *blank = NULL, *e = NULL;
    AUTO_FREE char *why = NULL;
    struct long_line l = {.x = x};

    json_walk_init(&w, read_line_on, &l);
    blank = json_walk_end(&w);
    if (!blank)
        return false;
    e = import_value(x, &w, ret_value);
    if (!e)
        e = json_walk_end(&w);
    while (!l.has_ended) {
        strbuf_clear(&w.buffer);
        err_ignore(read_line_on(&l, &w.buffer), "it is kept until the file has been read");
    }
    if (!e)
        return true;
    why = err_message(e);
    if (x->is_last)
        import_leave_out(x, S(CUT_OFF));
    else
        import_problem(x, "%s", why);
    return false;
}

const struct json *import_next_line(struct importing *x)
{
    struct json *value;
    struct str text;
    bool is_long;

    while (!x->error && find_line(x, &text, &is_long)) {
        arena_clear(&x->scratch);
        if (!(is_long ? parse_long(x, &value) : parse_short(x, text, &value)))
            continue;
        if (json_is(value, JSON_OBJECT))
            return value;
        import_problem(x, "expected a JSON object, got %s", json_type_name(value->type));
    }
    return NULL;
}
