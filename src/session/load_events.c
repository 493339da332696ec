/* load_events.c - what each event of a stream says about how the session stands. */
#include "session/load_parts.h"

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

/* --- the history --- */

static void set_message(struct message **slot, const struct message *m)
{
    message_unref(*slot);
    *slot = m ? message_ref((struct message *)m) : NULL;
}

bool loading_ends_with(const struct message *m)
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
        l->is_answered = loading_ends_with(m);
        return;
    }
    if (m->role == ROLE_USER && strcmp(e->body.message.mutation, "append") == 0) {
        /* After an answer comes a prompt, what a Stop hook makes the model continue with, or keel's
         * own word about an answer that was none. */
        l->out->turn.stop_hook_active |=
            l->is_answered && !l->out->prompt && m->parts[0].kind == PART_TEXT;
        set_message(&l->out->prompt, NULL); /* it is committed, perhaps changed by a hook */
    }
    l->is_answered = loading_ends_with(m);
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

void loading_count_time(struct loading *l)
{
    if (l->began_ms && l->last_ms > l->began_ms)
        l->out->spent.active_ms += (uint64_t)(l->last_ms - l->began_ms);
    l->out->spent.active_ms = MAX(l->out->spent.active_ms, l->reserved_ms);
}

static void take_run_begin(struct loading *l, const struct event *e)
{
    struct loaded *out = l->out;

    if (out->last_run == LAST_RUN_CUT_OFF)
        loading_count_time(l); /* of the run before it */
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

void loading_settle_open(struct loading *l, uint64_t n_bytes)
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

    loading_settle_open(l, 0);
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

void loading_take(struct loading *l, const struct event *e)
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
