/* ask.c - asks the host whether a call may run: an asker over control requests. */
#include "cli/lines/parts.h"

/* --- asking --- */

/* "Tool(argument)" as the host's rules spell it, for as long as the session lives. */
static void field_suggestion(struct json_writer *w, struct str rule)
{
    size_t open = str_find_char(rule, '(');

    jw_key(w, "permission_suggestions");
    jw_begin_array(w);
    if (rule.n) {
        jw_begin_object(w);
        jw_kv_str(w, "type", S("addRules"));
        jw_key(w, "rules");
        jw_begin_array(w);
        jw_begin_object(w);
        jw_kv_str(w, "toolName", str_slice(rule, 0, MIN(open, rule.n)));
        if (open < rule.n)
            jw_kv_str(w, "ruleContent", str_slice(rule, open + 1, rule.n - open - 2));
        jw_end_object(w);
        jw_end_array(w);
        jw_kv_str(w, "behavior", S("allow"));
        jw_kv_str(w, "destination", S("session"));
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void show_question(void *self, const struct open_question *q)
{
    const struct ask *ask = q->ask;
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    jw_init(&w, &out);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", S("control_request"));
    jw_kv_str(&w, "request_id", q->id);
    jw_key(&w, "request");
    jw_begin_object(&w);
    jw_kv_str(&w, "subtype", S("can_use_tool"));
    jw_kv_str(&w, "tool_name", ask->tool);
    jw_kv_str(&w, "display_name", ask->tool);
    jw_kv_json(&w, "input", ask->args);
    if (json_get_text(ask->args, "description").n)
        jw_kv_str(&w, "description", json_get_text(ask->args, "description"));
    field_suggestion(&w, ask->rule);
    if (ask->kind != ASK_PLAN) /* whose text is the plan, which is in the input */
        jw_kv_str(&w, "decision_reason", ask->text);
    jw_kv_str(&w, "tool_use_id", ask->call_id);
    jw_end_object(&w);
    jw_end_object(&w);
    input_say(self, &out);
}

static void withdraw_question(void *self, const struct open_question *q)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    jw_init(&w, &out);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", S("control_cancel_request"));
    jw_kv_str(&w, "request_id", q->id);
    jw_end_object(&w);
    input_say(self, &out);
}

/* An answer to a question that was closed is ignored. */
void input_take_answer(struct input *in, const struct json *line)
{
    const struct json *response = json_get(line, "response");

    live_session_answer(in->live, json_get_text(response, "request_id"), response);
}

/* --- rules that come with a yes --- */

/* "Tool(content)", from how the host spells it. */
static struct str pattern_of(struct arena *a, const struct json *rule)
{
    struct str name = json_get_text(rule, "toolName"), content = json_get_text(rule, "ruleContent");

    return content.n
               ? arena_format(a, "%" STR_FMT "(%" STR_FMT ")", STR_ARG(name), STR_ARG(content))
               : name;
}

static void add_rules(struct input *in, const struct ask *ask, struct arena *a,
                      const struct json *update, bool is_for_project, struct answer *answer)
{
    json_each (rule, json_get(update, "rules")) {
        struct str pattern = pattern_of(a, rule);
        AUTO(err) struct err *e = NULL;

        if (!permission_pattern_is_valid(pattern))
            cli_tell("\"%" STR_FMT "\" is not a valid rule; ignored", STR_ARG(pattern));
        else if (is_for_project && str_eq(pattern, ask->rule))
            answer->kind = ANSWER_PROJECT; /* keel proposed it: the gate remembers it */
        else
            e = agent_allow(in->live->agent, pattern, is_for_project);
        if (e)
            cli_tell_error(e);
    }
}

/* Of a project's settings keel writes only the person's own. */
static void apply_update(struct input *in, const struct ask *ask, struct arena *a,
                         const struct json *update, struct answer *answer)
{
    struct str type = json_get_text(update, "type"),
               destination = json_get_text(update, "destination");
    bool adds_allow_rules =
        str_is(type, "addRules") && str_is(json_get_text(update, "behavior"), "allow");
    bool is_for_session = str_is(destination, "session");
    bool is_for_project =
        str_is(destination, "localSettings") || str_is(destination, "projectSettings");

    if (adds_allow_rules && (is_for_session || is_for_project)) {
        add_rules(in, ask, a, update, is_for_project, answer);
    } else if (str_is(type, "setMode") && is_for_session) {
        AUTO(err) struct err *e = input_set_mode(in, json_get_text(update, "mode"));

        if (e)
            cli_tell_error(e);
    } else {
        cli_tell("a permission update (%" STR_FMT ", %" STR_FMT
                 ") is ignored: keel can only add allow rules for the session or the project, "
                 "and set the mode for the session",
                 STR_ARG(type), STR_ARG(destination));
    }
}

/* --- what an answer means --- */

static void read_yes(struct input *in, const struct ask *ask, const struct json *said,
                     struct arena *a, struct answer *ret_answer)
{
    const struct json *args = json_get(said, "updatedInput");

    if (!json_is(args, JSON_OBJECT))
        args = NULL;
    *ret_answer = (struct answer){.kind = ANSWER_ONCE};
    json_each (update, json_get(said, "updatedPermissions"))
        apply_update(in, ask, a, update, ret_answer);
    if (ask->kind == ASK_QUESTION && json_has(args, "answers"))
        *ret_answer = (struct answer){.kind = ANSWER_VALUE, .value = args};
    else if (args && !json_equal(args, ask->args))
        ret_answer->args = args;
}

static void read_answer(void *self, const struct open_question *q, const struct json *response,
                        struct answer *ret_answer)
{
    struct input *in = self;
    const struct json *said = json_get(response, "response");
    struct str behavior = json_get_text(said, "behavior");

    if (str_is(behavior, "allow"))
        read_yes(in, q->ask, said, q->arena, ret_answer);
    else if (str_is(behavior, "deny"))
        *ret_answer = (struct answer){.kind = ANSWER_NO, .reason = json_get_text(said, "message")};
    else
        *ret_answer = (struct answer){
            .kind = ANSWER_NO,
            .reason = arena_format(q->arena, "(the host could not answer: %" STR_FMT ")",
                                   STR_ARG(json_get_text(response, "error")))};
    if (str_is(behavior, "deny") && json_bool(json_get(said, "interrupt"), false))
        live_session_interrupt(in->live);
}

static bool refuses_question(void *self, const struct ask *ask)
{
    return ask->kind == ASK_BUDGET;
}

const struct question_face *input_questions(struct input *in)
{
    if (!in || !in->asks_host)
        return NULL;
    in->questions = (struct question_face){.refuses = refuses_question,
                                           .show = show_question,
                                           .withdraw = withdraw_question,
                                           .read = read_answer,
                                           .self = in};
    return &in->questions;
}
