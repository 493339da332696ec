/* session.c - how a session begins, what a person changes in it by hand, how it ends. */
#include "session/session_parts.h"

#include "session/record.h"
#include "view/journal_fields.h"

#define ALLOW_PREFIX "allow:"

/* --- the beginning --- */

/* Only some stores keep a record beside the log. */
static void remember_for_record(struct session *s, const struct event_session *how)
{
    AUTO(strbuf) struct strbuf schemas = {0};
    struct json_writer w;

    if (!s->options.store->ops->save_record)
        return;
    s->system_prompt = arena_str(&s->arena, how->system);
    jw_init(&w, &schemas);
    jw_begin_array(&w);
    for (size_t i = 0; how->tools && i < how->tools->n; i++)
        journal_schema(&w, &how->tools->entries[i].def);
    jw_end_array(&w);
    s->tool_schemas = arena_str(&s->arena, strbuf_str(&schemas));
}

void session_begin(struct session *s, const struct event_session *how)
{
    struct event e = {.body.session = *how};

    if (s->has_begun)
        return;
    s->has_begun = true;
    remember_for_record(s, how);
    session_emit(s, EVENT_SESSION_BEGIN, &e);
}

/* --- changes by hand --- */

struct err *session_inject(struct session *s, enum role role, struct str text)
{
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = message_new(role, session_new_id(s, id));

    message_add_text(m, text);
    session_commit(s, m);
    return journal_sync(s->journal);
}

struct err *session_clear(struct session *s)
{
    history_done(&s->conversation.history);
    s->loaded.n_outcomes = 0;
    message_unref(TAKE(s->loaded.prompt));
    message_unref(TAKE(s->loaded.partial));
    s->loaded.last_run = LAST_RUN_ENDED;
    session_tell_history(s, NULL, 0, "clear");
    session_checkpoint(s);
    return journal_sync(s->journal);
}

struct err *session_rename(struct session *s, struct str name)
{
    return store_update(
        s->options.store,
        &(struct store_summary){.id = s->options.id, .name = name, .updated_ms = session_now_ms()});
}

size_t session_allowed(const struct session *s, struct arena *a, struct str **ret_patterns)
{
    const struct json *value;
    size_t at = 0, n = 0, room = 0;
    struct str key;

    *ret_patterns = NULL;
    while (tool_session_next(s->conversation.tools, S(ALLOW_PREFIX), &at, &key, &value)) {
        *ret_patterns = arena_grow(a, *ret_patterns, n, &room, sizeof **ret_patterns);
        (*ret_patterns)[n++] = arena_str(a, str_skip(key, strlen(ALLOW_PREFIX)));
    }
    return n;
}

void session_clear_allowed(struct session *s)
{
    const struct json *value;
    struct str key;
    size_t at = 0;

    while (tool_session_next(s->conversation.tools, S(ALLOW_PREFIX), &at, &key, &value))
        tool_session_set(s->conversation.tools, key, NULL);
}

/* --- the end --- */

static bool is_untouched(const struct session *s)
{
    return s->lease.is_new && s->conversation.next_seq == s->lease.next_seq;
}

static struct err *write_end(struct session *s, const char *reason)
{
    struct event e = {.body.session.reason = reason};

    if (journal_n_core(s->journal))
        session_checkpoint(s);
    session_emit(s, EVENT_SESSION_END, &e);
    return journal_sync(s->journal);
}

static struct err *save_record(struct session *s)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf json = {0};
    struct store_summary summary;
    struct session_record record = {.summary = &summary,
                                    .history = &s->conversation.history,
                                    .system_prompt = s->system_prompt,
                                    .tool_schemas = s->tool_schemas};
    bool found;

    if (!s->options.store->ops->save_record)
        return NULL;
    TRY(store_find(s->options.store, s->options.id, &a, &summary, &found));
    if (!found)
        return NULL;
    session_record_write(&record, &json);
    TRY(strbuf_check(&json, "the record of a session"));
    return store_save_record(s->options.store, s->options.id, strbuf_str(&json));
}

struct err *session_shutdown(struct session *s, const char *reason)
{
    struct err *e = NULL;

    if (!s->is_open || s->is_shut_down)
        return NULL;
    s->is_shut_down = true;
    task_shield_begin();
    if (s->journal && !is_untouched(s))
        e = write_end(s, reason);
    if (!e && s->journal && !is_untouched(s))
        e = save_record(s);
    store_close(s->options.store, s->options.id, s->lease.fence);
    if (s->journal && is_untouched(s))
        e = store_remove(s->options.store, s->options.id);
    task_shield_end();
    return e;
}

void session_done(struct session *s)
{
    err_ignore(session_shutdown(s, "other"), "whoever wants to know has shut it down himself");
    if (s->has_tasks)
        err_ignore(group_end(&s->tasks), "the journal's task tells its failures itself");
    journal_free(s->journal);
    loaded_done(&s->loaded);
    budget_done(&s->budget);
    compaction_done(&s->compaction);
    conversation_done(&s->conversation);
    strbuf_done(&s->notice);
    arena_done(&s->arena);
    *s = (struct session){0};
}
