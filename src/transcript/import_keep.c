/* import_keep.c - keeps sessions, and messages in the spool.
 *
 * A message in the spool is JSON. The last ones are still in `tail`; without a spool, all are. */
#include "transcript/import_parts.h"

#include "model/message_json.h"

#define TAIL_BYTES ((size_t)1 << 20)    /* written together */
#define WINDOW_BYTES ((size_t)64 << 10) /* read together */
#define MAX_PARTS                                                                                  \
    32768 /* of a message: more could exceed the number of values that a reader accepts */
#define MAX_ID_BYTES 1024
#define TOO_LARGE "[This message was too large to import.]"

/* --- sessions --- */

struct imported *import_new_session(struct importing *x)
{
    struct import *o = x->out;

    o->sessions = arena_grow(&o->arena, o->sessions, o->n, &o->room, sizeof *o->sessions);
    o->sessions[o->n] = (struct imported){
        .parent_index = IMPORT_NO_PARENT, .usage = USAGE_UNKNOWN, .cost_is_known = true};
    return &o->sessions[o->n++];
}

void import_set(struct importing *x, struct str *to, struct str text)
{
    if (!str_eq(*to, text))
        *to = arena_str(&x->out->arena, text);
}

/* --- messages --- */

static size_t count_parts(const struct part *parts, size_t n)
{
    size_t n_all = n;

    for (size_t i = 0; i < n; i++)
        n_all += count_parts(parts[i].content, parts[i].n_content);
    return n_all;
}

static bool is_too_large(const struct message *m)
{
    AUTO(err) struct err *e = message_check_stored(m, "a message");

    return e || count_parts(m->parts, m->n_parts) > MAX_PARTS;
}

/* Keeps what other messages pair with, and a note instead of its text. */
static struct message *outline_of(const struct message *m)
{
    struct message *outline =
        message_new(m->role, m->id.n < MAX_ID_BYTES ? m->id : (struct str){0});
    struct part note = {.kind = PART_TEXT, .text = S(TOO_LARGE)};

    outline->state = m->state;
    outline->is_error = m->is_error;
    if (m->role != ROLE_TOOL)
        message_add(outline, &note);
    for (size_t i = 0; i < m->n_parts && outline->n_parts < MAX_PARTS / 2; i++) {
        struct part p = {.kind = m->parts[i].kind, .id = m->parts[i].id, .name = m->parts[i].name};

        if (p.id.n > MAX_ID_BYTES || p.name.n > MAX_ID_BYTES)
            continue;
        p.is_free_text = m->parts[i].is_free_text;
        if (p.kind == PART_TOOL_CALL && !p.is_free_text)
            p.args = S("{}");
        if (p.kind == PART_TOOL_RESULT) {
            p.is_error = m->parts[i].is_error;
            p.content = &note;
            p.n_content = 1;
        }
        if (p.kind == PART_TOOL_CALL || p.kind == PART_TOOL_RESULT)
            message_add(outline, &p);
    }
    return outline;
}

static struct err *flush(struct import *i)
{
    size_t n = i->tail.n;

    TRY(strbuf_check(&i->tail, "the imported part of the file"));
    if (!i->spool)
        return NULL;
    TRY(i->spool->write(i->spool->self, strbuf_str(&i->tail)));
    i->n_spooled += n;
    strbuf_done(&i->tail); /* a long message has made it large */
    return NULL;
}

struct import_item import_put(struct importing *x, struct message *take_message, int64_t unix_ms)
{
    AUTO(message) struct message *m = take_message;
    struct import *o = x->out;
    struct import_item item = {.unix_ms = unix_ms, .at = o->n_spooled + o->tail.n, .role = m->role};
    struct json_writer w;

    import_limit_usage(&m->usage);
    if (is_too_large(m)) {
        import_leave_out(x, S("messages that are too large"));
        m = outline_of(take_message);
        message_unref(take_message);
    }
    jw_init(&w, &o->tail);
    message_write_parts(&w, m);
    item.n_bytes = (uint32_t)(o->n_spooled + o->tail.n - item.at);
    if (o->tail.n >= TAIL_BYTES && !x->error)
        x->error = flush(o);
    return item;
}

uint64_t import_put_text(struct importing *x, struct str text)
{
    struct import *o = x->out;
    uint64_t at = o->n_spooled + o->tail.n;

    strbuf_add(&o->tail, text);
    if (o->tail.n >= TAIL_BYTES && !x->error)
        x->error = flush(o);
    return at;
}

void import_add_item(struct importing *x, struct imported *s, enum import_step step, bool begins,
                     struct import_item item)
{
    if (s->n == IMPORT_MAX_MESSAGES) {
        import_leave_out(x, S("messages over the limit of a session"));
        return;
    }
    s->items = mem_grow(s->items, s->n, &s->room, sizeof *s->items);
    item.step = (uint8_t)step;
    item.begins = begins;
    s->items[s->n++] = item;
}

/* An empty message is dropped, unless a history begins with it. */
void import_add(struct importing *x, struct imported *s, enum import_step step, bool begins,
                struct message *take_message, int64_t unix_ms)
{
    if (!take_message)
        import_add_item(x, s, step, begins, (struct import_item){.unix_ms = unix_ms});
    else if (take_message->n_parts || begins)
        import_add_item(x, s, step, begins, import_put(x, take_message, unix_ms));
    else
        message_unref(take_message);
}

/* --- reading back --- */

struct err *import_fetch_text(struct import *i, uint64_t at, uint32_t n_bytes, struct str *ret_text)
{
    uint64_t end = at + n_bytes;

    if (at >= i->n_spooled) {
        *ret_text = str_slice(strbuf_str(&i->tail), at - i->n_spooled, n_bytes);
        return NULL;
    }
    if (at < i->window_at || end > i->window_at + i->window.n) {
        size_t n = (size_t)MIN(i->n_spooled - at, MAX(n_bytes, WINDOW_BYTES));

        strbuf_done(&i->window);
        i->window_at = at;
        TRY(i->spool->read(i->spool->self, at, n, &i->window));
    }
    if (end > i->window_at + i->window.n)
        return err_new(ERR_STORAGE, "the temporary file lost what was read from the import");
    *ret_text = str_slice(strbuf_str(&i->window), at - i->window_at, n_bytes);
    return NULL;
}

struct err *import_fetch(struct import *i, const struct import_item *item,
                         struct message **ret_message)
{
    AUTO(arena) struct arena a = {0};
    struct json *v;
    struct str raw;

    TRY(import_fetch_text(i, item->at, item->n_bytes, &raw));
    TRY(json_parse(&a, raw, 0, &v));
    return message_read(v, ret_message);
}

void import_done(struct import *i)
{
    for (size_t k = 0; k < i->n; k++) {
        mem_free(i->sessions[k].items);
        mem_free(i->sessions[k].results);
    }
    strbuf_done(&i->problems);
    strbuf_done(&i->tail);
    strbuf_done(&i->window);
    arena_done(&i->arena);
    *i = (struct import){0};
}
