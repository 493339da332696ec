/* batch.c - the tool calls of one answer: in order where that matters, reported in order.
 *
 * Calls that change nothing run side by side, within the run's bound. One that may change something
 * runs alone: it waits for those before it, and those after it wait for it. A call is judged when
 * its turn has come, so the verdict is about what the calls before it have left: the working
 * directory, files, links.
 *
 * Every call gets exactly one result, also when it was denied, unknown, interrupted or not run at
 * all. Only one that waits for an answer from outside stays open, and holds those after it: they
 * are judged, so that all questions are asked at once, but none of them runs. The run that brings
 * the answer judges them again. */
#include "engine/open_calls.h"
#include "engine/run_state.h"

struct batch {
    struct run *run;
    const struct message *answer;
    char id[UUID_TEXT_SIZE];
    struct call *calls;
    size_t n;
    bool is_held; /* a call waits for an answer: none after it begins */
};

/* --- which calls --- */

static void collect(struct batch *b)
{
    AUTO(arena) struct arena scratch = {0};
    struct open_call *open;

    b->n = open_calls_of(&b->run->conversation->history, b->answer, &scratch, &open);
    b->calls = b->n ? mem_alloc(b->n * sizeof *b->calls) : NULL;
    for (size_t i = 0; i < b->n; i++)
        call_init(&b->calls[i], b->run, str_of(b->id), open[i].index, open[i].part);
}

/* --- running --- */

static void emit_batch(struct batch *b)
{
    struct event e = {.body.batch = {.id = str_of(b->id),
                                     .mode = "parallel",
                                     .max_concurrency = b->run->kit->max_concurrency,
                                     .message = b->answer,
                                     .n_requests = b->n}};

    run_emit(b->run, EVENT_BATCH_BEGIN, &e);
}

/* Only what is known to change nothing runs beside another call. */
static bool runs_alone(const struct call *c)
{
    enum risk risk = c->verdict.risk.risk;

    return c->verdict.entry->tool->is_barrier || (risk != RISK_INSPECT && risk != RISK_NETWORK);
}

/* Judges the calls from `from` on, up to one that runs alone; returns the index after it. */
static struct err *prepare(struct batch *b, size_t from, size_t *ret_to)
{
    struct call *c;
    size_t i = from;

    do {
        c = &b->calls[i++];
        TRY(task_check()); /* no person is asked, and no hook, once the run is interrupted */
        TRY(call_prepare(c, b->is_held));
        b->is_held |= c->is_suspended;
    } while (i < b->n && !(c->is_ready && runs_alone(c)));
    *ret_to = i;
    return NULL;
}

/* Each call puts what happens into its result. */
static void run_together(struct batch *b, size_t from, size_t to)
{
    struct group g;

    group_begin(&g, b->run->kit->max_concurrency, GROUP_KEEP_GOING);
    for (size_t i = from; i < to; i++)
        if (b->calls[i].is_ready)
            group_spawn(&g, b->calls[i].verdict.entry->tool->name, call_run, &b->calls[i]);
    err_ignore(group_end(&g), "every call has put what happened into its result");
    for (size_t i = from; i < to; i++)
        b->is_held |= b->calls[i].is_suspended;
}

/* The error with which a call ends the run, or NULL. */
static struct err *take_end(struct batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->calls[i].ends_run)
            return TAKE(b->calls[i].ends_run);
    return NULL;
}

/* Of the calls that were judged only the last one may have to run alone. */
static struct err *run_in_order(struct batch *b)
{
    for (size_t from = 0, to; from < b->n && !b->run->is_ended; from = to) {
        struct call *last;

        TRY(prepare(b, from, &to));
        last = &b->calls[to - 1];
        if (!last->is_ready || !runs_alone(last)) {
            run_together(b, from, to);
            continue;
        }
        run_together(b, from, to - 1);
        if (b->is_held)
            call_hold(last);
        run_together(b, to - 1, to);
    }
    return take_end(b);
}

/* --- reporting --- */

static struct message *result_message(struct call *c)
{
    struct message *m = run_new_message(c->run, ROLE_TOOL);
    struct part result = call_result_part(c);

    message_add(m, &result);
    return m;
}

static void account(struct call *c, const struct event_tool *t)
{
    struct arena *a = &c->run->result->arena;
    struct accounting_entry *x = run_account(c->run);

    x->type = ACCOUNT_TOOL;
    x->is_ok = t->is_ok;
    x->duration_ms = t->duration_ms;
    x->server = t->server.n ? arena_str(a, t->server) : S(ACCOUNT_OWN_SERVER);
    x->command = arena_str(a, t->name);
    x->n_chars_in = t->n_chars_in;
    x->n_chars_out = t->n_chars_out;
    x->error = arena_str(a, json_has(t->metadata, TOOL_BUDGET_CODE) ? S(CONTEXT_BUDGET_EXCEEDED)
                                                                    : str_of(t->error_code));
    x->details = t->metadata ? json_copy(a, t->metadata) : NULL;
}

/* Only for keel's own tools: others may have anything in their details. */
static void note_answer(struct call *c)
{
    const struct tool_entry *e = c->verdict.entry;

    if (e && e->tool->gives_answer && json_has(c->result.details, TOOL_ANSWER))
        c->run->call_answer =
            arena_str(&c->run->arena, json_get_text(c->result.details, TOOL_ANSWER));
}

static void report_call(struct call *c, struct result_budget *budget)
{
    AUTO(message) struct message *m = NULL;
    struct event e;

    call_hide_secrets(c); /* hooks may have added some since it ended */
    note_answer(c);
    fit_result(c, budget);
    m = result_message(c);
    e = (struct event){.owner = &c->owner, .body.tool = call_event(c)};
    e.body.tool.result = &m->parts[0];
    account(c, &e.body.tool);
    c->run->result->n_tools_executed += c->was_executed;
    run_emit(c->run, EVENT_TOOL_RESULT, &e);
    plugins_after_tool(c->run, &e.body.tool);
    run_append(c->run, m);
    e.body.tool.message = m;
    run_emit(c->run, EVENT_TOOL_COMMITTED, &e);
}

/* Does a call of its child run wait, rather than the call itself? */
static bool is_of_child(const struct call *c)
{
    return c->result.is_pending && c->n_children && c->result.ask.call_id.n;
}

static void suspend_for_call(struct call *c)
{
    struct run_result *x = c->run->result;
    struct ask *asks = ARENA_ARRAY(&x->arena, x->n_asks + 1, struct ask);
    struct ask ask = hide_in_ask(c->run->secrets, &c->arena,
                                 c->result.is_pending ? &c->result.ask : &c->verdict.ask);

    if (x->n_asks)
        memcpy(asks, x->asks, x->n_asks * sizeof *asks);
    asks[x->n_asks++] = (struct ask){
        .kind = ask.kind,
        .call_id = arena_str(&x->arena, is_of_child(c) ? c->result.ask.call_id : c->part->id),
        .tool = arena_str(&x->arena, is_of_child(c) ? c->result.ask.tool : c->part->name),
        .args = ask.args ? json_copy(&x->arena, ask.args) : NULL,
        .text = arena_str(&x->arena, ask.text)};
    x->asks = asks;
}

static void report_all(struct batch *b)
{
    struct result_budget budget = fit_budget(b->run, b->calls, b->n);

    for (size_t i = 0; i < b->n; i++)
        if (b->calls[i].is_suspended)
            suspend_for_call(&b->calls[i]);
        else if (!b->calls[i].is_held)
            report_call(&b->calls[i], &budget);
}

/* --- guards --- */

static void note_unknown(struct run *r, struct str name)
{
    for (size_t i = 0; i < r->n_unknown_names; i++)
        if (str_eq(r->unknown_names[i], name))
            return;
    r->unknown_names = arena_grow(&r->arena, r->unknown_names, r->n_unknown_names,
                                  &r->unknown_names_room, sizeof *r->unknown_names);
    r->unknown_names[r->n_unknown_names++] = arena_str(&r->arena, name);
}

/* Calling unknown tools in two rounds in a row takes all tools away. */
static void watch_unknown(struct batch *b)
{
    struct run *r = b->run;
    bool before = r->called_unknown;

    r->called_unknown = false;
    if (!before)
        r->n_unknown_names = 0;
    for (size_t i = 0; i < b->n; i++)
        if (b->calls[i].verdict.kind == VERDICT_UNKNOWN_TOOL) {
            r->called_unknown = true;
            note_unknown(r, b->calls[i].part->name);
        }
    if (before && r->called_unknown && !r->policy->unknown_is_correction)
        r->must_finish = FINAL_UNKNOWN_TOOLS;
}

/* --- all of it --- */

static void batch_begin(struct batch *b)
{
    run_new_id(b->run, b->id);
    collect(b);
    if (b->n)
        emit_batch(b);
}

/* An interrupt that comes while the requests are emitted counts for the results. */
static void skip_all(struct batch *b)
{
    AUTO(err) struct err *interrupted = NULL;

    for (size_t i = 0; i < b->n; i++)
        call_request(&b->calls[i]);
    interrupted = task_check();
    for (size_t i = 0; i < b->n; i++)
        call_skip(&b->calls[i], interrupted != NULL);
}

static void batch_end(struct batch *b)
{
    report_all(b);
    watch_unknown(b);
    for (size_t i = 0; i < b->n; i++)
        call_done(&b->calls[i]);
    mem_free(b->calls);
}

struct err *batch_run(struct run *r, const struct message *answer)
{
    struct batch b = {.run = r, .answer = answer};
    struct err *e;

    batch_begin(&b);
    early_accept(r, answer);
    if (b.n == 0)
        return NULL;
    e = run_in_order(&b);
    if (!e)
        e = task_check();
    if (e)
        skip_all(&b);
    batch_end(&b);
    return e;
}

void batch_close(struct run *r)
{
    struct batch b = {.run = r, .answer = open_calls_find(&r->conversation->history)};

    if (!b.answer)
        return;
    batch_begin(&b);
    skip_all(&b);
    batch_end(&b);
}
