/* matcher.c - matches lists of names, or a regular expression with PCRE2 within limits. */
#include "hook/matcher.h"

#include "base/strbuf.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MAX_PATTERN_BYTES 4096
#define MAX_GROUP_DEPTH 40 /* pcre2_compile() recurses, and a task's stack is small */
#define MAX_TEXT_BYTES 1024
#define MATCH_LIMIT 10000 /* at each possible start of a match */
#define MAX_HEAP_KIB 4096

struct matcher {
    enum { MATCHES_ALL, MATCHES_NAMES, MATCHES_REGEX } kind;
    char *names; /* separated by | */
    pcre2_code *code;
    pcre2_match_context *limits;
};

void matcher_free(struct matcher *m)
{
    if (!m)
        return;
    pcre2_code_free(m->code);
    pcre2_match_context_free(m->limits);
    mem_free(m->names);
    mem_free(m);
}

static bool is_name(struct str text, bool has_hyphens)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i], letter = c | 0x20;

        if (!(letter >= 'a' && letter <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
            !(c == '-' && has_hyphens))
            return false;
    }
    return true;
}

/* Reads names separated by | or commas, with optional blanks, as names separated by |. False:
 * something else. With a comma it is certainly a list, and its names may have hyphens. */
static bool read_names(struct str pattern, struct strbuf *out)
{
    bool has_comma = str_find_char(pattern, ',') != STR_NONE;
    struct str group, name;

    while (str_split(&pattern, ',', &group))
        while (str_split(&group, '|', &name)) {
            name = str_trim(name);
            if (!is_name(name, has_comma))
                return false;
            if (!name.n)
                continue;
            strbuf_addf(out, "%s%" STR_FMT, out->n ? "|" : "", STR_ARG(name));
        }
    return true;
}

static struct err *compile_error(struct str pattern, int code, size_t offset)
{
    char text[256] = "";

    pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text);
    return err_hint(err_new(ERR_VALIDATION,
                            "\"%" STR_FMT "\" is not a regular expression: %s, at offset %zu",
                            STR_ARG(str_slice(pattern, 0, 200)), text, offset),
                    "\"*\" matches everything, \"Edit|Write\" two tools, \"mcp__db__.*\" all tools "
                    "of the server db");
}

static struct err *compile_regex(struct matcher *m, struct str pattern)
{
    const uint32_t options =
        PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    PCRE2_SIZE offset = 0;
    int code = 0;

    BUG_IF(!context);
    pcre2_set_parens_nest_limit(context, MAX_GROUP_DEPTH);
    m->code = pcre2_compile((PCRE2_SPTR)pattern.p, pattern.n, options, &code, &offset, context);
    pcre2_compile_context_free(context);
    if (!m->code)
        return compile_error(pattern, code, offset);
    m->limits = pcre2_match_context_create(NULL);
    BUG_IF(!m->limits);
    pcre2_set_match_limit(m->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(m->limits, MAX_HEAP_KIB);
    return NULL;
}

struct err *matcher_new(struct str pattern, bool names_are_regex, struct matcher **ret_matcher)
{
    AUTO(matcher) struct matcher *m = mem_alloc(sizeof *m);
    AUTO(strbuf) struct strbuf names = {0};

    if (pattern.n > MAX_PATTERN_BYTES)
        return err_new(ERR_VALIDATION, "the matcher is too long: %zu bytes, the limit is %d",
                       pattern.n, MAX_PATTERN_BYTES);
    if (pattern.n == 0 || str_is(pattern, "*")) {
        m->kind = MATCHES_ALL;
    } else if (!names_are_regex && read_names(pattern, &names)) {
        m->kind = MATCHES_NAMES;
        m->names = strbuf_take(&names);
    } else {
        m->kind = MATCHES_REGEX;
        TRY(compile_regex(m, pattern));
    }
    *ret_matcher = TAKE(m);
    return NULL;
}

static bool is_one_of(struct str names, struct str text)
{
    struct str name;

    while (str_split(&names, '|', &name))
        if (str_eq(name, text))
            return true;
    return false;
}

static bool regex_matches(const struct matcher *m, struct str text)
{
    pcre2_match_data *data = pcre2_match_data_create(1, NULL);
    int result;

    BUG_IF(!data);
    text = str_slice(text, 0, MAX_TEXT_BYTES);
    result =
        pcre2_match(m->code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, 0, 0, data, m->limits);
    pcre2_match_data_free(data);
    return result != PCRE2_ERROR_NOMATCH;
}

struct str matcher_names(const struct matcher *m)
{
    return m->kind == MATCHES_NAMES ? str_of(m->names) : (struct str){0};
}

bool matcher_matches(const struct matcher *m, struct str text)
{
    switch (m->kind) {
    case MATCHES_ALL:
        return true;
    case MATCHES_NAMES:
        return is_one_of(str_of(m->names), text);
    case MATCHES_REGEX:
        return regex_matches(m, text);
    }
    BUG("a matcher of no known kind");
}
