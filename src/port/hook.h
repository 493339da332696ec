/* hook.h - scripts and services that a person has put around an agent's steps.
 *
 * An executor runs one hook of one kind (command, http, callback, prompt, agent) and gives back
 * what it said; what that means is decided in one place for all kinds (src/hook). Hooks may wait;
 * whoever fires an event waits for them. A hook's own failure is a warning, unless its definition
 * says failClosed. */
#ifndef KEEL_PORT_HOOK_H
#define KEEL_PORT_HOOK_H

#include "base/json.h"

/* name, may it block what it is about? Where each fires stands in hook/table.c. */
#define HOOK_EVENTS(X)                                                                             \
    X(PRE_TOOL_USE, "PreToolUse", 1)                                                               \
    X(POST_TOOL_USE, "PostToolUse", 1)                                                             \
    X(USER_PROMPT_SUBMIT, "UserPromptSubmit", 1)                                                   \
    X(SESSION_START, "SessionStart", 0)                                                            \
    X(SESSION_END, "SessionEnd", 0)                                                                \
    X(STOP, "Stop", 1)                                                                             \
    X(STOP_FAILURE, "StopFailure", 0)                                                              \
    X(PRE_COMPACT, "PreCompact", 1)                                                                \
    X(POST_COMPACT, "PostCompact", 0)                                                              \
    X(SUBAGENT_START, "SubagentStart", 0)                                                          \
    X(SUBAGENT_STOP, "SubagentStop", 1)                                                            \
    X(WORKTREE_CREATE, "WorktreeCreate", 1)                                                        \
    X(WORKTREE_REMOVE, "WorktreeRemove", 0)                                                        \
    X(NOTIFICATION, "Notification", 0)                                                             \
    X(PERMISSION_REQUEST, "PermissionRequest", 1)

enum hook_event {
#define X(name, ...) HOOK_##name,
    HOOK_EVENTS(X)
#undef X
        HOOK_N_EVENTS
};
const char *hook_event_name(enum hook_event e);
bool hook_event_find(struct str name, enum hook_event *ret_event);
bool hook_event_may_block(enum hook_event e);

/* --- running one hook --- */

/* What one hook said. */
struct hook_reply {
    int exit_code; /* 0 fine, 2 block, else a warning */
    struct strbuf out, err;
    bool is_cut; /* there was more of `out` than is kept */
    bool timed_out;
};
#define HOOK_MAX_OUTPUT ((size_t)1 << 20) /* of each stream */
void hook_reply_init(struct hook_reply *r);
void hook_reply_done(struct hook_reply *r);
DEFINE_AUTO_VAL(hook_reply, hook_reply_done)

/* One hook to run. Everything is borrowed until the executor returns. */
struct hook_job {
    const struct json *definition; /* the hook's object in the settings */
    const struct json *env;        /* further variables, an object of strings; may be NULL */
    struct str input;              /* the JSON object that it gets */
    const char *cwd;               /* of the session */
    uint64_t timeout_ms;
    bool is_project; /* of a trusted project's settings, not of the person's */
};

struct hook_executor {
    const char *type; /* "command" */
    /* Required; may wait. Ends the hook after timeout_ms by itself and says timed_out. An error: it
     * could not be run, or the wait for it was interrupted (ERR_CANCELLED, ERR_TIMEOUT).
     * ERR_TOOL_DENIED: what it would run is not what was trusted. */
    struct err *(*run)(struct hook_executor *x, const struct hook_job *job,
                       struct hook_reply *reply);
};

/* --- firing an event --- */

/* What all hooks of one event together decided. Strings live in the arena that was passed; they
 * are valid UTF-8 of bounded length. */
enum hook_permission { HOOK_NO_OPINION, HOOK_ALLOW, HOOK_ASK, HOOK_DENY };
struct hook_outcome {
    bool is_blocked; /* exit 2, decision:block, continue:false, or permission deny */
    struct str reason;
    enum hook_permission permission; /* PreToolUse, PermissionRequest: deny > ask > allow */
    /* PreToolUse, PermissionRequest: other arguments; UserPromptSubmit: {"prompt": other text}.
     * NULL: as they are. */
    const struct json *updated_input;
    struct str additional_context; /* for the model; may be empty */
    struct str system_message;     /* for the person; may be empty */
    bool stops_run;                /* continue:false: the whole run ends, with stop_reason */
    struct str stop_reason;
};

struct hook_input {
    enum hook_event event;
    /* What matchers are held against; empty: the field that hook/table.c names for the event. */
    struct str matched;
    /* The event's own fields (tool_name, tool_input, prompt, ...), an object; NULL: none.
     * session_id, transcript_path, cwd, permission_mode and hook_event_name are added. */
    const struct json *fields;
};

/* Runs all hooks that are configured for an event. */
struct hooks {
    /* Required; may wait. The only errors are those of an interrupted wait: what hooks do wrong is
     * told elsewhere, or in the outcome. */
    struct err *(*run)(struct hooks *h, const struct hook_input *input, struct arena *a,
                       struct hook_outcome *ret_outcome);
    /* Would any be run? NULL: that is not known, and so they would. */
    bool (*has)(struct hooks *h, const struct hook_input *input);
};
/* NULL hooks: none would. */
bool hooks_has(struct hooks *h, const struct hook_input *input);
/* NULL hooks: there are none. */
MUST_USE struct err *hooks_run(struct hooks *h, const struct hook_input *input, struct arena *a,
                               struct hook_outcome *ret_outcome);

#endif
