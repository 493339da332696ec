/* import_log.c - logs: lines {"timestamp","sessionId","event",...}, keel's own and those of its
 * kind. The history_mutation events are the history; a field that was too long may be in a file
 * beside the log. */
#include "transcript/import_handles.h"

#include "model/message_json.h"

#include <inttypes.h>

#define MAX_TOTAL ((int64_t)1 << 53) /* adding to it must not overflow */

struct log_reading {
    struct importing *x;
    struct import_index by_id; /* sessions, + 1 */
};

static uint64_t key_of_session(struct str id)
{
    return id.n ? import_key(id) : 1; /* a log without ids is one session */
}

/* The session that a line belongs to; NULL: there are too many. */
static struct imported *find_session(struct log_reading *r, struct str id)
{
    struct import *o = r->x->out;
    size_t found = import_index_find(&r->by_id, key_of_session(id));

    if (found)
        return &o->sessions[found - 1];
    if (o->n == IMPORT_MAX_SESSIONS)
        return NULL;
    import_set(r->x, &import_new_session(r->x)->id, id);
    *import_index_at(&r->by_id, key_of_session(id)) = o->n;
    return &o->sessions[o->n - 1];
}

/* Every file has a parent session before its children. */
static void find_parents(struct log_reading *r)
{
    struct import *o = r->x->out;

    for (size_t i = 0; i < o->n; i++) {
        struct str parent = o->sessions[i].parent;
        size_t found = parent.n ? import_index_find(&r->by_id, key_of_session(parent)) : 0;

        if (found && found - 1 < i)
            o->sessions[i].parent_index = found - 1;
    }
}

/* The field itself, or the content that it refers to. */
static struct err *resolve(struct importing *x, const struct json *v, const struct json **ret_value)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = JSON_MAX_BYTES};
    struct blob_reference reference;
    char hash[SHA256_HEX_SIZE];
    struct json *value;

    *ret_value = v;
    if (!v || !blob_is_reference(v))
        return NULL;
    TRY(blob_reference_parse(v, &reference));
    if (!x->options->load)
        return err_new(ERR_VALIDATION, "it refers to %" STR_FMT ", which is missing",
                       STR_ARG(reference.relative_path));
    TRY(x->options->load(x->options->self, &reference, &bytes));
    if (bytes.n != reference.n_bytes)
        return err_new(ERR_VALIDATION,
                       "%" STR_FMT " was changed: it has %zu bytes instead of %" PRIu64,
                       STR_ARG(reference.relative_path), bytes.n, reference.n_bytes);
    sha256_hex(strbuf_str(&bytes), hash);
    if (!str_is(reference.sha256, hash))
        return err_new(ERR_VALIDATION, "%" STR_FMT " was changed: its hash differs",
                       STR_ARG(reference.relative_path));
    TRY(json_parse(&x->scratch, arena_str(&x->scratch, strbuf_str(&bytes)), JSON_REPAIR_UTF8,
                   &value));
    *ret_value = value;
    return NULL;
}

static void take_init(struct importing *x, struct imported *s, const struct json *v)
{
    const struct json *system = NULL;

    if (s->created_ms)
        return; /* opened again */
    s->created_ms = import_time(json_get(v, "timestamp"));
    import_set(x, &s->cwd, json_get_text(v, "cwd"));
    import_set(x, &s->provider, json_get_text(v, "provider"));
    import_set(x, &s->model, json_get_text(v, "model"));
    err_ignore(resolve(x, json_get(v, "systemPrompt"), &system),
               "nobody needs it to go on with the session");
    import_set(x, &s->system, json_str(system));
}

static enum import_step step_of(struct str mutation)
{
    return str_is(mutation, "compact")  ? IMPORT_COMPACT
           : str_is(mutation, "rewind") ? IMPORT_REWIND
           : str_is(mutation, "clear")  ? IMPORT_CLEAR
                                        : IMPORT_APPEND;
}

/* An entry of a timeline has one more layer. */
static const struct json *message_in(const struct json *v)
{
    const struct json *message = json_get(v, "message");

    if (!message)
        message = json_get(json_get(v, "entry"), "data");
    return message;
}

static struct err *take_history(struct importing *x, struct imported *s, const struct json *v)
{
    enum import_step step = step_of(json_get_text(v, "mutation"));
    int64_t at = import_time(json_get(v, "timestamp")),
            index = json_int_or(json_get(v, "index"), 1);
    const struct json *value = message_in(v);
    struct message *m;

    /* A rewind to the beginning leaves an empty history, too. */
    if (step == IMPORT_CLEAR || (step != IMPORT_APPEND && json_is(value, JSON_NULL))) {
        import_add(x, s, IMPORT_CLEAR, /* begins= */ true, NULL, at);
        return NULL;
    }
    TRY(resolve(x, value, &value));
    if (!json_is(value, JSON_OBJECT))
        return err_new(ERR_VALIDATION, "a history_mutation without its message");
    TRY(import_message(x, value, &m));
    if (m->role == ROLE_SYSTEM && !json_has(value, "parts")) {
        message_unref(m); /* another program's instructions, which are in session_init, too */
        return NULL;
    }
    import_add(x, s, step, step != IMPORT_APPEND && index == 0, m, at);
    return NULL;
}

static int64_t total_of(const struct json *v, const char *key)
{
    int64_t n = json_int_or(json_get(v, key), 0);

    return MIN(MAX(n, (int64_t)0), MAX_TOTAL);
}

static void take_checkpoint(struct importing *x, struct imported *s, const struct json *v)
{
    s->usage = usage_read(json_get(v, "usage"), &x->out->arena);
    import_limit_usage(&s->usage);
    s->cost_microcents = total_of(v, "costMicrocents");
    s->cost_is_known = json_bool(json_get(v, "costIsKnown"), true);
    s->is_estimated = json_bool(json_get(v, "isEstimated"), false);
    s->is_unpriced = json_bool(json_get(v, "isUnpriced"), false);
    s->n_rounds = (uint64_t)total_of(v, "rounds");
    s->n_tool_calls = (uint64_t)total_of(v, "toolCalls");
    s->active_ms = (uint64_t)total_of(v, "activeMs");
    json_each (value, json_get(v, "state"))
        import_take_state(x, s, value->key, value);
    if (!s->cwd.n) /* a copy that was not opened yet has no session_init */
        import_set(x, &s->cwd, json_get_text(json_get(v, "state"), "cwd"));
}

static struct err *take_line(struct log_reading *r, const struct json *v)
{
    struct str event = json_get_text(v, "event");
    struct imported *s = find_session(r, json_get_text(v, "sessionId"));

    if (!s)
        return err_new(ERR_VALIDATION, "it contains more than %d sessions", IMPORT_MAX_SESSIONS);
    if (!s->parent.n)
        import_set(r->x, &s->parent, json_get_text(v, "parentSessionId"));
    if (str_is(event, "session_init"))
        take_init(r->x, s, v);
    else if (str_is(event, "history_mutation"))
        return take_history(r->x, s, v);
    else if (str_is(event, "checkpoint"))
        take_checkpoint(r->x, s, v);
    else if (str_is(event, "tool_end"))
        import_keep_result(r->x, s, json_get_text(v, "result"));
    else if (str_is(event, "tool_state"))
        import_take_state(r->x, s, json_get_text(v, "key"), json_get(v, "value"));
    return NULL;
}

static struct err *read_lines(struct log_reading *r)
{
    struct importing *x = r->x;
    const struct json *v;

    while ((v = import_next_line(x))) {
        AUTO(err) struct err *e = NULL;

        if (!json_is(json_get(v, "event"), JSON_STRING)) {
            import_problem(x, "the line has no event");
            continue;
        }
        e = take_line(r, v);
        if (err_is(e, ERR_CANCELLED))
            return TAKE(e);
        if (e) {
            AUTO_FREE char *why = err_message(e);

            import_problem(x, "%s", why);
        }
    }
    find_parents(r);
    return NULL;
}

struct err *import_log(struct importing *x)
{
    struct log_reading r = {.x = x};
    struct err *e = read_lines(&r);

    import_index_done(&r.by_id);
    return e;
}
