/* field.c - writes times, money, owners and errors as JSON. */
#include "view/field.h"

#include "sys/clock.h"

#include <inttypes.h>
#include <stdio.h>

void field_time(struct json_writer *w, const char *key, int64_t unix_ms)
{
    char text[CLOCK_ISO_SIZE];

    clock_format_iso(unix_ms, text);
    jw_kv_str(w, key, str_of(text));
}

void field_usd(struct json_writer *w, const char *key, int64_t microcents)
{
    int64_t known = MAX(microcents, 0);
    char text[32];
    size_t n;

    n = (size_t)snprintf(text, sizeof text, "%" PRId64 ".%08" PRId64, known / MICROCENTS_PER_USD,
                         known % MICROCENTS_PER_USD);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    jw_kv_raw(w, key, str_make(text, n));
}

void value_raw(struct json_writer *w, struct str json_text)
{
    size_t from = w->out->n;

    jw_raw(w, json_text.n ? json_text : S("{}"));
    /* In valid JSON a bare line end is white space: strings have \n. */
    for (size_t i = from; i < w->out->n; i++)
        if (w->out->p[i] == '\n' || w->out->p[i] == '\r')
            w->out->p[i] = ' ';
}

void field_raw(struct json_writer *w, const char *key, struct str json_text)
{
    jw_key(w, key);
    value_raw(w, json_text);
}

void field_json(struct json_writer *w, const char *key, const struct json *v)
{
    jw_key(w, key);
    if (v)
        jw_json(w, v);
    else
        jw_null(w);
}

void field_owner_path(struct json_writer *w, const char *key, const struct owner *owner)
{
    size_t depth = 0;

    for (const struct owner *o = owner; o; o = o->parent)
        depth++;
    jw_key(w, key);
    jw_begin_array(w);
    while (depth > 0) {
        const struct owner *o = owner;

        depth--;
        for (size_t i = 0; i < depth; i++)
            o = o->parent;
        jw_begin_object(w);
        jw_kv_str(w, "ownerType", str_of(o->type));
        jw_kv_str(w, "ownerId", o->id);
        jw_end_object(w);
    }
    jw_end_array(w);
}

void field_error(struct json_writer *w, const char *key, const struct err *e)
{
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    jw_kv_str(w, key, str_of(text));
}

void field_failure(struct json_writer *w, const char *key, const struct err *e)
{
    const char *hint = e ? err_find_hint(e) : NULL;

    jw_key(w, key);
    if (!e) {
        jw_null(w);
        return;
    }
    jw_begin_object(w);
    jw_kv_str(w, "code", str_of(err_code(e->kind)));
    jw_kv_str(w, "category", str_of(err_category(e->kind)));
    field_error(w, "message", e);
    if (hint)
        jw_kv_str(w, "hint", str_of(hint));
    if (e->peer_status)
        jw_kv_int(w, "httpStatus", e->peer_status);
    if (e->refused_media)
        jw_kv_str(w, "refusedMedia", str_of(e->refused_media));
    if (e->hides_thoughts)
        jw_kv_bool(w, "hidesThoughts", true);
    jw_kv_bool(w, "retryable", err_is_retryable(e));
    jw_kv_bool(w, "recoverable", err_is_recoverable(e));
    jw_end_object(w);
}

void field_context(struct json_writer *w, const char *key, int64_t used, int64_t window)
{
    /* in tenths, rounded down: 100 only if full */
    int64_t tenths = window > 0 ? (int64_t)((__int128)MAX(used, 0) * 1000 / window) : 0;

    jw_key(w, key);
    jw_begin_object(w);
    jw_kv_int(w, "maxTokens", window);
    jw_kv_int(w, "usedTokens", used);
    jw_kv_double(w, "usedPercentage", (double)tenths / 10);
    jw_end_object(w);
}

void result_text(const struct part *result, struct strbuf *out)
{
    for (size_t i = 0; result && i < result->n_content; i++) {
        const struct part *p = &result->content[i];

        if (p->kind == PART_MEDIA)
            strbuf_addf(out, "[%" STR_FMT "]", STR_ARG(p->media.mime));
        else
            strbuf_add(out, p->text);
    }
}

void field_result_text(struct json_writer *w, const char *key, const struct part *result)
{
    AUTO(strbuf) struct strbuf text = {0};

    result_text(result, &text);
    jw_kv_str(w, key, strbuf_str(&text));
}

const struct owner *owner_find(const struct owner *owner, const char *type)
{
    while (owner && strcmp(owner->type, type) != 0)
        owner = owner->parent;
    return owner;
}

/* Not the call of the event itself, but the one above the agent of the event. */
const struct owner *owner_call(const struct owner *owner)
{
    const struct owner *agent = owner_find(owner, "agent");

    return agent ? owner_find(agent->parent, "tool") : NULL;
}

bool event_is_child(const struct event *e)
{
    return e->parent_stream.n > 0 || owner_call(e->owner);
}
