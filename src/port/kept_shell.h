/* kept_shell.h - a background command as the session remembers it: STATE_SHELL, by its id.
 *
 *     shell:bash_1  {"command":..., "call":..., "state":"ended", "exitCode":0, "pid":...,
 *                    "seen":false, "output":"out_3"}
 *
 * The live one is in tool/shell/background.h. */
#ifndef KEEL_PORT_KEPT_SHELL_H
#define KEEL_PORT_KEPT_SHELL_H

#include "port/tool_state.h"

#define SHELL_ID "bash_" /* what every id begins with; a number follows */

enum shell_state {
    SHELL_RUNNING,
    SHELL_ENDED,
    SHELL_KILLED,
    SHELL_UNKNOWN, /* it ran when keel ended */
};
const char *shell_state_name(enum shell_state s); /* "running", "ended", "killed", "unknown" */

/* Borrowed from the value that it was read from. */
struct kept_shell {
    struct str id, command;
    struct str call_id; /* of the call that started it; may be empty */
    enum shell_state state;
    bool has_exit_code;
    int exit_code;     /* a signal counts as shells count it */
    int signal;        /* 0: none ended it */
    int pid;           /* 0: not known */
    bool is_seen;      /* the model knows that it has ended */
    struct str output; /* the handle of what is stored of its output; empty: nothing is */
};

/* Of one entry of the state, as events have it. False: the key is another, or the value is gone. */
bool kept_shell_read(struct str key, const struct json *value, struct kept_shell *ret_shell);
/* All of them; start with *at = 0. A setting keeps the place. */
bool kept_shell_next(const struct tool_state *s, size_t *at, struct kept_shell *ret_shell);
void kept_shell_set(struct tool_state *s, const struct kept_shell *k);

/* The value, in `a`. */
struct json *kept_shell_value(const struct kept_shell *k, struct arena *a);
/* "state", "exitCode", "signal" and "pid" of it. */
void kept_shell_add_outcome(const struct kept_shell *k, struct arena *a, struct json *object);

#endif
