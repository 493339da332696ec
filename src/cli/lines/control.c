/* control.c - what a host may ask of keel while it runs, and what it is answered. */
#include "cli/lines/parts.h"

#include "view/stream_json.h"

/* --- initialize --- */

static bool is_nothing(const struct json *v)
{
    return !v || v->type == JSON_NULL || (v->type == JSON_BOOL && !v->boolean) ||
           (v->type == JSON_STRING && v->text.n == 0) ||
           ((v->type == JSON_ARRAY || v->type == JSON_OBJECT) && v->n == 0);
}

/* Members of initialize that change what a run does. Ignoring one is worse than ending: a host may
 * rely on a hook to forbid something. */
static const struct {
    const char *name, *what;
} not_there[] = {
    {"hooks", "hooks that are callbacks of the host"},
    {"sdkMcpServers", "MCP servers inside the host"},
    {"agents", "agents"},
    {"plugins", "plugins"},
    {"managedSettings", "managed settings"},
    {"skills", "skills"},
    {"toolAliases", "tool aliases"},
    {"planModeInstructions", "plan mode instructions"},
};

static struct err *check_initialize(const struct json *request)
{
    for (size_t i = 0; i < ARRAY_LEN(not_there); i++)
        if (!is_nothing(json_get(request, not_there[i].name)))
            return err_new(ERR_VALIDATION,
                           "initialize asks for %s (%s), which keel does not support",
                           not_there[i].what, not_there[i].name);
    return NULL;
}

/* One text, or a list of them. */
static const char *prompt_text(struct arena *a, const struct json *given)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (json_is(given, JSON_STRING))
        return arena_cstr(a, given->text);
    if (!json_is(given, JSON_ARRAY))
        return NULL;
    json_each (part, given) {
        strbuf_add_cstr(&text, text.n && json_str(part).n ? "\n\n" : "");
        strbuf_add(&text, json_str(part));
    }
    return arena_cstr(a, strbuf_str(&text));
}

static void field_list(struct json_writer *w, const char *key)
{
    jw_key(w, key);
    jw_begin_array(w);
    jw_end_array(w);
}

/* The models that this agent asks, by names that set_model takes. */
static void field_models(struct json_writer *w, const struct agent *a)
{
    const struct run_plan *plan = agent_get_plan(a);

    jw_key(w, "models");
    jw_begin_array(w);
    for (size_t i = 0; i < plan->n_targets; i++) {
        const struct target *t = &plan->targets[i];
        AUTO(strbuf) struct strbuf name = {0};

        strbuf_addf(&name, "%" STR_FMT "/%" STR_FMT, STR_ARG(t->provider->id), STR_ARG(t->model));
        jw_begin_object(w);
        jw_kv_str(w, "value", strbuf_str(&name));
        jw_kv_str(w, "displayName", t->model);
        jw_kv_str(w, "description", i ? S("fallback") : S("the model of this session"));
        jw_end_object(w);
    }
    jw_end_array(w);
}

static struct err *initialize(struct input *in, const struct json *request, struct json_writer *w)
{
    AUTO(arena) struct arena a = {0};
    struct agent *agent = in->live->agent;
    struct str key = agent_get_model(agent)->profile.key_source;

    TRY(check_initialize(request));
    TRY(agent_set_prompt(agent, prompt_text(&a, json_get(request, "systemPrompt")),
                         prompt_text(&a, json_get(request, "appendSystemPrompt"))));
    field_list(w, "commands");
    field_list(w, "agents");
    jw_kv_str(w, "output_style", S("default"));
    jw_kv_raw(w, "available_output_styles", S("[\"default\"]"));
    field_models(w, agent);
    jw_key(w, "account");
    jw_begin_object(w);
    jw_kv_str(w, "apiKeySource", key.n ? key : S("none"));
    jw_end_object(w);
    jw_kv_str(w, "claude_code_version", S(KEEL_VERSION));
    return NULL;
}

/* --- changes --- */

/* The view is updated here, because before the first run no event carries the mode. */
struct err *input_set_mode(struct input *in, struct str name)
{
    TRY(live_session_set_mode(in->live, name));
    stream_json_set_mode(in->json->view, permission_mode_name(agent_get_mode(in->live->agent)));
    return NULL;
}

static struct err *set_mode(struct input *in, const struct json *request, struct json_writer *w)
{
    TRY(input_set_mode(in, json_get_text(request, "mode")));
    jw_kv_str(w, "mode", str_of(permission_mode_name(agent_get_mode(in->live->agent))));
    return NULL;
}

static struct err *set_model(struct input *in, const struct json *request, struct json_writer *w)
{
    AUTO(arena) struct arena a = {0};
    struct agent *agent = in->live->agent;
    const struct json *model = json_get(request, "model");
    bool is_first = !model || model->type == JSON_NULL || str_is(json_str(model), "default");

    TRY(agent_set_model(agent, is_first ? NULL : arena_cstr(&a, json_str(model))));
    jw_kv_str(w, "model", agent_get_plan(agent)->targets[0].model);
    return NULL;
}

static struct err *set_thinking(struct input *in, const struct json *request, struct json_writer *w)
{
    const struct json *given = json_get(request, "max_thinking_tokens");
    int64_t n = -1;

    if (!is_nothing(given) && (!json_int64(given, &n) || n < 0))
        return err_new(ERR_VALIDATION, "max_thinking_tokens must be 0 or more, or null");
    agent_set_thinking(in->live->agent, n);
    return NULL;
}

/* --- the rest --- */

static struct err *interrupt(struct input *in, const struct json *request, struct json_writer *w)
{
    live_session_interrupt(in->live);
    jw_key(w, "still_queued");
    jw_begin_array(w);
    for (const struct live_prompt *p = live_session_queue(in->live); p; p = p->next)
        jw_str(w, p->message->id);
    jw_end_array(w);
    return NULL;
}

static struct err *mcp_status(struct input *in, const struct json *request, struct json_writer *w)
{
    field_list(w, "mcpServers");
    return NULL;
}

static const struct {
    const char *subtype;
    struct err *(*answer)(struct input *in, const struct json *request, struct json_writer *w);
    bool is_fatal; /* the host must not continue as if it had worked */
} requests[] = {
    {"initialize", initialize, true},          {"interrupt", interrupt},
    {"set_permission_mode", set_mode},         {"set_model", set_model},
    {"set_max_thinking_tokens", set_thinking}, {"mcp_status", mcp_status},
};

static void begin_answer(struct json_writer *w, struct strbuf *out, struct str id, struct str kind)
{
    jw_init(w, out);
    jw_begin_object(w);
    jw_kv_str(w, "type", S("control_response"));
    jw_key(w, "response");
    jw_begin_object(w);
    jw_kv_str(w, "subtype", kind);
    jw_kv_str(w, "request_id", id);
}

static void end_answer(struct input *in, struct json_writer *w)
{
    jw_end_object(w);
    jw_end_object(w);
    input_say(in, w->out);
}

static void say_error(struct input *in, struct str id, const struct err *e)
{
    AUTO(strbuf) struct strbuf out = {0};
    AUTO_FREE char *text = err_message(e);
    struct json_writer w;

    begin_answer(&w, &out, id, S("error"));
    jw_kv_str(&w, "error", str_of(text));
    end_answer(in, &w);
}

static struct err *answer_request(struct input *in, const struct json *request, size_t which,
                                  struct str id)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    begin_answer(&w, &out, id, S("success"));
    jw_key(&w, "response");
    jw_begin_object(&w);
    TRY(requests[which].answer(in, request, &w));
    jw_end_object(&w);
    end_answer(in, &w);
    return NULL;
}

struct err *input_control(struct input *in, const struct json *line)
{
    const struct json *request = json_get(line, "request");
    struct str id = json_get_text(line, "request_id"), subtype = json_get_text(request, "subtype");
    AUTO(err) struct err *e = NULL;
    size_t i = 0;

    if (id.n == 0)
        return err_new(ERR_VALIDATION, "a control_request needs its request_id");
    while (i < ARRAY_LEN(requests) && !str_is(subtype, requests[i].subtype))
        i++;
    if (i == ARRAY_LEN(requests))
        e = err_new(ERR_VALIDATION, "keel has no control request \"%" STR_FMT "\"",
                    STR_ARG(subtype));
    else
        e = answer_request(in, request, i, id);
    if (!e)
        return NULL;
    say_error(in, id, e);
    return i < ARRAY_LEN(requests) && requests[i].is_fatal ? TAKE(e) : NULL;
}
