/* pattern.c - `pattern` and `patternProperties`: PCRE2, with every step counted.
 *
 * PCRE2's own match limit starts anew at every position of the text, so it does not limit a long
 * text. Here an automatic callout before each item of the pattern takes a step from the budget of
 * the whole validation. Between two callouts only a few things take long: moving through the text,
 * which shows in the position; and a counted repeat or a back-reference that fails at its end,
 * which the price of a step allows for. */
#include "base/schema/check.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MAX_PATTERN_BYTES ((size_t)32 << 10)
#define MAX_GROUP_DEPTH 40       /* pcre2_compile() recurses, and a task's stack is small */
#define MAX_HEAP_KIB (64u << 10) /* for one match */
#define MATCH_STEPS 4            /* for a match that ends before its first item */
#define BYTES_PER_STEP 64

struct schema_pattern {
    pcre2_code *code;
    struct str source;
    struct regex_traits traits;
};

struct pattern_matcher {
    pcre2_match_data *data;
    pcre2_match_context *context;
};

/* --- compiling --- */

static void *take_from_arena(size_t size, void *arena)
{
    return arena_alloc(arena, size);
}

/* The arena frees everything at once. */
static void leave_in_arena(void *block, void *arena)
{
}

/* Without the offset, which is of the translated pattern. */
static struct err *reason(int code)
{
    char text[256] = "";

    pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text);
    return err_new(ERR_VALIDATION, "%s", text);
}

struct err *schema_pattern_compile(struct arena *a, struct str source,
                                   struct schema_pattern **ret_pattern)
{
    const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_UCP |
                             PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY |
                             PCRE2_MATCH_UNSET_BACKREF | PCRE2_AUTO_CALLOUT;
    AUTO(strbuf) struct strbuf text = {0};
    struct schema_pattern *p = ARENA_NEW(a, struct schema_pattern);
    pcre2_general_context *general;
    pcre2_compile_context *context;
    PCRE2_SIZE offset;
    int code;

    if (source.n > MAX_PATTERN_BYTES)
        return err_new(ERR_VALIDATION, "it is longer than %zu bytes", MAX_PATTERN_BYTES);
    TRY(schema_regex_translate(source, &text, &p->traits));
    p->source = arena_str(a, source);

    general = pcre2_general_context_create(take_from_arena, leave_in_arena, a);
    context = pcre2_compile_context_create(general);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context, MAX_GROUP_DEPTH);
    pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALLOW_SURROGATE_ESCAPES);
    p->code =
        pcre2_compile((PCRE2_SPTR)strbuf_cstr(&text), text.n, options, &code, &offset, context);
    if (!p->code)
        return reason(code);
    *ret_pattern = p;
    return NULL;
}

struct str schema_pattern_source(const struct schema_pattern *p)
{
    return p->source;
}

/* --- matching --- */

struct bill {
    struct checker *checker;
    uint64_t price; /* of one item, in steps */
    size_t position;
};

/* PCRE2 calls this before every item of the pattern. */
static int pay(pcre2_callout_block *block, void *data)
{
    struct bill *bill = data;
    size_t at = block->current_position;
    size_t moved = at > bill->position ? at - bill->position : bill->position - at;

    bill->position = at;
    return schema_spend(bill->checker, bill->price + moved / BYTES_PER_STEP) ? 0
                                                                             : PCRE2_ERROR_CALLOUT;
}

static struct pattern_matcher *matcher_of(struct checker *c)
{
    if (!c->matcher) {
        c->matcher = ARENA_NEW(c->arena, struct pattern_matcher);
        c->matcher->data = pcre2_match_data_create(1, NULL);
        c->matcher->context = pcre2_match_context_create(NULL);
        BUG_IF(!c->matcher->data || !c->matcher->context);
        pcre2_set_heap_limit(c->matcher->context, MAX_HEAP_KIB);
    }
    return c->matcher;
}

void schema_matcher_done(struct checker *c)
{
    if (c->matcher) {
        pcre2_match_data_free(c->matcher->data);
        pcre2_match_context_free(c->matcher->context);
        c->matcher = NULL;
    }
}

bool schema_pattern_matches(struct checker *c, const struct schema_pattern *p, struct str text)
{
    size_t most = p->traits.has_backreference ? text.n : p->traits.longest_repeat;
    struct bill bill = {.checker = c, .price = 1 + MIN(most, text.n) / BYTES_PER_STEP};
    struct pattern_matcher *m;
    int result;

    if (!schema_spend(c, MATCH_STEPS + text.n / BYTES_PER_STEP))
        return false;
    m = matcher_of(c);
    pcre2_set_callout(m->context, pay, &bill);
    result =
        pcre2_match(p->code, (PCRE2_SPTR)(text.p ? text.p : ""), text.n, 0, 0, m->data, m->context);
    if (result >= 0)
        return true;
    if (result != PCRE2_ERROR_NOMATCH && !c->error)
        c->error = err_hint(err_new(ERR_VALIDATION,
                                    "the pattern %s could not be matched with a text of %zu bytes",
                                    schema_shorten(c->arena, p->source), text.n),
                            "simplify the pattern, or shorten the text");
    return false;
}
