/* background.h - commands that keep running after the call that started them.
 *
 * They belong to the session's task group and end with it. The newest output of each is kept until
 * it is read. The session's state records their outcome and whether the model has seen it
 * (port/kept_shell.h). Of the ended ones, only the newest are remembered. For what the model reads
 * without asking see news.h. */
#ifndef KEEL_TOOL_SHELL_BACKGROUND_H
#define KEEL_TOOL_SHELL_BACKGROUND_H

#include "port/kept_shell.h"
#include "port/tool.h"
#include "tool/shell/command.h"

#define BACKGROUND_MAX_RUNNING 16
#define BACKGROUND_MAX_BYTES ((size_t)1 << 20) /* of unread output */

struct shell;

/* May wait until it has started. If the model made a mistake, the result says so and *ret_shell is
 * NULL. */
MUST_USE struct err *background_start(struct tool_context *c, struct str command,
                                      struct tool_result *result, struct shell **ret_shell);

/* May another command keep running after its call? */
bool background_has_room(struct tool_state *s);
/* Takes over a running command, if there is room. Its output so far is not included. Does not
 * wait. */
struct shell *background_adopt(struct tool_context *c, struct str command,
                               struct shell_command *take_running);

/* NULL: there is none. Borrowed until the next wait. */
struct shell *background_find(struct tool_state *s, struct str id);
/* The command that was started after `before`; NULL for the first one. Returns NULL after the
 * last. */
struct shell *background_next(struct tool_state *s, const struct shell *before);
size_t background_n_running(struct tool_state *s);
/* Waits until all have ended, or the time is over. */
MUST_USE struct err *background_wait(struct tool_state *s, uint64_t timeout_ms);
/* Ends all of them, and waits until they are gone. */
MUST_USE struct err *background_stop(struct tool_state *s);
/* Fails the result: the id is unknown. Lists the known ones. */
void background_unknown(struct tool_state *s, struct str id, struct tool_result *result);

const char *shell_id(const struct shell *k);
const char *shell_text(const struct shell *k); /* the command line */
int shell_pid(const struct shell *k);
enum shell_state shell_state(const struct shell *k);
/* "running", "ended with exit code 3", "killed by SIGKILL": for the model. */
void shell_describe(const struct shell *k, struct strbuf *out);
/* state, exitCode, signal, pid. */
void shell_add_details(const struct shell *k, struct arena *a, struct json *details);
/* Adds what was put right after a command that has ended; see command.h. */
void shell_add_notes(const struct shell *k, struct tool_result *result);

/* Appends the output since the last read; *ret_n_lost bytes before it are lost. It stays unread
 * until shell_mark_read(*ret_end). */
void shell_peek(const struct shell *k, struct strbuf *out, uint64_t *ret_n_lost, uint64_t *ret_end);
void shell_mark_read(struct shell *k, uint64_t end);

/* It has ended, and the model does not know yet. */
bool shell_is_news(const struct shell *k);
/* It was stopped only because the run ended. */
bool shell_is_left(const struct shell *k);
void shell_mark_seen(struct shell *k); /* no effect while it runs */

/* Sets the handle under which its output is stored. */
void shell_set_output(struct shell *k, const char *handle);

/* Ends the whole process tree and waits until it is gone. */
MUST_USE struct err *shell_kill(struct shell *k);

#endif
