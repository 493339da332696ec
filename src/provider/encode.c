/* encode.c - writes bodies, media and ids for all encoders. */
#include "provider/encode.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/sha256.h"
#include "model/kept_body.h"

/* --- the body --- */

void body_begin(struct body *b, const struct model_request *r, const struct dialect *d,
                struct strbuf *out)
{
    *b = (struct body){.request = r, .dialect = d};
    jw_init(&b->w, out);
    jw_begin_object(&b->w);
}

struct err *body_end(struct body *b)
{
    jw_end_object(&b->w);
    return strbuf_check(b->w.out, "the request");
}

bool body_key(struct body *b, const char *key)
{
    if (json_has(b->request->options, key))
        return false;
    jw_key(&b->w, key);
    return true;
}

void body_str(struct body *b, const char *key, struct str value)
{
    if (value.n && body_key(b, key))
        jw_str(&b->w, value);
}

void body_int(struct body *b, const char *key, int64_t value)
{
    if (body_key(b, key))
        jw_int(&b->w, value);
}

void body_bool(struct body *b, const char *key, bool value)
{
    if (body_key(b, key))
        jw_bool(&b->w, value);
}

void body_maybe(struct body *b, const char *key, struct maybe_double value)
{
    if (value.is_set && body_key(b, key))
        jw_double(&b->w, value.value);
}

void body_stop(struct body *b, const char *key)
{
    const struct sampling *s = &b->request->sampling;

    if (s->n_stop == 0 || !body_key(b, key))
        return;
    jw_begin_array(&b->w);
    for (size_t i = 0; i < s->n_stop; i++)
        jw_str(&b->w, s->stop[i]);
    jw_end_array(&b->w);
}

void body_options(struct body *b)
{
    json_each (option, b->request->options) {
        jw_key_str(&b->w, option->key);
        jw_json(&b->w, option);
    }
}

struct str effort_word(const struct model_request *r, const struct dialect *d)
{
    enum effort most = d->most_effort ? d->most_effort : EFFORT_XHIGH;
    enum effort effort = request_effort(r);

    if (effort > EFFORT_NONE && !(r->info && r->info->efforts))
        effort = d->efforts ? effort_nearest(d->efforts, effort)
                            : MAX(MIN(effort, most), d->least_effort);
    return str_of(effort_name(effort));
}

/* --- messages --- */

size_t run_of_one(const struct model_request *r, size_t from)
{
    return from + 1;
}

size_t run_of_results(const struct model_request *r, size_t from)
{
    size_t to = from + 1;

    while (r->messages[from]->role == ROLE_TOOL && to < r->n_messages &&
           r->messages[to]->role == ROLE_TOOL)
        to++;
    return to;
}

static void add_bytes(struct strbuf *out, const void *p, size_t n)
{
    strbuf_add(out, str_make(p, n));
}

static void add_name(struct strbuf *out, struct str name)
{
    add_bytes(out, &name.n, sizeof name.n);
    strbuf_add(out, name);
}

/* Describes the reader of the messages: everything that decides how they are written and is not in
 * the head. */
static void describe_reader(const struct body *b, struct strbuf *out)
{
    const struct model_request *r = b->request;
    unsigned capabilities = r->info ? r->info->capabilities : 0;
    bool is_known = r->info != NULL;

    add_name(out, r->provider);
    add_name(out, r->protocol);
    add_name(out, r->model);
    add_bytes(out, &is_known, sizeof is_known);
    add_bytes(out, &capabilities, sizeof capabilities);
    add_bytes(out, b->dialect, sizeof *b->dialect);
}

/* Can this body continue the kept one? Only its head is written so far. */
static bool has_same_beginning(const struct body *b, const struct kept_body *k, struct str reader,
                               const struct run_writer *w)
{
    const struct model_request *r = b->request;

    return k->messages.n && k->bytes.n == k->n_bytes && k->n_head == b->w.out->n &&
           memcmp(k->bytes.p, b->w.out->p, k->n_head) == 0 &&
           str_eq(strbuf_str(&k->reader), reader) &&
           message_list_begins(&k->messages, r->messages, r->n_messages) &&
           w->find_end(r, k->last_run) == k->messages.n;
}

/* Returns how many messages the body has already. */
static size_t begin_kept(struct body *b, const struct run_writer *w)
{
    struct kept_body *k = b->request->kept;
    AUTO(strbuf) struct strbuf reader = {0}, head = {0};

    describe_reader(b, &reader);
    if (!has_same_beginning(b, k, strbuf_str(&reader), w)) {
        kept_body_done(k);
        k->lent_to = b->w.out;
        k->n_head = b->w.out->n;
        strbuf_add(&k->reader, strbuf_str(&reader));
        return 0;
    }
    head = *b->w.out;
    *b->w.out = k->bytes;
    b->w.out->max_bytes = head.max_bytes;
    k->bytes = (struct strbuf){0};
    k->lent_to = b->w.out;
    b->w.needs_comma = k->needs_comma;
    b->mark = k->mark;
    return k->messages.n;
}

/* Keeps all that was written so far. */
static void keep(struct body *b, size_t last_run, size_t n)
{
    const struct model_request *r = b->request;
    struct kept_body *k = r->kept;

    while (k->messages.n < n)
        message_list_add(&k->messages, message_ref((struct message *)r->messages[k->messages.n]));
    k->last_run = last_run;
    k->n_bytes = b->w.out->n;
    k->needs_comma = b->w.needs_comma;
    k->mark = b->mark;
}

/* Does the kept part end here? The last run may grow with the next request. */
static bool is_last_kept(const struct model_request *r, size_t at, size_t to)
{
    return r->kept && at && at <= r->n_settled && (to > r->n_settled || to == r->n_messages);
}

struct err *body_messages(struct body *b, const struct run_writer *w)
{
    const struct model_request *r = b->request;
    size_t at = r->kept ? begin_kept(b, w) : 0, before = r->kept ? r->kept->last_run : 0, to;

    for (; at < r->n_messages; before = at, at = to) {
        to = w->find_end(r, at);
        if (is_last_kept(r, at, to))
            keep(b, before, at);
        TRY(w->write(b, (struct message_run){at, to}));
    }
    return NULL;
}

/* --- schemas --- */

void schema_request_init(struct schema_request *t, const struct model_request *r)
{
    AUTO(strbuf) struct strbuf text = {0};
    size_t n = r->n_messages;

    strbuf_add_cstr(&text, "[When the work is done, answer with one JSON value that fits this JSON "
                           "Schema, and with nothing else:\n");
    json_write(&text, r->output_schema);
    strbuf_add_char(&text, ']');
    *t = (struct schema_request){.request = *r, .message = message_new(ROLE_USER, S("schema"))};
    message_add_text(t->message, strbuf_str(&text));
    t->messages = mem_alloc((n + 1) * sizeof(struct message *));
    if (n)
        memcpy(t->messages, r->messages, n * sizeof(struct message *));
    t->messages[n] = t->message;
    t->request.messages = t->messages;
    t->request.n_messages = n + 1;
}

void schema_request_done(struct schema_request *t)
{
    message_unref(t->message);
    mem_free(t->messages);
    *t = (struct schema_request){0};
}

/* --- media --- */

static bool is_id_char(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '-';
}

struct err *media_bytes(const struct model_request *r, const struct media *m,
                        struct strbuf *scratch, struct str *ret_bytes)
{
    BUG_IF(m->source == MEDIA_URL);
    if (m->source == MEDIA_BYTES) {
        *ret_bytes = m->data;
        return NULL;
    }
    if (!r->media)
        return err_new(ERR_INTERNAL, "cannot load a stored file to send it");
    TRY(r->media->load(r->media->self, m->data, scratch));
    *ret_bytes = strbuf_str(scratch);
    return NULL;
}

struct err *jw_media(struct json_writer *w, const struct model_request *r, const struct media *m,
                     struct str prefix)
{
    AUTO(strbuf) struct strbuf loaded = {0};
    struct str bytes;

    TRY(media_bytes(r, m, &loaded, &bytes));
    jw_raw(w, S("\""));
    strbuf_add(w->out, prefix);
    base64_add(w->out, bytes);
    strbuf_add_char(w->out, '"');
    return NULL;
}

/* A type goes into a URL inside JSON without escapes, so it must consist of letters of RFC 2045 and
 * one slash. It may come from a tool's result. */
static bool mime_is_plain(struct str mime)
{
    for (size_t i = 0; i < mime.n; i++)
        if (!is_id_char(mime.p[i]) && !strchr("/+.;=", mime.p[i]))
            return false;
    return mime.n > 0;
}

struct err *jw_media_url(struct json_writer *w, const struct model_request *r,
                         const struct media *m)
{
    AUTO(strbuf) struct strbuf prefix = {0};

    if (m->source == MEDIA_URL) {
        jw_str(w, m->data);
        return NULL;
    }
    if (!mime_is_plain(m->mime))
        return err_new(ERR_VALIDATION, "\"%" STR_FMT "\" is not a media type",
                       STR_ARG(str_slice(m->mime, 0, 80)));
    strbuf_addf(&prefix, "data:%" STR_FMT ";base64,", STR_ARG(m->mime));
    return jw_media(w, r, m, strbuf_str(&prefix));
}

bool media_is(const struct media *m, const char *mime_prefix)
{
    return str_starts(m->mime, str_of(mime_prefix));
}

struct err *media_unsupported(const struct media *m, const char *protocol)
{
    return err_hint(err_new(ERR_VALIDATION, "%s does not accept files of type \"%" STR_FMT "\"",
                            protocol, STR_ARG(m->mime)),
                    "convert it, or use a model that accepts it");
}

/* --- ids, tools, parts --- */

bool call_id_is_plain(struct str id, size_t max_bytes)
{
    for (size_t i = 0; i < id.n; i++)
        if (!is_id_char(id.p[i]))
            return false;
    return id.n > 0 && id.n <= max_bytes;
}

void jw_call_id(struct json_writer *w, struct str id, size_t max_bytes)
{
    char text[SHA256_HEX_SIZE + 8] = "call_";

    if (call_id_is_plain(id, max_bytes)) {
        jw_str(w, id);
        return;
    }
    sha256_hex(id, text + 5);
    jw_str(w, str_make(text, MIN(max_bytes, (size_t)37)));
}

void jw_tool_schema(struct json_writer *w, const struct tool_def *t)
{
    if (t->input_schema)
        jw_json(w, t->input_schema);
    else if (t->takes_free_text)
        jw_raw(w, S("{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"}},"
                    "\"required\":[\"input\"],\"additionalProperties\":false}"));
    else
        jw_raw(w, S("{\"type\":\"object\",\"properties\":{}}"));
}

static bool is_required(const struct json *schema, struct str name)
{
    json_each (required, json_get(schema, "required"))
        if (str_eq(json_str(required), name))
            return true;
    return false;
}

static bool is_closed(const struct json *schema);

static bool all_closed(const struct json *schemas)
{
    json_each (schema, schemas)
        if (!is_closed(schema))
            return false;
    return true;
}

static bool is_closed(const struct json *schema)
{
    static const char *const refused[] = {"allOf", "oneOf", "not", "if", "patternProperties"};
    const struct json *members = json_get(schema, "properties"), *items = json_get(schema, "items");

    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        if (json_has(schema, refused[i]))
            return false;
    if (members || str_is(json_get_text(schema, "type"), "object")) {
        if (json_bool(json_get(schema, "additionalProperties"), true))
            return false;
        json_each (member, members)
            if (!is_required(schema, member->key))
                return false;
    }
    return all_closed(members) && all_closed(json_get(schema, "anyOf")) &&
           all_closed(json_get(schema, "$defs")) && all_closed(json_get(schema, "definitions")) &&
           (!items || is_closed(items));
}

bool schema_is_strict(const struct json *schema)
{
    return str_is(json_get_text(schema, "type"), "object") && is_closed(schema);
}

/* The allowed domains, or else the blocked ones; NULL: none, or more than the vendor accepts. */
static const struct json *search_domains(const struct body *b, const char **ret_key)
{
    const struct model_request *r = b->request;
    bool is_allowing = r->search_allowed && r->search_allowed->n;
    const struct json *list = is_allowing ? r->search_allowed : r->search_blocked;
    const char *blocked =
        b->dialect->blocked_domains ? b->dialect->blocked_domains : "blocked_domains";
    size_t max = b->dialect->max_search_domains;

    *ret_key = is_allowing ? "allowed_domains" : blocked;
    return list && list->n && (!max || list->n <= max) ? list : NULL;
}

bool request_limits_search(const struct body *b)
{
    const char *key;

    return search_domains(b, &key) != NULL;
}

/* A name includes its subdomains. */
void jw_search_domains(struct body *b)
{
    const char *key;
    const struct json *list = search_domains(b, &key);

    if (!list)
        return;
    jw_key(&b->w, key);
    jw_begin_array(&b->w);
    json_each (domain, list) {
        struct str name = json_str(domain);

        jw_str(&b->w, str_skip(name, str_starts(name, S("*.")) ? 2 : 0));
    }
    jw_end_array(&b->w);
}

void tool_result_text(const struct part *result, struct strbuf *out)
{
    bool first = true;

    for (size_t i = 0; i < result->n_content; i++) {
        const struct part *p = &result->content[i];

        if (p->kind != PART_TEXT)
            continue;
        if (!first)
            strbuf_add_char(out, '\n');
        strbuf_add(out, p->text);
        first = false;
    }
}

bool tool_result_has_media(const struct part *result)
{
    for (size_t i = 0; i < result->n_content; i++)
        if (result->content[i].kind == PART_MEDIA)
            return true;
    return false;
}

bool part_is_native(const struct model_request *r, const struct message *m, const struct part *p)
{
    return p->native.n && message_is_native_to(m, r->provider, r->protocol);
}

bool text_is_blank(struct str text)
{
    return str_trim(text).n == 0;
}
