/* agent_rules.c - what an agent may do: rules and mode, from settings and flags. */
#include "sdk/agent_parts.h"

#include <limits.h>
#include <stdlib.h>

/* A rule of a file that is none is the gate's business: it counts where it forbids. */
static void add_setting(struct agent *a, struct texts *list, const char *path)
{
    json_each (pattern, settings_get(a->runtime->settings, path))
        texts_add(list, &a->arena, json_str(pattern));
}

static struct err *add_flags(struct agent *a, struct texts *list, const char *flag,
                             const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str pattern = arena_str(&a->arena, str_of(patterns[i]));

        if (!permission_pattern_is_valid(pattern))
            return err_hint(err_new(ERR_VALIDATION, "%s: \"%s\" is no rule", flag, patterns[i]),
                            "a rule is a tool's name, or one with a pattern: Read, Bash(git *)");
        texts_add(list, &a->arena, pattern);
    }
    return NULL;
}

/* What is forbidden altogether need not be shown either. */
static void hide_denied(struct agent *a, const struct texts *deny)
{
    struct texts bare = {0};

    for (size_t i = 0; i < deny->n; i++)
        if (str_find_char(deny->items[i], '(') == STR_NONE)
            texts_add(&bare, &a->arena, deny->items[i]);
    a->plan.filter.deny = bare.items;
    a->plan.filter.n_deny = bare.n;
}

static void show_only(struct agent *a, const struct agent_options *options)
{
    struct texts names = {0};

    for (size_t i = 0; i < options->n_tools; i++)
        texts_add(&names, &a->arena, arena_str(&a->arena, str_of(options->tools[i])));
    a->plan.filter.allows_all = !options->tools;
    a->plan.filter.allow = names.items;
    a->plan.filter.n_allow = names.n;
}

/* --- the mode --- */

static bool is_foreign(enum layer l)
{
    return l == LAYER_CLAUDE || l == LAYER_CLAUDE_USER;
}

struct err *agent_find_mode(const char *where, struct str name, enum permission_mode *ret_mode)
{
    if (permission_mode_find(name, ret_mode))
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "%s: there is no mode \"%" STR_FMT "\"", where, STR_ARG(name)),
        "one of: plan, default, acceptEdits, bypassPermissions (or safe, moderate, full)");
}

/* Another program may have modes that keel does not know; it then has its default. */
static struct err *choose_mode(struct agent *a, const char *flag)
{
    static const char path[] = "permissions.defaultMode";
    const struct settings *s = a->runtime->settings;
    struct str name = json_str(settings_get(s, path));
    struct err *e;

    a->plan.mode = MODE_DEFAULT;
    if (flag)
        return agent_find_mode("--permission-mode", str_of(flag), &a->plan.mode);
    e = name.n ? agent_find_mode(path, name, &a->plan.mode) : NULL;
    if (!e || !is_foreign(settings_origin(s, path).layer))
        return e;
    err_free(e);
    return NULL;
}

/* Besides the workspace, tools write to what was added. */
static void open_added_dirs(struct agent *a, const struct agent_options *options)
{
    const char **dirs = ARENA_ARRAY(&a->arena, options->n_added_dirs, const char *);
    char real[PATH_MAX];

    for (size_t i = 0; i < options->n_added_dirs; i++)
        dirs[i] = arena_cstr(
            &a->arena,
            str_of(realpath(options->added_dirs[i], real) ? real : options->added_dirs[i]));
    a->gate.policy.writable = dirs;
    a->gate.policy.n_writable = options->n_added_dirs;
}

struct err *agent_set_rules(struct agent *a, const struct agent_options *options)
{
    struct texts allow = {0}, ask = {0}, deny = {0};

    add_setting(a, &allow, "permissions.allow");
    add_setting(a, &ask, "permissions.ask");
    add_setting(a, &deny, "permissions.deny");
    TRY(add_flags(a, &allow, "--allowed-tools", options->allowed, options->n_allowed));
    TRY(add_flags(a, &deny, "--disallowed-tools", options->disallowed, options->n_disallowed));
    TRY(choose_mode(a, options->mode));
    hide_denied(a, &deny);
    show_only(a, options);
    permission_gate_init(&a->gate, &(struct permission_rules){
                                       .allow = allow.items,
                                       .n_allow = allow.n,
                                       .ask = ask.items,
                                       .n_ask = ask.n,
                                       .deny = deny.items,
                                       .n_deny = deny.n,
                                       .environment = a->runtime->options.environment,
                                   });
    open_added_dirs(a, options);
    return NULL;
}
