/* load.c - reads the core of a stream and finds out how the last run ended. */
#include "session/load.h"

#include "base/uuid.h"
#include "session/checkpoint.h"
#include "session/codec/codec.h"
#include "session/codec/load_pack.h"

#include <inttypes.h>

#define MAX_TOLD 8 /* of records that cannot be read */

struct loaded_call {
    struct str id;
    size_t index;
    bool has_begun, has_result;
    uint64_t end_seq; /* of the event that has its result; 0: there is none */
    const char *error_code;
};

struct loading {
    struct store *store;
    struct conversation *conversation; /* NULL: only the state of the session is read */
    struct loaded *out;
    struct arena calls_arena;  /* emptied with each answer */
    struct loaded_call *calls; /* of the last one */
    size_t n_calls, calls_room;
    uint64_t attempt_seq; /* of the attempt that nothing came of yet; 0: there is none */
    bool is_aside;        /* the last attempt does not belong to the conversation */
    /* of the attempt whose end was not read yet */
    uint64_t open_seq; /* 0: there is none */
    struct reservation reserved;
    struct price price;
    struct usage reported;  /* what the provider reported, once its answer was complete */
    unsigned rounds_before; /* of this turn, by earlier runs */
    const char *code;       /* of the result that is not in the history yet; NULL: a success */
    bool was_executed;      /* the same */
    bool was_unknown;       /* the answer before the last one called tools that are not there */
    bool is_answered;       /* the history ends with an answer */
    uint64_t checkpoint_seq;
    uint64_t end; /* the number after the last event that counts */
    int64_t began_ms, last_ms;
    uint64_t reserved_ms; /* time at work, of all runs so far; 0: this one has reserved none */
    size_t n_early; /* calls of the last attempt that are counted, and have not begun in a batch */
    unsigned n_broken;
    size_t next_index; /* of the next message */
    bool has_gap;      /* something since the last message cannot be read */
    /* What precedes the checkpoint is passed over, as long as nothing of it is open. */
    bool passes;
    /* What precedes the last pack is not read: its messages are in packs. */
    bool takes_packs, is_packed;
    struct pack_head pack;         /* the last one */
    struct history packed_history; /* until the reader takes it */
    bool has_run_since;            /* a run has begun behind what is passed over */
    bool must_not_pass;            /* something is open or damaged: all of it must be read */
};

void loaded_done(struct loaded *l)
{
    message_unref(l->prompt);
    message_unref(l->partial);
    child_list_clear(&l->children);
    arena_done(&l->arena);
    *l = (struct loaded){0};
}

/* --- child runs --- */

static void end_child(struct loaded *out, const struct event_child *child)
{
    struct listed_child *known = child_list_find(&out->children, child->id);

    spent_add_child(&out->spent, child);
    if (known)
        known->has_ended = true;
}

/* The calls that began them have their results. */
static void forget_children(struct child_list *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (!l->items[i].has_ended)
            l->items[n++] = l->items[i];
    l->n = n;
}

/* --- the calls of the last answer --- */

static void note_calls(struct loading *l, const struct message *m)
{
    struct arena *a = &l->calls_arena;
    size_t index = 0;

    forget_children(&l->out->children);
    arena_clear(a);
    l->calls = NULL;
    l->n_calls = l->calls_room = 0;
    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != PART_TOOL_CALL)
            continue;
        l->calls = arena_grow(a, l->calls, l->n_calls, &l->calls_room, sizeof *l->calls);
        l->calls[l->n_calls++] =
            (struct loaded_call){.id = arena_str(a, m->parts[i].id), .index = index++};
    }
}

static void note_result(struct loading *l, const struct message *m)
{
    for (size_t i = 0; i < l->n_calls; i++)
        if (!l->calls[i].has_result && m->n_parts && str_eq(l->calls[i].id, m->parts[0].id)) {
            l->calls[i].has_result = true;
            return;
        }
}

static struct loaded_call *find_call(struct loading *l, const struct event_tool *t)
{
    for (size_t i = 0; i < l->n_calls; i++)
        if (l->calls[i].index == t->index && str_eq(l->calls[i].id, t->call_id))
            return &l->calls[i];
    return NULL;
}

/* The result itself is read once it is known that the model has not seen it yet. */
static void note_end(struct loading *l, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;
    struct loaded_call *c = find_call(l, t);

    if (!c || !t->result)
        return;
    c->end_seq = e->seq;
    c->error_code = t->error_code ? arena_cstr(&l->calls_arena, str_of(t->error_code)) : NULL;
}

/* One that only delegates has done nothing but what its children did, and they continue. */
static void note_begin(struct loading *l, const struct event_tool *t)
{
    struct loaded_call *c = find_call(l, t);

    if (c && !t->delegates)
        c->has_begun = true;
}

/* A call that waits for an answer has done nothing yet, though it may have begun to. */
static void forget_begun(struct loading *l)
{
    for (size_t i = 0; i < l->n_calls; i++)
        l->calls[i].has_begun &= l->calls[i].end_seq || l->calls[i].has_result;
}

/* --- events --- */

static void set_message(struct message **slot, const struct message *m)
{
    message_unref(*slot);
    *slot = m ? message_ref((struct message *)m) : NULL;
}

static bool is_answer(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL)
            return false;
    return m->role == ROLE_ASSISTANT && m->state == MESSAGE_COMPLETE && !m->is_error;
}

/* A result that is in the history: one that is not will be made again. Wrong calls in a row count
 * until one has run. */
static void count_result(struct loading *l)
{
    struct turn_progress *turn = &l->out->turn;
    struct str code = l->code ? str_of(l->code) : (struct str){0};
    bool is_unknown = str_is(code, err_code(ERR_UNKNOWN_TOOL));

    turn->called_unknown |= is_unknown;
    if (is_unknown && l->was_unknown)
        turn->forced = FINAL_UNKNOWN_TOOLS;
    if (l->was_executed)
        turn->n_corrections = 0;
    else if (str_is(code, err_code(ERR_VALIDATION)) ||
             (turn->n_corrections && str_is(code, err_code(ERR_TOOL_FAILED))))
        turn->n_corrections++;
    l->code = NULL;
    l->was_executed = false;
}

/* What was lost was no message where the next one has the next number. */
static void count_message(struct loading *l, const struct event *e)
{
    l->out->is_damaged |= l->has_gap && e->body.message.index != l->next_index;
    l->has_gap = false;
    l->next_index = e->body.message.index + (e->body.message.message != NULL);
}

static void take_history(struct loading *l, const struct event *e)
{
    const struct message *m = e->body.message.message;

    count_message(l, e);
    if (!m)
        return;
    if (e->body.message.is_kept) { /* its calls had ended */
        l->is_answered = is_answer(m);
        return;
    }
    if (m->role == ROLE_USER && strcmp(e->body.message.mutation, "append") == 0) {
        /* Behind an answer stands a prompt, what a Stop hook makes the model continue with, or
         * keel's own word about an answer that was none. */
        l->out->turn.stop_hook_active |=
            l->is_answered && !l->out->prompt && m->parts[0].kind == PART_TEXT;
        set_message(&l->out->prompt, NULL); /* it is committed, perhaps changed by a hook */
    }
    l->is_answered = is_answer(m);
    if (m->role == ROLE_ASSISTANT) {
        set_message(&l->out->partial, NULL);
        l->attempt_seq = 0;
        note_calls(l, m);
        if (l->n_calls) {
            l->was_unknown = l->out->turn.called_unknown;
            l->out->turn.called_unknown = false;
        }
    }
    if (m->role == ROLE_TOOL) {
        note_result(l, m);
        count_result(l);
    }
}

/* The process died: what it had reserved counts, or what its records say if that is more. */
static void count_time(struct loading *l)
{
    if (l->began_ms && l->last_ms > l->began_ms)
        l->out->spent.active_ms += (uint64_t)(l->last_ms - l->began_ms);
    l->out->spent.active_ms = MAX(l->out->spent.active_ms, l->reserved_ms);
}

static void take_run_begin(struct loading *l, const struct event *e)
{
    struct loaded *out = l->out;

    if (out->last_run == LAST_RUN_CUT_OFF)
        count_time(l); /* of the run before it */
    l->rounds_before = out->turn.n_rounds;
    l->has_run_since |= !l->passes || e->seq > l->checkpoint_seq;
    out->last_run = LAST_RUN_CUT_OFF;
    out->run_id = arena_str(&out->arena, e->run_id);
    out->provider = arena_str(&out->arena, e->body.run.provider);
    out->model = arena_str(&out->arena, e->body.run.model);
    out->n_asks = 0;
    set_message(&out->prompt, NULL);
    l->attempt_seq = 0;
    l->n_early = 0;
    l->began_ms = l->last_ms = e->unix_ms;
    l->reserved_ms = 0;
}

/* A new prompt begins a new turn. */
static void take_input(struct loading *l, const struct event *e)
{
    set_message(&l->out->prompt, e->body.message.message);
    l->out->turn = (struct turn_progress){0};
    l->out->lacks_turn = false;
    l->rounds_before = 0;
}

static void take_run_end(struct loading *l, const struct event *e)
{
    const struct run_result *r = e->body.result;
    struct loaded *out = l->out;

    out->last_run = r->outcome == RUN_SUSPENDED ? LAST_RUN_SUSPENDED : LAST_RUN_ENDED;
    out->spent.active_ms += r->duration_ms;
    set_message(&out->prompt, NULL);
    set_message(&out->partial, NULL);
    l->attempt_seq = 0;
    if (r->outcome == RUN_SUSPENDED)
        forget_begun(l);
    out->asks = ARENA_ARRAY(&out->arena, r->n_asks, struct ask);
    out->n_asks = r->n_asks;
    for (size_t i = 0; i < r->n_asks; i++)
        out->asks[i] = (struct ask){
            .kind = r->asks[i].kind,
            .call_id = arena_str(&out->arena, r->asks[i].call_id),
            .tool = arena_str(&out->arena, r->asks[i].tool),
            .args = r->asks[i].args ? json_copy(&out->arena, r->asks[i].args) : NULL,
            .text = arena_str(&out->arena, r->asks[i].text),
            .rule = arena_str(&out->arena, r->asks[i].rule),
        };
}

/* The end of an attempt is not there: what the provider has said of it counts, or what was reserved
 * for it, or more if more had come. */
static void settle_open(struct loading *l, uint64_t n_bytes)
{
    struct settlement *s = &l->out->lost.settled;

    if (!l->open_seq)
        return;
    *s = reservation_settle_lost(&l->reserved, &l->price, n_bytes);
    if (usage_is_known(&l->reported))
        *s = (struct settlement){.usage = l->reported,
                                 .microcents = usage_cost_microcents(&l->reported, &l->price)};
    s->usage.routed_provider = s->usage.routed_model = (struct str){0};
    if (l->reserved.input) /* else an older version has kept no account of it */
        spent_add(&l->out->spent, s);
    l->open_seq = 0;
}

/* Most attempts have what the one before had. */
static struct str keep_str(struct loading *l, struct str before, struct str now)
{
    return str_eq(before, now) ? before : arena_str(&l->out->arena, now);
}

static void take_attempt_begin(struct loading *l, const struct event *e)
{
    static const struct price unknown = {-1, -1, -1, -1};
    const struct event_attempt *a = &e->body.attempt;
    struct loaded *out = l->out;

    settle_open(l, 0);
    l->is_aside = a->is_aside;
    l->attempt_seq = l->is_aside ? 0 : e->seq;
    l->open_seq = e->seq;
    l->reported = USAGE_UNKNOWN;
    l->reserved = a->reserved;
    l->price = a->price ? *a->price : unknown;
    out->lost = (struct lost_attempt){.provider = keep_str(l, out->lost.provider, a->provider),
                                      .model = keep_str(l, out->lost.model, a->model),
                                      .round = e->round,
                                      .number = e->attempt,
                                      .is_aside = a->is_aside,
                                      .call_id = keep_str(l, out->lost.call_id, a->call_id)};
    out->spent.n_rounds += e->attempt <= 1;
    if (a->is_aside)
        return;
    l->n_early = 0;
    out->turn.forced = a->forced;
    if (!a->is_final_turn)
        out->turn.n_rounds = l->rounds_before + e->round;
}

static void take_attempt_end(struct loading *l, const struct event *e)
{
    const struct event_attempt *a = &e->body.attempt;
    struct settlement s = {.usage = USAGE_UNKNOWN,
                           .microcents = a->assumed ? a->assumed_microcents : a->cost_microcents,
                           .is_estimated = a->assumed != NULL};

    l->open_seq = 0;
    if (a->assumed || a->usage)
        s.usage = a->assumed ? *a->assumed : *a->usage;
    spent_add(&l->out->spent, &s);
}

static void restore(struct loading *l, struct str key, const struct json *value)
{
    if (l->conversation)
        tool_state_restore(l->conversation->state, key, value);
}

/* Has the last run given its answer, so that nothing before this waits for anything? */
static bool is_at_rest(const struct loading *l)
{
    return l->out->last_run == LAST_RUN_ENDED && l->is_answered && !l->n_calls && !l->out->prompt &&
           !l->out->partial;
}

static void take_checkpoint(struct loading *l, const struct event *e)
{
    const struct event_checkpoint *x = &e->body.checkpoint;
    struct loaded *out = l->out;

    l->must_not_pass |= l->passes && !is_at_rest(l);
    out->lacks_turn |= l->passes;
    out->turn = l->passes ? (struct turn_progress){0} : out->turn;
    json_each (value, x->state)
        restore(l, value->key, value);
    out->spent =
        (struct spent){.usage = x->usage,
                       .microcents = x->cost_microcents,
                       .is_estimated = x->is_estimated,
                       /* Older records have no word of their own for it. */
                       .is_unpriced = x->is_unpriced || (!x->cost_is_known && !x->is_estimated),
                       .n_rounds = x->n_rounds,
                       .n_tool_calls = x->n_tool_calls,
                       .active_ms = x->active_ms};
    out->spent.usage.routed_provider = out->spent.usage.routed_model = (struct str){0};
    l->open_seq = 0; /* what was open then is in it */
}

static void take(struct loading *l, const struct event *e)
{
    bool is_new = e->seq > l->checkpoint_seq; /* what came before it is in the checkpoint */

    if (l->conversation)
        l->conversation->stream.turn = MAX(l->conversation->stream.turn, e->turn);
    if (e->run_id.n && str_eq(e->run_id, l->out->run_id))
        l->last_ms = e->unix_ms;
    switch (e->type) {
    case EVENT_CHECKPOINT:
        if (e->seq == l->checkpoint_seq)
            take_checkpoint(l, e);
        break;
    case EVENT_SESSION_BEGIN:
        l->out->provider = arena_str(&l->out->arena, e->body.session.provider);
        l->out->model = arena_str(&l->out->arena, e->body.session.model);
        break;
    case EVENT_RUN_BEGIN:
        take_run_begin(l, e);
        break;
    case EVENT_USER_INPUT:
        take_input(l, e);
        break;
    case EVENT_ATTEMPT_BEGIN:
        take_attempt_begin(l, e);
        break;
    case EVENT_RESPONSE_RAW:
        l->reported = e->body.reply.reply->usage;
        break;
    case EVENT_ATTEMPT_END:
        take_attempt_end(l, e);
        break;
    case EVENT_RESPONSE_NORMALIZED:
        if (!l->is_aside && !e->body.message.is_aside)
            set_message(&l->out->partial, e->body.message.message);
        break;
    case EVENT_HISTORY:
        take_history(l, e);
        break;
    case EVENT_TOOL_EARLY:
        l->n_early++;
        l->out->spent.n_tool_calls++;
        break;
    case EVENT_TOOL_DROPPED:
        l->n_early -= l->n_early > 0;
        break;
    case EVENT_TOOL_BEGIN:
        note_begin(l, &e->body.tool);
        l->out->spent.n_tool_calls += l->n_early == 0;
        l->n_early -= l->n_early > 0;
        break;
    case EVENT_TOOL_END:
        note_end(l, e);
        break;
    case EVENT_TOOL_RESULT:
        l->code = e->body.tool.error_code
                      ? arena_cstr(&l->out->arena, str_of(e->body.tool.error_code))
                      : NULL;
        l->was_executed = e->body.tool.was_executed;
        break;
    case EVENT_CHILD_BEGIN:
        child_list_add(&l->out->children, &e->body.child);
        break;
    case EVENT_CHILD_END:
        end_child(l->out, &e->body.child);
        break;
    case EVENT_STATE:
        if (is_new)
            restore(l, e->body.state.key, e->body.state.value);
        l->reserved_ms =
            MAX(l->reserved_ms, budget_reserved_ms(e->body.state.key, e->body.state.value));
        break;
    case EVENT_RUN_END:
        take_run_end(l, e);
        break;
    default:
        break;
    }
}

/* Reports a record that cannot be read; the rest is used. */
static void report_broken(struct loading *l, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);
    struct loaded *out = l->out;

    if (++l->n_broken > MAX_TOLD)
        return;
    out->notice = arena_format(&out->arena, "%" STR_FMT "%s%s%s", STR_ARG(out->notice),
                               out->notice.n ? "\n" : "", text,
                               l->n_broken == MAX_TOLD ? " (keel omits further ones)" : "");
}

/* --- what a crash has left --- */

/* The text that had streamed in when the process died, and the size of all that had. */
static struct err *read_partial(struct loading *l, uint64_t *ret_n_bytes)
{
    struct loaded *out = l->out;
    AUTO(codec_reader) struct codec_reader *r = NULL;
    AUTO(strbuf) struct strbuf text = {0};
    char id[UUID_TEXT_SIZE];
    const struct event *e;

    r = codec_reader_new(l->store, out->summary.id, l->attempt_seq, CODEC_READ_ALL);
    codec_reader_limit(r, l->end);
    for (;;) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure)
            continue; /* refers to what came before the attempt */
        if (!e)
            break;
        if (e->type == EVENT_TEXT_DROPPED)
            strbuf_clear(&text);
        if (e->type == EVENT_DELTA && !e->body.delta.is_separator)
            *ret_n_bytes += e->body.delta.delta->text.n;
        if (e->type == EVENT_DELTA && e->body.delta.delta->kind == DELTA_TEXT &&
            !e->body.delta.is_separator)
            strbuf_add(&text, e->body.delta.delta->text);
    }
    if (!text.n)
        return strbuf_check(&text, "an answer");
    uuid_from_name(out->summary.id, arena_format(&out->arena, "answer %" PRIu64, l->attempt_seq),
                   id);
    out->partial = message_new(ROLE_ASSISTANT, str_of(id));
    out->partial->state = MESSAGE_BROKEN;
    message_add_text(out->partial, strbuf_str(&text));
    message_set_origin(out->partial,
                       (struct origin){.provider = out->provider, .model = out->model});
    return NULL;
}

static struct err *find_outcome(struct loading *l, const struct loaded_call *c,
                                struct given_outcome *o)
{
    struct arena *a = &l->out->arena;
    struct part *result;

    *o = (struct given_outcome){.call_id = arena_str(a, c->id), .index = c->index};
    o->outcome = c->end_seq ? CALL_COMPLETED : c->has_begun ? CALL_UNKNOWN : CALL_NEVER_STARTED;
    if (!c->end_seq) {
        child_list_give(&l->out->children, a, o);
        return NULL;
    }
    result = ARENA_NEW(a, struct part);
    TRY(codec_read_result(l->store, l->out->summary.id, c->end_seq, a, result));
    o->result = result;
    o->error_code = c->error_code ? arena_cstr(a, str_of(c->error_code)) : NULL;
    return NULL;
}

/* A result that cannot be read counts as one that never came. */
static void find_outcomes(struct loading *l)
{
    struct loaded *out = l->out;

    out->outcomes = ARENA_ARRAY(&out->arena, l->n_calls, struct given_outcome);
    for (size_t i = 0; i < l->n_calls; i++) {
        struct given_outcome *o = &out->outcomes[out->n_outcomes];
        AUTO(err) struct err *e = NULL;

        if (l->calls[i].has_result)
            continue;
        e = find_outcome(l, &l->calls[i], o);
        if (e) {
            report_broken(l, e);
            o->outcome = CALL_UNKNOWN;
        }
        out->n_outcomes++;
    }
}

/* --- reading --- */

static void note_pack(struct loading *l, const struct json *body)
{
    struct loaded *out = l->out;
    struct str handle = json_get_text(json_get(body, "pack"), "$blob");
    int64_t n = json_int_or(json_get(body, "packed"), 0);

    if (!blob_handle_is_valid(handle) || n <= 0)
        return;
    out->packs = ARENA_NEW(&out->arena, struct codec_pack);
    out->n_packs = 1;
    out->packs[0].end = (size_t)n;
    memcpy(out->packs[0].handle, handle.p, handle.n);
}

/* Nothing is open where a pack was made: the history ends there with an answer, the run had ended.
 * Packs that cannot be used are made anew by the next checkpoint. */
static bool take_packs(struct loading *l, uint64_t base_seq)
{
    struct loaded *out = l->out;
    const struct history *h = &l->packed_history;
    struct err *e;

    if (!l->takes_packs || !out->n_packs)
        return false;
    e = packs_load(l->store, out->summary.id, base_seq, &out->arena, &out->packs, &out->n_packs,
                   &l->packed_history, &l->pack);
    if (e || l->pack.seq > l->checkpoint_seq || !is_answer(h->messages[h->n_messages - 1])) {
        err_ignore(e, "the records have it all");
        out->n_packs = 0;
        return false;
    }
    if (l->pack.run_id.n || l->pack.provider.n) {
        out->run_id = l->pack.run_id;
        out->provider = l->pack.provider;
        out->model = l->pack.model;
    }
    out->lacks_turn = l->is_answered = true;
    l->next_index = h->n_messages;
    return true;
}

static struct err *find_start(struct loading *l, uint64_t *ret_from)
{
    AUTO(store_page) struct store_page page = {0};
    AUTO(arena) struct arena a = {0};
    bool has_answer;
    const struct store_record *checkpoint =
        checkpoint_find(l->store, l->out->summary.id, l->end, &page, &has_answer);
    struct json *body;

    *ret_from = 1;
    l->passes &= has_answer;
    if (!checkpoint)
        return NULL;
    TRY(json_parse(&a, checkpoint->body, 0, &body));
    l->checkpoint_seq = checkpoint->seq;
    l->out->last_run = LAST_RUN_ENDED; /* runs make none on their way */
    *ret_from = (uint64_t)json_int_or(json_get(body, "baseSeq"), (int64_t)l->checkpoint_seq);
    if (!*ret_from)
        *ret_from = l->checkpoint_seq;
    note_pack(l, body);
    l->is_packed = take_packs(l, *ret_from);
    if (l->is_packed)
        *ret_from = l->pack.seq;
    return NULL;
}

static struct err *read_events(struct loading *l, struct codec_reader *r)
{
    const struct event *e;

    while (!l->must_not_pass) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure) {
            l->has_gap = true;
            l->must_not_pass = l->passes || l->is_packed;
            report_broken(l, failure);
            continue;
        }
        if (!e)
            break;
        take(l, e);
    }
    /* A run without a prompt continues the turn before it. */
    l->must_not_pass |= l->out->lacks_turn && l->has_run_since;
    return NULL;
}

static struct err *read_core(struct loading *l, uint64_t from)
{
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(l->store, l->out->summary.id, from, CODEC_READ_CORE);

    codec_reader_limit(r, l->end);
    codec_reader_leave(r, CODEC_LEAVE_RESULTS | CODEC_LEAVE_HEADS |
                              (l->conversation ? CODEC_LEAVE_ENDS : CODEC_PASS));
    if (l->passes)
        codec_reader_pass(r, l->checkpoint_seq);
    if (l->is_packed)
        codec_reader_begin_with(r, l->pack.base_seq, &l->packed_history, &l->pack.hash);
    TRY(read_events(l, r));
    if (l->must_not_pass)
        return NULL;
    l->out->is_damaged |= l->has_gap;
    codec_reader_end_compaction(r);
    codec_reader_history(r, &l->out->base_seq);
    if (!l->conversation)
        return NULL;
    codec_reader_hash(r, &l->out->hash);
    codec_reader_take_history(r, &l->conversation->history);
    return NULL;
}

static struct err *load(struct loading *l, struct str id, uint64_t to)
{
    struct loaded *out = l->out;
    uint64_t from, n_bytes = 0;
    bool found;

    TRY(store_find(l->store, id, &out->arena, &out->summary, &found));
    if (!found)
        return store_no_session(id);
    out->provider = out->summary.provider;
    out->model = out->summary.model;
    l->end = to ? MIN(to, out->summary.next_seq) : out->summary.next_seq;
    TRY(find_start(l, &from));
    TRY(read_core(l, from));
    if (l->must_not_pass)
        return NULL;
    if (l->conversation) {
        l->conversation->stream.next_seq = l->end;
        find_outcomes(l);
    }
    if (out->n_outcomes) /* the rest of that answer's calls is still to be judged */
        out->turn.called_unknown = l->was_unknown;
    if (out->last_run == LAST_RUN_CUT_OFF) {
        count_time(l);
        if (l->attempt_seq && !out->partial)
            TRY(read_partial(l, &n_bytes));
    }
    out->lost.is_there = l->open_seq && l->reserved.input;
    settle_open(l, n_bytes);
    return NULL;
}

static struct err *start_loading(struct loading *l, struct str id, uint64_t to)
{
    struct err *e;

    *l->out = (struct loaded){.spent.usage = USAGE_UNKNOWN};
    e = load(l, id, to);
    arena_done(&l->calls_arena);
    history_done(&l->packed_history);
    return e;
}

struct err *session_load(struct store *s, struct str id, uint64_t to, struct conversation *c,
                         struct loaded *ret_loaded)
{
    struct loading l = {.store = s, .conversation = c, .out = ret_loaded};

    return start_loading(&l, id, to);
}

struct err *session_load_to_resume(struct store *s, struct str id, struct conversation *c,
                                   struct loaded *ret_loaded)
{
    struct loading l = {
        .store = s, .conversation = c, .out = ret_loaded, .passes = true, .takes_packs = true};

    TRY(start_loading(&l, id, 0));
    if (!l.must_not_pass)
        return NULL;
    loaded_done(ret_loaded); /* what it has given to the tools will be given once more */
    return session_load(s, id, 0, c, ret_loaded);
}

struct err *session_look(struct store *s, struct str id, struct loaded *ret_loaded)
{
    return session_load(s, id, 0, NULL, ret_loaded);
}
