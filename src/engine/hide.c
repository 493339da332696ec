/* hide.c - texts, messages and answers without known credentials. */
#include "engine/hide.h"

struct str hide_in_str(const struct secrets *s, struct arena *a, struct str text, uint64_t *found)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (!secrets_has(s, text))
        return text;
    strbuf_init(&out, SIZE_MAX / 2);
    return arena_str(a, secrets_hide(s, text, &out, found));
}

static struct str hide_in_json_text(const struct secrets *s, struct arena *a, struct str text,
                                    uint64_t *found)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (!secrets_has(s, text))
        return text;
    strbuf_init(&out, SIZE_MAX / 2);
    return arena_str(a, secrets_hide_in_json_text(s, text, &out, found));
}

void hide_in_strbuf(const struct secrets *s, struct strbuf *text, uint64_t *found)
{
    struct strbuf out;

    if (!secrets_has(s, strbuf_str(text)))
        return;
    strbuf_init(&out, SIZE_MAX / 2);
    secrets_hide(s, strbuf_str(text), &out, found);
    out.max_bytes = MAX(text->max_bytes ? text->max_bytes : STRBUF_DEFAULT_MAX, out.n);
    strbuf_done(text);
    *text = out;
}

/* --- parts --- */

/* A provider checks the reasoning that it gets back against its signature: what was changed is not
 * sent again. */
static void drop_reasoning(struct part *p)
{
    p->native = p->signature = p->data = (struct str){0};
}

/* Ids and names of tools stay: calls and results are paired by them. */
void hide_in_part(const struct secrets *s, struct arena *a, struct part *p, uint64_t *found)
{
    struct str *texts[] = {&p->text, &p->bad_args, &p->url, &p->title, &p->media.name};
    uint64_t here = 0;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = hide_in_str(s, a, *texts[i], &here);
    if (p->media.source == MEDIA_URL)
        p->media.data = hide_in_str(s, a, p->media.data, &here);
    p->args = p->is_free_text ? hide_in_str(s, a, p->args, &here)
                              : hide_in_json_text(s, a, p->args, &here);
    p->native = hide_in_json_text(s, a, p->native, &here);
    for (size_t i = 0; i < p->n_content; i++)
        hide_in_part(s, a, &p->content[i], &here);
    if (here && p->kind == PART_REASONING)
        drop_reasoning(p);
    *found |= here;
}

static bool part_has(const struct secrets *s, const struct part *p)
{
    const struct str texts[] = {
        p->text,   p->bad_args,
        p->url,    p->title,
        p->args,   p->media.name,
        p->native, p->media.source == MEDIA_URL ? p->media.data : (struct str){0}};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (secrets_has(s, texts[i]))
            return true;
    for (size_t i = 0; i < p->n_content; i++)
        if (part_has(s, &p->content[i]))
            return true;
    return false;
}

/* --- messages --- */

static bool message_has(const struct secrets *s, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (part_has(s, &m->parts[i]))
            return true;
    return false;
}

void hide_in_message(const struct secrets *s, struct message **m, uint64_t *found)
{
    const struct message *from = *m;
    struct message *copy;

    if (!s || !message_has(s, from))
        return;
    copy = message_new(from->role, from->id);
    copy->state = from->state;
    copy->is_error = from->is_error;
    message_set_usage(copy, &from->usage);
    copy->stop_reason = arena_str(&copy->arena, from->stop_reason);
    copy->stop = from->stop;
    message_set_origin(copy, from->origin);
    for (size_t i = 0; i < from->n_parts; i++)
        hide_in_part(s, &copy->arena, message_add(copy, &from->parts[i]), found);
    message_unref(*m);
    *m = copy;
}

/* --- answers --- */

static void hide_in_reply_part(const struct secrets *s, struct reply *r, struct reply_part *p,
                               uint64_t *found)
{
    struct str shown;
    uint64_t here = 0;

    hide_in_strbuf(s, &p->text, &here);
    shown = hide_in_json_text(s, &r->arena, strbuf_str(&p->args), &here);
    if (shown.p != strbuf_str(&p->args).p) {
        strbuf_clear(&p->args);
        strbuf_add(&p->args, shown);
    }
    hide_in_part(s, &r->arena, &p->part, &here);
    if (here && p->part.kind == PART_REASONING)
        drop_reasoning(&p->part);
    *found |= here;
}

void hide_in_reply(const struct secrets *s, struct reply *r, uint64_t *found)
{
    if (!s)
        return;
    for (size_t i = 0; i < r->n_parts; i++)
        hide_in_reply_part(s, r, &r->parts[i], found);
    r->id = hide_in_str(s, &r->arena, r->id, found);
    r->model = hide_in_str(s, &r->arena, r->model, found);
    r->stop_reason = hide_in_str(s, &r->arena, r->stop_reason, found);
    r->stop_detail = hide_in_str(s, &r->arena, r->stop_detail, found);
}

/* --- questions --- */

struct ask hide_in_ask(const struct secrets *s, struct arena *a, const struct ask *ask)
{
    struct ask shown = *ask;

    shown.args = secrets_hide_in_json(s, a, ask->args, NULL);
    shown.text = hide_in_str(s, a, ask->text, NULL);
    return shown;
}
