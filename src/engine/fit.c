/* fit.c - results that are too long: stored whole, shown in part, with a handle to read on.
 *
 * Two limits hold. A single result is at most as long as its tool (or the run) allows, and never
 * longer than what a message can hold. And the results of a batch together must leave room in the
 * context window. A compaction makes that room where it can, and they join the history whole; else
 * a result that does not fit is stored and shown by a few lines, or by its name alone. Runs without
 * compaction are strict: after the first result that does not fit, the later ones of the batch are
 * only named, and refusals are skipped. What ran is always reported as run: how it ended and where
 * its output is. That a call was interrupted, or that its outcome is not known, is said however
 * little room there is. */
#include "engine/run_state.h"

#include "base/clip.h"
#include "base/utf8.h"
#include "model/message_json.h"
#include "port/stored_result.h"

#define SKIPPED_TEXT "Error: Context window near capacity. Tool execution result skipped."
#define NOTE_CHARS 600  /* what the note about the handle takes at most */
#define NAMED_CHARS 400 /* a result of no more is as short as the note that would replace it */
#define MAX_ENDING 200  /* bytes of the line that says how a call failed */
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
    /* A call of an earlier process was not judged again. */
    const struct tool_entry *entry =
        c->verdict.entry ? c->verdict.entry : tool_set_find(c->run->tools, c->part->name);
    const struct tool *t = entry ? entry->tool : NULL;
    struct str text = strbuf_str(&c->result.text);
    size_t max_bytes = c->run->kit->tool_response_bytes;

    if (t && t->max_chars) {
        *ret_max_chars = t->max_chars;
        return text.n > t->max_chars && utf8_count(text) > t->max_chars;
    }
    *ret_max_chars = max_bytes ? max_bytes : RUN_DEFAULT_TOOL_RESPONSE_BYTES;
    return text.n > *ret_max_chars;
}

/* --- what is stored --- */

/* A result on its way into the store, and then what the model reads instead. */
struct storing {
    struct run *run;
    const struct owner *owner;
    struct arena *arena;
    struct str tool, call_id;
    const struct json *left_out; /* what its tool could not keep of it; NULL: nothing */
    bool has_failed;
    struct str text;
    size_t n_lines;
};

static struct json *describe(const struct storing *x)
{
    struct json *v = json_new(x->arena, JSON_OBJECT);

    json_set_str(x->arena, v, "tool", x->tool);
    json_set_str(x->arena, v, "call", x->call_id);
    json_set_int(x->arena, v, "bytes", (int64_t)x->text.n);
    json_set_int(x->arena, v, "lines", (int64_t)x->n_lines);
    if (x->left_out)
        json_set(x->arena, v, "leftOut", json_copy(x->arena, x->left_out));
    return v;
}

static void report_stored(const struct storing *x, struct str handle, const char *reason)
{
    struct json *details = json_new(x->arena, JSON_OBJECT);
    struct event e = {.owner = x->owner,
                      .body.notice = {.severity = SEVERITY_WARNING,
                                      .source = "agent:tool_output",
                                      .text = S("a long tool result was stored"),
                                      .details = details}};

    json_set_str(x->arena, details, "handle", handle);
    json_set_str(x->arena, details, "reason", str_of(reason));
    json_set_int(x->arena, details, "bytes", (int64_t)x->text.n);
    json_set_int(x->arena, details, "lines", (int64_t)x->n_lines);
    json_set_int(x->arena, details, "tokens", ledger_result_tokens(x->text));
    run_emit(x->run, EVENT_NOTICE, &e);
}

/* The handle, or "" where nothing can be stored. */
static struct str store_result(const struct storing *x, const char *reason)
{
    char hash[SHA256_HEX_SIZE];
    AUTO(err) struct err *e = NULL;
    struct str handle;

    if (!x->run->kit->blobs)
        return (struct str){0};
    e = blob_put(x->run->kit->blobs, x->text, hash);
    if (e) {
        AUTO_FREE char *why = err_message(e);

        run_notice(x->run, SEVERITY_WARNING, "agent:tool_output", str_of(why));
        return (struct str){0};
    }
    handle = stored_result_add(x->run->conversation->state, x->arena, str_of(hash), describe(x));
    report_stored(x, handle, reason);
    return handle;
}

/* How long it is, and what of it is lost: a command may print more than is kept. */
static void add_size(struct strbuf *out, const struct storing *x)
{
    const struct json *gap = x->left_out;
    int64_t n_lines = json_int_or(json_get(gap, "totalLines"), (int64_t)x->n_lines);

    strbuf_addf(out, STORED_RESULT_MARK " %lld bytes in %lld line%s.",
                (long long)json_int_or(json_get(gap, "totalBytes"), (int64_t)x->text.n),
                (long long)n_lines, n_lines == 1 ? "" : "s");
    if (gap)
        strbuf_addf(out,
                    " Its middle was too large to keep: %lld bytes after line %lld are gone, and "
                    "no tool can read them. To see them, run the command again and filter what it "
                    "prints.",
                    (long long)json_int_or(json_get(gap, "bytes"), 0),
                    (long long)json_int_or(json_get(gap, "line"), 0));
}

static void add_way(struct strbuf *out, const char *purpose, struct str handle)
{
    if (handle.n)
        strbuf_addf(out,
                    " To %s, call tool_output with handle \"%" STR_FMT "\" and offset (a "
                    "line) or pattern (a regular expression).",
                    purpose, STR_ARG(handle));
    strbuf_add_cstr(out, "]\n");
}

/* Head and tail, and how to get at the rest. */
static void add_shown(struct strbuf *out, const struct storing *x, const char *reason,
                      size_t max_chars)
{
    struct str handle = store_result(x, reason);

    add_size(out, x);
    strbuf_add_cstr(out, " Its head and tail follow.");
    add_way(out, "read on", handle);
    clip_middle(out, x->text, max_chars > NOTE_CHARS * 2 ? max_chars - NOTE_CHARS : max_chars);
}

/* How the call ended, and where its output is. A tool that fails says why in its first line. */
static void add_ending(struct strbuf *out, const struct storing *x, const char *reason)
{
    struct str handle = store_result(x, reason), rest = x->text, line = {0};

    add_size(out, x);
    strbuf_add_cstr(out, " The call ran and ");
    if (x->has_failed && str_split(&rest, '\n', &line))
        strbuf_addf(out, "failed: \"%" STR_FMT "\".", STR_ARG(utf8_truncate(line, MAX_ENDING)));
    else
        strbuf_add_cstr(out, x->has_failed ? "failed." : "succeeded.");
    strbuf_add_cstr(out, " Its output does not fit into the context window now.");
    add_way(out, "read it", handle);
    if (!handle.n)
        clip_middle(out, x->text, NAMED_CHARS);
}

/* Shows that much of it; with 0, only how the call ended. */
static void replace_result(struct call *c, const char *reason, size_t max_chars)
{
    struct strbuf *text = &c->result.text;
    struct strbuf shown = {0};
    struct storing x = {.run = c->run,
                        .owner = &c->owner,
                        .arena = &c->arena,
                        .tool = c->part->name,
                        .call_id = c->part->id,
                        .left_out = json_get(c->result.details, TOOL_LEFT_OUT),
                        .has_failed = c->code != NULL,
                        .text = strbuf_str(text),
                        .n_lines = count_lines(strbuf_str(text))};

    if (max_chars)
        add_shown(&shown, &x, reason, max_chars);
    else
        add_ending(&shown, &x, reason);
    strbuf_done(text);
    *text = shown;
}

/* --- the context --- */

static int64_t media_tokens(const struct call *c)
{
    return (int64_t)c->result.n_media * 1600;
}

/* The tokens of a text of that many characters. */
static struct waiting_results count_text(size_t n_chars)
{
    return (struct waiting_results){.likely = ((int64_t)n_chars + 3) / 4,
                                    .most = ((int64_t)n_chars + 1) / 2};
}

/* The tokens of a result, cut to what its tool allows. */
static struct waiting_results count_result(const struct call *c)
{
    size_t max_chars, n_chars = utf8_count(strbuf_str(&c->result.text));
    struct waiting_results w;

    if (is_too_long(c, &max_chars))
        n_chars = MIN(n_chars, max_chars);
    w = count_text(n_chars);
    w.likely += media_tokens(c);
    w.most += media_tokens(c);
    return w;
}

static int64_t share_of(const struct result_budget *b, int per_mille)
{
    return (int64_t)((__int128)b->window * per_mille / 1000);
}

static bool has_room(const struct result_budget *b, const struct waiting_results *w)
{
    return b->used + w->likely <= share_of(b, b->likely_per_mille) &&
           b->used + w->most <= share_of(b, b->most_per_mille);
}

/* Once a result is in, it counts as the ledger counts it: the reserve for dense text is for the
 * next one. Without compaction the reserve stays, for all of the batch. */
static void take_room(struct result_budget *b, const struct waiting_results *w)
{
    b->used += b->is_strict ? w->most : w->likely;
}

static void note_budget(struct call *c, const struct result_budget *b)
{
    struct json *m = call_metadata(c);
    struct waiting_results w = count_result(c);
    int64_t limit = share_of(b, b->most_per_mille);

    json_set_str(&c->arena, m, TOOL_BUDGET_CODE, S(CONTEXT_BUDGET_EXCEEDED));
    json_set_int(&c->arena, m, "projected_tokens", b->used + w.most);
    json_set_int(&c->arena, m, "limit_tokens", limit);
    json_set_int(&c->arena, m, "remaining_tokens", MAX(limit - b->used, (int64_t)0));
}

static void drop_media(struct call *c)
{
    if (c->result.n_media)
        tool_result_addf(&c->result,
                         "\n[The result had %zu images or documents, which do not fit into the "
                         "context window now.]",
                         c->result.n_media);
    c->result.n_media = 0;
}

/* It ran: the model learns how it ended and where the output is. */
static void name_result(struct call *c, const struct result_budget *b)
{
    struct str text;

    drop_media(c);
    text = strbuf_str(&c->result.text);
    if (utf8_count(text) <= NAMED_CHARS)
        return;
    note_budget(c, b);
    replace_result(c, "token_budget", /* max_chars= */ 0);
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
    note_budget(c, b);
    call_fail_with(c, CONTEXT_BUDGET_EXCEEDED, S(SKIPPED_TEXT));
}

/* The result does not fit: only its head and tail are shown, or its name. */
static void show_less(struct call *c, const struct result_budget *b)
{
    struct waiting_results preview = count_text(FIT_PREVIEW_CHARS + NOTE_CHARS);

    if (c->was_executed && !b->is_strict && !has_room(b, &preview)) {
        name_result(c, b);
        return;
    }
    drop_media(c);
    if (utf8_count(strbuf_str(&c->result.text)) > FIT_PREVIEW_CHARS)
        replace_result(c, "token_budget", FIT_PREVIEW_CHARS);
}

void fit_result(struct call *c, struct result_budget *b)
{
    struct waiting_results needed = count_result(c);
    size_t max_chars;

    if (b->is_strict && b->is_spent && c->was_executed) {
        name_result(c, b);
    } else if (b->is_strict && b->is_spent && is_refused(c)) {
        skip_refusal(c, b);
    } else if (!(b->is_strict && b->is_spent) && !has_room(b, &needed)) {
        b->is_spent = true;
        show_less(c, b);
    } else if (is_too_long(c, &max_chars)) {
        replace_result(c, "size_cap", max_chars);
    }
    if (!fits_message(c)) /* the limits may be set too high */
        replace_result(c, "size_cap", RUN_DEFAULT_TOOL_RESPONSE_BYTES);
    needed = count_result(c);
    take_room(b, &needed);
}

/* --- the batch --- */

/* So much of the window is set aside for a summary that is not written yet, and what is put back
 * behind it. */
#define SUMMARY_PER_MILLE 100

/* No compaction follows a batch that waits for an answer, or that the run ends with. */
static bool continues(const struct run *r, const struct call *calls, size_t n)
{
    AUTO(err) struct err *interrupted = task_check();

    for (size_t i = 0; i < n; i++)
        if (calls[i].is_suspended)
            return false;
    return !interrupted && !r->is_ended;
}

/* Without a compaction: is there room for all of them, or only for some? */
static enum room find_rest(struct run *r, const struct waiting_results *w)
{
    struct token_estimate now = run_estimate(r);
    int64_t used = MAX(now.used, now.serialized) + w->most;

    return ledger_is_over(used, target_window(&r->plan->targets[0]), LEDGER_GUARD_PER_MILLE)
               ? ROOM_REST
               : ROOM_ENOUGH;
}

/* A notice says which, so that a replay need not know when exactly a run was interrupted. */
static enum room find_room(struct run *r, const struct call *calls, size_t n)
{
    struct compactor *c = run_compactor(r);
    struct waiting_results waiting = {0};
    enum room room;

    if (!c)
        return ROOM_LITTLE;
    for (size_t i = 0; i < n; i++) {
        struct waiting_results w = count_result(&calls[i]);

        waiting.likely += w.likely;
        waiting.most += w.most;
    }
    room = continues(r, calls, n) ? c->find_room(c, r, &waiting) : find_rest(r, &waiting);
    if (room == ROOM_COMING || room == ROOM_REST)
        run_notice(r, SEVERITY_VERBOSE, ROOM_SOURCE,
                   room == ROOM_REST ? S(ROOM_REST_TEXT) : S(ROOM_COMING_TEXT));
    return room;
}

struct result_budget fit_budget(struct run *r, const struct call *calls, size_t n)
{
    struct token_estimate now = run_estimate(r);
    struct result_budget b = {.used = MAX(now.used, now.serialized),
                              .window = target_window(&r->plan->targets[0]),
                              .likely_per_mille = LEDGER_GUARD_PER_MILLE,
                              .most_per_mille = LEDGER_GUARD_PER_MILLE};

    switch (find_room(r, calls, n)) {
    case ROOM_LITTLE:
        b.used = now.used;
        b.most_per_mille = LEDGER_RESULTS_PER_MILLE;
        b.is_strict = true;
        break;
    case ROOM_COMING:
        b.used = r->head_tokens + share_of(&b, SUMMARY_PER_MILLE);
        b.likely_per_mille = LEDGER_RESULTS_PER_MILLE; /* or the next one would be due at once */
        break;
    case ROOM_ENOUGH:
    case ROOM_REST:
        break;
    }
    return b;
}

/* --- results that are in the history --- */

static struct str join_text(struct arena *a, const struct part *result)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < result->n_content; i++)
        strbuf_add(&text, result->content[i].text);
    return arena_str(a, strbuf_str(&text));
}

/* The name under which the whole of it was stored when it came, or "". */
static struct str find_stored(const struct run *r, const struct part *result)
{
    struct stored_result stored;
    size_t at = 0;

    if (!result->n_content || !str_starts(result->content[0].text, S(STORED_RESULT_MARK)))
        return (struct str){0};
    while (stored_result_next(r->conversation->state, &at, &stored)) {
        AUTO(strbuf) struct strbuf named = {0};

        strbuf_addf(&named, "handle \"%" STR_FMT "\"", STR_ARG(stored.name));
        if (str_eq(json_get_text(stored.value, "call"), result->id) &&
            str_find(str_slice(result->content[0].text, 0, NOTE_CHARS * 2), strbuf_str(&named)) !=
                STR_NONE)
            return stored.name;
    }
    return (struct str){0};
}

/* Only its name stays: the model has seen the rest. */
static bool add_name(struct strbuf *out, const struct storing *x, const struct part *result)
{
    struct str handle = find_stored(x->run, result);

    if (!handle.n)
        handle = store_result(x, "compaction");
    strbuf_addf(out,
                "[The result of this call, %zu bytes in %zu lines, was taken out to make room. If "
                "you need it again, call tool_output with handle \"%" STR_FMT "\".]",
                x->text.n, x->n_lines, STR_ARG(handle));
    return handle.n > 0;
}

static bool shorten_result(struct run *r, struct part *result, struct arena *a,
                           enum shortened_as as)
{
    struct str text = join_text(a, result);
    struct storing x = {.run = r,
                        .owner = &r->execution,
                        .arena = a,
                        .tool = result->name,
                        .call_id = result->id,
                        .has_failed = result->is_error,
                        .text = text,
                        .n_lines = count_lines(text)};
    struct part *shown = ARENA_NEW(a, struct part);
    AUTO(strbuf) struct strbuf out = {0};
    bool is_there = true;

    switch (as) {
    case SHORTENED_TO_NAME:
        is_there = add_name(&out, &x, result);
        break;
    case SHORTENED_TO_ENDING:
        add_ending(&out, &x, "token_budget");
        break;
    case SHORTENED_TO_PREVIEW:
        add_shown(&out, &x, "token_budget", FIT_PREVIEW_CHARS);
        break;
    }
    *shown = (struct part){.kind = PART_TEXT, .text = arena_str(a, strbuf_str(&out))};
    result->content = shown;
    result->n_content = 1;
    result->native = (struct str){0};
    return is_there;
}

struct message *run_shorten_results(struct run *r, const struct message *m, enum shortened_as as)
{
    AUTO(message) struct message *copy = run_repeat_message(r, m);

    for (size_t i = 0; i < copy->n_parts; i++)
        if (copy->parts[i].kind == PART_TOOL_RESULT &&
            !shorten_result(r, &copy->parts[i], &copy->arena, as))
            return NULL;
    return TAKE(copy);
}
