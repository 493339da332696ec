/* tool.c - filling in results. */
#include "port/tool.h"

#include "base/utf8.h"

const char *risk_name(enum risk r)
{
    static const char *const names[] = {"unclassified", "inspect", "modify", "execute", "network"};
    return NAME_IN(names, r);
}

void tool_result_init(struct tool_result *r)
{
    *r = (struct tool_result){.code = ERR_TOOL_FAILED};
    strbuf_init(&r->text, TOOL_RESULT_MAX_BYTES);
}

void tool_result_done(struct tool_result *r)
{
    strbuf_done(&r->text);
    arena_done(&r->arena);
    *r = (struct tool_result){0};
}

void tool_result_addf(struct tool_result *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&r->text, format, args);
    va_end(args);
}

void tool_result_fail(struct tool_result *r, const char *format, ...)
{
    struct strbuf text;
    va_list args;

    strbuf_init(&text, TOOL_RESULT_MAX_BYTES);
    va_start(args, format);
    strbuf_vaddf(&text, format, args); /* the old text may be among the arguments */
    va_end(args);
    strbuf_done(&r->text);
    r->text = text;
    r->is_error = true;
}

/* --- what is too large --- */

static void end_text(struct tool_result *r)
{
    static const char note[] = "\n[The rest of the result was dropped: it is over %zu MiB.]";

    if (!strbuf_is_over(&r->text))
        return;
    strbuf_cut(&r->text,
               utf8_truncate(strbuf_str(&r->text), TOOL_RESULT_MAX_BYTES - sizeof note - 20).n);
    strbuf_addf(&r->text, note, TOOL_RESULT_MAX_BYTES >> 20);
}

#define MEDIA_FRAME 512               /* what stands around the bytes of one */
#define TEXT_ROOM ((size_t)1 << 20)   /* is left beside media */
#define BLOCK_BYTES ((size_t)4 << 10) /* the text is measured in such steps */

static size_t media_size(const struct media *m)
{
    size_t data = m->source == MEDIA_BYTES ? m->data.n / 3 * 4 + 4 : json_string_size(m->data);

    return MEDIA_FRAME + data + json_string_size(m->mime) + json_string_size(m->name);
}

/* How many of them fit, and what these take. */
static size_t count_media(const struct tool_result *r, size_t *ret_json)
{
    size_t n = 0;

    for (*ret_json = 0; n < r->n_media; n++) {
        size_t size = media_size(&r->media[n]);

        if (size > TOOL_RESULT_MAX_JSON_BYTES - TEXT_ROOM - *ret_json)
            break;
        *ret_json += size;
    }
    return n;
}

/* How many bytes of the text, from its front or from its end, take at most `max_json` as JSON. */
static size_t find_fitting(struct str text, size_t max_json, bool from_end)
{
    for (size_t n = 0;;) {
        size_t step = MIN(BLOCK_BYTES, text.n - n);
        size_t size = json_string_size(str_slice(text, from_end ? text.n - n - step : n, step));

        if (step == 0 || size > max_json)
            return n;
        max_json -= size;
        n += step;
    }
}

/* How a text begins and how it ends says most about it. */
static void drop_middle(struct tool_result *r, size_t max_json)
{
    static const char note[] = "\n[%zu bytes were dropped here: the result is too large for a "
                               "message.]\n";
    struct str text = strbuf_str(&r->text), head, tail;
    struct strbuf shorter;

    if (6 * text.n <= max_json || json_string_size(text) <= max_json)
        return;
    max_json = (max_json - sizeof note - 20) / 2;
    head = utf8_truncate(text, find_fitting(text, max_json, /* from_end= */ false));
    tail = str_skip(text, text.n - find_fitting(text, max_json, /* from_end= */ true));
    while (tail.n && ((unsigned char)tail.p[0] & 0xC0) == 0x80)
        tail = str_skip(tail, 1); /* the rest of a character */
    strbuf_init(&shorter, TOOL_RESULT_MAX_BYTES);
    strbuf_add(&shorter, head);
    strbuf_addf(&shorter, note, text.n - head.n - tail.n);
    strbuf_add(&shorter, tail);
    strbuf_done(&r->text);
    r->text = shorter;
}

#define NUL_SIGN "\u2400"

static size_t count_nuls(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == 0;
    return n;
}

/* No model gains by a NUL, and some providers refuse a request with one. Where the sign does not
 * fit for all of them a question mark does. */
static void mark_nuls(struct tool_result *r)
{
    struct str text = strbuf_str(&r->text);
    size_t n_nuls = count_nuls(text), n = text.n + n_nuls * (sizeof NUL_SIGN - 2);
    struct str sign = n > TOOL_RESULT_MAX_BYTES ? S("?") : S(NUL_SIGN);
    struct strbuf marked;
    char *to;

    if (n_nuls == 0)
        return;
    strbuf_init(&marked, TOOL_RESULT_MAX_BYTES);
    n = text.n + n_nuls * (sign.n - 1);
    to = strbuf_reserve(&marked, n);
    for (size_t i = 0; i < text.n; i++) {
        struct str c = text.p[i] ? str_slice(text, i, 1) : sign;

        memcpy(to, c.p, c.n);
        to += c.n;
    }
    strbuf_grew(&marked, n);
    strbuf_done(&r->text);
    r->text = marked;
}

void tool_result_end(struct tool_result *r)
{
    size_t n_json, n_before = r->n_media;

    end_text(r);
    mark_nuls(r);
    r->n_media = count_media(r, &n_json);
    drop_middle(r, TOOL_RESULT_MAX_JSON_BYTES - n_json);
    if (r->n_media < n_before)
        tool_result_addf(r, "\n[%zu of %zu files were dropped: they are too large for a message.]",
                         n_before - r->n_media, n_before);
}

/* --- media and details --- */

void tool_result_wait(struct tool_result *r, const struct ask *ask)
{
    r->is_pending = true;
    r->ask = (struct ask){.kind = ask->kind,
                          .call_id = arena_str(&r->arena, ask->call_id),
                          .tool = arena_str(&r->arena, ask->tool),
                          .args = ask->args ? json_copy(&r->arena, ask->args) : NULL,
                          .text = arena_str(&r->arena, ask->text)};
}

void tool_result_add_media(struct tool_result *r, const struct media *m)
{
    r->media = arena_grow(&r->arena, r->media, r->n_media, &r->media_room, sizeof *r->media);
    r->media[r->n_media++] = (struct media){.mime = arena_str(&r->arena, m->mime),
                                            .source = m->source,
                                            .data = arena_str(&r->arena, m->data),
                                            .name = arena_str(&r->arena, m->name)};
}

struct json *tool_result_details(struct tool_result *r)
{
    if (!r->details)
        r->details = json_new(&r->arena, JSON_OBJECT);
    return r->details;
}

void tool_progress(const struct tool_context *c, struct str text)
{
    if (c->on_progress)
        c->on_progress(c->progress_self, text);
}

struct err *tool_begin(const struct tool_context *c)
{
    return c->begin ? c->begin(c->begin_self) : NULL;
}

struct err *tool_search_model(const struct tool_context *c, const struct model_search *s,
                              struct message **ret_answer)
{
    if (!c->search_model)
        return err_new(ERR_TOOL_UNAVAILABLE, "no model is available for web search");
    return c->search_model(c->search_self, s, ret_answer);
}
