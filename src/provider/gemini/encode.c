/* encode.c - the Gemini protocol, POST .../models/MODEL:streamGenerateContent, and its requests. */
#include "provider/encode.h"

#include "net/url.h"
#include "provider/gemini/gemini.h"
#include "provider/schema_lower.h"

/* The largest thinking budget that all models with budgets accept. */
#define MAX_THINKING_BUDGET 24576

/* --- settings --- */

static void write_level(struct json_writer *w, const struct model_request *r)
{
    static const char *const levels[] = {
        [EFFORT_NONE] = "minimal",  [EFFORT_MINIMAL] = "minimal", [EFFORT_LOW] = "low",
        [EFFORT_MEDIUM] = "medium", [EFFORT_HIGH] = "high",       [EFFORT_XHIGH] = "high",
        [EFFORT_MAX] = "high",
    };
    enum effort effort = request_effort(r);

    /* Models that always think do not have "minimal". */
    if (effort <= EFFORT_MINIMAL && request_can(r, REASONS_ALWAYS))
        effort = EFFORT_LOW;
    jw_kv_str(w, "thinkingLevel", str_of(levels[effort]));
}

static int64_t thinking_budget(const struct model_request *r)
{
    if (r->reasoning_budget > 0)
        return r->reasoning_budget;
    return MIN(request_reasoning_budget(r), (int64_t)MAX_THINKING_BUDGET);
}

static bool is_switched_off(const struct model_request *r)
{
    return r->effort == EFFORT_NONE && r->reasoning_budget <= 0;
}

static bool is_unsaid(const struct model_request *r)
{
    return r->effort == EFFORT_UNSET && r->reasoning_budget <= 0;
}

/* Omits what the model would refuse. Models that think do so by default, but show their thoughts
 * only on request. */
static bool has_thinking_config(const struct model_request *r)
{
    if (is_unsaid(r))
        return request_can(r, CAN_REASON);
    if (is_switched_off(r) && request_can(r, REASONS_ALWAYS))
        return false;
    return !r->info || request_can(r, CAN_REASON) || gemini_is_third_generation(r);
}

static void write_thinking(struct body *b)
{
    const struct model_request *r = b->request;

    if (!has_thinking_config(r) || !body_key(b, "thinkingConfig"))
        return;
    jw_begin_object(&b->w);
    if (!is_switched_off(r))
        jw_kv_bool(&b->w, "includeThoughts", true);
    if (gemini_is_third_generation(r) && r->effort != EFFORT_UNSET)
        write_level(&b->w, r);
    else if (!is_unsaid(r))
        jw_kv_int(&b->w, "thinkingBudget", thinking_budget(r));
    jw_end_object(&b->w);
}

static void write_sampling(struct body *b)
{
    const struct sampling *s = &b->request->sampling;

    if (!request_can(b->request, NO_SAMPLING)) {
        body_maybe(b, "temperature", s->temperature);
        body_maybe(b, "topP", s->top_p);
        if (s->top_k > 0)
            body_int(b, "topK", s->top_k);
        body_maybe(b, "presencePenalty", s->presence_penalty);
        body_maybe(b, "frequencyPenalty", s->frequency_penalty);
    }
    if (s->has_seed)
        body_int(b, "seed", s->seed);
    body_stop(b, "stopSequences");
}

/* The API does not know the keyword "$schema". */
static void write_schema(struct json_writer *w, const struct json *schema)
{
    if (!json_has(schema, "$schema")) {
        jw_json(w, schema);
        return;
    }
    jw_begin_object(w);
    json_each (member, schema)
        if (!str_is(member->key, "$schema")) {
            jw_key_str(w, member->key);
            jw_json(w, member);
        }
    jw_end_object(w);
}

static void write_output(struct body *b)
{
    const struct model_request *r = b->request;
    AUTO(arena) struct arena a = {0};
    struct schema_lowered lowered;

    if (r->max_output > 0)
        body_int(b, "maxOutputTokens", r->max_output);
    if (!r->output_schema || gemini_needs_schema_message(r))
        return;
    body_str(b, "responseMimeType", S("application/json"));
    if (!body_key(b, "responseJsonSchema"))
        return;
    schema_lower(&a, r->output_schema, SCHEMA_GEMINI, &lowered);
    jw_json(&b->w, lowered.schema);
}

static void write_generation_config(struct body *config)
{
    write_output(config);
    write_sampling(config);
    write_thinking(config);
}

/* Writes a member that is an object, with the profile's member of that name merged in; the
 * profile's values win. `write` may be NULL. */
static struct err *write_merged(struct body *b, const char *key, void (*write)(struct body *b))
{
    AUTO(strbuf) struct strbuf out = {0};
    struct model_request inner = *b->request;
    struct body object;

    inner.options = json_get(b->request->options, key);
    body_begin(&object, &inner, b->dialect, &out);
    if (write)
        write(&object);
    body_options(&object);
    TRY(body_end(&object));
    if (out.n > S("{}").n)
        jw_kv_raw(&b->w, key, strbuf_str(&out));
    return NULL;
}

/* --- tools --- */

static void write_function_mode(struct body *b)
{
    static const char *const modes[] = {
        [TOOL_CHOICE_AUTO] = "AUTO",
        [TOOL_CHOICE_NONE] = "NONE",
        [TOOL_CHOICE_ANY] = "ANY",
        [TOOL_CHOICE_NAMED] = "ANY",
    };
    const struct tool_choice *c = &b->request->tool_choice;

    if (c->kind == TOOL_CHOICE_AUTO || b->request->n_tools == 0 ||
        !body_key(b, "functionCallingConfig"))
        return;
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "mode", str_of(modes[c->kind]));
    if (c->kind == TOOL_CHOICE_NAMED) {
        jw_key(&b->w, "allowedFunctionNames");
        jw_begin_array(&b->w);
        jw_str(&b->w, c->name);
        jw_end_array(&b->w);
    }
    jw_end_object(&b->w);
}

/* If there are functions beside the provider's tools, the API needs the calls of both in the
 * history. */
static bool mixes_tools(const struct body *b)
{
    const struct model_request *r = b->request;

    return r->n_tools && (r->web_search || r->web_fetch) && gemini_is_third_generation(r) &&
           !b->dialect->vertex;
}

static void write_tool_config(struct body *config)
{
    write_function_mode(config);
    if (mixes_tools(config))
        body_bool(config, "includeServerSideToolInvocations", true);
}

static struct err *write_function(struct json_writer *w, const struct tool_def *t)
{
    if (!gemini_is_function_name(t->name))
        return err_hint(err_new(ERR_VALIDATION,
                                "the Gemini API does not accept a tool named \"%" STR_FMT "\"",
                                STR_ARG(t->name)),
                        "a name starts with a letter or _, continues with letters, digits and _ . "
                        ": -, and has at most %d characters",
                        GEMINI_MAX_NAME);
    jw_begin_object(w);
    jw_kv_str(w, "name", t->name);
    if (t->description.n)
        jw_kv_str(w, "description", t->description);
    if (t->input_schema) {
        jw_key(w, "parametersJsonSchema");
        write_schema(w, t->input_schema);
    }
    jw_end_object(w);
    return NULL;
}

static struct err *write_tools(struct body *b)
{
    const struct model_request *r = b->request;

    if ((r->n_tools == 0 && !r->web_search && !r->web_fetch) || gemini_has_cached_content(r) ||
        !body_key(b, "tools"))
        return NULL;
    jw_begin_array(&b->w);
    if (r->n_tools) {
        jw_begin_object(&b->w);
        jw_key(&b->w, "functionDeclarations");
        jw_begin_array(&b->w);
        for (size_t i = 0; i < r->n_tools; i++)
            TRY(write_function(&b->w, r->tools[i]));
        jw_end_array(&b->w);
        jw_end_object(&b->w);
    }
    if (r->web_search)
        jw_raw(&b->w, S("{\"googleSearch\":{}}"));
    if (r->web_fetch)
        jw_raw(&b->w, S("{\"urlContext\":{}}"));
    jw_end_array(&b->w);
    return NULL;
}

static bool is_merged(struct str key)
{
    return str_is(key, "generationConfig") || str_is(key, "toolConfig");
}

static void write_options(struct body *b)
{
    json_each (option, b->request->options)
        if (!is_merged(option->key)) {
            jw_key_str(&b->w, option->key);
            jw_json(&b->w, option);
        }
}

static struct err *gemini_encode(const struct model_request *r, const struct dialect *d,
                                 struct strbuf *out)
{
    AUTO(schema_request) struct schema_request with_schema = {0};
    struct body b;

    if (gemini_needs_schema_message(r)) {
        schema_request_init(&with_schema, r);
        r = &with_schema.request;
    }
    body_begin(&b, r, d, out);
    TRY(write_merged(&b, "generationConfig", write_generation_config));
    TRY(write_merged(&b, "toolConfig", gemini_has_cached_content(r) ? NULL : write_tool_config));
    write_options(&b);
    TRY(write_tools(&b));
    gemini_write_system(&b);
    TRY(gemini_write_contents(&b));
    return body_end(&b);
}

/* --- the protocol --- */

/* Cuts the name of its collection off the model and returns it. */
static struct str take_collection(struct str *model, const struct dialect *d)
{
    struct str tuned = S("tunedModels/"), models = S("models/");

    if (!d->vertex && str_starts(*model, tuned)) {
        *model = str_skip(*model, tuned.n);
        return tuned;
    }
    if (str_starts(*model, models))
        *model = str_skip(*model, models.n);
    return models;
}

/* On Vertex AI the base URL ends with the project and the location. */
static void gemini_path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    struct str model = r->model;
    struct str collection = take_collection(&model, d);

    strbuf_add_cstr(out, d->vertex ? "/publishers/google/" : "/v1beta/");
    strbuf_add(out, collection);
    url_add_encoded(out, model);
    strbuf_add_cstr(out, r->stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

const struct protocol protocol_gemini = {
    .name = "gemini",
    .api_surface = "gemini-generate-content",
    .form = {.bytes = " image/png image/jpeg image/webp image/heic image/heif audio/wav audio/mpeg "
                      "audio/aiff audio/aac audio/ogg audio/flac video/mp4 video/mpeg "
                      "video/quicktime video/avi video/x-flv video/webm video/wmv video/3gpp "
                      "application/pdf text/ ",
             .addresses = " image/ audio/ video/ application/pdf text/ ",
             .answers = " image/ audio/ video/ ",
             .finds_types = true},
    .path = gemini_path,
    .encode = gemini_encode,
    .begin = gemini_begin,
    .is_event = gemini_is_event,
    .event = gemini_event,
    .body = gemini_body,
    .end = gemini_end,
    .classify = gemini_classify,
};
