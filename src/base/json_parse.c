/* json_parse.c - parses RFC 8259 text into a tree, without recursion and without guessing. */
#include "base/json.h"

#include "base/ascii.h"
#include "base/utf8.h"

/* Objects with this many members get their names indexed, so that finding repeated names does not
 * become quadratic. */
#define INDEX_FROM 16

#define MANY_VALUES "the text has more values than the limit of 1048576"
#define FEW_VALUES "the text has more values than its reader allows"
_Static_assert(JSON_MAX_VALUES == 1048576, "MANY_VALUES names it");

struct name_slot {
    const struct json *object;
    struct json *member;
    uint64_t hash; /* rules most other names out without reading them */
};

/* All indexed names of one parse: an open-addressed table over (object, name). */
struct name_index {
    struct name_slot *slots;
    size_t n_used, n_room;
    uint64_t seed;
};

struct json_parser {
    struct arena *arena;
    const char *start, *at, *end;
    int flags;
    bool is_utf8;       /* the whole text: strings need no check of their own */
    const char *reason; /* of the failure, which is at `at` */
    struct name_index names;
    size_t n_values, max_values;
    struct json **open; /* containers around the current value: room for JSON_MAX_DEPTH */
    unsigned depth;
};

/* --- repeated names --- */

/* Seeded with an address, so that nobody can prepare names that all collide. */
static uint64_t name_hash(const struct name_index *x, const struct json *object, struct str name)
{
    uint64_t hash = x->seed ^ (uint64_t)(uintptr_t)object;

    for (size_t i = 0; i < name.n; i++) {
        hash = (hash ^ (unsigned char)name.p[i]) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash ^ hash >> 32;
}

static struct name_slot *name_slot_for(const struct name_index *x, const struct json *object,
                                       struct str name, uint64_t hash)
{
    size_t mask = x->n_room - 1, i = hash & mask;

    while (x->slots[i].object && !(x->slots[i].hash == hash && x->slots[i].object == object &&
                                   str_eq(x->slots[i].member->key, name)))
        i = (i + 1) & mask;
    return &x->slots[i];
}

/* No name is twice in the old slots, so the first free place is the right one. */
static void name_index_grow(struct name_index *x)
{
    struct name_index bigger = {
        .n_used = x->n_used, .n_room = x->n_room ? x->n_room * 2 : 64, .seed = x->seed};

    bigger.slots = mem_alloc(bigger.n_room * sizeof *bigger.slots);
    for (size_t i = 0; i < x->n_room; i++) {
        size_t at = x->slots[i].hash & (bigger.n_room - 1);

        if (!x->slots[i].object)
            continue;
        while (bigger.slots[at].object)
            at = (at + 1) & (bigger.n_room - 1);
        bigger.slots[at] = x->slots[i];
    }
    mem_free(x->slots);
    *x = bigger;
}

static void name_index_add(struct name_index *x, const struct json *object, struct json *member)
{
    uint64_t hash = name_hash(x, object, member->key);
    struct name_slot *slot;

    if (x->n_used * 4 >= x->n_room * 3)
        name_index_grow(x);
    slot = name_slot_for(x, object, member->key, hash);
    x->n_used += !slot->object;
    *slot = (struct name_slot){object, member, hash};
}

static struct json *find_member(const struct json_parser *p, const struct json *object,
                                struct str name)
{
    if (object->n > INDEX_FROM)
        return name_slot_for(&p->names, object, name, name_hash(&p->names, object, name))->member;
    json_each (member, object)
        if (json_same_name(member->key, name))
            return member;
    return NULL;
}

static void append(struct json *container, struct json *child)
{
    if (container->last)
        container->last->next = child;
    else
        container->first = child;
    container->last = child;
    container->n++;
}

/* The node for a member's value: a new one, or the earlier one of that name, emptied. */
static struct json *member_node(struct json_parser *p, struct json *object, struct str name)
{
    struct json *member = find_member(p, object, name);

    if (member) {
        if (p->flags & JSON_UNIQUE_KEYS) {
            p->reason = "this object has the same name twice";
            return NULL;
        }
        *member = (struct json){.key = member->key, .next = member->next};
        return member;
    }
    member = ARENA_NEW(p->arena, struct json);
    member->key = name;
    append(object, member);
    if (object->n == INDEX_FROM + 1)
        json_each (earlier, object)
            name_index_add(&p->names, object, earlier);
    else if (object->n > INDEX_FROM)
        name_index_add(&p->names, object, member);
    return member;
}

/* --- scalars --- */

static bool fail(struct json_parser *p, const char *at, const char *reason)
{
    p->at = at;
    p->reason = reason;
    return false;
}

static bool hex4(const char *p, const char *end, uint32_t *ret_unit)
{
    uint32_t unit = 0;

    if (end - p < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        int digit = ascii_hex_value(p[i]);
        if (digit < 0)
            return false;
        unit = unit << 4 | (uint32_t)digit;
    }
    *ret_unit = unit;
    return true;
}

/* After "\u": one character, from one escape or from a pair of surrogates. */
static bool unicode_escape(const char **at, const char *end, uint32_t *ret_char)
{
    uint32_t high, low;

    if (!hex4(*at, end, &high))
        return false;
    *at += 4;
    *ret_char = high;
    if (high < 0xD800 || high > 0xDFFF)
        return true;
    *ret_char = 0xFFFD;
    if (high < 0xDC00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' &&
        hex4(*at + 2, end, &low) && low >= 0xDC00 && low <= 0xDFFF) {
        *ret_char = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        *at += 6;
    }
    return true;
}

/* Decodes the text between the quotes; the result is never longer than the source. */
static bool unescape(struct json_parser *p, const char *from, const char *to, struct str *ret_text)
{
    char *text = arena_alloc(p->arena, (size_t)(to - from) + 1), *out = text;

    while (from < to) {
        const char *escape = memchr(from, '\\', (size_t)(to - from));
        size_t plain = (size_t)((escape ? escape : to) - from);
        uint32_t c;

        memcpy(out, from, plain);
        out += plain;
        if (!escape)
            break;
        from = escape + 2;
        switch (escape[1]) {
        case '"':
        case '\\':
        case '/':
            *out++ = escape[1];
            break;
        case 'b':
            *out++ = '\b';
            break;
        case 'f':
            *out++ = '\f';
            break;
        case 'n':
            *out++ = '\n';
            break;
        case 'r':
            *out++ = '\r';
            break;
        case 't':
            *out++ = '\t';
            break;
        case 'u':
            if (!unicode_escape(&from, to, &c))
                return fail(p, escape, "\\u needs four hexadecimal digits");
            out += utf8_encode(c, out);
            break;
        default:
            return fail(p, escape, "unknown escape in string");
        }
    }
    *ret_text = str_make(text, (size_t)(out - text));
    return true;
}

static void repair(struct json_parser *p, struct str *text)
{
    AUTO(strbuf) struct strbuf repaired = {0};

    strbuf_init(&repaired, JSON_MAX_BYTES * 3);
    utf8_add_repaired(&repaired, *text);
    *text = arena_str(p->arena, strbuf_str(&repaired));
}

/* Searches from after the opening quote; sets `at` to the closing one. */
static bool find_string_end(struct json_parser *p, const char *from, bool *ret_has_escape)
{
    struct str rest = str_make(from, (size_t)(p->end - from));
    size_t at = json_find_special(rest, 0);

    *ret_has_escape = false;
    while (at < rest.n && rest.p[at] == '\\') {
        *ret_has_escape = true;
        at = json_find_special(rest, MIN(at + 2, rest.n));
    }
    if (at == rest.n)
        return fail(p, p->end, "the string has no closing quote");
    p->at = from + at;
    return *p->at == '"' || fail(p, p->at, "control characters in a string must be escaped");
}

/* `at` is on the opening quote. */
static bool parse_string(struct json_parser *p, struct str *ret_text)
{
    const char *from = p->at + 1, *to;
    bool has_escape;
    struct str text;

    if (!find_string_end(p, from, &has_escape))
        return false;
    to = p->at;
    text = str_make(from, (size_t)(to - from));
    if (has_escape && !unescape(p, from, to, &text))
        return false;
    if (!p->is_utf8 && !utf8_is_valid(text)) {
        if (!(p->flags & JSON_REPAIR_UTF8))
            return fail(p, from, "the string is not valid UTF-8");
        repair(p, &text);
    }
    *ret_text = text;
    p->at = to + 1;
    return true;
}

static bool is_digit(const char *c, const char *end)
{
    return c < end && ascii_is_digit(*c);
}

static bool parse_number(struct json_parser *p, struct json *node)
{
    const char *c = p->at;

    c += *c == '-';
    if (!is_digit(c, p->end))
        return fail(p, c, "a number needs a digit here");
    if (*c == '0')
        c++;
    else
        while (is_digit(c, p->end))
            c++;
    if (is_digit(c, p->end))
        return fail(p, c, "a number must not start with 0");
    if (c < p->end && *c == '.') {
        if (!is_digit(++c, p->end))
            return fail(p, c, "a number needs a digit after its point");
        while (is_digit(c, p->end))
            c++;
    }
    if (c < p->end && (*c == 'e' || *c == 'E')) {
        c++;
        if (c < p->end && (*c == '+' || *c == '-'))
            c++;
        if (!is_digit(c, p->end))
            return fail(p, c, "a number needs a digit in its exponent");
        while (is_digit(c, p->end))
            c++;
    }
    node->type = JSON_NUMBER;
    node->text = str_make(p->at, (size_t)(c - p->at));
    p->at = c;
    return true;
}

static bool parse_word(struct json_parser *p, struct json *node)
{
    static const struct {
        struct str word;
        enum json_type type;
        bool boolean;
    } words[] = {{{"true", 4}, JSON_BOOL, true},
                 {{"false", 5}, JSON_BOOL, false},
                 {{"null", 4}, JSON_NULL, false}};
    struct str rest = str_make(p->at, (size_t)(p->end - p->at));

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_starts(rest, words[i].word)) {
            node->type = words[i].type;
            node->boolean = words[i].boolean;
            p->at += words[i].word.n;
            return true;
        }
    return fail(p, p->at, "a value was expected here");
}

/* --- structure --- */

static void skip_space(struct json_parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

static char peek(const struct json_parser *p)
{
    return p->at < p->end ? *p->at : 0;
}

/* Parses a scalar whole, or opens a container and pushes it. */
static bool parse_value(struct json_parser *p, struct json *node)
{
    const char *from = p->at;
    bool ok = true;

    if (p->at == p->end)
        return fail(p, p->at, "a value was expected, but the text ends");
    if (p->n_values++ == p->max_values)
        return fail(p, p->at, p->max_values == JSON_MAX_VALUES ? MANY_VALUES : FEW_VALUES);
    if (*from == '{' || *from == '[') {
        if (p->depth == JSON_MAX_DEPTH)
            return fail(p, p->at, "values are nested too deep");
        node->type = *from == '{' ? JSON_OBJECT : JSON_ARRAY;
        node->raw = str_make(from, 0);
        p->open[p->depth++] = node;
        p->at++;
        return true;
    }
    if (*from == '"') {
        node->type = JSON_STRING;
        ok = parse_string(p, &node->text);
    } else if (*from == '-' || ascii_is_digit(*from)) {
        ok = parse_number(p, node);
    } else {
        ok = parse_word(p, node);
    }
    node->raw = str_make(from, (size_t)(p->at - from));
    return ok;
}

static void close_container(struct json_parser *p)
{
    struct json *container = p->open[--p->depth];

    p->at++;
    container->raw.n = (size_t)(p->at - container->raw.p);
}

static bool parse_member(struct json_parser *p, struct json *object)
{
    const char *from = p->at;
    struct json *member;
    struct str name;

    if (peek(p) != '"')
        return fail(p, p->at, "a name in double quotes was expected");
    if (!parse_string(p, &name))
        return false;
    skip_space(p);
    if (peek(p) != ':')
        return fail(p, p->at, "a colon was expected after the name");
    p->at++;
    skip_space(p);
    member = member_node(p, object, name);
    if (!member)
        return fail(p, from, p->reason);
    return parse_value(p, member);
}

/* One step inside the innermost open container: its end, or its next child. */
static bool parse_step(struct json_parser *p)
{
    struct json *container = p->open[p->depth - 1];
    bool is_object = container->type == JSON_OBJECT;

    skip_space(p);
    if (peek(p) == (is_object ? '}' : ']')) {
        close_container(p);
        return true;
    }
    if (container->first) {
        if (peek(p) != ',')
            return fail(p, p->at,
                        p->at == p->end ? "the text ends inside a value"
                        : is_object     ? "a comma or a closing brace was expected"
                                        : "a comma or a closing bracket was expected");
        p->at++;
        skip_space(p);
    }
    if (is_object)
        return parse_member(p, container);

    struct json *element = ARENA_NEW(p->arena, struct json);
    append(container, element);
    return parse_value(p, element);
}

static bool parse_document(struct json_parser *p, struct json *root)
{
    skip_space(p);
    if (!parse_value(p, root))
        return false;
    while (p->depth)
        if (!parse_step(p))
            return false;
    skip_space(p);
    if (p->at < p->end)
        return fail(p, p->at, "unexpected text after the value");
    return true;
}

static void locate(const struct json_parser *p, struct json_where *ret)
{
    const char *line = p->start;

    *ret =
        (struct json_where){.offset = (size_t)(p->at - p->start), .line = 1, .reason = p->reason};
    for (const char *c = p->start; c < p->at; c++)
        if (*c == '\n') {
            ret->line++;
            line = c + 1;
        }
    ret->column = (size_t)(p->at - line) + 1;
}

bool json_parse_few(struct arena *a, struct str input, int flags, size_t max_values,
                    struct json **ret_value, struct json_where *ret_where)
{
    struct json *open[JSON_MAX_DEPTH]; /* not in the parser, which is cleared */
    struct json_parser p = {.arena = a,
                            .start = input.p,
                            .at = input.p,
                            .end = input.p + input.n,
                            .flags = flags,
                            .is_utf8 = utf8_is_valid(input),
                            .max_values = max_values,
                            .open = open};
    struct json *root = ARENA_NEW(a, struct json);
    bool ok;

    p.names.seed = (uint64_t)(uintptr_t)&p ^ (uint64_t)(uintptr_t)root << 17;
    ok = input.n <= JSON_MAX_BYTES ? parse_document(&p, root)
                                   : fail(&p, p.at, "the text is larger than 64 MiB");
    mem_free(p.names.slots);
    if (ok)
        *ret_value = root;
    else
        locate(&p, ret_where);
    return ok;
}

bool json_parse_at(struct arena *a, struct str input, int flags, struct json **ret_value,
                   struct json_where *ret_where)
{
    return json_parse_few(a, input, flags, JSON_MAX_VALUES, ret_value, ret_where);
}

struct err *json_parse(struct arena *a, struct str input, int flags, struct json **ret_value)
{
    struct json_where where;

    if (json_parse_at(a, input, flags, ret_value, &where))
        return NULL;
    return err_new(ERR_VALIDATION, "not valid JSON: line %zu, column %zu: %s", where.line,
                   where.column, where.reason);
}
