/* command.h - runs one command line in a shell, through the launcher.
 *
 * The shell can report its last working directory. The command does not notice: its text, `$0`, its
 * exit code and its output are unaffected. */
#ifndef KEEL_TOOL_SHELL_COMMAND_H
#define KEEL_TOOL_SHELL_COMMAND_H

#include "port/tool.h"

/* The kernel's limit for one argument. */
#define COMMAND_MAX_BYTES (((size_t)128 << 10) - 1)

struct shell_command {
    struct proc *proc;
    struct launcher *launcher; /* that started it, and looks after it */
    int place_fd;              /* the shell prints its last directory here; -1: it does not */
};

/* Runs in the session's working directory, with a clean environment, no input, and errors merged
 * into the output. `text` has no NUL and at most COMMAND_MAX_BYTES. May wait. */
MUST_USE struct err *shell_command_start(const struct tool_context *c, struct str text,
                                         bool asks_place, struct shell_command *ret_command);
/* Ends it if it still runs, and appends what was put right after it, a line each. Waits even if the
 * task is cancelled. */
void shell_command_end(struct shell_command *k, struct strbuf *notes);
void shell_command_done(struct shell_command *k); /* the same, without the notes */
DEFINE_AUTO_VAL(shell_command, shell_command_done)

/* Appends those notes, a line each, to the text and the details of a result. */
void notes_add(struct str notes, struct tool_result *result);

/* May the shell change its directory? False only for plain words without such a command. Pure. */
bool command_may_move(struct str text);

/* The directory of the shell when it ended, in `a`; NULL if it did not print one, or that directory
 * is gone. Call it once, after the end. */
const char *shell_command_take_place(struct shell_command *k, struct arena *a) MUST_USE;

/* Sets where the session works after a command, and appends a sentence for the model if that
 * changed. `before` is where the command began, `place` where the shell ended; NULL: unknown. The
 * session follows the command inside the workspace and the added directories. Outside it stays
 * where it was: after a look at /tmp, relative paths would have no meaning in the project. If the
 * directory is gone, the session returns to the workspace. Blocks briefly. */
void place_follow(const struct tool_context *c, const char *before, const char *place,
                  struct strbuf *out);

/* --- choose.c --- */

/* The default shell in this environment: bash, or /bin/sh if that is missing. Blocks briefly. */
const char *shell_of(const char *const *environment);
/* Is it bash, by its name and by what is in its file? Blocks briefly. */
bool shell_is_bash(const char *shell, const char *const *environment);

#endif
