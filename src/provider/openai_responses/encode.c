/* encode.c - the OpenAI Responses protocol, POST /responses below a base URL with /v1, and its
 * requests.
 *
 * Nothing is stored at the provider: each request has the whole conversation as a list of items.
 * Reasoning goes back encrypted, and the API ties it to the following item by their ids: it refuses
 * one without the other. So either both go back unchanged, or reasoning is omitted and the item is
 * written without an id. */
#include "provider/openai_responses/openai_responses.h"

#include "provider/encode.h"
#include "provider/schema_lower.h"

/* --- settings --- */

/* Models that the catalogue does not know are assumed to be new, and these reason. */
static bool reasons(const struct model_request *r)
{
    return !r->info || request_can(r, CAN_REASON);
}

/* A request with an effort wants to see the thoughts. Without one, keel asks models that are known
 * to reason, if the vendor shows thoughts only on request. */
static bool wants_thoughts(const struct body *b)
{
    const struct model_request *r = b->request;

    if (r->no_thoughts || r->effort == EFFORT_NONE)
        return false;
    return r->effort != EFFORT_UNSET ||
           (b->dialect->thoughts_if_asked && request_can(r, CAN_REASON));
}

static void write_reasoning_settings(struct body *b)
{
    const struct model_request *r = b->request;
    struct str word = effort_word(r, b->dialect);
    bool off = r->effort == EFFORT_NONE;

    if ((word.n == 0 && !wants_thoughts(b)) || !reasons(r) ||
        (off && request_can(r, REASONS_ALWAYS)) || !body_key(b, "reasoning"))
        return;
    jw_begin_object(&b->w);
    if (word.n)
        jw_kv_str(&b->w, "effort", word);
    if (wants_thoughts(b))
        jw_kv_str(&b->w, "summary", S("auto"));
    jw_end_object(&b->w);
}

/* A schema that can be guaranteed is sent in the form that this requires. */
static void write_text_format(struct body *b)
{
    const struct model_request *r = b->request;
    AUTO(arena) struct arena a = {0};
    struct schema_lowered lowered;

    if (!r->output_schema || !body_key(b, "text"))
        return;
    schema_lower(&a, r->output_schema, SCHEMA_OPENAI, &lowered);
    jw_begin_object(&b->w);
    jw_key(&b->w, "format");
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", S("json_schema"));
    jw_kv_str(&b->w, "name", r->output_name.n ? r->output_name : S("answer"));
    jw_kv_bool(&b->w, "strict", !lowered.is_loose);
    jw_kv_json(&b->w, "schema", lowered.is_loose ? r->output_schema : lowered.schema);
    jw_end_object(&b->w);
    jw_end_object(&b->w);
}

static void write_sampling(struct body *b)
{
    const struct sampling *s = &b->request->sampling;

    if (request_can(b->request, NO_SAMPLING))
        return;
    body_maybe(b, "temperature", s->temperature);
    body_maybe(b, "top_p", s->top_p);
}

/* A model that does not reason refuses "include". */
static void write_storage(struct body *b)
{
    if (b->dialect->stores_nothing)
        return;
    body_bool(b, "store", false);
    if (reasons(b->request) && body_key(b, "include"))
        jw_raw(&b->w, S("[\"reasoning.encrypted_content\"]"));
}

static void write_cache(struct body *b)
{
    body_str(b, "prompt_cache_key", b->request->cache_key);
    if (b->request->cache == PROMPT_CACHE_LONG && !b->dialect->no_cache_retention)
        body_str(b, "prompt_cache_retention", S("24h"));
}

/* --- tools --- */

static bool goes_custom(const struct body *b, bool takes_free_text)
{
    return takes_free_text && !b->dialect->no_custom_tools;
}

/* The API's default is strict, which refuses schemas with optional members: so the member is always
 * sent. */
static void write_tool(struct body *b, const struct tool_def *t)
{
    bool is_custom = goes_custom(b, t->takes_free_text);

    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", is_custom ? S("custom") : S("function"));
    jw_kv_str(&b->w, "name", t->name);
    if (t->description.n)
        jw_kv_str(&b->w, "description", t->description);
    if (!is_custom) {
        jw_key(&b->w, "parameters");
        jw_tool_schema(&b->w, t);
        if (!b->dialect->no_strict_tools)
            jw_kv_bool(&b->w, "strict", t->strict && schema_is_strict(t->input_schema));
    }
    jw_end_object(&b->w);
}

static void write_search(struct body *b)
{
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "type", S("web_search"));
    if (request_limits_search(b)) {
        jw_key(&b->w, "filters");
        jw_begin_object(&b->w);
        jw_search_domains(b);
        jw_end_object(&b->w);
    }
    jw_end_object(&b->w);
}

static void write_tools(struct body *b)
{
    const struct model_request *r = b->request;

    if ((r->n_tools == 0 && !r->web_search) || !body_key(b, "tools"))
        return;
    jw_begin_array(&b->w);
    if (r->web_search)
        write_search(b);
    for (size_t i = 0; i < r->n_tools; i++)
        write_tool(b, r->tools[i]);
    jw_end_array(&b->w);
}

static bool takes_free_text(const struct model_request *r, struct str name)
{
    for (size_t i = 0; i < r->n_tools; i++)
        if (str_eq(r->tools[i]->name, name))
            return r->tools[i]->takes_free_text;
    return false;
}

static void write_tool_choice(struct body *b)
{
    const struct model_request *r = b->request;
    const struct tool_choice *c = &r->tool_choice;

    if (r->n_tools == 0)
        return;
    if (c->kind != TOOL_CHOICE_AUTO && body_key(b, "tool_choice")) {
        if (c->kind == TOOL_CHOICE_NAMED) {
            jw_begin_object(&b->w);
            jw_kv_str(&b->w, "type",
                      goes_custom(b, takes_free_text(r, c->name)) ? S("custom") : S("function"));
            jw_kv_str(&b->w, "name", c->name);
            jw_end_object(&b->w);
        } else {
            jw_str(&b->w, c->kind == TOOL_CHOICE_NONE ? S("none") : S("required"));
        }
    }
    if (c->one_at_a_time && !b->dialect->no_parallel_switch)
        body_bool(b, "parallel_tool_calls", false);
}

/* --- content --- */

static void write_text(struct json_writer *w, const char *type, struct str text)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(type));
    jw_kv_str(w, "text", text);
    jw_end_object(w);
}

static struct err *write_image(struct json_writer *w, const struct model_request *r,
                               const struct media *m)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", S("input_image"));
    jw_kv_str(w, "detail", S("auto"));
    jw_key(w, "image_url");
    TRY(jw_media_url(w, r, m));
    jw_end_object(w);
    return NULL;
}

/* Bytes need a name; URLs must not have one. */
static struct err *write_file(struct json_writer *w, const struct model_request *r,
                              const struct media *m)
{
    struct str name = media_is(m, "application/pdf") ? S("file.pdf") : S("file");

    jw_begin_object(w);
    jw_kv_str(w, "type", S("input_file"));
    if (m->source == MEDIA_URL) {
        jw_kv_str(w, "file_url", m->data);
    } else {
        jw_kv_str(w, "filename", m->name.n ? m->name : name);
        jw_key(w, "file_data");
        TRY(jw_media_url(w, r, m));
    }
    jw_end_object(w);
    return NULL;
}

static struct err *write_media(struct json_writer *w, const struct model_request *r,
                               const struct media *m)
{
    if (media_is(m, "image/"))
        return write_image(w, r, m);
    if (media_is(m, "application/") || media_is(m, "text/"))
        return write_file(w, r, m);
    return media_unsupported(m, "the OpenAI Responses API");
}

/* --- input items --- */

/* The list of items being written. Consecutive texts of one role share a message. */
struct responses_input {
    struct body *body;
    const struct message *message;
    bool in_message;
    struct str last_native;
    /* Reasoning that waits for its item: parts [from, from + n) of the message. */
    size_t reasoning_from, n_reasoning;
    bool reasoning_is_lost; /* the following item must not have its id */
};

static void close_message(struct responses_input *in)
{
    if (!in->in_message)
        return;
    jw_end_array(&in->body->w);
    jw_end_object(&in->body->w);
    in->in_message = false;
}

static void open_message(struct responses_input *in)
{
    struct json_writer *w = &in->body->w;
    enum role role = in->message->role;

    if (in->in_message)
        return;
    jw_begin_object(w);
    jw_kv_str(w, "type", S("message"));
    jw_kv_str(w, "role", str_of(role_name(role == ROLE_TOOL ? ROLE_USER : role)));
    jw_key(w, "content");
    jw_begin_array(w);
    in->in_message = true;
}

static void write_message_text(struct responses_input *in, struct str text)
{
    if (text_is_blank(text))
        return;
    open_message(in);
    write_text(&in->body->w, in->message->role == ROLE_ASSISTANT ? "output_text" : "input_text",
               text);
}

/* Free text becomes the only argument, as in jw_tool_schema(). */
static void jw_arguments(struct json_writer *w, const struct part *p)
{
    AUTO(strbuf) struct strbuf wrapped = {0};

    if (p->is_free_text) {
        strbuf_add_cstr(&wrapped, "{\"input\":");
        json_write_string(&wrapped, p->args);
        strbuf_add_char(&wrapped, '}');
    }
    jw_kv_str(w, "arguments", wrapped.n ? strbuf_str(&wrapped) : p->args.n ? p->args : S("{}"));
}

static void write_call(struct responses_input *in, const struct part *p)
{
    struct json_writer *w = &in->body->w;
    bool is_custom = goes_custom(in->body, p->is_free_text);

    close_message(in);
    jw_begin_object(w);
    jw_kv_str(w, "type", is_custom ? S("custom_tool_call") : S("function_call"));
    jw_key(w, "call_id");
    jw_call_id(w, p->id, RESPONSES_MAX_CALL_ID);
    jw_kv_str(w, "name", p->name);
    if (is_custom)
        jw_kv_str(w, "input", p->args);
    else
        jw_arguments(w, p);
    jw_end_object(w);
}

/* Was the call with this id, in a message before, one of a custom tool? */
static bool answers_free_text(const struct model_request *r, size_t n_before, struct str id)
{
    for (size_t i = n_before; i-- > 0;)
        for (size_t k = 0; k < r->messages[i]->n_parts; k++) {
            const struct part *p = &r->messages[i]->parts[k];
            if (p->kind == PART_TOOL_CALL && str_eq(p->id, id))
                return p->is_free_text;
        }
    return false;
}

static struct err *write_output(struct json_writer *w, const struct model_request *r,
                                const struct part *result)
{
    if (!tool_result_has_media(result)) {
        AUTO(strbuf) struct strbuf text = {0};

        tool_result_text(result, &text);
        jw_str(w, strbuf_str(&text));
        return strbuf_check(&text, "a tool's result");
    }
    jw_begin_array(w);
    for (size_t i = 0; i < result->n_content; i++) {
        const struct part *p = &result->content[i];

        if (p->kind == PART_MEDIA)
            TRY(write_media(w, r, &p->media));
        else if (!text_is_blank(p->text))
            write_text(w, "input_text", p->text);
    }
    jw_end_array(w);
    return NULL;
}

static struct err *write_result(struct responses_input *in, const struct part *p, size_t n_before)
{
    const struct model_request *r = in->body->request;
    struct json_writer *w = &in->body->w;

    close_message(in);
    jw_begin_object(w);
    jw_kv_str(w, "type",
              goes_custom(in->body, answers_free_text(r, n_before, p->id))
                  ? S("custom_tool_call_output")
                  : S("function_call_output"));
    jw_key(w, "call_id");
    jw_call_id(w, p->id, RESPONSES_MAX_CALL_ID);
    jw_key(w, "output");
    TRY(write_output(w, r, p));
    jw_end_object(w);
    return NULL;
}

/* --- the messages of the model --- */

static bool is_native(const struct responses_input *in, const struct part *p)
{
    return part_is_native(in->body->request, in->message, p);
}

/* A run of reasoning waits for the next item. */
static void hold_reasoning(struct responses_input *in, size_t at)
{
    if (in->n_reasoning == 0) {
        in->reasoning_from = at;
        in->reasoning_is_lost = false;
    }
    in->n_reasoning++;
    if (!is_native(in, &in->message->parts[at]))
        in->reasoning_is_lost = true;
}

/* Writes an item unchanged, with the reasoning that led to it; false if it must be written anew.
 * All parts of an item have its bytes, which are sent once. */
static bool write_native(struct responses_input *in, const struct part *p)
{
    struct json_writer *w = &in->body->w;
    size_t n_reasoning = in->n_reasoning;

    in->n_reasoning = 0;
    if (in->reasoning_is_lost || !is_native(in, p)) {
        in->reasoning_is_lost |= n_reasoning > 0;
        in->last_native = (struct str){0};
        return false;
    }
    if (n_reasoning == 0 && str_eq(in->last_native, p->native))
        return true;
    close_message(in);
    for (size_t i = 0; i < n_reasoning; i++)
        jw_raw(w, in->message->parts[in->reasoning_from + i].native);
    jw_raw(w, p->native);
    in->last_native = p->native;
    return true;
}

static void write_assistant_part(struct responses_input *in, size_t at)
{
    const struct part *p = &in->message->parts[at];

    switch (p->kind) {
    case PART_REASONING:
        hold_reasoning(in, at);
        break;
    case PART_TEXT:
    case PART_REFUSAL:
        if (!write_native(in, p))
            write_message_text(in, p->text);
        break;
    case PART_TOOL_CALL:
        if (!write_native(in, p))
            write_call(in, p);
        break;
    case PART_SERVER_TOOL_USE:
    case PART_SERVER_TOOL_RESULT:
        write_native(in, p);
        break;
    case PART_MEDIA: /* the API accepts none from the assistant */
    case PART_CITATION:
    case PART_TOOL_RESULT:
    case PART_CONTEXT: /* converted to text before */
        break;
    }
}

static struct err *write_user_part(struct responses_input *in, const struct part *p,
                                   size_t n_before)
{
    switch (p->kind) {
    case PART_TEXT:
        write_message_text(in, p->text);
        return NULL;
    case PART_MEDIA:
        open_message(in);
        return write_media(&in->body->w, in->body->request, &p->media);
    case PART_TOOL_RESULT:
        return write_result(in, p, n_before);
    default:
        return NULL;
    }
}

static struct err *write_message(struct body *b, struct message_run run)
{
    struct responses_input in = {.body = b, .message = b->request->messages[run.from]};

    for (size_t k = 0; k < in.message->n_parts; k++) {
        if (in.message->role == ROLE_ASSISTANT)
            write_assistant_part(&in, k);
        else
            TRY(write_user_part(&in, &in.message->parts[k], run.from));
    }
    close_message(&in);
    return NULL;
}

static struct err *write_input(struct body *b)
{
    static const struct run_writer writer = {run_of_one, write_message};

    if (!body_key(b, "input"))
        return NULL;
    jw_begin_array(&b->w);
    TRY(body_messages(b, &writer));
    jw_end_array(&b->w);
    return NULL;
}

static struct err *responses_encode(const struct model_request *r, const struct dialect *d,
                                    struct strbuf *out)
{
    struct body b;

    body_begin(&b, r, d, out);
    body_str(&b, "model", r->model);
    if (r->stream)
        body_bool(&b, "stream", true);
    if (r->max_output > 0)
        body_int(&b, "max_output_tokens", r->max_output);
    write_reasoning_settings(&b);
    write_text_format(&b);
    write_sampling(&b);
    write_storage(&b);
    write_cache(&b);
    body_options(&b);
    write_tools(&b);
    write_tool_choice(&b);
    if (!text_is_blank(r->system))
        body_str(&b, "instructions", r->system);
    TRY(write_input(&b));
    return body_end(&b);
}

/* --- the protocol --- */

static void responses_path(const struct model_request *r, const struct dialect *d,
                           struct strbuf *out)
{
    strbuf_add_cstr(out, "/responses");
}

const struct protocol protocol_openai_responses = {
    .name = "openai-responses",
    .api_surface = "responses",
    .form = {.bytes = FORM_WEB_IMAGES "application/pdf application/json text/ ",
             .addresses = FORM_WEB_IMAGES "application/pdf application/json text/ "},
    .path = responses_path,
    .encode = responses_encode,
    .begin = openai_responses_begin,
    .is_event = openai_responses_is_event,
    .event = openai_responses_event,
    .body = openai_responses_body,
    .classify = openai_classify,
};
