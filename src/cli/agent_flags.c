/* agent_flags.c - from the command line to an agent's options. */
#include "cli/agent_flags.h"

#include "sys/fs.h"

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

void rule_list_add(struct rule_list *list, struct arena *a, struct str text)
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

static struct rule_list all_rules(const struct args *args, const char *flag, struct arena *a)
{
    struct rule_list list = {0};
    const char *value;
    size_t at = 0;

    while ((value = args_next(args, flag, &at)))
        rule_list_add(&list, a, str_of(value));
    return list;
}

/* --- directories --- */

static struct err *directory(const char *flag, const char *given, struct arena *a,
                             const char **ret_path)
{
    char *path = realpath(given, NULL);

    if (!path)
        return err_errno(ERR_VALIDATION, errno, "--%s %s", flag, given);
    *ret_path = arena_cstr(a, str_of(path));
    free(path);
    return fs_is_dir(*ret_path)
               ? NULL
               : err_new(ERR_VALIDATION, "--%s %s: it is no directory", flag, given);
}

struct err *agent_flags_cwd(const struct args *args, struct arena *a, const char **ret_cwd)
{
    const char *given = args_get(args, "cwd");

    *ret_cwd = NULL;
    return given ? directory("cwd", given, a, ret_cwd) : NULL;
}

/* --- all of them --- */

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
                       "--dangerously-skip-permissions and --permission-mode %s do not go together",
                       mode);
    *ret_mode = skips_all ? permission_mode_name(MODE_BYPASS) : mode;
    return NULL;
}

struct err *agent_flags_read(const struct args *args, struct arena *a,
                             struct agent_options *ret_options)
{
    struct rule_list allowed = all_rules(args, "allowed-tools", a),
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
        TRY(directory("add-dir", dirs[i], a, &dirs[i]));
    o.added_dirs = dirs;
    TRY(read_mode(args, &o.mode));
    *ret_options = o;
    return NULL;
}
