/* encode.c - the Anthropic Messages protocol, POST /v1/messages, and its requests. */
#include "provider/encode.h"

#include "net/url.h"
#include "provider/anthropic/anthropic.h"
#include "provider/schema_lower.h"

#define MAX_CALL_ID 64
#define MIN_THINKING_BUDGET 1024
#define DEFAULT_THINKING_BUDGET 31999

/* --- settings --- */

static bool forces_a_tool(const struct model_request *r)
{
    return r->n_tools && r->tool_choice.kind >= TOOL_CHOICE_ANY && !request_can(r, NO_FORCED_TOOLS);
}

/* Models that the catalogue does not know are assumed to be new; these choose their own budget. */
static bool thinks_adaptively(const struct model_request *r)
{
    return !r->info || request_can(r, REASONS_ADAPTIVELY);
}

static bool is_thought(const struct model_request *r, const struct message *m, const struct part *p)
{
    return p->kind == PART_REASONING && part_is_native(r, m, p) && (p->signature.n || p->data.n);
}

/* Is this a turn in progress, with tools, that did not begin with thinking? Another model may have
 * begun it, or this one with thinking off. */
static bool is_in_thoughtless_turn(const struct model_request *r)
{
    const struct message *first = NULL;
    size_t at = r->last_user;

    for (size_t i = r->n_messages; !at && i > 0; i--)
        at = r->messages[i - 1]->role == ROLE_USER ? i : 0;
    for (; !first && at < r->n_messages; at++)
        if (r->messages[at]->role == ROLE_ASSISTANT)
            first = r->messages[at];
    return first && !(first->n_parts && is_thought(r, first, &first->parts[0]));
}

/* A setting that excludes thinking was made on purpose; thinking is only the default. */
static bool has_sampling(const struct model_request *r)
{
    const struct sampling *s = &r->sampling;

    return !request_can(r, NO_SAMPLING) &&
           (s->temperature.is_set || s->top_p.is_set || s->top_k > 0);
}

/* How much a model with a budget may think before it answers. */
static int64_t thinking_budget(const struct model_request *r)
{
    int64_t most = request_max_output(r);

    if (r->effort == EFFORT_UNSET && r->reasoning_budget <= 0)
        return MIN((int64_t)DEFAULT_THINKING_BUDGET, most / 2);
    return MIN(request_reasoning_budget(r), most - 1);
}

enum thinking {
    THINKING_UNSAID, /* the API's default applies */
    THINKING_OFF,
    THINKING_BETWEEN_TOOLS,
    THINKING_ADAPTIVE,
    THINKING_BUDGET,
};

/* Models think by default. The API refuses thinking together with a forced tool, and a budget in
 * the middle of a turn that began without. */
static enum thinking choose_thinking(const struct model_request *r)
{
    bool is_asked = r->effort > EFFORT_NONE || r->reasoning_budget > 0;

    if (r->effort == EFFORT_NONE && !is_asked) {
        if (request_can(r, REASONS_BETWEEN_TOOLS))
            return THINKING_BETWEEN_TOOLS;
        return request_can(r, REASONS_ALWAYS) ? THINKING_UNSAID : THINKING_OFF;
    }
    if (!is_asked && (!request_can(r, CAN_REASON) || has_sampling(r)))
        return THINKING_UNSAID;
    if (forces_a_tool(r))
        return THINKING_UNSAID;
    if (thinks_adaptively(r))
        return THINKING_ADAPTIVE;
    if (is_in_thoughtless_turn(r) || thinking_budget(r) < MIN_THINKING_BUDGET)
        return THINKING_UNSAID;
    return THINKING_BUDGET;
}

static bool wants_thinking(const struct model_request *r)
{
    return choose_thinking(r) >= THINKING_ADAPTIVE;
}

/* Without a display, newer models omit their thoughts and the text between tool calls. */
static void write_thinking(struct body *b)
{
    static const char *const kinds[] = {
        [THINKING_OFF] = "disabled",
        [THINKING_BETWEEN_TOOLS] = "between_tools",
        [THINKING_ADAPTIVE] = "adaptive",
        [THINKING_BUDGET] = "enabled",
    };
    enum thinking thinking = choose_thinking(b->request);

    if (thinking == THINKING_UNSAID || !body_key(b, "thinking"))
        return;
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", str_of(kinds[thinking]));
    if (thinking == THINKING_ADAPTIVE)
        jw_kv_str(&b->w, "display", S("summarized"));
    if (thinking == THINKING_BUDGET)
        jw_kv_int(&b->w, "budget_tokens", thinking_budget(b->request));
    jw_end_object(&b->w);
}

/* The catalogue has the levels of known models; some have none. Unknown models are assumed to be
 * new and have all. */
static struct str effort_level(const struct model_request *r)
{
    static const unsigned all = EFFORT_BIT(EFFORT_LOW) | EFFORT_BIT(EFFORT_MEDIUM) |
                                EFFORT_BIT(EFFORT_HIGH) | EFFORT_BIT(EFFORT_XHIGH) |
                                EFFORT_BIT(EFFORT_MAX);
    bool is_known = r->info && !thinks_adaptively(r);
    unsigned levels = r->info && r->info->efforts ? r->info->efforts : is_known ? 0 : all;

    if (r->effort <= EFFORT_NONE || !levels || !wants_thinking(r))
        return (struct str){0};
    return str_of(effort_name(effort_nearest(levels, r->effort)));
}

static void write_output_config(struct body *b)
{
    const struct model_request *r = b->request;
    struct str effort = effort_level(r);
    AUTO(arena) struct arena a = {0};
    struct schema_lowered lowered;

    if ((!effort.n && !r->output_schema) || !body_key(b, "output_config"))
        return;
    jw_begin_object(&b->w);
    if (effort.n)
        jw_kv_str(&b->w, "effort", effort);
    if (r->output_schema) {
        schema_lower(&a, r->output_schema, SCHEMA_ANTHROPIC, &lowered);
        jw_key(&b->w, "format");
        jw_begin_object(&b->w);
        jw_kv_str(&b->w, "type", S("json_schema"));
        jw_kv_json(&b->w, "schema", lowered.schema);
        jw_end_object(&b->w);
    }
    jw_end_object(&b->w);
}

/* Thinking allows neither temperature nor top_k. */
static void write_sampling(struct body *b)
{
    const struct sampling *s = &b->request->sampling;

    if (!request_can(b->request, NO_SAMPLING) && !wants_thinking(b->request)) {
        body_maybe(b, "temperature", s->temperature);
        body_maybe(b, "top_p", s->top_p);
        if (s->top_k > 0)
            body_int(b, "top_k", s->top_k);
    }
    body_stop(b, "stop_sequences");
}

static void write_cache_mark(struct body *b)
{
    jw_key(&b->w, "cache_control");
    jw_raw(&b->w, b->request->cache == PROMPT_CACHE_LONG
                      ? S("{\"type\":\"ephemeral\",\"ttl\":\"1h\"}")
                      : S("{\"type\":\"ephemeral\"}"));
}

/* One mark follows tools and system text, which do not change during a session. The moving mark
 * after the last message is requested at the top level, where the API places it itself: a mark
 * inside the messages would change bytes that were sent before. */
static void write_system(struct body *b)
{
    const struct model_request *r = b->request;

    if (text_is_blank(r->system) || !body_key(b, "system"))
        return;
    if (r->cache == PROMPT_CACHE_OFF) {
        jw_str(&b->w, r->system);
        return;
    }
    jw_begin_array(&b->w);
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", S("text"));
    jw_kv_str(&b->w, "text", r->system);
    write_cache_mark(b);
    jw_end_object(&b->w);
    jw_end_array(&b->w);
}

static void write_top_level_cache(struct body *b)
{
    if (b->request->cache != PROMPT_CACHE_OFF && !b->dialect->no_top_level_cache &&
        !json_has(b->request->options, "cache_control"))
        write_cache_mark(b);
}

/* --- tools --- */

static void write_tool(struct body *b, const struct tool_def *t, bool is_last)
{
    const struct model_request *r = b->request;

    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "name", t->name);
    if (t->description.n)
        jw_kv_str(&b->w, "description", t->description);
    jw_key(&b->w, "input_schema");
    jw_tool_schema(&b->w, t);
    if (t->strict)
        jw_kv_bool(&b->w, "strict", true);
    if (is_last && r->cache != PROMPT_CACHE_OFF && text_is_blank(r->system))
        write_cache_mark(b);
    jw_end_object(&b->w);
}

/* The tools of 2026 can be called by code that the model runs at the provider. If called directly
 * they leave nothing behind that later requests must name. */
static void write_server_tool(struct body *b, const char *name, const char *old_version)
{
    bool is_new = request_can(b->request, TAKES_TOOLS_OF_2026);
    AUTO(strbuf) struct strbuf type = {0};

    strbuf_addf(&type, "%s_%s", name, is_new ? "20260318" : old_version);
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", strbuf_str(&type));
    jw_kv_str(&b->w, "name", str_of(name));
    if (is_new)
        jw_kv_raw(&b->w, "allowed_callers", S("[\"direct\"]"));
    if (str_is(str_of(name), "web_search"))
        jw_search_domains(b);
    jw_end_object(&b->w);
}

static void write_tools(struct body *b)
{
    const struct model_request *r = b->request;

    if ((r->n_tools == 0 && !r->web_search && !r->web_fetch) || !body_key(b, "tools"))
        return;
    jw_begin_array(&b->w);
    if (r->web_search)
        write_server_tool(b, "web_search", "20250305");
    if (r->web_fetch)
        write_server_tool(b, "web_fetch", "20250910");
    for (size_t i = 0; i < r->n_tools; i++)
        write_tool(b, r->tools[i], i + 1 == r->n_tools);
    jw_end_array(&b->w);
}

static void write_tool_choice(struct body *b)
{
    static const char *const kinds[] = {
        [TOOL_CHOICE_AUTO] = "auto",
        [TOOL_CHOICE_NONE] = "none",
        [TOOL_CHOICE_ANY] = "any",
        [TOOL_CHOICE_NAMED] = "tool",
    };
    const struct tool_choice *c = &b->request->tool_choice;
    bool is_refused = c->kind >= TOOL_CHOICE_ANY && !forces_a_tool(b->request);
    enum tool_choice_kind kind = is_refused ? TOOL_CHOICE_AUTO : c->kind;

    if (b->request->n_tools == 0 || (kind == TOOL_CHOICE_AUTO && !c->one_at_a_time) ||
        !body_key(b, "tool_choice"))
        return;
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", str_of(kinds[kind]));
    if (kind == TOOL_CHOICE_NAMED)
        jw_kv_str(&b->w, "name", c->name);
    if (c->one_at_a_time && kind != TOOL_CHOICE_NONE)
        jw_kv_bool(&b->w, "disable_parallel_tool_use", true);
    jw_end_object(&b->w);
}

/* --- messages --- */

static void write_text(struct json_writer *w, struct str text)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", S("text"));
    jw_kv_str(w, "text", text);
    jw_end_object(w);
}

static struct err *write_source(struct json_writer *w, const struct model_request *r,
                                const struct media *m)
{
    jw_key(w, "source");
    jw_begin_object(w);
    if (m->source == MEDIA_URL) {
        jw_kv_str(w, "type", S("url"));
        jw_kv_str(w, "url", m->data);
    } else if (media_is(m, "text/")) {
        AUTO(strbuf) struct strbuf loaded = {0};
        struct str text;

        TRY(media_bytes(r, m, &loaded, &text));
        jw_kv_str(w, "type", S("text"));
        jw_kv_str(w, "media_type", S("text/plain"));
        jw_kv_str(w, "data", text);
    } else {
        jw_kv_str(w, "type", S("base64"));
        jw_kv_str(w, "media_type", m->mime);
        jw_key(w, "data");
        TRY(jw_media(w, r, m, (struct str){0}));
    }
    jw_end_object(w);
    return NULL;
}

static struct err *write_media(struct json_writer *w, const struct model_request *r,
                               const struct media *m)
{
    bool is_image = media_is(m, "image/");

    if (!is_image && !media_is(m, "application/pdf") && !media_is(m, "text/"))
        return media_unsupported(m, "the Anthropic Messages API");
    jw_begin_object(w);
    jw_kv_str(w, "type", is_image ? S("image") : S("document"));
    TRY(write_source(w, r, m));
    if (!is_image && m->name.n)
        jw_kv_str(w, "title", m->name);
    jw_end_object(w);
    return NULL;
}

static struct err *write_tool_result(struct json_writer *w, const struct model_request *r,
                                     const struct part *p)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", S("tool_result"));
    jw_key(w, "tool_use_id");
    jw_call_id(w, p->id, MAX_CALL_ID);
    jw_key(w, "content");
    jw_begin_array(w);
    for (size_t i = 0; i < p->n_content; i++) {
        if (p->content[i].kind == PART_MEDIA)
            TRY(write_media(w, r, &p->content[i].media));
        else if (!text_is_blank(p->content[i].text))
            write_text(w, p->content[i].text);
    }
    jw_end_array(w);
    if (p->is_error)
        jw_kv_bool(w, "is_error", true);
    jw_end_object(w);
    return NULL;
}

static struct err *write_user_part(struct json_writer *w, const struct model_request *r,
                                   const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
        if (!text_is_blank(p->text))
            write_text(w, p->text);
        return NULL;
    case PART_MEDIA:
        return write_media(w, r, &p->media);
    case PART_TOOL_RESULT:
        return write_tool_result(w, r, p);
    default:
        return NULL;
    }
}

static void write_tool_use(struct json_writer *w, const struct part *p)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", S("tool_use"));
    jw_key(w, "id");
    jw_call_id(w, p->id, MAX_CALL_ID);
    jw_kv_str(w, "name", p->name);
    if (p->is_free_text) {
        jw_key(w, "input");
        jw_begin_object(w);
        jw_kv_str(w, "input", p->args);
        jw_end_object(w);
    } else {
        jw_kv_raw(w, "input", p->args.n ? p->args : S("{}"));
    }
    jw_end_object(w);
}

static void write_assistant_part(struct json_writer *w, const struct model_request *r,
                                 const struct message *m, const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
    case PART_REFUSAL:
        if (part_is_native(r, m, p)) /* with its citations */
            jw_raw(w, p->native);
        else if (!text_is_blank(p->text))
            write_text(w, p->text);
        break;
    case PART_REASONING:
        if (is_thought(r, m, p))
            jw_raw(w, p->native);
        break;
    case PART_TOOL_CALL:
        write_tool_use(w, p);
        break;
    case PART_SERVER_TOOL_USE:
    case PART_SERVER_TOOL_RESULT:
        if (part_is_native(r, m, p))
            jw_raw(w, p->native);
        break;
    case PART_MEDIA: /* the API accepts none from the assistant */
    case PART_CITATION:
    case PART_TOOL_RESULT:
    case PART_CONTEXT: /* converted to text before */
        break;
    }
}

static bool is_of_assistant(const struct message *m)
{
    return m->role == ROLE_ASSISTANT;
}

/* Writes one message from a run of history messages. An empty one (its parts were from another
 * provider) is removed again: the API refuses it. */
static struct err *write_message(struct body *b, struct message_run run)
{
    const struct message *const *messages = b->request->messages;
    struct json_writer before = b->w;
    size_t start = b->w.out->n, content;

    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "role", is_of_assistant(messages[run.from]) ? S("assistant") : S("user"));
    jw_key(&b->w, "content");
    jw_begin_array(&b->w);
    content = b->w.out->n;
    for (size_t i = run.from; i < run.to; i++)
        for (size_t k = 0; k < messages[i]->n_parts; k++) {
            if (is_of_assistant(messages[i]))
                write_assistant_part(&b->w, b->request, messages[i], &messages[i]->parts[k]);
            else
                TRY(write_user_part(&b->w, b->request, &messages[i]->parts[k]));
        }
    if (b->w.out->n == content) {
        strbuf_cut(b->w.out, start);
        b->w = before;
        return NULL;
    }
    jw_end_array(&b->w);
    jw_end_object(&b->w);
    return NULL;
}

/* The results of one round must be in one message. */
static struct err *write_messages(struct body *b)
{
    static const struct run_writer writer = {run_of_results, write_message};

    if (!body_key(b, "messages"))
        return NULL;
    jw_begin_array(&b->w);
    TRY(body_messages(b, &writer));
    jw_end_array(&b->w);
    return NULL;
}

static struct err *anthropic_encode(const struct model_request *r, const struct dialect *d,
                                    struct strbuf *out)
{
    struct body b;

    body_begin(&b, r, d, out);
    if (d->bedrock || d->vertex) /* the path has the model */
        body_str(&b, "anthropic_version",
                 d->bedrock ? S("bedrock-2023-05-31") : S("vertex-2023-10-16"));
    else
        body_str(&b, "model", r->model);
    body_int(&b, "max_tokens", request_max_output(r));
    if (r->stream && !d->bedrock)
        body_bool(&b, "stream", true);
    write_thinking(&b);
    write_output_config(&b);
    write_sampling(&b);
    write_top_level_cache(&b);
    body_options(&b);
    write_tools(&b);
    write_tool_choice(&b);
    write_system(&b);
    TRY(write_messages(&b));
    return body_end(&b);
}

static void anthropic_headers(const struct model_request *r, const struct dialect *d,
                              struct arena *a, struct http_headers *out)
{
    bool fetches = r->web_fetch && !request_can(r, TAKES_TOOLS_OF_2026);
    /* With a budget a model thinks once per turn, unless this lets it think between its calls. */
    bool interleaves = r->n_tools && choose_thinking(r) == THINKING_BUDGET;

    if (d->bedrock && r->stream)
        http_headers_set(a, out, S("accept"), S("application/vnd.amazon.eventstream"));
    if (!d->bedrock && !d->vertex)
        http_headers_add(a, out, S("anthropic-version"), S("2023-06-01"));
    if (fetches)
        http_headers_add(a, out, S("anthropic-beta"), S("web-fetch-2025-09-10"));
    if (interleaves)
        http_headers_add(a, out, S("anthropic-beta"), S("interleaved-thinking-2025-05-14"));
}

/* --- the protocol --- */

/* The '@' before a version is sent as it is. */
static void add_vertex_model(struct strbuf *out, struct str model)
{
    struct str part;
    const char *at = "";

    while (str_split(&model, '@', &part)) {
        strbuf_add_cstr(out, at);
        url_add_encoded(out, part);
        at = "@";
    }
}

/* On Vertex AI the base URL ends with the project and the location. */
static void anthropic_path(const struct model_request *r, const struct dialect *d,
                           struct strbuf *out)
{
    if (d->bedrock) {
        strbuf_add_cstr(out, "/model/");
        url_add_encoded(out, r->model);
        strbuf_add_cstr(out, r->stream ? "/invoke-with-response-stream" : "/invoke");
    } else if (d->vertex) {
        strbuf_add_cstr(out, "/publishers/anthropic/models/");
        add_vertex_model(out, r->model);
        strbuf_add_cstr(out, r->stream ? ":streamRawPredict" : ":rawPredict");
    } else {
        strbuf_add_cstr(out, "/v1/messages");
    }
}

const struct protocol protocol_anthropic_messages = {
    .name = "anthropic-messages",
    .api_surface = "anthropic-messages",
    .form = {.bytes = FORM_WEB_IMAGES "application/pdf text/ ",
             .addresses = FORM_WEB_IMAGES "application/pdf ",
             .has_plain_errors = true,
             .binds_reasoning = true,
             .reasoning_leads_on = true,
             .pairs_server_tools = true,
             .continues_pauses = true},
    .path = anthropic_path,
    .headers = anthropic_headers,
    .encode = anthropic_encode,
    .begin = anthropic_begin,
    .is_event = anthropic_is_event,
    .event = anthropic_event,
    .body = anthropic_body,
    .classify = anthropic_classify,
};
