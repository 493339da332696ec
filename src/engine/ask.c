/* ask.c - one answer of the model: request built, chain asked, what came committed.
 *
 * The reply is the pending answer. Whatever ends the asking (the answer's end, an abort, an error)
 * there is one way from it into the history. */
#include "engine/hidden_thoughts.h"
#include "engine/refused_media.h"
#include "engine/run_state.h"
#include "engine/shorten.h"

#include "sys/loop.h"

#define ROUND_SEPARATOR "\n\n"
/* Of a window: what an estimate may be wrong by, and what an answer always gets. */
#define ROOM_MARGIN_PART 100
#define ROOM_LEAST_PART 20

struct ask_state {
    struct run *run;
    const struct final_turn *final; /* NULL: an ordinary round */
    const struct aside *aside;      /* NULL: it belongs to the conversation */
    struct reply reply;
    struct built_messages built;
    struct arena arena; /* emptied with each attempt */
    const struct tool_def **tools;
    size_t n_tools;
    uint64_t n_deltas;
    const char *slugs[CHAIN_MAX_TARGETS * 8]; /* codes of the attempts that failed */
    size_t n_slugs;
    int64_t prompt_tokens; /* of the conversation, as the ledger has them */
    struct refusals refusals;
    /* of the attempt under way */
    struct model_request *request;
    struct reservation reserved;
    bool was_sent;
    /* deltas without credentials: what was held back is of this part and kind */
    struct secrets_stream shown;
    struct strbuf shown_text;
    size_t shown_part;
    enum delta_kind shown_kind;
    uint64_t found; /* in the last attempt's answer */
};

/* --- the window --- */

int64_t target_window(const struct target *t)
{
    if (t->window)
        return t->window;
    return t->info && t->info->context_window ? model_max_prompt(t->info)
                                              : MODEL_DEFAULT_CONTEXT_WINDOW;
}

struct token_estimate run_estimate(struct run *r)
{
    return ledger_estimate_history(&r->conversation->history, r->head_tokens,
                                   r->options->context_floor);
}

int64_t run_head_tokens(const struct run *r)
{
    return r->head_tokens;
}

bool run_fits(const struct run *r, const struct target *t, int64_t n_tokens)
{
    return !ledger_is_over(n_tokens, target_window(t), LEDGER_GUARD_PER_MILLE);
}

/* 0: its size is not known, and a server that must make room for it decides. */
static int64_t known_window(const struct target *t)
{
    int64_t window = target_window(t);

    return window == MODEL_DEFAULT_CONTEXT_WINDOW ? 0 : window;
}

struct token_estimate run_context(struct run *r, int64_t *ret_window)
{
    *ret_window = target_window(&r->plan->targets[0]);
    return run_estimate(r);
}

int run_compact_per_mille(const struct run *r)
{
    return r->plan->targets[0].compact_per_mille;
}

void run_emit_context(struct run *r)
{
    struct token_estimate estimate = run_estimate(r);
    struct event e = {.body.context = {.used = estimate.used,
                                       .window = target_window(&r->plan->targets[0]),
                                       .serialized = estimate.serialized,
                                       .counted = estimate.counted,
                                       .is_exact = estimate.is_exact}};

    run_emit(r, EVENT_CONTEXT, &e);
}

/* --- the request --- */

/* Does the request begin as all requests of the session do? Providers keep that beginning, and some
 * check it: it is the same in a last turn and where a summary is asked for. */
static bool begins_as_session(const struct ask_state *a)
{
    return !a->aside || a->aside->system.n == 0;
}

static void choose_tools(struct ask_state *a)
{
    const struct tool_set *set = a->run->tools;

    a->n_tools = 0;
    if (!begins_as_session(a))
        return;
    a->tools = ARENA_ARRAY(&a->arena, set->n, const struct tool_def *);
    for (size_t i = 0; i < set->n; i++)
        a->tools[a->n_tools++] = &set->entries[i].def;
}

/* What the model may call: none of them aside, and in a last turn the one that is left. */
static struct tool_choice choose_calls(const struct ask_state *a)
{
    const char *last = a->final ? a->run->policy->final_tool : NULL;

    if (a->n_tools == 0 || (!a->final && !a->aside))
        return (struct tool_choice){0};
    if (last && tool_set_find(a->run->tools, str_of(last)))
        return (struct tool_choice){.kind = TOOL_CHOICE_NAMED, .name = str_of(last)};
    return (struct tool_choice){.kind = TOOL_CHOICE_NONE};
}

/* A provider's own tools obey the filter of ours. */
static bool may_use_native(const struct ask_state *a, struct str name)
{
    return begins_as_session(a) && tool_filter_has(&a->run->plan->filter, name);
}

/* Aside it is there for the tool that asks with it, and is all that is there. */
static bool wants_search(const struct ask_state *a)
{
    if (!begins_as_session(a))
        return a->aside->searches_web;
    return a->run->plan->web_search && may_use_native(a, S(TOOL_WEB_SEARCH));
}

static struct str join_system(struct ask_state *a)
{
    struct str authored = begins_as_session(a) ? a->run->plan->system : a->aside->system;
    struct str told = a->built.system;

    if (told.n == 0 || authored.n == 0 || !begins_as_session(a))
        return authored.n ? authored : told;
    return arena_format(&a->arena, "%" STR_FMT "\n\n%" STR_FMT, STR_ARG(authored), STR_ARG(told));
}

/* What stands at the end of this request only, or NULL. */
static const struct str *find_overlay(const struct ask_state *a)
{
    if (a->aside)
        return &a->aside->instruction;
    return a->final ? &a->final->instruction : NULL;
}

/* Is all of the conversation in the request, behind the beginning that all its requests have? Then
 * it goes on from what was made for the last one. */
static bool continues_last(const struct ask_state *a)
{
    return begins_as_session(a) && !(a->aside && a->aside->cut);
}

static void build_messages(struct ask_state *a, const struct target *t)
{
    struct provider_capabilities can = provider_capabilities(t->provider, t->info);
    struct request_target target = {
        .provider = t->provider->id,
        .protocol = t->provider->protocol,
        .info = t->info,
        .form = can.form,
        .takes_file_urls = can.takes_file_urls,
        .refused = refusals_state(&a->refusals, a->run->conversation->tools),
        .model = t->model,
        .authored = begins_as_session(a) ? a->run->plan->system : a->aside->system,
        .tools = a->tools,
        .n_tools = a->n_tools};
    const struct str *overlay = find_overlay(a);
    AUTO(shortened) struct shortened shortened = {0};
    size_t n;
    const struct message *const *messages = history_messages(&a->run->conversation->history, &n);

    if (a->aside && a->aside->cut) {
        shorten(messages, n, a->aside->cut, &shortened);
        messages = (const struct message *const *)shortened.items;
        n = shortened.n;
    }
    request_build_on(continues_last(a) ? a->run->conversation->built : NULL, messages, n, &target,
                     overlay, overlay ? 1 : 0, &a->built);
}

static struct err *build(void *self, const struct target *t, struct model_request *ret_request)
{
    struct ask_state *a = self;
    const struct run_plan *plan = a->run->plan;

    built_messages_done(&a->built);
    arena_clear(&a->arena);
    choose_tools(a);
    build_messages(a, t);
    *ret_request = (struct model_request){
        .provider = t->provider->id,
        .protocol = t->provider->protocol,
        .model = t->model,
        .system = hide_in_str(a->run->secrets, &a->arena, join_system(a), NULL),
        .messages = (const struct message *const *)a->built.items,
        .n_messages = a->built.n,
        .tools = a->tools,
        .n_tools = a->n_tools,
        .tool_choice = choose_calls(a),
        .sampling = plan->sampling,
        .effort = plan->effort,
        .reasoning_budget = plan->reasoning_budget,
        .no_thoughts = hidden_thoughts_are(a->run->conversation->tools, t->provider->id),
        .max_output = t->max_output,
        .context_window = known_window(t),
        .output_schema = a->aside ? NULL : a->run->options->output_schema,
        .stream = plan->stream,
        .web_search = wants_search(a),
        .web_fetch = plan->web_fetch && may_use_native(a, S(TOOL_WEB_FETCH)),
        .search_allowed = a->aside ? a->aside->search_allowed : NULL,
        .search_blocked = a->aside ? a->aside->search_blocked : NULL,
        .cache = plan->cache,
        .cache_key = str_of(a->run->conversation->id),
        .options = t->options,
        .info = t->info,
        .message_tokens = a->built.tokens,
        .n_settled = a->built.n_settled,
        .last_user = a->built.last_user,
        .kept = continues_last(a) ? &a->run->conversation->body : NULL,
    };
    a->request = ret_request;
    return NULL;
}

/* --- what streams in --- */

static void emit_delta(struct ask_state *a, const struct delta *d, bool is_separator)
{
    struct event e = {.body.delta = {.delta = d, .is_separator = is_separator}};

    if (!is_separator) {
        e.body.delta.sequence = a->n_deltas++;
        e.body.delta.reply = &a->reply;
    }
    run_emit(a->run, EVENT_DELTA, &e);
}

static void show_delta(struct ask_state *a, const struct delta *d)
{
    emit_delta(a, d, /* is_separator= */ false);
    if (a->run->options->n_plugins)
        plugins_on_chunk(a->run, d);
}

/* Gives out what was held back: its part, or all of the answer, has ended. */
static void end_deltas(struct ask_state *a)
{
    struct delta d = {.kind = a->shown_kind, .part = a->shown_part};

    d.text = secrets_stream_end(&a->shown, &a->shown_text);
    if (d.text.n == 0)
        return;
    if (d.part < a->reply.n_parts) { /* a repeated call may be gone when the answer ends */
        d.id = a->reply.parts[d.part].part.id;
        d.name = a->reply.parts[d.part].part.name;
    }
    show_delta(a, &d);
}

/* While a model writes what to run, there is time to get ready. */
static void expect_command(const struct ask_state *a, struct str name)
{
    const struct tool_entry *entry = tool_set_find(a->run->tools, name);

    if (entry && entry->tool->begins_late)
        launcher_expect(a->run->options->launcher);
}

static void on_delta(void *self, const struct delta *d)
{
    struct ask_state *a = self;
    struct delta shown = *d;

    if (d->kind == DELTA_TOOL_BEGIN)
        expect_command(a, d->name);

    if (d->part != a->shown_part || d->kind != a->shown_kind)
        end_deltas(a);
    a->shown_part = d->part;
    a->shown_kind = d->kind;
    if (d->kind == DELTA_SERVER_TOOL) /* comes in one piece */
        shown.text = secrets_hide(a->run->secrets, d->text, &a->shown_text, NULL);
    else
        shown.text = secrets_stream_add(&a->shown, d->text, &a->shown_text);
    if (shown.text.n || d->text.n == 0)
        show_delta(a, &shown);
}

/* A part that has ended, as it will stand in the message; false: only the end of the answer tells.
 * That drops calls that repeat another. */
static bool find_whole(const struct reply *r, size_t index, struct part *ret_part)
{
    struct part p = r->parts[index].part;

    p.text = reply_part_text(r, index);
    if (p.kind == PART_TOOL_CALL) {
        struct str args = str_trim(reply_part_args(r, index));

        p.args = args.n ? args : S("{}");
        for (size_t i = 0; i < index; i++)
            if (str_eq(r->parts[i].part.id, p.id))
                return false;
        if (p.is_free_text || (args.n && !reply_has_whole_args(r, index)))
            return false;
    }
    *ret_part = p;
    return index + 1 == r->n_parts;
}

static size_t n_calls_before(const struct reply *r, size_t index)
{
    size_t n = 0;

    for (size_t i = 0; i < index; i++)
        n += r->parts[i].part.kind == PART_TOOL_CALL;
    return n;
}

static void on_close(void *self, size_t index)
{
    struct ask_state *a = self;
    struct part part, shown;
    AUTO(arena) struct arena scratch = {0};
    bool is_whole = find_whole(&a->reply, index, &part);
    bool is_call = a->reply.parts[index].part.kind == PART_TOOL_CALL;
    struct delta d = {.kind = DELTA_END, .part = index};
    struct event e = {.body.delta = {.delta = &d, .reply = &a->reply}};
    uint64_t found = 0;

    end_deltas(a);
    if (is_whole && !(is_call && a->final)) { /* a last turn may leave calls out */
        shown = part;
        hide_in_part(a->run->secrets, &scratch, &shown, &found);
        e.body.delta.part = &shown;
    }
    e.body.delta.sequence = a->n_deltas++;
    run_emit(a->run, EVENT_DELTA, &e);
    if (is_call && is_whole && !found)
        early_offer(a->run, &part, n_calls_before(&a->reply, index));
    else if (is_call)
        early_close(a->run);
}

static void on_native_payload(void *self, const struct native_payload *p)
{
    struct ask_state *a = self;
    AUTO(strbuf) struct strbuf shown = {0};
    struct native_payload payload = *p;
    struct event e = {.body.payload = &payload};

    a->was_sent |= p->kind == PAYLOAD_REQUEST; /* its bytes leave next */
    payload.bytes = secrets_hide_in_json_text(a->run->secrets, p->bytes, &shown, NULL);
    if (payload.bytes.p != p->bytes.p)
        payload.hash = NULL;
    run_emit(a->run, EVENT_NATIVE_PAYLOAD, &e);
}

/* Text of different rounds must not run together. */
static void separate(struct ask_state *a)
{
    if ((a->run->round > 1 || a->final) && !a->run->is_continuing)
        emit_delta(a, &(struct delta){.kind = DELTA_TEXT, .text = S(ROUND_SEPARATOR)},
                   /* is_separator= */ true);
}

/* --- around attempts --- */

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

static void suspend(struct ask_state *a, const struct ask *ask)
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
    const struct attempt_budget *budget = &a->run->options->budget;
    struct budget_word word = {0};
    struct err *e;

    if (!budget->reserve)
        return NULL;
    e = budget->reserve(budget->self, attempt, &a->reserved, &word);
    if (word.warning.n)
        run_notice(a->run, SEVERITY_WARNING, "budget", word.warning);
    if (e && word.ask.text.n && !a->aside) /* an aside is only left undone */
        suspend(a, &word.ask);
    return e;
}

/* Servers that count the longest answer as a part of the prompt are asked for no more than what is
 * left of the window; a twentieth of it must be. */
static void leave_room(struct ask_state *a, const struct target *t)
{
    struct provider_capabilities can = provider_capabilities(t->provider, t->info);
    bool is_cut = a->aside && a->aside->cut;
    int64_t window = target_window(t), left;

    if (!can.form || !can.form->counts_answer || a->request->max_output <= 0)
        return;
    left = window - window / ROOM_MARGIN_PART -
           (is_cut ? reservation_of(a->request, &t->price, 0).input : a->prompt_tokens);
    left = MAX(left, window / ROOM_LEAST_PART);
    if (!a->reserved.max_output || left < a->reserved.max_output)
        a->reserved.max_output = left;
}

/* Of what is recorded when the request is sent. The prompt must be durable. From then on the disk
 * works while the model does: whatever an answer asks for begins after a commit that comes later in
 * the same journal. A limit must hold over a loss of power. */
static enum recorder_safety safety_of(const struct ask_state *a)
{
    return a->run->round <= 1 || a->run->options->budget.is_limited ? RECORDER_DURABLE
                                                                    : RECORDER_FLUSHED;
}

static struct err *reserve(void *self, const struct attempt *attempt)
{
    struct ask_state *a = self;
    struct event e = attempt_event(a, attempt);
    const struct str *overlay = find_overlay(a);
    struct event request = {.body.request = {.request = a->request,
                                             .overlays = overlay,
                                             .n_overlays = overlay ? 1 : 0,
                                             .cut = a->aside ? a->aside->cut : NULL,
                                             .tools_version = a->run->tools->version}};

    a->run->attempt = attempt->number;
    a->was_sent = false;
    a->reserved = reservation_of(a->request, &attempt->target->price, a->prompt_tokens);
    TRY(ask_budget(a, attempt));
    leave_room(a, attempt->target);
    reservation_limit(&a->reserved, a->request);
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

/* What was sent, a process that resumes after a crash may send again; and what is reserved for it
 * counts, whatever happens to this process. */
static struct err *before_send(void *self)
{
    struct ask_state *a = self;

    return run_wait(a->run, safety_of(a));
}

static void settle(void *self, const struct attempt *attempt)
{
    struct ask_state *a = self;
    struct run *r = a->run;
    const struct usage *usage = &attempt->reply->usage;
    struct event reply = {
        .body.reply = {.reply = attempt->reply, .kind = "provider-normalized-message"}};
    struct event e = attempt_event(a, attempt);
    struct settlement settled = reservation_settle(&a->reserved, attempt, a->was_sent);
    bool is_aborted = err_is(attempt->error, ERR_CANCELLED);

    end_deltas(a);
    if (attempt->error && !a->aside && !a->final)
        early_end(r, attempt->error->kind);
    if (is_aborted)
        reply_abort(&a->reply);
    a->found = 0;
    hide_in_reply(r->secrets, &a->reply, &a->found);
    if (!attempt->error || is_aborted || attempt->reply->n_parts)
        run_emit(r, EVENT_RESPONSE_RAW, &reply);
    account_attempt(r, attempt, &settled);
    if (r->options->budget.settle)
        r->options->budget.settle(r->options->budget.self, attempt, &settled);
    e.body.attempt.error = attempt->error;
    e.body.attempt.usage = usage;
    e.body.attempt.assumed = settled.is_estimated ? &settled.usage : NULL;
    e.body.attempt.assumed_microcents = settled.microcents;
    e.body.attempt.cost_microcents = attempt->cost_microcents;
    e.body.attempt.total_microcents = r->total_microcents;
    e.body.attempt.duration_ms = attempt->duration_ms;
    e.body.attempt.delay_ms = attempt->delay_ms;
    run_emit(r, EVENT_ATTEMPT_END, &e);
    if (attempt->error && a->n_slugs < ARRAY_LEN(a->slugs))
        a->slugs[a->n_slugs++] = err_code(attempt->error->kind);
}

static bool ask_repair(void *self, const struct target *t, const struct err *why, bool is_last)
{
    struct ask_state *a = self;

    return hidden_thoughts_accept(a->run, t->provider->id, why) ||
           refused_media_leave_out(a->run, &a->built, t->provider->id, why, &a->refusals) ||
           refused_media_try_without(a->run, &a->built, t, why, is_last, &a->refusals);
}

static void on_retry(void *self, const struct attempt *attempt)
{
    struct ask_state *a = self;
    struct event e = attempt_event(a, attempt);

    e.body.attempt.error = attempt->error;
    e.body.attempt.delay_ms = attempt->delay_ms;
    run_emit(a->run, EVENT_RETRY, &e);
    reply_clear(&a->reply); /* that attempt is given up: what it left is not the answer */
}

static void on_fallback(void *self, const struct target *from, const struct target *to,
                        const struct err *why)
{
    struct ask_state *a = self;
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

/* Of a question aside the asker knows how long it is. */
static bool fits(void *self, const struct target *t)
{
    struct ask_state *a = self;

    return a->aside || run_fits(a->run, t, a->prompt_tokens);
}

static int64_t known_delay(void *self)
{
    const struct run_options *o = ((struct ask_state *)self)->run->options;

    return o->known_delay ? o->known_delay(o->delay_self) : -1;
}

static bool drop_text(void *self)
{
    struct ask_state *a = self;
    const struct run_options *o = a->run->options;
    struct event e = {0};

    if (a->aside || !o->drop_text || !o->drop_text(o->drop_self))
        return false;
    run_emit(a->run, EVENT_TEXT_DROPPED, &e);
    return true;
}

/* --- into the history --- */

/* A last turn has no tools: what it calls all the same is left out, its text is kept. */
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
static struct message *accept(struct ask_state *a, const struct target *t, const struct err *e)
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
    run_tell_hidden(r, a->found, S("the model's answer"));
    accepted.body.message.message = m;
    accepted.body.message.n_tool_calls = message_n_calls(m);
    run_emit(r, EVENT_RESPONSE_NORMALIZED, &accepted);
    return TAKE(m);
}

/* A provider that withholds its answer without an error has still not answered, and one that stops
 * where the window is full has not answered all of it. */
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
    struct chain_hooks hooks = {fits,        build,      reserve,  before_send,
                                settle,      ask_repair, on_retry, on_fallback,
                                known_delay, drop_text,  a,        r->secrets};
    struct provider_call call = r->options->call;
    const struct target *target = &r->plan->targets[0];
    struct err *e;

    call.on_native_payload = on_native_payload;
    call.self = a;
    r->attempt = 1;
    e = chain_ask(&r->chain, &hooks, &call, &a->reply, &target);
    e = refusals_end(r, &a->refusals, e);
    if (!e)
        e = check_stop(&a->reply);
    r->attempt = 0;
    *ret_message = accept(a, target, e);
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

    reply_init(&a.reply, (struct delta_sink){on_delta, &a, on_close});
    separate(&a);
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

    reply_init(&a.reply, (struct delta_sink){0}); /* nobody watches */
    e = ask(&a, &m);
    if (!e)
        *ret_answer = TAKE(m);
    ask_state_done(&a);
    return e;
}
