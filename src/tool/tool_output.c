/* tool_output.c - tool_output: reads on in a result that was too long to be shown whole.
 *
 * The engine stores such results and names them by a handle. Only handles of this session can be
 * read: the store may hold those of others too. */
#include "tool/builtin.h"

#include "tool/output/show.h"

#define DEFAULT_LINES 200
#define MAX_MATCHES 200
#define BEST_LINES 40
#define N_LISTED 5

enum mode { MODE_AUTO, MODE_CHUNKS, MODE_SEARCH, MODE_ENDS };

struct call {
    struct stored_text text;
    struct str pattern, extract;
    uint64_t offset;
    size_t limit, n_context; /* limit 0: not given */
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

static bool is_known(const struct tool_session *s, struct str handle)
{
    AUTO(strbuf) struct strbuf key = {0};

    strbuf_add_cstr(&key, "handle:");
    strbuf_add(&key, handle);
    return blob_handle_is_valid(handle) && tool_session_get(s, strbuf_str(&key));
}

static void list_handle(struct tool_result *r, struct str key, const struct json *value)
{
    struct str tool = json_get_text(value, "tool");

    tool_result_addf(r, "\n%" STR_FMT " (%" STR_FMT ", %lld bytes, %lld lines)",
                     STR_ARG(str_skip(key, strlen("handle:"))), STR_ARG(tool),
                     (long long)json_int_or(json_get(value, "bytes"), 0),
                     (long long)json_int_or(json_get(value, "lines"), 0));
}

/* Says which ones there are, the latest last. */
static void refuse_handle(struct tool_result *r, const struct tool_session *s)
{
    const struct json *value;
    size_t n = 0, at = 0;
    struct str key;

    while (tool_session_next(s, S("handle:"), &at, &key, &value))
        n++;
    if (!n) {
        tool_result_fail(r, "There is no such handle: no result of this session was stored. Run "
                            "the tool again whose result you need.");
        return;
    }
    tool_result_fail(r, "There is no such handle in this session. A handle has 64 hex digits; copy "
                        "it whole from the message that names it. The latest:");
    for (at = 0; tool_session_next(s, S("handle:"), &at, &key, &value); n--)
        if (n <= N_LISTED)
            list_handle(r, key, value);
}

/* --- the ways to read --- */

static struct err *show_lines(struct call *c)
{
    return stored_show_lines(&c->text, MAX(c->offset, 1), c->limit ? c->limit : DEFAULT_LINES,
                             &c->result->text);
}

static struct err *show_found(struct call *c, const struct found_lines *found, size_t *ret_n_shown)
{
    struct tool_result *r = c->result;

    TRY(stored_show_found(&c->text, found, c->n_context, &r->text, ret_n_shown));
    json_set_int(&r->arena, tool_result_details(r), "matches", (int64_t)*ret_n_shown);
    return NULL;
}

/* Of a very long output the middle was never stored; a line in its place says so. */
static struct err *tell_gap(struct call *c)
{
    struct found_lines gap;

    TRY(stored_find_pattern(&c->text,
                            S("^\\.\\.\\. \\[\\d+ bytes of output left out\\] \\.\\.\\.$"), 0, 1,
                            &c->result->arena, &gap));
    if (gap.n)
        tool_result_addf(c->result,
                         " The middle of the output was not stored: see line %llu. What you look "
                         "for may have been there; run the command again and filter its output.",
                         (unsigned long long)gap.lines[0].number);
    return NULL;
}

static struct err *search_pattern(struct call *c)
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
        return tell_gap(c);
    }
    TRY(show_found(c, &found, &n_shown));
    if (n_shown < found.n || found.has_more)
        tool_result_addf(r,
                         "[%zu matching line%s; there are more: go on with the same pattern and "
                         "offset=%llu]",
                         n_shown, n_shown == 1 ? "" : "s",
                         (unsigned long long)found.lines[MAX(n_shown, 1) - 1].number + 1);
    else
        tool_result_addf(r, "[%zu matching line%s: these are all]", n_shown,
                         n_shown == 1 ? "" : "s");
    return NULL;
}

static struct err *search_words(struct call *c)
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
                         : ": these are all");
    return NULL;
}

static struct err *show(struct call *c, enum mode mode)
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
    return show_lines(c);
}

static struct err *read_result(struct call *c, enum mode mode)
{
    TRY(blob_size(c->text.blobs, c->text.handle, &c->text.n_bytes));
    return show(c, mode);
}

static struct err *run(const struct tool *t, struct tool_context *c, const struct json *args,
                       struct tool_result *result)
{
    struct call call = {
        .text = {.blobs = c->blobs, .handle = json_get_text(args, "handle")},
        .pattern = json_get_text(args, "pattern"),
        .extract = json_get_text(args, "extract"),
        .offset = (uint64_t)json_int_or(json_get(args, "offset"), 0),
        .limit = (size_t)json_int_or(json_get(args, "limit"), 0),
        .n_context = (size_t)json_int_or(json_get(args, "context"), 0),
        .result = result,
    };
    AUTO(err) struct err *e = NULL;

    if (!is_known(c->session, call.text.handle)) {
        refuse_handle(result, c->session);
        return NULL;
    }
    e = read_result(&call, mode_of(args));
    if (err_is(e, ERR_STORAGE)) { /* for the model it is only gone */
        tool_result_fail(result,
                         "The stored result cannot be read: %s. Run the tool again whose "
                         "result it was.",
                         e->text);
        return NULL;
    }
    return TAKE(e);
}

static const char description[] =
    "Reads a tool result that was too long and was stored: the message in its place names the "
    "handle. Search it rather than read all of it. With a pattern: the lines that match, with "
    "their numbers. With extract: the lines that hold most of those words. With neither: lines "
    "with their numbers, from offset on. Lines are cut at 2,000 characters, and lines over 64 KiB "
    "count as several; mode full-chunked shows everything, about 24,000 bytes a call. One call "
    "shows at most about 26,000 characters; its last line says how to go on.";

static const char schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"handle\"],\"properties\":{"
    "\"handle\":{\"type\":\"string\","
    "\"description\":\"The stored result: 64 hex digits, from the message that names it\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"The line to start at, from "
    "1; in mode full-chunked the byte, from 0\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2000,\"description\":\"How many "
    "lines, 200 unless given; in a search how many matches, at most 200\"},"
    "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000,\"description\":\"A "
    "regular expression (PCRE2), matched line by line\"},"
    "\"context\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":50,\"description\":\"Lines to "
    "show before and after each match; default 0\"},"
    "\"extract\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000,\"description\":\"What to "
    "look for, in plain words; not used when there is a pattern\"},"
    "\"mode\":{\"type\":\"string\",\"enum\":[\"auto\",\"full-chunked\",\"read-grep\","
    "\"truncate\"],\"description\":\"auto (default): by the other arguments. full-chunked: all "
    "bytes from offset on. read-grep: search. truncate: the start and the end\"}}}";

struct tool tool_tool_output = {
    .name = "tool_output",
    .description = description,
    .schema = schema,
    .risk = RISK_INSPECT,
    .starts_early = true,
    .needs = NEEDS_BLOBS,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = run,
};
