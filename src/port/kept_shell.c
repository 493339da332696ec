/* kept_shell.c - background commands in the state of the tools. */
#include "port/kept_shell.h"

static const char *const names[] = {"running", "ended", "killed", "unknown"};

const char *shell_state_name(enum shell_state s)
{
    return names[s];
}

/* A log may say anything: what is not known to have run on or ended is unknown. */
static enum shell_state find_state(struct str name)
{
    enum shell_state s = SHELL_RUNNING;

    while (s < SHELL_UNKNOWN && !str_is(name, names[s]))
        s++;
    return s;
}

static int int_of(const struct json *value, const char *key)
{
    int64_t n = json_int_or(json_get(value, key), 0);

    return n >= INT32_MIN && n <= INT32_MAX ? (int)n : 0;
}

bool kept_shell_read(struct str key, const struct json *value, struct kept_shell *ret_shell)
{
    struct str id;

    if (!value || !state_key_is(key, STATE_SHELL, &id))
        return false;
    *ret_shell = (struct kept_shell){
        .id = id,
        .command = json_get_text(value, "command"),
        .call_id = json_get_text(value, "call"),
        .state = find_state(json_get_text(value, "state")),
        .has_exit_code = json_has(value, "exitCode"),
        .exit_code = int_of(value, "exitCode"),
        .signal = int_of(value, "signal"),
        .pid = int_of(value, "pid"),
        .is_seen = json_bool(json_get(value, "seen"), true),
        .output = json_get_text(value, "output"),
    };
    return true;
}

bool kept_shell_next(const struct tool_state *s, size_t *at, struct kept_shell *ret_shell)
{
    struct state_entry x;

    return tool_state_next(s, STATE_SHELL, at, &x) && kept_shell_read(x.key, x.value, ret_shell);
}

void kept_shell_add_outcome(const struct kept_shell *k, struct arena *a, struct json *object)
{
    json_set_str(a, object, "state", str_of(shell_state_name(k->state)));
    if (k->has_exit_code)
        json_set_int(a, object, "exitCode", k->exit_code);
    if (k->signal)
        json_set_int(a, object, "signal", k->signal);
    if (k->pid)
        json_set_int(a, object, "pid", k->pid);
}

struct json *kept_shell_value(const struct kept_shell *k, struct arena *a)
{
    struct json *value = json_new(a, JSON_OBJECT);

    json_set_str(a, value, "command", k->command);
    if (k->call_id.n)
        json_set_str(a, value, "call", k->call_id);
    kept_shell_add_outcome(k, a, value);
    json_set_bool(a, value, "seen", k->is_seen);
    if (k->output.n)
        json_set_str(a, value, "output", k->output);
    return value;
}

void kept_shell_set(struct tool_state *s, const struct kept_shell *k)
{
    AUTO(arena) struct arena a = {0};

    tool_state_set(s, STATE_SHELL, arena_str(&a, k->id), kept_shell_value(k, &a));
}
