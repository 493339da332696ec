/* hook_points.c - where a run waits for a person's hooks, and what they change.
 *
 * Whether a tool may run is asked in the gate; here are the others: the prompt, the end of a call,
 * the end of the turn. */
#include "engine/run_state.h"

/* What a hook says may enter the conversation. */
static void hide_in_outcome(const struct secrets *s, struct arena *a, struct hook_outcome *o)
{
    struct str *texts[] = {&o->reason, &o->additional_context, &o->system_message, &o->stop_reason};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = hide_in_str(s, a, *texts[i], NULL);
    o->updated_input = secrets_hide_in_json(s, a, o->updated_input, NULL);
}

struct err *run_ask_hooks(struct run *r, enum hook_event event, struct str matched,
                          const struct json *fields, struct arena *a,
                          struct hook_outcome *ret_outcome)
{
    struct hook_input input = {.event = event,
                               .matched = matched,
                               .fields = secrets_hide_in_json(r->secrets, a, fields, NULL)};

    TRY(hooks_run(r->kit->hooks, &input, a, ret_outcome));
    hide_in_outcome(r->secrets, a, ret_outcome);
    if (ret_outcome->system_message.n)
        run_notice(r, SEVERITY_WARNING, "hook", ret_outcome->system_message);
    if (ret_outcome->stops_run)
        return err_new(ERR_PLUGIN, "a %s hook ended the run: %" STR_FMT, hook_event_name(event),
                       STR_ARG(ret_outcome->stop_reason));
    return NULL;
}

/* --- the prompt --- */

void run_replace_prompt(struct run *r, struct message **prompt, struct str text)
{
    struct message *other = run_new_message(r, ROLE_USER);

    message_add_text(other, text);
    for (size_t i = 0; i < (*prompt)->n_parts; i++)
        if ((*prompt)->parts[i].kind != PART_TEXT)
            message_add(other, &(*prompt)->parts[i]);
    message_unref(*prompt);
    *prompt = other;
}

static void add_context(struct run *r, struct message **prompt, struct str context)
{
    struct message *longer = run_new_message(r, ROLE_USER);

    for (size_t i = 0; i < (*prompt)->n_parts; i++)
        message_add(longer, &(*prompt)->parts[i]);
    message_add_context(longer, context);
    message_unref(*prompt);
    *prompt = longer;
}

/* Hooks of prompts and answers are about a person's turns. */
static bool has_turn_hooks(const struct run *r)
{
    return r->kit->hooks && !r->input->parent;
}

struct err *hook_prompt(struct run *r, struct message **prompt)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct json *fields = json_new(&a, JSON_OBJECT);
    struct hook_outcome outcome;

    if (!has_turn_hooks(r))
        return NULL;
    message_text(*prompt, &text);
    json_set_str(&a, fields, "prompt", strbuf_str(&text));
    TRY(run_ask_hooks(r, HOOK_USER_PROMPT_SUBMIT, (struct str){0}, fields, &a, &outcome));
    if (outcome.is_blocked)
        return err_new(ERR_VALIDATION, "the prompt was blocked by a hook: %" STR_FMT,
                       STR_ARG(outcome.reason));
    if (json_has(outcome.updated_input, "prompt"))
        run_replace_prompt(r, prompt, json_get_text(outcome.updated_input, "prompt"));
    if (outcome.additional_context.n)
        add_context(r, prompt, outcome.additional_context);
    return NULL;
}

/* --- calls --- */

static void add_to_result(struct call *c, struct str text)
{
    if (text.n == 0)
        return;
    if (c->result.text.n && !str_ends(strbuf_str(&c->result.text), S("\n")))
        strbuf_add_char(&c->result.text, '\n');
    strbuf_add(&c->result.text, text);
}

/* No event of the tool has what is added after its end, so it is kept apart. */
static void add_after_end(struct call *c, struct str text)
{
    struct str whole;

    add_to_result(c, text);
    whole = strbuf_str(&c->result.text);
    if (!c->hook_text.n)
        c->hook_text_at = whole.n - text.n;
    c->hook_text = arena_str(&c->arena, str_skip(whole, c->hook_text_at));
}

struct err *hook_tool_judged(struct call *c)
{
    const struct verdict *v = &c->verdict;

    if (v->hook_message.n)
        run_notice(c->run, SEVERITY_WARNING, "hook", v->hook_message);
    if (!c->is_ready)
        add_to_result(c, v->hook_context);
    c->stops_run = v->stops_run;
    if (!v->stops_run)
        return NULL;
    return err_new(ERR_PLUGIN, "a PreToolUse hook ended the run: %" STR_FMT,
                   STR_ARG(v->stop_reason));
}

/* With the first result of a batch. */
static void add_reminder(struct call *c)
{
    const struct run_kit *kit = c->run->kit;
    AUTO(strbuf) struct strbuf text = {0};

    if (c->index > 0 || !c->was_executed || !kit->remind)
        return;
    kit->remind(kit->remind_self, &c->run->conversation->history, &text);
    add_after_end(c, strbuf_str(&text));
}

struct err *hook_tool_done(struct call *c)
{
    struct run *r = c->run;
    struct json *fields;
    struct hook_outcome outcome = {0};
    struct err *e;

    if (!c->was_executed && c->code && strcmp(c->code, err_code(ERR_CANCELLED)) == 0)
        return NULL; /* interrupted before it ran: nothing to ask about */
    add_after_end(c, c->verdict.hook_context);
    add_reminder(c);
    if (!r->kit->hooks || !c->was_executed)
        return NULL;
    fields = json_new(&c->arena, JSON_OBJECT);
    json_set_str(&c->arena, fields, "tool_name", c->part->name);
    json_set_str(&c->arena, fields, "tool_use_id", c->part->id);
    json_set(&c->arena, fields, "tool_input", json_copy(&c->arena, c->verdict.args));
    json_set_str(&c->arena, fields, "tool_output", strbuf_str(&c->result.text));
    json_set(&c->arena, fields, "tool_response",
             c->result.details ? json_copy(&c->arena, c->result.details)
                               : json_new_str(&c->arena, strbuf_str(&c->result.text)));
    e = run_ask_hooks(r, HOOK_POST_TOOL_USE, c->part->name, fields, &c->arena, &outcome);
    c->stops_run = e && outcome.stops_run;
    TRY(e);
    if (outcome.is_blocked)
        add_after_end(
            c, arena_format(&c->arena, "Blocked by hook: %" STR_FMT, STR_ARG(outcome.reason)));
    add_after_end(c, outcome.additional_context);
    return NULL;
}

/* --- the end --- */

/* Without a copy, as an answer may be long; it lives longer than the fields. */
static void set_answer(struct arena *a, struct json *fields, struct str answer)
{
    static const char *const names[] = {"response", "last_assistant_message"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct json *v = json_new(a, JSON_STRING);

        v->text = answer;
        json_set(a, fields, names[i], v);
    }
}

/* Asks whether the work is done. The answer is durable before a hook acts on it: a run that is
 * resumed asks the hook about the same answer again. */
static struct err *ask_stop(struct run *r, struct str answer, struct hook_outcome *ret_outcome)
{
    struct json *fields;

    *ret_outcome = (struct hook_outcome){0};
    if (!has_turn_hooks(r))
        return NULL;
    TRY(run_sync(r));
    fields = json_new(&r->arena, JSON_OBJECT);
    set_answer(&r->arena, fields, answer);
    json_set_bool(&r->arena, fields, "stop_hook_active", r->stop_hook_active);
    return run_ask_hooks(r, HOOK_STOP, (struct str){0}, fields, &r->arena, ret_outcome);
}

/* A hook that always blocks must not keep the model at work without end. */
static bool may_block(struct run *r)
{
    unsigned max = r->kit->max_stop_blocks ? r->kit->max_stop_blocks : RUN_DEFAULT_MAX_STOP_BLOCKS;

    if (r->n_stop_blocks++ < max)
        return true;
    run_notice(r, SEVERITY_WARNING, "hook",
               arena_format(&r->arena,
                            "a Stop hook has made the model continue %u times; the turn ends with "
                            "this answer (raise stopHookBlocks in the settings to allow more)",
                            max));
    return false;
}

struct err *hook_stop(struct run *r, struct str answer, struct str *ret_reason)
{
    struct hook_outcome outcome;

    *ret_reason = (struct str){0};
    TRY(ask_stop(r, answer, &outcome));
    if (!outcome.is_blocked || !may_block(r))
        return NULL;
    r->stop_hook_active = true;
    *ret_reason = outcome.reason.n ? outcome.reason : S("A hook says that the work is not done.");
    return NULL;
}

struct err *hook_last_stop(struct run *r, struct str answer)
{
    struct hook_outcome outcome;

    TRY(ask_stop(r, answer, &outcome));
    if (outcome.is_blocked)
        run_notice(r, SEVERITY_WARNING, "hook",
                   S("a Stop hook wants the model to continue, but this was its last turn"));
    return NULL;
}

void hook_failure(struct run *r, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);
    struct json *fields;
    struct hook_outcome outcome;

    if (!has_turn_hooks(r))
        return;
    fields = json_new(&r->arena, JSON_OBJECT);
    json_set_str(&r->arena, fields, "reason", str_of(text));
    json_set_str(&r->arena, fields, "error", str_of(err_code(e->kind)));
    json_set_str(&r->arena, fields, "error_code", str_of(err_code(e->kind)));
    set_answer(&r->arena, fields, r->result->text);
    err_ignore(run_ask_hooks(r, HOOK_STOP_FAILURE, (struct str){0}, fields, &r->arena, &outcome),
               "the failure itself was reported");
}
