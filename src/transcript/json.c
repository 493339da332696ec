/* json.c - a transcript as one object, in the form of a session's record (session/record.h).
 *
 * `history` is what a person has seen and is written as it is read; `messages` is what a model
 * would be sent next. Children stand in one list, each with the id of its parent. */
#include "transcript/tool_face.h"
#include "transcript/writer.h"

#include "base/uuid.h"
#include "model/message_json.h"
#include "view/field.h"
#include "view/journal_fields.h"

#include <inttypes.h>
#include <stdio.h>

#define TASK_PREFIX "shell:"
#define MAX_TASKS 1000

/* A command in the background, as it was told last. */
struct task {
    struct strbuf id, state;
};

struct record {
    struct writer writer;
    struct json_writer json;
    struct strbuf value, hidden; /* of the moment */
    struct strbuf id;            /* of the stream */
    struct strbuf system, schemas;
    struct task tasks[MAX_TASKS];
    size_t n_tasks;
    unsigned depth;
    bool has_children;
};

static struct record *record_of(struct writer *w)
{
    return (struct record *)w;
}

/* --- values without secrets --- */

/* What is put into r->value becomes the next value. */
static struct json_writer begin_value(struct record *r)
{
    struct json_writer w;

    strbuf_clear(&r->value);
    jw_init(&w, &r->value);
    return w;
}

static void end_value(struct record *r)
{
    if (strbuf_is_over(&r->value))
        strbuf_set_over(&r->writer.out);
    jw_raw(&r->json,
           secrets_hide_in_json_text(r->writer.secrets, strbuf_str(&r->value), &r->hidden, NULL));
}

static void add_text(struct record *r, const char *key, struct str text)
{
    jw_kv_str(&r->json, key, secrets_hide(r->writer.secrets, text, &r->hidden, NULL));
}

static void add_message(struct record *r, const struct message *m)
{
    struct json_writer w = begin_value(r);

    message_write(&w, m);
    end_value(r);
}

/* --- what a person has seen --- */

static void begin_entry(struct json_writer *w, struct str id, const struct event *e,
                        const char *category, const char *type)
{
    jw_begin_object(w);
    jw_kv_str(w, "id", id);
    field_time(w, "timestamp", e->unix_ms);
    jw_kv_str(w, "category", str_of(category));
    jw_kv_str(w, "type", str_of(type));
    jw_key(w, "data");
}

static void add_chat(struct record *r, const struct event *e, const struct message *m)
{
    struct json_writer w = begin_value(r);

    begin_entry(&w, m->id, e, "chat", role_name(m->role));
    message_write(&w, m);
    jw_end_object(&w);
    end_value(r);
}

static struct json_writer begin_told(struct record *r, const struct event *e, const char *type)
{
    struct json_writer w = begin_value(r);
    char id[UUID_TEXT_SIZE], number[32];

    snprintf(number, sizeof number, "event %" PRIu64, e->seq);
    uuid_from_name(strbuf_str(&r->id), str_of(number), id);
    begin_entry(&w, str_of(id), e, "event", type);
    jw_begin_object(&w);
    return w;
}

static void end_told(struct record *r, struct json_writer *w)
{
    jw_end_object(w);
    jw_end_object(w);
    end_value(r);
}

static void add_tool_start(struct record *r, const struct event *e)
{
    AUTO(arena) struct arena a = {0};
    const struct event_tool *t = &e->body.tool;
    struct story_item item = {.tool = t->name, .args = json_hide_secret_keys(&a, t->args)};
    struct json_writer w = begin_told(r, e, "tool-start");

    jw_kv_str(&w, "toolName", t->name);
    jw_kv_str(&w, "toolCallId", t->call_id);
    jw_kv_str(&w, "firstArg", tool_face_of(&a, &item, (struct str){0}).headline);
    jw_kv_bool(&w, "isRunning", true);
    end_told(r, &w);
}

static void add_tool_end(struct record *r, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;
    struct json_writer w = begin_told(r, e, "tool-end");

    jw_kv_str(&w, "toolName", t->name);
    jw_kv_str(&w, "toolCallId", t->call_id);
    jw_kv_bool(&w, "isRunning", false);
    jw_kv_str(&w, "result", t->was_denied ? S("denied") : t->is_ok ? S("success") : S("error"));
    jw_kv_int(&w, "durationMs", (int64_t)t->duration_ms);
    end_told(r, &w);
}

static void add_notice(struct record *r, const struct event *e)
{
    const struct event_notice *n = &e->body.notice;
    struct json_writer w;

    if (n->severity != SEVERITY_WARNING && n->severity != SEVERITY_ERROR)
        return;
    w = begin_told(r, e, "notice");
    jw_kv_str(&w, "severity", str_of(severity_name(n->severity)));
    jw_kv_str(&w, "message", n->text);
    end_told(r, &w);
}

/* A history that begins anew repeats what was told, or is told of. */
static void add_history(struct record *r, const struct event *e)
{
    const struct event_message *b = &e->body.message;
    bool is_told = strcmp(b->mutation, "append") == 0 || strcmp(b->mutation, "fork-base") == 0;
    struct json_writer w;

    if (b->message && is_told)
        add_chat(r, e, b->message);
    if (is_told || b->index > 0)
        return;
    w = begin_told(r, e, b->mutation);
    end_told(r, &w);
}

/* --- the rest of the record --- */

static void keep_beginning(struct record *r, const struct event_session *s)
{
    struct json_writer w;

    if (r->schemas.n)
        return;
    strbuf_add(&r->system, s->system);
    jw_init(&w, &r->schemas);
    jw_begin_array(&w);
    for (size_t i = 0; s->tools && i < s->tools->n; i++)
        journal_schema(&w, &s->tools->entries[i].def);
    jw_end_array(&w);
}

static void keep_task(struct record *r, struct str key, const struct json *state)
{
    struct str id = str_skip(key, strlen(TASK_PREFIX));
    size_t i = 0;

    if (!str_starts(key, S(TASK_PREFIX)))
        return;
    while (i < r->n_tasks && !str_eq(strbuf_str(&r->tasks[i].id), id))
        i++;
    if (i == MAX_TASKS)
        return;
    if (i == r->n_tasks) {
        r->n_tasks++;
        strbuf_clear(&r->tasks[i].id);
        strbuf_add(&r->tasks[i].id, id);
    }
    strbuf_clear(&r->tasks[i].state);
    if (state)
        json_write(&r->tasks[i].state, state);
}

static void add_tasks(struct record *r)
{
    jw_key(&r->json, "backgroundTasks");
    jw_begin_array(&r->json);
    for (size_t i = 0; i < r->n_tasks; i++) {
        struct json_writer w = begin_value(r);

        if (r->tasks[i].state.n == 0)
            continue;
        jw_begin_object(&w);
        jw_kv_str(&w, "id", strbuf_str(&r->tasks[i].id));
        jw_kv_raw(&w, "state", strbuf_str(&r->tasks[i].state));
        jw_end_object(&w);
        end_value(r);
    }
    jw_end_array(&r->json);
}

/* What other programs keep there and keel does not have. */
static void add_empty_lists(struct json_writer *w)
{
    static const char *const names[] = {"backgroundTaskEvents",     "backgroundJobGroups",
                                        "backgroundJobGroupEvents", "memoryEvents",
                                        "usedMemoryReferences",     "contextReferences"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        jw_key(w, names[i]);
        jw_begin_array(w);
        jw_end_array(w);
    }
}

/* --- the object --- */

static struct writer *make(void)
{
    struct record *r = mem_alloc(sizeof *r);

    return &r->writer;
}

static void open_all(struct writer *w, const struct store_summary *root)
{
    jw_init(&record_of(w)->json, &w->out);
}

static void begin_child(struct record *r, const struct store_summary *s)
{
    if (!r->has_children) {
        jw_key(&r->json, "children");
        jw_begin_array(&r->json);
    }
    r->has_children = true;
    jw_begin_object(&r->json);
    jw_kv_str(&r->json, "parentSessionId", s->parent);
}

static void begin(struct writer *w, const struct store_summary *s, unsigned depth)
{
    struct record *r = record_of(w);

    r->depth = depth;
    r->n_tasks = 0;
    strbuf_clear(&r->id);
    strbuf_clear(&r->system);
    strbuf_clear(&r->schemas);
    strbuf_add(&r->id, s->id);
    if (depth)
        begin_child(r, s);
    else
        jw_begin_object(&r->json);
    jw_kv_str(&r->json, "id", s->id);
    jw_kv_str(&r->json, "cwd", s->cwd);
    if (s->name.n)
        jw_kv_str(&r->json, "name", s->name);
    field_time(&r->json, "createdAt", s->created_ms);
    field_time(&r->json, "updatedAt", s->updated_ms);
    jw_kv_str(&r->json, "provider", s->provider);
    jw_kv_str(&r->json, "model", s->model);
    jw_key(&r->json, "history");
    jw_begin_array(&r->json);
}

static void add_event(struct writer *w, const struct event *e)
{
    struct record *r = record_of(w);

    switch (e->type) {
    case EVENT_SESSION_BEGIN:
        keep_beginning(r, &e->body.session);
        break;
    case EVENT_HISTORY:
        add_history(r, e);
        break;
    case EVENT_TOOL_REQUEST:
        add_tool_start(r, e);
        break;
    case EVENT_TOOL_RESULT:
        add_tool_end(r, e);
        break;
    case EVENT_NOTICE:
        add_notice(r, e);
        break;
    case EVENT_STATE:
        keep_task(r, e->body.state.key, e->body.state.value);
        break;
    case EVENT_CHECKPOINT:
        json_each (value, e->body.checkpoint.state)
            keep_task(r, value->key, value);
        break;
    default:
        break;
    }
}

static void end(struct writer *w, const struct history *h)
{
    struct record *r = record_of(w);

    jw_end_array(&r->json);
    jw_key(&r->json, "messages");
    jw_begin_array(&r->json);
    for (size_t i = 0; i < h->n; i++)
        if (h->entries[i].message)
            add_message(r, h->entries[i].message);
    jw_end_array(&r->json);
    add_text(r, "systemPrompt", strbuf_str(&r->system));
    jw_kv_raw(&r->json, "toolSchemas", r->schemas.n ? strbuf_str(&r->schemas) : S("[]"));
    add_tasks(r);
    add_empty_lists(&r->json);
    if (r->depth)
        jw_end_object(&r->json);
}

static void close_all(struct writer *w)
{
    struct record *r = record_of(w);

    if (r->has_children)
        jw_end_array(&r->json);
    jw_end_object(&r->json);
    strbuf_add_char(&w->out, '\n');
}

static void free_all(struct writer *w)
{
    struct record *r = record_of(w);

    for (size_t i = 0; i < MAX_TASKS; i++) {
        strbuf_done(&r->tasks[i].id);
        strbuf_done(&r->tasks[i].state);
    }
    strbuf_done(&r->value);
    strbuf_done(&r->hidden);
    strbuf_done(&r->id);
    strbuf_done(&r->system);
    strbuf_done(&r->schemas);
    mem_free(r);
}

const struct writer_ops writer_json = {make, open_all, close_all, begin, add_event, end, free_all};
