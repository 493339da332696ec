/* recording.c - what concerns a run as a whole, from all its events. */
#include "archive/recording.h"

#include "engine/run.h"
#include "session/codec/codec.h"

struct recording_reader {
    struct recording_source source; /* what is played */
    struct codec_reader *facts;     /* is one run ahead of it */
    const struct event *begin;      /* of the next run, if it was read already */
    /* what the session was begun with last */
    struct arena arena;
    struct str system;
    struct tool_set *tools;
};

/* What is known while a run is looked through. */
struct looking {
    struct recording *out;
    bool has_pieces; /* of an answer, which become an event when the next one comes */
    /* the last attempt */
    struct recorded_target *target; /* NULL: there was none, or there are too many */
    bool is_limited, is_of_call;
    size_t n_batches;
    /* when a person ended it */
    bool is_cancelled;   /* an attempt or a call says so */
    uint64_t cancel_seq; /* 0: nothing says so yet */
    uint64_t about_seq;  /* of the first event about a result, which comes next; 0: none */
    /* of the first result of the batch, or of the first request that only ends it; 0: it has none
     * yet */
    uint64_t result_seq;
    size_t last_index;    /* of the call of the batch that was requested last */
    bool has_last_begun;  /* that one has */
    size_t n_begun_since; /* calls since then */
};

/* --- copies --- */

struct tool_set *recorded_tools(struct arena *a, const struct tool_def *const *defs, size_t n)
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

struct tool_set *recorded_tool_set(struct arena *a, const struct tool_set *set)
{
    AUTO(arena) struct arena scratch = {0};
    const struct tool_def **defs = ARENA_ARRAY(&scratch, set->n, const struct tool_def *);

    for (size_t i = 0; i < set->n; i++)
        defs[i] = &set->entries[i].def;
    return recorded_tools(a, defs, set->n);
}

static const struct json *keep_json(struct recording *r, const struct json *v)
{
    return v ? json_copy(&r->arena, v) : NULL;
}

/* --- requests --- */

/* Where the budget asked for less each time it is not known how much it would have been. */
#define MORE_THAN_ANY INT32_MAX

static struct recorded_target *find_target(struct recording *r, const struct event_attempt *b)
{
    for (size_t i = 0; i < r->n_targets; i++)
        if (str_eq(r->targets[i].provider, b->provider) && str_eq(r->targets[i].model, b->model))
            return &r->targets[i];
    return NULL;
}

static void take_attempt_begin(struct looking *l, const struct event *e)
{
    static const struct price unknown = {-1, -1, -1, -1};
    const struct event_attempt *b = &e->body.attempt;
    struct recording *r = l->out;

    if (b->call_id.n == 0)
        r->last_attempt_seq = e->seq;
    l->is_limited = b->reserved.max_output > 0;
    l->is_of_call = b->call_id.n > 0;
    l->target = find_target(r, b);
    if (l->target || r->n_targets == CHAIN_MAX_TARGETS)
        return;
    l->target = &r->targets[r->n_targets++];
    *l->target = (struct recorded_target){.provider = arena_str(&r->arena, b->provider),
                                          .model = arena_str(&r->arena, b->model),
                                          .max_attempts = b->max_attempts,
                                          .window = b->window,
                                          .max_output = l->is_limited ? MORE_THAN_ANY : 0,
                                          .price = b->price ? *b->price : unknown};
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

/* What all requests of a session begin with, a last turn and the question for a summary too. */
static void take_beginning(struct recording *r, const struct model_request *q)
{
    r->has_beginning = true;
    r->request.system = arena_str(&r->arena, q->system);
    r->request.web_search = q->web_search;
    r->request.web_fetch = q->web_fetch;
    r->tools = recorded_tools(&r->arena, q->tools, q->n_tools);
}

/* What those of the conversation have in common: neither a question aside nor a last turn. */
static void take_conversation(struct recording *r, const struct model_request *q)
{
    r->has_request = true;
    r->request.output_schema = keep_json(r, q->output_schema);
    take_beginning(r, q);
}

static void take_request(struct looking *l, const struct event *e)
{
    const struct event_request *b = &e->body.request;
    struct recording *r = l->out;
    struct recorded_target *t = l->target;

    if (!t)
        return;
    if (!t->protocol.n)
        t->protocol = arena_str(&r->arena, b->request->protocol);
    if (!l->is_limited && (!t->max_output || t->max_output == MORE_THAN_ANY))
        t->max_output = b->request->max_output;
    take_options(r, b->request);
    if (l->is_of_call)
        return; /* it begins as its tool wants */
    if (!r->has_request && b->n_overlays == 0)
        take_conversation(r, b->request);
    else if (!r->has_beginning)
        take_beginning(r, b->request);
}

/* --- the run --- */

static void take_begin(struct recording *r, const struct event *e)
{
    const struct event_run *b = &e->body.run;
    struct arena *a = &r->arena;

    r->run_id = arena_str(a, e->run_id);
    r->seq = e->seq;
    r->turn = e->turn;
    r->began_ms = e->unix_ms;
    r->policy = b->policy ? arena_cstr(a, str_of(b->policy)) : "conversation";
    r->input = arena_str(a, b->input);
    r->provider = arena_str(a, b->provider);
    r->model = arena_str(a, b->model);
    r->capabilities = b->capabilities;
    r->window = b->window;
    r->has_limits = b->window > 0; /* both are in the event, or neither */
    r->tool_response_bytes = b->tool_response_bytes;
    r->retry_max_ms = b->retry_max_ms;
    r->only_compacts = b->only_compacts;
    r->head_tokens = b->head_tokens;
    r->context_floor = b->context_floor;
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

/* --- when a person ended it --- */

static bool tells_interrupt(const struct part *result)
{
    return result && result->n_content && str_is(result->content[0].text, CALL_INTERRUPTED_TEXT);
}

bool recorded_call_is_interrupted(const struct recorded_call *c)
{
    return c->has_ended && str_is(c->code, err_code(ERR_CANCELLED)) && tells_interrupt(c->end);
}

static bool is_interrupted(const struct event_tool *t)
{
    return t->error_code && strcmp(t->error_code, err_code(ERR_CANCELLED)) == 0 &&
           tells_interrupt(t->result);
}

/* Only happens because of it. */
static bool tells_cancel(const struct event *e)
{
    const struct message *m;

    switch (e->type) {
    case EVENT_NOTICE:
        return strcmp(e->body.notice.source, "agent:EXIT-CANCELED") == 0;
    case EVENT_RESPONSE_NORMALIZED:
    case EVENT_HISTORY:
        m = e->body.message.message;
        return m && m->role == ROLE_ASSISTANT && m->state == MESSAGE_INTERRUPTED;
    case EVENT_TOOL_RESULT:
        return tells_interrupt(e->body.tool.result);
    default:
        return false;
    }
}

/* Comes before the result of a call, because that is long: whether it fits, and that it was stored.
 */
static bool is_about_result(const struct event *e)
{
    const char *source = e->type == EVENT_NOTICE ? e->body.notice.source : "";

    return e->type == EVENT_STATE || strcmp(source, "agent:tool_output") == 0 ||
           strcmp(source, ROOM_SOURCE) == 0;
}

static void note_begin(struct looking *l, const struct event_tool *t)
{
    l->n_begun_since++;
    l->has_last_begun |= t->index == l->last_index;
}

/* Others have run since the last one was judged, and that one, which was to run alone, has not: it
 * was ended before this request. */
static void note_request(struct looking *l, const struct event *e)
{
    if (l->n_begun_since && !l->has_last_begun && !l->result_seq)
        l->result_seq = e->seq;
    l->last_index = e->body.tool.index;
    l->has_last_begun = false;
    l->n_begun_since = 0;
}

/* Results come in the order of their calls, so the first of a batch shows it for all. */
static void look_for_cancel(struct looking *l, const struct event *e)
{
    uint64_t seq = l->about_seq ? l->about_seq : e->seq;

    if (e->type == EVENT_BATCH_BEGIN)
        l->result_seq = l->n_begun_since = 0;
    if (e->type == EVENT_TOOL_BEGIN)
        note_begin(l, &e->body.tool);
    if (e->type == EVENT_TOOL_REQUEST)
        note_request(l, e);
    if (e->type == EVENT_TOOL_RESULT && !l->result_seq)
        l->result_seq = seq;
    if (!l->cancel_seq && tells_cancel(e))
        l->cancel_seq = e->type == EVENT_TOOL_RESULT ? l->result_seq : seq;
    l->about_seq = is_about_result(e) ? seq : 0;
}

/* --- its events --- */

/* Others have come to a question before they need a summary, or do so afterwards. */
static bool begins_to_compact(const struct recording *r, const struct event *e)
{
    return !r->input.n &&
           ((e->type == EVENT_ATTEMPT_BEGIN && e->body.attempt.is_aside) ||
            (e->type == EVENT_NOTICE && strcmp(e->body.notice.source, "compaction") == 0));
}

/* A call waited to ask its model once more: that was over before the call was. */
static bool is_between_attempts(const struct looking *l)
{
    return l->is_of_call && l->cancel_seq;
}

static void take_facts(struct looking *l, const struct event *e)
{
    struct recording *r = l->out;

    switch (e->type) {
    case EVENT_RUN_BEGIN:
        take_begin(r, e);
        break;
    case EVENT_USER_INPUT:
        if (!r->asked && e->body.message.message)
            r->asked = message_ref((struct message *)e->body.message.message);
        break;
    case EVENT_CONTEXT:
        r->window = e->body.context.window;
        break;
    case EVENT_COMPACTED:
        r->window = e->body.compact.before.window;
        break;
    case EVENT_FINAL_TURN:
        if (e->body.final.reason == FINAL_TURN_LIMIT) {
            r->has_turn_limit = true;
            r->max_rounds = e->round;
        }
        break;
    case EVENT_ATTEMPT_BEGIN:
        take_attempt_begin(l, e);
        break;
    case EVENT_PROVIDER_REQUEST:
        take_request(l, e);
        break;
    case EVENT_ATTEMPT_END:
        l->is_cancelled |= err_is(e->body.attempt.error, ERR_CANCELLED);
        break;
    case EVENT_BATCH_BEGIN:
        r->max_concurrency = e->body.batch.max_concurrency;
        l->n_batches++;
        break;
    case EVENT_TOOL_END:
        l->is_cancelled |= is_interrupted(&e->body.tool) && !is_between_attempts(l);
        break;
    case EVENT_TOOL_REQUEST:
    case EVENT_TOOL_RESULT:
        r->last_batch = l->n_batches;
        r->tells_stop |= e->body.tool.stops_run;
        break;
    case EVENT_ERROR:
        err_free(r->error);
        r->error = err_copy(e->body.error);
        break;
    case EVENT_RUN_END:
        take_end(r, e);
        break;
    default:
        break;
    }
}

static void take(struct looking *l, const struct event *e)
{
    struct recording *r = l->out;

    if (!replay_compares(e))
        return;
    if (e->type == EVENT_DELTA) {
        l->has_pieces = true;
        return;
    }
    if (e->type != EVENT_NATIVE_PAYLOAD && l->has_pieces) {
        l->has_pieces = false;
        r->n_events++;
    }
    if (r->n_events++ == 1)
        r->only_compacts |= begins_to_compact(r, e); /* as older records do not say it */
    if (e->type == EVENT_CONTEXT)
        r->only_compacts = false; /* a model is asked: it went on, and began with a compaction */
    look_for_cancel(l, e);
    take_facts(l, e);
}

/* --- reading --- */

static void note_session(struct recording_reader *r, const struct event_session *s)
{
    arena_done(&r->arena);
    r->arena = (struct arena){0};
    r->system = arena_str(&r->arena, s->system);
    r->tools = s->tools ? recorded_tool_set(&r->arena, s->tools) : NULL;
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
        AUTO(err) struct err *failure = codec_read(r->facts, &e);

        if (codec_reader_has_failed(r->facts))
            return TAKE(failure);
        if (failure)
            continue; /* not part of a run, or of one whose beginning is lost */
        if (!e)
            return NULL;
        if (e->type == EVENT_SESSION_BEGIN)
            note_session(r, &e->body.session);
        if (e->type == EVENT_RUN_BEGIN)
            *ret_begin = e;
    }
    return NULL;
}

static struct err *read_rest(struct recording_reader *r, struct looking *l)
{
    struct recording *to = l->out;

    while (to->is_cut) {
        const struct event *e;
        AUTO(err) struct err *failure = codec_read(r->facts, &e);

        if (codec_reader_has_failed(r->facts))
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
            take(l, e);
        else if (e->type == EVENT_RUN_END)
            break; /* of a run that is damaged */
    }
    return NULL;
}

/* What is played begins where this run does. */
static struct err *follow(struct recording_reader *r, uint64_t seq)
{
    struct recording_source *s = &r->source;

    while (!s->held || s->held->seq != seq) {
        AUTO(err) struct err *failure = codec_read(s->events, &s->held);

        if (codec_reader_has_failed(s->events))
            return TAKE(failure);
        if (!failure && !s->held)
            return err_new(ERR_STORAGE, "event %llu of session %" STR_FMT " is missing",
                           (unsigned long long)seq, STR_ARG(s->stream));
    }
    return NULL;
}

struct err *recording_read(struct recording_reader *r, struct recording *ret_recording,
                           bool *ret_found)
{
    struct looking l = {.out = ret_recording};
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
        ret_recording->tools = recorded_tool_set(&ret_recording->arena, r->tools);
    take(&l, begin);
    e = read_rest(r, &l);
    if (!r->begin)
        codec_reader_let_go(r->facts); /* it waits until this run was played */
    if (!e)
        e = follow(r, ret_recording->seq);
    if (e) {
        recording_done(ret_recording);
        return e;
    }
    if (!ret_recording->is_cut && ret_recording->outcome == RUN_INTERRUPTED && !l.is_cancelled)
        ret_recording->cancel_seq = l.cancel_seq;
    ret_recording->events = recording_window_new(&r->source, ret_recording->run_id);
    *ret_found = true;
    return NULL;
}

void recording_done(struct recording *r)
{
    recording_window_free(r->events);
    message_unref(r->asked);
    err_free(r->error);
    arena_done(&r->arena);
    *r = (struct recording){0};
}

struct recording_reader *recording_reader_new(struct store *s, struct str stream)
{
    struct recording_reader *r = mem_alloc(sizeof *r);

    r->source =
        (struct recording_source){.store = s, .stream = str_make(str_dup(stream), stream.n)};
    r->source.events = codec_reader_new(s, stream, 1, CODEC_READ_ALL);
    codec_reader_leave(r->source.events, CODEC_LEAVE_ENDS | CODEC_LEAVE_REQUESTS);
    r->facts = codec_reader_new(s, stream, 1, CODEC_READ_ALL);
    codec_reader_leave(r->facts, CODEC_PASS | CODEC_LEAVE_RESULTS);
    return r;
}

void recording_reader_free(struct recording_reader *r)
{
    if (!r)
        return;
    codec_reader_free(r->facts);
    codec_reader_free(r->source.events);
    mem_free((char *)r->source.stream.p);
    arena_done(&r->arena);
    mem_free(r);
}
