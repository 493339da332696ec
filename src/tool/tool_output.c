/* tool_output.c - tool_output: continues reading a result that was too long to show.
 *
 * The engine stores such results and names them by a handle (port/stored_result.h). Only results of
 * this session can be read: the store may hold others. */
#include "tool/builtin.h"

#include "port/stored_result.h"
#include "tool/output/stored.h"

#define DEFAULT_LINES 200
#define MAX_MATCHES 200
#define BEST_LINES 40
#define N_LISTED 5

enum mode { MODE_AUTO, MODE_CHUNKS, MODE_SEARCH, MODE_ENDS };

struct stored_call {
    struct stored_text text;
    struct str pattern, extract;
    uint64_t offset;
    size_t limit, n_context; /* limit 0: not given */
    const struct json *gap;  /* the part that was not stored; NULL: all was */
    struct tool_result *result;
};

static enum mode mode_of(const struct json *args)
{
    struct str name = json_get_text(args, "mode");

    return str_is(name, "full-chunked") ? MODE_CHUNKS
           : str_is(name, "read-grep")  ? MODE_SEARCH
           : str_is(name, "truncate")   ? MODE_ENDS
                                        : MODE_AUTO;
}

/* --- handles --- */

static void list_result(struct tool_result *r, const struct stored_result *stored)
{
    struct str tool = json_get_text(stored->value, "tool");
    int64_t n_lines = json_int_or(json_get(stored->value, "lines"), 0);

    tool_result_addf(r, "\n%" STR_FMT " (%" STR_FMT ", %lld bytes, %lld line%s)",
                     STR_ARG(stored->name), STR_ARG(tool),
                     (long long)json_int_or(json_get(stored->value, "bytes"), 0),
                     (long long)n_lines, n_lines == 1 ? "" : "s");
}

/* Lists the existing handles, the latest last. */
static void refuse_handle(struct tool_result *r, const struct tool_state *s)
{
    struct stored_result stored;
    size_t n = 0, at = 0;

    while (stored_result_next(s, &at, &stored))
        n++;
    if (!n) {
        tool_result_fail(r, "There is no such handle: no result of this session was stored. Run "
                            "the tool whose result you need again.");
        return;
    }
    tool_result_fail(r, "There is no such handle in this session. Copy the handle from the message "
                        "that names it. The latest:");
    for (at = 0; stored_result_next(s, &at, &stored); n--)
        if (n <= N_LISTED)
            list_result(r, &stored);
}

/* --- the ways to read --- */

static struct err *show_found(struct stored_call *c, const struct found_lines *found,
                              size_t *ret_n_shown)
{
    struct tool_result *r = c->result;

    TRY(stored_show_found(&c->text, found, c->n_context, &r->text, ret_n_shown));
    json_set_int(&r->arena, tool_result_details(r), "matches", (int64_t)*ret_n_shown);
    return NULL;
}

/* The middle of a very long output was never stored. Says so once. */
static void add_gap(struct stored_call *c, const char *what_follows)
{
    const struct json *gap = TAKE(c->gap);

    if (gap)
        tool_result_addf(c->result,
                         "\n[%lld bytes in %lld lines after line %lld were too much to keep. %s]",
                         (long long)json_int_or(json_get(gap, "bytes"), 0),
                         (long long)json_int_or(json_get(gap, "lines"), 0),
                         (long long)json_int_or(json_get(gap, "line"), 0), what_follows);
}

static struct err *search_pattern(struct stored_call *c)
{
    size_t max = c->limit ? MIN(c->limit, MAX_MATCHES) : MAX_MATCHES, n_shown;
    struct tool_result *r = c->result;
    struct found_lines found;

    TRY(stored_find_pattern(&c->text, c->pattern, c->offset, max, &r->arena, &found));
    if (!found.n) {
        tool_result_addf(r,
                         "No line of the stored result matches%s. Try another pattern ((?i) at "
                         "its start ignores case), or read the lines with offset and limit.",
                         c->offset > 1 ? " from there on" : "");
        add_gap(c, "What you look for may have been there: run the command again and filter what "
                   "it prints.");
        return NULL;
    }
    TRY(show_found(c, &found, &n_shown));
    if (n_shown < found.n || found.has_more)
        tool_result_addf(
            r,
            "[%zu matching line%s; there are more: to continue, repeat the pattern and "
            "set offset to %llu]",
            n_shown, n_shown == 1 ? "" : "s",
            (unsigned long long)found.lines[MAX(n_shown, 1) - 1].number + 1);
    else
        tool_result_addf(r, "[%zu matching line%s: no others]", n_shown, n_shown == 1 ? "" : "s");
    return NULL;
}

static struct err *search_words(struct stored_call *c)
{
    size_t max = c->limit ? MIN(c->limit, MAX_MATCHES) : BEST_LINES, n_shown;
    struct tool_result *r = c->result;
    struct found_lines found;

    TRY(stored_find_words(&c->text, c->extract, c->offset, max, &r->arena, &found));
    if (!found.n) {
        tool_result_addf(r, "No line of the stored result holds one of these words. Its start and "
                            "its end:\n");
        return stored_show_ends(&c->text, &r->text);
    }
    TRY(show_found(c, &found, &n_shown));
    tool_result_addf(r, "[%zu line%s with these words%s]", n_shown, n_shown == 1 ? "" : "s",
                     n_shown < found.n || found.has_more
                         ? ", the best ones; there are more: search with a pattern, or read around "
                           "a line with offset"
                         : ": no others");
    return NULL;
}

static struct err *show_result(struct stored_call *c, enum mode mode)
{
    if (!c->text.n_bytes) {
        tool_result_addf(c->result, "The stored result is empty.");
        return NULL;
    }
    if (mode == MODE_CHUNKS)
        return stored_show_chunk(&c->text, c->offset, &c->result->text);
    if (mode == MODE_ENDS)
        return stored_show_ends(&c->text, &c->result->text);
    if (c->pattern.n)
        return search_pattern(c);
    if (c->extract.n)
        return search_words(c);
    if (mode == MODE_SEARCH) {
        tool_result_fail(c->result, "mode=read-grep needs a pattern, or extract with the words to "
                                    "look for.");
        return NULL;
    }
    return stored_show_lines(&c->text, MAX(c->offset, 1), c->limit ? c->limit : DEFAULT_LINES,
                             &c->result->text);
}

#define NUMBERED_WITHOUT_GAP "Lines after it are numbered as if nothing were missing."

static struct err *read_result(struct stored_call *c, enum mode mode)
{
    TRY(blob_size(c->text.blobs, c->text.handle, &c->text.n_bytes));
    TRY(show_result(c, mode));
    add_gap(c, NUMBERED_WITHOUT_GAP);
    return NULL;
}

static struct err *tool_output_run(const struct tool *t, struct tool_context *c,
                                   const struct json *args, struct tool_result *result)
{
    struct stored_call call = {
        .text = {.blobs = c->blobs},
        .pattern = json_get_text(args, "pattern"),
        .extract = json_get_text(args, "extract"),
        .offset = (uint64_t)json_int_or(json_get(args, "offset"), 0),
        .limit = (size_t)json_int_or(json_get(args, "limit"), 0),
        .n_context = (size_t)json_int_or(json_get(args, "context"), 0),
        .result = result,
    };
    AUTO(err) struct err *e = NULL;
    struct stored_result stored;

    if (!stored_result_find(c->state, json_get_text(args, "handle"), &stored)) {
        refuse_handle(result, c->state);
        return NULL;
    }
    call.text.handle = arena_str(&result->arena, stored.sha256);
    call.gap = json_get(stored.value, TOOL_LEFT_OUT);
    e = read_result(&call, mode_of(args));
    if (err_is(e, ERR_STORAGE)) { /* the model only needs to know that it is gone */
        tool_result_fail(result,
                         "The stored result cannot be read: %s. Run the tool that returned "
                         "it again.",
                         e->text);
        return NULL;
    }
    if (err_is(e, ERR_VALIDATION) &&
        call.gap) { /* an offset that counts lines that were not stored */
        tool_result_fail(result, "%s", e->text);
        add_gap(&call, NUMBERED_WITHOUT_GAP);
        return NULL;
    }
    return TAKE(e);
}

static const char description[] =
    "Reads a tool result that was too long to show. The message in its place names its handle, "
    "such "
    "as out_3. Search it rather than read all of it: pattern shows the lines that match, with "
    "their "
    "numbers; offset shows the lines from there on. The last line says how to continue.";

static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"handle\"],\"properties\":{"
    "\"handle\":{\"type\":\"string\",\"description\":\"The stored result, such as out_3\"},"
    "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000,\"description\":\"A "
    "regular expression; shows the lines that match\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"The line to start at\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2000,\"description\":\"How many "
    "lines or matches to show\"},"
    "\"context\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":50},"
    "\"extract\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000},"
    "\"mode\":{\"type\":\"string\",\"enum\":[\"auto\",\"full-chunked\",\"read-grep\","
    "\"truncate\"]}}}";

struct tool tool_tool_output = {
    .name = "tool_output",
    .description = description,
    .schema = schema,
    .hidden = "context extract mode", /* a search by words, and all bytes from `offset` on */
    .risk = RISK_INSPECT,
    .starts_early = true,
    .needs = NEEDS_BLOBS,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = tool_output_run,
};
