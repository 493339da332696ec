/* encode.c - the Chat Completions protocol, POST /chat/completions, and its requests: settings and
 * tools.
 *
 * Made by OpenAI and spoken by most others. Base URLs of this protocol end in the version ("/v1"),
 * because vendors disagree about that part. */
#include "provider/openai_chat/openai_chat.h"

#include "net/url.h"

/* --- reasoning --- */

/* A model that is known not to reason refuses an effort. */
static bool may_reason(const struct model_request *r)
{
    return !r->info || request_can(r, CAN_REASON);
}

static bool wants_reasoning(const struct model_request *r)
{
    return request_effort(r) > EFFORT_NONE || r->reasoning_budget > 0;
}

static void write_reasoning_object(struct body *b)
{
    const struct model_request *r = b->request;

    if (!body_key(b, "reasoning"))
        return;
    jw_begin_object(&b->w);
    if (r->reasoning_budget > 0)
        jw_kv_int(&b->w, "max_tokens", r->reasoning_budget);
    else
        jw_kv_str(&b->w, "effort", effort_word(r, b->dialect));
    jw_end_object(&b->w);
}

static bool is_unasked(const struct model_request *r)
{
    return request_effort(r) == EFFORT_UNSET && r->reasoning_budget <= 0;
}

/* Must the request ask the model to use the thoughts of earlier turns? */
static bool is_keeping(const struct body *b)
{
    const struct model_request *r = b->request;
    const char *models = b->dialect->keeping_models;

    return b->dialect->keeping && (wants_reasoning(r) || is_unasked(r)) &&
           (!models || str_starts(r->model, str_of(models)));
}

/* The effort is a member of its own, if the model is known to accept it. */
static void write_thinking_type(struct body *b)
{
    const struct model_request *r = b->request;
    bool is_on = wants_reasoning(r) || is_unasked(r);

    if (body_key(b, "thinking")) {
        jw_begin_object(&b->w);
        jw_kv_str(&b->w, "type", is_on ? S("enabled") : S("disabled"));
        if (is_keeping(b) && b->dialect->keeping == KEEPS_CLEAR_THINKING)
            jw_kv_bool(&b->w, "clear_thinking", false);
        else if (is_keeping(b))
            jw_kv_str(&b->w, "keep", S("all"));
        jw_end_object(&b->w);
    }
    if (request_effort(r) > EFFORT_NONE && (b->dialect->efforts || (r->info && r->info->efforts)))
        body_str(b, "reasoning_effort", effort_word(r, b->dialect));
}

static void write_enable_thinking(struct body *b)
{
    const struct model_request *r = b->request;

    if (!is_unasked(r))
        body_bool(b, "enable_thinking", wants_reasoning(r));
    if (r->reasoning_budget > 0)
        body_int(b, "thinking_budget", r->reasoning_budget);
    if (is_keeping(b))
        body_bool(b, "preserve_thinking", true);
}

static void write_reasoning(struct body *b)
{
    const struct model_request *r = b->request;

    if ((is_unasked(r) && !is_keeping(b)) || !may_reason(r))
        return;
    if (!wants_reasoning(r) && request_can(r, REASONS_ALWAYS))
        return;
    switch (b->dialect->reasoning_style) {
    case REASONING_EFFORT_FIELD:
        body_str(b, "reasoning_effort", effort_word(r, b->dialect));
        break;
    case REASONING_OBJECT:
        write_reasoning_object(b);
        break;
    case REASONING_THINKING_TYPE:
        write_thinking_type(b);
        break;
    case REASONING_ENABLE_THINKING:
        write_enable_thinking(b);
        break;
    case REASONING_UNSUPPORTED:
        break;
    }
}

/* --- other settings --- */

static void write_stream(struct body *b)
{
    if (!b->request->stream)
        return;
    body_bool(b, "stream", true);
    if (!b->dialect->no_stream_usage && body_key(b, "stream_options"))
        jw_raw(&b->w, S("{\"include_usage\":true}"));
}

static void write_sampling(struct body *b)
{
    const struct sampling *s = &b->request->sampling;

    if (!request_can(b->request, NO_SAMPLING)) {
        body_maybe(b, "temperature", s->temperature);
        body_maybe(b, "top_p", s->top_p);
        body_maybe(b, "frequency_penalty", s->frequency_penalty);
        body_maybe(b, "presence_penalty", s->presence_penalty);
        if (s->top_k > 0 && b->dialect->takes_top_k)
            body_int(b, "top_k", s->top_k);
    }
    if (s->has_seed)
        body_int(b, "seed", s->seed);
    body_stop(b, "stop");
}

static void write_json_schema(struct body *b)
{
    const struct model_request *r = b->request;

    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", S("json_schema"));
    jw_key(&b->w, "json_schema");
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "name", r->output_name.n ? r->output_name : S("answer"));
    jw_kv_json(&b->w, "schema", r->output_schema);
    jw_kv_bool(&b->w, "strict", schema_is_strict(r->output_schema));
    jw_end_object(&b->w);
    jw_end_object(&b->w);
}

static void write_response_format(struct body *b)
{
    if (!b->request->output_schema || !body_key(b, "response_format"))
        return;
    if (b->dialect->no_json_schema)
        jw_raw(&b->w, S("{\"type\":\"json_object\"}"));
    else
        write_json_schema(b);
}

static void write_cache(struct body *b)
{
    const struct model_request *r = b->request;

    if (r->cache == PROMPT_CACHE_OFF)
        return;
    if (b->dialect->has_prompt_cache_key)
        body_str(b, "prompt_cache_key", r->cache_key);
    /* The router places the mark that moves with the conversation. */
    if (b->dialect->cache_marks && !b->dialect->no_top_level_cache && body_key(b, "cache_control"))
        jw_raw(&b->w, chat_cache_mark(r));
}

static void write_vendor_switches(struct body *b)
{
    if (b->dialect->reports_cost && body_key(b, "usage"))
        jw_raw(&b->w, S("{\"include\":true}"));
    if (b->dialect->web_search_options && b->request->web_search &&
        body_key(b, "web_search_options"))
        jw_raw(&b->w, S("{}"));
}

/* --- tools --- */

bool chat_is_custom(const struct body *b, bool takes_free_text)
{
    return takes_free_text && !b->dialect->no_custom_tools;
}

static void write_tool(struct body *b, const struct tool_def *t)
{
    bool is_custom = chat_is_custom(b, t->takes_free_text);
    const char *kind = is_custom ? "custom" : "function";

    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", str_of(kind));
    jw_key(&b->w, kind);
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "name", t->name);
    if (t->description.n)
        jw_kv_str(&b->w, "description", t->description);
    if (!is_custom) {
        jw_key(&b->w, "parameters");
        jw_tool_schema(&b->w, t);
        if (t->strict && !b->dialect->no_strict_tools)
            jw_kv_bool(&b->w, "strict", true);
    }
    jw_end_object(&b->w);
    jw_end_object(&b->w);
}

static void write_tools(struct body *b)
{
    const struct model_request *r = b->request;

    if (r->n_tools == 0 || !body_key(b, "tools"))
        return;
    jw_begin_array(&b->w);
    for (size_t i = 0; i < r->n_tools; i++)
        write_tool(b, r->tools[i]);
    jw_end_array(&b->w);
}

static bool names_custom_tool(const struct body *b, struct str name)
{
    const struct model_request *r = b->request;

    for (size_t i = 0; i < r->n_tools; i++)
        if (str_eq(r->tools[i]->name, name))
            return chat_is_custom(b, r->tools[i]->takes_free_text);
    return false;
}

static void write_named_choice(struct body *b)
{
    struct str name = b->request->tool_choice.name;
    const char *kind = names_custom_tool(b, name) ? "custom" : "function";

    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", str_of(kind));
    jw_key(&b->w, kind);
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "name", name);
    jw_end_object(&b->w);
    jw_end_object(&b->w);
}

static void write_tool_choice(struct body *b)
{
    const struct tool_choice *c = &b->request->tool_choice;

    if (b->request->n_tools == 0)
        return;
    if (c->kind != TOOL_CHOICE_AUTO && body_key(b, "tool_choice")) {
        if (c->kind == TOOL_CHOICE_NAMED)
            write_named_choice(b);
        else
            jw_str(&b->w, c->kind == TOOL_CHOICE_ANY ? S("required") : S("none"));
    }
    if (c->one_at_a_time && !b->dialect->no_parallel_switch)
        body_bool(b, "parallel_tool_calls", false);
    if (b->request->stream && b->dialect->tool_stream)
        body_bool(b, "tool_stream", true);
}

static struct err *chat_encode(const struct model_request *r, const struct dialect *d,
                               struct strbuf *out)
{
    AUTO(schema_request) struct schema_request with_schema = {0};
    struct body b;

    if (r->output_schema && d->no_json_schema) {
        schema_request_init(&with_schema, r);
        r = &with_schema.request;
    }

    body_begin(&b, r, d, out);
    body_str(&b, "model", r->model);
    if (r->max_output > 0)
        body_int(&b, d->max_tokens_old_name ? "max_tokens" : "max_completion_tokens",
                 r->max_output);
    write_stream(&b);
    write_reasoning(&b);
    write_sampling(&b);
    write_response_format(&b);
    write_cache(&b);
    write_vendor_switches(&b);
    body_options(&b);
    write_tools(&b);
    write_tool_choice(&b);
    TRY(chat_write_messages(&b));
    return body_end(&b);
}

/* --- the protocol --- */

static void chat_path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    if (d->deployments) {
        strbuf_add_cstr(out, "/deployments/");
        url_add_encoded(out, r->model);
    }
    strbuf_add_cstr(out, "/chat/completions");
}

const struct protocol protocol_openai_chat = {
    .name = "openai-chat",
    .api_surface = "chat-completions",
    .form = {.bytes = FORM_WEB_IMAGES "application/pdf audio/wav audio/mpeg text/ ",
             .addresses = FORM_WEB_IMAGES,
             .counts_answer = true},
    .path = chat_path,
    .encode = chat_encode,
    .begin = openai_chat_begin,
    .is_event = openai_chat_is_event,
    .event = openai_chat_event,
    .body = openai_chat_body,
    .end = openai_chat_end,
    .classify = openai_classify,
};
