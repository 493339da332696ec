/* decode.c - reads answers of the Gemini API and of Vertex AI.
 *
 * A stream is a series of whole answers (GenerateContentResponse), each with the next parts of
 * every candidate; an answer that is not streamed is a series of one. The answer ends when a
 * candidate has a finish reason or the prompt was blocked; counts may follow. Old models send a
 * finish reason with every piece: if all pieces so far had one, more text is read and the last
 * reason counts. */
#include "provider/gemini/gemini.h"

#include "base/ascii.h"
#include "provider/provider_error.h"

void gemini_begin(struct decode *d)
{
    d->state = gemini_state_new(&d->reply->arena);
}

static void set_text(struct reply *r, struct str *at, struct str value)
{
    if (value.n)
        reply_set_word(r, at, value);
}

/* --- fields --- */

/* "mimeType" becomes "mime_type". */
static void to_snake_case(const char *key, char *out, size_t room)
{
    size_t n = 0;

    for (; *key && n + 2 < room; key++) {
        if (ascii_is_upper(*key))
            out[n++] = '_';
        out[n++] = ascii_lower(*key);
    }
    out[n] = 0;
}

const struct json *gemini_get(const struct json *object, const char *key)
{
    const struct json *v = json_get(object, key);
    char snake[64];

    if (!v) {
        to_snake_case(key, snake, sizeof snake);
        v = json_get(object, snake);
    }
    return json_is(v, JSON_NULL) ? NULL : v;
}

struct str gemini_get_text(const struct json *object, const char *key)
{
    return json_str(gemini_get(object, key));
}

/* --- sources --- */

#define MAX_SOURCES REPLY_MAX_PARTS

/* A stream repeats its sources. */
static bool is_cited(const struct reply *r, struct str native)
{
    for (size_t i = r->n_parts; i-- > 0;)
        if (r->parts[i].part.kind == PART_CITATION && str_eq(r->parts[i].part.native, native))
            return true;
    return false;
}

/* `source` has the fields; `native` is the whole entry. Text may continue after it. */
static struct err *cite(struct reply *r, const struct json *source, struct str native)
{
    struct str url = gemini_get_text(source, "uri");
    struct part *p;
    size_t index;

    if (is_cited(r, native))
        return NULL;
    TRY(reply_begin(r, PART_CITATION, (struct str){0}, (struct str){0}, &index));
    p = reply_part(r, index);
    TRY(reply_set_field(r, &p->url, url.n ? url : gemini_get_text(source, "sourceUri")));
    TRY(reply_set_field(r, &p->title, gemini_get_text(source, "title")));
    TRY(reply_set_field(r, &p->native, native));
    return reply_add_text(r, index, gemini_get_text(source, "text"));
}

/* A stream repeats them. Empty ones are not charged for. */
static void count_searches(struct usage *u, const struct json *metadata)
{
    const struct json *sources = gemini_get(metadata, "groundingChunks");
    int64_t n = 0;

    json_each (query, gemini_get(metadata, "webSearchQueries"))
        n += json_str(query).n > 0;
    if (n == 0 && sources)
        n = sources->n > 0;
    u->web_searches = MAX(u->web_searches, n);
}

/* {"web": {"uri", "title"}}; instead of "web" also "retrievedContext", "maps" or "image". */
static struct err *take_grounding(struct reply *r, const struct json *metadata)
{
    size_t n = 0;

    json_each (chunk, gemini_get(metadata, "groundingChunks"))
        if (json_is(chunk->first, JSON_OBJECT) && n++ < MAX_SOURCES)
            TRY(cite(r, chunk->first, chunk->raw));
    return NULL;
}

static struct err *take_citations(struct reply *r, const struct json *metadata)
{
    const struct json *list = gemini_get(metadata, "citations"); /* Vertex AI */
    size_t n = 0;

    if (!list)
        list = gemini_get(metadata, "citationSources"); /* the Gemini API */
    json_each (source, list)
        if (n++ < MAX_SOURCES)
            TRY(cite(r, source, source->raw));
    return NULL;
}

static bool was_fetched(const struct reply *r, struct str args)
{
    for (size_t i = r->n_parts; i-- > 0;)
        if (r->parts[i].part.kind == PART_SERVER_TOOL_USE && str_eq(reply_part_args(r, i), args))
            return true;
    return false;
}

/* Pages that the provider fetched. They are not part of the content, so they are not sent back. */
static struct err *take_fetched_pages(struct reply *r, const struct json *metadata)
{
    size_t index, n = 0;

    json_each (page, gemini_get(metadata, "urlMetadata"))
        if (json_is(page, JSON_OBJECT) && n++ < MAX_SOURCES && !was_fetched(r, page->raw)) {
            TRY(reply_begin(r, PART_SERVER_TOOL_USE, (struct str){0}, S("url_context"), &index));
            TRY(reply_add_args(r, index, page->raw));
        }
    return NULL;
}

/* --- stop --- */

static enum stop stop_of(struct str reason)
{
    /* Some libraries write the number instead of the name. */
    static const struct {
        const char *reason, *number;
        enum stop stop;
    } stops[] = {
        {"STOP", "1", STOP_END},
        {"MAX_TOKENS", "2", STOP_LENGTH},
        {"SAFETY", "3", STOP_FILTERED},
        {"RECITATION", "4", STOP_FILTERED},
        {"LANGUAGE", NULL, STOP_FILTERED},
        {"BLOCKLIST", NULL, STOP_FILTERED},
        {"PROHIBITED_CONTENT", NULL, STOP_FILTERED},
        {"SPII", NULL, STOP_FILTERED},
        {"MODEL_ARMOR", NULL, STOP_FILTERED},
        {"IMAGE_SAFETY", NULL, STOP_FILTERED},
        {"IMAGE_PROHIBITED_CONTENT", NULL, STOP_FILTERED},
        {"IMAGE_RECITATION", NULL, STOP_FILTERED},
        {"MALFORMED_FUNCTION_CALL", NULL, STOP_UNREAD},
        {"MALFORMED_RESPONSE", NULL, STOP_UNREAD},
        {"UNEXPECTED_TOOL_CALL", NULL, STOP_UNREAD},
    };

    for (size_t i = 0; i < ARRAY_LEN(stops); i++)
        if (str_is(reason, stops[i].reason) || (stops[i].number && str_is(reason, stops[i].number)))
            return stops[i].stop;
    return STOP_UNKNOWN; /* OTHER, TOO_MANY_TOOL_CALLS, ... */
}

static bool is_said(struct str reason)
{
    return reason.n && !str_is(reason, "0") && !str_ends(reason, S("_UNSPECIFIED"));
}

static struct err *take_finish(struct decode *d, const struct json *candidate)
{
    const struct json *word = gemini_get(candidate, "finishReason");
    struct str reason = json_is(word, JSON_NUMBER) ? word->text : json_str(word);
    struct reply *r = d->reply;

    if (!is_said(reason))
        return NULL;
    TRY(gemini_end_call(d, /* is_whole= */ stop_of(reason) == STOP_END));
    set_text(r, &r->stop_reason, reason);
    set_text(r, &r->stop_detail, gemini_get_text(candidate, "finishMessage"));
    r->stop = stop_of(reason);
    r->is_complete = true;
    return NULL;
}

/* A blocked prompt gets no candidate. */
static void take_feedback(struct reply *r, const struct json *feedback)
{
    struct str reason = gemini_get_text(feedback, "blockReason");

    if (!is_said(reason))
        return;
    set_text(r, &r->stop_detail, reason);
    r->stop = STOP_FILTERED;
    r->is_complete = true;
}

/* --- answers --- */

static struct err *take_candidate(struct decode *d, const struct json *candidate)
{
    struct gemini_state *s = d->state;

    if (d->reply->is_complete) {
        if (s->had_open_piece)
            return NULL; /* the answer has ended */
        s->takes_no_calls = true;
    }
    s->had_open_piece |= !gemini_get(candidate, "finishReason");
    json_each (part, gemini_get(gemini_get(candidate, "content"), "parts"))
        TRY(gemini_take_part(d, part));
    count_searches(&d->reply->usage, gemini_get(candidate, "groundingMetadata"));
    TRY(take_grounding(d->reply, gemini_get(candidate, "groundingMetadata")));
    TRY(take_citations(d->reply, gemini_get(candidate, "citationMetadata")));
    TRY(take_fetched_pages(d->reply, gemini_get(candidate, "urlContextMetadata")));
    return take_finish(d, candidate);
}

static void take_usage(struct usage *u, const struct json *usage)
{
    usage_take_count(u, &u->input, gemini_get(usage, "promptTokenCount"));
    usage_take_count(u, &u->output, gemini_get(usage, "responseTokenCount")); /* speech models */
    usage_take_count(u, &u->output, gemini_get(usage, "candidatesTokenCount"));
    usage_take_count(u, &u->cache_read, gemini_get(usage, "cachedContentTokenCount"));
    usage_take_count(u, &u->reasoning, gemini_get(usage, "thoughtsTokenCount"));
    usage_take_count(u, &u->tool_input, gemini_get(usage, "toolUsePromptTokenCount"));
    u->input_includes_cache = true;
    u->output_lacks_reasoning = true;
}

/* Signatures, sources and files take memory, too. */
static struct err *check_size(const struct reply *r)
{
    if (r->arena.used_bytes <= REPLY_MAX_BYTES)
        return NULL;
    return err_new(ERR_BAD_RESPONSE, "the answer is larger than %zu MiB", REPLY_MAX_BYTES >> 20);
}

static struct err *take_response(struct decode *d, const struct json *response)
{
    const struct gemini_state *s = d->state;
    struct reply *r = d->reply;

    set_text(r, &r->id, gemini_get_text(response, "responseId"));
    set_text(r, &r->model, gemini_get_text(response, "modelVersion"));
    take_usage(&r->usage, gemini_get(response, "usageMetadata"));
    take_feedback(r, gemini_get(response, "promptFeedback"));
    json_each (candidate, gemini_get(response, "candidates"))
        if (json_int_or(gemini_get(candidate, "index"), 0) == 0) {
            TRY(take_candidate(d, candidate));
            break;
        }
    if (r->stop == STOP_END && s->has_calls)
        r->stop = STOP_TOOL_CALLS;
    return check_size(r);
}

/* Google's tools use a host that wraps every answer once more. */
static const struct json *unwrap(const struct json *answer)
{
    const struct json *inner = gemini_get(answer, "response");

    return json_is(inner, JSON_OBJECT) && !gemini_get(answer, "candidates") ? inner : answer;
}

/* Errors of Google, and of servers in front of it. */
static bool is_error(const struct json *answer)
{
    return gemini_get(answer, "error") ||
           (error_body_is_error(answer) && !gemini_get(unwrap(answer), "candidates"));
}

bool gemini_is_event(struct str type, const struct json *event)
{
    const struct json *inner = gemini_get(event, "response");

    return gemini_get(event, "candidates") || gemini_get(event, "promptFeedback") ||
           gemini_get(event, "usageMetadata") || (inner && gemini_is_event(type, inner));
}

struct err *gemini_event(struct decode *d, struct str type, const struct json *event)
{
    if (is_error(event))
        return gemini_classify(0, event);
    return take_response(d, unwrap(event));
}

struct err *gemini_end(struct decode *d)
{
    return gemini_end_call(d, /* is_whole= */ false);
}

struct err *gemini_body(struct decode *d, const struct json *body)
{
    const struct json *answer = unwrap(body);

    if (is_error(body))
        return gemini_classify(0, body);
    if (!gemini_get(answer, "candidates") && !gemini_get(answer, "promptFeedback"))
        return err_new(ERR_BAD_RESPONSE, "the answer has no candidates");
    TRY(take_response(d, answer));
    d->reply->is_complete |= d->reply->n_parts > 0; /* it is not a stream */
    return gemini_end(d);
}
