/* run.c - from the prompt to the result: what comes before and after the rounds. */
#include "engine/run_state.h"

#include "base/utf8.h"
#include "model/message_json.h"
#include "sys/loop.h"

/* --- beginning --- */

static const struct run_plan *first_plan(struct run *r)
{
    const struct run_plan *before = r->plan;

    r->plan = run_plan_ref(r->kit->plan(r->kit->plan_self));
    run_plan_unref(before);         /* nothing was made of it yet */
    r->told_note = r->plan->note.p; /* an earlier run has reported it */
    return r->plan;
}

/* Whose work this run is: the parent's call, or the parent itself; and within that a node's. */
static void set_owners(struct run *r)
{
    const struct run_input *input = r->input;
    const struct owner *above = input->parent ? &input->parent->execution : NULL;

    if (input->parent && input->call_id.n) {
        r->call = (struct owner){"tool", input->call_id, above};
        above = &r->call;
    }
    if (input->node) {
        r->node = (struct owner){"node", str_of(input->node), above};
        above = &r->node;
    }
    r->agent = (struct owner){"agent", str_of(input->agent ? input->agent : "main"), above};
    r->execution = (struct owner){"execution", str_of(r->id), &r->agent};
}

/* Tools that an earlier process has taken away stay away. Other reasons to end are found again. */
static enum final_reason find_must_finish(const struct turn_progress *before,
                                          const struct run_policy *p)
{
    if (before->forced == FINAL_UNKNOWN_TOOLS && !p->unknown_is_correction)
        return FINAL_UNKNOWN_TOOLS;
    if (before->forced == FINAL_CORRECTIONS || before->n_corrections > p->max_corrections + 1)
        return FINAL_CORRECTIONS;
    return FINAL_NONE;
}

/* Until run_done() its events come from this run. */
static void enter_stream(struct run *r)
{
    struct event_stream *s = &r->conversation->stream;
    struct run *parent = r->input->parent;

    r->place = (struct event_place){.run_id = str_of(r->id), .owner = &r->execution};
    r->secrets_before = s->secrets;
    s->parent = parent ? &parent->conversation->stream : NULL;
    s->secrets = r->secrets ? r->secrets : s->secrets;
    s->place = &r->place;
    s->turn++;
    conversation_listen(r->conversation);
}

static void leave_stream(struct run *r)
{
    struct event_stream *s = &r->conversation->stream;

    s->place = NULL;
    s->secrets = r->secrets_before;
}

static void run_init(struct run *r, struct conversation *c, const struct run_input *input,
                     const struct run_kit *kit, const struct run_keeper *keeper,
                     struct run_result *result)
{
    *result = (struct run_result){
        .usage = USAGE_UNKNOWN, .child_usage = USAGE_UNKNOWN, .cost_is_known = true};
    *r = (struct run){.conversation = c,
                      .input = input,
                      .kit = kit,
                      .keeper = keeper,
                      .policy = input->policy ? input->policy : &policy_conversation,
                      .result = result,
                      .random = kit->random ? kit->random : &random_system,
                      .secrets = kit->secrets,
                      .started_ms = loop_now_ms(task_loop()),
                      .n_corrections = keeper->before.n_corrections,
                      .called_unknown = keeper->before.called_unknown,
                      .stop_hook_active = keeper->before.stop_hook_active};
    r->must_finish = find_must_finish(&keeper->before, r->policy);
    run_new_id(r, r->id);
    result->run_id = arena_str(&result->arena, str_of(r->id));
    set_owners(r);
    if (input->prompt) {
        char id[UUID_TEXT_SIZE];

        r->prompt = message_ref(input->prompt);
        if (r->prompt->id.n == 0)
            message_set_id(r->prompt, run_new_id(r, id));
    }
    plugins_sort(r);
    enter_stream(r);
}

/* The prompt is durable before anything follows from it. Where no hook is asked, that is the next
 * request, to summarize or to answer, and requests wait for the journal themselves. */
static struct err *keep_prompt(struct run *r, const struct message *m)
{
    run_emit_message(r, EVENT_USER_INPUT, m);
    return r->kit->hooks ? run_sync(r) : NULL;
}

/* From the prompt as it was submitted to the message that the model reads. */
static struct err *take_prompt(struct run *r, struct message **ret_message)
{
    AUTO(message) struct message *m = message_ref(r->prompt);

    TRY(keep_prompt(r, m));
    batch_close(r);
    TRY(run_compact(r));
    TRY(hook_prompt(r, &m));
    TRY(message_check(m, "the prompt, with what hooks have added,"));
    TRY(plugins_before_run(r, &m));
    TRY(message_check(m, "the prompt, as a plugin has changed it,"));
    run_append(r, m);
    *ret_message = TAKE(m);
    return NULL;
}

/* Enabled is what this run asks for. */
static struct provider_capabilities capabilities(const struct run_plan *plan)
{
    const struct target *first = &plan->targets[0];
    struct provider_capabilities can = provider_capabilities(first->provider, first->info);

    can.web_search.is_enabled &= plan->web_search;
    can.web_fetch.is_enabled &= plan->web_fetch;
    return can;
}

static struct event describe_run(struct run *r, const struct run_plan *plan)
{
    const struct target *first = &plan->targets[0];

    return (struct event){.history = &r->conversation->history,
                          .body.run = {.policy = r->policy->name,
                                       .provider = first->provider->id,
                                       .model = first->model,
                                       .capabilities = capabilities(plan)}};
}

static void emit_begin(struct run *r)
{
    AUTO(strbuf) struct strbuf input = {0};
    struct event e = describe_run(r, first_plan(r));
    struct event_run *b = &e.body.run;

    run_refresh_plan(r);
    b->window = target_window(&r->plan->targets[0]);
    b->tool_response_bytes = r->kit->tool_response_bytes;
    b->retry_max_ms = r->kit->retry_max_ms;
    b->only_compacts = r->input->only_compacts;
    b->head_tokens = r->head_tokens;
    b->context_floor = r->kit->context_floor;
    if (r->prompt)
        message_text(r->prompt, &input);
    b->input = strbuf_str(&input);
    run_emit(r, EVENT_RUN_BEGIN, &e);
}

/* Hooks and plugins are done with the prompt. The message is NULL if the run continues. */
static void emit_ready(struct run *r, const struct message *m)
{
    AUTO(strbuf) struct strbuf input = {0};
    struct event e = describe_run(r, r->plan);

    for (size_t i = 0; m && i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TEXT || m->parts[i].kind == PART_CONTEXT)
            strbuf_addf(&input, "%s%" STR_FMT, input.n ? "\n" : "", STR_ARG(m->parts[i].text));
    e.body.run.input = strbuf_str(&input);
    run_emit(r, EVENT_PRE_RUN, &e);
}

/* Files in it as the provider takes them. */
static struct err *fit_prompt(struct run *r)
{
    const struct media_limits limits = run_media_limits(first_plan(r));
    struct message *fitted;

    TRY(media_fit_message(&limits, r->prompt, &fitted));
    message_unref(r->prompt);
    r->prompt = fitted;
    return NULL;
}

/* What could not be read back is neither stored nor sent. */
static struct err *check_prompt(struct run *r)
{
    struct err *e = r->prompt ? fit_prompt(r) : NULL;

    if (e) /* cancelled */
        return e;
    e = r->prompt ? message_check(r->prompt, "the prompt") : NULL;
    if (!e)
        return NULL;
    message_unref(TAKE(r->prompt));
    return err_hint(e, "put it into a file, and let the model read the parts that it needs");
}

/* The budget's question belongs to no call: its answer counts before anything is asked. */
static void take_budget_answers(struct run *r)
{
    const struct budget_keeper *budget = &r->keeper->budget;

    for (size_t i = 0; i < r->input->n_answers; i++) {
        const struct given_answer *said = &r->input->answers[i];
        struct ask ask = {.kind = ASK_BUDGET};
        struct event e = {.body.ask = {.ask = &ask, .answer = &said->answer}};

        if (said->call_id.n || !budget->answer)
            continue;
        run_emit(r, EVENT_ANSWERED, &e);
        budget->answer(budget->self, &said->answer);
    }
}

static struct err *run_to_end(struct run *r)
{
    AUTO(message) struct message *asked = NULL;
    uint64_t found = 0;
    struct err *refusal;

    if (r->input->on_begin)
        r->input->on_begin(r->input->begin_self, r);
    if (r->prompt)
        hide_in_message(r->secrets, &r->prompt, &found);
    refusal = check_prompt(r);
    emit_begin(r);
    TRY(refusal);
    run_report_hidden(r, found, S("the prompt"));
    take_budget_answers(r);
    if (r->input->only_compacts)
        return run_compact(r);
    if (r->prompt)
        TRY(take_prompt(r, &asked));
    r->has_turn = true;
    emit_ready(r, asked);
    return turn_run(r);
}

/* --- ending --- */

#define MAX_FAILURE_BYTES ((size_t)64 << 10)

/* The person reads what went wrong in place of the answer; no model ever sees it. */
static void note_failure(struct run *r, const struct err *e)
{
    AUTO(message) struct message *m = NULL;
    AUTO_FREE char *text = err_message(e);

    if (!r->policy->tells_failure)
        return;
    m = run_new_message(r, ROLE_ASSISTANT);
    m->is_error = true;
    message_add_text(m, utf8_truncate(str_of(text), MAX_FAILURE_BYTES));
    run_append(r, m);
    run_emit_message(r, EVENT_ASSISTANT_COMMITTED, m);
}

/* What of the last answer there is, when the run did not get to its end. An answer whose tools have
 * run is only that of an aborted run: after a failure it would be an earlier round's. A run that
 * ended before its prompt joined the history has none. */
static void keep_partial_text(struct run *r, bool is_aborted)
{
    const struct history *h = &r->conversation->history;
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = r->has_turn ? h->n_messages : 0; i-- > 0;) {
        const struct message *m = h->messages[i];

        if (m->is_error || (m->role == ROLE_TOOL && is_aborted))
            continue;
        if (m->role == ROLE_ASSISTANT)
            message_text(m, &text);
        break;
    }
    r->result->text = arena_str(&r->result->arena, strbuf_str(&text));
}

/* A run that was cancelled has not failed, whatever else went wrong. */
static struct err *prefer_cancelled(struct err *take_error)
{
    struct err *interrupted = take_error ? task_check() : NULL;

    if (!err_is(interrupted, ERR_CANCELLED)) {
        err_free(interrupted);
        return take_error;
    }
    err_free(take_error);
    return interrupted;
}

/* Every call gets a result, unless it waits for an answer. */
static void close_calls(struct run *r, const struct err *e)
{
    if (err_is(e, ERR_CANCELLED) || r->result->n_asks == 0)
        batch_close(r);
}

/* The author of the node wrote what was refused. */
static void blame_request(const struct run *r, struct err *e)
{
    if (r->policy->blames_request && err_is(e, ERR_PROVIDER_ERROR) &&
        (e->peer_status == 400 || e->peer_status == 422))
        e->kind = ERR_VALIDATION;
}

static void set_outcome(struct run *r, struct err *take_error)
{
    struct run_result *x = r->result;
    struct event e = {.body.error = take_error};

    blame_request(r, take_error);
    secrets_hide_in_err(r->secrets, take_error);
    x->error = take_error;
    x->outcome = !take_error ? RUN_DONE : RUN_FAILED;
    if (err_is(take_error, ERR_CANCELLED)) {
        x->outcome = RUN_INTERRUPTED;
        keep_partial_text(r, /* is_aborted= */ true);
    } else if (x->n_asks) {
        x->outcome = RUN_SUSPENDED;
        err_free(TAKE(x->error));
    } else if (take_error) {
        if (x->text.n == 0)
            keep_partial_text(r, /* is_aborted= */ false);
        run_emit(r, EVENT_ERROR, &e);
        note_failure(r, take_error);
        plugins_on_error(r, take_error);
        hook_failure(r, take_error);
    }
}

static const char *exit_marker(const struct run_result *x)
{
    if (x->outcome == RUN_SUSPENDED)
        return "agent:EXIT-SUSPENDED";
    if (x->outcome == RUN_INTERRUPTED)
        return "agent:EXIT-CANCELED";
    if (err_is(x->error, ERR_CONTEXT_OVERFLOW) || x->forced == FINAL_TOKEN_LIMIT)
        return "agent:EXIT-TOKEN-LIMIT";
    if (err_is(x->error, ERR_TURN_LIMIT) || x->is_fallback)
        return "agent:EXIT-MAX-TURNS-NO-RESPONSE";
    return x->error ? "agent:EXIT-UNCAUGHT-EXCEPTION" : "agent:EXIT-FINAL-ANSWER";
}

/* One line for the model, one for the tools, at the end of every run. */
static void report_summaries(struct run *r)
{
    const struct run_result *x = r->result;
    struct arena *a = &r->arena;
    size_t n_tools = 0, n_failed = 0;

    for (size_t i = 0; i < x->n_accounting; i++)
        if (x->accounting[i].type == ACCOUNT_TOOL) {
            n_tools++;
            n_failed += !x->accounting[i].is_ok;
        }
    run_notice(r, SEVERITY_VERBOSE, exit_marker(x),
               str_of(x->error ? err_code(x->error->kind) : run_outcome_name(x->outcome)));
    run_notice(r, SEVERITY_FINAL, "llm",
               arena_format(a, "requests=%u tokens in=%lld out=%lld cost=$%lld.%08lld",
                            x->n_attempts, (long long)MAX(x->usage.input, (int64_t)0),
                            (long long)MAX(x->usage.output, (int64_t)0),
                            (long long)(x->cost_microcents / MICROCENTS_PER_USD),
                            (long long)(x->cost_microcents % MICROCENTS_PER_USD)));
    run_notice(r, SEVERITY_FINAL, "tool",
               arena_format(a, "calls=%zu failed=%zu", n_tools, n_failed));
}

static void run_done(struct run *r)
{
    leave_stream(r);
    tool_set_unref(r->tools);
    run_plan_unref(r->plan);
    message_unref(r->prompt);
    strbuf_done(&r->continued);
    arena_done(&r->arena);
}

/* An answer that could not be stored is still the answer, but the run has failed. */
static void end_durably(struct run *r)
{
    struct run_result *x = r->result;
    struct event end = {.history = &r->conversation->history, .body.result = x};
    AUTO(err) struct err *failure = NULL;

    event_stream_record(&r->conversation->stream, EVENT_RUN_END, &end);
    task_shield_begin();
    failure = run_sync(r);
    task_shield_end();
    if (failure && x->outcome == RUN_DONE) {
        x->outcome = RUN_FAILED;
        x->error = TAKE(failure);
    }
    event_stream_tell(&r->conversation->stream, &end);
}

void run_start(struct conversation *c, const struct run_input *input, const struct run_kit *kit,
               const struct run_keeper *keeper, struct run_result *ret_result)
{
    static const struct run_keeper no_keeper;
    struct err *e;
    struct run r;

    BUG_IF(c->is_running);
    c->is_running = true;
    run_init(&r, c, input, kit, keeper ? keeper : &no_keeper, ret_result);
    e = run_to_end(&r);
    close_calls(&r, e);
    set_outcome(&r, prefer_cancelled(e));
    save_at_end(&r);
    ret_result->duration_ms = loop_now_ms(task_loop()) - r.started_ms;
    report_summaries(&r);
    plugins_after_run(&r);
    end_durably(&r);
    run_done(&r);
    c->is_running = false;
}

void run_stop(struct run *r)
{
    r->is_stopping = true;
}

const struct secrets *run_secrets(const struct run *r)
{
    return r->secrets;
}

const struct path_filter *run_hidden(const struct run *r)
{
    return r->kit->hidden;
}
