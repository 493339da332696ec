/* ask.c - one answer of the model: targets and attempts, one after the other; what came is
 * committed.
 *
 * The reply is the pending answer. Whatever ends the asking (the answer's end, an abort, an error)
 * there is one way from it into the history. */
#include "engine/ask_state.h"

#include "sys/loop.h"

#include <inttypes.h>

/* Of a window: what an estimate may be wrong by, and what an answer always gets. */
#define ROOM_MARGIN_PART 100
#define ROOM_LEAST_PART 20

/* --- one attempt --- */

static struct event attempt_event(const struct ask_state *a, const struct attempt *attempt)
{
    return (struct event){.body.attempt = {
                              .provider = attempt->target->provider->id,
                              .model = attempt->target->model,
                              .max_attempts = attempt->max_at_target,
                              .at_target = attempt->at_target,
                              .is_retry = attempt->number > 1,
                              .is_final_turn = a->final != NULL,
                              .is_aside = a->aside != NULL,
                              .call_id = a->aside ? a->aside->call_id : (struct str){0},
                              .forced = a->final ? a->final->reason : FINAL_NONE,
                              .cost_microcents = -1,
                          }};
}

static void suspend_for_budget(struct ask_state *a, const struct ask *ask)
{
    struct run_result *x = a->run->result;
    struct event e = {0};

    x->asks = ARENA_NEW(&x->arena, struct ask);
    *x->asks = (struct ask){.kind = ASK_BUDGET, .text = arena_str(&x->arena, ask->text)};
    x->n_asks = 1;
    e.body.ask.ask = x->asks;
    run_emit(a->run, EVENT_ASKED, &e);
}

static struct err *ask_budget(struct ask_state *a, const struct attempt *attempt)
{
    const struct budget_keeper *budget = &a->run->keeper->budget;
    struct budget_word word = {0};
    struct err *e;

    if (!budget->reserve)
        return NULL;
    e = budget->reserve(budget->self, attempt, &a->reserved, &word);
    if (word.warning.n)
        run_notice(a->run, SEVERITY_WARNING, "budget", word.warning);
    if (e && word.ask.text.n && !a->aside) /* an aside is only left undone */
        suspend_for_budget(a, &word.ask);
    return e;
}

/* Servers that count the longest answer as part of the prompt are asked for no more than the rest
 * of the window, and for at least a twentieth of it. */
static void leave_room(struct ask_state *a, const struct target *t)
{
    struct provider_capabilities can = provider_capabilities(t->provider, t->info);
    bool is_cut = a->aside && a->aside->cut;
    int64_t window = target_window(t), left;

    if (!can.form || !can.form->counts_answer || a->request.max_output <= 0)
        return;
    left = window - window / ROOM_MARGIN_PART -
           (is_cut ? reservation_of(&a->request, &t->price, 0).input : a->prompt_tokens);
    left = MAX(left, window / ROOM_LEAST_PART);
    if (!a->reserved.max_output || left < a->reserved.max_output)
        a->reserved.max_output = left;
}

/* How safe the records of a request are when it is sent. The prompt is durable. After that the disk
 * works while the model does: what an answer asks for begins only after a later commit to the same
 * journal. A limit must hold over a loss of power. */
static enum recorder_safety safety_of(const struct ask_state *a)
{
    return a->run->place.round <= 1 || a->run->keeper->budget.is_limited ? RECORDER_DURABLE
                                                                         : RECORDER_FLUSHED;
}

/* May the attempt be made? An error (budget_exceeded, ...) ends the asking with it. */
static struct err *reserve_attempt(struct ask_state *a, const struct attempt *attempt)
{
    struct event e = attempt_event(a, attempt);
    const struct str *overlay = ask_overlay(a);
    struct event request = {.body.request = {.request = &a->request,
                                             .overlays = overlay,
                                             .n_overlays = overlay ? 1 : 0,
                                             .cut = a->aside ? a->aside->cut : NULL,
                                             .tools_version = a->run->tools->version}};

    a->run->place.attempt = attempt->number;
    a->was_sent = false;
    a->reserved = reservation_of(&a->request, &attempt->target->price, a->prompt_tokens);
    TRY(ask_budget(a, attempt));
    leave_room(a, attempt->target);
    reservation_limit(&a->reserved, &a->request);
    a->n_deltas = 0;
    e.body.attempt.price = &attempt->target->price;
    e.body.attempt.reserved = a->reserved;
    e.body.attempt.window = target_window(attempt->target);
    e.body.attempt.retry_slugs = a->slugs;
    e.body.attempt.n_retry_slugs = a->n_slugs;
    run_emit(a->run, EVENT_ATTEMPT_BEGIN, &e);
    run_emit(a->run, EVENT_PROVIDER_REQUEST, &request);
    if (!a->aside && !a->final)
        early_begin(a->run);
    run_hurry(a->run, safety_of(a)); /* while the request is written */
    return NULL;
}

struct sending {
    struct ask_state *ask;
    bool was_refused;
};

/* Called when the request is written, so that the wait costs no time. After a crash, another
 * process may send again what was sent; and what is reserved for it counts, whatever
 * happens to this one. */
static struct err *ask_before_send(void *self)
{
    struct sending *s = self;
    struct err *e = run_wait(s->ask->run, safety_of(s->ask));

    s->was_refused = e != NULL;
    return e;
}

/* *ret_refused: the run itself refused it, so no other target may be asked either. */
static struct err *send_request(struct ask_state *a, const struct target *t, bool *ret_refused)
{
    struct sending sending = {.ask = a};
    struct provider_call call = a->run->kit->call;
    struct err *e;

    call.on_native_payload = ask_on_native_payload;
    call.self = a;
    call.before_send = ask_before_send;
    call.send_self = &sending;
    call.idle_ms = t->idle_ms ? t->idle_ms : call.idle_ms;
    call.total_ms = t->total_ms ? t->total_ms : call.total_ms;
    reply_clear(&a->reply);
    e = provider_ask(t->provider, &a->request, &call, &a->reply);
    *ret_refused = sending.was_refused;
    secrets_hide_in_err(a->run->secrets, e);
    return e;
}

/* 0: it would not be tried again. */
static uint64_t delay_after(const struct ask_state *a, const struct err *e)
{
    const struct run_kit *kit = a->run->kit;

    if (!chain_retries(e))
        return 0;
    return chain_delay_ms(&a->walk, e, kit->known_delay ? kit->known_delay(kit->delay_self) : -1);
}

/* Completes what the provider counted. The model that answered may differ from the one that was
 * asked: an alias, a snapshot, a gateway's choice. */
static void settle_usage(struct reply *r, const struct target *t)
{
    if (r->model.n && r->usage.routed_model.n == 0 && !str_eq(r->model, t->model))
        r->usage.routed_model = r->model;
    usage_settle(&r->usage, t->info && t->info->context_window ? t->info->context_window : 0);
    usage_doubt_zeros(&r->usage, r->is_complete && r->n_bytes);
}

static void settle_attempt(struct ask_state *a, const struct attempt *attempt)
{
    struct run *r = a->run;
    const struct usage *usage = &attempt->reply->usage;
    struct event reply = {
        .body.reply = {.reply = attempt->reply, .kind = "provider-normalized-message"}};
    struct event e = attempt_event(a, attempt);
    struct settlement settled = reservation_settle(&a->reserved, attempt, a->was_sent);
    bool is_aborted = err_is(attempt->error, ERR_CANCELLED);

    ask_end_deltas(a);
    if (attempt->error && !a->aside && !a->final)
        early_end(r, attempt->error->kind);
    if (is_aborted)
        reply_abort(&a->reply);
    a->found = 0;
    hide_in_reply(r->secrets, &a->reply, &a->found);
    if (!attempt->error || is_aborted || attempt->reply->n_parts)
        run_emit(r, EVENT_RESPONSE_RAW, &reply);
    account_attempt(r, attempt, &settled);
    if (r->keeper->budget.settle)
        r->keeper->budget.settle(r->keeper->budget.self, attempt, &settled);
    e.body.attempt.error = attempt->error;
    e.body.attempt.usage = usage;
    e.body.attempt.assumed = settled.is_estimated ? &settled.usage : NULL;
    e.body.attempt.assumed_microcents = settled.microcents;
    e.body.attempt.cost_microcents = attempt->cost_microcents;
    e.body.attempt.total_microcents = r->total_microcents;
    e.body.attempt.duration_ms = attempt->duration_ms;
    e.body.attempt.delay_ms = attempt->delay_ms;
    e.body.attempt.http_status = attempt->reply->http_status;
    e.body.attempt.request_id = attempt->reply->request_id;
    run_emit(r, EVENT_ATTEMPT_END, &e);
    if (attempt->error && a->n_slugs < ARRAY_LEN(a->slugs))
        a->slugs[a->n_slugs++] = err_code(attempt->error->kind);
}

/* One request to one target: built, reserved, sent, settled. */
static struct err *make_attempt(struct ask_state *a, struct attempt *attempt, bool *ret_refused)
{
    uint64_t started_ms = loop_now_ms(task_loop());
    struct err *e;

    ask_build(a, attempt->target);
    e = reserve_attempt(a, attempt);
    *ret_refused = e != NULL;
    if (e)
        return e;
    e = send_request(a, attempt->target, ret_refused);
    settle_usage(&a->reply, attempt->target);
    attempt->reply = &a->reply;
    attempt->error = e;
    attempt->cost_microcents = usage_cost_microcents(&a->reply.usage, &attempt->target->price);
    attempt->duration_ms = loop_now_ms(task_loop()) - started_ms;
    attempt->delay_ms = delay_after(a, e);
    settle_attempt(a, attempt);
    return e;
}

/* --- the chain --- */

/* True: the next request is built without what may be wrong with this one, so the same target is
 * asked again at once. `is_last`: by itself the chain asks it no more. */
static bool repair(struct ask_state *a, const struct target *t, const struct err *why, bool is_last)
{
    return ask_without_thoughts(a->run, t->provider->id, why) ||
           refused_media_leave_out(a->run, &a->built, t->provider->id, why, &a->refusals) ||
           refused_media_try_without(a->run, &a->built, t, why, is_last, &a->refusals);
}

static bool has_shown_text(const struct reply *r)
{
    for (size_t i = 0; i < r->n_parts; i++)
        if (r->parts[i].part.kind == PART_TEXT && r->parts[i].text.n)
            return true;
    return false;
}

/* An answer whose text was shown cannot be replaced, unless the reader lets it be dropped. */
static bool may_drop_text(struct ask_state *a)
{
    const struct run_input *input = a->run->input;
    struct event e = {0};

    if (!has_shown_text(&a->reply))
        return true;
    if (a->aside || !input->drop_text || !input->drop_text(input->drop_self))
        return false;
    run_emit(a->run, EVENT_TEXT_DROPPED, &e);
    return true;
}

static struct err *wait_to_retry(struct ask_state *a, const struct attempt *attempt)
{
    struct event e = attempt_event(a, attempt);

    e.body.attempt.error = attempt->error;
    e.body.attempt.delay_ms = attempt->delay_ms;
    run_emit(a->run, EVENT_RETRY, &e);
    reply_clear(&a->reply); /* what that attempt left is not the answer */
    a->walk.waited_ms += attempt->delay_ms;
    return task_sleep(attempt->delay_ms);
}

/* Attempts at one target until it answers or no more are worth it; *ret_moves: the next target may
 * do better. */
static struct err *ask_target(struct ask_state *a, bool *ret_moves)
{
    *ret_moves = false;
    for (;;) {
        struct attempt attempt = chain_attempt(&a->walk);
        bool was_refused;
        AUTO(err) struct err *e = make_attempt(a, &attempt, &was_refused);
        uint64_t now_ms = loop_now_ms(task_loop());
        enum chain_next next = chain_next(&a->walk, e, attempt.delay_ms, now_ms);

        if (!e || was_refused || err_is(e, ERR_CANCELLED))
            return TAKE(e);
        if (!has_shown_text(&a->reply) &&
            repair(a, attempt.target, e, /* is_last= */ next != CHAIN_RETRY)) {
            chain_forgive(&a->walk);
            continue;
        }
        if (next == CHAIN_END)
            return TAKE(e);
        chain_note(&a->walk, e, now_ms);
        if (!may_drop_text(a))
            return TAKE(e);
        *ret_moves = next != CHAIN_RETRY;
        if (next != CHAIN_RETRY)
            return chain_explain(&a->walk, TAKE(e), next, attempt.delay_ms);
        TRY(wait_to_retry(a, &attempt));
    }
}

static void fall_back(struct ask_state *a, const struct target *from, const struct err *why)
{
    const struct target *to = chain_target(&a->walk);
    struct event e = {.body.attempt = {.provider = from->provider->id,
                                       .model = from->model,
                                       .error = why,
                                       .cost_microcents = -1,
                                       .next_provider = to->provider->id,
                                       .next_model = to->model}};

    run_emit(a->run, EVENT_FALLBACK, &e);
    refusals_drop(&a->refusals);
    reply_clear(&a->reply);
}

/* Targets whose window is too small. Of a question aside the asker knows how long it is. */
static uint32_t find_unfit(const struct ask_state *a)
{
    const struct chain *c = &a->run->chain;
    uint32_t unfit = 0;

    for (size_t i = 0; i < c->n_targets && !a->aside; i++)
        if (!run_fits(a->run, &c->targets[i], a->prompt_tokens))
            unfit |= 1u << i;
    return unfit;
}

/* Reports once a run that a model whose turn it was is not asked, and why. */
static void report_unfit(struct ask_state *a, size_t first, size_t end)
{
    struct run *r = a->run;

    for (size_t i = first; i < end; i++) {
        const struct target *t = &r->chain.targets[i];
        AUTO(strbuf) struct strbuf text = {0};

        if (!(a->walk.unfit & ~r->told_unfit & 1u << i))
            continue;
        r->told_unfit |= 1u << i;
        strbuf_addf(&text,
                    "%" STR_FMT "/%" STR_FMT " is not asked: its context window of %" PRId64
                    " tokens is too small for this conversation (about %" PRId64 " tokens)",
                    STR_ARG(t->provider->id), STR_ARG(t->model), target_window(t),
                    a->prompt_tokens);
        run_notice(r, SEVERITY_WARNING, "fallback", strbuf_str(&text));
    }
}

/* Target after target until one answers or the failure is final. The reply holds the answer, or
 * what had come when the last attempt failed. */
static struct err *ask_chain(struct ask_state *a)
{
    chain_begin(&a->walk, &a->run->chain, find_unfit(a), loop_now_ms(task_loop()));
    report_unfit(a, 0, a->walk.index);
    for (;;) {
        const struct target *asked = chain_target(&a->walk);
        size_t next = a->walk.index + 1;
        bool moves, has_moved;
        AUTO(err) struct err *e = ask_target(a, &moves);

        if (!moves)
            return TAKE(e);
        has_moved = chain_move(&a->walk, loop_now_ms(task_loop()));
        report_unfit(a, next, has_moved ? a->walk.index : a->run->chain.n_targets);
        if (!has_moved)
            return TAKE(e);
        fall_back(a, asked, e);
    }
}

/* --- into the history --- */

/* A last turn has no tools: calls are removed, the text stays. */
static struct message *without_calls(struct run *r, const struct message *m)
{
    struct message *copy = run_new_message(r, m->role);

    copy->state = m->state;
    message_set_origin(copy, m->origin);
    message_set_usage(copy, &m->usage);
    copy->stop_reason = arena_str(&copy->arena, m->stop_reason);
    copy->stop = m->stop;
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind != PART_TOOL_CALL)
            message_add(copy, &m->parts[i]);
    return copy;
}

static enum message_state state_after(const struct err *e)
{
    if (!e)
        return MESSAGE_COMPLETE;
    return err_is(e, ERR_CANCELLED) ? MESSAGE_INTERRUPTED : MESSAGE_BROKEN;
}

/* What came, as a message. An abort leaves one too, even an empty one; another failure only if
 * something came, else it is NULL. */
static struct message *make_message(struct ask_state *a, const struct target *t,
                                    const struct err *e)
{
    struct run *r = a->run;
    struct origin origin = {t->provider->id, t->provider->protocol, t->model,
                            str_of(a->built.bound)};
    struct event accepted = {.body.message.is_aside = a->aside != NULL};
    char id[UUID_TEXT_SIZE];
    AUTO(message) struct message *m = NULL;

    if (err_is(e, ERR_CANCELLED))
        reply_abort(&a->reply); /* it may have been between two attempts */
    else if (e && a->reply.n_parts == 0)
        return NULL;
    m = reply_to_message(&a->reply, run_new_id(r, id), state_after(e), origin);
    if (a->final && !a->run->policy->final_tool) {
        struct message *text_only = without_calls(r, m);

        message_unref(m);
        m = text_only;
    }
    run_report_hidden(r, a->found, S("the model's answer"));
    accepted.body.message.message = m;
    accepted.body.message.n_tool_calls = message_n_calls(m);
    run_emit(r, EVENT_RESPONSE_NORMALIZED, &accepted);
    return TAKE(m);
}

/* A provider that withholds its answer without an error has not answered, and one that stops
 * because the window is full has not answered all of it. */
static struct err *check_stop(const struct reply *reply)
{
    struct str why = reply->stop_detail.n ? reply->stop_detail : reply->stop_reason;

    if (reply->stop == STOP_OVERFLOW)
        return err_hint(
            err_new(ERR_CONTEXT_OVERFLOW,
                    "the context window filled up before the answer was complete (%" STR_FMT ")",
                    STR_ARG(reply->stop_reason)),
            "run keel session compact to make room");
    if (reply->stop != STOP_FILTERED || reply->n_parts)
        return NULL;
    return err_hint(err_new(ERR_CONTENT_FILTER, "the provider withheld the answer%s%" STR_FMT "%s",
                            why.n ? " (" : "", STR_ARG(why), why.n ? ")" : ""),
                    "rephrase the prompt, or use another model with --model");
}

static struct err *ask(struct ask_state *a, struct message **ret_message)
{
    struct run *r = a->run;
    struct err *e;

    r->place.attempt = 1;
    e = refusals_end(r, &a->refusals, ask_chain(a));
    if (!e)
        e = check_stop(&a->reply);
    r->place.attempt = 0;
    *ret_message = make_message(a, chain_target(&a->walk), e);
    return e;
}

static void ask_state_done(struct ask_state *a)
{
    reply_done(&a->reply);
    strbuf_done(&a->shown_text);
    arena_done(&a->arena);
    built_messages_done(&a->built);
}

struct err *ask_model(struct run *r, const struct final_turn *final,
                      const struct message **ret_message)
{
    struct ask_state a = {.run = r,
                          .final = final,
                          .prompt_tokens = run_estimate(r).used,
                          .shown = {.set = r->secrets}};
    AUTO(message) struct message *m = NULL;
    struct err *e;

    reply_init(&a.reply, ask_sink(&a));
    ask_separate(&a);
    e = ask(&a, &m);
    r->stop = a.reply.stop;
    r->stop_detail = arena_str(&r->result->arena, a.reply.stop_detail);
    if (m) {
        run_append(r, m);
        run_emit_message(r, EVENT_ASSISTANT_COMMITTED, m);
        r->result->stop_reason = arena_str(&r->result->arena, m->stop_reason);
    }
    *ret_message = m; /* the history has it */
    ask_state_done(&a);
    return e;
}

/* --- aside --- */

struct err *run_ask_aside(struct run *r, const struct aside *aside, struct message **ret_answer)
{
    bool is_about_history = !aside->cut || !aside->cut->has_nothing;
    struct ask_state a = {
        .run = r, .aside = aside, .prompt_tokens = is_about_history ? run_estimate(r).used : 0};
    AUTO(message) struct message *m = NULL;
    struct err *e;

    reply_init(&a.reply, (struct delta_sink){0}); /* no one reads along */
    e = ask(&a, &m);
    if (!e)
        *ret_answer = TAKE(m);
    ask_state_done(&a);
    return e;
}
