/* config.c - reads "hooks" of a settings file: events, their groups, the hooks of a group. */
#include "hook/config.h"

#include "base/alike.h"
#include "base/utf8.h"
#include "hook/config_check.h"

#define MAX_LABEL_BYTES 120

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

/* One file being read. */
struct reader {
    struct hook_config *config;
    struct arena *arena; /* the configuration's */
    struct hook_checker checker;
    bool is_project;
    bool names_are_regex;
    const struct hook_tools *tools; /* NULL: not known */
};

static void warn(struct reader *r, struct str text)
{
    struct hook_config *c = r->config;

    c->warnings =
        arena_grow(r->arena, c->warnings, c->n_warnings, &c->warnings_room, sizeof *c->warnings);
    c->warnings[c->n_warnings++] = text;
}

/* What is wrong in a foreign file is left out there, and nothing else. */
static struct err *leave_out(struct reader *r, struct err *take_error)
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
    struct str what = hook_main_text(r->arena, hook);
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

    TRY(hook_check_hook(&r->checker, event, hook));
    if (list->n == HOOK_MAX_PER_EVENT)
        return hook_wrong(&r->checker, "has more than %d hooks", HOOK_MAX_PER_EVENT);
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

#define SERVER_TOOL "mcp__"

static bool is_tool(const struct hook_tools *t, struct str name)
{
    for (size_t i = 0; i < t->n; i++)
        if (str_eq(name, t->names[i]))
            return true;
    return str_starts(name, S(SERVER_TOOL));
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

/* A hook that guards something and is misspelt would guard nothing, in silence. */
static void check_matcher(struct reader *r, enum hook_event event, struct str pattern,
                          const struct matcher *m)
{
    const char *field = hook_event_info(event)->match_field;
    struct str names = matcher_names(m), name;

    if (!r->tools || !field || strcmp(field, "tool_name") != 0)
        return;
    while (str_split(&names, '|', &name))
        check_name(r, name);
    if (!matcher_names(m).n && !matches_some(r->tools, m) &&
        str_find(pattern, S(SERVER_TOOL)) == STR_NONE)
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

    TRY(hook_check_group(&r->checker, event, group));
    TRY(make_matcher(r, event, group, &matcher));
    json_each (hook, json_get(group, "hooks")) {
        r->checker.path = arena_format(r->arena, "%s.hooks[%zu]", path, i++).p;
        TRY(leave_out(r, read_hook(r, event, group, hook, matcher)));
    }
    return NULL;
}

static struct err *read_event(struct reader *r, const struct json *groups)
{
    enum hook_event event;
    const char *path = r->checker.path;
    size_t i = 0;

    if (r->checker.is_foreign && !hook_event_find(groups->key, &event))
        return NULL; /* another program's own: what is used of its files is told elsewhere */
    TRY(hook_check_event(&r->checker, groups, &event));
    json_each (group, groups) {
        r->checker.path = arena_format(r->arena, "%s[%zu]", path, i++).p;
        TRY(leave_out(r, read_group(r, event, group)));
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
        return leave_out(
            &r, hook_wrong(&r.checker, "must be an object, not %s", json_type_name(hooks->type)));
    hooks = json_copy(&c->arena, hooks);
    json_each (groups, hooks) {
        r.checker.path = arena_format(&c->arena, "hooks.%" STR_FMT, STR_ARG(groups->key)).p;
        TRY(leave_out(&r, read_event(&r, groups)));
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
