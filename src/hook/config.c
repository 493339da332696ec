/* config.c - checks and reads "hooks" of a settings file: events, their groups, the hooks of a
 * group. */
#include "hook/config.h"

#include "base/alike.h"
#include "base/utf8.h"
#include "net/url.h"
#include "port/mcp_name.h"

#define MAX_LABEL_BYTES 120

/* --- keys and types, by table ---
 *
 * Errors name file and key. In a foreign file unknown keys are fine, except those that restrict a
 * hook: it must not run without the restriction. */

struct hook_checker {
    const char *file;
    const char *path; /* of what is being looked at: hooks.PreToolUse[0].hooks[1] */
    bool is_foreign;
};

NEVER_NULL PRINTF_LIKE(2, 3) static struct err *wrong(const struct hook_checker *c,
                                                      const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    return err_new(ERR_VALIDATION, "%s: \"%s\" %s", c->file, c->path, strbuf_cstr(&text));
}

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
        return wrong(c, "has no \"%s\"", key->name);
    if (!value)
        return NULL;
    if (!has_kind(value, key->kind))
        return wrong(c, "is not valid: \"%s\" must be %s, not %s", key->name, kind_names[key->kind],
                     json_type_name(value->type));
    if (key->kind == IS_TEXT && memchr(value->text.p, '\0', value->text.n))
        return wrong(c, "is not valid: \"%s\" contains a NUL character", key->name);
    if (key->is_required && key->kind == IS_TEXT && str_trim(value->text).n == 0)
        return wrong(c, "is not valid: \"%s\" is empty", key->name);
    return NULL;
}

static bool is_listed(const struct key *keys, struct str name)
{
    for (; keys->name; keys++)
        if (str_is(name, keys->name))
            return true;
    return false;
}

/* Claude Code runs such a hook only for some calls, or does not wait for it. */
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
            return wrong(c, "has an unknown key \"%" STR_FMT "\"", STR_ARG(member->key));
    for (; common->name; common++)
        TRY(check_key(c, object, common));
    for (; own->name; own++)
        TRY(check_key(c, object, own));
    return NULL;
}

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

static struct str main_text(struct arena *a, const struct json *hook)
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
        return wrong(c, "is not valid: \"url\" must begin with http:// or https://");
    return NULL;
}

/* Only PreToolUse is blocked when a hook fails: elsewhere the key would promise too much. */
static struct err *check_closed(const struct hook_checker *c, enum hook_event event,
                                const struct json *object)
{
    if (event != HOOK_PRE_TOOL_USE && json_bool(json_get(object, "failClosed"), false))
        return wrong(c, "is not valid: \"failClosed\" is for PreToolUse only");
    return NULL;
}

static struct err *check_hook(const struct hook_checker *c, enum hook_event event,
                              const struct json *hook)
{
    const struct key *keys;

    if (hook->type != JSON_OBJECT)
        return wrong(c, "must be an object, not %s", json_type_name(hook->type));
    TRY(check_key(c, hook, &hook_keys[0]));
    keys = find_keys(json_get_text(hook, "type"));
    if (!keys)
        return err_hint(
            wrong(c, "has an unknown type: %" STR_FMT, STR_ARG(json_get_text(hook, "type"))),
            "one of: command, http, callback, prompt, agent");
    TRY(check_keys(c, hook, hook_keys, keys));
    if (keys == http_keys)
        TRY(check_url(c, json_get_text(hook, "url")));
    return check_closed(c, event, hook);
}

static const struct key group_keys[] = {
    {"matcher", IS_TEXT},    {"hooks", IS_ANY, true}, {"timeout", IS_SECONDS},
    {"failClosed", IS_BOOL}, {"env", IS_TEXTS},       {0},
};

static struct err *check_variables(const struct hook_checker *c, const struct json *env)
{
    json_each (variable, env)
        if (memchr(variable->key.p, '=', variable->key.n) ||
            memchr(variable->key.p, '\0', variable->key.n))
            return wrong(c, "is not valid: \"env\" contains a name with '=' or NUL in it");
    return NULL;
}

static struct err *check_group(const struct hook_checker *c, enum hook_event event,
                               const struct json *group)
{
    static const struct key no_more[] = {{0}};

    if (group->type != JSON_OBJECT)
        return wrong(c, "must be an object, not %s", json_type_name(group->type));
    TRY(check_keys(c, group, group_keys, no_more));
    if (!json_is(json_get(group, "hooks"), JSON_ARRAY))
        return wrong(c, "is not valid: \"hooks\" must be an array of hooks");
    TRY(check_variables(c, json_get(group, "env")));
    return check_closed(c, event, group);
}

static struct err *check_event(const struct hook_checker *c, const struct json *groups,
                               enum hook_event *ret_event)
{
    AUTO(strbuf) struct strbuf names = {0};

    if (hook_event_find(groups->key, ret_event))
        return groups->type == JSON_ARRAY
                   ? NULL
                   : wrong(c, "must be an array of groups, not %s", json_type_name(groups->type));
    for (int e = 0; e < HOOK_N_EVENTS; e++)
        strbuf_addf(&names, "%s%s", e ? ", " : "", hook_event_name((enum hook_event)e));
    return err_hint(wrong(c, "is not a hook event"), "one of: %s", strbuf_cstr(&names));
}

/* --- the configuration --- */

struct hook_config {
    struct arena arena;
    struct hook_list events[HOOK_N_EVENTS];
    struct matcher **matchers;
    size_t n_matchers, matchers_room;
    struct str *warnings;
    size_t n_warnings, warnings_room;
};

struct hook_config *hook_config_new(void)
{
    return mem_alloc(sizeof(struct hook_config));
}

void hook_config_free(struct hook_config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n_matchers; i++)
        matcher_free(c->matchers[i]);
    arena_done(&c->arena);
    mem_free(c);
}

/* The state of reading one file. */
struct reader {
    struct hook_config *config;
    struct arena *arena; /* the configuration's */
    struct hook_checker checker;
    bool is_project;
    bool names_are_regex;
    const struct hook_tools *tools; /* NULL: unknown */
};

static void warn(struct reader *r, struct str text)
{
    struct hook_config *c = r->config;

    c->warnings =
        arena_grow(r->arena, c->warnings, c->n_warnings, &c->warnings_room, sizeof *c->warnings);
    c->warnings[c->n_warnings++] = text;
}

/* In a file of another program, an invalid entry is ignored with a warning. */
static struct err *ignore_if_foreign(struct reader *r, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = NULL;

    if (!e || !r->checker.is_foreign)
        return TAKE(e);
    text = err_message(e);
    warn(r, arena_format(r->arena, "%s (ignored)", text));
    return NULL;
}

/* --- one hook --- */

static struct str label_of(struct reader *r, const struct json *hook)
{
    struct str what = main_text(r->arena, hook);
    struct str line = str_slice(what, 0, str_find_char(what, '\n')), cut;

    cut = utf8_truncate(line, MAX_LABEL_BYTES);
    return arena_format(r->arena, "%" STR_FMT " \"%" STR_FMT "%s\" of %s",
                        STR_ARG(json_get_text(hook, "type")), STR_ARG(cut),
                        cut.n < what.n ? "..." : "", r->checker.file);
}

static const struct json *first_of(const struct json *hook, const struct json *group,
                                   const char *key)
{
    const struct json *own = json_get(hook, key);

    return own ? own : json_get(group, key);
}

static uint64_t timeout_of(const struct json *value)
{
    double seconds = 0;

    if (!json_double(value, &seconds))
        return HOOK_DEFAULT_TIMEOUT_MS;
    return MAX((uint64_t)(seconds * 1000), 1);
}

static struct err *read_hook(struct reader *r, enum hook_event event, const struct json *group,
                             const struct json *hook, const struct matcher *matcher)
{
    struct hook_list *list = &r->config->events[event];

    TRY(check_hook(&r->checker, event, hook));
    if (list->n == HOOK_MAX_PER_EVENT)
        return wrong(&r->checker, "has more than %d hooks", HOOK_MAX_PER_EVENT);
    list->items = arena_grow(r->arena, list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = (struct hook_def){
        .type = json_get_text(hook, "type"),
        .label = label_of(r, hook),
        .definition = hook,
        .env = json_get(group, "env"),
        .timeout_ms = timeout_of(first_of(hook, group, "timeout")),
        .fails_closed = json_bool(first_of(hook, group, "failClosed"), false),
        .is_project = r->is_project,
        .matcher = matcher,
    };
    return NULL;
}

/* --- matchers that never match --- */

static bool is_tool(const struct hook_tools *t, struct str name)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(name, t->names[i]))
            return true;
    return mcp_name_is(name);
}

static void check_name(struct reader *r, struct str name)
{
    struct alike near = {.word = name};

    if (is_tool(r->tools, name))
        return;
    for (size_t i = 0; i < r->tools->n_own; i++)
        alike_try(&near, r->tools->names[i]);
    warn(r, arena_format(r->arena,
                         "%s: \"%s.matcher\": unknown tool \"%" STR_FMT
                         "\", so these hooks never run for it%s%" STR_FMT "%s",
                         r->checker.file, r->checker.path, STR_ARG(name),
                         near.best.n ? "; did you mean " : "", STR_ARG(near.best),
                         near.best.n ? "?" : ""));
}

static bool matches_some(const struct hook_tools *t, const struct matcher *m)
{
    for (size_t i = 0; i < t->n; i++)
        if (matcher_matches(m, t->names[i]))
            return true;
    return false;
}

/* A misspelt matcher would silently guard nothing. */
static void check_matcher(struct reader *r, enum hook_event event, struct str pattern,
                          const struct matcher *m)
{
    const char *field = hook_event_info(event)->match_field;
    struct str names = matcher_names(m), name;

    if (!r->tools || !field || strcmp(field, "tool_name") != 0)
        return;
    while (str_split(&names, '|', &name))
        check_name(r, name);
    if (!matcher_names(m).n && !matches_some(r->tools, m) && !mcp_name_is_in(pattern))
        warn(r, arena_format(r->arena,
                             "%s: \"%s.matcher\": \"%" STR_FMT
                             "\" matches no known tool, so these hooks never run; to name two "
                             "tools: \"Edit|Write\"",
                             r->checker.file, r->checker.path,
                             STR_ARG(utf8_truncate(pattern, MAX_LABEL_BYTES))));
}

/* --- groups and events --- */

static struct err *make_matcher(struct reader *r, enum hook_event event, const struct json *group,
                                const struct matcher **ret_matcher)
{
    struct hook_config *c = r->config;
    struct str pattern = json_get_text(group, "matcher");
    struct matcher *m;
    struct err *e;

    if (!hook_event_info(event)->match_field) {
        if (pattern.n && !str_is(pattern, "*"))
            warn(r, arena_format(r->arena, "%s: \"%s.matcher\" is ignored: %s has no matcher",
                                 r->checker.file, r->checker.path, hook_event_name(event)));
        pattern = S("");
    }
    e = matcher_new(pattern, r->names_are_regex, &m);
    if (e)
        return err_wrap(e, "%s: \"%s.matcher\"", r->checker.file, r->checker.path);
    c->matchers =
        arena_grow(r->arena, c->matchers, c->n_matchers, &c->matchers_room, sizeof *c->matchers);
    c->matchers[c->n_matchers++] = m;
    check_matcher(r, event, pattern, m);
    *ret_matcher = m;
    return NULL;
}

static struct err *read_group(struct reader *r, enum hook_event event, const struct json *group)
{
    const char *path = r->checker.path;
    const struct matcher *matcher;
    size_t i = 0;

    TRY(check_group(&r->checker, event, group));
    TRY(make_matcher(r, event, group, &matcher));
    json_each (hook, json_get(group, "hooks")) {
        r->checker.path = arena_format(r->arena, "%s.hooks[%zu]", path, i++).p;
        TRY(ignore_if_foreign(r, read_hook(r, event, group, hook, matcher)));
    }
    return NULL;
}

static struct err *read_event(struct reader *r, const struct json *groups)
{
    enum hook_event event;
    const char *path = r->checker.path;
    size_t i = 0;

    if (r->checker.is_foreign && !hook_event_find(groups->key, &event))
        return NULL; /* an event of another program, which is reported elsewhere */
    TRY(check_event(&r->checker, groups, &event));
    json_each (group, groups) {
        r->checker.path = arena_format(r->arena, "%s[%zu]", path, i++).p;
        TRY(ignore_if_foreign(r, read_group(r, event, group)));
    }
    return NULL;
}

struct err *hook_config_add(struct hook_config *c, const struct json *hooks,
                            const struct hook_file *file)
{
    struct reader r = {.config = c,
                       .arena = &c->arena,
                       .is_project = file->is_project,
                       .names_are_regex = file->names_are_regex,
                       .tools = file->tools};

    r.checker = (struct hook_checker){.file = arena_cstr(&c->arena, str_of(file->name)),
                                      .path = "hooks",
                                      .is_foreign = file->is_foreign};
    if (!json_is(hooks, JSON_OBJECT))
        return ignore_if_foreign(
            &r, wrong(&r.checker, "must be an object, not %s", json_type_name(hooks->type)));
    hooks = json_copy(&c->arena, hooks);
    json_each (groups, hooks) {
        r.checker.path = arena_format(&c->arena, "hooks.%" STR_FMT, STR_ARG(groups->key)).p;
        TRY(ignore_if_foreign(&r, read_event(&r, groups)));
    }
    return NULL;
}

/* --- looking --- */

const struct hook_list *hook_config_list(const struct hook_config *c, enum hook_event e)
{
    return &c->events[e];
}

bool hook_config_is_empty(const struct hook_config *c)
{
    for (int e = 0; e < HOOK_N_EVENTS; e++)
        if (c->events[e].n)
            return false;
    return true;
}

size_t hook_config_n_warnings(const struct hook_config *c)
{
    return c->n_warnings;
}

struct str hook_config_warning(const struct hook_config *c, size_t index)
{
    return c->warnings[index];
}
