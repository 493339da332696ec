/* agent.c - from the command line to an agent's options. */
#include "cli/flags/agent.h"

#include "cli/flags/session.h"
#include "cli/io.h"
#include "sys/fs.h"
#include "tool/names.h"

#include <errno.h>
#include <stdlib.h>

/* --- rules --- */

static bool is_separator(char c)
{
    return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

/* The length of the rule that `text` begins with. */
static size_t rule_length(struct str text)
{
    size_t depth = 0, n = 0;

    for (; n < text.n && (depth || !is_separator(text.p[n])); n++) {
        if (text.p[n] == '(')
            depth++;
        else if (text.p[n] == ')' && depth)
            depth--;
    }
    return n;
}

bool rule_is_meant(struct str word)
{
    size_t n = str_find_char(word, '(');

    if (n == STR_NONE)
        return tool_name_is_known(word);
    return str_ends(word, S(")")) && tool_name_is_known(str_slice(word, 0, n));
}

void rule_list_add(struct flag_rules *list, struct arena *a, struct str text)
{
    while (text.n) {
        size_t n = rule_length(text);

        if (n) {
            list->items = arena_grow(a, list->items, list->n, &list->room, sizeof *list->items);
            list->items[list->n++] = arena_cstr(a, str_slice(text, 0, n));
        }
        text = str_skip(text, MAX(n, (size_t)1));
    }
}

static struct flag_rules all_rules(const struct args *args, const char *flag, struct arena *a)
{
    struct flag_rules list = {0};
    const char *value;
    size_t at = 0;

    while ((value = args_next(args, flag, &at)))
        rule_list_add(&list, a, str_of(value));
    return list;
}

/* --- directories --- */

struct err *agent_flags_directory(const char *flag, const char *given, struct arena *a,
                                  const char **ret_path)
{
    char *path = realpath(given, NULL);

    if (!path)
        return err_errno(ERR_VALIDATION, errno, "--%s %s", flag, given);
    *ret_path = arena_cstr(a, str_of(path));
    free(path);
    return fs_is_dir(*ret_path) ? NULL
                                : err_new(ERR_VALIDATION, "--%s %s: not a directory", flag, given);
}

struct err *agent_flags_cwd(const struct args *args, struct arena *a, const char **ret_cwd)
{
    const char *given = args_get(args, "cwd");

    *ret_cwd = NULL;
    return given ? agent_flags_directory("cwd", given, a, ret_cwd) : NULL;
}

/* --- settings --- */

void agent_flags_print_warnings(const struct settings *s)
{
    for (size_t i = 0; i < settings_n_warnings(s); i++)
        cli_tell("%" STR_FMT, STR_ARG(settings_warning(s, i)));
}

struct err *agent_flags_project(const struct args *args, struct project **ret_project)
{
    struct project_options options = {.settings_file = args_get(args, "settings")};

    TRY(project_open(NULL, &options, ret_project));
    agent_flags_print_warnings((*ret_project)->settings);
    return NULL;
}

struct err *agent_flags_layers(const struct args *args, unsigned *ret_skipped)
{
    static const struct {
        const char *name;
        unsigned layers;
    } sources[] = {
        {"user", 1u << LAYER_USER | 1u << LAYER_ROBOTA_USER | 1u << LAYER_CLAUDE_USER},
        {"project", 1u << LAYER_PROJECT | 1u << LAYER_ROBOTA | 1u << LAYER_CLAUDE},
        {"local", 1u << LAYER_LOCAL | 1u << LAYER_ROBOTA_LOCAL | 1u << LAYER_CLAUDE_LOCAL},
    };
    const char *given = args_get(args, "setting-sources");
    struct str rest = str_of(given), name;
    unsigned wanted = 0;

    *ret_skipped = 0;
    if (!given)
        return NULL;
    while (str_split(&rest, ',', &name)) {
        size_t i = 0;

        while (i < ARRAY_LEN(sources) && !str_is(str_trim(name), sources[i].name))
            i++;
        if (i < ARRAY_LEN(sources))
            wanted |= sources[i].layers;
        else if (str_trim(name).n)
            return err_hint(err_new(ERR_VALIDATION,
                                    "--setting-sources: unknown source \"%" STR_FMT "\"",
                                    STR_ARG(name)),
                            "any of: user, project, local");
    }
    *ret_skipped = ~wanted & ~(1u << LAYER_FLAGS);
    return NULL;
}

/* --- what keel does not have --- */

static bool asks_for_nothing(const struct json *value)
{
    const struct json *servers = json_get(value, "mcpServers");

    return json_is(value, JSON_OBJECT) &&
           (value->n == 0 || (value->n == 1 && json_is(servers, JSON_OBJECT) && servers->n == 0));
}

/* Programs pass these flags also when there is nothing to say with them. */
static struct err *check_empty(const struct args *args, const char *flag)
{
    AUTO(arena) struct arena a = {0};
    const char *given;
    size_t at = 0;

    while ((given = args_next(args, flag, &at))) {
        struct json *value = NULL;
        AUTO(err) struct err *e = json_parse(&a, str_of(given), 0, &value);

        if (e || !asks_for_nothing(value))
            return err_new(ERR_VALIDATION, "--%s accepts only {}: keel has no %s yet", flag,
                           strcmp(flag, "agents") == 0 ? "agents" : "MCP servers");
    }
    return NULL;
}

/* --- thinking --- */

static struct err *read_thinking(const struct args *args, struct agent_options *o)
{
    const char *effort = args_get(args, "effort"), *thinking = args_get(args, "thinking");
    bool is_off = thinking && strcmp(thinking, "disabled") == 0;

    if (effort && (!effort_find(str_of(effort), &o->effort) || o->effort == EFFORT_UNSET))
        return err_hint(err_new(ERR_VALIDATION, "--effort: unknown level \"%s\"", effort),
                        "one of: low, medium, high, xhigh, max");
    if (thinking && !is_off && strcmp(thinking, "adaptive") != 0)
        return err_hint(err_new(ERR_VALIDATION, "--thinking: unknown mode \"%s\"", thinking),
                        "one of: adaptive, disabled");
    if (is_off)
        o->effort = EFFORT_NONE;
    else if (thinking && o->effort == EFFORT_UNSET)
        o->effort = EFFORT_HIGH;
    return args_int(args, "max-thinking-tokens", 0, INT32_MAX, 0, &o->reasoning_budget);
}

/* --- all of them --- */

/* NULL: all there are. */
static const char *const *only_tools(const struct args *args, struct arena *a, size_t *ret_n)
{
    struct flag_rules list = all_rules(args, "tools", a);
    const char *given = args_get(args, "tools");

    *ret_n = 0;
    if (!given || strcmp(given, "default") == 0)
        return NULL;
    *ret_n = list.n;
    return list.n ? list.items : ARENA_NEW(a, const char *);
}

/* All values of a repeated flag. */
static const char **all_values(const struct args *args, const char *flag, struct arena *a,
                               size_t *ret_n)
{
    const char **values = NULL, *value;
    size_t at = 0, room = 0, n = 0;

    while ((value = args_next(args, flag, &at))) {
        values = arena_grow(a, values, n, &room, sizeof *values);
        values[n++] = value;
    }
    *ret_n = n;
    return values;
}

static struct err *read_mode(const struct args *args, const char **ret_mode)
{
    const char *mode = args_get(args, "permission-mode");
    bool skips_all = args_has(args, "dangerously-skip-permissions");
    enum permission_mode known = MODE_BYPASS;

    if (mode)
        TRY(agent_find_mode("--permission-mode", str_of(mode), &known));
    if (skips_all && known != MODE_BYPASS)
        return err_new(ERR_VALIDATION,
                       "--dangerously-skip-permissions and --permission-mode %s cannot be combined",
                       mode);
    *ret_mode = skips_all ? permission_mode_name(MODE_BYPASS) : mode;
    return NULL;
}

struct err *agent_flags_read(const struct args *args, struct arena *a,
                             struct agent_options *ret_options)
{
    struct flag_rules allowed = all_rules(args, "allowed-tools", a),
                      disallowed = all_rules(args, "disallowed-tools", a);
    struct agent_options o = {
        .system_prompt = args_get(args, "system-prompt"),
        .append_system_prompt = args_get(args, "append-system-prompt"),
        .allowed = allowed.items,
        .n_allowed = allowed.n,
        .disallowed = disallowed.items,
        .n_disallowed = disallowed.n,
        .no_stream = args_has(args, "no-stream"),
    };
    const char **dirs = all_values(args, "add-dir", a, &o.n_added_dirs);

    o.fallback_models = all_values(args, "fallback-model", a, &o.n_fallback_models);
    for (size_t i = 0; i < o.n_added_dirs; i++)
        TRY(agent_flags_directory("add-dir", dirs[i], a, &dirs[i]));
    o.added_dirs = dirs;
    o.names_tools = args_get(args, "tools");
    o.tools = only_tools(args, a, &o.n_tools);
    TRY(read_mode(args, &o.mode));
    TRY(session_flags_read(args, &o));
    TRY(read_thinking(args, &o));
    TRY(check_empty(args, "agents"));
    TRY(check_empty(args, "mcp-config"));
    *ret_options = o;
    return NULL;
}
