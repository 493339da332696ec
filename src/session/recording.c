/* recording.c - collects what a run was given, from its events. */
#include "session/recording.h"

#include "engine/run.h"
#include "session/codec.h"

struct recording_reader {
    struct codec_reader *events;
    const struct event *begin; /* of the next run, if it was read already */
    /* what the session was begun with last */
    struct arena arena;
    struct str system;
    struct tool_set *tools;
};

/* --- copies --- */

static struct tool_set *copy_tools(struct arena *a, const struct tool_def *const *defs, size_t n)
{
    struct tool_set *set = ARENA_NEW(a, struct tool_set);

    set->entries = ARENA_ARRAY(a, n, struct tool_entry);
    for (size_t i = 0; i < n; i++)
        set->entries[set->n++].def = (struct tool_def){
            .name = arena_str(a, defs[i]->name),
            .description = arena_str(a, defs[i]->description),
            .input_schema = defs[i]->input_schema ? json_copy(a, defs[i]->input_schema) : NULL};
    return set;
}

static struct tool_set *copy_set(struct arena *a, const struct tool_set *set)
{
    AUTO(arena) struct arena scratch = {0};
    const struct tool_def **defs = ARENA_ARRAY(&scratch, set->n, const struct tool_def *);

    for (size_t i = 0; i < set->n; i++)
        defs[i] = &set->entries[i].def;
    return copy_tools(a, defs, set->n);
}

static const struct message *keep_message(struct recording *r, const struct message *m)
{
    if (!m)
        return NULL;
    r->messages =
        arena_grow(&r->arena, r->messages, r->n_messages, &r->messages_room, sizeof *r->messages);
    return r->messages[r->n_messages++] = message_ref((struct message *)m);
}

static const struct part *keep_part(struct recording *r, const struct part *p)
{
    struct part *copy = ARENA_NEW(&r->arena, struct part);

    if (!p)
        return NULL;
    *copy = part_copy(&r->arena, p);
    return copy;
}

static const struct json *keep_json(struct recording *r, const struct json *v)
{
    return v ? json_copy(&r->arena, v) : NULL;
}

/* --- attempts --- */

static struct recorded_attempt *last_attempt(struct recording *r)
{
    return r->n_attempts ? &r->attempts[r->n_attempts - 1] : NULL;
}

static void take_attempt_begin(struct recording *r, const struct event *e)
{
    static const struct price unknown = {-1, -1, -1, -1};
    const struct event_attempt *b = &e->body.attempt;

    r->attempts =
        arena_grow(&r->arena, r->attempts, r->n_attempts, &r->attempts_room, sizeof *r->attempts);
    r->attempts[r->n_attempts++] =
        (struct recorded_attempt){.provider = arena_str(&r->arena, b->provider),
                                  .model = arena_str(&r->arena, b->model),
                                  .max_attempts = b->max_attempts,
                                  .limited_to = b->reserved.max_output,
                                  .price = b->price ? *b->price : unknown,
                                  .delay_ms = -1};
}

/* What all requests of the run have in common. */
static void take_options(struct recording *r, const struct model_request *q)
{
    r->request.sampling.temperature = q->sampling.temperature;
    r->request.sampling.top_p = q->sampling.top_p;
    r->request.effort = q->effort;
    /* A limited answer has a smaller one, and gets it again. */
    r->request.reasoning_budget = MAX(r->request.reasoning_budget, q->reasoning_budget);
    r->request.stream = q->stream;
    r->request.cache = q->cache;
}

/* What those of the conversation have in common: neither a question aside nor a last turn. */
static void take_conversation(struct recording *r, const struct model_request *q)
{
    r->has_request = true;
    r->request.system = arena_str(&r->arena, q->system);
    r->request.output_schema = keep_json(r, q->output_schema);
    r->request.web_search = q->web_search;
    r->request.web_fetch = q->web_fetch;
    r->tools = copy_tools(&r->arena, q->tools, q->n_tools);
}

static void take_request(struct recording *r, const struct event *e, bool is_aside)
{
    const struct event_request *b = &e->body.request;
    struct recorded_attempt *a = last_attempt(r);

    if (!a)
        return;
    a->protocol = arena_str(&r->arena, b->request->protocol);
    a->max_output = b->request->max_output;
    if (is_aside && b->n_overlays)
        r->wishes = arena_str(&r->arena, b->overlays[0]);
    take_options(r, b->request);
    if (!r->has_request && b->n_overlays == 0)
        take_conversation(r, b->request);
}

static void take_payload(struct recording *r, const struct native_payload *p)
{
    struct recorded_attempt *a = last_attempt(r);

    if (!a)
        return;
    if (p->kind == PAYLOAD_REQUEST) {
        a->was_sent = true;
        return;
    }
    a->payloads =
        arena_grow(&r->arena, a->payloads, a->n_payloads, &a->payloads_room, sizeof *a->payloads);
    a->payloads[a->n_payloads++] =
        (struct recorded_payload){p->kind, p->http_status, arena_str(&r->arena, p->bytes)};
}

static void take_reply(struct recording *r, const struct reply *reply)
{
    struct recorded_attempt *a = last_attempt(r);

    if (!a)
        return;
    message_unref(a->said);
    a->said = reply_to_message(reply, reply->id, reply_state(reply),
                               (struct origin){.model = reply->model});
}

static void take_attempt_end(struct recording *r, const struct event *e)
{
    struct recorded_attempt *a = last_attempt(r);

    if (!a)
        return;
    a->has_ended = true;
    if (e->body.attempt.error)
        a->error = err_copy(e->body.attempt.error);
}

/* --- calls --- */

struct recorded_call *recording_find_call(const struct recording *r, size_t batch,
                                          struct str call_id, bool is_unjudged)
{
    for (size_t i = 0; i < r->n_calls; i++)
        if (r->calls[i]->batch == batch && str_eq(r->calls[i]->call_id, call_id) &&
            !(is_unjudged && r->calls[i]->is_judged))
            return r->calls[i];
    return NULL;
}

static struct recorded_call *call_of(struct recording *r, const struct event_tool *t)
{
    struct recorded_call *c;

    for (size_t i = r->n_calls; i-- > 0 && r->calls[i]->batch == r->n_batches;)
        if (r->calls[i]->index == t->index && str_eq(r->calls[i]->call_id, t->call_id))
            return r->calls[i];
    c = ARENA_NEW(&r->arena, struct recorded_call);
    *c = (struct recorded_call){.batch = r->n_batches,
                                .index = t->index,
                                .call_id = arena_str(&r->arena, t->call_id),
                                .name = arena_str(&r->arena, t->name),
                                .risk = t->risk,
                                .is_alone = true};
    r->calls =
        arena_grow(&r->arena, r->calls, r->n_calls, &r->calls_room, sizeof(struct recorded_call *));
    return r->calls[r->n_calls++] = c;
}

static struct recorded_call *take_tool(struct recording *r, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;
    struct recorded_call *c = call_of(r, t);

    if (e->type == EVENT_TOOL_REQUEST) {
        c->is_requested = true;
        c->risk = t->risk;
        c->args = keep_json(r, t->args);
    } else if (e->type == EVENT_TOOL_BEGIN) {
        c->has_begun = true;
        c->begin_at = r->n_events;
        c->end_at = SIZE_MAX;
    } else if (e->type == EVENT_TOOL_END) {
        c->has_ended = true;
        c->end_at = r->n_events;
        c->end = keep_part(r, t->result);
        c->metadata = keep_json(r, t->metadata);
        c->end_is_ok = t->is_ok;
        c->code = t->error_code ? arena_str(&r->arena, str_of(t->error_code)) : (struct str){0};
        c->was_executed = t->was_executed;
    } else if (e->type == EVENT_TOOL_RESULT) {
        c->has_result = true;
        c->result = keep_part(r, t->result);
        c->was_denied = t->was_denied;
        if (!c->has_ended)
            c->code = t->error_code ? arena_str(&r->arena, str_of(t->error_code)) : (struct str){0};
        if (!c->has_ended)
            c->was_executed = t->was_executed;
    }
    return c;
}

/* It has asked a person, and was over until somebody would answer. */
static bool is_waiting(const struct recording *r, const struct recorded_call *c)
{
    if (c->has_begun && !c->has_ended)
        return !r->is_cut;
    return json_bool(json_get(c->metadata, CALL_WAITED), false);
}

static void note_overlap(struct recorded_call *a, struct recorded_call *b)
{
    if (a != b && a->batch == b->batch && a->has_begun && b->has_begun && a->begin_at < b->end_at &&
        b->begin_at < a->end_at)
        a->is_alone = b->is_alone = false;
}

/* Which calls were under way at the same time. */
static void find_overlaps(struct recording *r)
{
    for (size_t i = 0; i < r->n_calls; i++) {
        r->calls[i]->has_waited = is_waiting(r, r->calls[i]);
        if (r->calls[i]->has_waited)
            r->calls[i]->end_at = r->calls[i]->begin_at;
    }
    for (size_t i = 0; i < r->n_calls; i++)
        for (size_t k = i; k-- > 0 && r->calls[k]->batch == r->calls[i]->batch;)
            note_overlap(r->calls[i], r->calls[k]);
}

/* --- the run --- */

static void take_begin(struct recording *r, const struct event *e)
{
    const struct event_run *b = &e->body.run;
    struct arena *a = &r->arena;

    r->run_id = arena_str(a, e->run_id);
    r->seq = e->seq;
    r->turn = e->turn;
    r->policy = b->policy ? arena_cstr(a, str_of(b->policy)) : "conversation";
    r->input = arena_str(a, b->input);
    r->provider = arena_str(a, b->provider);
    r->model = arena_str(a, b->model);
    r->capabilities = b->capabilities;
}

static void take_end(struct recording *r, const struct event *e)
{
    const struct run_result *x = e->body.result;
    struct arena *a = &r->arena;

    r->is_cut = false;
    r->outcome = x->outcome;
    r->asks = ARENA_ARRAY(a, x->n_asks, struct ask);
    r->n_asks = x->n_asks;
    for (size_t i = 0; i < x->n_asks; i++)
        r->asks[i] = (struct ask){.kind = x->asks[i].kind,
                                  .call_id = arena_str(a, x->asks[i].call_id),
                                  .tool = arena_str(a, x->asks[i].tool),
                                  .args = keep_json(r, x->asks[i].args),
                                  .text = arena_str(a, x->asks[i].text)};
    if (err_is(x->error, ERR_TURN_LIMIT)) {
        r->has_turn_limit = true;
        r->max_rounds = x->n_rounds;
    }
}

static void keep_error(struct recording *r, const struct err *e, struct recorded_event *x)
{
    AUTO_FREE char *text = err_message(e);

    err_free(r->error);
    r->error = err_copy(e);
    x->text = arena_str(&r->arena, str_of(text));
}

/* What a second run must know of this event. */
static void take_facts(struct recording *r, const struct event *e, struct recorded_event *x)
{
    switch (e->type) {
    case EVENT_RUN_BEGIN:
        take_begin(r, e);
        break;
    case EVENT_USER_INPUT:
    case EVENT_RESPONSE_NORMALIZED:
    case EVENT_HISTORY:
        x->message = keep_message(r, e->body.message.message);
        break;
    case EVENT_TOOLS_CHANGED:
        x->tools = copy_set(&r->arena, e->body.tools.tools);
        x->tools_version = e->body.tools.tools->version;
        break;
    case EVENT_CONTEXT:
        r->window = e->body.context.window;
        break;
    case EVENT_COMPACTED:
        x->text = arena_str(&r->arena, str_of(e->body.compact.trigger));
        break;
    case EVENT_FINAL_TURN:
        x->reason = e->body.final.reason;
        if (x->reason == FINAL_TURN_LIMIT) {
            r->has_turn_limit = true;
            r->max_rounds = e->round;
        }
        break;
    case EVENT_ATTEMPT_BEGIN:
        take_attempt_begin(r, e);
        x->is_aside = e->body.attempt.is_aside;
        break;
    case EVENT_PROVIDER_REQUEST:
        take_request(r, e, r->n_events > 1 && r->events[r->n_events - 2].is_aside);
        x->tools_version = e->body.request.tools_version;
        break;
    case EVENT_NATIVE_PAYLOAD:
        take_payload(r, e->body.payload);
        break;
    case EVENT_RESPONSE_RAW:
        take_reply(r, e->body.reply.reply);
        break;
    case EVENT_ATTEMPT_END:
        take_attempt_end(r, e);
        x->duration_ms = e->body.attempt.duration_ms;
        break;
    case EVENT_RETRY:
        if (last_attempt(r))
            last_attempt(r)->delay_ms = (int64_t)e->body.attempt.delay_ms;
        break;
    case EVENT_BATCH_BEGIN:
        r->n_batches++;
        r->max_concurrency = e->body.batch.max_concurrency;
        break;
    case EVENT_TOOL_REQUEST:
    case EVENT_TOOL_BEGIN:
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
        x->call = take_tool(r, e);
        x->duration_ms = e->body.tool.duration_ms;
        break;
    case EVENT_NOTICE:
        x->source = arena_str(&r->arena, str_of(e->body.notice.source));
        x->text = arena_str(&r->arena, e->body.notice.text);
        break;
    case EVENT_ERROR:
        keep_error(r, e->body.error, x);
        break;
    case EVENT_RUN_END:
        take_end(r, e);
        x->duration_ms = e->body.result->duration_ms;
        x->api_duration_ms = e->body.result->api_duration_ms;
        break;
    default:
        break;
    }
}

static struct recorded_event *add_event(struct recording *r, const struct event *e)
{
    r->events = arena_grow(&r->arena, r->events, r->n_events, &r->events_room, sizeof *r->events);
    r->events[r->n_events] =
        (struct recorded_event){.type = e->type, .seq = e->seq, .unix_ms = e->unix_ms};
    return &r->events[r->n_events++];
}

static void end_pieces(struct recording *r, const struct event *e)
{
    AUTO(strbuf) struct strbuf line = {0};
    struct recorded_event *x;

    if (!replay_pieces_end(&r->pieces, &line))
        return;
    x = add_event(r, e);
    x->type = EVENT_DELTA;
    x->line = arena_str(&r->arena, strbuf_str(&line));
}

static void take(struct recording *r, const struct event *e)
{
    AUTO(strbuf) struct strbuf line = {0};
    struct recorded_event *x;

    if (!replay_compares(e))
        return;
    if (e->type == EVENT_DELTA) {
        replay_pieces_add(&r->pieces, e->body.delta.delta);
        return;
    }
    if (e->type != EVENT_NATIVE_PAYLOAD)
        end_pieces(r, e);
    x = add_event(r, e);
    replay_line(e, &line);
    x->line = arena_str(&r->arena, strbuf_str(&line));
    take_facts(r, e, x);
}

/* --- when a person ended it --- */

static bool is_attempt_cancelled(const struct recording *r)
{
    for (size_t i = 0; i < r->n_attempts; i++)
        if (err_is(r->attempts[i].error, ERR_CANCELLED))
            return true;
    return false;
}

static bool tells_interrupt(const struct part *result)
{
    return result && result->n_content && str_is(result->content[0].text, CALL_INTERRUPTED_TEXT);
}

bool recorded_call_is_interrupted(const struct recorded_call *c)
{
    return c->has_ended && str_is(c->code, err_code(ERR_CANCELLED)) && tells_interrupt(c->end);
}

static bool is_call_cancelled(const struct recording *r)
{
    for (size_t i = 0; i < r->n_calls; i++)
        if (recorded_call_is_interrupted(r->calls[i]))
            return true;
    return false;
}

/* It was kept from beginning; its result says by whom. */
static bool was_skipped(const struct recorded_call *c)
{
    return !c->has_begun && tells_interrupt(c->result);
}

static bool has_skipped_call(const struct recording *r, size_t batch)
{
    for (size_t i = 0; i < r->n_calls; i++)
        if (r->calls[i]->batch == batch && was_skipped(r->calls[i]))
            return true;
    return false;
}

/* The first event that only happens because of it. Results come in the order of their calls, so
 * the first one of a batch tells it for all. */
static bool tells_cancel(const struct recording *r, const struct recorded_event *x)
{
    switch (x->type) {
    case EVENT_NOTICE:
        return str_is(x->source, "agent:EXIT-CANCELED");
    case EVENT_RESPONSE_NORMALIZED:
    case EVENT_HISTORY:
        return x->message && x->message->role == ROLE_ASSISTANT &&
               x->message->state == MESSAGE_INTERRUPTED;
    case EVENT_TOOL_RESULT:
        return has_skipped_call(r, x->call->batch);
    default:
        return false;
    }
}

/* Events that come before the result of a call because it is long and was stored. */
static bool is_about_result(const struct recorded_event *x)
{
    return x->type == EVENT_STATE || str_is(x->source, "agent:tool_output");
}

/* An attempt or a call at work that was cancelled says so itself. */
static void find_cancel(struct recording *r)
{
    if (r->is_cut || r->outcome != RUN_INTERRUPTED || is_attempt_cancelled(r) ||
        is_call_cancelled(r))
        return;
    while (r->cancel_after < r->n_events && !tells_cancel(r, &r->events[r->cancel_after]))
        r->cancel_after++;
    while (r->cancel_after && is_about_result(&r->events[r->cancel_after - 1]))
        r->cancel_after--;
}

/* Others have come to a question before they need a summary. */
static bool only_compacts(const struct recording *r)
{
    const struct recorded_event *x = r->n_events > 1 ? &r->events[1] : NULL;

    return x && !r->input.n && (x->is_aside || str_is(x->source, "compaction"));
}

/* Attempts have their place now. */
static void link_attempts(struct recording *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_events; i++)
        if (r->events[i].type == EVENT_ATTEMPT_BEGIN)
            r->events[i].attempt = &r->attempts[n++];
}

/* --- reading --- */

static void note_session(struct recording_reader *r, const struct event_session *s)
{
    arena_done(&r->arena);
    r->arena = (struct arena){0};
    r->system = arena_str(&r->arena, s->system);
    r->tools = s->tools ? copy_set(&r->arena, s->tools) : NULL;
}

static void note_damage(struct recording *r, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);

    if (!r->damage.n)
        r->damage = arena_str(&r->arena, str_of(text));
}

/* The first event of a run; NULL: there is none. */
static struct err *find_begin(struct recording_reader *r, const struct event **ret_begin)
{
    *ret_begin = TAKE(r->begin);
    while (!*ret_begin) {
        const struct event *e;
        AUTO(err) struct err *failure = codec_read(r->events, &e);

        if (codec_reader_has_failed(r->events))
            return TAKE(failure);
        if (failure)
            continue; /* is no part of a run, or of one whose beginning is lost */
        if (!e)
            return NULL;
        if (e->type == EVENT_SESSION_BEGIN)
            note_session(r, &e->body.session);
        if (e->type == EVENT_RUN_BEGIN)
            *ret_begin = e;
    }
    return NULL;
}

static struct err *read_rest(struct recording_reader *r, struct recording *to)
{
    while (to->is_cut) {
        const struct event *e;
        AUTO(err) struct err *failure = codec_read(r->events, &e);

        if (codec_reader_has_failed(r->events))
            return TAKE(failure);
        if (failure)
            note_damage(to, failure);
        else if (!e)
            break;
        else if (e->type == EVENT_SESSION_BEGIN)
            note_session(r, &e->body.session);
        else if (e->type == EVENT_RUN_BEGIN) {
            r->begin = e;
            break;
        } else if (str_eq(e->run_id, to->run_id) && !to->damage.n)
            take(to, e);
        else if (e->type == EVENT_RUN_END)
            break; /* of a run that is damaged */
    }
    return NULL;
}

struct err *recording_read(struct recording_reader *r, struct recording *ret_recording,
                           bool *ret_found)
{
    const struct event *begin;
    struct err *e;

    *ret_recording = (struct recording){.is_cut = true};
    *ret_found = false;
    TRY(find_begin(r, &begin));
    if (!begin)
        return NULL;
    ret_recording->session_system = arena_str(&ret_recording->arena, r->system);
    ret_recording->request.system = ret_recording->session_system;
    if (r->tools)
        ret_recording->tools = copy_set(&ret_recording->arena, r->tools);
    take(ret_recording, begin);
    e = read_rest(r, ret_recording);
    if (e) {
        recording_done(ret_recording);
        return e;
    }
    link_attempts(ret_recording);
    find_overlaps(ret_recording);
    find_cancel(ret_recording);
    ret_recording->only_compacts = only_compacts(ret_recording);
    *ret_found = true;
    return NULL;
}

void recording_done(struct recording *r)
{
    for (size_t i = 0; i < r->n_attempts; i++) {
        err_free(r->attempts[i].error);
        message_unref(r->attempts[i].said);
    }
    for (size_t i = 0; i < r->n_messages; i++)
        message_unref(r->messages[i]);
    err_free(r->error);
    replay_pieces_done(&r->pieces);
    arena_done(&r->arena);
    *r = (struct recording){0};
}

struct recording_reader *recording_reader_new(struct store *s, struct str stream)
{
    struct recording_reader *r = mem_alloc(sizeof *r);

    r->events = codec_reader_new(s, stream, 1, CODEC_READ_ALL);
    return r;
}

void recording_reader_free(struct recording_reader *r)
{
    if (!r)
        return;
    codec_reader_free(r->events);
    arena_done(&r->arena);
    mem_free(r);
}
