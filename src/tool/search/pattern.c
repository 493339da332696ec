/* pattern.c - compiles patterns and finds their matches in a text.
 *
 * A pattern has up to three programs: for ASCII texts, where \w and the like need no tables; for
 * any text, in Unicode; and one that counts its steps. A text that every match must contain is
 * looked for first. */
#include "tool/search/pattern.h"

#include "base/utf8.h"
#include "sys/work.h"
#include "tool/search/engine.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>

/* Lines up to this length are matched without counting. With the match limit, which PCRE2 applies
 * anew at every start, the worst case of a line takes seconds. */
#define SHORT_LINE 2048
#define MATCH_LIMIT 100000
#define MAX_HEAP_KIB (64u << 10) /* without JIT */
#define JIT_STACK_START ((size_t)32 << 10)
#define JIT_STACK_MAX ((size_t)4 << 20)

/* The cost limit for counted matches of one text, in items of the pattern that are tried. */
#define STEPS_AT_LEAST ((uint64_t)16 << 20)
#define STEPS_PER_BYTE 16
#define BYTES_PER_STEP 64 /* moving through the text is cheaper */

struct grep_pattern {
    char *source_text, *literal_text;
    struct str source, literal;
    size_t rare; /* offset in literal of the byte that is probably the rarest */
    bool multiline;
    struct grep_traits traits;
    pcre2_code *ascii; /* NULL: there is none, such as for patterns that are not ASCII */
    pcre2_code *unicode, *counted;
};

struct grep_matcher {
    const struct grep_pattern *p;
    pcre2_match_data *data;
    pcre2_match_context *limited, *counting;
    pcre2_jit_stack *stack;
    struct str text;
    const atomic_bool *is_over;
    bool is_known; /* the following is known */
    bool is_ascii, has_long_line, has_cr;
    uint64_t steps_left;
    size_t position; /* in the subject, at the last counted step */
};

/* --- compiling --- */

static struct err *invalid(struct str source, const char *why, const char *hint)
{
    struct str shown = utf8_truncate(source, 200);

    return err_hint(err_new(ERR_VALIDATION, "the pattern \"%" STR_FMT "\" %s", STR_ARG(shown), why),
                    "%s", hint);
}

static struct err *compile_error(struct str source, int code, size_t offset)
{
    char text[256] = "", why[320];

    pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text);
    snprintf(why, sizeof why, "is not a regular expression: %s, at offset %zu", text, offset);
    return invalid(source, why, "put a backslash before characters that are meant literally");
}

static pcre2_code *compile_program(const struct grep_query *q, struct str source, uint32_t options,
                                   int *ret_error, size_t *ret_offset)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code;

    BUG_IF(!context);
    pcre2_set_newline(context, q->multiline ? PCRE2_NEWLINE_ANYCRLF : PCRE2_NEWLINE_LF);
    options |= q->ignore_case ? PCRE2_CASELESS : 0;
    if (q->fixed_string)
        options |= PCRE2_LITERAL;
    else
        options |= PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C | (q->multiline ? PCRE2_DOTALL : 0);
    code = pcre2_compile((PCRE2_SPTR)(source.p ? source.p : ""), source.n, options, ret_error,
                         ret_offset, context);
    pcre2_compile_context_free(context);
    if (code) /* without JIT it is only slower */
        (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
    return code;
}

static bool is_ascii(struct str s)
{
    unsigned char seen = 0;

    for (size_t i = 0; i < s.n; i++)
        seen |= (unsigned char)s.p[i];
    return seen < 0x80;
}

static struct err *compile_programs(struct grep_pattern *p, const struct grep_query *q,
                                    struct str rewritten)
{
    const uint32_t unicode =
        PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | (q->fixed_string ? 0 : PCRE2_UCP);
    const uint32_t counting = q->fixed_string ? 0 : PCRE2_AUTO_CALLOUT;
    size_t offset = 0;
    int error = 0;

    /* first as written, so that the offset of an error is right */
    p->unicode = compile_program(q, p->source, unicode, &error, &offset);
    if (!p->unicode)
        return compile_error(p->source, error, offset);
    if (!p->traits.by_line) {
        pcre2_code *code = compile_program(q, rewritten, unicode, &error, &offset);

        if (code) {
            pcre2_code_free(p->unicode);
            p->unicode = code;
        } else {
            p->traits.by_line = true;
        }
    }
    if (p->traits.by_line)
        rewritten = p->source;
    p->counted = compile_program(q, rewritten, unicode | counting, &error, &offset);
    if (!p->counted)
        return compile_error(p->source, error, offset);
    if (is_ascii(rewritten))
        p->ascii = compile_program(q, rewritten, 0, &error, &offset);
    return NULL;
}

/* Looking for an infrequent byte stops least often. */
static size_t find_rare(struct str literal)
{
    static const char frequent[] = " etaoinsrlcdpumfh_.g()byv,w=k;x-\"0:1/";
    size_t best = 0, best_rank = 0;

    for (size_t i = 0; i < literal.n; i++) {
        const char *found = literal.p[i] ? strchr(frequent, literal.p[i]) : NULL;
        size_t rank = found ? (size_t)(found - frequent) : sizeof frequent;

        if (rank > best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

/* Determines the traits of the pattern; appends it to `rewritten` as it is to be compiled. */
static void study_pattern(struct grep_pattern *p, const struct grep_query *q,
                          struct strbuf *rewritten)
{
    AUTO(strbuf) struct strbuf literal = {0};

    if (q->fixed_string) {
        strbuf_add(rewritten, p->source);
        strbuf_add(&literal, p->source);
        p->traits.is_plain = p->source.n > 0;
        p->traits.has_line_end = str_find_char(p->source, '\n') != STR_NONE;
    } else {
        grep_translate(p->source, rewritten, &literal, &p->traits);
    }
    if (q->multiline) {
        strbuf_clear(rewritten);
        strbuf_add(rewritten, p->source);
    }
    if (q->ignore_case) { /* some letters outside of ASCII equal some in ASCII */
        strbuf_clear(&literal);
        p->traits.is_plain = false;
    }
    p->literal_text = str_dup(strbuf_str(&literal));
    p->literal = str_make(p->literal_text, literal.n);
    p->rare = find_rare(p->literal);
}

/* The end of the class at the start of `rest`, after its bracket; all of `rest` if it has no
 * end. */
static size_t class_end(struct str rest)
{
    size_t at = rest.n > 1 && rest.p[1] == '^' ? 2 : 1;

    for (at++; at < rest.n; at++) {
        if (rest.p[at] == ']')
            return at + 1;
        at += rest.p[at] == '\\';
    }
    return rest.n;
}

/* Appends the pattern with \\< and \\>, the word boundaries of grep and ripgrep, translated for
 * PCRE2. */
static void add_with_boundaries(struct strbuf *out, struct str pattern)
{
    while (pattern.n) {
        size_t n = 1, end;

        if (str_starts(pattern, S("\\Q")))
            n = (end = str_find(pattern, S("\\E"))) == STR_NONE ? pattern.n : end + 2;
        else if (pattern.p[0] == '\\')
            n = MIN((size_t)2, pattern.n);
        else if (pattern.p[0] == '[')
            n = class_end(pattern);
        if (str_starts(pattern, S("\\<")))
            strbuf_add(out, S("\\b(?=\\w)"));
        else if (str_starts(pattern, S("\\>")))
            strbuf_add(out, S("\\b(?<=\\w)"));
        else
            strbuf_add(out, str_slice(pattern, 0, n));
        pattern = str_skip(pattern, n);
    }
}

struct err *grep_pattern_compile(const struct grep_query *query, struct grep_pattern **ret_pattern)
{
    AUTO(grep_pattern) struct grep_pattern *p = NULL;
    AUTO(strbuf) struct strbuf rewritten = {0}, source = {0};

    if (query->pattern.n > GREP_MAX_PATTERN)
        return err_hint(
            err_new(ERR_VALIDATION, "a pattern of %zu bytes is too long", query->pattern.n),
            "the limit is %zu bytes", GREP_MAX_PATTERN);
    p = mem_alloc(sizeof *p);
    if (query->fixed_string)
        strbuf_add(&source, query->pattern);
    else
        add_with_boundaries(&source, query->pattern);
    p->source_text = str_dup(strbuf_str(&source));
    p->source = str_make(p->source_text, source.n);
    p->multiline = query->multiline;
    study_pattern(p, query, &rewritten);
    TRY(compile_programs(p, query, strbuf_str(&rewritten)));
    if (p->traits.has_line_end && !p->multiline)
        return invalid(p->source, "contains a line end, which no single line has",
                       "search with multiline for matches that span lines");
    *ret_pattern = TAKE(p);
    return NULL;
}

void grep_pattern_free(struct grep_pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->ascii);
    pcre2_code_free(p->unicode);
    pcre2_code_free(p->counted);
    mem_free(p->source_text);
    mem_free(p->literal_text);
    mem_free(p);
}

/* --- matchers --- */

static bool is_over(const struct grep_matcher *m)
{
    return (m->is_over && atomic_load_explicit(m->is_over, memory_order_relaxed)) ||
           work_cancelled();
}

/* PCRE2 calls this before each item of the pattern that it tries. */
static int matcher_count_step(pcre2_callout_block *block, void *matcher)
{
    struct grep_matcher *m = matcher;
    size_t at = block->current_position;
    size_t moved = at > m->position ? at - m->position : m->position - at;
    uint64_t price = 1 + moved / BYTES_PER_STEP;

    m->position = at;
    if (m->steps_left < price || is_over(m))
        return PCRE2_ERROR_CALLOUT;
    m->steps_left -= price;
    return 0;
}

struct grep_matcher *grep_matcher_new(const struct grep_pattern *p)
{
    struct grep_matcher *m = mem_alloc(sizeof *m);

    m->p = p;
    m->data = pcre2_match_data_create(1, NULL);
    m->limited = pcre2_match_context_create(NULL);
    m->counting = pcre2_match_context_create(NULL);
    m->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_MAX, NULL);
    BUG_IF(!m->data || !m->limited || !m->counting);
    pcre2_set_match_limit(m->limited, MATCH_LIMIT);
    pcre2_set_match_limit(m->counting, UINT32_MAX);
    pcre2_set_depth_limit(m->counting, UINT32_MAX);
    pcre2_set_heap_limit(m->limited, MAX_HEAP_KIB);
    pcre2_set_heap_limit(m->counting, MAX_HEAP_KIB);
    pcre2_set_callout(m->counting, matcher_count_step, m);
    if (m->stack) { /* NULL without JIT */
        pcre2_jit_stack_assign(m->limited, NULL, m->stack);
        pcre2_jit_stack_assign(m->counting, NULL, m->stack);
    }
    return m;
}

void grep_matcher_free(struct grep_matcher *m)
{
    if (!m)
        return;
    pcre2_match_data_free(m->data);
    pcre2_match_context_free(m->limited);
    pcre2_match_context_free(m->counting);
    pcre2_jit_stack_free(m->stack);
    mem_free(m);
}

void grep_matcher_begin(struct grep_matcher *m, struct str text, const atomic_bool *is_over)
{
    m->text = text.p ? text : S("");
    m->is_over = is_over;
    m->is_known = false;
    m->steps_left = STEPS_AT_LEAST + STEPS_PER_BYTE * (uint64_t)text.n;
}

/* --- matching --- */

static struct err *match_error(const struct grep_matcher *m, int code)
{
    char text[256] = "", why[320];

    switch (code) {
    case PCRE2_ERROR_CALLOUT:
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_JIT_STACKLIMIT:
        return invalid(m->p->source, "takes too many steps",
                       "simplify it: a repeat inside a repeat, such as (a+)+, has too many ways to "
                       "match the same text; or exclude the file");
    }
    pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text);
    snprintf(why, sizeof why, "cannot be matched: %s", text);
    return invalid(m->p->source, why, "write it another way");
}

/* Runs the right program over the subject. The span counts from its start. */
static struct err *run_program(struct grep_matcher *m, struct str subject, size_t from,
                               bool is_short, bool subject_is_ascii, bool *ret_found,
                               struct grep_span *ret_span)
{
    const struct grep_pattern *p = m->p;
    const pcre2_code *code = !is_short                      ? p->counted
                             : p->ascii && subject_is_ascii ? p->ascii
                                                            : p->unicode;
    const size_t *ends;
    int result;

    m->position = from;
    result = pcre2_match(code, (PCRE2_SPTR)subject.p, subject.n, from, 0, m->data,
                         is_short ? m->limited : m->counting);
    *ret_found = result >= 0;
    if (result == PCRE2_ERROR_NOMATCH || (result == PCRE2_ERROR_CALLOUT && is_over(m)))
        return NULL;
    if (result < 0)
        return match_error(m, result);
    ends = pcre2_get_ovector_pointer(m->data);
    /* \K in a look-ahead may set the start after the end */
    *ret_span = (struct grep_span){MIN(ends[0], ends[1]), ends[1]};
    return NULL;
}

/* --- finding --- */

static size_t find_literal(const struct grep_matcher *m, size_t from)
{
    struct str literal = m->p->literal, text = m->text;
    size_t rare = m->p->rare;
    const char *end = text.p + text.n, *at = text.p + from;
    int c = (unsigned char)literal.p[rare];

    if (text.n - from < literal.n)
        return STR_NONE;
    end -= literal.n - 1 - rare; /* the last position of the rare byte */
    for (at += rare; at < end; at++) {
        at = memchr(at, c, (size_t)(end - at));
        if (!at)
            return STR_NONE;
        if (memcmp(at - rare, literal.p, literal.n) == 0)
            return (size_t)(at - rare - text.p);
    }
    return STR_NONE;
}

/* The end of the line that holds `at`, without its newline. */
static size_t line_end(struct str text, size_t at)
{
    const char *newline = memchr(text.p + at, '\n', text.n - at);

    return newline ? (size_t)(newline - text.p) : text.n;
}

/* The start of the line that holds `at`, but not before `from`. */
static size_t line_start(struct str text, size_t from, size_t at)
{
    const char *newline = memrchr(text.p + from, '\n', at - from);

    return newline ? (size_t)(newline - text.p) + 1 : from;
}

static bool has_long_line(struct str text)
{
    while (text.n > SHORT_LINE) {
        const char *newline = memrchr(text.p, '\n', SHORT_LINE + 1);

        if (!newline)
            return true;
        text = str_skip(text, (size_t)(newline - text.p) + 1);
    }
    return false;
}

static void study_text(struct grep_matcher *m)
{
    if (m->is_known)
        return;
    m->is_known = true;
    m->is_ascii = is_ascii(m->text);
    m->has_long_line = m->p->multiline ? m->text.n > SHORT_LINE : has_long_line(m->text);
    m->has_cr = m->p->traits.cuts_cr && str_find(m->text, S("\r\n")) != STR_NONE;
}

/* Matches a single line. */
static struct err *match_line(struct grep_matcher *m, struct grep_span line, bool *ret_found,
                              struct grep_span *ret_span)
{
    struct str subject = str_slice(m->text, line.start, line.end - line.start);

    if (m->p->traits.cuts_cr && str_ends(subject, S("\r")))
        subject.n--;
    TRY(run_program(m, subject, 0, subject.n <= SHORT_LINE, is_ascii(subject), ret_found,
                    ret_span));
    ret_span->start += line.start;
    ret_span->end += line.start;
    return NULL;
}

/* Matches line by line; only lines with the literal, if there is one. */
static struct err *find_by_line(struct grep_matcher *m, size_t from, bool *ret_found,
                                struct grep_span *ret_span)
{
    bool has_literal = m->p->literal.n > 0;

    while (from < m->text.n && !is_over(m)) {
        size_t at = has_literal ? find_literal(m, from) : from;
        struct grep_span line;

        if (at == STR_NONE)
            break;
        line.start = has_literal ? line_start(m->text, from, at) : from;
        line.end = line_end(m->text, at);
        TRY(match_line(m, line, ret_found, ret_span));
        if (*ret_found)
            return NULL;
        from = line.end + 1;
    }
    *ret_found = false;
    return NULL;
}

static struct err *find_in_lines(struct grep_matcher *m, size_t from, bool *ret_found,
                                 struct grep_span *ret_span)
{
    if (m->p->literal.n || m->p->traits.by_line)
        return find_by_line(m, from, ret_found, ret_span);
    study_text(m);
    if (m->has_cr)
        return find_by_line(m, from, ret_found, ret_span);
    return run_program(m, m->text, from, !m->has_long_line, m->is_ascii, ret_found, ret_span);
}

static struct err *find_in_text(struct grep_matcher *m, size_t from, bool *ret_found,
                                struct grep_span *ret_span)
{
    if (m->p->literal.n && find_literal(m, from) == STR_NONE)
        return NULL;
    study_text(m);
    return run_program(m, m->text, from, !m->has_long_line, m->is_ascii, ret_found, ret_span);
}

struct err *grep_matcher_find(struct grep_matcher *m, size_t from, bool *ret_found,
                              struct grep_span *ret_span)
{
    *ret_found = false;
    if (from >= m->text.n || is_over(m))
        return NULL;
    if (m->p->traits.is_plain) {
        size_t at = find_literal(m, from);

        *ret_found = at != STR_NONE;
        *ret_span = (struct grep_span){at, at + m->p->literal.n};
        return NULL;
    }
    TRY(m->p->multiline ? find_in_text(m, from, ret_found, ret_span)
                        : find_in_lines(m, from, ret_found, ret_span));
    if (*ret_found && ret_span->start == m->text.n && str_ends(m->text, S("\n")))
        *ret_found = false; /* an empty match after the last line is in no line */
    return NULL;
}
