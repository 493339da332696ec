/* fit.c - results that are too long: stored whole, shown in part, with a handle to read on.
 *
 * Two limits hold. A single result is at most as long as its tool (or the run) allows, and never
 * longer than what a message can hold. And the results of a batch together must leave room in the
 * context window: the one that would cross the limit is stored and shown by a few lines, those
 * after it only say that they were skipped. That a call was interrupted, or that its outcome is not
 * known, is said however little room there is. */
#include "engine/run_state.h"

#include "base/clip.h"
#include "base/utf8.h"
#include "model/message_json.h"

#define SKIPPED_TEXT "Error: Context window near capacity. Tool execution result skipped."
#define SHORT_PREVIEW_CHARS 1000
#define NOTE_CHARS 400 /* what the note about the handle takes at most */
/* As JSON, with its id and name, and its text twice. */
#define MAX_TEXT_JSON ((MESSAGE_MAX_JSON_BYTES - ((size_t)2 << 20)) / 2)

static size_t count_lines(struct str text)
{
    size_t n = 0;

    for (const char *p = text.p; p && (p = memchr(p, '\n', (size_t)(text.p + text.n - p))); p++)
        n++;
    return n + (text.n && text.p[text.n - 1] != '\n');
}

/* Media are kept as they are; their place is taken from the text's. */
static bool fits_message(const struct call *c)
{
    struct str text = strbuf_str(&c->result.text);
    size_t n_media = 0;

    for (size_t i = 0; i < c->result.n_media; i++)
        n_media += c->result.media[i].data.n;
    return n_media / 3 * 2 + 6 * text.n <= MAX_TEXT_JSON ||
           n_media / 3 * 2 + json_string_size(text) <= MAX_TEXT_JSON;
}

static bool is_too_long(const struct call *c, size_t *ret_max_chars)
{
    const struct tool *t = c->verdict.entry ? c->verdict.entry->tool : NULL;
    struct str text = strbuf_str(&c->result.text);
    size_t max_bytes = c->run->options->tool_response_bytes;

    if (t && t->max_chars) {
        *ret_max_chars = t->max_chars;
        return text.n > t->max_chars && utf8_count(text) > t->max_chars;
    }
    *ret_max_chars = max_bytes ? max_bytes : RUN_DEFAULT_TOOL_RESPONSE_BYTES;
    return text.n > *ret_max_chars;
}

/* --- handles --- */

static void remember_handle(struct call *c, const char *handle, struct str text, size_t n_lines)
{
    struct json *v = json_new(&c->arena, JSON_OBJECT);

    json_set_str(&c->arena, v, "tool", c->part->name);
    json_set_int(&c->arena, v, "bytes", (int64_t)text.n);
    json_set_int(&c->arena, v, "lines", (int64_t)n_lines);
    tool_session_set(c->run->conversation->tools, arena_format(&c->arena, "handle:%s", handle), v);
}

static void tell_stored(struct call *c, const char *handle, const char *reason, struct str text,
                        size_t n_lines)
{
    struct json *details = json_new(&c->arena, JSON_OBJECT);
    struct event e = {.owner = &c->owner,
                      .body.notice = {.severity = SEVERITY_WARNING,
                                      .source = "agent:tool_output",
                                      .text = S("a long tool result was stored"),
                                      .details = details}};

    json_set_str(&c->arena, details, "handle", str_of(handle));
    json_set_str(&c->arena, details, "reason", str_of(reason));
    json_set_int(&c->arena, details, "bytes", (int64_t)text.n);
    json_set_int(&c->arena, details, "lines", (int64_t)n_lines);
    json_set_int(&c->arena, details, "tokens", ledger_result_tokens(text));
    run_emit(c->run, EVENT_NOTICE, &e);
}

/* The handle, or "" where nothing can be stored. */
static void store(struct call *c, const char *reason, char handle[SHA256_HEX_SIZE])
{
    struct str text = strbuf_str(&c->result.text);
    size_t n_lines = count_lines(text);
    AUTO(err) struct err *e = NULL;

    handle[0] = 0;
    if (!c->run->options->blobs)
        return;
    e = blob_put(c->run->options->blobs, text, handle);
    if (e) {
        AUTO_FREE char *why = err_message(e);

        handle[0] = 0;
        run_notice(c->run, SEVERITY_WARNING, "agent:tool_output", str_of(why));
        return;
    }
    remember_handle(c, handle, text, n_lines);
    tell_stored(c, handle, reason, text, n_lines);
}

/* Head and tail, and how to get at the rest. */
static void replace(struct call *c, const char *reason, size_t max_chars)
{
    struct strbuf *text = &c->result.text;
    struct strbuf shown = {0};
    size_t n_bytes = text->n, n_lines = count_lines(strbuf_str(text));
    char handle[SHA256_HEX_SIZE];

    store(c, reason, handle);
    if (handle[0])
        strbuf_addf(&shown,
                    "[The whole output has %zu bytes in %zu lines and is stored; its head and tail "
                    "follow. To read on: tool_output with handle \"%s\" and offset (a line), or "
                    "pattern (a regular expression).]\n",
                    n_bytes, n_lines, handle);
    else
        strbuf_addf(&shown,
                    "[The whole output has %zu bytes in %zu lines; its head and tail follow.]\n",
                    n_bytes, n_lines);
    clip_middle(&shown, strbuf_str(text),
                max_chars > NOTE_CHARS * 2 ? max_chars - NOTE_CHARS : max_chars);
    strbuf_done(text);
    *text = shown;
}

/* --- the context --- */

static int64_t limit(const struct result_budget *b)
{
    return (int64_t)((__int128)b->window * LEDGER_RESULTS_PER_MILLE / 1000);
}

static int64_t media_tokens(const struct call *c)
{
    return (int64_t)c->result.n_media * 1600;
}

static int64_t result_tokens(const struct call *c)
{
    return ledger_result_tokens(strbuf_str(&c->result.text)) + media_tokens(c);
}

static void skip(struct call *c, const struct result_budget *b)
{
    struct json *m = call_metadata(c);

    json_set_int(&c->arena, m, "projected_tokens", b->used + result_tokens(c));
    json_set_int(&c->arena, m, "limit_tokens", limit(b));
    json_set_int(&c->arena, m, "remaining_tokens", MAX(limit(b) - b->used, (int64_t)0));
    c->result.n_media = 0;
    call_fail(c, "context_budget_exceeded", S(SKIPPED_TEXT));
}

/* It was not run, and never will be: a rule, a hook, a plugin or its own arguments were against it.
 */
static bool is_refused(const struct call *c)
{
    return !c->was_executed && !c->has_begun && !c->outcome && c->code &&
           strcmp(c->code, err_code(ERR_CANCELLED)) != 0;
}

static void skip_refusal(struct call *c, const struct result_budget *b)
{
    struct str text = strbuf_str(&c->result.text);

    if (text.n <= strlen(SKIPPED_TEXT))
        return;
    c->refusal = arena_str(&c->arena, text);
    c->refusal_code = c->code;
    skip(c, b);
}

void fit_result(struct call *c, struct result_budget *b)
{
    size_t max_chars;

    if (b->is_spent && c->was_executed) {
        skip(c, b);
    } else if (b->is_spent && is_refused(c)) {
        skip_refusal(c, b);
    } else {
        if (is_too_long(c, &max_chars))
            replace(c, "size_cap", max_chars);
        if (!fits_message(c)) /* limits can be set to anything */
            replace(c, "size_cap", RUN_DEFAULT_TOOL_RESPONSE_BYTES);
        if (!b->is_spent && b->used + result_tokens(c) > limit(b)) {
            b->is_spent = true;
            c->result.n_media = 0;
            if (utf8_count(strbuf_str(&c->result.text)) > SHORT_PREVIEW_CHARS)
                replace(c, "token_budget", SHORT_PREVIEW_CHARS);
        }
    }
    b->used += result_tokens(c);
}
