/* tool.c - filling in results. */
#include "port/tool.h"

#include "base/utf8.h"

const char *risk_name(enum risk r)
{
    static const char *const names[] = {"unclassified", "inspect", "modify", "execute"};
    return names[r];
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

void tool_result_end(struct tool_result *r)
{
    static const char note[] = "\n[The rest of the result was dropped: it is over %zu MiB.]";

    if (!strbuf_is_over(&r->text))
        return;
    strbuf_cut(&r->text,
               utf8_truncate(strbuf_str(&r->text), TOOL_RESULT_MAX_BYTES - sizeof note - 20).n);
    strbuf_addf(&r->text, note, TOOL_RESULT_MAX_BYTES >> 20);
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
