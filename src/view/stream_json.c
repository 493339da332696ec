/* stream_json.c - writes the stream-json lines of events. */
#include "view/stream_json_line.h"

#include "base/sha256.h"
#include "base/uuid.h"
#include "port/gate.h"
#include "port/state_keys.h"

/* --- lines --- */

void line_begin(struct json_writer *w, struct strbuf *out, const char *type)
{
    jw_init(w, out);
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(type));
}

/* The uuid of a line is unique among all runs: the run gives the seed, the line the count. */
static void make_uuid(struct stream_json *s, int64_t unix_ms, char out[UUID_TEXT_SIZE])
{
    unsigned char bytes[sizeof s->uuid_seed];
    uint64_t n = s->n_lines++;

    memcpy(bytes, s->uuid_seed, sizeof bytes);
    for (size_t i = 0; i < 6; i++)
        bytes[sizeof bytes - 1 - i] ^= (unsigned char)(n >> 8 * i);
    uuid_v7(unix_ms, bytes, out);
}

void line_end_as(struct stream_json *s, struct json_writer *w, struct str uuid)
{
    jw_kv_str(w, "session_id", str_of(s->options.session_id));
    jw_kv_str(w, "uuid", uuid);
    jw_end_object(w);
    strbuf_add_char(w->out, '\n');
}

void line_end(struct stream_json *s, struct json_writer *w, const struct event *e)
{
    char uuid[UUID_TEXT_SIZE];

    make_uuid(s, e->unix_ms, uuid);
    line_end_as(s, w, str_of(uuid));
}

void line_parent(struct json_writer *w, const struct event *e)
{
    const struct owner *call = owner_call(e->owner);

    jw_key(w, "parent_tool_use_id");
    if (call)
        jw_str(w, call->id);
    else if (event_is_child(e))
        jw_str(w, e->run_id); /* not started by a call: still not the main run's */
    else
        jw_null(w);
}

struct str message_id(struct stream_json *s, const struct event *e, struct str given)
{
    char uuid[UUID_TEXT_SIZE];

    if (s->message_id.n == 0 && given.n)
        strbuf_add(&s->message_id, given);
    if (s->message_id.n == 0) {
        make_uuid(s, e->unix_ms, uuid);
        strbuf_addf(&s->message_id, "msg_%s", uuid);
    }
    return strbuf_str(&s->message_id);
}

/* --- the small lines --- */

static void seed_uuids(struct stream_json *s, struct str run_id)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, str_of(s->options.session_id));
    sha256_add(&h, run_id);
    sha256_end(&h, digest);
    memcpy(s->uuid_seed, digest, sizeof s->uuid_seed);
}

static void begin_run(struct stream_json *s, const struct event *e)
{
    seed_uuids(s, e->run_id);
    s->is_running = true;
    s->stop = STOP_UNKNOWN;
    s->has_failed = s->in_tools = false;
}

static void field_none(struct json_writer *w, const char *key)
{
    jw_key(w, key);
    jw_begin_array(w);
    jw_end_array(w);
}

static void write_init(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct stream_json_options *o = &s->options;
    struct json_writer w;

    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("init"));
    jw_kv_str(&w, "cwd", str_of(o->cwd));
    jw_key(&w, "tools");
    jw_begin_array(&w);
    for (size_t i = 0; i < o->n_tools; i++)
        jw_str(&w, str_of(o->tools[i]));
    jw_end_array(&w);
    field_none(&w, "mcp_servers");
    jw_kv_str(&w, "model", e->body.run.model.n ? e->body.run.model : str_of(o->model));
    jw_kv_str(&w, "permissionMode", str_of(o->permission_mode));
    field_none(&w, "slash_commands");
    jw_kv_str(&w, "apiKeySource", str_of(o->api_key_source));
    jw_kv_str(&w, "claude_code_version", str_of(o->version));
    jw_kv_str(&w, "output_style", S("default"));
    field_none(&w, "agents");
    field_none(&w, "skills");
    field_none(&w, "plugins");
    line_end(s, &w, e);
}

static void write_requesting(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    struct json_writer w;

    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("status"));
    jw_kv_str(&w, "status", S("requesting"));
    line_end(s, &w, e);
}

static void write_retry(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct event_attempt *a = &e->body.attempt;
    enum err_kind kind = a->error ? a->error->kind : ERR_INTERNAL;
    struct json_writer w;

    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("api_retry"));
    jw_kv_int(&w, "attempt", a->at_target ? a->at_target : e->attempt);
    jw_kv_int(&w, "max_retries", a->max_attempts ? a->max_attempts - 1 : e->attempt);
    jw_kv_int(&w, "retry_delay_ms", (int64_t)a->delay_ms);
    jw_key(&w, "error_status");
    if (a->error && a->error->peer_status)
        jw_int(&w, a->error->peer_status);
    else
        jw_null(&w);
    jw_kv_str(&w, "error", failure_word(kind));
    line_end(s, &w, e);
}

/* The reference has no such type: lines of a message that will not be committed. */
static void write_dropped(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    struct json_writer w;

    if (!s->n_reported_lines)
        return;
    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("assistant_dropped"));
    jw_kv_str(&w, "message_id", strbuf_str(&s->message_id));
    line_end(s, &w, e);
    s->n_reported = s->n_reported_lines = 0;
}

static void write_compacted(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct event_compact *c = &e->body.compact;
    struct json_writer w;

    if (c->n_results) /* the conversation is still there */
        return;
    line_begin(&w, out, "system");
    jw_kv_str(&w, "subtype", S("compact_boundary"));
    jw_key(&w, "compact_metadata");
    jw_begin_object(&w);
    jw_kv_str(&w, "trigger", str_of(c->trigger));
    jw_kv_int(&w, "pre_tokens", c->before.used);
    jw_kv_int(&w, "post_tokens", c->after.used);
    jw_end_object(&w);
    line_end(s, &w, e);
}

/* --- usage of models --- */

static struct model_total *model_total(struct stream_json *s, struct str name)
{
    struct model_total *m;

    for (size_t i = 0; i < s->n_models; i++)
        if (str_eq(s->models[i].name, name))
            return &s->models[i];
    s->models = arena_grow(&s->arena, s->models, s->n_models, &s->models_room, sizeof *s->models);
    m = &s->models[s->n_models++];
    *m = (struct model_total){.name = arena_str(&s->arena, name),
                              .window = MODEL_DEFAULT_CONTEXT_WINDOW,
                              .max_output = MODEL_DEFAULT_MAX_OUTPUT};
    return m;
}

static void learn_limits(struct stream_json *s, const struct model_request *r)
{
    struct model_total *m = model_total(s, r->model);

    if (r->info && r->info->context_window > 0)
        m->window = r->info->context_window;
    if (r->info && r->info->max_output > 0)
        m->max_output = r->info->max_output;
}

/* The total of the model that has answered, with the limits of the requested one. */
static struct model_total *answering_model(struct stream_json *s, const struct event_attempt *a)
{
    bool is_other = a->usage && a->usage->routed_model.n;
    struct model_total *asked = model_total(s, a->model), *m = asked;
    int64_t window = asked->window, max_output = asked->max_output;

    if (is_other) {
        m = model_total(s, a->usage->routed_model);
        m->window = window;
        m->max_output = max_output;
    }
    m->has_answered = true;
    return m;
}

static void count_attempt(struct stream_json *s, const struct event_attempt *a)
{
    struct model_total *m = answering_model(s, a);

    if (a->usage) {
        m->input += usage_fresh_input(a->usage);
        m->output += usage_completion(a->usage);
        m->cache_read += MAX(a->usage->cache_read, 0);
        m->cache_write += MAX(a->usage->cache_write, 0);
        m->reasoning += MAX(a->usage->reasoning, 0);
    }
    m->microcents += MAX(a->cost_microcents, 0);
}

/* --- events --- */

static void begin_attempt(struct stream_json *s, const struct event_attempt *a)
{
    strbuf_clear(&s->message_id);
    strbuf_clear(&s->model);
    strbuf_add(&s->model, a->model);
    s->n_reported = s->n_reported_lines = 0;
    if (a->call_id.n == 0)
        s->in_tools = false;
}

static void end_attempt(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct err *error = e->body.attempt.error;

    s->has_failed = error;
    s->failure = error ? error->kind : ERR_INTERNAL;
    if (error)
        partial_end(s, e, NULL, out);
}

/* Lines of all runs, also of children. */
static void any_run_event(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    switch (e->type) {
    case EVENT_PROVIDER_REQUEST:
        learn_limits(s, e->body.request.request);
        break;
    case EVENT_ATTEMPT_END:
        count_attempt(s, &e->body.attempt);
        break;
    case EVENT_ASSISTANT_COMMITTED:
        write_assistant(s, e, out);
        break;
    case EVENT_TOOL_RESULT:
        write_tool_result(s, e, out);
        break;
    default:
        break;
    }
}

/* An approved plan ends plan mode: the next run's line has the new mode. */
static void follow_mode(struct stream_json *s, const struct event_state *state)
{
    enum permission_mode mode;

    if (state_key_is(state->key, STATE_MODE, NULL) &&
        permission_mode_find(json_str(state->value), &mode))
        stream_json_set_mode(s, permission_mode_name(mode));
}

static void main_run_event(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    switch (e->type) {
    case EVENT_STATE:
        follow_mode(s, &e->body.state);
        write_task(s, e, out);
        break;
    case EVENT_RUN_BEGIN:
        begin_run(s, e);
        write_init(s, e, out);
        break;
    case EVENT_USER_INPUT:
        if (s->options.replay_user)
            write_prompt(s, e, out);
        break;
    case EVENT_COMPACTED:
        write_compacted(s, e, out);
        break;
    case EVENT_ATTEMPT_BEGIN:
        begin_attempt(s, &e->body.attempt);
        break;
    case EVENT_PROVIDER_REQUEST:
        if (s->options.include_partial)
            write_requesting(s, e, out);
        break;
    case EVENT_DELTA:
        if (e->body.delta.delta->kind == DELTA_END)
            partial_part(s, e, out);
        else if (s->options.include_partial)
            partial_delta(s, e, out);
        break;
    case EVENT_RESPONSE_RAW:
        s->stop = e->body.reply.reply->stop;
        message_id(s, e, e->body.reply.reply->id);
        partial_end(s, e, e->body.reply.reply, out);
        break;
    case EVENT_ATTEMPT_END:
        end_attempt(s, e, out);
        break;
    case EVENT_RETRY:
        write_dropped(s, e, out);
        write_retry(s, e, out);
        break;
    case EVENT_FALLBACK:
        write_dropped(s, e, out);
        break;
    case EVENT_ASSISTANT_COMMITTED:
        partial_end(s, e, NULL, out); /* the message itself follows */
        break;
    case EVENT_BATCH_BEGIN:
        s->in_tools = true;
        break;
    case EVENT_RUN_END:
        partial_end(s, e, NULL, out);
        if (!s->is_running) /* it failed before it began */
            seed_uuids(s, e->run_id);
        write_result(s, e, out);
        s->is_running = false;
        break;
    default:
        break;
    }
}

void stream_json_event(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    if (!event_is_child(e))
        main_run_event(s, e, out);
    any_run_event(s, e, out);
}

struct stream_json *stream_json_new(const struct stream_json_options *options)
{
    struct stream_json *s = mem_alloc(sizeof *s);

    s->options = *options;
    return s;
}

void stream_json_set_mode(struct stream_json *s, const char *permission_mode)
{
    s->options.permission_mode = permission_mode;
}

void stream_json_free(struct stream_json *s)
{
    if (!s)
        return;
    arena_done(&s->arena);
    strbuf_done(&s->message_id);
    strbuf_done(&s->model);
    mem_free(s);
}
