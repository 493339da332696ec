/* check.c - places, members, and the rules that all judges know. */
#include "strict/check.h"

#include "base/mem.h"
#include "base/utf8.h"

/* --- saying why --- */

static size_t index_of(const struct json *array, const struct json *v)
{
    size_t i = 0;

    json_each (child, array) {
        if (child == v)
            return i;
        i++;
    }
    return i;
}

bool refuse(struct check *c, const char *format, ...)
{
    va_list args;

    for (size_t i = 0; i < c->depth; i++) {
        const struct json *parent = i ? c->path[i - 1] : c->body, *v = c->path[i];

        if (parent->type == JSON_ARRAY)
            strbuf_addf(c->why, "[%zu]", index_of(parent, v));
        else
            strbuf_addf(c->why, "%s%" STR_FMT, i ? "." : "", STR_ARG(v->key));
    }
    strbuf_add_cstr(c->why, c->depth ? ": " : "");
    va_start(args, format);
    strbuf_vaddf(c->why, format, args);
    va_end(args);
    return false;
}

bool check_in(struct check *c, const struct json *v,
              bool (*check)(struct check *c, const struct json *v))
{
    if (c->depth == CHECK_MAX_DEPTH)
        return refuse(c, "is too deep");
    c->path[c->depth++] = v;
    if (!check(c, v))
        return false;
    c->depth--;
    return true;
}

bool check_each(struct check *c, const struct json *array,
                bool (*check)(struct check *c, const struct json *v))
{
    json_each (child, array)
        if (!check_in(c, child, check))
            return false;
    return true;
}

/* --- members --- */

static const struct member *find_member(const struct member *members, struct str name)
{
    for (const struct member *m = members; m && m->name; m++)
        if (str_is(name, m->name))
            return m;
    return NULL;
}

static bool has_type(const struct json *v, unsigned types)
{
    int64_t whole;

    return (types & (1u << v->type)) || ((types & AN_INT) && json_int64(v, &whole));
}

static bool check_member(struct check *c, const struct json *v, const struct member *m)
{
    if (!has_type(v, m->types))
        return refuse(c, "must not be %s", json_type_name(v->type));
    if (v->type == JSON_NULL)
        return true;
    if (m->words && v->type == JSON_STRING && !text_has_word(m->words, v->text))
        return refuse(c, "\"%" STR_FMT "\" is none of:%s", STR_ARG(v->text), m->words);
    return !m->check || m->check(c, v);
}

static bool check_known(struct check *c, const struct json *v, const struct member *members,
                        const struct member *more)
{
    const struct member *m = find_member(members, v->key);

    if (!m)
        m = find_member(more, v->key);
    return m ? check_member(c, v, m) : refuse(c, "is not a member that is known here");
}

static bool has_all(struct check *c, const struct json *object, const struct member *members)
{
    for (const struct member *m = members; m && m->name; m++)
        if (m->is_required && !json_has(object, m->name))
            return refuse(c, "has no \"%s\"", m->name);
    return true;
}

bool check_members(struct check *c, const struct json *object, const struct member *members,
                   const struct member *more)
{
    if (object->type != JSON_OBJECT)
        return refuse(c, "must be an object");
    json_each (v, object) {
        if (c->depth == CHECK_MAX_DEPTH)
            return refuse(c, "is too deep");
        c->path[c->depth++] = v;
        if (!check_known(c, v, members, more))
            return false;
        c->depth--;
    }
    return has_all(c, object, members) && has_all(c, object, more);
}

/* --- for members --- */

bool is_not_blank(struct check *c, const struct json *v)
{
    return text_is_blank_space(json_str(v)) ? refuse(c, "must not be blank") : true;
}

bool is_not_empty(struct check *c, const struct json *v)
{
    return v->n == 0 ? refuse(c, "must not be empty") : true;
}

static bool is_text(struct check *c, const struct json *v)
{
    return v->type == JSON_STRING ? is_not_blank(c, v) : refuse(c, "must be a string");
}

bool is_text_list(struct check *c, const struct json *v)
{
    return check_each(c, v, is_text);
}

bool is_positive(struct check *c, const struct json *v)
{
    return json_int_or(v, 0) < 1 ? refuse(c, "must be at least 1") : true;
}

/* In the letters of RFC 4648, with those for URLs too where a server takes them. */
static bool is_base64_text(struct str text, const char *others)
{
    size_t n = text.n;

    while (n && text.n - n < 2 && text.p[n - 1] == '=')
        n--;
    return text.n % 4 == 0 && text_is_name(str_slice(text, 0, n), others, text.n);
}

bool is_base64(struct check *c, const struct json *v)
{
    return is_base64_text(json_str(v), "+/") ? true : refuse(c, "must be base64 and not empty");
}

bool is_url_base64(struct check *c, const struct json *v)
{
    return is_base64_text(json_str(v), "+/-_") ? true : refuse(c, "must be base64 and not empty");
}

/* An address, or the bytes themselves. */
bool is_url(struct check *c, const struct json *v)
{
    struct str url = json_str(v);
    size_t comma = str_find_char(url, ',');

    if (str_starts(url, S("https://")) || str_starts(url, S("http://")) ||
        str_starts(url, S("gs://")))
        return true;
    if (!str_starts(url, S("data:")) || comma == STR_NONE ||
        !str_ends(str_slice(url, 0, comma), S(";base64")))
        return refuse(c, "must be an address or a data: URL");
    return is_base64_text(str_skip(url, comma + 1), "+/")
               ? true
               : refuse(c, "must be base64 and not empty");
}

bool is_object_schema(struct check *c, const struct json *v)
{
    return str_is(json_get_text(v, "type"), "object")
               ? true
               : refuse(c, "must be the schema of an object");
}

bool check_range(struct check *c, const struct json *v, double from, double to)
{
    double value;

    return json_double(v, &value) && value >= from && value <= to
               ? true
               : refuse(c, "must be from %g to %g", from, to);
}

/* --- texts --- */

bool text_has_word(const char *words, struct str word)
{
    for (const char *p = words; (p = strchr(p, ' ')) && p[1]; p++)
        if (word.n && strncmp(p + 1, word.p, word.n) == 0 && p[1 + word.n] == ' ')
            return true;
    return false;
}

static bool is_space(uint32_t c)
{
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
           c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
           c == 0x202F || c == 0x205F || c == 0x3000;
}

/* All that Unicode calls white space: servers strip it too. */
bool text_is_blank_space(struct str text)
{
    while (text.n) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);

        if (n == 0 || !is_space(c))
            return false;
        text = str_skip(text, n);
    }
    return true;
}

static bool is_plain_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool text_is_name(struct str text, const char *others, size_t max)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_plain_letter(text.p[i]) && (text.p[i] == 0 || !strchr(others, text.p[i])))
            return false;
    return text.n > 0 && text.n <= max;
}

/* --- ids --- */

bool ids_have(const struct ids *ids, struct str id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (str_eq(ids->at[i], id))
            return true;
    return false;
}

bool ids_add(struct ids *ids, struct str id)
{
    if (ids->n == CHECK_MAX_IDS || ids_have(ids, id))
        return false;
    ids->at[ids->n++] = id;
    return true;
}

bool ids_take(struct ids *ids, struct str id)
{
    for (size_t i = 0; i < ids->n; i++)
        if (str_eq(ids->at[i], id)) {
            ids->at[i] = ids->at[--ids->n];
            return true;
        }
    return false;
}
