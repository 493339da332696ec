/* tool_session.h - what the tools of one session know: working directory, files read, todo list.
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
#ifndef KEEL_PORT_TOOL_SESSION_H
#define KEEL_PORT_TOOL_SESSION_H

#include "base/json.h"
#include "sys/task.h"

struct tool_session;

/* Told of every change before it is applied. */
struct state_listener {
    void (*on_change)(void *self, struct str key, const struct json *value); /* NULL: nobody */
    void *self;
};

struct tool_session *tool_session_new(struct str cwd) MUST_USE;
void tool_session_free(struct tool_session *s); /* after its tasks have ended */
DEFINE_AUTO_PTR(tool_session, tool_session_free)

/* A session whose changes are kept apart until it is known whether they count. It shows what `base`
 * has, which must outlive it, and holds work for nobody. tool_session_accept() gives what was
 * changed to the base; later changes go there at once. */
struct tool_session *tool_session_draft(struct tool_session *base) MUST_USE;
void tool_session_accept(struct tool_session *draft);

/* What a person has said in the session of `root`, which must outlive this one, counts here too,
 * and what a person says here is kept there: the keys of allow: and typed:. */
void tool_session_set_root(struct tool_session *s, struct tool_session *root);

void tool_session_listen(struct tool_session *s, struct state_listener listener);

/* NULL: not set. Borrowed until it is set again. */
const struct json *tool_session_get(const struct tool_session *s, struct str key);
/* Tells the listener and applies. `value` NULL removes the key; nobody is told when there is none.
 */
void tool_session_set(struct tool_session *s, struct str key, const struct json *value);
/* Applies what an event of an earlier run says; tells nobody. */
void tool_session_restore(struct tool_session *s, struct str key, const struct json *value);
/* Every key that starts with `prefix`, in the order of their first setting; start with *at = 0. */
bool tool_session_next(const struct tool_session *s, struct str prefix, size_t *at,
                       struct str *ret_key, const struct json **ret_value);

const char *tool_session_cwd(const struct tool_session *s);       /* absolute */
const char *tool_session_workspace(const struct tool_session *s); /* the first cwd */
void tool_session_set_cwd(struct tool_session *s, const char *absolute_path);

/* The absolute path of what a tool was given: relative ones count from the cwd, "~/" from HOME of
 * `environment`; "." and ".." are resolved in the text, links are not. */
const char *tool_session_path(const struct tool_session *s, struct arena *a,
                              const char *const *environment, struct str given) MUST_USE;
/* The same of what a model wrote, which may be quoted as paths are that tools print
 * (base/quoted.h). The gate and the tools must both use this, so that they mean the same file. */
const char *tool_session_named(const struct tool_session *s, struct arena *a,
                               const char *const *environment, struct str text) MUST_USE;

/* One block of memory per owner, whose address is the key; zeroed when first asked for and ended
 * with `done` when the session is. */
void *tool_session_attachment(struct tool_session *s, const void *owner, size_t size,
                              void (*done)(void *block)) MUST_USE;

/* The group for work that outlives a call; NULL: nothing may. Belongs to whoever runs the session,
 * which ends it before tool_session_free(). */
void tool_session_set_tasks(struct tool_session *s, struct group *tasks);
struct group *tool_session_tasks(const struct tool_session *s);

#endif
