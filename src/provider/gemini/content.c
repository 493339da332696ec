/* content.c - writes a conversation as Gemini contents: roles "user" and "model".
 *
 * A function call must directly follow a turn of the user or results, and all results of one round
 * must be in the content after their calls. So a run of assistant messages is one content, and so
 * is a run of results. */
#include "provider/encode.h"

#include "base/ascii.h"
#include "provider/gemini/gemini.h"

#define MAX_CALL_ID 64
/* Documented for calls of other models and calls without their signature. */
#define NO_SIGNATURE "skip_thought_signature_validator"

/* --- names and ids --- */

static bool is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '_' || c == '.' || c == ':' || c == '-';
}

static bool is_first_name_char(char c)
{
    return is_name_char(c) && c >= 'A'; /* a letter or '_' */
}

bool gemini_is_function_name(struct str name)
{
    if (name.n == 0 || name.n > GEMINI_MAX_NAME || !is_first_name_char(name.p[0]))
        return false;
    for (size_t i = 1; i < name.n; i++)
        if (!is_name_char(name.p[i]))
            return false;
    return true;
}

/* Calls in the history may have any name: models make mistakes. Invalid names are converted. */
static void write_name(struct json_writer *w, struct str name)
{
    char text[GEMINI_MAX_NAME];
    size_t n = 0;

    if (gemini_is_function_name(name)) {
        jw_str(w, name);
        return;
    }
    if (name.n == 0 || !is_first_name_char(name.p[0]))
        text[n++] = '_';
    for (size_t i = 0; i < name.n && n < sizeof text; i++)
        text[n++] = is_name_char(name.p[i]) ? name.p[i] : '_';
    jw_str(w, str_make(text, n));
}

static bool native_has_id(const struct part *call)
{
    AUTO(arena) struct arena scratch = {0};
    struct json *part;
    struct json_where where;

    return json_parse_at(&scratch, call->native, 0, &part, &where) &&
           gemini_get(gemini_get(part, "functionCall"), "id");
}

/* Ids are optional, and not every model sends them. A result has one if its call is sent with one.
 * Vertex AI refuses ids for models that do not send them. */
static void write_id(struct body *b, const struct message *m, const struct part *call)
{
    bool is_native = m && part_is_native(b->request, m, call);

    if (is_native ? !native_has_id(call)
                  : b->dialect->vertex && !gemini_is_third_generation(b->request))
        return;
    jw_key(&b->w, "id");
    if (is_native)
        jw_str(&b->w, call->id);
    else
        jw_call_id(&b->w, call->id, MAX_CALL_ID);
}

/* --- text and media --- */

static void write_text(struct json_writer *w, struct str text)
{
    jw_begin_object(w);
    jw_kv_str(w, "text", text);
    jw_end_object(w);
}

static bool can_carry(const struct media *m)
{
    return media_is(m, "image/") || media_is(m, "audio/") || media_is(m, "video/") ||
           media_is(m, "text/") || media_is(m, "application/pdf") ||
           (m->source == MEDIA_URL && m->mime.n == 0);
}

static struct err *write_media(struct body *b, const struct media *m, struct str signature)
{
    bool is_url = m->source == MEDIA_URL;

    jw_begin_object(&b->w);
    jw_key(&b->w, is_url ? "fileData" : "inlineData");
    jw_begin_object(&b->w);
    if (m->mime.n)
        jw_kv_str(&b->w, "mimeType", m->mime);
    if (is_url) {
        jw_kv_str(&b->w, "fileUri", m->data);
    } else {
        jw_key(&b->w, "data");
        TRY(jw_media(&b->w, b->request, m, (struct str){0}));
    }
    jw_end_object(&b->w);
    if (signature.n)
        jw_kv_str(&b->w, "thoughtSignature", signature);
    jw_end_object(&b->w);
    return NULL;
}

/* --- the model's turn --- */

static void write_args(struct json_writer *w, const struct part *call)
{
    if (!call->is_free_text) {
        jw_kv_raw(w, "args", call->args.n ? call->args : S("{}"));
        return;
    }
    jw_key(w, "args");
    jw_begin_object(w);
    jw_kv_str(w, "input", call->args);
    jw_end_object(w);
}

/* Models that require a signature require it on the first call of a turn. An unknown model may
 * require one, but accepts its own calls as they were. */
static void write_call(struct body *b, const struct message *m, const struct part *call,
                       bool is_first)
{
    const struct model_request *r = b->request;
    bool is_native = message_is_native_to(m, r->provider, r->protocol);
    struct str signature = is_native ? call->signature : (struct str){0};

    if (signature.n == 0 && is_first &&
        (is_native ? request_can(r, REASONS_BY_LEVEL) : gemini_is_third_generation(r)))
        signature = S(NO_SIGNATURE);
    else if (part_is_native(r, m, call) && call->bad_args.n == 0 &&
             gemini_is_function_name(call->name)) {
        jw_raw(&b->w, call->native);
        return;
    }
    jw_begin_object(&b->w);
    jw_key(&b->w, "functionCall");
    jw_begin_object(&b->w);
    write_id(b, m, call);
    jw_key(&b->w, "name");
    write_name(&b->w, call->name);
    write_args(&b->w, call);
    jw_end_object(&b->w);
    if (signature.n)
        jw_kv_str(&b->w, "thoughtSignature", signature);
    jw_end_object(&b->w);
}

static struct err *write_model_part(struct body *b, const struct message *m, const struct part *p,
                                    bool is_first_call)
{
    bool is_native = part_is_native(b->request, m, p);

    switch (p->kind) {
    case PART_TEXT:
    case PART_REFUSAL:
        if (is_native && p->signature.n)
            jw_raw(&b->w, p->native);
        else if (!text_is_blank(p->text))
            write_text(&b->w, p->text);
        return NULL;
    case PART_REASONING: /* a thought without a signature is only for people */
        if (is_native && p->signature.n)
            jw_raw(&b->w, p->native);
        return NULL;
    case PART_SERVER_TOOL_USE:
    case PART_SERVER_TOOL_RESULT:
        if (is_native)
            jw_raw(&b->w, p->native);
        return NULL;
    case PART_TOOL_CALL:
        write_call(b, m, p, is_first_call);
        return NULL;
    case PART_MEDIA:
        if (!can_carry(&p->media))
            return NULL;
        return write_media(b, &p->media,
                           message_is_native_to(m, b->request->provider, b->request->protocol)
                               ? p->signature
                               : (struct str){0});
    case PART_CITATION:
    case PART_TOOL_RESULT:
    case PART_CONTEXT: /* converted to text before */
        return NULL;
    }
    BUG("part kind");
}

/* --- the user's turn, and results --- */

static bool is_of_model(const struct message *m)
{
    return m->role == ROLE_ASSISTANT;
}

/* The call of a result: it is in the assistant messages directly before `at`. */
static const struct part *find_call(const struct model_request *r, size_t at, struct str id,
                                    const struct message **ret_message)
{
    while (at-- > 0 && is_of_model(r->messages[at]))
        for (size_t i = 0; i < r->messages[at]->n_parts; i++) {
            const struct part *p = &r->messages[at]->parts[i];

            if (p->kind == PART_TOOL_CALL && str_eq(p->id, id)) {
                *ret_message = r->messages[at];
                return p;
            }
        }
    return NULL;
}

/* Only newer models accept files inside a result, and only Vertex AI accepts their URLs there. */
static bool fits_in_result(const struct body *b, const struct media *m)
{
    return gemini_is_third_generation(b->request) &&
           (m->source != MEDIA_URL || b->dialect->vertex) &&
           (media_is(m, "image/") || media_is(m, "application/pdf") || media_is(m, "text/"));
}

static struct err *write_files_of_result(struct body *b, const struct part *result)
{
    bool is_open = false;

    for (size_t i = 0; i < result->n_content; i++) {
        const struct part *p = &result->content[i];

        if (p->kind != PART_MEDIA || !fits_in_result(b, &p->media))
            continue;
        if (!is_open) {
            jw_key(&b->w, "parts");
            jw_begin_array(&b->w);
            is_open = true;
        }
        TRY(write_media(b, &p->media, (struct str){0}));
    }
    if (is_open)
        jw_end_array(&b->w);
    return NULL;
}

static struct err *write_result(struct body *b, size_t at, const struct part *result)
{
    AUTO(strbuf) struct strbuf text = {0};
    const struct message *m = NULL;
    const struct part *call = find_call(b->request, at, result->id, &m);

    tool_result_text(result, &text);
    jw_begin_object(&b->w);
    jw_key(&b->w, "functionResponse");
    jw_begin_object(&b->w);
    write_id(b, m, call ? call : result);
    jw_key(&b->w, "name");
    write_name(&b->w, call ? call->name : result->name);
    jw_key(&b->w, "response");
    jw_begin_object(&b->w);
    jw_kv_str(&b->w, result->is_error ? "error" : "output", strbuf_str(&text));
    jw_end_object(&b->w);
    TRY(write_files_of_result(b, result));
    jw_end_object(&b->w);
    jw_end_object(&b->w);
    return NULL;
}

static struct err *write_user_part(struct body *b, size_t at, const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
        if (!text_is_blank(p->text))
            write_text(&b->w, p->text);
        return NULL;
    case PART_MEDIA:
        if (!can_carry(&p->media))
            return media_unsupported(&p->media, "the Gemini API");
        return write_media(b, &p->media, (struct str){0});
    case PART_TOOL_RESULT:
        return write_result(b, at, p);
    default:
        return NULL;
    }
}

/* --- contents --- */

static struct err *write_run_parts(struct body *b, struct message_run run)
{
    bool has_call = false;

    for (size_t i = run.from; i < run.to; i++) {
        const struct message *m = b->request->messages[i];

        for (size_t k = 0; k < m->n_parts; k++) {
            if (!is_of_model(m)) {
                TRY(write_user_part(b, run.from, &m->parts[k]));
                continue;
            }
            TRY(write_model_part(b, m, &m->parts[k], !has_call));
            has_call |= m->parts[k].kind == PART_TOOL_CALL;
        }
    }
    return NULL;
}

/* Files that cannot be inside their results follow in a content of their own. */
static struct err *write_loose_files(struct body *b, struct message_run run)
{
    for (size_t i = run.from; i < run.to; i++)
        for (size_t k = 0; k < b->request->messages[i]->n_parts; k++) {
            const struct part *result = &b->request->messages[i]->parts[k];

            for (size_t n = 0; n < result->n_content; n++) {
                AUTO(strbuf) struct strbuf label = {0};
                const struct part *p = &result->content[n];

                if (p->kind != PART_MEDIA || fits_in_result(b, &p->media))
                    continue;
                if (!can_carry(&p->media))
                    return media_unsupported(&p->media, "the Gemini API");
                strbuf_addf(&label, "This file belongs to the result of %" STR_FMT ":",
                            STR_ARG(result->name));
                write_text(&b->w, strbuf_str(&label));
                TRY(write_media(b, &p->media, (struct str){0}));
            }
        }
    return NULL;
}

/* Writes one content. An empty one (its parts were from another provider, or there are no loose
 * files) is removed again: the API refuses it. */
static struct err *write_content(struct body *b, struct message_run run,
                                 struct err *(*write)(struct body *b, struct message_run run))
{
    struct json_writer before = b->w;
    size_t start = b->w.out->n, parts;

    jw_begin_object(&b->w);
    jw_kv_str(&b->w, "role", is_of_model(b->request->messages[run.from]) ? S("model") : S("user"));
    jw_key(&b->w, "parts");
    jw_begin_array(&b->w);
    parts = b->w.out->n;
    TRY(write(b, run));
    if (b->w.out->n == parts) {
        strbuf_cut(b->w.out, start);
        b->w = before;
        return NULL;
    }
    jw_end_array(&b->w);
    jw_end_object(&b->w);
    return NULL;
}

static size_t find_run_end(const struct model_request *r, size_t from)
{
    enum role role = r->messages[from]->role;
    size_t to = from + 1;

    while ((role == ROLE_ASSISTANT || role == ROLE_TOOL) && to < r->n_messages &&
           r->messages[to]->role == role)
        to++;
    return to;
}

static struct err *write_run(struct body *b, struct message_run run)
{
    TRY(write_content(b, run, write_run_parts));
    if (b->request->messages[run.from]->role == ROLE_TOOL)
        TRY(write_content(b, run, write_loose_files));
    return NULL;
}

struct err *gemini_write_contents(struct body *b)
{
    static const struct run_writer writer = {find_run_end, write_run};

    if (!body_key(b, "contents"))
        return NULL;
    jw_begin_array(&b->w);
    TRY(body_messages(b, &writer));
    jw_end_array(&b->w);
    return NULL;
}

void gemini_write_system(struct body *b)
{
    const struct model_request *r = b->request;

    if (text_is_blank(r->system) || gemini_has_cached_content(r) ||
        !body_key(b, "systemInstruction"))
        return;
    jw_begin_object(&b->w);
    jw_key(&b->w, "parts");
    jw_begin_array(&b->w);
    write_text(&b->w, r->system);
    jw_end_array(&b->w);
    jw_end_object(&b->w);
}
