/* tool_state.h - what the tools of one session know: working directory, files read, todo list.
 *
 * The state is a map from keys (port/state_keys.h) to JSON values that changes in one way only: by
 * an event, which goes to the session and is then applied. So the state of a session can be made
 * again from its events, in this process or in another.
 *
 * Memory of a tool that lives as long as the session but is not state (a cache, running commands)
 * hangs on it as an attachment. `tasks` is where work goes on that outlives a call. */
#ifndef KEEL_PORT_TOOL_STATE_H
#define KEEL_PORT_TOOL_STATE_H

#include "base/shared_json.h"
#include "port/state_keys.h"
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

/* What a person has said (STATE_OF_PERSON) is read from `root` and written there; it must outlive
 * this state. */
void tool_state_set_root(struct tool_state *s, struct tool_state *root);

void tool_state_listen(struct tool_state *s, struct state_listener listener);

/* `name` is STATE_UNNAMED for a kind without names. NULL: not set. Borrowed until it is set again.
 */
const struct json *tool_state_get(const struct tool_state *s, enum state_key kind, struct str name);
/* Calls the listener, then applies. `value` NULL removes the key; without such a key, nothing
 * happens. */
void tool_state_set(struct tool_state *s, enum state_key kind, struct str name,
                    const struct json *value);
/* The same with a value that others hold, too: the state holds it instead of a copy. Where it has
 * an equal value already, nothing changes but who keeps that. */
void tool_state_share(struct tool_state *s, enum state_key kind, struct str name,
                      struct shared_json *value);
/* Every key of a kind, in the order of their first setting; start with *at = 0. A key that is set
 * meanwhile keeps its place. */
bool tool_state_next(const struct tool_state *s, enum state_key kind, size_t *at,
                     struct state_entry *ret_entry);
/* Removes every key of a kind. */
void tool_state_clear(struct tool_state *s, enum state_key kind);

/* Values that are one text, empty when they are not set, or only there. */
struct str tool_state_text(const struct tool_state *s, enum state_key kind);
void tool_state_set_text(struct tool_state *s, enum state_key kind, struct str text);
bool tool_state_has(const struct tool_state *s, enum state_key kind, struct str name);
void tool_state_set_flag(struct tool_state *s, enum state_key kind, struct str name);

/* --- the whole of it, for those who keep it --- */

bool tool_state_walk(const struct tool_state *s, size_t *at, struct state_entry *ret_entry);
/* Applies what an event of an earlier run says, without the listener. */
void tool_state_restore(struct tool_state *s, struct str key, const struct json *value);
/* Sets and removes keys until the state is that of `then`, but for those with STATE_STAYS. */
void tool_state_rewind(struct tool_state *s, const struct tool_state *then);

/* --- directories and paths --- */

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
