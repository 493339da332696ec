/* config_check.c - keys and types of "hooks", by table. */
#include "hook/config_check.h"

#include "hook/config.h"
#include "net/url.h"

struct err *hook_wrong(const struct hook_checker *c, const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    return err_new(ERR_VALIDATION, "%s: \"%s\" %s", c->file, c->path, strbuf_cstr(&text));
}

/* --- keys --- */

enum key_kind { IS_TEXT, IS_SECONDS, IS_BOOL, IS_TEXTS /* an object of strings */, IS_ANY };

struct key {
    const char *name;
    enum key_kind kind;
    bool is_required;
};

static const char *const kind_names[] = {
    [IS_TEXT] = "a string",
    [IS_SECONDS] = "a number of seconds greater than 0 and at most 3600",
    [IS_BOOL] = "true or false",
    [IS_TEXTS] = "an object of strings",
    [IS_ANY] = "anything",
};

static bool all_texts(const struct json *v)
{
    json_each (member, v)
        if (member->type != JSON_STRING || member->key.n == 0)
            return false;
    return v->type == JSON_OBJECT;
}

static bool has_kind(const struct json *v, enum key_kind kind)
{
    double seconds;

    switch (kind) {
    case IS_TEXT:
        return v->type == JSON_STRING;
    case IS_SECONDS:
        return json_double(v, &seconds) && seconds > 0 && seconds <= HOOK_MAX_TIMEOUT_MS / 1000.0;
    case IS_BOOL:
        return v->type == JSON_BOOL;
    case IS_TEXTS:
        return all_texts(v);
    case IS_ANY:
        return true;
    }
    BUG("a key of no known kind");
}

static struct err *check_key(const struct hook_checker *c, const struct json *object,
                             const struct key *key)
{
    const struct json *value = json_get(object, key->name);

    if (!value && key->is_required)
        return hook_wrong(c, "has no \"%s\"", key->name);
    if (!value)
        return NULL;
    if (!has_kind(value, key->kind))
        return hook_wrong(c, "is not valid: \"%s\" must be %s, not %s", key->name,
                          kind_names[key->kind], json_type_name(value->type));
    if (key->kind == IS_TEXT && memchr(value->text.p, '\0', value->text.n))
        return hook_wrong(c, "is not valid: \"%s\" contains a NUL character", key->name);
    if (key->is_required && key->kind == IS_TEXT && str_trim(value->text).n == 0)
        return hook_wrong(c, "is not valid: \"%s\" is empty", key->name);
    return NULL;
}

static bool is_listed(const struct key *keys, struct str name)
{
    for (; keys->name; keys++)
        if (str_is(name, keys->name))
            return true;
    return false;
}

/* Claude Code runs such a hook for some calls only, or without waiting for it. */
static bool changes_meaning(struct str key)
{
    return str_is(key, "if") || str_is(key, "async") || str_is(key, "asyncRewake");
}

static struct err *check_keys(const struct hook_checker *c, const struct json *object,
                              const struct key *common, const struct key *own)
{
    json_each (member, object)
        if (!is_listed(common, member->key) && !is_listed(own, member->key) &&
            (!c->is_foreign || changes_meaning(member->key)))
            return hook_wrong(c, "has an unknown key \"%" STR_FMT "\"", STR_ARG(member->key));
    for (; common->name; common++)
        TRY(check_key(c, object, common));
    for (; own->name; own++)
        TRY(check_key(c, object, own));
    return NULL;
}

/* --- types of hooks --- */

static const struct key hook_keys[] = {
    {"type", IS_TEXT, true},
    {"timeout", IS_SECONDS},
    {"failClosed", IS_BOOL},
    {"statusMessage", IS_TEXT},
    {0},
};

/* The first key is what the hook runs. */
static const struct key command_keys[] = {{"command", IS_TEXT, true}, {0}};
static const struct key http_keys[] = {
    {"url", IS_TEXT, true}, {"method", IS_TEXT}, {"headers", IS_TEXTS}, {0}};
static const struct key callback_keys[] = {{"callback", IS_TEXT, true}, {0}};
static const struct key prompt_keys[] = {{"prompt", IS_TEXT, true}, {"model", IS_TEXT}, {0}};
static const struct key agent_keys[] = {{"agent", IS_TEXT, true}, {"config", IS_ANY}, {0}};

static const struct {
    const char *type;
    const struct key *keys;
} types[] = {
    {"command", command_keys}, {"http", http_keys},   {"callback", callback_keys},
    {"prompt", prompt_keys},   {"agent", agent_keys},
};

static const struct key *find_keys(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(type, types[i].type))
            return types[i].keys;
    return NULL;
}

struct str hook_main_text(struct arena *a, const struct json *hook)
{
    const struct key *keys = find_keys(json_get_text(hook, "type"));
    struct str text = json_get_text(hook, keys[0].name);

    return keys == http_keys ? url_redact(a, text) : text;
}

static struct err *check_url(const struct hook_checker *c, struct str text)
{
    AUTO(arena) struct arena a = {0};
    struct url url;
    struct err *e = url_parse(&a, text, &url);

    if (e)
        return err_wrap(e, "%s: \"%s.url\"", c->file, c->path);
    if (!str_is(url.scheme, "http") && !str_is(url.scheme, "https"))
        return hook_wrong(c, "is not valid: \"url\" must begin with http:// or https://");
    return NULL;
}

/* Where nothing is blocked when a hook fails, to say so would be a promise that does not hold. */
static struct err *check_closed(const struct hook_checker *c, enum hook_event event,
                                const struct json *object)
{
    if (event != HOOK_PRE_TOOL_USE && json_bool(json_get(object, "failClosed"), false))
        return hook_wrong(c, "is not valid: \"failClosed\" is for PreToolUse only");
    return NULL;
}

struct err *hook_check_hook(const struct hook_checker *c, enum hook_event event,
                            const struct json *hook)
{
    const struct key *keys;

    if (hook->type != JSON_OBJECT)
        return hook_wrong(c, "must be an object, not %s", json_type_name(hook->type));
    TRY(check_key(c, hook, &hook_keys[0]));
    keys = find_keys(json_get_text(hook, "type"));
    if (!keys)
        return err_hint(
            hook_wrong(c, "has an unknown type: %" STR_FMT, STR_ARG(json_get_text(hook, "type"))),
            "one of: command, http, callback, prompt, agent");
    TRY(check_keys(c, hook, hook_keys, keys));
    if (keys == http_keys)
        TRY(check_url(c, json_get_text(hook, "url")));
    return check_closed(c, event, hook);
}

/* --- groups and events --- */

static const struct key group_keys[] = {
    {"matcher", IS_TEXT},    {"hooks", IS_ANY, true}, {"timeout", IS_SECONDS},
    {"failClosed", IS_BOOL}, {"env", IS_TEXTS},       {0},
};

static struct err *check_variables(const struct hook_checker *c, const struct json *env)
{
    json_each (variable, env)
        if (memchr(variable->key.p, '=', variable->key.n) ||
            memchr(variable->key.p, '\0', variable->key.n))
            return hook_wrong(c, "is not valid: \"env\" contains a name with '=' or NUL in it");
    return NULL;
}

struct err *hook_check_group(const struct hook_checker *c, enum hook_event event,
                             const struct json *group)
{
    static const struct key no_more[] = {{0}};

    if (group->type != JSON_OBJECT)
        return hook_wrong(c, "must be an object, not %s", json_type_name(group->type));
    TRY(check_keys(c, group, group_keys, no_more));
    if (!json_is(json_get(group, "hooks"), JSON_ARRAY))
        return hook_wrong(c, "is not valid: \"hooks\" must be an array of hooks");
    TRY(check_variables(c, json_get(group, "env")));
    return check_closed(c, event, group);
}

static struct err *unknown_event(const struct hook_checker *c)
{
    AUTO(strbuf) struct strbuf names = {0};

    for (int e = 0; e < HOOK_N_EVENTS; e++)
        strbuf_addf(&names, "%s%s", e ? ", " : "", hook_event_name((enum hook_event)e));
    return err_hint(hook_wrong(c, "is not a hook event"), "one of: %s", strbuf_cstr(&names));
}

struct err *hook_check_event(const struct hook_checker *c, const struct json *groups,
                             enum hook_event *ret_event)
{
    if (!hook_event_find(groups->key, ret_event))
        return unknown_event(c);
    if (groups->type != JSON_ARRAY)
        return hook_wrong(c, "must be an array of groups, not %s", json_type_name(groups->type));
    return NULL;
}
