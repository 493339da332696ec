/* recording_window.c - the events of a run while it is played, a round at a time. */
#include "archive/recording.h"
#include "engine/run.h"
#include "session/codec/codec.h"

#define AHEAD 8 /* events behind the next request, for who looks what comes */

/* From where an attempt begins to where the next one does. */
struct round {
    struct round *next;
    struct arena arena;
    struct message **messages;
    size_t n_messages, messages_room;
    struct recorded_attempt *begun;   /* that it begins with; NULL: before the first one */
    struct recorded_attempt *attempt; /* the last one: that, or one of a tool call */
    bool is_aside;                    /* the attempt: it asks for a summary, or for a call */
    struct recorded_call **calls;
    size_t n_calls, calls_room;
    bool is_settled; /* how its calls ran beside each other is known */
};

/* Of the provider: it is here from when it is loaded until a moment after it was passed. */
struct streamed_event {
    struct recorded_event event;
    struct recorded_payload payload;
    struct strbuf line, bytes, type;
};

/* Pieces of an answer until the next event of another kind. */
struct piece_group {
    struct piece_group *next;
    struct replay_pieces pieces;
};

struct recording_window {
    struct recording_source *source;
    struct str run_id;
    struct round *first, *last;     /* that of the event that was passed last, that which is read */
    struct recorded_event **events; /* that were read; each in its round */
    size_t n, at, room;             /* `at`: the one that comes next */
    size_t n_batches;
    struct piece_group *groups, *last_group; /* that have not been passed */
    bool is_group_open;                      /* more pieces may come for the last one */
    struct streamed_event *passed;           /* the last one that was; NULL: none */
    /* in events that have not been passed; those of calls do not count */
    unsigned n_requests, n_streamed;
    bool is_in_call; /* what is read belongs to a request of a call */
    bool is_read;    /* to its end, or its damage */
};

static struct round *add_round(struct recording_window *w)
{
    struct round *r = mem_alloc(sizeof *r);

    if (w->last)
        w->last->next = r;
    else
        w->first = r;
    return w->last = r;
}

static void free_round(struct round *r)
{
    for (size_t i = 0; i < r->n_messages; i++)
        message_unref(r->messages[i]);
    for (struct recorded_attempt *a = r->attempt; a; a = a->earlier) {
        err_free(a->error);
        message_unref(a->said);
    }
    arena_done(&r->arena);
    mem_free(r);
}

static void free_streamed(struct streamed_event *s)
{
    if (!s)
        return;
    strbuf_done(&s->line);
    strbuf_done(&s->bytes);
    strbuf_done(&s->type);
    mem_free(s);
}

static void drop_group(struct recording_window *w)
{
    struct piece_group *g = w->groups;

    w->groups = g->next;
    replay_pieces_done(&g->pieces);
    mem_free(g);
}

struct recording_window *recording_window_new(struct recording_source *source, struct str run_id)
{
    struct recording_window *w = mem_alloc(sizeof *w);

    *w = (struct recording_window){.source = source, .run_id = run_id};
    add_round(w);
    return w;
}

void recording_window_free(struct recording_window *w)
{
    if (!w)
        return;
    for (size_t i = w->at; i < w->n; i++)
        if (w->events[i]->payload)
            free_streamed((struct streamed_event *)w->events[i]);
    free_streamed(w->passed);
    for (struct round *r = w->first, *next; r; r = next) {
        next = r->next;
        free_round(r);
    }
    while (w->groups)
        drop_group(w);
    mem_free(w->events);
    mem_free(w);
}

/* --- copies --- */

static const struct message *keep_message(struct round *r, const struct message *m)
{
    if (!m)
        return NULL;
    r->messages =
        arena_grow(&r->arena, r->messages, r->n_messages, &r->messages_room, sizeof *r->messages);
    return r->messages[r->n_messages++] = message_ref((struct message *)m);
}

static const struct part *keep_part(struct round *r, const struct part *p)
{
    struct part *copy = ARENA_NEW(&r->arena, struct part);

    if (!p)
        return NULL;
    *copy = part_copy(&r->arena, p);
    return copy;
}

static const struct json *keep_json(struct round *r, const struct json *v)
{
    return v ? json_copy(&r->arena, v) : NULL;
}

static struct str keep_code(struct round *r, const char *code)
{
    return code ? arena_str(&r->arena, str_of(code)) : (struct str){0};
}

/* --- attempts --- */

static void note_asked(const struct recording_window *w, struct str call_id)
{
    const struct round *r = w->last;

    for (size_t i = 0; i < r->n_calls; i++)
        if (r->calls[i]->batch == w->n_batches && r->calls[i]->has_begun &&
            !r->calls[i]->has_ended && str_eq(r->calls[i]->call_id, call_id))
            r->calls[i]->has_asked = true;
}

static void begin_attempt(struct recording_window *w, const struct event_attempt *b)
{
    struct round *r = w->last;
    struct recorded_attempt *a = ARENA_NEW(&r->arena, struct recorded_attempt);

    *a = (struct recorded_attempt){.delay_ms = -1,
                                   .limited_to = b->reserved.max_output,
                                   .call_id = arena_str(&r->arena, b->call_id),
                                   .earlier = r->attempt};
    r->attempt = a;
    if (b->call_id.n)
        note_asked(w, b->call_id);
    else
        r->begun = a;
}

/* Its texts come with what the provider sent, where that was sent over a wire. */
static void take_reply(struct round *r, const struct reply *reply)
{
    struct reply read = *reply;
    AUTO_FREE struct reply_part *parts = NULL;

    if (!r->attempt)
        return;
    if (r->attempt->was_sent && reply->n_parts) {
        parts = mem_alloc(reply->n_parts * sizeof *parts);
        memcpy(parts, reply->parts, reply->n_parts * sizeof *parts);
        for (size_t i = 0; i < reply->n_parts; i++)
            parts[i].text = (struct strbuf){0};
        read.parts = parts;
    }
    message_unref(r->attempt->said);
    r->attempt->said = reply_to_message(&read, reply->id, reply_state(reply),
                                        (struct origin){.model = reply->model});
}

static void take_attempt_end(struct round *r, const struct event *e)
{
    if (!r->attempt)
        return;
    r->attempt->has_ended = true;
    if (e->body.attempt.delay_ms)
        r->attempt->delay_ms = (int64_t)e->body.attempt.delay_ms;
    if (e->body.attempt.error)
        r->attempt->error = err_copy(e->body.attempt.error);
}

/* --- calls --- */

struct recorded_call *recording_find_call(const struct recording *r, size_t batch,
                                          struct str call_id, bool is_unjudged)
{
    for (const struct round *x = r->events->first; x; x = x->next)
        for (size_t i = 0; i < x->n_calls; i++)
            if (x->calls[i]->batch == batch && str_eq(x->calls[i]->call_id, call_id) &&
                !(is_unjudged && x->calls[i]->is_judged))
                return x->calls[i];
    return NULL;
}

struct recorded_call *const *recording_calls(const struct recording *r, size_t batch, size_t *ret_n)
{
    size_t from = 0, to;

    *ret_n = 0;
    for (const struct round *x = r->events->first; x; x = x->next, from = 0) {
        while (from < x->n_calls && x->calls[from]->batch != batch)
            from++;
        for (to = from; to < x->n_calls && x->calls[to]->batch == batch;)
            to++;
        *ret_n = to - from;
        if (*ret_n)
            return &x->calls[from];
    }
    return NULL;
}

static struct recorded_call *call_of(struct recording_window *w, const struct event_tool *t)
{
    struct round *r = w->last;
    struct recorded_call *c;

    for (size_t i = r->n_calls; i-- > 0 && r->calls[i]->batch == w->n_batches;)
        if (r->calls[i]->index == t->index && str_eq(r->calls[i]->call_id, t->call_id))
            return r->calls[i];
    c = ARENA_NEW(&r->arena, struct recorded_call);
    *c = (struct recorded_call){.batch = w->n_batches,
                                .index = t->index,
                                .call_id = arena_str(&r->arena, t->call_id),
                                .name = arena_str(&r->arena, t->name),
                                .server = arena_str(&r->arena, t->server),
                                .risk = t->risk,
                                .is_alone = true};
    r->calls =
        arena_grow(&r->arena, r->calls, r->n_calls, &r->calls_room, sizeof(struct recorded_call *));
    return r->calls[r->n_calls++] = c;
}

/* It has asked a person, and was over until there was an answer. */
static bool is_waiting(const struct recorded_call *c, bool is_cut)
{
    if (c->has_begun && !c->has_ended)
        return !is_cut;
    return json_bool(json_get(c->metadata, CALL_WAITED), false);
}

/* A call is under way until its hooks have been asked. Of one whose hook ended the run it is known
 * that all which began at all had begun by then. */
static uint64_t over_seq(const struct recorded_call *c)
{
    return c->stops_run && c->has_ended ? UINT64_MAX : c->end_seq;
}

/* `b` comes before `a`. If it waits for an answer, what must run alone after it does not begin. */
static void note_overlap(struct recorded_call *a, struct recorded_call *b)
{
    if (b->has_waited && a->has_begun)
        a->is_alone = false;
    if (a->has_begun && b->has_begun && a->begin_seq < over_seq(b) && b->begin_seq < over_seq(a))
        a->is_alone = b->is_alone = false;
}

/* Has a call of this batch begun between the two? */
static bool has_begin_between(const struct round *r, const struct recorded_call *a,
                              const struct recorded_call *b)
{
    for (size_t i = 0; i < r->n_calls; i++)
        if (r->calls[i]->batch == a->batch && r->calls[i]->has_begun &&
            a->request_seq < r->calls[i]->begin_seq && r->calls[i]->begin_seq < b->request_seq)
            return true;
    return false;
}

/* Which calls were under way at the same time, and which had to be over before others were judged.
 */
static void settle(struct round *r, bool is_cut)
{
    r->is_settled = true;
    for (size_t i = 0; i < r->n_calls; i++) {
        struct recorded_call *c = r->calls[i];

        c->has_waited = is_waiting(c, is_cut);
        if (c->has_waited)
            c->end_seq = c->begin_seq;
        for (size_t k = i; k-- > 0 && r->calls[k]->batch == c->batch;)
            note_overlap(c, r->calls[k]);
    }
    for (size_t i = 0; i + 1 < r->n_calls; i++)
        if (r->calls[i + 1]->batch == r->calls[i]->batch)
            r->calls[i]->is_alone = r->calls[i]->is_awaited =
                has_begin_between(r, r->calls[i], r->calls[i + 1]);
}

static void take_end(struct round *r, const struct event_tool *t, struct recorded_call *c,
                     struct recorded_event *x)
{
    c->has_ended = true;
    c->end_seq = x->seq;
    c->end = keep_part(r, t->result);
    c->end_event = x;
    c->metadata = keep_json(r, t->metadata);
    c->end_is_ok = t->is_ok;
    c->code = keep_code(r, t->error_code);
    c->was_executed = t->was_executed;
}

static void take_tool(struct recording_window *w, const struct event *e, struct recorded_event *x)
{
    const struct event_tool *t = &e->body.tool;
    struct recorded_call *c = call_of(w, t);
    struct round *r = w->last;

    x->call = c;
    x->duration_ms = t->duration_ms;
    if (e->type == EVENT_TOOL_REQUEST) {
        c->is_requested = true;
        c->request_seq = e->seq;
        c->risk = t->risk;
        c->args = keep_json(r, t->args);
    } else if (e->type == EVENT_TOOL_BEGIN) {
        c->has_begun = true;
        c->begin_seq = e->seq;
        c->end_seq = UINT64_MAX;
    } else if (e->type == EVENT_TOOL_END) {
        take_end(r, t, c, x);
    } else if (e->type == EVENT_TOOL_RESULT) {
        c->has_result = true;
        c->result = keep_part(r, t->result);
        c->was_denied = t->was_denied;
        c->hook_text = arena_str(&r->arena, t->hook_text);
        c->refusal = arena_str(&r->arena, t->refusal);
        c->stops_run = t->stops_run;
        if (!c->has_ended)
            c->code = keep_code(r, t->refusal_code ? t->refusal_code : t->error_code);
        if (!c->has_ended)
            c->was_executed = t->was_executed;
    }
}

/* --- events --- */

/* What a second run must know of this event. */
static void take_facts(struct recording_window *w, const struct event *e, struct recorded_event *x)
{
    struct round *r = w->last;

    switch (e->type) {
    case EVENT_HISTORY:
        x->is_kept = e->body.message.is_kept;
        x->message = keep_message(r, e->body.message.message);
        break;
    case EVENT_USER_INPUT:
        x->message = keep_message(r, e->body.message.message);
        break;
    case EVENT_TOOLS_CHANGED:
        x->tools = recorded_tool_set(&r->arena, e->body.tools.tools);
        x->tools_version = e->body.tools.tools->version;
        break;
    case EVENT_COMPACTED:
        x->text = arena_str(&r->arena, str_of(e->body.compact.trigger));
        break;
    case EVENT_FINAL_TURN:
        x->reason = e->body.final.reason;
        break;
    case EVENT_ATTEMPT_BEGIN:
        begin_attempt(w, &e->body.attempt);
        x->attempt = r->attempt;
        x->is_aside = r->is_aside = e->body.attempt.is_aside;
        break;
    case EVENT_PROVIDER_REQUEST:
        w->n_requests += !x->is_of_call;
        x->tools_version = e->body.request.tools_version;
        if (r->is_aside && e->body.request.n_overlays)
            x->text = arena_str(&r->arena, e->body.request.overlays[0]);
        break;
    case EVENT_NATIVE_PAYLOAD: /* of a request */
        if (r->attempt)
            r->attempt->was_sent = true;
        break;
    case EVENT_RESPONSE_RAW:
        take_reply(r, e->body.reply.reply);
        break;
    case EVENT_ATTEMPT_END:
        take_attempt_end(r, e);
        x->duration_ms = e->body.attempt.duration_ms;
        break;
    case EVENT_RETRY:
        if (r->attempt)
            r->attempt->delay_ms = (int64_t)e->body.attempt.delay_ms;
        break;
    case EVENT_BATCH_BEGIN:
        w->n_batches++;
        break;
    case EVENT_TOOL_REQUEST:
    case EVENT_TOOL_BEGIN:
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
        take_tool(w, e, x);
        break;
    case EVENT_NOTICE:
        x->source = arena_str(&r->arena, str_of(e->body.notice.source));
        x->text = arena_str(&r->arena, e->body.notice.text);
        break;
    case EVENT_RUN_END:
        x->duration_ms = e->body.result->duration_ms;
        x->api_duration_ms = e->body.result->api_duration_ms;
        break;
    default:
        break;
    }
}

static void add_event(struct recording_window *w, struct recorded_event *x, const struct event *e)
{
    x->type = e->type;
    x->seq = e->seq;
    x->unix_ms = e->unix_ms;
    if (w->n == w->room) {
        w->room = w->room ? 2 * w->room : 64;
        w->events = mem_resize(w->events, w->room * sizeof(struct recorded_event *));
    }
    w->events[w->n++] = x;
}

static const struct json_long_texts hashed_texts = {REPLAY_LONG_TEXT, replay_write_long_text, NULL};

static void write_short_line(const struct recording_window *w, const struct event *e,
                             struct strbuf *out)
{
    replay_line(e, codec_reader_left(w->source->events), &hashed_texts, out);
}

static void take_streamed(struct recording_window *w, const struct event *e)
{
    struct streamed_event *s = mem_alloc(sizeof *s);
    const struct native_payload *p = e->body.payload;

    strbuf_init(&s->line, SIZE_MAX / 2);
    strbuf_init(&s->bytes, SIZE_MAX / 2);
    write_short_line(w, e, &s->line);
    strbuf_add(&s->bytes, p->bytes);
    strbuf_add(&s->type, p->event_type);
    s->payload = (struct recorded_payload){p->kind, p->http_status, strbuf_str(&s->bytes),
                                           strbuf_str(&s->type)};
    s->event.line = strbuf_str(&s->line);
    s->event.payload = &s->payload;
    s->event.is_of_call = w->is_in_call;
    add_event(w, &s->event, e);
    w->n_streamed += !w->is_in_call;
}

static void take_piece(struct recording_window *w, const struct delta *d)
{
    if (!w->is_group_open) {
        struct piece_group *g = mem_alloc(sizeof *g);

        strbuf_init(&g->pieces.text, SIZE_MAX / 2);
        if (w->groups)
            w->last_group->next = g;
        else
            w->groups = g;
        w->last_group = g;
        w->is_group_open = true;
    }
    replay_pieces_add(&w->last_group->pieces, d);
}

static void end_pieces(struct recording_window *w, const struct event *e)
{
    struct recorded_event *x;

    if (!w->is_group_open)
        return;
    w->is_group_open = false;
    x = ARENA_NEW(&w->last->arena, struct recorded_event);
    add_event(w, x, e);
    x->type = EVENT_DELTA;
}

static void take(struct recording_window *w, const struct event *e)
{
    AUTO(strbuf) struct strbuf line = {0};
    struct recorded_event *x;

    if (!replay_compares(e))
        return;
    if (e->type == EVENT_DELTA) {
        take_piece(w, e->body.delta.delta);
        return;
    }
    if (e->type == EVENT_NATIVE_PAYLOAD && e->body.payload->kind != PAYLOAD_REQUEST) {
        take_streamed(w, e);
        return;
    }
    if (e->type != EVENT_NATIVE_PAYLOAD)
        end_pieces(w, e);
    if (e->type == EVENT_ATTEMPT_BEGIN) {
        w->is_in_call = e->body.attempt.call_id.n > 0;
        if (!w->is_in_call)
            add_round(w);
    }
    strbuf_init(&line, SIZE_MAX / 2);
    x = ARENA_NEW(&w->last->arena, struct recorded_event);
    x->is_of_call = w->is_in_call;
    add_event(w, x, e);
    x->has_left = codec_reader_left(w->source->events) != NULL;
    write_short_line(w, e, &line);
    x->line = arena_str(&w->last->arena, strbuf_str(&line));
    take_facts(w, e, x);
}

/* --- loading --- */

/* What cannot be read ends it: all of it was looked through before, so that is known. */
static struct err *read_one(struct recording_window *w)
{
    struct recording_source *s = w->source;
    const struct event *e = TAKE(s->held);
    AUTO(err) struct err *failure = e ? NULL : codec_read(s->events, &e);

    if (codec_reader_has_failed(s->events))
        return TAKE(failure);
    w->is_read = failure || !e;
    if (w->is_read)
        return NULL;
    if (e->type == EVENT_RUN_BEGIN && w->n) {
        s->held = e;
        w->is_read = true;
    } else if (str_eq(e->run_id, w->run_id) && e->type != EVENT_SESSION_BEGIN) {
        take(w, e);
        w->is_read = e->type == EVENT_RUN_END;
    }
    return NULL;
}

/* The number of events behind the next request; none while that has not come. */
static size_t n_behind_request(const struct recording_window *w)
{
    for (size_t i = w->at; i < w->n; i++)
        if (w->events[i]->type == EVENT_PROVIDER_REQUEST && !w->events[i]->is_of_call)
            return w->n - i - 1;
    return 0;
}

/* An answer is loaded by who plays it. */
static bool needs_more(const struct recording_window *w)
{
    if (w->n_streamed)
        return w->n - w->at < AHEAD;
    return w->n_requests == 0 || n_behind_request(w) < AHEAD;
}

struct err *recording_load(struct recording *r)
{
    struct recording_window *w = r->events;

    while (!w->is_read && needs_more(w))
        TRY(read_one(w));
    for (struct round *x = w->first; x; x = x->next)
        if (!x->is_settled && (x->next || w->is_read))
            settle(x, r->is_cut);
    return NULL;
}

struct err *recording_load_payload(struct recording *r, const struct recorded_payload **ret_payload)
{
    struct recording_window *w = r->events;
    const struct recorded_event *next;

    while (!w->is_read && w->n - w->at < AHEAD)
        TRY(read_one(w));
    next = recording_at(r, 0);
    *ret_payload = next ? next->payload : NULL;
    return NULL;
}

struct err *recording_look_ahead(const struct recording *r,
                                 bool (*look)(void *self, const struct event *e), void *self)
{
    static const bool streamed[EVENT_N_TYPES] = {
        [EVENT_DELTA] = true, [EVENT_NATIVE_PAYLOAD] = true};
    const struct recording_source *s = r->events->source;
    const struct recorded_event *next = recording_at(r, 0);
    AUTO(codec_reader) struct codec_reader *reader = NULL;
    const struct event *e = NULL;
    bool wants_more = next != NULL;

    reader = codec_reader_new(s->store, s->stream, next ? next->seq : 1, CODEC_READ_ALL);
    codec_reader_leave(reader, CODEC_PASS | CODEC_LEAVE_RESULTS);
    codec_reader_skip(reader, streamed);
    while (wants_more) {
        AUTO(err) struct err *failure = codec_read(reader, &e);

        if (codec_reader_has_failed(reader))
            return TAKE(failure);
        if (failure)
            continue;
        wants_more = e && e->type != EVENT_RUN_BEGIN &&
                     (!str_eq(e->run_id, r->run_id) || !replay_compares(e) || look(self, e));
    }
    return NULL;
}

struct err *recording_load_end(const struct recording *r, const struct recorded_call *c,
                               struct codec_reader **ret_reader, const struct part **ret_end)
{
    const struct recording_source *s = r->events->source;
    const struct recorded_event *x = c->end_event;
    const struct event *e;

    *ret_reader = NULL;
    *ret_end = c->end;
    if (!x || !x->has_left)
        return NULL;
    *ret_reader = codec_reader_new(s->store, s->stream, x->seq, CODEC_READ_ALL);
    TRY(codec_read(*ret_reader, &e));
    if (!e || e->seq != x->seq || e->type != EVENT_TOOL_END)
        return err_new(ERR_STORAGE, "event %llu of session %" STR_FMT " is missing",
                       (unsigned long long)x->seq, STR_ARG(s->stream));
    *ret_end = e->body.tool.result;
    return NULL;
}

struct err *recording_load_line(const struct recording *r, uint64_t seq, struct str line,
                                struct strbuf *out)
{
    const struct recording_source *s = r->events->source;
    AUTO(codec_reader)
    struct codec_reader *reader = codec_reader_new(s->store, s->stream, seq, CODEC_READ_ALL);
    AUTO(strbuf) struct strbuf hashed = {0};
    const struct event *e;

    codec_reader_leave(reader, CODEC_LEAVE_ENDS | CODEC_LEAVE_REQUESTS);
    do
        TRY(codec_read(reader, &e));
    while (e && e->seq < seq);
    if (e && e->seq == seq)
        replay_line(e, codec_reader_left(reader), &hashed_texts, &hashed);
    if (!str_eq(strbuf_str(&hashed), line))
        return err_new(ERR_STORAGE, "event %llu of session %" STR_FMT " is missing",
                       (unsigned long long)seq, STR_ARG(s->stream));
    replay_line(e, codec_reader_left(reader), NULL, out);
    return NULL;
}

/* --- passing --- */

const struct recorded_event *recording_at(const struct recording *r, size_t ahead)
{
    const struct recording_window *w = r->events;

    return ahead < w->n - w->at ? w->events[w->at + ahead] : NULL;
}

bool recording_is_over(const struct recording *r)
{
    return r->events->is_read && r->events->at == r->events->n;
}

struct replay_pieces *recording_pieces(const struct recording *r)
{
    return r->events->groups ? &r->events->groups->pieces : NULL;
}

static void drop_passed(struct recording_window *w)
{
    w->n -= w->at;
    memmove(w->events, w->events + w->at, w->n * sizeof(struct recorded_event *));
    w->at = 0;
}

static void forget_rounds(struct recording_window *w)
{
    while (w->first != w->last && w->first->begun != w->events[w->at]->attempt) {
        struct round *r = w->first;

        w->first = r->next;
        free_round(r);
    }
    drop_passed(w);
}

void recording_pass(struct recording *r)
{
    struct recording_window *w = r->events;
    struct recorded_event *x = w->events[w->at];

    if (x->type == EVENT_ATTEMPT_BEGIN && !x->is_of_call)
        forget_rounds(w);
    w->n_requests -= x->type == EVENT_PROVIDER_REQUEST && !x->is_of_call;
    if (x->type == EVENT_DELTA)
        drop_group(w);
    w->at++;
    if (!x->payload)
        return;
    w->n_streamed -= !x->is_of_call;
    free_streamed(w->passed);
    w->passed = (struct streamed_event *)x;
    if (w->at > w->n / 2)
        drop_passed(w);
}
