/* tool_state.h - what the tools of one session know: working directory, files read, todo list.
 *
 * The state is a map from keys to JSON values that changes in one way only: by an event, which is
 * told to the session and then applied. So the state of a session can be made again from its
 * events, in this process or in another. Keys in use:
 *
 *     cwd                 "/project"
 *     file:PATH           {"mtime_ns":..., "size":..., "inode":..., "whole":true, "sha256":...}
 *                         as last read; of a part also "lines", "seen" and "cut" (tool/file/seen.c)
 *     todos               [{"content":..., "status":..., "activeForm":...}]
 *     shell:ID            {"command":..., "state":"running"|"ended"|"killed", "exitCode":...,
 *                         "seen":..., "output":out_N}     (tool/shell/background.h, news.h)
 *     handle:out_N        {"sha256":..., "tool":..., ...}  a stored result (port/stored_result.h)
 *     allow:PATTERN       true      a call that the person allowed for the session (gate/answer.c)
 *     typed:host:HOST     true      named by the person in a prompt (gate/typed.h), and so is
 *     typed:path:PATH     true      this
 *     refused:SHA256      {"provider":..., "bytes":..., "reason":...}  a file that it would not
 *                         take: no later request has it (engine/refused_media.c)
 *     mode                "plan"    the permission mode (sdk/agent_session.c)
 *     prefix              {"system":..., "tools":..., ...}  what requests begin with (sdk/prefix.h)
 *     rewind              {"turn":..., "at":..., ...}  while one is under way (session/rewind.c)
 *
 * Memory of a tool that lives as long as the session but is no state (a cache, running commands)
 * hangs on it as an attachment. `tasks` is where work goes on that outlives a call. */
#ifndef KEEL_PORT_TOOL_STATE_H
#define KEEL_PORT_TOOL_STATE_H

#include "base/json.h"
#include "sys/task.h"

struct tool_state;

/* Sees every change before it is applied. */
struct state_listener {
    void (*on_change)(void *self, struct str key, const struct json *value); /* NULL: none */
    void *self;
};

struct tool_state *tool_state_new(struct str cwd) MUST_USE;
void tool_state_free(struct tool_state *s); /* after its tasks have ended */
DEFINE_AUTO_PTR(tool_state, tool_state_free)

/* A state whose changes are kept apart until it is known whether they count. It shows what `base`
 * has, which must outlive it, and has no tasks. tool_state_accept() applies the changes to the
 * base; later ones go there at once. */
struct tool_state *tool_state_draft(struct tool_state *base) MUST_USE;
void tool_state_accept(struct tool_state *draft);

/* The keys that a person sets (allow:, typed:) are read from `root` and written there; it must
 * outlive this state. */
void tool_state_set_root(struct tool_state *s, struct tool_state *root);

void tool_state_listen(struct tool_state *s, struct state_listener listener);

/* NULL: not set. Borrowed until it is set again. */
const struct json *tool_state_get(const struct tool_state *s, struct str key);
/* Calls the listener, then applies. `value` NULL removes the key; without such a key, nothing
 * happens. */
void tool_state_set(struct tool_state *s, struct str key, const struct json *value);
/* Applies what an event of an earlier run says, without the listener. */
void tool_state_restore(struct tool_state *s, struct str key, const struct json *value);
/* Every key that starts with `prefix`, in the order of their first setting; start with *at = 0. */
bool tool_state_next(const struct tool_state *s, struct str prefix, size_t *at, struct str *ret_key,
                     const struct json **ret_value);

const char *tool_state_cwd(const struct tool_state *s);       /* absolute */
const char *tool_state_workspace(const struct tool_state *s); /* the first cwd */
void tool_state_set_cwd(struct tool_state *s, const char *absolute_path);

/* The absolute path of what a tool was given: relative ones count from the cwd, "~/" from HOME of
 * `environment`; "." and ".." are resolved in the text, links are not. */
const char *tool_state_path(const struct tool_state *s, struct arena *a,
                            const char *const *environment, struct str given) MUST_USE;
/* The same of what a model wrote, which may be quoted as paths are that tools print
 * (base/quoted.h). The gate and the tools must both use this, so that they mean the same file. */
const char *tool_state_named(const struct tool_state *s, struct arena *a,
                             const char *const *environment, struct str text) MUST_USE;

/* One block of memory per owner, whose address is the key; zeroed on first use, and ended with
 * `done` when the state is freed. */
void *tool_state_attachment(struct tool_state *s, const void *owner, size_t size,
                            void (*done)(void *block)) MUST_USE;

/* The group for work that outlives a call; NULL: no work may. The session's owner ends it before
 * tool_state_free(). */
void tool_state_set_tasks(struct tool_state *s, struct group *tasks);
struct group *tool_state_tasks(const struct tool_state *s);

#endif
