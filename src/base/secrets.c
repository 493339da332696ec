/* secrets.c - the set of known values, and texts without them. */
#include "base/secrets.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/needles.h"

#include <stdatomic.h>

struct tagged_value {
    struct str value;
    uint64_t tag;
};

/* What is searched for at one time. A search that runs while a new edition is made continues with
 * the old one. */
struct edition {
    struct needles needles;
    struct edition *older;
};

struct secrets {
    atomic_uint n_refs;
    _Atomic(struct edition *) newest; /* NULL: no values */
    struct arena arena;
    struct tagged_value *values;
    size_t n_values, values_room;
    struct str names[SECRETS_MAX_NAMES];
    atomic_size_t n_names;
};

static const struct needles *needles_of(const struct secrets *s)
{
    const struct edition *newest =
        s ? atomic_load_explicit(&s->newest, memory_order_acquire) : NULL;

    return newest ? &newest->needles : NULL;
}

#define OTHERS "others"

/* --- which values --- */

/* In lower case. */
static const char *const harmless[] = {
    "12345678",      "123456789",    "anonymous",    "changeme",        "change-me",
    "disabled",      "example-key",  "localhost",    "lm-studio",       "no-key-needed",
    "no-key-needed", "not-needed",   "not-required", "not_needed",      "password",
    "placeholder",   "undefined",    "your-api-key", "your_api_key",    "your-key-here",
    "your_key_here", "api-key-here", "insert-key",   "no-key-required",
};

static size_t count_different(struct str value)
{
    bool is_there[256] = {false};
    size_t n = 0;

    for (size_t i = 0; i < value.n; i++) {
        n += !is_there[(unsigned char)value.p[i]];
        is_there[(unsigned char)value.p[i]] = true;
    }
    return n;
}

static bool is_worth_hiding(struct str value)
{
    if (value.n < SECRETS_MIN_BYTES || count_different(value) < 4)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
        if (str_eq_nocase(value, str_of(harmless[i])))
            return false;
    return true;
}

/* --- forms of a value --- */

static bool is_unreserved(char c)
{
    return ascii_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

static void add_url_form(struct needles *s, struct str value, const char *format, uint64_t tag)
{
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < value.n; i++)
        if (is_unreserved(value.p[i]))
            strbuf_add_char(&text, value.p[i]);
        else
            strbuf_addf(&text, format, (unsigned char)value.p[i]);
    needles_add(s, strbuf_str(&text), tag);
}

/* Base64 turns three bytes into four letters. The bytes before a value move it by nothing, one byte
 * or two; the groups that the value fills alone look the same in all texts with the same move. */
static void add_base64_forms(struct needles *s, struct str value, uint64_t tag)
{
    for (size_t n_moved = 0; n_moved < 3; n_moved++) {
        AUTO(strbuf) struct strbuf standard = {0}, url = {0};
        struct str whole = str_skip(value, (3 - n_moved) % 3);

        whole.n -= whole.n % 3;
        base64_add(&standard, whole);
        base64url_add(&url, whole);
        needles_add(s, strbuf_str(&standard), tag);
        needles_add(s, strbuf_str(&url), tag);
    }
}

/* Equal forms are one needle. */
static void add_value(struct needles *s, struct str value, uint64_t tag)
{
    AUTO(strbuf) struct strbuf text = {0};

    value = str_slice(str_trim(value), 0, SECRETS_MAX_BYTES);
    if (!is_worth_hiding(value))
        return;
    needles_add(s, value, tag);
    json_write_string(&text, value);
    needles_add(s, str_slice(strbuf_str(&text), 1, text.n - 2), tag);
    add_url_form(s, value, "%%%02X", tag);
    add_url_form(s, value, "%%%02x", tag);
    add_base64_forms(s, value, tag);
}

static void add_header_value(struct needles *s, struct str value, uint64_t tag)
{
    static const struct str schemes[] = {S("bearer "), S("basic "), S("token ")};

    add_value(s, value, tag);
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (str_eq_nocase(str_slice(value, 0, schemes[i].n), schemes[i]))
            add_value(s, str_skip(value, schemes[i].n), tag);
}

/* --- the set --- */

static uint64_t add_name(struct secrets *s, struct str name)
{
    size_t i = 0;

    while (i < s->n_names && !str_eq(s->names[i], name))
        i++;
    if (i == SECRETS_MAX_NAMES - 1)
        name = S(OTHERS);
    i = MIN(i, (size_t)SECRETS_MAX_NAMES - 1);
    if (i >= s->n_names) {
        s->names[i] = arena_str(&s->arena, name);
        s->n_names = i + 1;
    }
    return (uint64_t)1 << i;
}

static void add_edition(struct secrets *s)
{
    struct edition *e = mem_alloc(sizeof *e);

    needles_init(&e->needles);
    for (size_t i = 0; i < s->n_values; i++)
        add_header_value(&e->needles, s->values[i].value, s->values[i].tag);
    if (e->needles.n_items == 0) {
        needles_done(&e->needles);
        mem_free(e);
        return;
    }
    needles_link(&e->needles);
    e->older = atomic_load_explicit(&s->newest, memory_order_relaxed);
    atomic_store_explicit(&s->newest, e, memory_order_release);
}

static void keep_value(struct secrets *s, const struct secret_value *v)
{
    s->values = arena_grow(&s->arena, s->values, s->n_values, &s->values_room, sizeof *s->values);
    s->values[s->n_values++] =
        (struct tagged_value){arena_str(&s->arena, str_trim(v->value)), add_name(s, v->name)};
}

struct secrets *secrets_new_growing(const struct secret_value *values, size_t n)
{
    struct secrets *s = mem_alloc(sizeof *s);

    atomic_init(&s->n_refs, 1);
    for (size_t i = 0; i < n; i++)
        keep_value(s, &values[i]);
    add_edition(s);
    return s;
}

struct secrets *secrets_new(const struct secret_value *values, size_t n)
{
    AUTO(secrets) struct secrets *s = secrets_new_growing(values, n);

    return needles_of(s) ? TAKE(s) : NULL;
}

void secrets_learn(struct secrets *s, const struct secret_value *value)
{
    struct str text = str_trim(value->value);

    if (!s || text.n == 0)
        return;
    for (size_t i = 0; i < s->n_values; i++)
        if (str_eq(s->values[i].value, text))
            return;
    keep_value(s, value);
    add_edition(s);
}

struct secrets *secrets_ref(const struct secrets *s)
{
    struct secrets *shared = (struct secrets *)s; /* only the count changes */

    if (shared)
        atomic_fetch_add_explicit(&shared->n_refs, 1, memory_order_relaxed);
    return shared;
}

void secrets_unref(struct secrets *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->n_refs, 1, memory_order_acq_rel) > 1)
        return;
    for (struct edition *e = s->newest, *older; e; e = older) {
        older = e->older;
        needles_done(&e->needles);
        mem_free(e);
    }
    for (size_t i = 0; i < s->n_values; i++)
        mem_wipe((char *)s->values[i].value.p, s->values[i].value.n);
    arena_done(&s->arena);
    mem_free(s);
}

void secrets_add_names(const struct secrets *s, uint64_t found, struct strbuf *out)
{
    const char *before = "";

    for (size_t i = 0; s && i < s->n_names; i++)
        if (found >> i & 1) {
            strbuf_addf(out, "%s%" STR_FMT, before, STR_ARG(s->names[i]));
            before = ", ";
        }
}

bool secrets_has(const struct secrets *s, struct str text)
{
    const struct needles *needles = needles_of(s);
    uint32_t node = 0;

    for (size_t at = 0; needles && at < text.n;) {
        if (node == 0)
            at = needles_skip(needles, text, at, /* is_all= */ true);
        if (at < text.n)
            node = needles_step(needles, node, (unsigned char)text.p[at++]);
        if (needles->nodes[node].tags)
            return true;
    }
    return false;
}

/* --- pieces --- */

/* One piece on its way. Positions count from its start; negative ones are the held-back bytes, the
 * end of `before`. */
struct passing {
    struct str before, piece;
    ptrdiff_t done; /* everything before it has been returned, or is in a value */
    struct strbuf *out;
};

static void give(struct passing *p, ptrdiff_t to)
{
    if (p->done < 0 && to > p->done) {
        ptrdiff_t end = MIN(to, 0);

        strbuf_add(p->out,
                   str_slice(p->before, p->before.n - (size_t)-p->done, (size_t)(end - p->done)));
        p->done = end;
    }
    if (to > p->done) {
        strbuf_add(p->out, str_slice(p->piece, (size_t)p->done, (size_t)(to - p->done)));
        p->done = to;
    }
}

/* Everything before `clear` can no longer begin a value. */
static void look_at(struct secrets_stream *s, struct passing *p, ptrdiff_t at, ptrdiff_t clear)
{
    uint64_t tags = s->needles->nodes[s->node].tags;

    if (s->is_hiding && clear >= p->done) {
        strbuf_add_cstr(p->out, REDACTED);
        s->is_hiding = false;
    }
    if (!tags)
        return;
    if (!s->is_hiding)
        give(p, clear);
    s->is_hiding = true;
    s->found |= tags;
    p->done = at;
}

struct str secrets_stream_add(struct secrets_stream *s, struct str piece, struct strbuf *out)
{
    const struct needles *needles;
    const struct needle_node *nodes;
    struct passing p = {.piece = piece, .done = -(ptrdiff_t)s->n_held, .out = out};
    struct str shown;

    if (s->node == 0 && !s->is_hiding)
        s->needles = needles_of(s->set);
    needles = s->needles;
    if (!needles)
        return piece;
    strbuf_clear(out);
    nodes = needles->nodes;
    p.before = str_make(nodes[s->node].text, nodes[s->node].n_bytes);
    for (size_t at = 0; at < piece.n;) {
        if (s->node == 0)
            at = needles_skip(needles, piece, at, /* is_all= */ false);
        if (at == piece.n)
            break;
        s->node = needles_step(needles, s->node, (unsigned char)piece.p[at++]);
        look_at(s, &p, (ptrdiff_t)at, (ptrdiff_t)at - (ptrdiff_t)nodes[s->node].n_bytes);
    }
    shown = str_slice(piece, 0, piece.n - MIN(piece.n, nodes[s->node].n_bytes));
    if (s->is_hiding || p.done < 0 || out->n > 0) {
        if (!s->is_hiding)
            give(&p, (ptrdiff_t)piece.n - (ptrdiff_t)nodes[s->node].n_bytes);
        shown = strbuf_str(out);
    } else {
        p.done = (ptrdiff_t)shown.n;
    }
    s->n_held = (uint32_t)((ptrdiff_t)piece.n - p.done);
    return shown;
}

struct str secrets_stream_end(struct secrets_stream *s, struct strbuf *out)
{
    strbuf_clear(out);
    if (s->is_hiding)
        strbuf_add_cstr(out, REDACTED);
    if (s->n_held) {
        const struct needle_node *node = &s->needles->nodes[s->node];

        strbuf_add(out, str_make(node->text + node->n_bytes - s->n_held, s->n_held));
    }
    s->node = s->n_held = 0;
    s->is_hiding = false;
    return strbuf_str(out);
}

/* --- whole texts --- */

struct str secrets_hide(const struct secrets *s, struct str text, struct strbuf *out,
                        uint64_t *found)
{
    struct secrets_stream stream = {.set = s};
    AUTO(strbuf) struct strbuf rest = {0};

    if (!secrets_has(s, text))
        return text;
    secrets_stream_add(&stream, text, out);
    strbuf_add(out, secrets_stream_end(&stream, &rest));
    if (found)
        *found |= stream.found;
    return strbuf_str(out);
}

static void hide_in_owned(const struct secrets *s, char **text)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (!*text || !secrets_has(s, str_of(*text)))
        return;
    secrets_hide(s, str_of(*text), &out, NULL);
    mem_wipe(*text, strlen(*text));
    mem_free(*text);
    *text = strbuf_take(&out);
}

void secrets_hide_in_err(const struct secrets *s, struct err *e)
{
    for (; e; e = e->cause) {
        hide_in_owned(s, &e->text);
        hide_in_owned(s, &e->hint);
    }
}
