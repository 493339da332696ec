/* rule_set.c - collects rules, mode and lists from all who may say something about them. */
#include "sdk/agent/rule_set.h"

#include "config/settings_keys.h"
#include "gate/shell/charset.h"
#include "net/host_pattern.h"
#include "sandbox/plan/plan.h"
#include "sandbox/sandbox.h"
#include "sdk/agent/parts.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "tool/names.h"
#include "tool/shell/command.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

const struct setting_key rule_settings[] = {
    {"permissions", SETTING_OBJECT, .untrusted_ok = true, .help = "what tools may do"},
    {"permissions.allow", SETTING_STRINGS, MERGE_ADD, .help = "allowed without asking"},
    {"permissions.ask", SETTING_STRINGS, MERGE_ADD, .untrusted_ok = true, .help = "always asked"},
    {"permissions.deny", SETTING_STRINGS, MERGE_ADD, .untrusted_ok = true, .help = "never allowed"},
    {"permissions.defaultMode", SETTING_STRING, .help = PERMISSION_MODES},
    {"permissions.allowedCommands", SETTING_STRINGS, .untrusted_ok = true,
     .help = "only these commands run, in every mode: \"make\", \"git *\"; []: none"},
    {"permissions.allowedDomains", SETTING_STRINGS, .untrusted_ok = true,
     .help = "only these hosts and their subdomains are fetched; []: none"},
    {"permissions.additionalDirectories", SETTING_STRINGS,
     .help = "directories to work in besides the project, as with --add-dir"},
    {"permissions.lookingCommands", SETTING_STRING, .words = "auto, ask",
     .not_from = FROM_PROJECT | FROM_OTHERS,
     .help = "commands that only look (ls, git log): auto, or ask like others (auto)"},
    {"permissions.sandboxedCommands", SETTING_STRING, .words = "ask, auto",
     .not_from = FROM_PROJECT | FROM_OTHERS,
     .help = "all others, in the sandbox: ask as the mode requires, or auto (ask)"},
    {"permissions.onAsk", SETTING_STRING, .words = "deny, suspend",
     .help = "when no one can be asked: deny the call, or suspend the run"},
    {0},
};

const char *rule_kind_name(enum rule_kind k)
{
    static const char *const names[] = {"deny", "ask", "allow"};
    return names[k];
}

/* What is being made. */
struct rule_making {
    struct rule_set *set;
    struct arena *arena;
    const struct project *project;
    const struct agent_options *options;
};

static void add_rule(struct rule_making *m, const struct rule *rule)
{
    struct rule_set *s = m->set;

    s->rules = arena_grow(m->arena, s->rules, s->n, &s->room, sizeof *s->rules);
    s->rules[s->n++] = *rule;
}

static void warn(const struct rule_making *m, struct str text)
{
    struct rule_set *s = m->set;

    s->warnings =
        arena_grow(m->arena, s->warnings, s->n_warnings, &s->warnings_room, sizeof *s->warnings);
    s->warnings[s->n_warnings++] = text;
}

/* --- settings --- */

static struct rule_source source_of(const struct settings *s, enum layer l)
{
    struct rule_source source = {.layer = layer_name(l)};

    if (l == LAYER_FLAGS)
        source.where = S("--settings");
    else
        settings_layer(s, l, &source.where);
    return source;
}

/* NULL: it is a rule, and for a tool that there may be. */
static struct err *check_rule(const char *where, struct str text)
{
    AUTO(arena) struct arena a = {0};

    if (!permission_pattern_is_valid(text))
        return err_hint(err_new(ERR_VALIDATION, "%s: \"%" STR_FMT "\" is not a valid rule", where,
                                STR_ARG(text)),
                        "%s", permission_pattern_hint(&a, text));
    return tool_name_check(where, permission_pattern_tool(text));
}

static void warn_of(const struct rule_making *m, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = err_message(e);
    const char *hint = err_find_hint(e);

    warn(m, arena_format(m->arena, "%s%s%s%s", text, hint ? " (" : "", hint ? hint : "",
                         hint ? ")" : ""));
}

/* A misspelt rule of the person's own files is an error: where it forbids, it would forbid nothing.
 * Those of other programs and of a project that is not trusted are not ours to correct: they are
 * told, and the gate asks about what a broken one may have meant. */
static struct err *add_list(struct rule_making *m, const struct json *tree, struct rule rule,
                            bool is_strict)
{
    const struct json *permissions = json_get(tree, "permissions");
    const char *where = arena_format(m->arena, "%" STR_FMT ": permissions.%s",
                                     STR_ARG(rule.source.where), rule_kind_name(rule.kind))
                            .p;

    json_each (text, json_get(permissions, rule_kind_name(rule.kind))) {
        struct err *e = check_rule(where, json_str(text));

        if (e && is_strict)
            return e;
        if (e)
            warn_of(m, e);
        rule.text = json_str(text);
        add_rule(m, &rule);
    }
    return NULL;
}

/* From low to high, as they are merged. */
static struct err *add_settings(struct rule_making *m, enum rule_kind kind)
{
    const struct settings *s = m->project->settings;

    for (int l = N_LAYERS - 1; l >= 0; l--) {
        struct rule rule = {.kind = kind, .source = source_of(s, (enum layer)l)};
        const struct json *untrusted = settings_untrusted(s, (enum layer)l);
        struct str file;

        rule.is_untrusted = untrusted != NULL;
        rule.is_used = !untrusted || kind != RULE_ALLOW;
        TRY(add_list(m, untrusted ? untrusted : settings_layer(s, (enum layer)l, &file), rule,
                     !untrusted && !layer_is_foreign((enum layer)l)));
    }
    return NULL;
}

/* --- flags, and what goes without saying --- */

static struct err *add_flags(struct rule_making *m, enum rule_kind kind, const char *flag,
                             const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct rule rule = {.text = arena_str(m->arena, str_of(patterns[i])),
                            .kind = kind,
                            .source = {layer_name(LAYER_FLAGS), str_of(flag)},
                            .is_used = true};

        TRY(check_rule(flag, rule.text));
        add_rule(m, &rule);
    }
    return NULL;
}

/* What an agent is told to look at must not need a question. */
static void add_built_in(struct rule_making *m)
{
    static const struct str patterns[] = {
        S("Read(.agents/**)"), S("Read(.claude/**)"), S("Read(.keel/**)"), S("Read(.robota/**)"),
        S("Glob(.agents/**)"), S("Glob(.claude/**)"), S("Glob(.keel/**)"), S("Glob(.robota/**)"),
    };

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        add_rule(m, &(struct rule){.text = patterns[i],
                                   .kind = RULE_ALLOW,
                                   .source = {.layer = "built in"},
                                   .is_used = true});
}

static struct err *add_all(struct rule_making *m)
{
    const struct agent_options *o = m->options;

    TRY(add_settings(m, RULE_DENY));
    TRY(add_flags(m, RULE_DENY, "--disallowed-tools", o->disallowed, o->n_disallowed));
    TRY(add_settings(m, RULE_ASK));
    TRY(add_settings(m, RULE_ALLOW));
    TRY(add_flags(m, RULE_ALLOW, "--allowed-tools", o->allowed, o->n_allowed));
    add_built_in(m);
    return NULL;
}

const struct rule *rule_set_find(const struct rule_set *set, enum rule_kind kind, struct str text)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->rules[i].is_used && set->rules[i].kind == kind && str_eq(set->rules[i].text, text))
            return &set->rules[i];
    return NULL;
}

static void set_gate_rules(struct rule_making *m)
{
    struct texts lists[N_RULE_KINDS] = {0};
    bool *is_untrusted = ARENA_ARRAY(m->arena, m->set->n, bool);

    for (size_t i = 0; i < m->set->n; i++) {
        const struct rule *rule = &m->set->rules[i];

        if (!rule->is_used)
            continue;
        if (rule->kind == RULE_DENY)
            is_untrusted[lists[RULE_DENY].n] = rule->is_untrusted;
        texts_add(&lists[rule->kind], m->arena, rule->text);
    }
    m->set->gate_rules = (struct permission_rules){
        .allow = lists[RULE_ALLOW].items,
        .n_allow = lists[RULE_ALLOW].n,
        .ask = lists[RULE_ASK].items,
        .n_ask = lists[RULE_ASK].n,
        .deny = lists[RULE_DENY].items,
        .n_deny = lists[RULE_DENY].n,
        .deny_is_untrusted = is_untrusted,
        .environment = host_environment(m->project->host),
    };
}

/* --- commands in a sandbox --- */

static bool is_auto(const struct rule_making *m, const char *path, bool otherwise)
{
    struct str given = json_str(settings_get(m->project->settings, path));

    return given.n ? str_is(given, "auto") : otherwise;
}

static struct str locale_of(const char *const *environment)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    struct str locale = {0};

    for (size_t i = 0; i < ARRAY_LEN(names) && locale.n == 0; i++)
        locale = env_get(environment, str_of(names[i]));
    return locale;
}

/* In POSIX mode bash reads some lines otherwise, and so it does with some character sets. */
static void choose_shell(struct rule_making *m)
{
    const char *const *environment = host_environment(m->project->host);

    m->set->shell = shell_of(environment);
    m->set->gate_rules.other_shell = !shell_is_bash(m->set->shell, environment) ||
                                     env_find(environment, "POSIXLY_CORRECT") ||
                                     !shell_locale_is_plain(locale_of(environment));
}

/* Nothing runs without a question where there are no walls around it. */
static void set_sandboxed(struct rule_making *m)
{
    struct permission_rules *rules = &m->set->gate_rules;
    bool looks = is_auto(m, "permissions.lookingCommands", true);
    bool runs = is_auto(m, "permissions.sandboxedCommands", false);
    bool has_walls = (looks || runs) && sandbox_is_there(m->project->settings);

    rules->looks_freely = looks && has_walls;
    rules->commands_run_freely = runs && has_walls;
    add_rule(m, &(struct rule){.text = S(RULE_LOOKING),
                               .kind = RULE_ALLOW,
                               .source = {.layer = "built in"},
                               .is_class = true,
                               .is_used = rules->looks_freely && !rules->other_shell});
    if (runs)
        add_rule(m, &(struct rule){.text = S(RULE_SANDBOXED),
                                   .kind = RULE_ALLOW,
                                   .source = {.layer = layer_name(LAYER_USER)},
                                   .is_class = true,
                                   .is_used = rules->commands_run_freely});
}

/* --- the mode --- */

struct err *agent_find_mode(const char *where, struct str name, enum permission_mode *ret_mode)
{
    if (permission_mode_find(name, ret_mode))
        return NULL;
    return err_hint(
        err_new(ERR_VALIDATION, "%s: unknown mode \"%" STR_FMT "\"", where, STR_ARG(name)),
        "one of: " PERMISSION_MODES " (or safe, moderate, full)");
}

/* Another program may have modes that keel does not know; it then has its default. */
static struct err *choose_mode(struct rule_making *m)
{
    static const char path[] = "permissions.defaultMode";
    const struct settings *s = m->project->settings;
    struct str name = json_str(settings_get(s, path));
    struct setting_origin origin = settings_origin(s, path);
    struct err *e;

    m->set->mode = MODE_DEFAULT;
    m->set->mode_source = (struct rule_source){.layer = "built in"};
    if (m->options->mode) {
        m->set->mode_source = (struct rule_source){layer_name(LAYER_FLAGS), S("--permission-mode")};
        return agent_find_mode("--permission-mode", str_of(m->options->mode), &m->set->mode);
    }
    if (name.n == 0)
        return NULL;
    e = agent_find_mode(path, name, &m->set->mode);
    if (!e)
        m->set->mode_source = source_of(s, origin.layer);
    if (e && layer_is_foreign(origin.layer)) {
        err_ignore(e, "the note about that file says it once (settings_note.c)");
        return NULL;
    }
    return e && origin.file.n ? err_wrap(e, "%" STR_FMT, STR_ARG(origin.file)) : e;
}

/* --- the hard policy --- */

struct paths {
    const char **items;
    size_t n, room;
};

static void add_path(struct paths *list, struct arena *a, const char *path)
{
    list->items = arena_grow(a, list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = path;
}

/* From the project's root, as the rest of its settings count for all of it. */
static const char *directory_path(const struct rule_making *m, struct str given)
{
    const char *home = env_find(host_environment(m->project->host), "HOME");
    const char *path = arena_cstr(m->arena, given);

    if (home && (str_is(given, "~") || str_starts(given, S("~/"))))
        return arena_format(m->arena, "%s%s", home, path + 1).p;
    if (*path == '/' || !m->project->place.dir)
        return path;
    return fs_join(m->arena, m->project->place.dir, path);
}

/* One that is not there today is no reason not to work. */
static void add_directory(const struct rule_making *m, struct paths *list, struct str given)
{
    char real[PATH_MAX];

    if (given.n && realpath(directory_path(m, given), real) && fs_is_dir(real))
        add_path(list, m->arena, arena_cstr(m->arena, str_of(real)));
    else
        warn(m, arena_format(m->arena,
                             "permissions.additionalDirectories: \"%" STR_FMT
                             "\" is not a directory; ignored",
                             STR_ARG(given)));
}

static void find_directories(struct rule_making *m)
{
    struct paths list = {0};

    for (size_t i = 0; i < m->options->n_added_dirs; i++) {
        const char *given = m->options->added_dirs[i];
        AUTO_FREE char *real = realpath(given, NULL);

        add_path(&list, m->arena, arena_cstr(m->arena, str_of(real ? real : given)));
    }
    json_each (given, settings_get(m->project->settings, "permissions.additionalDirectories"))
        add_directory(m, &list, json_str(given));
    m->set->added_dirs = list.items;
    m->set->n_added_dirs = list.n;
}

static struct texts list_of(const struct rule_making *m, const char *path, bool *ret_is_set)
{
    const struct json *list = settings_get(m->project->settings, path);
    struct texts texts = {0};

    json_each (text, list)
        texts_add(&texts, m->arena, json_str(text));
    *ret_is_set = list != NULL;
    return texts;
}

/* What variables name in the workspace is part of it, as a dotenv file is. */
static bool is_opened(const struct rule_making *m, const char *path)
{
    const char *cwd = m->project->place.cwd;
    bool is_open = cwd && path_is_in(path, cwd);

    for (size_t i = 0; i < m->set->n_added_dirs && !is_open; i++)
        is_open = path_is_in(path, m->set->added_dirs[i]);
    return is_open;
}

static void set_secrets(struct rule_making *m, const char *home, const char *keel_home)
{
    struct path_list all = {.arena = m->arena}, named = {.arena = m->arena};
    const char *const *places;
    size_t n;

    places = sandbox_secret_places(m->arena, home, keel_home, &n);
    for (size_t i = 0; i < n; i++)
        path_list_add(&all, places[i]);
    sandbox_find_named_secrets(&named, host_environment(m->project->host), home,
                               m->project->place.cwd);
    for (size_t i = 0; i < named.n; i++)
        if (!is_opened(m, named.paths[i]))
            path_list_add(&all, named.paths[i]);
    m->set->policy.secret = all.paths;
    m->set->policy.n_secret = all.n;
}

/* One that is no host matches none, and would forbid all of them in silence. */
static void check_domains(const struct rule_making *m, const struct hard_policy *p)
{
    struct host_pattern pattern;

    for (size_t i = 0; i < p->n_domains; i++)
        if (!host_pattern_parse(m->arena, p->domains[i], &pattern))
            warn(m, arena_format(m->arena,
                                 "permissions.allowedDomains: \"%" STR_FMT
                                 "\" is not a host, and matches none; write example.com",
                                 STR_ARG(p->domains[i])));
}

static void set_policy(struct rule_making *m)
{
    struct hard_policy *p = &m->set->policy;
    const char *home = env_find(host_environment(m->project->host), "HOME");
    const char *cwd = m->project->place.cwd;
    char real[PATH_MAX];
    struct texts commands = list_of(m, "permissions.allowedCommands", &p->lists_commands),
                 domains = list_of(m, "permissions.allowedDomains", &p->lists_domains);

    p->commands = commands.items;
    p->n_commands = commands.n;
    p->domains = domains.items;
    p->n_domains = domains.n;
    check_domains(m, p);
    set_secrets(m, home, m->project->place.keel_home);
    p->writable = m->set->added_dirs;
    p->n_writable = m->set->n_added_dirs;
    if (cwd && realpath(cwd, real)) {
        p->workspace = arena_cstr(m->arena, str_of(cwd));
        p->real_workspace = arena_cstr(m->arena, str_of(real));
    }
}

struct err *rule_set_init(struct rule_set *set, struct arena *a, const struct project *p,
                          const struct agent_options *options)
{
    struct rule_making m = {.set = set, .arena = a, .project = p, .options = options};

    *set = (struct rule_set){0};
    TRY(add_all(&m));
    set_gate_rules(&m);
    choose_shell(&m);
    set_sandboxed(&m);
    TRY(choose_mode(&m));
    find_directories(&m);
    set_policy(&m);
    return NULL;
}
