/* session.c - how a session begins, what a person changes in it by hand, how it ends. */
#include "session/session_parts.h"

#include "model/message_json.h"

/* --- the beginning --- */

const char *session_start_name(enum session_start s)
{
    static const char *const names[] = {"new", "resume", "fork"};
    return names[s];
}

void session_begin(struct session *s, const struct event_session *how)
{
    struct event e = {.body.session = *how};

    if (s->has_begun)
        return;
    s->has_begun = true;
    session_emit(s, EVENT_SESSION_BEGIN, &e);
}

/* --- changes by hand --- */

struct err *session_inject(struct session *s, enum role role, struct str text)
{
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = message_new(role, session_new_id(s, id));

    message_add_text(m, text);
    TRY(message_check(m, "the message"));
    session_commit(s, m);
    return journal_sync(s->journal);
}

struct err *session_clear(struct session *s)
{
    session_abandon_children(s);
    history_done(&s->conversation.history);
    s->loaded.n_outcomes = 0;
    message_unref(TAKE(s->loaded.prompt));
    message_unref(TAKE(s->loaded.partial));
    s->loaded.last_run = LAST_RUN_ENDED;
    session_emit_history(s, NULL, 0, "clear");
    session_checkpoint(s);
    return journal_sync(s->journal);
}

struct err *session_rename(struct session *s, struct str name)
{
    struct event e = {.body.change.name = name};

    TRY(store_update(s->options.store, &(struct store_summary){.id = s->options.id,
                                                               .name = name,
                                                               .updated_ms = session_now_ms()}));
    session_emit(s, EVENT_SESSION_CHANGED, &e);
    return NULL;
}

void session_note_model(struct session *s, struct str provider, struct str model)
{
    struct event e = {.body.change = {.provider = provider, .model = model}};

    session_emit(s, EVENT_SESSION_CHANGED, &e);
}

size_t session_allowed(const struct session *s, struct arena *a, struct str **ret_patterns)
{
    size_t at = 0, n = 0, room = 0;
    struct state_entry x;

    *ret_patterns = NULL;
    while (tool_state_next(s->conversation.state, STATE_ALLOWED, &at, &x)) {
        *ret_patterns = arena_grow(a, *ret_patterns, n, &room, sizeof **ret_patterns);
        (*ret_patterns)[n++] = arena_str(a, x.name);
    }
    return n;
}

void session_clear_allowed(struct session *s)
{
    tool_state_clear(s->conversation.state, STATE_ALLOWED);
}

/* --- the end --- */

/* A notice alone is nothing to keep: a setting is wrong, say. */
static bool is_untouched(const struct session *s)
{
    const struct event_stream *stream = &s->conversation.stream;

    return s->lease.is_new && stream->next_seq - s->lease.next_seq == stream->n_notices;
}

static struct err *write_end(struct session *s, const char *reason)
{
    struct event e = {.body.session.reason = reason};

    if (journal_n_core(s->journal))
        session_checkpoint(s);
    session_emit(s, EVENT_SESSION_END, &e);
    return journal_sync(s->journal);
}

/* The record is derived: without it nothing is lost. */
static void save_record(struct session *s)
{
    AUTO(err) struct err *e = session_record_save(s->options.store, s->options.id);
    AUTO_FREE char *text = e ? err_message(e) : NULL;
    AUTO(strbuf) struct strbuf notice = {0};

    if (!e)
        return;
    strbuf_addf(&notice, "%s%s%s", text, err_find_hint(e) ? "; " : "",
                err_find_hint(e) ? err_find_hint(e) : "");
    session_notice(s, SEVERITY_WARNING, "session", strbuf_str(&notice));
}

static struct err *give_back(struct session *s, bool leaves_nothing, struct err *take_error)
{
    store_close(s->options.store, s->options.id, s->lease.fence);
    return leaves_nothing ? store_remove(s->options.store, s->options.id) : take_error;
}

struct err *session_shutdown(struct session *s, const char *reason)
{
    bool leaves_nothing = s->journal && is_untouched(s);
    struct err *e = NULL;

    if (!s->is_open || s->is_shut_down)
        return NULL;
    s->is_shut_down = true;
    task_shield_begin();
    if (leaves_nothing)
        err_ignore(journal_sync(s->journal), "what it writes is about to be removed");
    else if (s->journal)
        e = write_end(s, reason);
    event_stream_close(&s->conversation.stream);
    if (!e && s->journal && !leaves_nothing)
        save_record(s);
    if (!s->options.parent)
        e = give_back(s, leaves_nothing, e);
    task_shield_end();
    return e;
}

void session_done(struct session *s)
{
    err_ignore(session_shutdown(s, "other"), "callers that care call session_shutdown()");
    if (s->has_tasks)
        err_ignore(group_end(&s->tasks), "the journal's task reports its failures itself");
    else if (s->journal)
        journal_join(s->journal);
    session_unlink(s);
    journal_free(s->journal);
    loaded_done(&s->loaded);
    budget_done(&s->budget);
    compaction_done(&s->compaction);
    conversation_done(&s->conversation);
    strbuf_done(&s->notice);
    arena_done(&s->arena);
    *s = (struct session){0};
}
