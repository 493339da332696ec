/* replay_line.c - what is compared of an event. */
#include "archive/replay_line.h"

#include "base/sha256.h"
#include "base/utf8.h"
#include "port/state_keys.h"
#include "session/codec/long_texts.h"
#include "view/session_log.h"

/* --- what is compared --- */

static bool is_engines_notice(const char *source)
{
    return strncmp(source, "agent:", 6) == 0 || strcmp(source, "llm") == 0 ||
           strcmp(source, "tool") == 0 || strcmp(source, "compaction") == 0;
}

bool replay_compares(const struct event *e)
{
    switch (e->type) {
    case EVENT_DELTA: /* an older keel did not say where a part ends */
        return e->body.delta.delta->kind != DELTA_END;
    case EVENT_STATE:
        return state_key_is(e->body.state.key, STATE_RESULT, NULL); /* the engine's own */
    case EVENT_NOTICE:
        return is_engines_notice(e->body.notice.source);
    default:
        return !event_has_trait(e->type, TRAIT_PLAYED);
    }
}

/* --- the line --- */

static void write_line(const struct event *e, const struct json_long_texts *long_texts,
                       struct strbuf *out)
{
    session_log_write_brief(e, long_texts, out);
    strbuf_cut(out, out->n - 1);
}

static void write_request(const struct event *e, const struct json_long_texts *long_texts,
                          struct strbuf *out)
{
    struct event copy = *e;
    struct model_request request = *e->body.request.request;

    request.n_messages = request.n_tools = 0;
    copy.body.request.request = &request;
    write_line(&copy, long_texts, out);
}

/* A recording has only the hash of what was sent. */
static void write_payload(const struct event *e, const struct json_long_texts *long_texts,
                          struct strbuf *out)
{
    struct event copy = *e;
    struct native_payload payload = *e->body.payload;
    char hash[SHA256_HEX_SIZE];

    if (payload.kind == PAYLOAD_REQUEST && !payload.sha256.n) {
        sha256_hex(payload.bytes, hash);
        payload.sha256 = str_of(hash);
        payload.n_bytes = payload.bytes.n;
    }
    copy.body.payload = &payload;
    write_line(&copy, long_texts, out);
}

static void write_tool_end(const struct event *e, const struct json *left,
                           const struct json_long_texts *long_texts, struct strbuf *out)
{
    AUTO(long_texts) struct long_texts texts = {0};
    struct event copy = *e;
    struct json_writer w;

    if (!left && e->body.tool.result)
        copy.body.tool.result = long_texts_take_out(&texts, e->body.tool.result, 1);
    write_line(&copy, long_texts, out);
    jw_init(&w, out);
    if (left)
        jw_json(&w, left);
    else if (texts.n)
        long_texts_write(&w, &texts);
}

/* Estimates are not a part of what happened. */
static void forget_estimates(struct event *e)
{
    if (e->type != EVENT_ATTEMPT_BEGIN && e->type != EVENT_ATTEMPT_END)
        return;
    e->body.attempt.reserved = (struct reservation){0};
    e->body.attempt.assumed = NULL;
}

/* Older versions reported everything that a provider has as enabled; the requests say what is. */
static void forget_enabled(struct event *e)
{
    struct provider_capabilities *can = &e->body.run.capabilities;

    if (e->type != EVENT_RUN_BEGIN && e->type != EVENT_PRE_RUN)
        return;
    can->web_search.is_enabled = can->web_search.is_supported;
    can->web_fetch.is_enabled = can->web_fetch.is_supported;
}

static bool is_about_call(enum event_type t)
{
    switch (t) {
    case EVENT_TOOL_REQUEST:
    case EVENT_TOOL_EARLY:
    case EVENT_TOOL_DROPPED:
    case EVENT_TOOL_BEGIN:
    case EVENT_TOOL_PROGRESS:
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
    case EVENT_TOOL_COMMITTED:
        return true;
    default:
        return false;
    }
}

/* The call and its run. */
static const struct owner *keep_inner(const struct owner *o, struct owner kept[2])
{
    size_t n = 0;

    for (; o && n < 2; o = o->parent) {
        kept[n] = (struct owner){o->type, o->id, NULL};
        if (n)
            kept[n - 1].parent = &kept[n];
        n++;
        if (strcmp(o->type, "execution") == 0)
            break;
    }
    return n ? kept : NULL;
}

void replay_line(const struct event *e, const struct json *left,
                 const struct json_long_texts *long_texts, struct strbuf *out)
{
    struct event copy = *e;
    struct owner kept[2], kept_call[2];

    copy.history = NULL;
    /* A run is replayed by itself: whose it was, and inside of which call, is not there then. */
    copy.parent_stream = (struct str){0};
    copy.owner = keep_inner(e->owner, kept);
    if (is_about_call(e->type))
        copy.body.tool.owner = keep_inner(e->body.tool.owner, kept_call);
    forget_estimates(&copy);
    forget_enabled(&copy);
    if (e->type == EVENT_PROVIDER_REQUEST)
        write_request(&copy, long_texts, out);
    else if (e->type == EVENT_NATIVE_PAYLOAD)
        write_payload(&copy, long_texts, out);
    else if (e->type == EVENT_TOOL_END)
        write_tool_end(&copy, left, long_texts, out);
    else
        write_line(&copy, long_texts, out);
}

/* --- long texts of a line --- */

void replay_write_hashed(struct str beginning, size_t n_bytes, const char *hash, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "%" STR_FMT "... (%zu bytes, SHA-256 %s)",
                STR_ARG(utf8_truncate(beginning, REPLAY_SHOWN_OF_LONG)), n_bytes, hash);
    json_write_string(out, strbuf_str(&text));
}

void replay_write_long_text(void *self, struct str text, struct strbuf *out)
{
    char hash[SHA256_HEX_SIZE];

    sha256_hex(text, hash);
    replay_write_hashed(text, text.n, hash, out);
}

/* --- pieces --- */

static bool has_name(enum delta_kind kind)
{
    return kind == DELTA_TOOL_BEGIN || kind == DELTA_SERVER_TOOL;
}

static void begin_piece(struct replay_pieces *p, const struct delta *d)
{
    strbuf_addf(&p->text, "%s%d %zu ", p->has_any ? "\n" : "", (int)d->kind, d->part);
    if (has_name(d->kind))
        strbuf_addf(&p->text, "%" STR_FMT " %" STR_FMT " ", STR_ARG(d->id), STR_ARG(d->name));
}

void replay_pieces_add(struct replay_pieces *p, const struct delta *d)
{
    if (!p->has_any || p->kind != d->kind || p->part != d->part)
        begin_piece(p, d);
    p->has_any = true;
    p->kind = d->kind;
    p->part = d->part;
    strbuf_add(&p->text, d->text);
}

#define SHOWN_BEFORE 128             /* bytes of what is the same, for a reader of the difference */
#define KEPT_SAME ((size_t)64 << 10) /* more of them are dropped */

static void drop_same(struct replay_pieces *p)
{
    size_t n = p->n_same > KEPT_SAME ? p->n_same - SHOWN_BEFORE : 0;

    strbuf_drop_front(&p->text, n);
    p->n_same -= n;
}

bool replay_pieces_compare(struct replay_pieces *a, struct replay_pieces *b)
{
    size_t n = MIN(a->text.n - a->n_same, b->text.n - b->n_same);

    if (n && memcmp(a->text.p + a->n_same, b->text.p + b->n_same, n) != 0)
        return false;
    a->n_same += n;
    b->n_same += n;
    drop_same(a);
    drop_same(b);
    return true;
}

bool replay_pieces_are_compared(const struct replay_pieces *p)
{
    return p->n_same == p->text.n;
}

void replay_pieces_line(const struct replay_pieces *p, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "pieces",
              str_skip(strbuf_str(&p->text), p->n_same - MIN(p->n_same, (size_t)SHOWN_BEFORE)));
    jw_end_object(&w);
}

void replay_pieces_done(struct replay_pieces *p)
{
    strbuf_done(&p->text);
    *p = (struct replay_pieces){0};
}
