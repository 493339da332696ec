/* session_events.c - what a session tells its journal between runs, and its checkpoints. */
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

void session_tell_person(const struct session *s, struct str text)
{
    if (text.n && s->options.on_notice)
        s->options.on_notice(s->options.self, text);
}

/* --- events outside of runs --- */

void session_emit(struct session *s, enum event_type type, struct event *e)
{
    static const struct owner main_agent = {"agent", {"main", 4}, NULL};

    e->type = type;
    e->seq = s->conversation.next_seq++;
    e->unix_ms = session_now_ms();
    e->stream = str_of(s->conversation.id);
    e->owner = &main_agent;
    e->turn = s->conversation.n_runs;
    recorder_append(journal_recorder(s->journal), e);
    if (s->options.between.on_event)
        s->options.between.on_event(s->options.between.self, e);
}

static void on_state_change(void *self, struct str key, const struct json *value)
{
    struct event e = {.body.state = {.key = key, .value = value}};

    session_emit(self, EVENT_STATE, &e);
}

/* A run listens itself, and is told itself what is durable. */
void session_listen(struct session *s)
{
    struct recorder *recorder = journal_recorder(s->journal);

    recorder->on_durable = s->options.between.on_durable;
    recorder->durable_self = s->options.between.self;
    tool_state_listen(s->conversation.state, (struct state_listener){on_state_change, s});
}

int64_t session_tell_history(struct session *s, const struct message *m, size_t index,
                             const char *mutation)
{
    struct event e = {.body.message = {.message = m, .index = index, .mutation = mutation}};

    session_emit(s, EVENT_HISTORY, &e);
    return e.unix_ms;
}

void session_commit(struct session *s, struct message *m)
{
    struct history *h = &s->conversation.history;

    history_add_message(h, m, session_tell_history(s, m, h->n_messages, "append"));
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
        return; /* what they have spent will be told when they end */
    s->checkpoint_base_seq = e.body.checkpoint.base_seq;
    session_emit(s, EVENT_CHECKPOINT, &e);
}

bool session_needs_checkpoint(const struct session *s)
{
    return journal_n_core(s->journal) > SESSION_CHECKPOINT_EVERY ||
           (s->checkpoint_base_seq && journal_base_seq(s->journal) != s->checkpoint_base_seq);
}
