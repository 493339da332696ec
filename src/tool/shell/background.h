/* background.h - commands that go on after the call that started them.
 *
 * They live in the session's task group, so that they end with it, and hang on the session. The
 * newest output of each is kept until it is read; the session's state says what became of them
 * (port/kept_shell.h), and whether the model has seen it. Of those that have ended only the newest
 * are remembered. What the model reads without asking is in news.h. */
#ifndef KEEL_TOOL_SHELL_BACKGROUND_H
#define KEEL_TOOL_SHELL_BACKGROUND_H

#include "port/kept_shell.h"
#include "port/tool.h"
#include "tool/shell/command.h"

#define BACKGROUND_MAX_RUNNING 16
#define BACKGROUND_MAX_BYTES ((size_t)1 << 20) /* of output that nobody has read */

struct shell;

/* May wait until it has started; what goes wrong for the model stands in the result, and then
 * *ret_shell is NULL. */
MUST_USE struct err *background_start(struct tool_context *c, struct str command,
                                      struct tool_result *result, struct shell **ret_shell);

/* May one more command stay after its call? */
bool background_has_room(struct tool_state *s);
/* Takes a command over that runs already, where there is room. What it printed so far is not among
 * its output. Does not wait. */
struct shell *background_adopt(struct tool_context *c, struct str command,
                               struct shell_command *take_running);

/* NULL: there is none. Borrowed until the next wait. */
struct shell *background_find(struct tool_state *s, struct str id);
/* The one that was started after `before`; NULL: the first, or there is none any more. */
struct shell *background_next(struct tool_state *s, const struct shell *before);
size_t background_n_running(struct tool_state *s);
/* Until all have ended, or the time is over. */
MUST_USE struct err *background_wait(struct tool_state *s, uint64_t timeout_ms);
/* Ends all, and waits until they are gone. */
MUST_USE struct err *background_stop(struct tool_state *s);
/* Fails the result: the id is not known, these are. */
void background_unknown(struct tool_state *s, struct str id, struct tool_result *result);

const char *shell_id(const struct shell *k);
const char *shell_text(const struct shell *k); /* the command line */
int shell_pid(const struct shell *k);
enum shell_state shell_state(const struct shell *k);
/* "running", "ended with exit code 3", "killed by SIGKILL": for the model. */
void shell_describe(const struct shell *k, struct strbuf *out);
/* state, exitCode, signal, pid. */
void shell_add_details(const struct shell *k, struct arena *a, struct json *details);
/* What was put right after one that has ended; see notes.h. */
void shell_add_notes(const struct shell *k, struct tool_result *result);

/* Appends what came since it was last read; *ret_n_lost bytes before it are gone. Stays unread
 * until shell_mark_read(*ret_end). */
void shell_peek(const struct shell *k, struct strbuf *out, uint64_t *ret_n_lost, uint64_t *ret_end);
void shell_mark_read(struct shell *k, uint64_t end);

/* It has ended, and the model does not know yet. */
bool shell_is_news(const struct shell *k);
/* It was stopped only because the run ended. */
bool shell_is_left(const struct shell *k);
void shell_mark_seen(struct shell *k); /* now it does; nothing, while it runs */

/* What it printed is stored under this handle. */
void shell_set_output(struct shell *k, const char *handle);

/* Ends the whole tree and waits until it is gone. */
MUST_USE struct err *shell_kill(struct shell *k);

#endif
