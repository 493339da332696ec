/* schema_lower.c - keeps keywords, replaces them, or describes them in words. */
#include "provider/schema_lower.h"

#include "base/utf8.h"

#define MAX_SHOWN_VALUE 200 /* bytes of a keyword's value in a description */

enum {
    TO_ANTHROPIC = 1 << SCHEMA_ANTHROPIC,
    TO_OPENAI = 1 << SCHEMA_OPENAI,
    TO_GEMINI = 1 << SCHEMA_GEMINI,
    TO_ALL = TO_ANTHROPIC | TO_OPENAI | TO_GEMINI,
};

enum keyword_form {
    FORM_PLAIN,   /* a value without a schema */
    FORM_SCHEMA,  /* a schema */
    FORM_LIST,    /* an array of schemas */
    FORM_MEMBERS, /* an object of schemas */
    FORM_SILENT,  /* says nothing about the answer: omitted silently */
};

struct keyword {
    const char *name;
    enum keyword_form form;
    unsigned styles; /* that accept it */
};

/* Other keywords are removed for every style. */
static const struct keyword keywords[] = {
    {"type", FORM_PLAIN, TO_ALL},
    {"title", FORM_PLAIN, TO_ALL},
    {"enum", FORM_PLAIN, TO_ALL},
    {"required", FORM_PLAIN, TO_ALL},
    {"$ref", FORM_PLAIN, TO_ALL},
    {"$defs", FORM_MEMBERS, TO_ALL},
    {"definitions", FORM_MEMBERS, TO_ANTHROPIC | TO_OPENAI},
    {"properties", FORM_MEMBERS, TO_ALL},
    {"items", FORM_SCHEMA, TO_ALL},
    {"anyOf", FORM_LIST, TO_ALL},
    {"allOf", FORM_LIST, TO_ANTHROPIC},
    {"prefixItems", FORM_LIST, TO_GEMINI},
    {"const", FORM_PLAIN, TO_ANTHROPIC | TO_OPENAI},
    {"default", FORM_PLAIN, TO_ANTHROPIC},
    {"minimum", FORM_PLAIN, TO_OPENAI | TO_GEMINI},
    {"maximum", FORM_PLAIN, TO_OPENAI | TO_GEMINI},
    {"exclusiveMinimum", FORM_PLAIN, TO_OPENAI},
    {"exclusiveMaximum", FORM_PLAIN, TO_OPENAI},
    {"multipleOf", FORM_PLAIN, TO_OPENAI},
    {"pattern", FORM_PLAIN, TO_OPENAI},
    {"minItems", FORM_PLAIN, TO_OPENAI | TO_GEMINI},
    {"maxItems", FORM_PLAIN, TO_OPENAI | TO_GEMINI},
    {"$anchor", FORM_SILENT, TO_GEMINI},
    {"$schema", FORM_SILENT, 0},
    {"$id", FORM_SILENT, 0},
    {"$comment", FORM_SILENT, 0},
    {"$vocabulary", FORM_SILENT, 0},
    {"default", FORM_SILENT, 0},
    {"examples", FORM_SILENT, 0},
    {"deprecated", FORM_SILENT, 0},
    {"readOnly", FORM_SILENT, 0},
    {"writeOnly", FORM_SILENT, 0},
};

struct lowering {
    struct arena *arena;
    enum schema_style style;
    struct schema_lowered *out;
    struct strbuf path;
    size_t n_notes; /* bytes added to descriptions so far */
};

static const struct keyword *find_keyword(const struct lowering *l, struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
        if (str_is(name, keywords[i].name) &&
            (keywords[i].form == FORM_SILENT || keywords[i].styles & 1u << l->style))
            return &keywords[i];
    return NULL;
}

/* Formats of strings that are guaranteed. Vendors ignore or refuse others. */
static bool takes_format(const struct lowering *l, struct str format)
{
    static const char *const common[] = {"date-time", "time", "date", "duration", "email",
                                         "hostname",  "ipv4", "ipv6", "uuid"};

    if (l->style == SCHEMA_GEMINI)
        return str_is(format, "date-time") || str_is(format, "date") || str_is(format, "time");
    for (size_t i = 0; i < ARRAY_LEN(common); i++)
        if (str_is(format, common[i]))
            return true;
    return l->style == SCHEMA_ANTHROPIC && str_is(format, "uri");
}

/* --- removed keywords --- */

static size_t enter(struct lowering *l, struct str name)
{
    size_t before = l->path.n;

    strbuf_add_char(&l->path, '/');
    strbuf_add(&l->path, name);
    return before;
}

static void take_out(struct lowering *l, const struct json *member, struct strbuf *notes)
{
    AUTO(strbuf) struct strbuf value = {0};
    size_t before = enter(l, member->key);

    if (l->out->n_taken < SCHEMA_MAX_TAKEN)
        l->out->taken[l->out->n_taken++] = arena_str(l->arena, strbuf_str(&l->path));
    strbuf_cut(&l->path, before);
    json_write(&value, member);
    strbuf_addf(notes, "%s%" STR_FMT ": %" STR_FMT, notes->n ? ", " : "", STR_ARG(member->key),
                STR_ARG(utf8_truncate(strbuf_str(&value), MAX_SHOWN_VALUE)));
}

/* "How old. {minimum: 0, maximum: 150}" */
static void describe(struct lowering *l, const struct json *schema, struct json *out,
                     struct str notes)
{
    struct str said = json_get_text(schema, "description");
    AUTO(strbuf) struct strbuf text = {0};

    if (l->n_notes + notes.n > SCHEMA_MAX_NOTES)
        notes = (struct str){0};
    l->n_notes += notes.n;
    strbuf_add(&text, said);
    if (notes.n)
        strbuf_addf(&text, "%s{%" STR_FMT "}", said.n ? " " : "", STR_ARG(notes));
    if (text.n)
        json_set_str(l->arena, out, "description", strbuf_str(&text));
}

/* --- schemas inside of schemas --- */

static struct json *lower(struct lowering *l, const struct json *schema);

static struct json *lower_at(struct lowering *l, struct str name, const struct json *schema)
{
    size_t before = enter(l, name);
    struct json *lowered = lower(l, schema);

    strbuf_cut(&l->path, before);
    return lowered;
}

static struct json *lower_list(struct lowering *l, const struct json *list)
{
    struct json *out = json_new(l->arena, JSON_ARRAY);
    size_t before = enter(l, list->key);
    size_t i = 0;

    json_each (schema, list) {
        AUTO(strbuf) struct strbuf index = {0};

        strbuf_addf(&index, "%zu", i++);
        json_push(out, lower_at(l, strbuf_str(&index), schema));
    }
    strbuf_cut(&l->path, before);
    return out;
}

static struct json *lower_members(struct lowering *l, const struct json *members)
{
    struct json *out = json_new(l->arena, JSON_OBJECT);
    size_t before = enter(l, members->key);

    json_each (schema, members)
        json_set_key(l->arena, out, schema->key, lower_at(l, schema->key, schema));
    strbuf_cut(&l->path, before);
    return out;
}

/* The member in the vendor's form; NULL: it has none. */
static struct json *lower_member(struct lowering *l, const struct json *member)
{
    const struct keyword *k = find_keyword(l, member->key);

    if (!k || k->form == FORM_SILENT)
        return NULL;
    if (k->form == FORM_SCHEMA && member->type != JSON_ARRAY)
        return lower_at(l, member->key, member);
    if (k->form == FORM_LIST && member->type == JSON_ARRAY)
        return lower_list(l, member);
    if (k->form == FORM_MEMBERS && member->type == JSON_OBJECT)
        return lower_members(l, member);
    return k->form == FORM_PLAIN ? json_copy(l->arena, member) : NULL;
}

/* Keywords that are replaced by others, or accepted for some values only. */
static bool lower_specially(struct lowering *l, const struct json *member, struct json *out)
{
    struct arena *a = l->arena;
    int64_t n;

    if (str_is(member->key, "description"))
        return true; /* describe() writes it, with the removed keywords */
    if (str_is(member->key, "oneOf") && member->type == JSON_ARRAY) {
        json_set(a, out, "anyOf", lower_list(l, member));
        return true;
    }
    if (str_is(member->key, "const") && l->style == SCHEMA_GEMINI) {
        struct json *only = json_new(a, JSON_ARRAY);

        json_push(only, json_copy(a, member));
        json_set(a, out, "enum", only);
        return true;
    }
    if (str_is(member->key, "format") && takes_format(l, json_str(member))) {
        json_set_key(a, out, member->key, json_copy(a, member));
        return true;
    }
    if (str_is(member->key, "minItems") && l->style == SCHEMA_ANTHROPIC && json_int64(member, &n) &&
        (n == 0 || n == 1)) {
        json_set_key(a, out, member->key, json_copy(a, member));
        return true;
    }
    return false;
}

/* --- objects --- */

static bool is_object(const struct json *schema)
{
    const struct json *type = json_get(schema, "type");

    if (json_is(type, JSON_ARRAY))
        json_each (one, type)
            if (str_is(json_str(one), "object"))
                return true;
    return str_is(json_str(type), "object") || json_has(schema, "properties");
}

static bool has_all_members(const struct json *schema)
{
    json_each (member, json_get(schema, "properties")) {
        bool is_required = false;

        json_each (name, json_get(schema, "required"))
            is_required |= str_eq(json_str(name), member->key);
        if (!is_required)
            return false;
    }
    return true;
}

/* Only Gemini allows further members beside the named ones. */
static void close_object(struct lowering *l, const struct json *schema, struct json *out,
                         struct strbuf *notes)
{
    const struct json *others = json_get(schema, "additionalProperties");

    if (l->style == SCHEMA_GEMINI) {
        if (json_is(others, JSON_OBJECT))
            json_set(l->arena, out, "additionalProperties", lower_at(l, others->key, others));
        else if (others)
            json_set(l->arena, out, "additionalProperties", json_copy(l->arena, others));
        return;
    }
    if (others && json_bool(others, true)) {
        take_out(l, others, notes);
        l->out->is_loose = true;
    }
    if (!is_object(schema))
        return;
    json_set_bool(l->arena, out, "additionalProperties", false);
    l->out->is_loose |= !has_all_members(schema);
}

/* Keywords without which wrong answers would be allowed. */
static bool is_needed(struct str key)
{
    static const char *const names[] = {
        "allOf", "not", "if", "patternProperties", "prefixItems", "dependentSchemas"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(key, names[i]))
            return true;
    return false;
}

/* A schema that is just true or false becomes an empty one. */
static struct json *lower(struct lowering *l, const struct json *schema)
{
    struct json *out = json_new(l->arena, JSON_OBJECT);
    AUTO(strbuf) struct strbuf notes = {0};

    if (!json_is(schema, JSON_OBJECT))
        return out;
    json_each (member, schema) {
        const struct keyword *k = find_keyword(l, member->key);
        struct json *kept;

        if (str_is(member->key, "additionalProperties") || lower_specially(l, member, out))
            continue;
        kept = lower_member(l, member);
        if (kept) {
            json_set_key(l->arena, out, member->key, kept);
        } else if (!k || k->form != FORM_SILENT) {
            take_out(l, member, &notes);
            l->out->is_loose |= is_needed(member->key);
        }
    }
    close_object(l, schema, out, &notes);
    describe(l, schema, out, strbuf_str(&notes));
    return out;
}

void schema_lower(struct arena *a, const struct json *schema, enum schema_style style,
                  struct schema_lowered *ret_lowered)
{
    struct lowering l = {.arena = a, .style = style, .out = ret_lowered};

    *ret_lowered = (struct schema_lowered){0};
    ret_lowered->schema = lower(&l, schema);
    ret_lowered->is_loose |= !str_is(json_get_text(schema, "type"), "object");
    strbuf_done(&l.path);
}
