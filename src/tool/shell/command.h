/* command.h - one command line, started in a shell through the launcher.
 *
 * The shell may be asked where it ends up. What it is told to that end the command does not see:
 * its text, `$0`, its exit code and all that is printed stay as they were. */
#ifndef KEEL_TOOL_SHELL_COMMAND_H
#define KEEL_TOOL_SHELL_COMMAND_H

#include "port/tool.h"

/* What the kernel takes as one argument. */
#define COMMAND_MAX_BYTES (((size_t)128 << 10) - 1)

struct shell_command {
    struct proc *proc;
    struct launcher *launcher; /* that has started it, and looks after it */
    int place_fd; /* where the shell is when it ends comes out here; -1: it does not say */
};

/* In the session's working directory, with a clean environment, no input, and its errors among its
 * output. `text` holds no NUL and at most COMMAND_MAX_BYTES. May wait. */
MUST_USE struct err *shell_command_start(const struct tool_context *c, struct str text,
                                         bool asks_place, struct shell_command *ret_command);
/* Ends what still runs, and appends what was put right after it, a line each. Waits even when the
 * task is cancelled. */
void shell_command_end(struct shell_command *k, struct strbuf *notes);
void shell_command_done(struct shell_command *k); /* the same, for those who do not ask */
DEFINE_AUTO_VAL(shell_command, shell_command_done)

/* Appends those notes, a line each, to the text and the details of a result. */
void notes_add(struct str notes, struct tool_result *result);

/* The shell that reads command lines where none was chosen, as seen from this environment: bash,
 * or where that is missing /bin/sh. Blocks a little. */
const char *shell_of(const char *const *environment);
bool shell_is_bash(const char *shell);

/* May the shell be elsewhere after it? False only for plain words that do not say so. Pure. */
bool command_may_move(struct str text);

/* Where the shell was when it ended, in `a`; NULL when it did not say or that is no directory any
 * more. Once it has ended, and once only. */
const char *shell_command_take_place(struct shell_command *k, struct arena *a) MUST_USE;

/* Sets where the session works after a command that changed its directory, and appends a sentence
 * for the model. `before` is where the command began, `place` where the shell ended; NULL: it did
 * not say. The session follows the command inside the workspace and the added directories. Outside
 * it stays where it was: after a look at /tmp, relative paths would mean nothing in the project. A
 * directory that is gone gives way to the workspace. Blocks a little. */
void place_follow(const struct tool_context *c, const char *before, const char *place,
                  struct strbuf *out);

#endif
