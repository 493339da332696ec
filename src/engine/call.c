/* call.c - one tool call: judged by the gate, run within its deadline, ended with a result.
 *
 * Nothing that a tool does gets past this file: what it returns, and what goes wrong in it, becomes
 * a result that the model reads. */
#include "engine/run_state.h"

#include "base/utf8.h"
#include "sys/loop.h"

#define NOT_RUN_TEXT "The tool call was not executed: the run ended before its turn came."
#define TIMEOUT_TEXT "(tool failed: timeout)"
#define MAX_CUT_OFF_BYTES 300 /* of arguments that broke off are shown */
#define UNKNOWN_TEXT                                                                               \
    "keel was stopped while this call was under way. It is not known whether it took effect, and " \
    "it was not run again. Check the current state before you repeat it."

void call_init(struct call *c, struct run *r, struct str batch_id, size_t index,
               const struct part *part)
{
    const struct run_input *input = r->input;
    const struct run_keeper *keeper = r->keeper;

    *c = (struct call){.run = r,
                       .batch_id = batch_id,
                       .index = index,
                       .part = part,
                       .owner = {"tool", part->id, &r->execution},
                       .progress = {.set = r->secrets}};
    tool_result_init(&c->result);
    if (r->place.round > 0) /* they are for what was open when the run began: models repeat ids */
        return;
    for (size_t i = 0; i < input->n_answers; i++)
        if (str_eq(input->answers[i].call_id, part->id))
            c->answer = &input->answers[i].answer;
    for (size_t i = 0; i < keeper->n_outcomes; i++)
        if (keeper->outcomes[i].index == index && str_eq(keeper->outcomes[i].call_id, part->id))
            c->outcome = &keeper->outcomes[i];
}

void call_done(struct call *c)
{
    err_free(c->ends_run);
    tool_result_done(&c->result);
    arena_done(&c->arena);
}

struct json *call_metadata(struct call *c)
{
    if (!c->metadata)
        c->metadata = json_new(&c->arena, JSON_OBJECT);
    return c->metadata;
}

/* --- judging --- */

void call_fail(struct call *c, const char *code, struct str text)
{
    tool_result_fail(&c->result, "%" STR_FMT, STR_ARG(text));
    c->code = code;
    json_set_str(&c->arena, call_metadata(c), "errorCode", str_of(code));
}

static void fail(struct call *c, enum err_kind code, struct str text)
{
    call_fail(c, err_code(code), text);
}

static struct err *refuse(struct call *c)
{
    struct run_result *x = c->run->result;

    fail(c, ERR_TOOL_DENIED, c->verdict.reason);
    x->denials =
        arena_grow(&x->arena, x->denials, x->n_denials, &x->denials_room, sizeof *x->denials);
    x->denials[x->n_denials++] = (struct denial){
        .tool = arena_str(&x->arena, c->part->name),
        .call_id = arena_str(&x->arena, c->part->id),
        .args = c->shown_args ? json_copy(&x->arena, c->shown_args) : NULL,
        .reason =
            arena_str(&x->arena, hide_in_str(c->run->secrets, &x->arena, c->verdict.reason, NULL)),
        .rule = arena_str(&x->arena, c->verdict.rule)};
    return c->run->policy->on_denied(&c->verdict);
}

/* A model that is not told why its arguments broke off sends the same again. */
static void tell_cut_off(struct call *c)
{
    struct str came = utf8_truncate(c->part->bad_args, MAX_CUT_OFF_BYTES);
    AUTO(strbuf) struct strbuf received = {0};

    if (c->part->bad_args.n == 0 || c->run->stop != STOP_LENGTH)
        return;
    json_write_string(&received, came);
    c->verdict.reason = arena_format(
        &c->arena,
        "Error: Your answer reached the output limit before the arguments of %" STR_FMT
        " were complete, so the call was not executed. Send less in one call: write a long file in "
        "parts. Received: %" STR_FMT "%s",
        STR_ARG(c->part->name), STR_ARG(strbuf_str(&received)),
        came.n < c->part->bad_args.n ? "..." : "");
}

/* The model may try again, but not for ever. */
static struct err *correct(struct call *c, enum err_kind code)
{
    struct run *r = c->run;

    tell_cut_off(c);
    if (++r->n_corrections <= r->policy->max_corrections) {
        fail(c, code, c->verdict.reason);
        return NULL;
    }
    /* Said once; if it goes on all the same, the tools are taken away. */
    if (r->n_corrections > r->policy->max_corrections + 1)
        r->must_finish = FINAL_CORRECTIONS;
    fail(c, ERR_TOOL_FAILED,
         arena_format(&c->arena, "(tool failed: too many calls with wrong arguments) %" STR_FMT,
                      STR_ARG(c->verdict.reason)));
    return r->policy->on_corrections_spent(c->part->name);
}

static struct err *tell_unknown(struct call *c)
{
    struct json *available = json_new(&c->arena, JSON_ARRAY);

    for (size_t i = 0; i < c->run->tools->n; i++)
        json_push(available, json_new_str(&c->arena, str_of(c->run->tools->entries[i].tool->name)));
    json_set_str(&c->arena, call_metadata(c), "requestedTool", c->part->name);
    json_set(&c->arena, call_metadata(c), "availableTools", available);
    if (c->run->policy->unknown_is_correction)
        return correct(c, ERR_UNKNOWN_TOOL);
    fail(c, ERR_UNKNOWN_TOOL, c->verdict.reason);
    return NULL;
}

static struct err *act_on_verdict(struct call *c)
{
    switch (c->verdict.kind) {
    case VERDICT_ALLOW:
        c->run->n_corrections = 0;
        c->is_ready = true;
        return NULL;
    case VERDICT_DENY:
        return refuse(c);
    case VERDICT_UNKNOWN_TOOL:
        return tell_unknown(c);
    case VERDICT_BAD_ARGUMENTS:
        return correct(c, ERR_VALIDATION);
    case VERDICT_LATER:
        c->is_suspended = true;
        return NULL;
    }
    BUG("a verdict of no known kind");
}

static void on_ask(void *self, const struct ask *ask, const struct answer *answer)
{
    struct call *c = self;
    const struct secrets *s = c->run->secrets;
    struct ask shown = hide_in_ask(s, &c->arena, ask);
    struct answer said = answer ? *answer : (struct answer){0};
    struct event e = {.owner = &c->owner,
                      .body.ask = {.ask = &shown, .answer = answer ? &said : NULL}};

    said.reason = hide_in_str(s, &c->arena, said.reason, NULL);
    said.value = secrets_hide_in_json(s, &c->arena, said.value, NULL);
    said.args = secrets_hide_in_json(s, &c->arena, said.args, NULL);
    run_emit(c->run, answer ? EVENT_ANSWERED : EVENT_ASKED, &e);
}

/* As they came; as a string where they are not JSON. */
static const struct json *given_args(struct call *c)
{
    bool is_bad = c->part->bad_args.n > 0;
    struct str text = arena_str(&c->arena, is_bad ? c->part->bad_args : c->part->args);
    struct json_where where;
    struct json *args;

    if (!is_bad && json_parse_at(&c->arena, text, JSON_REPAIR_UTF8, &args, &where))
        return args;
    return json_new_str(&c->arena, text);
}

/* The model's own hold no credential; a hook or a person may have put one in. Those of a call that
 * was not judged, or that no tool is there for, are shown as they came. */
static void show_args(struct call *c)
{
    if (!c->verdict.args)
        c->verdict.args = given_args(c);
    c->shown_args = secrets_hide_in_json(c->run->secrets, &c->arena, c->verdict.args, NULL);
}

static struct gate_call gate_call_of(struct call *c)
{
    return (struct gate_call){.call = c->part,
                              .tools = c->run->tools,
                              .mode = run_plan_mode(c->run->plan),
                              .state = c->run->conversation->state,
                              .asker = c->run->kit->asker,
                              .answer = c->answer,
                              .on_ask = on_ask,
                              .self = c};
}

static struct err *judge(struct call *c)
{
    struct gate_call call = gate_call_of(c);

    return gate_judge(c->run->kit->gate, &call, &c->arena, &c->verdict);
}

struct err *call_foresee(struct call *c, bool *ret_runs)
{
    struct gate_call call = gate_call_of(c);

    TRY(gate_foresee(c->run->kit->gate, &call, &c->arena, &c->verdict, ret_runs));
    show_args(c);
    return NULL;
}

/* A plugin may refuse a call that the gate lets through. */
static void ask_plugins(struct call *c)
{
    struct event_tool t = call_event(c);
    AUTO(err) struct err *e = plugins_before_tool(c->run, &t);
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (!e)
        return;
    c->is_ready = false;
    fail(c, e->kind, str_of(text));
}

/* --- what an earlier process has done --- */

static bool was_begun(const struct call *c)
{
    return c->outcome && c->outcome->outcome != CALL_NEVER_STARTED;
}

static void take_result(struct call *c, const struct part *result, const char *error_code)
{
    for (size_t i = 0; i < result->n_content; i++) {
        const struct part *p = &result->content[i];

        if (p->kind == PART_TEXT)
            strbuf_add(&c->result.text, p->text);
        else
            tool_result_add_media(&c->result, &p->media);
    }
    c->result.is_error = result->is_error;
    c->code = error_code;
    c->was_executed = true;
}

static void take_outcome(struct call *c)
{
    show_args(c);
    if (c->outcome->outcome == CALL_COMPLETED)
        take_result(c, c->outcome->result, c->outcome->error_code);
    else
        fail(c, ERR_INTERNAL, S(UNKNOWN_TEXT));
}

static void tell_request(struct call *c)
{
    struct event e = {.owner = &c->owner, .body.tool = call_event(c)};

    c->is_requested = true;
    run_emit(c->run, EVENT_TOOL_REQUEST, &e);
}

static struct err *judge_and_act(struct call *c)
{
    struct err *e = judge(c);

    show_args(c); /* an interrupt in the middle of judging leaves what is known by then */
    if (e) {
        c->verdict.kind = VERDICT_LATER; /* neither allowed nor denied */
        return e;
    }
    TRY(act_on_verdict(c));
    return hook_tool_judged(c);
}

void call_hold(struct call *c)
{
    c->is_ready = false;
    c->is_held = true;
}

struct err *call_prepare(struct call *c, bool is_held)
{
    struct err *e = NULL;

    if (was_begun(c))
        take_outcome(c);
    else
        e = judge_and_act(c);
    tell_request(c);
    if (e || !c->is_ready)
        return e;
    c->is_early = !is_held && early_has(c);
    if (is_held)
        call_hold(c);
    else if (!c->is_early) /* else they were asked when it began */
        ask_plugins(c);
    return NULL;
}

/* --- running --- */

static uint64_t timeout_ms(const struct call *c)
{
    const struct tool *t = c->verdict.entry->tool;
    const struct run_kit *kit = c->run->kit;
    int64_t configured = json_int_or(json_get(kit->tool_timeouts, t->name), 0);
    uint64_t own = t->timeout_ms ? t->timeout_ms(t, c->verdict.args) : 0;

    if (configured > 0)
        return (uint64_t)configured;
    if (own)
        return own;
    return kit->tool_timeout_ms ? kit->tool_timeout_ms : RUN_DEFAULT_TOOL_TIMEOUT_MS;
}

void call_show_progress(struct call *c, struct str text)
{
    AUTO(strbuf) struct strbuf shown = {0};
    struct event e = {.owner = &c->owner, .body.tool = call_event(c)};

    e.body.tool.progress = secrets_stream_add(&c->progress, text, &shown);
    if (e.body.tool.progress.n)
        run_emit(c->run, EVENT_TOOL_PROGRESS, &e);
}

/* No event reports a call that runs early. */
static void on_progress(void *self, struct str text)
{
    struct call *c = self;

    if (!c->draft)
        call_show_progress(c, text);
}

/* Once a tool has begun, what it did cannot be told from what it did not: so the journal must know
 * before. */
static struct err *await_begin(void *self)
{
    struct call *c = self;

    if (!c->ends_run)
        c->ends_run = run_sync(c->run);
    return c->ends_run ? err_copy(c->ends_run) : NULL;
}

static struct launcher *launcher_of(const struct call *c)
{
    const struct run_kit *kit = c->run->kit;

    BUG_IF(c->verdict.must_only_look && !kit->looker);
    return c->verdict.must_only_look ? kit->looker : kit->launcher;
}

/* Another call beside it would put its events between those of the request. */
static struct err *call_search_model(void *self, const struct model_search *s,
                                     struct message **ret_answer)
{
    static const struct history_cut nothing = {.has_nothing = true};
    struct call *c = self;
    struct aside aside = {.system = s->system,
                          .cut = &nothing,
                          .instruction = hide_in_str(c->run->secrets, &c->arena, s->question, NULL),
                          .call_id = c->part->id,
                          .searches_web = true,
                          .search_allowed = s->allowed_domains,
                          .search_blocked = s->blocked_domains};

    BUG_IF(!c->verdict.entry->tool->is_barrier);
    return run_ask_aside(c->run, &aside, ret_answer);
}

static struct err *run_tool(struct call *c)
{
    const struct run_kit *kit = c->run->kit;
    const struct tool *t = c->verdict.entry->tool;
    static const struct tool_config no_config;
    struct runner runner = {call_run_child, c};
    struct tool_context context = {
        .call_id = c->part->id,
        .target = c->verdict.target,
        .state = c->draft ? c->draft : c->run->conversation->state,
        .config = kit->tool_config ? kit->tool_config : &no_config,
        .launcher = launcher_of(c),
        .observer = c->observer,
        .http = kit->http,
        .blobs = kit->blobs,
        .asker = kit->asker,
        .answer = c->answer,
        .plan_mode = run_plan_mode(c->run->plan) == MODE_PLAN ? kit->plan_mode : NULL,
        .model = c->run->plan->targets[0].info,
        .hidden = kit->hidden,
        .begin = await_begin,
        .begin_self = c,
        .on_progress = on_progress,
        .progress_self = c,
        .search_model = call_search_model,
        .search_self = c,
        .runner = run_can_delegate(c->run) ? &runner : NULL};

    TRY(task_check());
    c->was_executed = true;
    TRY(t->run(t, &context, c->verdict.args, &c->result));
    return run_fit_result(c->run->plan, &c->result);
}

/* What a tool's error says, for the model. */
static void tell_error(struct call *c, const struct err *e, bool is_expired)
{
    AUTO_FREE char *text = err_message(e);
    const char *hint = err_find_hint(e);

    if (err_is(e, ERR_CANCELLED))
        fail(c, ERR_CANCELLED, S(CALL_INTERRUPTED_TEXT));
    else if (is_expired)
        fail(c, ERR_TIMEOUT, S(TIMEOUT_TEXT));
    else
        fail(c, e->kind,
             arena_format(&c->arena, "%s%s%s", text, hint ? "\n" : "", hint ? hint : ""));
}

static struct err *run_in_time(struct call *c, bool *ret_expired)
{
    uint64_t limit_ms = timeout_ms(c);
    struct deadline deadline;
    struct err *e;

    if (limit_ms == TOOL_NO_DEADLINE)
        return run_tool(c);
    deadline_begin(&deadline, limit_ms, c->verdict.entry->tool->name);
    e = run_tool(c);
    deadline_end(&deadline);
    *ret_expired = deadline.expired && err_is(e, ERR_TIMEOUT);
    return e;
}

void call_hide_secrets(struct call *c)
{
    const struct secrets *s = c->run->secrets;
    uint64_t found = 0;

    hide_in_strbuf(s, &c->result.text, &found);
    c->hook_text = hide_in_str(s, &c->arena, c->hook_text, NULL);
    c->result.details =
        (struct json *)secrets_hide_in_json(s, &c->arena, c->result.details, &found);
    c->metadata = (struct json *)secrets_hide_in_json(s, &c->arena, c->metadata, &found);
    if (found)
        run_tell_hidden(c->run, found,
                        arena_format(&c->arena, "the result of %" STR_FMT, STR_ARG(c->part->name)));
}

struct part call_result_part(struct call *c)
{
    struct part *content = ARENA_ARRAY(&c->arena, c->result.n_media + 1, struct part);
    size_t n = 0;

    if (c->result.text.n || c->result.n_media == 0)
        content[n++] = (struct part){.kind = PART_TEXT, .text = strbuf_str(&c->result.text)};
    for (size_t i = 0; i < c->result.n_media; i++)
        content[n++] = (struct part){.kind = PART_MEDIA, .media = c->result.media[i]};
    return (struct part){.kind = PART_TOOL_RESULT,
                         .id = c->part->id,
                         .name = c->part->name,
                         .is_error = c->result.is_error,
                         .content = content,
                         .n_content = n};
}

/* Its outcome is known from here on, whatever becomes of the rest of the batch. */
static void tell_end(struct call *c)
{
    struct event e = {.owner = &c->owner, .body.tool = call_event(c)};
    struct part result = call_result_part(c);

    c->has_ended = true;
    e.body.tool.result = &result;
    run_emit(c->run, EVENT_TOOL_END, &e);
}

static void tell_begin(struct call *c)
{
    struct event e = {.owner = &c->owner, .body.tool = call_event(c)};

    c->has_begun = true;
    run_emit(c->run, EVENT_TOOL_BEGIN, &e);
}

struct err *call_run_tool(struct call *c, bool *ret_expired)
{
    *ret_expired = false;
    return run_in_time(c, ret_expired);
}

/* Saving takes none of the tool's time, nor does the journal. */
static struct err *run_saved(struct call *c, bool *ret_expired)
{
    struct err *e = save_before(c);

    *ret_expired = false;
    if (!e && !c->verdict.entry->tool->begins_late)
        e = await_begin(c);
    if (!e)
        e = run_in_time(c, ret_expired);
    save_after(c);
    return e;
}

/* It has not run: the journal could not be made durable, or that was interrupted. */
static void end_unrun(struct call *c)
{
    bool is_interrupted = err_is(c->ends_run, ERR_CANCELLED);

    fail(c, c->ends_run->kind, is_interrupted ? S(CALL_INTERRUPTED_TEXT) : S(NOT_RUN_TEXT));
    c->was_executed = false;
    c->run->is_ended = true;
    tell_end(c);
}

struct err *call_run(void *arg)
{
    struct call *c = arg;
    uint64_t started_ms = loop_now_ms(task_loop());
    AUTO(err) struct err *failure = task_check();
    bool is_expired;

    if (failure || c->run->is_ended)
        return NULL;
    tell_begin(c);
    failure = c->is_early ? early_take(c, &is_expired) : run_saved(c, &is_expired);
    c->is_ready = false;
    if (c->ends_run) {
        end_unrun(c);
        return NULL;
    }
    c->duration_ms = loop_now_ms(task_loop()) - started_ms;
    if (failure)
        tell_error(c, failure, is_expired);
    else if (c->result.is_pending)
        c->is_suspended = true;
    else if (c->result.is_error)
        c->code = err_code(c->result.code);
    if (c->is_suspended)
        return NULL;
    tool_result_end(&c->result);
    call_hide_secrets(c);
    tell_end(c);
    c->ends_run = hook_tool_done(c);
    c->run->is_ended |= c->ends_run != NULL;
    return NULL;
}

void call_request(struct call *c)
{
    if (c->is_requested)
        return;
    if (was_begun(c))
        take_outcome(c);
    else
        show_args(c);
    tell_request(c);
}

void call_skip(struct call *c, bool is_interrupted)
{
    if (c->is_suspended || (!c->was_executed && !c->code))
        fail(c, ERR_CANCELLED, is_interrupted ? S(CALL_INTERRUPTED_TEXT) : S(NOT_RUN_TEXT));
    c->is_ready = c->is_suspended = c->is_held = false;
    if (c->has_begun && !c->has_ended) { /* no answer can come any more */
        json_set_bool(&c->arena, call_metadata(c), CALL_WAITED, true);
        tell_end(c);
    }
}

/* --- telling --- */

static size_t serialized_chars(const struct json *args)
{
    AUTO(strbuf) struct strbuf text = {0};

    json_write(&text, args);
    return utf8_count(strbuf_str(&text));
}

/* The call's own words and the tool's, in one object. */
static const struct json *all_metadata(struct call *c)
{
    struct json *all;

    if (!c->metadata || !c->result.details)
        return c->metadata ? c->metadata : c->result.details;
    all = json_copy(&c->arena, c->metadata);
    json_each (member, c->result.details)
        json_set_key(&c->arena, all, member->key, json_copy(&c->arena, member));
    return all;
}

static struct str server_of(const struct verdict *v)
{
    return v->entry && v->entry->tool->server ? str_of(v->entry->tool->server) : (struct str){0};
}

struct event_tool call_event(struct call *c)
{
    return (struct event_tool){
        .batch_id = c->batch_id,
        .index = c->index,
        .name = c->part->name,
        .call_id = c->part->id,
        .server = server_of(&c->verdict),
        .args = c->shown_args,
        .owner = &c->owner,
        .risk = c->verdict.entry ? verdict_class(&c->verdict) : RISK_UNCLASSIFIED,
        .is_ok = !c->code,
        .was_executed = c->was_executed,
        .was_denied = c->verdict.kind == VERDICT_DENY,
        .error_code = c->code,
        .metadata = all_metadata(c),
        .duration_ms = c->duration_ms,
        .n_chars_in =
            c->verdict.args ? serialized_chars(c->verdict.args) : utf8_count(c->part->args),
        .n_chars_out = utf8_count(strbuf_str(&c->result.text)),
        .hook_text = c->hook_text,
        .refusal = c->refusal,
        .refusal_code = c->refusal_code,
        .stops_run = c->stops_run,
        .delegates = c->verdict.entry && c->verdict.entry->tool->delegates,
    };
}
