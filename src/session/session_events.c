/* session_events.c - what happens in a session between runs, and its checkpoints. */
#include "session/session_parts.h"

#include "sys/loop.h"

int64_t session_now_ms(void)
{
    return clock_unix_ms(loop_clock(task_loop()));
}

struct str session_new_id(struct session *s, char id[UUID_TEXT_SIZE])
{
    const struct random *random = s->options.random ? s->options.random : &random_system;
    unsigned char bytes[10];

    random_fill(random, bytes, sizeof bytes);
    uuid_v7(session_now_ms(), bytes, id);
    return str_of(id);
}

/* --- events --- */

void session_emit(struct session *s, enum event_type type, struct event *e)
{
    event_stream_emit(&s->conversation.stream, type, e);
}

/* What a child has to report concerns the conversation that the person reads. */
struct event_stream *session_notices(struct session *s)
{
    while (s->options.parent)
        s = s->options.parent;
    return &s->conversation.stream;
}

void session_notice(struct session *s, enum severity severity, const char *source, struct str text)
{
    event_stream_notice(session_notices(s), severity, source, text);
}

int64_t session_emit_history(struct session *s, const struct message *m, size_t index,
                             const char *mutation)
{
    struct event e = {.body.message = {.message = m, .index = index, .mutation = mutation}};

    session_emit(s, EVENT_HISTORY, &e);
    return e.unix_ms;
}

void session_commit(struct session *s, struct message *m)
{
    struct history *h = &s->conversation.history;

    history_add_message(h, m, session_emit_history(s, m, h->n_messages, "append"));
}

/* --- checkpoints --- */

static struct json *all_state(const struct session *s, struct arena *a)
{
    struct json *state = json_new(a, JSON_OBJECT);
    struct state_entry x;
    size_t at = 0;

    while (tool_state_walk(s->conversation.state, &at, &x))
        json_set_key(a, state, arena_str(a, x.key), json_copy(a, x.value));
    return state;
}

/* Where the last run has ended and the history ends with an answer, nothing is open: resuming the
 * session need not look further back. */
static bool is_at_rest(const struct session *s)
{
    const struct history *h = &s->conversation.history;
    const struct message *m = h->n_messages ? h->messages[h->n_messages - 1] : NULL;

    return s->loaded.last_run == LAST_RUN_ENDED && m && m->role == ROLE_ASSISTANT &&
           m->state == MESSAGE_COMPLETE && !m->is_error && !message_n_calls(m);
}

void session_checkpoint(struct session *s)
{
    AUTO(arena) struct arena a = {0};
    const struct spent *spent = &s->budget.spent;
    struct event e = {
        .history = is_at_rest(s) ? &s->conversation.history : NULL,
        .body.checkpoint = {.base_seq = journal_base_seq(s->journal),
                            .state = all_state(s, &a),
                            .usage = spent->usage,
                            .cost_microcents = spent->microcents,
                            .cost_is_known = !spent->is_estimated && !spent->is_unpriced,
                            .is_estimated = spent->is_estimated,
                            .is_unpriced = spent->is_unpriced,
                            .n_rounds = spent->n_rounds,
                            .n_tool_calls = spent->n_tool_calls,
                            .active_ms = spent->active_ms}};

    if (s->n_open_children)
        return; /* what they have spent is reported when they end */
    s->checkpoint_base_seq = e.body.checkpoint.base_seq;
    session_emit(s, EVENT_CHECKPOINT, &e);
}

bool session_needs_checkpoint(const struct session *s)
{
    return journal_n_core(s->journal) > SESSION_CHECKPOINT_EVERY ||
           (s->checkpoint_base_seq && journal_base_seq(s->journal) != s->checkpoint_base_seq);
}
