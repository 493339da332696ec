/* event_emitter.c - passes events on to listeners, by name. */
#include "view/event_emitter.h"

struct subscription {
    uint64_t id; /* 0: removed while listeners are being called */
    char *pattern;
    struct emitter_listener listener;
};

struct name_count {
    const char *name; /* one of the constants below */
    uint64_t n;
};

struct event_emitter {
    struct event_subscriber subscriber;
    struct emitter_failures failures;
    struct subscription *subscriptions;
    size_t n_subscriptions, room; /* removed ones included */
    size_t n_removed;
    unsigned depth; /* of calls of listeners */
    uint64_t last_id;
    struct name_count *counts;
    size_t n_counts, counts_room;
    struct emitter_metrics metrics;
};

/* --- names --- */

/* Events with one name, whatever they hold. */
static const char *const names[EVENT_N_TYPES] = {
    [EVENT_SESSION_BEGIN] = "agent.session_start",
    [EVENT_USER_INPUT] = "user.input",
    [EVENT_PRE_RUN] = "execution.ready",
    [EVENT_TOOLS_CHANGED] = "agent.tools_changed",
    [EVENT_CONTEXT] = "execution.context",
    [EVENT_COMPACTED] = "execution.compacted",
    [EVENT_FINAL_TURN] = "execution.final_turn",
    [EVENT_ATTEMPT_BEGIN] = "execution.attempt_start",
    [EVENT_PROVIDER_REQUEST] = "execution.provider_request",
    [EVENT_NATIVE_PAYLOAD] = "execution.provider_payload",
    [EVENT_DELTA] = "execution.stream_chunk",
    [EVENT_RESPONSE_RAW] = "execution.provider_response",
    [EVENT_ATTEMPT_END] = "execution.attempt_end",
    [EVENT_RETRY] = "execution.retry",
    [EVENT_FALLBACK] = "execution.fallback",
    [EVENT_TEXT_DROPPED] = "execution.text_dropped",
    [EVENT_RESPONSE_NORMALIZED] = "execution.response",
    [EVENT_ASSISTANT_COMMITTED] = "execution.assistant_message",
    [EVENT_HISTORY] = "execution.history_mutation",
    [EVENT_BATCH_BEGIN] = "execution.tool_batch_start",
    [EVENT_TOOL_REQUEST] = "tool.execute_request",
    [EVENT_TOOL_EARLY] = "tool.execute_early",
    [EVENT_TOOL_DROPPED] = "tool.execute_dropped",
    [EVENT_TOOL_BEGIN] = "tool.execute_start",
    [EVENT_SNAPSHOT] = "tool.snapshot",
    [EVENT_PRE_IMAGE] = "tool.pre_image",
    [EVENT_TOOL_PROGRESS] = "tool.progress",
    [EVENT_TOOL_END] = "tool.execute_end",
    [EVENT_TOOL_COMMITTED] = "tool.message_committed",
    [EVENT_CHILD_BEGIN] = "task.child_start",
    [EVENT_CHILD_END] = "task.child_end",
    [EVENT_STATE] = "tool.state",
    [EVENT_ASKED] = "user.asked",
    [EVENT_ANSWERED] = "user.answered",
    [EVENT_NOTICE] = "agent.notice",
    [EVENT_ERROR] = "execution.error",
    [EVENT_REWOUND] = "agent.rewound",
    [EVENT_CHECKPOINT] = "agent.checkpoint",
    [EVENT_SESSION_CHANGED] = "agent.session_changed",
    [EVENT_SESSION_END] = "agent.session_end",
};

/* A run inside another: started by one of its calls, or with a stream of its own beside it. */
static bool is_task(const struct event *e)
{
    for (const struct owner *o = e->owner; o; o = o->parent)
        if (strcmp(o->type, "tool") == 0)
            return true;
    return e->parent_stream.n > 0;
}

static size_t begin_names(const struct event *e, const char **ret_names)
{
    size_t n = 0;

    if (is_task(e))
        ret_names[n++] = "task.started";
    if (e->turn <= 1)
        ret_names[n++] = "agent.created";
    ret_names[n++] = "execution.start";
    return n;
}

static size_t end_names(const struct event *e, const char **ret_names)
{
    static const char *const endings[] = {
        [RUN_DONE] = "execution.complete",
        [RUN_FAILED] = "execution.failed",
        [RUN_SUSPENDED] = "execution.suspended",
        [RUN_INTERRUPTED] = "execution.interrupted",
    };
    enum run_outcome outcome = e->body.result->outcome;
    size_t n = 0;

    ret_names[n++] = endings[outcome];
    if (outcome == RUN_DONE)
        ret_names[n++] = "agent.completion";
    if (is_task(e) && outcome != RUN_SUSPENDED)
        ret_names[n++] = outcome == RUN_DONE ? "task.completed" : "task.failed";
    return n;
}

size_t event_emitter_names(const struct event *e, const char *ret_names[EVENT_EMITTER_MAX_NAMES])
{
    switch (e->type) {
    case EVENT_RUN_BEGIN:
        return begin_names(e, ret_names);
    case EVENT_RUN_END:
        return end_names(e, ret_names);
    case EVENT_TOOL_RESULT:
        ret_names[0] = e->body.tool.is_ok ? "tool.execute_success" : "tool.execute_error";
        return 1;
    default:
        ret_names[0] = names[e->type];
        return 1;
    }
}

static const struct owner *owner_of(const struct event *e)
{
    switch (e->type) {
    case EVENT_TOOL_EARLY:
    case EVENT_TOOL_DROPPED:
    case EVENT_TOOL_REQUEST:
    case EVENT_TOOL_BEGIN:
    case EVENT_TOOL_PROGRESS:
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
    case EVENT_TOOL_COMMITTED:
        return e->body.tool.owner ? e->body.tool.owner : e->owner;
    default:
        return e->owner;
    }
}

/* --- listeners --- */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* "*", "owner.*" or "owner.what" */
static bool pattern_is_valid(struct str pattern)
{
    size_t dot = str_find_char(pattern, '.');

    if (str_is(pattern, "*"))
        return true;
    if (dot == STR_NONE || dot == 0 || dot + 1 == pattern.n)
        return false;
    for (size_t i = 0; i < pattern.n; i++)
        if (i != dot && !is_name_char(pattern.p[i]))
            return i == dot + 1 && str_is(str_skip(pattern, i), "*");
    return true;
}

static bool pattern_matches(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);

    if (pattern[n - 1] == '*')
        return strncmp(pattern, name, n - 1) == 0;
    return strcmp(pattern, name) == 0;
}

struct err *event_emitter_on(struct event_emitter *m, const char *pattern,
                             struct emitter_listener listener, uint64_t *ret_id)
{
    if (!pattern_is_valid(str_of(pattern)))
        return err_hint(err_new(ERR_VALIDATION, "unknown event \"%s\"", pattern),
                        "subscribe to a name like tool.execute_start, to tool.* or to *");
    if (m->metrics.n_listeners >= EVENT_EMITTER_MAX_LISTENERS)
        return err_hint(
            err_new(ERR_PLUGIN, "cannot add more than %d listeners", EVENT_EMITTER_MAX_LISTENERS),
            "unsubscribe listeners that are no longer needed");
    if (m->n_subscriptions == m->room) {
        m->room = MAX(m->room * 2, (size_t)8);
        m->subscriptions = mem_resize(m->subscriptions, m->room * sizeof *m->subscriptions);
    }
    m->subscriptions[m->n_subscriptions++] = (struct subscription){
        .id = ++m->last_id, .pattern = mem_strdup(pattern), .listener = listener};
    m->metrics.n_listeners++;
    *ret_id = m->last_id;
    return NULL;
}

/* Takes the removed ones out; not while somebody walks the list. */
static void sweep(struct event_emitter *m)
{
    size_t kept = 0;

    if (m->depth || m->n_removed == 0)
        return;
    for (size_t i = 0; i < m->n_subscriptions; i++)
        if (m->subscriptions[i].id)
            m->subscriptions[kept++] = m->subscriptions[i];
        else
            mem_free(m->subscriptions[i].pattern);
    m->n_subscriptions = kept;
    m->n_removed = 0;
}

bool event_emitter_off(struct event_emitter *m, uint64_t id)
{
    for (size_t i = 0; id && i < m->n_subscriptions; i++)
        if (m->subscriptions[i].id == id) {
            m->subscriptions[i].id = 0;
            m->n_removed++;
            m->metrics.n_listeners--;
            sweep(m);
            return true;
        }
    return false;
}

/* --- emitting --- */

static void count(struct event_emitter *m, const char *name)
{
    m->metrics.n_emitted++;
    for (size_t i = 0; i < m->n_counts; i++)
        if (m->counts[i].name == name || strcmp(m->counts[i].name, name) == 0) {
            m->counts[i].n++;
            return;
        }
    if (m->n_counts == m->counts_room) {
        m->counts_room = MAX(m->counts_room * 2, (size_t)16);
        m->counts = mem_resize(m->counts, m->counts_room * sizeof *m->counts);
    }
    m->counts[m->n_counts++] = (struct name_count){name, 1};
}

/* The list may move while a listener is called: it is looked up anew for each. */
static void call(struct event_emitter *m, struct emitter_listener listener,
                 const struct emitted *emitted)
{
    AUTO(err) struct err *e = listener.on_event(listener.self, emitted);

    m->metrics.n_handled++;
    if (!e)
        return;
    m->metrics.n_failed++;
    if (m->failures.on_failure)
        m->failures.on_failure(m->failures.self, emitted->name, e);
}

static void emit(struct event_emitter *m, const struct emitted *emitted)
{
    size_t n = m->n_subscriptions; /* later ones get the next event */

    count(m, emitted->name);
    m->depth++;
    for (size_t i = 0; i < n; i++)
        if (m->subscriptions[i].id && pattern_matches(m->subscriptions[i].pattern, emitted->name))
            call(m, m->subscriptions[i].listener, emitted);
    m->depth--;
    sweep(m);
}

static void emitter_event(void *self, const struct event *e)
{
    struct event_emitter *m = self;
    const char *found[EVENT_EMITTER_MAX_NAMES];
    size_t n = event_emitter_names(e, found);

    for (size_t i = 0; i < n; i++)
        emit(m, &(struct emitted){.name = found[i], .owner = owner_of(e), .event = e});
}

/* --- its life --- */

struct event_emitter *event_emitter_new(struct emitter_failures failures)
{
    struct event_emitter *m = mem_alloc(sizeof *m);

    m->subscriber = (struct event_subscriber){.on_event = emitter_event, .self = m};
    m->failures = failures;
    return m;
}

void event_emitter_free(struct event_emitter *m)
{
    if (!m)
        return;
    event_stream_unsubscribe(&m->subscriber);
    for (size_t i = 0; i < m->n_subscriptions; i++)
        mem_free(m->subscriptions[i].pattern);
    mem_free(m->subscriptions);
    mem_free(m->counts);
    mem_free(m);
}

struct event_subscriber *event_emitter_subscriber(struct event_emitter *m)
{
    return &m->subscriber;
}

struct emitter_metrics event_emitter_metrics(const struct event_emitter *m)
{
    return m->metrics;
}

uint64_t event_emitter_count(const struct event_emitter *m, const char *name)
{
    for (size_t i = 0; i < m->n_counts; i++)
        if (strcmp(m->counts[i].name, name) == 0)
            return m->counts[i].n;
    return 0;
}
