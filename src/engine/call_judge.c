/* call_judge.c - may a tool call run? The gate's verdict, and what follows from it.
 *
 * A call that may not run gets a result that says why. One that an earlier process had begun is not
 * judged again: it has its outcome. */
#include "engine/run_state.h"

#include "base/utf8.h"

#define MAX_CUT_OFF_BYTES 300 /* of arguments that broke off are shown */
#define UNKNOWN_TEXT                                                                               \
    "keel was stopped while this call was under way. It is not known whether it took effect, and " \
    "it was not run again. Check the current state before you repeat it."

static struct err *deny(struct call *c)
{
    struct run_result *x = c->run->result;

    call_fail(c, ERR_TOOL_DENIED, c->verdict.reason);
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

/* Without the reason the model would send the same arguments again. */
static void explain_cut_off(struct call *c)
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

/* The model may try again, but not without end. */
static struct err *ask_to_correct(struct call *c, enum err_kind code)
{
    struct run *r = c->run;

    explain_cut_off(c);
    if (++r->n_corrections <= r->policy->max_corrections) {
        call_fail(c, code, c->verdict.reason);
        return NULL;
    }
    /* The first time, the model reads it; the next time, its tools are taken away. */
    if (r->n_corrections > r->policy->max_corrections + 1)
        r->must_finish = FINAL_CORRECTIONS;
    call_fail(c, ERR_TOOL_FAILED,
              arena_format(&c->arena,
                           "(tool failed: too many calls with wrong arguments) %" STR_FMT,
                           STR_ARG(c->verdict.reason)));
    return r->policy->on_corrections_spent(c->part->name);
}

static struct err *refuse_unknown(struct call *c)
{
    struct json *available = json_new(&c->arena, JSON_ARRAY);

    for (size_t i = 0; i < c->run->tools->n; i++)
        json_push(available, json_new_str(&c->arena, str_of(c->run->tools->entries[i].tool->name)));
    json_set_str(&c->arena, call_metadata(c), "requestedTool", c->part->name);
    json_set(&c->arena, call_metadata(c), "availableTools", available);
    if (c->run->policy->unknown_is_correction)
        return ask_to_correct(c, ERR_UNKNOWN_TOOL);
    call_fail(c, ERR_UNKNOWN_TOOL, c->verdict.reason);
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
        return deny(c);
    case VERDICT_UNKNOWN_TOOL:
        return refuse_unknown(c);
    case VERDICT_BAD_ARGUMENTS:
        return ask_to_correct(c, ERR_VALIDATION);
    case VERDICT_LATER:
        c->is_suspended = true;
        return NULL;
    }
    BUG("a verdict of no known kind");
}

static void call_on_ask(void *self, const struct ask *ask, const struct answer *answer)
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

/* A hook or a person may have put a credential into the arguments. Those of a call that was not
 * judged, or whose tool does not exist, are shown as they came. */
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
                              .on_ask = call_on_ask,
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
    call_fail(c, e->kind, str_of(text));
}

/* --- the outcome of an earlier process --- */

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
        call_fail(c, ERR_INTERNAL, S(UNKNOWN_TEXT));
}

static void emit_request(struct call *c)
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
    emit_request(c);
    if (e || !c->is_ready)
        return e;
    c->is_early = !is_held && early_has(c);
    if (is_held)
        call_hold(c);
    else if (!c->is_early) /* else they were asked when it began */
        ask_plugins(c);
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
    emit_request(c);
}
