/* gate.c - the walk: eight steps from a call to a verdict. */
#include "gate/gate.h"

#include "gate/look/look.h"
#include "gate/parts.h"
#include "gate/pattern.h"
#include "gate/prepared.h"
#include "gate/reason.h"

struct walk {
    const struct permission_gate *gate;
    const struct gate_call *call;
    struct arena *arena;
    struct verdict *verdict;
    const struct json *own_args; /* the model's arguments */
    struct prepared prepared;    /* for the arguments of the verdict */
    enum hook_permission hook_says;
    struct str hook_reason;
    struct decided decided;
    bool is_over; /* the verdict is final */
};

static void end_walk(struct walk *w, enum verdict_kind kind, struct str reason)
{
    w->verdict->kind = kind;
    w->verdict->reason = reason;
    w->is_over = true;
}

static struct subject subject_of(const struct walk *w)
{
    return (struct subject){.tool = w->verdict->entry->tool,
                            .args = w->verdict->args,
                            .state = w->call->state,
                            .environment = w->gate->rules.environment};
}

/* The set holds the tools that are exposed and granted. */
static struct err *find_tool(struct walk *w)
{
    struct str name = w->call->call->name;

    w->verdict->entry = tool_set_find(w->call->tools, name);
    if (!w->verdict->entry)
        end_walk(w, VERDICT_UNKNOWN_TOOL, gate_unknown_tool(w->arena, w->call->tools, name));
    return NULL;
}

static struct err *check_arguments(struct walk *w)
{
    struct str problem = {0};

    TRY(gate_arguments(w->call->call, w->verdict->entry, w->arena, &w->verdict->args, &problem));
    w->own_args = w->verdict->args;
    if (problem.n)
        end_walk(w, VERDICT_BAD_ARGUMENTS, problem);
    return NULL;
}

/* --- the hard policy --- */

/* Later steps and the tool use what is looked up here. */
static struct err *apply_policy(struct walk *w)
{
    struct subject s = subject_of(w);
    struct policy_refusal refusal;

    TRY(gate_prepare(w->gate->book, &w->gate->policy, &s, w->arena, &w->prepared));
    w->verdict->target =
        w->prepared.search_root.given ? w->prepared.search_root.real : w->prepared.path.real;
    s.prepared = &w->prepared;
    subject_split_command(&s, w->arena);
    if (!hard_policy_refuses(&w->gate->policy, w->gate->book, &s, w->arena, &refusal))
        return NULL;
    w->verdict->step = GATE_STEP_POLICY;
    w->verdict->rule = refusal.rule;
    end_walk(w, VERDICT_DENY, refusal.reason);
    return NULL;
}

/* Repeats steps 4 and 5 for arguments that are not the model's. `reason` says why they are
 * refused. */
static struct err *replace_arguments(struct walk *w, const struct json *args,
                                     struct str (*reason)(struct arena *a, const struct err *e))
{
    struct json *changed = NULL;
    struct err *e = tool_entry_arguments(w->verdict->entry, args, w->arena, &changed);

    if (err_is(e, ERR_VALIDATION)) {
        end_walk(w, VERDICT_DENY, reason(w->arena, e));
        err_free(e);
        return NULL;
    }
    TRY(e);
    w->verdict->args = changed;
    w->verdict->must_only_look = false;
    return apply_policy(w);
}

/* --- hooks --- */

static struct json *hook_fields(const struct walk *w)
{
    struct json *fields = json_new(w->arena, JSON_OBJECT);

    json_set_str(w->arena, fields, "tool_name", str_of(w->verdict->entry->tool->name));
    json_set(w->arena, fields, "tool_input", json_copy(w->arena, w->verdict->args));
    json_set_str(w->arena, fields, "tool_use_id", w->call->call->id);
    return fields;
}

/* Fires an event, if there are hooks. What they say besides their decision is added to the verdict.
 */
static struct err *fire_event(struct walk *w, enum hook_event event,
                              struct hook_outcome *ret_outcome)
{
    struct hook_input input = {.event = event};
    struct verdict *v = w->verdict;

    *ret_outcome = (struct hook_outcome){0};
    if (!w->gate->hooks)
        return NULL;
    input.fields = hook_fields(w);
    TRY(hooks_run(w->gate->hooks, &input, w->arena, ret_outcome));
    gate_add_line(w->arena, &v->hook_context, ret_outcome->additional_context);
    gate_add_line(w->arena, &v->hook_message, ret_outcome->system_message);
    if (ret_outcome->stops_run && !v->stops_run) {
        v->stops_run = true;
        v->stop_reason = ret_outcome->stop_reason;
    }
    if (ret_outcome->is_blocked) {
        v->rule = arena_format(w->arena, "hook:%s", hook_event_name(event));
        end_walk(w, VERDICT_DENY, reason_blocked(w->arena, ret_outcome->reason));
    }
    return NULL;
}

/* Only a denial ends the walk here: rules and the mode's denials also hold for what hooks allow. */
static struct err *ask_hooks(struct walk *w)
{
    struct hook_outcome outcome;

    TRY(fire_event(w, HOOK_PRE_TOOL_USE, &outcome));
    w->hook_says = outcome.permission;
    w->hook_reason = outcome.reason;
    if (!w->is_over && outcome.updated_input)
        TRY(replace_arguments(w, outcome.updated_input, reason_bad_hook_change));
    return NULL;
}

/* --- rules and mode --- */

static struct err *apply_rules(struct walk *w)
{
    struct decided *d = &w->decided;

    *d = permission_decide(w->gate->book, w->call->mode, w->verdict->entry->tool, w->verdict->args,
                           w->call->state, &w->prepared);
    *d = permission_decide_hooked(*d, w->hook_says, w->hook_reason);
    w->verdict->rule = arena_str(w->arena, d->rule);
    if (w->prepared.only_looks && !w->prepared.moves)
        w->verdict->risk = (struct call_risk){RISK_INSPECT, .is_trusted = false};
    else
        w->verdict->risk = (struct call_risk){w->verdict->entry->tool->risk, .is_trusted = true};
    w->verdict->must_only_look = d->by == DECIDED_BY_LOOKING;
    if (d->decision == DECISION_AUTO)
        end_walk(w, VERDICT_ALLOW, (struct str){0});
    else if (d->decision == DECISION_DENY)
        end_walk(w, VERDICT_DENY, reason_denied(w->arena, d, w->call->mode));
    return NULL;
}

/* --- the person --- */

static void notify_ask(const struct walk *w, const struct answer *answer)
{
    if (w->call->on_ask)
        w->call->on_ask(w->call->self, &w->verdict->ask, answer);
}

/* An approval may change the arguments. Deny rules apply to these too. */
static struct err *change_arguments(struct walk *w, const struct json *args,
                                    struct str (*reason)(struct arena *a, const struct err *e))
{
    TRY(replace_arguments(w, args, reason));
    if (w->is_over)
        return NULL;
    TRY(apply_rules(w));
    w->is_over = w->decided.decision == DECISION_DENY;
    return NULL;
}

static struct err *apply_yes(struct walk *w, const struct answer *answer)
{
    struct subject s;

    if (answer->args)
        TRY(change_arguments(w, answer->args, reason_bad_change));
    if (w->is_over)
        return NULL;
    if (answer->kind != ANSWER_ONCE) {
        s = subject_of(w);
        s.prepared = &w->prepared;
        gate_remember(&w->gate->keeper, answer->kind, &s, &w->decided, w->call->state, w->arena,
                      w->verdict);
    }
    end_walk(w, VERDICT_ALLOW, (struct str){0});
    return NULL;
}

static struct err *apply_answer(struct walk *w, const struct answer *answer)
{
    struct subject s = subject_of(w);

    switch (answer->kind) {
    case ANSWER_SESSION:
    case ANSWER_PROJECT:
    case ANSWER_ONCE:
        return apply_yes(w, answer);
    case ANSWER_LATER:
        gate_note_asked(w->call, w->own_args, w->verdict, w->arena);
        end_walk(w, VERDICT_LATER, (struct str){0});
        return NULL;
    case ANSWER_NOBODY:
        end_walk(w, VERDICT_DENY, reason_unattended(w->arena, &w->decided, &s));
        return NULL;
    case ANSWER_NO:
    case ANSWER_VALUE: /* an answer to another question is not an approval */
        w->verdict->rule = S(VERDICT_BY_PERSON);
        end_walk(w, VERDICT_DENY, reason_refused(w->arena, answer->reason));
    }
    return NULL;
}

/* A hook may answer for the person. */
static struct err *request_permission(struct walk *w)
{
    struct hook_outcome outcome;

    TRY(fire_event(w, HOOK_PERMISSION_REQUEST, &outcome));
    if (w->is_over || outcome.permission != HOOK_ALLOW)
        return NULL;
    if (outcome.updated_input)
        TRY(change_arguments(w, outcome.updated_input, reason_bad_hook_change));
    if (w->is_over)
        return NULL;
    w->verdict->rule = S("hook:PermissionRequest");
    end_walk(w, VERDICT_ALLOW, (struct str){0});
    return NULL;
}

static void set_question(struct walk *w)
{
    const struct tool *tool = w->verdict->entry->tool;
    struct subject s = subject_of(w);

    w->verdict->ask = (struct ask){.kind = ASK_PERMISSION,
                                   .call_id = arena_str(w->arena, w->call->call->id),
                                   .tool = arena_str(w->arena, str_of(tool->name)),
                                   .args = w->verdict->args,
                                   .text = reason_ask(w->arena, &w->decided, w->call->mode, &s)};
    gate_add_target(&w->prepared, w->arena, &w->verdict->ask.text);
    w->verdict->ask.rule = gate_rule_of(&s, &w->decided, w->arena);
}

static struct err *ask_person(struct walk *w)
{
    struct answer answer = {.kind = ANSWER_NOBODY};
    bool is_answered = gate_is_answered(w->call, w->own_args, w->verdict, w->arena);

    set_question(w);
    if (!is_answered)
        TRY(request_permission(w));
    if (w->is_over)
        return NULL;
    if (is_answered) {
        answer = *w->call->answer;
        notify_ask(w, &answer);
    } else if (w->call->asker) {
        notify_ask(w, NULL);
        TRY(asker_ask(w->call->asker, &w->verdict->ask, w->arena, &answer));
        notify_ask(w, &answer);
    }
    return apply_answer(w, &answer);
}

/* --- the walk --- */

static const struct {
    enum gate_step number;
    struct err *(*run)(struct walk *w);
} steps[] = {
    {GATE_STEP_TOOL, find_tool},      {GATE_STEP_ARGUMENTS, check_arguments},
    {GATE_STEP_POLICY, apply_policy}, {GATE_STEP_HOOKS, ask_hooks},
    {GATE_STEP_RULES, apply_rules},   {GATE_STEP_PERSON, ask_person},
};

static struct err *permission_gate_judge(struct gate *g, const struct gate_call *call,
                                         struct arena *a, struct verdict *ret_verdict)
{
    struct walk w = {
        .gate = (struct permission_gate *)g, .call = call, .arena = a, .verdict = ret_verdict};

    for (size_t i = 0; i < ARRAY_LEN(steps) && !w.is_over; i++) {
        ret_verdict->step = steps[i].number;
        TRY(steps[i].run(&w));
    }
    return NULL;
}

/* A call that does more than look must not run early, so nothing is looked up for it. */
static struct err *check_looks(struct walk *w)
{
    const struct tool *t = w->verdict->entry->tool;
    bool is_line = t->risk == RISK_EXECUTE && str_is(str_of(t->permission_arg), "command");

    if (t->risk != RISK_INSPECT &&
        !(is_line && line_only_looks(json_get_text(w->verdict->args, t->permission_arg))))
        end_walk(w, VERDICT_LATER, (struct str){0});
    return NULL;
}

static struct err *permission_gate_foresee(struct gate *g, const struct gate_call *call,
                                           struct arena *a, struct verdict *ret_verdict,
                                           bool *ret_runs)
{
    struct err *(*const without_others[])(struct walk *) = {find_tool, check_arguments, check_looks,
                                                            apply_policy, apply_rules};
    struct walk w = {
        .gate = (struct permission_gate *)g, .call = call, .arena = a, .verdict = ret_verdict};

    *ret_verdict = (struct verdict){0};
    for (size_t i = 0; i < ARRAY_LEN(without_others) && !w.is_over; i++)
        TRY(without_others[i](&w));
    *ret_runs = w.is_over && ret_verdict->kind == VERDICT_ALLOW;
    if (*ret_runs && w.gate->hooks) {
        struct hook_input input = {.event = HOOK_PRE_TOOL_USE, .fields = hook_fields(&w)};

        *ret_runs = !hooks_has(w.gate->hooks, &input);
    }
    return NULL;
}

/* --- a judgement without a call --- */

static struct str reason_for_person(struct arena *a, const struct decided *d,
                                    enum permission_mode mode, const struct subject *s)
{
    switch (d->decision) {
    case DECISION_AUTO:
        return reason_allowed(a, d, mode, s->tool);
    case DECISION_APPROVE:
        return reason_ask(a, d, mode, s);
    case DECISION_DENY:
        break;
    }
    return reason_denied(a, d, mode);
}

struct err *permission_judge(const struct permission_rules *rules, const struct hard_policy *policy,
                             enum permission_mode mode, const struct tool *tool,
                             const struct json *args, const struct tool_state *state,
                             struct arena *a, struct judged *ret_judged)
{
    struct subject s = {
        .tool = tool, .args = args, .state = state, .environment = rules->environment};
    AUTO(rulebook) struct rulebook *book = rulebook_new(rules);
    struct prepared prepared;
    struct policy_refusal refusal;
    struct decided d;

    TRY(gate_prepare(book, policy, &s, a, &prepared));
    s.prepared = &prepared;
    subject_split_command(&s, a);
    if (hard_policy_refuses(policy, book, &s, a, &refusal)) {
        *ret_judged =
            (struct judged){DECISION_DENY, GATE_STEP_POLICY, refusal.rule, refusal.reason};
        return NULL;
    }
    d = permission_decide(book, mode, tool, args, state, &prepared);
    *ret_judged = (struct judged){d.decision, GATE_STEP_RULES, arena_str(a, d.rule),
                                  reason_for_person(a, &d, mode, &s)};
    return NULL;
}

/* --- the gate --- */

void permission_gate_init(struct permission_gate *g, const struct permission_rules *rules)
{
    *g = (struct permission_gate){
        .gate = {.judge = permission_gate_judge, .foresee = permission_gate_foresee}};
    permission_gate_set_rules(g, rules);
}

void permission_gate_set_rules(struct permission_gate *g, const struct permission_rules *rules)
{
    rulebook_free(g->book);
    g->book = rulebook_new(rules);
    g->rules = *rules;
}

void permission_gate_done(struct permission_gate *g)
{
    rulebook_free(g->book);
    g->book = NULL;
}
