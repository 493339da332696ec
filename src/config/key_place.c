/* key_place.c - looks through settings and variables; no key is read here. */
#include "config/key_place.h"

/* --- variables --- */

static struct str first_set(const char *names, const char *const *environment)
{
    struct str rest = str_of(names), name;

    while (rest.n && str_split(&rest, ' ', &name))
        if (env_get(environment, name).n)
            return name;
    return (struct str){0};
}

struct str vendor_key_variable(const struct vendor *v, const char *const *environment)
{
    struct str token = first_set(v->token_env, environment);

    return token.n ? token : first_set(v->key_env, environment);
}

/* --- settings --- */

static const struct json *profile_of(const struct json *tree, struct str id)
{
    return json_get_str(json_get(tree, "providers"), id);
}

const struct vendor *profile_vendor(const struct settings *s, const char *const *environment,
                                    struct str id)
{
    struct str type = json_get_text(profile_of(settings_root(s), id), "type");

    if (env_is_reference(type))
        type = env_resolve(type, environment);
    return vendor_find(type.n ? type : id);
}

/* --- all together --- */

static bool find_in_profile(const struct settings *s, struct str id, struct arena *a,
                            struct key_place *p)
{
    const struct json *key = json_get(profile_of(settings_root(s), id), "apiKey");
    struct str helper = json_get_text(profile_of(settings_root(s), id), "apiKeyHelper");

    if (key) {
        p->kind = KEY_IN_SETTINGS;
        p->name = arena_format(a, "providers.%" STR_FMT ".apiKey", STR_ARG(id));
        p->text = key->text;
    } else if (helper.n) {
        p->kind = KEY_BY_HELPER;
        p->name = arena_format(a, "providers.%" STR_FMT ".apiKeyHelper", STR_ARG(id));
        p->text = helper;
    }
    return p->kind != KEY_NOWHERE;
}

static bool find_in_variables(const struct vendor *v, const char *const *environment,
                              struct key_place *p)
{
    struct str variable = vendor_key_variable(v, environment);

    if (variable.n == 0)
        return false;
    p->kind = KEY_IN_VARIABLE;
    p->name = p->text = variable;
    if (v->token_env && str_is(variable, v->token_env))
        p->auth = AUTH_BEARER;
    return true;
}

/* A variable that is not set: to be named when a key is missing. */
static struct str usual_variable(const struct vendor *v)
{
    struct str rest = str_of(v->key_env), name = {0};

    str_split(&rest, ' ', &name);
    return name;
}

struct key_place key_place_find(const struct settings *s, const char *const *environment,
                                struct str id, const struct vendor *v, enum auth_style auth,
                                struct arena *a)
{
    struct key_place p = {.auth = auth};
    struct str helper = json_get_text(settings_root(s), "apiKeyHelper");

    if (find_in_profile(s, id, a, &p) || !v || v->key_need == KEY_NONE ||
        find_in_variables(v, environment, &p))
        return p;
    if (helper.n && v->takes_helper)
        return (struct key_place){KEY_BY_HELPER, S("apiKeyHelper"), helper, AUTH_BOTH};
    if (v->auth == AUTH_AWS)
        return (struct key_place){KEY_BY_AWS, S("the AWS credentials"), {0}, AUTH_AWS};
    if (v->auth == AUTH_GOOGLE)
        return (struct key_place){KEY_BY_GOOGLE, S("the Google credentials"), {0}, AUTH_GOOGLE};
    p.name = usual_variable(v);
    return p;
}
