/* grep_fuzz.c - a search finds the lines that the pattern matches when it is given each alone.
 * The input: a byte of flags, the pattern, a NUL, the text. */
#include "base/utf8.h"
#include "tool/search/engine.h"
#include "tool/search/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FLAG_NOCASE = 1, FLAG_MULTILINE = 2, FLAG_FIXED = 4 };

/* The pattern as it was written, without any of the engine's ways. */
static pcre2_code *compile_plainly(const struct grep_query *q)
{
    uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
    size_t offset;
    int error;

    options |= q->ignore_case ? PCRE2_CASELESS : 0;
    options |=
        q->fixed_string ? PCRE2_LITERAL : PCRE2_MULTILINE | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
    return pcre2_compile((PCRE2_SPTR)q->pattern.p, q->pattern.n, options, &error, &offset, NULL);
}

enum { NO = 0, YES = 1, TOO_MUCH = -1 };

static int matches_alone(pcre2_code *code, struct str line)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_match_data *result = pcre2_match_data_create(1, NULL);
    int n;

    pcre2_set_match_limit(context, 10000);
    pcre2_set_heap_limit(context, 16384);
    n = pcre2_match(code, (PCRE2_SPTR)line.p, line.n, 0, 0, result, context);
    pcre2_match_data_free(result);
    pcre2_match_context_free(context);
    return n >= 0 ? YES : n == PCRE2_ERROR_NOMATCH ? NO : TOO_MUCH;
}

/* Walks through all matches as the search does. */
static void check_lines(const struct grep_query *q, struct grep_matcher *m, struct str text)
{
    pcre2_code *code = compile_plainly(q);
    bool is_valid = utf8_is_valid(text);
    size_t at = 0;

    grep_matcher_begin(m, text, NULL);
    while (code && at < text.n) {
        struct str line = str_skip(text, at);
        size_t end = str_find_char(line, '\n');
        struct grep_span match;
        struct err *e;
        bool found;
        int alone;

        if (end != STR_NONE)
            line.n = end;
        e = grep_matcher_find(m, at, &found, &match);
        if (e) {
            err_free(e);
            break;
        }
        alone = matches_alone(code, line);
        if (alone == TOO_MUCH)
            break;
        BUG_IF(found && (match.start < at || match.end < match.start || match.end > text.n));
        /* PCRE2 with JIT and without do not agree at the edges of bad UTF-8 */
        BUG_IF(is_valid && (alone == YES) != (found && match.start <= at + line.n));
        at += line.n + 1;
    }
    pcre2_code_free(code);
}

static void check_text(struct grep_matcher *m, struct str text)
{
    size_t at = 0;

    grep_matcher_begin(m, text, NULL);
    while (at < text.n) {
        struct grep_span match;
        struct err *e;
        bool found;

        e = grep_matcher_find(m, at, &found, &match);
        if (e || !found) {
            err_free(e);
            return;
        }
        BUG_IF(match.end < match.start || match.end > text.n);
        at = MAX(match.end, at + 1);
        while (at < text.n && (text.p[at] & 0xC0) == 0x80)
            at++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_skip(str_make((const char *)data, size), 1), pattern;
    AUTO(grep_pattern) struct grep_pattern *p = NULL;
    AUTO(grep_matcher) struct grep_matcher *m = NULL;
    AUTO(err) struct err *e = NULL;
    struct grep_query query = {0};

    /* a \r before a line end does not count for some patterns: see grep_engine.h */
    if (size < 2 || size > 4096 || !str_split(&text, 0, &pattern) ||
        str_find_char(text, '\r') != STR_NONE)
        return 0;
    query.pattern = pattern;
    query.ignore_case = data[0] & FLAG_NOCASE;
    query.multiline = data[0] & FLAG_MULTILINE;
    query.fixed_string = data[0] & FLAG_FIXED;
    e = grep_pattern_compile(&query, &p);
    BUG_IF(!e != !!p);
    if (e)
        return 0;
    m = grep_matcher_new(p);
    if (query.multiline)
        check_text(m, text);
    else
        check_lines(&query, m, text);
    return 0;
}
