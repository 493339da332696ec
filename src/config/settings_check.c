/* settings_check.c - types and values, and who may set what, by the table of keys. */
#include "config/settings_check.h"

#include "base/alike.h"
#include "model/usage.h"

static bool path_fits(struct str pattern, struct str path)
{
    struct str want, have;

    for (;;) {
        bool has_pattern = str_split(&pattern, '.', &want);
        bool has_path = str_split(&path, '.', &have);

        if (!has_pattern || !has_path)
            return has_pattern == has_path;
        if (!str_is(want, "*") && !str_eq(want, have))
            return false;
    }
}

const struct setting_key *setting_key_find(struct str path)
{
    setting_keys_each (k)
        if (path_fits(str_of(k->path), path))
            return k;
    return NULL;
}

/* --- values --- */

static const struct {
    const char *name;
    enum json_type json;
} types[] = {
    [SETTING_STRING] = {"a string", JSON_STRING},
    [SETTING_BOOL] = {"true or false", JSON_BOOL},
    [SETTING_INTEGER] = {"an integer", JSON_NUMBER},
    [SETTING_USD] = {"a number", JSON_NUMBER},
    [SETTING_SHARE] = {"a number", JSON_NUMBER},
    [SETTING_STRINGS] = {"an array of strings", JSON_ARRAY},
    [SETTING_OBJECT] = {"an object", JSON_OBJECT},
    [SETTING_ANY] = {"anything", JSON_NULL},
};

static bool is_among(struct str word, const char *words)
{
    struct str rest = str_of(words), known;

    while (str_split(&rest, ',', &known))
        if (str_eq(word, str_trim(known)))
            return true;
    return false;
}

static bool all_strings(const struct json *v)
{
    json_each (element, v)
        if (element->type != JSON_STRING)
            return false;
    return v->type == JSON_ARRAY;
}

/* An empty string says nothing. */
static bool can_be(const struct json *v, const struct setting_key *key)
{
    int64_t n;
    double share;

    switch (key->type) {
    case SETTING_STRING:
        return v->type == JSON_STRING &&
               (!key->words || !v->text.n || is_among(v->text, key->words));
    case SETTING_INTEGER:
        return json_int64(v, &n) && n >= key->least && (!key->most || n <= key->most);
    case SETTING_USD:
        return money_from_usd(v, &n) && n >= key->least;
    case SETTING_SHARE:
        return json_double(v, &share) && share > 0 && share <= 1;
    case SETTING_STRINGS:
        return all_strings(v);
    case SETTING_BOOL:
    case SETTING_OBJECT:
        return v->type == types[key->type].json;
    case SETTING_ANY:
        return true;
    }
    BUG("setting type");
}

/* The limits that a value of the right type does not keep. */
static void add_limits(struct strbuf *out, const struct setting_key *key)
{
    if (key->words)
        strbuf_addf(out, "one of %s", key->words);
    else if (key->type == SETTING_SHARE)
        strbuf_add_cstr(out, "greater than 0 and at most 1");
    else if (key->type == SETTING_USD)
        strbuf_add_cstr(out, key->least ? "greater than 0" : "0 or more");
    else if (key->most)
        strbuf_addf(out, "an integer from %lld to %lld", (long long)key->least,
                    (long long)key->most);
    else
        strbuf_addf(out, "an integer of %lld or more", (long long)key->least);
}

static struct err *wrong_value(const struct json *v, const struct setting_key *key,
                               const char *file, const char *path)
{
    AUTO(strbuf) struct strbuf expected = {0}, given = {0};

    if (v->type == types[key->type].json && key->type != SETTING_STRINGS) {
        add_limits(&expected, key);
        json_write(&given, v);
    } else {
        strbuf_add_cstr(&expected, types[key->type].name);
        strbuf_add_cstr(&given, json_type_name(v->type));
    }
    return err_hint(err_new(ERR_VALIDATION, "%s: \"%s\" must be %s, not %s", file, path,
                            strbuf_cstr(&expected), strbuf_cstr(&given)),
                    "%s: %s", key->path, key->help);
}

/* --- names --- */

/* The path of a member. A dot in its name separates nothing. */
static struct str member_path(struct arena *a, const char *path, const struct json *member)
{
    struct str below =
        arena_format(a, "%s%s%" STR_FMT, path, *path ? "." : "", STR_ARG(member->key));
    char *name = (char *)below.p + below.n - member->key.n;

    for (size_t i = 0; i < member->key.n; i++)
        if (name[i] == '.')
            name[i] = '/';
    return below;
}

/* The last name of a row in the same object as the path; empty: it does not. */
static struct str sibling_name(const struct setting_key *k, struct str path)
{
    struct str row = str_of(k->path);
    size_t dot = str_rfind_char(row, '.'), end = str_rfind_char(path, '.');
    struct str name = dot == STR_NONE ? row : str_skip(row, dot + 1);

    if ((dot == STR_NONE) != (end == STR_NONE) || str_is(name, "*"))
        return (struct str){0};
    if (dot != STR_NONE && !path_fits(str_slice(row, 0, dot), str_slice(path, 0, end)))
        return (struct str){0};
    return name;
}

static struct err *check_name(const char *file, struct str path, enum settings_origin origin)
{
    size_t dot = str_rfind_char(path, '.');
    struct alike near = {.word = dot == STR_NONE ? path : str_skip(path, dot + 1)};
    struct err *e;

    if (str_is(path, "$schema"))
        return NULL;
    setting_keys_each (k)
        alike_try(&near, sibling_name(k, path));
    if (origin == SETTINGS_FLAGS && !near.best.n)
        return NULL;
    e = err_new(ERR_VALIDATION, "%s: unknown setting \"%" STR_FMT "\"", file, STR_ARG(path));
    if (!near.best.n)
        return err_hint(e, "keel config keys lists all settings");
    return err_hint(e, "did you mean \"%" STR_FMT "%" STR_FMT "\"?",
                    STR_ARG(str_slice(path, 0, path.n - near.word.n)), STR_ARG(near.best));
}

/* --- the whole tree --- */

static struct err *check_at(const struct json *tree, const char *file, enum settings_origin origin,
                            struct arena *a, const char *path)
{
    json_each (member, tree) {
        struct str below = member_path(a, path, member);
        const struct setting_key *key = setting_key_find(below);

        if (!key) {
            TRY(check_name(file, below, origin));
            continue;
        }
        if (!can_be(member, key))
            return wrong_value(member, key, file, below.p);
        if (key->type == SETTING_OBJECT)
            TRY(check_at(member, file, origin, a, below.p));
    }
    return NULL;
}

struct err *settings_check(const struct json *tree, const char *file, enum settings_origin origin)
{
    AUTO(arena) struct arena a = {0};

    if (tree->type != JSON_OBJECT)
        return err_new(ERR_VALIDATION, "%s: must be a JSON object, not %s", file,
                       json_type_name(tree->type));
    return origin == SETTINGS_FOREIGN ? NULL : check_at(tree, file, origin, &a, "");
}

/* --- who may set it --- */

static bool can_set(unsigned from, const struct setting_key *key)
{
    return key && !(key->not_from & from) && (!(from & FROM_UNTRUSTED) || key->untrusted_ok);
}

static struct json *part_at(struct arena *a, const struct json *tree, const char *path,
                            unsigned from, struct strbuf *left_out)
{
    struct json *kept = json_new(a, JSON_OBJECT);

    json_each (member, tree) {
        struct str below = member_path(a, path, member);
        const struct setting_key *key = setting_key_find(below);

        if (str_is(below, "$schema"))
            continue;
        if (!can_set(from, key))
            strbuf_addf(left_out, "%s%s", left_out->n ? ", " : "", below.p);
        else if (key->type == SETTING_OBJECT && member->type == JSON_OBJECT)
            json_set_key(a, kept, member->key, part_at(a, member, below.p, from, left_out));
        else
            json_set_key(a, kept, member->key, json_copy(a, member));
    }
    return kept;
}

struct json *settings_part(struct arena *a, const struct json *tree, unsigned from,
                           struct strbuf *left_out)
{
    return part_at(a, tree, "", from, left_out);
}
