/* rewind.c - takes a session back: the history, and what tools know, as they were at some event. */
#include "session/session_parts.h"

#define LEFT_TEXT                                                                                  \
    "This call was under way at the point that the session was rewound to. Its outcome is "        \
    "unknown, and it was not run again."

/* --- the history --- */

static void replace_history(struct session *s, const struct history *then)
{
    struct history *h = &s->conversation.history;

    history_done(h);
    for (size_t i = 0; i < then->n_messages; i++)
        history_add_message(h, then->messages[i],
                            session_emit_history(s, then->messages[i], i, "rewind"));
    if (!then->n_messages)
        session_emit_history(s, NULL, 0, "rewind");
}

static void take_loaded(struct session *s, struct loaded *take_loaded)
{
    loaded_done(&s->loaded);
    s->loaded = *take_loaded;
    *take_loaded = (struct loaded){0};
}

/* --- all of it --- */

void session_emit_images(struct session *s, const struct pre_image *images, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct event e = {.body.image = {.image = &images[i]}};

        session_emit(s, EVENT_PRE_IMAGE, &e);
    }
}

void session_emit_unsaved(struct session *s, struct str call_id, struct str why)
{
    struct snapshot_record record = {.unsaved = why};
    struct event e = {.body.snapshot = {.call_id = call_id, .record = &record}};

    session_emit(s, EVENT_SNAPSHOT, &e);
}

static void emit_rewind(struct session *s, const struct session_rewind *how)
{
    struct event e = {.body.rewind = {.turn = how->turn,
                                      .seq = how->seq,
                                      .takes_messages = how->takes_messages,
                                      .n_files = how->n_files}};

    s->conversation.stream.turn++;
    session_emit(s, EVENT_REWOUND, &e);
    session_emit_images(s, how->files, how->n_files);
}

static void take_back(struct session *s, const struct conversation *then, struct loaded *loaded)
{
    replace_history(s, &then->history);
    take_loaded(s, loaded);
    child_list_clear(&s->loaded.children); /* they have ended since */
    session_abandon_calls(s, S(LEFT_TEXT));
    tool_state_rewind(s->conversation.state, then->state);
    strbuf_clear(&s->notice); /* about commands that the model now knows nothing of */
    s->compaction.failed_at = 0;
}

/* --- until the files are changed, too --- */

/* Before the first event of it, and again behind the last. A copy has nothing to finish. */
static void note_unfinished(struct session *s, const struct session_rewind *how, uint64_t at,
                            bool is_told)
{
    AUTO(arena) struct arena a = {0};
    struct json *note = json_new(&a, JSON_OBJECT);

    json_set_str(&a, note, "session", s->options.id);
    json_set_int(&a, note, "turn", how->turn);
    json_set_bool(&a, note, "conversation", how->takes_messages);
    json_set_bool(&a, note, "keepsFiles", how->keeps_files);
    json_set_bool(&a, note, "force", how->force);
    json_set_bool(&a, note, "told", is_told);
    json_set_int(&a, note, "from", (int64_t)how->seq);
    json_set_int(&a, note, "at", (int64_t)at);
    json_set_int(&a, note, "files", (int64_t)how->n_files);
    tool_state_set(s->conversation.state, STATE_REWIND, STATE_UNNAMED, note);
}

struct unfinished_rewind session_unfinished_rewind(const struct session *s)
{
    const struct json *note = tool_state_get(s->conversation.state, STATE_REWIND, STATE_UNNAMED);
    uint64_t at = note ? (uint64_t)json_int_or(json_get(note, "at"), 0) : 0;

    if (!note || !str_eq(json_get_text(note, "session"), s->options.id) || at >= s->lease.next_seq)
        return (struct unfinished_rewind){0}; /* the last: it had not begun yet */
    return (struct unfinished_rewind){
        .turn = (unsigned)json_int_or(json_get(note, "turn"), 0),
        .takes_messages = json_bool(json_get(note, "conversation"), false),
        .keeps_files = json_bool(json_get(note, "keepsFiles"), false),
        .force = json_bool(json_get(note, "force"), false),
        .is_told = json_bool(json_get(note, "told"), false),
        .from = (uint64_t)json_int_or(json_get(note, "from"), 0),
        .at = at,
        .n_files = (size_t)json_int_or(json_get(note, "files"), 0),
    };
}

struct err *session_rewind_end(struct session *s)
{
    tool_state_set(s->conversation.state, STATE_REWIND, STATE_UNNAMED, NULL);
    return journal_sync(s->journal);
}

struct err *session_rewind(struct session *s, const struct session_rewind *how)
{
    AUTO(conversation) struct conversation then = {0};
    AUTO(loaded) struct loaded loaded = {0};
    uint64_t at;

    if (how->takes_messages)
        session_abandon_children(s);
    at = s->conversation.stream.next_seq + 1; /* behind the note */
    conversation_init(&then, s->options.id, s->options.cwd);
    if (how->takes_messages)
        TRY(session_load(s->options.store, s->options.id, how->seq, &then, &loaded));
    note_unfinished(s, how, at, /* is_told= */ false);
    emit_rewind(s, how);
    if (how->takes_messages)
        take_back(s, &then, &loaded);
    note_unfinished(s, how, at, /* is_told= */ true);
    session_checkpoint(s);
    return journal_sync(s->journal);
}
