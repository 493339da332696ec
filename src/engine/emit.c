/* emit.c - what happens in a run, as events of its conversation's stream. */
#include "engine/run_state.h"

#include "sys/loop.h"

int64_t run_unix_ms(void)
{
    return loop_unix_ms(task_loop());
}

struct str run_new_id(struct run *r, char id[UUID_TEXT_SIZE])
{
    unsigned char bytes[10];

    random_fill(r->random, bytes, sizeof bytes);
    uuid_v7(run_unix_ms(), bytes, id);
    return str_of(id);
}

void run_emit(struct run *r, enum event_type type, struct event *e)
{
    event_stream_emit(&r->conversation->stream, type, e);
}

/* The recorder writes in a task of its own, which runs when this one yields. */
void run_hurry(struct run *r, enum recorder_safety safety)
{
    bool is_recorded = false;

    for (; r; r = r->input->parent) {
        struct recorder *recorder = r->conversation->stream.recorder;

        if (!recorder || !recorder->hurry)
            continue;
        recorder->hurry(recorder, safety);
        is_recorded = true;
    }
    if (is_recorded)
        err_ignore(task_yield(), "cancellation is reported at the next wait");
}

/* The parent's stream first: what a child does must be recorded there before it does it. */
struct err *run_wait(struct run *r, enum recorder_safety safety)
{
    if (r->input->parent)
        TRY(run_wait(r->input->parent, safety));
    return recorder_wait(r->conversation->stream.recorder, safety);
}

struct err *run_sync(struct run *r)
{
    return run_wait(r, RECORDER_DURABLE);
}

void run_emit_message(struct run *r, enum event_type type, const struct message *m)
{
    struct event e = {.body.message = {.message = m, .n_tool_calls = message_n_calls(m)}};

    run_emit(r, type, &e);
}

void run_notice(struct run *r, enum severity severity, const char *source, struct str text)
{
    event_stream_notice(&r->conversation->stream, severity, source, text);
}

void run_report_hidden(struct run *r, uint64_t found, struct str where)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (!found)
        return;
    secrets_add_names(r->secrets, found, &text);
    strbuf_addf(&text, ": removed from %" STR_FMT ", which shows " REDACTED " instead",
                STR_ARG(where));
    run_notice(r, SEVERITY_WARNING, "secrets", strbuf_str(&text));
}

/* --- the history --- */

struct message *run_new_message(struct run *r, enum role role)
{
    char id[UUID_TEXT_SIZE];

    return message_new(role, run_new_id(r, id));
}

struct message *run_repeat_message(struct run *r, const struct message *m)
{
    struct message *copy = run_new_message(r, m->role);

    copy->state = m->state;
    copy->is_error = m->is_error;
    copy->stop_reason = arena_str(&copy->arena, m->stop_reason);
    message_set_origin(copy, m->origin);
    for (size_t i = 0; i < m->n_parts; i++)
        message_add(copy, &m->parts[i]);
    return copy;
}

void run_append(struct run *r, struct message *m)
{
    struct history *h = &r->conversation->history;
    struct event e = {
        .body.message = {.message = m, .mutation = "append", .index = h->n_messages},
    };

    run_emit(r, EVENT_HISTORY, &e);
    history_add_message(h, m, e.unix_ms);
}

const struct history *run_history(const struct run *r)
{
    return &r->conversation->history;
}

void run_replace_history(struct run *r, const struct new_message *messages, size_t n,
                         const struct event_compact *compact)
{
    struct history *h = &r->conversation->history;
    struct event compacted = {.body.compact = *compact};

    history_done(h);
    for (size_t i = 0; i < n; i++) {
        struct event e = {.body.message = {.message = messages[i].message,
                                           .index = i,
                                           .mutation = "compact",
                                           .n_of = n,
                                           .is_kept = messages[i].is_kept}};

        run_emit(r, EVENT_HISTORY, &e);
        history_add_message(h, messages[i].message, e.unix_ms);
    }
    run_emit(r, EVENT_COMPACTED, &compacted);
}

/* --- accounting --- */

struct accounting_entry *run_account(struct run *r)
{
    struct run_result *x = r->result;

    if (x->n_accounting == x->accounting_room) {
        x->accounting_room = MAX(x->accounting_room * 2, (size_t)4);
        x->accounting = mem_resize(x->accounting, x->accounting_room * sizeof *x->accounting);
    }
    x->accounting[x->n_accounting] = (struct accounting_entry){.unix_ms = run_unix_ms()};
    return &x->accounting[x->n_accounting++];
}
