/* encode.c - Ollama's own protocol, POST /api/chat, and its requests. */
#include "provider/encode.h"
#include "provider/model_list.h"
#include "provider/ollama/ollama.h"

#define MAX_CALL_ID 64

/* --- settings --- */

/* Models think or not; some have levels. */
static void write_think(struct body *b)
{
    const struct model_request *r = b->request;
    bool wants = r->effort > EFFORT_NONE || r->reasoning_budget > 0;

    if (r->effort == EFFORT_UNSET && !wants)
        return;
    if (r->info && (!request_can(r, CAN_REASON) || (!wants && request_can(r, REASONS_ALWAYS))))
        return;
    if (wants && r->effort != EFFORT_UNSET && request_can(r, REASONS_BY_LEVEL))
        body_str(b, "think", str_of(effort_name(MAX(MIN(r->effort, EFFORT_HIGH), EFFORT_LOW))));
    else
        body_bool(b, "think", wants);
}

/* Writes the name unless the profile sets this option. */
static bool option_key(struct body *b, const struct json *theirs, const char *key)
{
    if (json_has(theirs, key))
        return false;
    jw_key(&b->w, key);
    return true;
}

static void write_number(struct body *b, const struct json *theirs, const char *key,
                         struct maybe_double value)
{
    if (value.is_set && option_key(b, theirs, key))
        jw_double(&b->w, value.value);
}

static void write_sampling(struct body *b, const struct json *theirs)
{
    const struct model_request *r = b->request;
    const struct sampling *s = &r->sampling;

    write_number(b, theirs, "temperature", s->temperature);
    write_number(b, theirs, "top_p", s->top_p);
    write_number(b, theirs, "frequency_penalty", s->frequency_penalty);
    write_number(b, theirs, "presence_penalty", s->presence_penalty);
    if (s->top_k > 0 && option_key(b, theirs, "top_k"))
        jw_int(&b->w, s->top_k);
    if (s->has_seed && option_key(b, theirs, "seed"))
        jw_int(&b->w, s->seed);
    if (r->max_output > 0 && option_key(b, theirs, "num_predict"))
        jw_int(&b->w, r->max_output);
    /* Without it the server uses a window of a few thousand tokens and cuts longer prompts. */
    if (r->context_window > 0 && option_key(b, theirs, "num_ctx"))
        jw_int(&b->w, r->context_window);
    if (s->n_stop && option_key(b, theirs, "stop")) {
        jw_begin_array(&b->w);
        for (size_t i = 0; i < s->n_stop; i++)
            jw_str(&b->w, s->stop[i]);
        jw_end_array(&b->w);
    }
}

static void write_members(struct body *b, const struct json *object, const char *except)
{
    json_each (member, object)
        if (!str_is(member->key, except)) {
            jw_key_str(&b->w, member->key);
            jw_json(&b->w, member);
        }
}

/* The API expects settings of the run in "options". The profile's "options" are merged in, and
 * win. */
static void write_options(struct body *b)
{
    const struct json *theirs = json_get(b->request->options, "options");
    struct json_writer before = b->w;
    size_t start = b->w.out->n, content;

    jw_key(&b->w, "options");
    jw_begin_object(&b->w);
    content = b->w.out->n;
    write_sampling(b, theirs);
    write_members(b, theirs, "");
    if (b->w.out->n == content) {
        strbuf_cut(b->w.out, start);
        b->w = before;
    } else {
        jw_end_object(&b->w);
    }
    write_members(b, b->request->options, "options");
}

/* --- tools --- */

/* The API has no tool choice: only the tools that may be called are offered. */
static bool is_offered(const struct model_request *r, const struct tool_def *t)
{
    return r->tool_choice.kind != TOOL_CHOICE_NAMED || str_eq(t->name, r->tool_choice.name);
}

static void write_tool(struct json_writer *w, const struct tool_def *t)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", S("function"));
    jw_key(w, "function");
    jw_begin_object(w);
    jw_kv_str(w, "name", t->name);
    if (t->description.n)
        jw_kv_str(w, "description", t->description);
    jw_key(w, "parameters");
    jw_tool_schema(w, t);
    jw_end_object(w);
    jw_end_object(w);
}

static void write_tools(struct body *b)
{
    const struct model_request *r = b->request;

    if (r->n_tools == 0 || !body_key(b, "tools"))
        return;
    jw_begin_array(&b->w);
    for (size_t i = 0; i < r->n_tools; i++)
        if (is_offered(r, r->tools[i]))
            write_tool(&b->w, r->tools[i]);
    jw_end_array(&b->w);
}

/* --- messages --- */

/* A message has one text and a list of pictures. */
struct ollama_content {
    struct strbuf text;
    struct json_writer images;
    struct strbuf images_json;
};

static void ollama_content_init(struct ollama_content *c)
{
    *c = (struct ollama_content){0};
    jw_init(&c->images, &c->images_json);
    jw_begin_array(&c->images);
}

static void ollama_content_done(struct ollama_content *c)
{
    strbuf_done(&c->text);
    strbuf_done(&c->images_json);
}
DEFINE_AUTO_VAL(ollama_content, ollama_content_done)

static void add_text(struct ollama_content *c, struct str text)
{
    if (text_is_blank(text))
        return;
    if (c->text.n)
        strbuf_add_char(&c->text, '\n');
    strbuf_add(&c->text, text);
}

/* A text file is sent as text, after its name. */
static struct err *add_text_file(struct ollama_content *c, const struct model_request *r,
                                 const struct media *m)
{
    AUTO(strbuf) struct strbuf loaded = {0}, text = {0};
    struct str bytes;

    TRY(media_bytes(r, m, &loaded, &bytes));
    if (m->name.n)
        strbuf_addf(&text, "%" STR_FMT ":\n", STR_ARG(m->name));
    strbuf_add(&text, text_is_blank(bytes) ? S("(empty file)") : bytes);
    add_text(c, strbuf_str(&text));
    return strbuf_check(&text, "a text file");
}

static struct err *add_media(struct ollama_content *c, const struct model_request *r,
                             const struct media *m)
{
    if (m->source != MEDIA_URL && media_is(m, "image/"))
        return jw_media(&c->images, r, m, (struct str){0});
    if (m->source != MEDIA_URL && media_is(m, "text/"))
        return add_text_file(c, r, m);
    return media_unsupported(m, "Ollama");
}

static struct err *add_parts(struct ollama_content *c, const struct model_request *r,
                             const struct part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (parts[i].kind == PART_TEXT)
            add_text(c, parts[i].text);
        else if (parts[i].kind == PART_MEDIA)
            TRY(add_media(c, r, &parts[i].media));
    }
    return NULL;
}

static bool has_images(const struct ollama_content *c)
{
    return c->images_json.n > strlen("[");
}

static void write_images(struct body *b, struct ollama_content *c)
{
    if (!has_images(c))
        return;
    jw_end_array(&c->images);
    jw_kv_raw(&b->w, "images", strbuf_str(&c->images_json));
}

static struct err *write_said(struct body *b, const struct message *m)
{
    AUTO(ollama_content) struct ollama_content c;

    ollama_content_init(&c);
    TRY(add_parts(&c, b->request, m->parts, m->n_parts));
    TRY(strbuf_check(&c.text, "a message"));
    TRY(strbuf_check(&c.images_json, "the pictures of a message"));
    if (c.text.n == 0 && !has_images(&c))
        return NULL;
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "role", m->role == ROLE_SYSTEM ? S("system") : S("user"));
    if (c.text.n)
        jw_kv_str(&b->w, "content", strbuf_str(&c.text));
    write_images(b, &c);
    jw_end_object(&b->w);
    return NULL;
}

static struct err *write_result(struct body *b, const struct part *result)
{
    AUTO(ollama_content) struct ollama_content c;

    ollama_content_init(&c);
    TRY(add_parts(&c, b->request, result->content, result->n_content));
    TRY(strbuf_check(&c.text, "a tool result"));
    TRY(strbuf_check(&c.images_json, "the pictures of a tool result"));
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "role", S("tool"));
    if (result->name.n)
        jw_kv_str(&b->w, "tool_name", result->name);
    jw_key(&b->w, "tool_call_id");
    jw_call_id(&b->w, result->id, MAX_CALL_ID);
    jw_kv_str(&b->w, "content", c.text.n ? strbuf_str(&c.text) : S("(no output)"));
    write_images(b, &c);
    jw_end_object(&b->w);
    return NULL;
}

static struct err *write_user(struct body *b, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_RESULT)
            TRY(write_result(b, &m->parts[i]));
    return write_said(b, m);
}

static void write_call(struct json_writer *w, const struct part *call)
{
    jw_begin_object(w);
    jw_key(w, "id");
    jw_call_id(w, call->id, MAX_CALL_ID);
    jw_key(w, "function");
    jw_begin_object(w);
    jw_kv_str(w, "name", call->name);
    jw_key(w, "arguments");
    if (call->is_free_text) {
        jw_begin_object(w);
        jw_kv_str(w, "input", call->args);
        jw_end_object(w);
    } else {
        jw_raw(w, call->args.n ? call->args : S("{}"));
    }
    jw_end_object(w);
    jw_end_object(w);
}

static void write_calls(struct body *b, const struct message *m)
{
    bool has_begun = false;

    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != PART_TOOL_CALL)
            continue;
        if (!has_begun) {
            jw_key(&b->w, "tool_calls");
            jw_begin_array(&b->w);
            has_begun = true;
        }
        write_call(&b->w, &m->parts[i]);
    }
    if (has_begun)
        jw_end_array(&b->w);
}

/* Joins the texts of all parts of a kind; empty if they are blank. */
static void gather(const struct message *m, enum part_kind kind, struct strbuf *out)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == kind)
            strbuf_add(out, m->parts[i].text);
    if (text_is_blank(strbuf_str(out)))
        strbuf_clear(out);
}

static bool has_calls(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL)
            return true;
    return false;
}

static struct err *write_assistant(struct body *b, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0}, thinking = {0};

    gather(m, PART_TEXT, &text);
    gather(m, PART_REFUSAL, &text);
    if (message_is_native_to(m, b->request->provider, b->request->protocol))
        gather(m, PART_REASONING, &thinking);
    TRY(strbuf_check(&text, "an answer"));
    TRY(strbuf_check(&thinking, "an answer"));
    if (text.n == 0 && !has_calls(m))
        return NULL;
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "role", S("assistant"));
    if (text.n)
        jw_kv_str(&b->w, "content", strbuf_str(&text));
    if (thinking.n)
        jw_kv_str(&b->w, "thinking", strbuf_str(&thinking));
    write_calls(b, m);
    jw_end_object(&b->w);
    return NULL;
}

static void write_system(struct body *b)
{
    if (text_is_blank(b->request->system))
        return;
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "role", S("system"));
    jw_kv_str(&b->w, "content", b->request->system);
    jw_end_object(&b->w);
}

static struct err *write_message(struct body *b, struct message_run run)
{
    const struct message *m = b->request->messages[run.from];

    return m->role == ROLE_ASSISTANT ? write_assistant(b, m) : write_user(b, m);
}

static struct err *write_messages(struct body *b)
{
    static const struct run_writer writer = {run_of_one, write_message};

    if (!body_key(b, "messages"))
        return NULL;
    jw_begin_array(&b->w);
    write_system(b);
    TRY(body_messages(b, &writer));
    jw_end_array(&b->w);
    return NULL;
}

static struct err *ollama_encode(const struct model_request *r, const struct dialect *d,
                                 struct strbuf *out)
{
    struct body b;

    body_begin(&b, r, d, out);
    body_str(&b, "model", r->model);
    body_bool(&b, "stream", r->stream); /* the default is true */
    write_think(&b);
    if (r->output_schema && body_key(&b, "format"))
        jw_json(&b.w, r->output_schema);
    write_options(&b);
    write_tools(&b);
    TRY(write_messages(&b));
    return body_end(&b);
}

/* --- the protocol --- */

static void ollama_path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    strbuf_add_cstr(out, "/api/chat");
}

const struct protocol protocol_ollama = {
    .name = "ollama",
    .api_surface = "ollama-chat",
    .form = {.bytes = " image/png image/jpeg image/webp text/ ", .addresses = ""},
    .path = ollama_path,
    .show_path = "/api/show",
    .guessed_window = MODEL_LOCAL_WINDOW,
    .encode = ollama_encode,
    .begin = ollama_begin,
    .is_event = ollama_is_event,
    .event = ollama_event,
    .body = ollama_body,
    .end = ollama_end,
    .classify = ollama_classify,
};
