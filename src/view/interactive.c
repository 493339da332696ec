/* interactive.c - writes the eight events of an interactive session. */
#include "view/interactive.h"

#include "model/message_json.h"
#include "view/field.h"

static void begin(struct json_writer *w, struct strbuf *out, const char *type)
{
    jw_init(w, out);
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(type));
}

static void end(struct json_writer *w)
{
    jw_end_object(w);
    strbuf_add_char(w->out, '\n');
}

/* --- tools --- */

/* The first argument, by which a person recognises a call. */
static void field_first_arg(struct json_writer *w, const struct json *args)
{
    const struct json *first = args ? args->first : NULL;
    AUTO(strbuf) struct strbuf text = {0};

    if (json_is(first, JSON_STRING))
        strbuf_add(&text, first->text);
    else if (first)
        json_write(&text, first);
    jw_kv_str(w, "firstArg", strbuf_str(&text));
}

static void begin_tool(struct json_writer *w, struct strbuf *out, const char *type,
                       const struct event_tool *t, bool is_running)
{
    begin(w, out, type);
    jw_key(w, "state");
    jw_begin_object(w);
    jw_kv_str(w, "toolName", t->name);
    jw_kv_str(w, "toolCallId", t->call_id);
    field_first_arg(w, t->args);
    jw_kv_bool(w, "isRunning", is_running);
}

static void end_tool(struct json_writer *w)
{
    jw_end_object(w);
    end(w);
}

/* "@@ -3,2 +7,4 @@": the start of the hunk in the new file. */
static int64_t hunk_start(struct str line)
{
    size_t plus = str_find_char(line, '+');
    int64_t n = 0;

    for (size_t i = plus == STR_NONE ? line.n : plus + 1; i < line.n; i++) {
        if (line.p[i] < '0' || line.p[i] > '9' || n > INT32_MAX)
            break;
        n = n * 10 + (line.p[i] - '0');
    }
    return n;
}

static void write_diff_line(struct json_writer *w, const char *type, struct str text,
                            int64_t number)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(type));
    jw_kv_str(w, "text", text);
    jw_kv_int(w, "lineNumber", number);
    jw_end_object(w);
}

/* A unified diff, line by line. A removed line has the number of the line after it. */
static void field_diff_lines(struct json_writer *w, struct str diff)
{
    bool in_hunk = false;
    int64_t number = 0;
    struct str line;

    jw_key(w, "diffLines");
    jw_begin_array(w);
    while (diff.n && str_split(&diff, '\n', &line)) {
        char mark = line.n ? line.p[0] : ' ';

        if (str_starts(line, S("@@"))) {
            in_hunk = true;
            number = hunk_start(line);
        } else if (!in_hunk || mark == '\\') {
            continue; /* file names; "no newline at end of file" */
        } else if (mark == '-') {
            write_diff_line(w, "remove", str_skip(line, 1), number);
        } else {
            write_diff_line(w, mark == '+' ? "add" : "context", str_skip(line, 1), number);
            number++;
        }
    }
    jw_end_array(w);
}

static void write_tool_end(const struct event_tool *t, struct strbuf *out)
{
    struct str diff = json_get_text(t->metadata, "diff");
    struct json_writer w;

    begin_tool(&w, out, "tool_end", t, false);
    jw_kv_str(&w, "result", t->was_denied ? S("denied") : t->is_ok ? S("success") : S("error"));
    if (diff.n) {
        struct str file = json_get_text(t->args, "file_path");

        jw_kv_str(&w, "diffFile", file.n ? file : json_get_text(t->args, "notebook_path"));
        field_diff_lines(&w, diff);
    }
    end_tool(&w);
}

/* --- results --- */

/* From the run's first message on: what a turn costs does not grow with the conversation. */
static void field_history(struct json_writer *w, const struct history *h, size_t first)
{
    jw_key(w, "history");
    jw_begin_array(w);
    for (size_t i = first; h && i < h->n_messages; i++) {
        const struct message *m = h->messages[i];

        jw_begin_object(w);
        jw_kv_str(w, "id", m->id);
        field_time(w, "timestamp", h->unix_ms[i]);
        jw_kv_str(w, "category", S("chat"));
        jw_kv_str(w, "type", str_of(role_name(m->role)));
        jw_key(w, "data");
        message_write(w, m);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void field_tool_summaries(struct json_writer *w, const struct run_result *r)
{
    jw_key(w, "toolSummaries");
    jw_begin_array(w);
    for (size_t i = 0; i < r->n_accounting; i++) {
        const struct accounting_entry *entry = &r->accounting[i];

        if (entry->type != ACCOUNT_TOOL)
            continue;
        jw_begin_object(w);
        jw_kv_str(w, "toolName", entry->command);
        jw_kv_str(w, "result", entry->is_ok ? S("success") : S("error"));
        jw_kv_int(w, "durationMs", (int64_t)entry->duration_ms);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void field_asks(struct json_writer *w, const struct run_result *r)
{
    if (r->outcome != RUN_SUSPENDED)
        return;
    jw_key(w, "asks");
    jw_begin_array(w);
    for (size_t i = 0; i < r->n_asks; i++) {
        jw_begin_object(w);
        jw_kv_str(w, "kind", str_of(ask_kind_name(r->asks[i].kind)));
        jw_kv_str(w, "toolCallId", r->asks[i].call_id);
        jw_kv_str(w, "toolName", r->asks[i].tool);
        field_json(w, "toolArgs", r->asks[i].args);
        jw_kv_str(w, "text", r->asks[i].text);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void write_result(const struct interactive_view *v, const struct event *e, const char *type,
                         struct strbuf *out)
{
    const struct run_result *r = e->body.result;
    struct json_writer w;

    begin(&w, out, type);
    jw_key(&w, "result");
    jw_begin_object(&w);
    jw_kv_str(&w, "response", r->text);
    field_history(&w, e->history, v->first);
    field_tool_summaries(&w, r);
    field_context(&w, "contextState", v->used, v->window);
    field_asks(&w, r);
    jw_end_object(&w);
    end(&w);
}

static void write_thinking(bool is_thinking, struct strbuf *out)
{
    struct json_writer w;

    begin(&w, out, "thinking");
    jw_kv_bool(&w, "isThinking", is_thinking);
    end(&w);
}

static void write_end(const struct interactive_view *v, const struct event *e, struct strbuf *out)
{
    struct json_writer w;

    write_thinking(false, out);
    switch (e->body.result->outcome) {
    case RUN_DONE:
        write_result(v, e, "complete", out);
        break;
    case RUN_INTERRUPTED:
    case RUN_SUSPENDED:
        write_result(v, e, "interrupted", out);
        break;
    case RUN_FAILED:
        begin(&w, out, "error");
        field_failure(&w, "error", e->body.result->error);
        end(&w);
        break;
    }
}

/* --- events --- */

static void write_context(struct interactive_view *v, const struct event_context *c,
                          struct strbuf *out)
{
    struct json_writer w;

    v->used = c->used;
    v->window = c->window;
    begin(&w, out, "context_update");
    field_context(&w, "state", v->used, v->window);
    end(&w);
}

/* A history that begins anew has none of the run's messages yet. */
static void follow_history(struct interactive_view *v, const struct event_message *m)
{
    if (strcmp(m->mutation, "append") != 0)
        v->first = m->message ? m->index + 1 : 0;
}

static void write_delta(const struct delta *d, struct strbuf *out)
{
    struct json_writer w;

    if ((d->kind != DELTA_TEXT && d->kind != DELTA_REFUSAL) || d->text.n == 0)
        return;
    begin(&w, out, "text_delta");
    jw_kv_str(&w, "delta", d->text);
    end(&w);
}

void interactive_event(struct interactive_view *v, const struct event *e, struct strbuf *out)
{
    struct json_writer w;

    if (event_is_child(e))
        return;
    switch (e->type) {
    case EVENT_RUN_BEGIN:
        v->first = e->history ? e->history->n_messages : 0;
        write_thinking(true, out);
        break;
    case EVENT_HISTORY:
        follow_history(v, &e->body.message);
        break;
    case EVENT_CONTEXT:
        write_context(v, &e->body.context, out);
        break;
    case EVENT_COMPACTED:
        write_context(v, &e->body.compact.after, out);
        break;
    case EVENT_DELTA:
        write_delta(e->body.delta.delta, out);
        break;
    case EVENT_TOOL_BEGIN:
        begin_tool(&w, out, "tool_start", &e->body.tool, true);
        end_tool(&w);
        break;
    case EVENT_TOOL_RESULT:
        write_tool_end(&e->body.tool, out);
        break;
    case EVENT_RUN_END:
        write_end(v, e, out);
        break;
    default:
        break;
    }
}
