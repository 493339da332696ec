/* early.c - calls that run while their answer still streams in.
 *
 * A call begins early if its part is complete, its result can be thrown away (its tool says so, or
 * it is a line that runs where it can change nothing), the gate lets it run without asking a hook
 * or a person, and every earlier call of the answer has begun early, too: so nothing that changes
 * anything precedes it. Its intent, EVENT_TOOL_EARLY, is durable before it runs.
 *
 * Its result and what its tool remembers are kept apart: no event shows them, and no other call
 * sees them. When the answer is committed, the batch judges and reports the call like any other,
 * and takes the result instead of running the call again. If the attempt is dropped, or if the
 * calls of the answer are not those that were begun, the results are dropped, with an
 * EVENT_TOOL_DROPPED for each.
 *
 * A replay begins nothing early: later requests depend on the batch alone. */
#include "engine/run_state.h"

#include "sys/loop.h"

struct early_call {
    struct call call; /* with a part of its own, in its arena */
    struct part part;
    struct waker *waiting; /* the batch's call; NULL: it has not come to it */
    struct err *failure;
    bool is_expired, is_over, is_used;
    struct early_call *next;
};

struct early {
    struct group group;
    struct tool_state *state; /* what its calls remember */
    struct early_call *first, *last;
    size_t n;
    bool is_closed; /* a call was not begun: no later one is */
};

/* --- an attempt --- */

void early_begin(struct run *r)
{
    early_end(r, ERR_CANCELLED); /* nothing of an earlier answer is left by now */
    r->early = mem_alloc(sizeof *r->early);
    group_begin(&r->early->group, r->kit->max_concurrency, GROUP_KEEP_GOING);
}

static void emit_dropped(struct early_call *x, enum err_kind why)
{
    struct event e = {.owner = &x->call.owner, .body.tool = call_event(&x->call)};

    e.body.tool.error_code = err_code(why);
    run_emit(x->call.run, EVENT_TOOL_DROPPED, &e);
}

void early_end(struct run *r, enum err_kind why)
{
    struct early *early = TAKE(r->early);
    struct early_call *next;

    if (!early)
        return;
    group_cancel(&early->group);
    err_ignore(group_end(&early->group), "what was not used is dropped");
    for (struct early_call *x = early->first; x; x = next) {
        next = x->next;
        if (!x->is_used)
            emit_dropped(x, why);
        err_free(x->failure);
        call_done(&x->call);
        mem_free(x);
    }
    tool_state_free(early->state);
    mem_free(early);
}

/* --- a call --- */

static struct err *early_call_run(void *arg)
{
    struct early_call *x = arg;
    uint64_t started_ms = loop_now_ms(task_loop());

    if (x->call.verdict.entry->tool->begins_late)
        /* Its intent becomes durable while the tool gets ready. */
        run_hurry(x->call.run, RECORDER_DURABLE);
    else
        x->call.not_begun = run_sync(x->call.run);
    if (!x->call.not_begun)
        x->failure = call_run_tool(&x->call, &x->is_expired);
    x->call.duration_ms = loop_now_ms(task_loop()) - started_ms;
    x->is_over = true;
    if (x->waiting)
        waker_wake(x->waiting);
    return NULL;
}

/* The table of commands that only look may be wrong, and a person who allows a command by a rule
 * lets it write: only walls make sure that an answer which is dropped has changed nothing. */
static bool can_be_dropped(const struct verdict *v)
{
    return v->entry->tool->starts_early || (v->risk.risk == RISK_INSPECT && v->must_only_look);
}

/* Would it run without a question? What cannot be found out now waits for the batch. */
static bool may_begin(struct early_call *x)
{
    struct call *c = &x->call;
    struct event_tool t;
    AUTO(err) struct err *e = NULL;
    bool runs = false;

    e = call_foresee(c, &runs);
    if (e || !runs || !can_be_dropped(&c->verdict))
        return false;
    t = call_event(c);
    e = plugins_before_tool(c->run, &t);
    return !e;
}

static void append(struct early *early, struct early_call *x)
{
    if (early->last)
        early->last->next = x;
    else
        early->first = x;
    early->last = x;
    early->n++;
}

void early_offer(struct run *r, const struct part *part, size_t index)
{
    struct early *early = r->early;
    struct early_call *x;
    struct event e;

    if (!early || early->is_closed || index != early->n)
        return;
    if (!early->state)
        early->state = tool_state_draft(r->conversation->state);
    x = mem_alloc(sizeof *x);
    call_init(&x->call, r, (struct str){0}, index, &x->part);
    x->part = part_copy(&x->call.arena, part);
    x->call.owner.id = x->part.id;
    x->call.draft = early->state;
    if (!may_begin(x)) {
        early->is_closed = true;
        call_done(&x->call);
        mem_free(x);
        return;
    }
    append(early, x);
    e = (struct event){.owner = &x->call.owner, .body.tool = call_event(&x->call)};
    run_emit(r, EVENT_TOOL_EARLY, &e);
    group_spawn(&early->group, x->call.verdict.entry->tool->name, early_call_run, x);
}

void early_close(struct run *r)
{
    if (r->early)
        r->early->is_closed = true;
}

/* --- the batch --- */

static bool is_same_call(const struct part *a, const struct part *b)
{
    return str_eq(a->id, b->id) && str_eq(a->name, b->name) && str_eq(a->args, b->args) &&
           b->bad_args.n == 0;
}

/* Are the first calls of the answer those that were begun? */
static bool is_answer_of(const struct early *early, const struct message *answer)
{
    const struct early_call *x = early->first;

    for (size_t i = 0; i < answer->n_parts && x; i++) {
        if (answer->parts[i].kind != PART_TOOL_CALL)
            continue;
        if (!is_same_call(&x->part, &answer->parts[i]))
            return false;
        x = x->next;
    }
    return !x;
}

void early_accept(struct run *r, const struct message *answer)
{
    if (!r->early)
        return;
    if (!is_answer_of(r->early, answer))
        early_end(r, ERR_BAD_RESPONSE);
    else if (r->early->state)
        tool_state_accept(r->early->state);
}

static bool is_same_target(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool early_has(const struct call *c)
{
    const struct early_call *x = c->run->early ? c->run->early->first : NULL;
    const struct verdict *then;

    while (x && x->call.index != c->index)
        x = x->next;
    if (!x || !is_same_call(&x->part, c->part))
        return false;
    then = &x->call.verdict;
    return then->entry->tool == c->verdict.entry->tool && json_equal(then->args, c->verdict.args) &&
           then->must_only_look == c->verdict.must_only_look &&
           is_same_target(then->target, c->verdict.target);
}

struct err *early_take(struct call *c, bool *ret_expired)
{
    struct early_call *x = c->run->early->first;
    struct waker waker;
    struct err *e;

    while (x->call.index != c->index)
        x = x->next;
    x->is_used = true;
    *ret_expired = false;
    waker_init(&waker);
    x->waiting = &waker;
    e = task_yield(); /* what is ready begins first, as beside calls that are not early */
    while (!x->is_over && !e)
        e = waker_park(&waker);
    x->waiting = NULL;
    if (e)
        return e;
    c->not_begun = TAKE(x->call.not_begun);
    tool_result_done(&c->result);
    c->result = x->call.result;
    tool_result_init(&x->call.result);
    c->was_executed = x->call.was_executed;
    *ret_expired = x->is_expired;
    return TAKE(x->failure);
}
