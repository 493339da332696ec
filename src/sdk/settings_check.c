/* settings_check.c - types and trust, by the table of keys. */
#include "sdk/settings_check.h"

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
    for (const struct setting_key *k = setting_keys; k->path; k++)
        if (path_fits(str_of(k->path), path))
            return k;
    return NULL;
}

/* --- types --- */

static const char *const type_names[] = {
    [SETTING_STRING] = "a string",
    [SETTING_BOOL] = "true or false",
    [SETTING_INTEGER] = "an integer",
    [SETTING_NUMBER] = "a number",
    [SETTING_STRINGS] = "an array of strings",
    [SETTING_OBJECT] = "an object",
    [SETTING_ANY] = "anything",
};

static bool all_strings(const struct json *v)
{
    json_each (element, v)
        if (element->type != JSON_STRING)
            return false;
    return v->type == JSON_ARRAY;
}

static bool has_type(const struct json *v, enum setting_type type)
{
    int64_t integer;

    switch (type) {
    case SETTING_STRING:
        return v->type == JSON_STRING;
    case SETTING_BOOL:
        return v->type == JSON_BOOL;
    case SETTING_INTEGER:
        return json_int64(v, &integer);
    case SETTING_NUMBER:
        return v->type == JSON_NUMBER;
    case SETTING_STRINGS:
        return all_strings(v);
    case SETTING_OBJECT:
        return v->type == JSON_OBJECT;
    case SETTING_ANY:
        return true;
    }
    BUG("setting type");
}

static struct err *check_at(const struct json *tree, const char *file, struct arena *a,
                            const char *path)
{
    json_each (member, tree) {
        struct str below =
            arena_format(a, "%s%s%" STR_FMT, path, *path ? "." : "", STR_ARG(member->key));
        const struct setting_key *key = setting_key_find(below);

        if (!key)
            continue;
        if (!has_type(member, key->type))
            return err_hint(err_new(ERR_VALIDATION, "%s: \"%s\" must be %s, not %s", file, below.p,
                                    type_names[key->type], json_type_name(member->type)),
                            "%s: %s", key->path, key->help);
        if (key->type == SETTING_OBJECT)
            TRY(check_at(member, file, a, below.p));
    }
    return NULL;
}

struct err *settings_check(const struct json *tree, const char *file)
{
    AUTO(arena) struct arena a = {0};

    if (tree->type != JSON_OBJECT)
        return err_new(ERR_VALIDATION, "%s: must hold one JSON object, not %s", file,
                       json_type_name(tree->type));
    return check_at(tree, file, &a, "");
}

/* --- trust --- */

static struct json *filter(struct arena *a, const struct json *tree, const char *path,
                           struct strbuf *left_out)
{
    struct json *kept = json_new(a, JSON_OBJECT);

    json_each (member, tree) {
        struct str below =
            arena_format(a, "%s%s%" STR_FMT, path, *path ? "." : "", STR_ARG(member->key));
        const struct setting_key *key = setting_key_find(below);

        if (!key)
            continue; /* not ours: nobody will look at it */
        if (!key->untrusted_ok)
            strbuf_addf(left_out, "%s%s", left_out->n ? ", " : "", below.p);
        else if (key->type == SETTING_OBJECT)
            json_set_key(a, kept, member->key, filter(a, member, below.p, left_out));
        else
            json_set_key(a, kept, member->key, json_copy(a, member));
    }
    return kept;
}

struct json *settings_untrusted_part(struct arena *a, const struct json *tree,
                                     struct strbuf *left_out)
{
    return filter(a, tree, "", left_out);
}
