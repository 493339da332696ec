/* agent_rules.c - what an agent may do: rules and mode, from settings and flags. */
#include "sdk/agent_parts.h"

struct patterns {
    struct str *items;
    size_t n, room;
};

static void add_pattern(struct arena *a, struct patterns *list, struct str pattern)
{
    list->items = arena_grow(a, list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = pattern;
}

/* A rule of a file that is none is the gate's business: it counts where it forbids. */
static void add_setting(struct agent *a, struct patterns *list, const char *path)
{
    json_each (pattern, settings_get(a->runtime->settings, path))
        add_pattern(&a->arena, list, json_str(pattern));
}

static struct err *add_flags(struct agent *a, struct patterns *list, const char *flag,
                             const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str pattern = arena_str(&a->arena, str_of(patterns[i]));

        if (!permission_pattern_is_valid(pattern))
            return err_hint(err_new(ERR_VALIDATION, "%s: \"%s\" is no rule", flag, patterns[i]),
                            "a rule is a tool's name, or one with a pattern: Read, Bash(git *)");
        add_pattern(&a->arena, list, pattern);
    }
    return NULL;
}

/* What is forbidden altogether need not be shown either. */
static void hide_denied(struct agent *a, const struct patterns *deny)
{
    struct patterns bare = {0};

    for (size_t i = 0; i < deny->n; i++)
        if (str_find_char(deny->items[i], '(') == STR_NONE)
            add_pattern(&a->arena, &bare, deny->items[i]);
    a->plan.filter.deny = bare.items;
    a->plan.filter.n_deny = bare.n;
}

static void show_only(struct agent *a, const struct agent_options *options)
{
    struct patterns names = {0};

    for (size_t i = 0; i < options->n_tools; i++)
        add_pattern(&a->arena, &names, arena_str(&a->arena, str_of(options->tools[i])));
    a->plan.filter.allows_all = !options->tools;
    a->plan.filter.allow = names.items;
    a->plan.filter.n_allow = names.n;
}

/* --- the mode --- */

static bool is_foreign(enum layer l)
{
    return l == LAYER_CLAUDE || l == LAYER_CLAUDE_USER;
}

/* Another program may have modes that keel does not know; it then has its default. */
static struct err *find_mode(const struct agent *a, const char *flag, enum permission_mode *ret)
{
    static const char path[] = "permissions.defaultMode";
    const struct settings *s = a->runtime->settings;
    struct setting_origin origin = settings_origin(s, path);
    struct str name = flag ? str_of(flag) : json_str(settings_get(s, path));

    *ret = MODE_DEFAULT;
    if ((!flag && name.n == 0) || permission_mode_find(name, ret))
        return NULL;
    if (!flag && is_foreign(origin.layer))
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "%s: there is no mode \"%" STR_FMT "\"",
                            flag ? "--permission-mode" : path, STR_ARG(name)),
                    "one of: plan, default, acceptEdits, bypassPermissions "
                    "(or safe, moderate, full)");
}

struct err *agent_set_rules(struct agent *a, const struct agent_options *options)
{
    struct patterns allow = {0}, ask = {0}, deny = {0};

    add_setting(a, &allow, "permissions.allow");
    add_setting(a, &ask, "permissions.ask");
    add_setting(a, &deny, "permissions.deny");
    TRY(add_flags(a, &allow, "--allowed-tools", options->allowed, options->n_allowed));
    TRY(add_flags(a, &deny, "--disallowed-tools", options->disallowed, options->n_disallowed));
    TRY(find_mode(a, options->mode, &a->plan.mode));
    hide_denied(a, &deny);
    show_only(a, options);
    permission_gate_init(&a->gate, &(struct permission_rules){
                                       .allow = allow.items,
                                       .n_allow = allow.n,
                                       .ask = ask.items,
                                       .n_ask = ask.n,
                                       .deny = deny.items,
                                       .n_deny = deny.n,
                                   });
    return NULL;
}
