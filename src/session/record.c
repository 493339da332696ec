/* record.c - writes the record of a session. */
#include "session/record.h"

#include "model/message_json.h"
#include "view/field.h"

/* What a model is sent. */
static void write_messages(struct json_writer *w, const struct history *h)
{
    jw_key(w, "messages");
    jw_begin_array(w);
    for (size_t i = 0; i < h->n; i++)
        if (h->entries[i].message)
            message_write(w, h->entries[i].message);
    jw_end_array(w);
}

/* What a person has seen: messages and events, with their times. */
static void write_history(struct json_writer *w, const struct history *h)
{
    jw_key(w, "history");
    jw_begin_array(w);
    for (size_t i = 0; i < h->n; i++) {
        const struct history_entry *e = &h->entries[i];

        jw_begin_object(w);
        jw_kv_str(w, "id", e->id);
        field_time(w, "timestamp", e->unix_ms);
        jw_kv_str(w, "category", e->category == ENTRY_CHAT ? S("chat") : S("event"));
        jw_kv_str(w, "type", e->type);
        jw_key(w, "data");
        if (e->message)
            message_write(w, e->message);
        else
            jw_json(w, e->data);
        jw_end_object(w);
    }
    jw_end_array(w);
}

void session_record_write(const struct session_record *r, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "id", r->summary->id);
    jw_kv_str(&w, "cwd", r->summary->cwd);
    if (r->summary->name.n)
        jw_kv_str(&w, "name", r->summary->name);
    field_time(&w, "createdAt", r->summary->created_ms);
    field_time(&w, "updatedAt", r->summary->updated_ms);
    write_messages(&w, r->history);
    write_history(&w, r->history);
    if (r->system_prompt.n)
        jw_kv_str(&w, "systemPrompt", r->system_prompt);
    if (r->tool_schemas.n)
        jw_kv_raw(&w, "toolSchemas", r->tool_schemas);
    jw_end_object(&w);
}
