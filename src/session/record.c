/* record.c - writes the record of a session. */
#include "session/record.h"

#include "model/message_json.h"
#include "view/field.h"
#include "view/journal_fields.h"

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

void session_record_write(const struct store_summary *summary, const struct history *history,
                          const struct record_start *start, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "id", summary->id);
    jw_kv_str(&w, "cwd", summary->cwd);
    if (summary->name.n)
        jw_kv_str(&w, "name", summary->name);
    field_time(&w, "createdAt", summary->created_ms);
    field_time(&w, "updatedAt", summary->updated_ms);
    write_messages(&w, history);
    write_history(&w, history);
    if (start->system_prompt.n)
        jw_kv_str(&w, "systemPrompt", start->system_prompt);
    if (start->tool_schemas.n)
        jw_kv_raw(&w, "toolSchemas", start->tool_schemas);
    jw_end_object(&w);
}

struct record_start record_start_of(struct arena *a, const struct event_session *how)
{
    AUTO(strbuf) struct strbuf schemas = {0};
    struct json_writer w;

    jw_init(&w, &schemas);
    jw_begin_array(&w);
    for (size_t i = 0; how->tools && i < how->tools->n; i++)
        journal_schema(&w, &how->tools->entries[i].def);
    jw_end_array(&w);
    return (struct record_start){.system_prompt = arena_str(a, how->system),
                                 .tool_schemas = arena_str(a, strbuf_str(&schemas))};
}

struct err *session_record_save(struct store *s, struct str id, const struct history *history,
                                const struct record_start *start)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf json = {0};
    struct store_summary summary;
    bool found;

    if (!s->ops->save_record)
        return NULL;
    TRY(store_find(s, id, &a, &summary, &found));
    if (!found)
        return NULL;
    session_record_write(&summary, history, start, &json);
    TRY(strbuf_check(&json, "the record of a session"));
    return store_save_record(s, id, strbuf_str(&json));
}
