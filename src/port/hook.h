/* hook.h - scripts and services that a person has put around an agent's steps.
 *
 * An executor runs one hook of one kind (command, http, callback, prompt, agent) and gives back
 * what it said; what that means is decided in one place for all kinds (src/hook). Hooks may wait;
 * the engine waits for them at the points below. A hook's own failure is a warning, unless its
 * definition says failClosed. */
#ifndef KEEL_PORT_HOOK_H
#define KEEL_PORT_HOOK_H

#include "port/event.h"
#include "port/gate.h"

/* name, may it block what it is about? */
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

/* What one hook said. */
struct hook_reply {
    int exit_code; /* 0 fine, 2 block, else a warning */
    struct strbuf out, err;
    bool timed_out;
};
void hook_reply_done(struct hook_reply *r);
DEFINE_AUTO_VAL(hook_reply, hook_reply_done)

struct hook_executor {
    const char *type; /* "command" */
    /* May wait, within the hook's own timeout. `definition` is the hook's object in the settings,
     * `input` the JSON object that it gets. An error: it could not be run at all. */
    struct err *(*run)(struct hook_executor *x, const struct json *definition, struct str input,
                       uint64_t timeout_ms, struct hook_reply *ret_reply);
};

/* What all hooks of one event together decided. Strings live in the arena that was passed. */
enum hook_permission { HOOK_NO_OPINION, HOOK_ALLOW, HOOK_ASK, HOOK_DENY };
struct hook_outcome {
    bool is_blocked; /* exit 2, decision:block, continue:false, or permission deny */
    struct str reason;
    enum hook_permission permission;  /* PreToolUse, PermissionRequest: deny > ask > allow */
    const struct json *updated_input; /* PreToolUse: other arguments; NULL: as they are */
    struct str additional_context;    /* for the model; may be empty */
    struct str system_message;        /* for the person; may be empty */
    bool stops_run;                   /* continue:false: the whole run ends, with stop_reason */
    struct str stop_reason;
};

/* The fields that hooks of an event get besides session_id, transcript_path, cwd,
 * permission_mode and hook_event_name, which the runner adds. */
struct hook_input {
    enum hook_event event;
    struct str matched;        /* what matchers are held against: the tool's name, the trigger */
    const struct json *fields; /* tool_name, tool_input, tool_response, prompt, ...; an object */
};

/* Runs all hooks that are configured for an event. NULL hooks: there are none. */
struct hooks {
    struct err *(*run)(struct hooks *h, const struct hook_input *input, struct arena *a,
                       struct hook_outcome *ret_outcome);
};
MUST_USE struct err *hooks_run(struct hooks *h, const struct hook_input *input, struct arena *a,
                               struct hook_outcome *ret_outcome);

#endif
