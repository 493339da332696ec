/* call.c - one tool call: run within its deadline, ended with a result.
 *
 * Nothing that a tool does gets past this file: what it returns, and what goes wrong in it, becomes
 * a result that the model reads. Whether it may run is decided in call_judge.c. */
#include "engine/run_state.h"

#include "base/utf8.h"
#include "sys/loop.h"

#define NOT_RUN_TEXT "The tool call was not executed: the run ended before its turn came."
#define TIMEOUT_TEXT "(tool failed: timeout)"

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
    err_free(c->not_begun);
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

void call_fail_with(struct call *c, const char *code, struct str text)
{
    tool_result_fail(&c->result, "%" STR_FMT, STR_ARG(text));
    c->code = code;
    json_set_str(&c->arena, call_metadata(c), "errorCode", str_of(code));
}

void call_fail(struct call *c, enum err_kind code, struct str text)
{
    call_fail_with(c, err_code(code), text);
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
static void call_on_progress(void *self, struct str text)
{
    struct call *c = self;

    if (!c->draft)
        call_show_progress(c, text);
}

/* The journal must have the intent first: after a crash, no one knows what a tool that had begun
 * has done. */
static struct err *call_await_begin(void *self)
{
    struct call *c = self;

    if (!c->not_begun)
        c->not_begun = run_sync(c->run);
    return c->not_begun ? err_copy(c->not_begun) : NULL;
}

static struct launcher *launcher_of(const struct call *c)
{
    const struct run_kit *kit = c->run->kit;

    BUG_IF(c->verdict.must_only_look && !kit->looker);
    return c->verdict.must_only_look ? kit->looker : kit->launcher;
}

/* A tool that asks the model runs alone: another call would put its events between those of the
 * request. */
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
        .begin = call_await_begin,
        .begin_self = c,
        .on_progress = call_on_progress,
        .progress_self = c,
        .search_model = call_search_model,
        .search_self = c,
        .runner = run_can_delegate(c->run) ? &runner : NULL};

    TRY(task_check());
    c->was_executed = true;
    TRY(t->run(t, &context, c->verdict.args, &c->result));
    return run_fit_result(c->run->plan, &c->result);
}

/* The model reads the tool's error. */
static void fail_with(struct call *c, const struct err *e, bool is_expired)
{
    AUTO_FREE char *text = err_message(e);
    const char *hint = err_find_hint(e);

    if (err_is(e, ERR_CANCELLED))
        call_fail(c, ERR_CANCELLED, S(CALL_INTERRUPTED_TEXT));
    else if (is_expired)
        call_fail(c, ERR_TIMEOUT, S(TIMEOUT_TEXT));
    else
        call_fail(c, e->kind,
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
        run_report_hidden(
            c->run, found,
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

/* From here on its outcome is recorded, whatever happens to the rest of the batch. */
static void emit_end(struct call *c)
{
    struct event e = {.owner = &c->owner, .body.tool = call_event(c)};
    struct part result = call_result_part(c);

    c->has_ended = true;
    e.body.tool.result = &result;
    run_emit(c->run, EVENT_TOOL_END, &e);
}

static void emit_begin(struct call *c)
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

/* The deadline is for the tool alone: not for the snapshot, nor for the journal. */
static struct err *run_saved(struct call *c, bool *ret_expired)
{
    struct err *e = save_before(c);

    *ret_expired = false;
    if (!e && !c->verdict.entry->tool->begins_late)
        e = call_await_begin(c);
    if (!e)
        e = run_in_time(c, ret_expired);
    save_after(c);
    return e;
}

/* It has not run: the journal could not be made durable, or that was interrupted. */
static void end_unrun(struct call *c)
{
    bool is_interrupted = err_is(c->not_begun, ERR_CANCELLED);

    call_fail(c, c->not_begun->kind, is_interrupted ? S(CALL_INTERRUPTED_TEXT) : S(NOT_RUN_TEXT));
    c->was_executed = false;
    c->ends_run = TAKE(c->not_begun);
    c->run->is_ended = true;
    emit_end(c);
}

struct err *call_run(void *arg)
{
    struct call *c = arg;
    uint64_t started_ms = loop_now_ms(task_loop());
    AUTO(err) struct err *failure = task_check();
    bool is_expired;

    if (failure || c->run->is_ended)
        return NULL;
    emit_begin(c);
    failure = c->is_early ? early_take(c, &is_expired) : run_saved(c, &is_expired);
    c->is_ready = false;
    if (c->not_begun) {
        end_unrun(c);
        return NULL;
    }
    c->duration_ms = loop_now_ms(task_loop()) - started_ms;
    if (failure)
        fail_with(c, failure, is_expired);
    else if (c->result.is_pending)
        c->is_suspended = true;
    else if (c->result.is_error)
        c->code = err_code(c->result.code);
    if (c->is_suspended)
        return NULL;
    tool_result_end(&c->result);
    call_hide_secrets(c);
    emit_end(c);
    c->ends_run = hook_tool_done(c);
    c->run->is_ended |= c->ends_run != NULL;
    return NULL;
}

void call_skip(struct call *c, bool is_interrupted)
{
    if (c->is_suspended || (!c->was_executed && !c->code))
        call_fail(c, ERR_CANCELLED, is_interrupted ? S(CALL_INTERRUPTED_TEXT) : S(NOT_RUN_TEXT));
    c->is_ready = c->is_suspended = c->is_held = false;
    if (c->has_begun && !c->has_ended) { /* it waited for an answer, which cannot come any more */
        json_set_bool(&c->arena, call_metadata(c), CALL_WAITED, true);
        emit_end(c);
    }
}

/* --- as events show it --- */

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
