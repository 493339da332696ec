/* session_record.c - reads a stream and writes its record as it reads. */
#include "session/session_record.h"

#include "base/utf8.h"
#include "base/uuid.h"
#include "model/message_json.h"
#include "port/state_keys.h"
#include "session/codec/codec.h"
#include "sys/new_file.h"
#include "sys/work.h"
#include "view/field.h"
#include "view/session_log_fields.h"

#include <inttypes.h>
#include <stdio.h>

#define FLUSH_BYTES ((size_t)256 << 10)
#define MAX_EVENT_BYTES ((size_t)1 << 30)
#define FIRST_ARG_BYTES 160
#define MAX_TASKS 1000

/* A command in the background, in its last known state. */
struct task_told {
    struct strbuf id, state;
};

struct record_writer {
    struct record_sink sink;
    struct strbuf out;
    struct json_writer json;
    struct strbuf value, hidden; /* of the moment */
    struct str id;               /* of the stream */
    uint64_t n_all;              /* its events */
    struct strbuf system, schemas;
    struct task_told tasks[MAX_TASKS];
    size_t n_tasks;
};

/* --- values without secrets --- */

/* What is put into w->value becomes the next value. */
static struct json_writer begin_value(struct record_writer *w)
{
    struct json_writer value;

    strbuf_clear(&w->value);
    jw_init(&value, &w->value);
    return value;
}

static void end_value(struct record_writer *w)
{
    if (strbuf_is_over(&w->value))
        strbuf_set_over(&w->out);
    jw_raw(&w->json, redaction_hide_json(w->sink.redaction, strbuf_str(&w->value), &w->hidden));
}

static void write_message(struct record_writer *w, struct json_writer *to, const struct message *m)
{
    AUTO(message) struct message *shown = NULL;

    if (w->sink.redaction)
        m = shown = redact_message(m);
    message_write(to, m);
}

/* --- what a person has seen --- */

static void begin_entry(struct json_writer *to, struct str id, const struct event *e,
                        const char *category, const char *type)
{
    jw_begin_object(to);
    jw_kv_str(to, "id", id);
    field_time(to, "timestamp", e->unix_ms);
    jw_kv_str(to, "category", str_of(category));
    jw_kv_str(to, "type", str_of(type));
    jw_key(to, "data");
}

static void add_chat(struct record_writer *w, const struct event *e, const struct message *m)
{
    struct json_writer to = begin_value(w);

    begin_entry(&to, m->id, e, "chat", role_name(m->role));
    write_message(w, &to, m);
    jw_end_object(&to);
    end_value(w);
}

static struct json_writer begin_told(struct record_writer *w, const struct event *e,
                                     const char *type)
{
    struct json_writer to = begin_value(w);
    char id[UUID_TEXT_SIZE], number[32];

    snprintf(number, sizeof number, "event %" PRIu64, e->seq);
    uuid_from_name(w->id, str_of(number), id);
    begin_entry(&to, str_of(id), e, "event", type);
    jw_begin_object(&to);
    return to;
}

static void end_told(struct record_writer *w, struct json_writer *to)
{
    jw_end_object(to);
    jw_end_object(to);
    end_value(w);
}

/* What a person recognises a call by: the first line of its first argument. */
static void field_first_arg(struct json_writer *to, const struct json *args)
{
    const struct json *first = args ? args->first : NULL;
    AUTO(strbuf) struct strbuf text = {0};
    struct str line;
    size_t end;

    if (json_is(first, JSON_STRING))
        strbuf_add(&text, first->text);
    else if (first)
        json_write(&text, first);
    line = str_trim(strbuf_str(&text));
    end = str_find_char(line, '\n');
    line = end == STR_NONE ? line : str_slice(line, 0, end);
    jw_kv_str(to, "firstArg", utf8_truncate(line, FIRST_ARG_BYTES));
}

static void add_tool_start(struct record_writer *w, const struct event *e)
{
    AUTO(arena) struct arena a = {0};
    const struct event_tool *t = &e->body.tool;
    struct json_writer to = begin_told(w, e, "tool-start");

    jw_kv_str(&to, "toolName", t->name);
    jw_kv_str(&to, "toolCallId", t->call_id);
    field_first_arg(&to, json_hide_secret_keys(&a, t->args));
    jw_kv_bool(&to, "isRunning", true);
    end_told(w, &to);
}

static void add_tool_end(struct record_writer *w, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;
    struct json_writer to = begin_told(w, e, "tool-end");

    jw_kv_str(&to, "toolName", t->name);
    jw_kv_str(&to, "toolCallId", t->call_id);
    jw_kv_bool(&to, "isRunning", false);
    jw_kv_str(&to, "result", t->was_denied ? S("denied") : t->is_ok ? S("success") : S("error"));
    jw_kv_int(&to, "durationMs", (int64_t)t->duration_ms);
    end_told(w, &to);
}

static void add_notice(struct record_writer *w, const struct event *e)
{
    const struct event_notice *n = &e->body.notice;
    struct json_writer to;

    if (!e->run_id.n || !severity_is_for_person(n->severity))
        return;
    to = begin_told(w, e, "notice");
    jw_kv_str(&to, "severity", str_of(severity_name(n->severity)));
    jw_kv_str(&to, "message", n->text);
    end_told(w, &to);
}

/* A history that begins anew repeats messages, or refers to them. */
static void add_history(struct record_writer *w, const struct event *e)
{
    const struct event_message *b = &e->body.message;
    bool is_told = strcmp(b->mutation, "append") == 0 || strcmp(b->mutation, "fork-base") == 0;
    struct json_writer to;

    if (b->message && is_told)
        add_chat(w, e, b->message);
    if (is_told || b->index > 0)
        return;
    to = begin_told(w, e, b->mutation);
    end_told(w, &to);
}

/* --- the rest of the record --- */

static void keep_beginning(struct record_writer *w, const struct event_session *s)
{
    struct json_writer to;

    if (w->schemas.n)
        return;
    strbuf_add(&w->system, s->system);
    jw_init(&to, &w->schemas);
    jw_begin_array(&to);
    for (size_t i = 0; s->tools && i < s->tools->n; i++)
        session_log_schema(&to, &s->tools->entries[i].def);
    jw_end_array(&to);
}

static void keep_task(struct record_writer *w, struct str key, const struct json *state)
{
    struct str id;
    size_t i = 0;

    if (!state_key_is(key, STATE_SHELL, &id))
        return;
    while (i < w->n_tasks && !str_eq(strbuf_str(&w->tasks[i].id), id))
        i++;
    if (i == MAX_TASKS)
        return;
    if (i == w->n_tasks) {
        w->n_tasks++;
        strbuf_clear(&w->tasks[i].id);
        strbuf_add(&w->tasks[i].id, id);
    }
    strbuf_clear(&w->tasks[i].state);
    if (state)
        json_write(&w->tasks[i].state, state);
}

static void add_tasks(struct record_writer *w)
{
    jw_key(&w->json, "backgroundTasks");
    jw_begin_array(&w->json);
    for (size_t i = 0; i < w->n_tasks; i++) {
        struct json_writer to = begin_value(w);

        if (w->tasks[i].state.n == 0)
            continue;
        jw_begin_object(&to);
        jw_kv_str(&to, "id", strbuf_str(&w->tasks[i].id));
        jw_kv_raw(&to, "state", strbuf_str(&w->tasks[i].state));
        jw_end_object(&to);
        end_value(w);
    }
    jw_end_array(&w->json);
}

/* What other programs keep there and keel does not have. */
static void add_empty_lists(struct json_writer *to)
{
    static const char *const names[] = {"backgroundTaskEvents",     "backgroundJobGroups",
                                        "backgroundJobGroupEvents", "memoryEvents",
                                        "usedMemoryReferences",     "contextReferences"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        jw_key(to, names[i]);
        jw_begin_array(to);
        jw_end_array(to);
    }
}

/* --- reading --- */

static void take_seen(struct record_writer *w, const struct event *e)
{
    switch (e->type) {
    case EVENT_SESSION_BEGIN:
        keep_beginning(w, &e->body.session);
        break;
    case EVENT_HISTORY:
        add_history(w, e);
        break;
    case EVENT_TOOL_REQUEST:
        add_tool_start(w, e);
        break;
    case EVENT_TOOL_RESULT:
        add_tool_end(w, e);
        break;
    case EVENT_NOTICE:
        add_notice(w, e);
        break;
    case EVENT_STATE:
        keep_task(w, e->body.state.key, e->body.state.value);
        break;
    case EVENT_CHECKPOINT:
        json_each (value, e->body.checkpoint.state)
            keep_task(w, value->key, value);
        break;
    default:
        break;
    }
}

static void take_sent(struct record_writer *w, const struct event *e)
{
    struct json_writer to;

    if (e->type != EVENT_HISTORY || !e->body.message.message)
        return;
    to = begin_value(w);
    write_message(w, &to, e->body.message.message);
    end_value(w);
}

/* Large, and not a part of a record. */
static const bool unwanted[EVENT_N_TYPES] = {
    [EVENT_PROVIDER_REQUEST] = true, [EVENT_NATIVE_PAYLOAD] = true, [EVENT_DELTA] = true,
    [EVENT_PRE_IMAGE] = true,        [EVENT_TOOL_PROGRESS] = true,
};

static struct err *read_stream(struct record_writer *w, struct codec_reader *r,
                               void (*take)(struct record_writer *w, const struct event *e))
{
    const struct event *e;

    codec_reader_leave(r, CODEC_PASS);
    codec_reader_skip(r, unwanted);
    for (;;) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure && w->sink.on_broken)
            w->sink.on_broken(w->sink.self, failure);
        if (failure)
            continue;
        if (!e)
            return NULL;
        take(w, e);
        if (w->sink.on_progress)
            w->sink.on_progress(w->sink.self, e->seq, w->n_all);
        if (w->out.n >= FLUSH_BYTES || strbuf_is_over(&w->out))
            TRY(record_writer_flush(w));
    }
}

static struct err *add_seen(struct record_writer *w, struct store *s, struct codec_range *ret_range)
{
    AUTO(codec_reader) struct codec_reader *r = codec_reader_new(s, w->id, 1, CODEC_READ_ALL);

    jw_key(&w->json, "history");
    jw_begin_array(&w->json);
    TRY(read_stream(w, r, take_seen));
    jw_end_array(&w->json);
    codec_reader_range(r, ret_range);
    return NULL;
}

/* From where the last history began; what is damaged there was reported before. */
static struct err *add_sent(struct record_writer *w, struct store *s, uint64_t base_seq)
{
    void (*on_broken)(void *self, const struct err *e) = TAKE(w->sink.on_broken);
    AUTO(codec_reader) struct codec_reader *r = NULL;
    struct err *e = NULL;

    jw_key(&w->json, "messages");
    jw_begin_array(&w->json);
    if (base_seq) {
        r = codec_reader_new(s, w->id, base_seq, CODEC_READ_CORE);
        e = read_stream(w, r, take_sent);
    }
    jw_end_array(&w->json);
    w->sink.on_broken = on_broken;
    return e;
}

/* --- the writer --- */

struct record_writer *record_writer_new(const struct record_sink *sink)
{
    struct record_writer *w = mem_alloc(sizeof *w);

    w->sink = *sink;
    strbuf_init(&w->out, MAX_EVENT_BYTES);
    strbuf_init(&w->value, MAX_EVENT_BYTES);
    strbuf_init(&w->hidden, MAX_EVENT_BYTES);
    jw_init(&w->json, &w->out);
    return w;
}

void record_writer_free(struct record_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < MAX_TASKS; i++) {
        strbuf_done(&w->tasks[i].id);
        strbuf_done(&w->tasks[i].state);
    }
    strbuf_done(&w->value);
    strbuf_done(&w->hidden);
    strbuf_done(&w->system);
    strbuf_done(&w->schemas);
    strbuf_done(&w->out);
    mem_free(w);
}

struct json_writer *record_writer_json(struct record_writer *w)
{
    return &w->json;
}

struct err *record_writer_flush(struct record_writer *w)
{
    struct err *e;

    TRY(strbuf_check(&w->out, "an event of the session"));
    if (w->out.n == 0)
        return NULL;
    e = w->sink.write(w->sink.self, strbuf_str(&w->out));
    strbuf_clear(&w->out);
    return e;
}

struct err *record_writer_add(struct record_writer *w, struct store *s,
                              const struct store_summary *summary)
{
    struct json_writer *json = &w->json;
    struct codec_range range;

    w->id = summary->id;
    w->n_all = summary->next_seq;
    w->n_tasks = 0;
    strbuf_clear(&w->system);
    strbuf_clear(&w->schemas);
    jw_kv_str(json, "id", summary->id);
    jw_kv_str(json, "cwd", summary->cwd);
    if (summary->name.n)
        jw_kv_str(json, "name", summary->name);
    field_time(json, "createdAt", summary->created_ms);
    field_time(json, "updatedAt", summary->updated_ms);
    jw_kv_str(json, "provider", summary->provider);
    jw_kv_str(json, "model", summary->model);
    TRY(add_seen(w, s, &range));
    TRY(add_sent(w, s, range.base_seq));
    jw_kv_str(json, "systemPrompt",
              redaction_hide(w->sink.redaction, strbuf_str(&w->system), &w->hidden));
    jw_kv_raw(json, "toolSchemas", w->schemas.n ? strbuf_str(&w->schemas) : S("[]"));
    add_tasks(w);
    add_empty_lists(json);
    return record_writer_flush(w);
}

/* --- beside the log --- */

struct record_file {
    struct new_file file;
    const char *path;
    struct str text;
};

static struct err *begin_file(void *arg)
{
    struct record_file *f = arg;

    return new_file_begin(&f->file, f->path, 0600);
}

static struct err *add_to_file(void *arg)
{
    struct record_file *f = arg;

    return new_file_add(&f->file, f->text);
}

static struct err *end_file(void *arg)
{
    return new_file_end(&((struct record_file *)arg)->file);
}

static struct err *write_piece(void *self, struct str text)
{
    ((struct record_file *)self)->text = text;
    return work_run(add_to_file, self);
}

static struct err *write_file(struct record_file *f, struct store *s,
                              const struct store_summary *summary)
{
    struct record_sink sink = {.write = write_piece, .self = f};
    AUTO(record_writer) struct record_writer *w = record_writer_new(&sink);

    TRY(work_run(begin_file, f));
    jw_begin_object(&w->json);
    TRY(record_writer_add(w, s, summary));
    jw_end_object(&w->json);
    strbuf_add_char(&w->out, '\n');
    TRY(record_writer_flush(w));
    return work_run(end_file, f);
}

struct err *session_record_save(struct store *s, struct str id)
{
    AUTO(arena) struct arena a = {0};
    struct record_file f = {.file = NEW_FILE_NONE};
    struct store_summary summary;
    struct err *e;
    bool found;

    if (!s->ops->record_path)
        return NULL;
    TRY(store_find(s, id, &a, &summary, &found));
    if (!found)
        return NULL;
    TRY(store_record_path(s, id, &a, &f.path));
    e = write_file(&f, s, &summary);
    new_file_done(&f.file);
    if (!e || err_is(e, ERR_CANCELLED))
        return e;
    return err_hint(err_wrap(e, "the record beside the log is out of date"),
                    "nothing is lost; free some disk space, then run keel session rebuild");
}
