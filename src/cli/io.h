/* io.h - what a command reads and prints.
 *
 * stdout holds only the answer; everything else goes to stderr. What comes from outside must not
 * steer a terminal: control characters in it are shown, not sent. */
#ifndef KEEL_CLI_IO_H
#define KEEL_CLI_IO_H

#include "base/strbuf.h"

/* Opens what is missing of the first three descriptors, so that no other file gets their numbers;
 * reading and writing them still fails. */
void cli_hold_std_fds(void);

/* Reads a file whole, "-" is standard input; ERR_VALIDATION names it. */
MUST_USE struct err *cli_read_file(const char *path, struct strbuf *out);

/* UTF-8 without a NUL byte: what can be shown, or sent to a model, as it is. */
bool cli_is_text(struct str bytes);

/* Writes to stdout; while a run is under way, once what it is about is durable (output/outbox.h).
 * Texts of commands, with colours, and JSON: what would turn the direction of writing, or is not
 * seen at all, is spelt out even if it is not in a list (base/visible.h). */
MUST_USE struct err *cli_print(struct str text);
/* What others wrote and a person reads: control characters are spelt out, too. */
MUST_USE struct err *cli_print_visible(struct str text);
void cli_add_visible(struct strbuf *out, struct str text);
/* Data for a file or a pipe, byte by byte. */
MUST_USE struct err *cli_print_raw(struct str text);
/* Writes to stderr, as cli_print(). */
void cli_print_error(struct str text);
/* "keel: ..." on stderr; further lines of the text are indented. */
void cli_tell(const char *format, ...) PRINTF_LIKE(1, 2);
/* An error on stderr, with its hint and when it may be tried again. */
void cli_tell_error(const struct err *e);
/* Bytes from outside on stderr, `kind` before each line. */
void cli_tell_bytes(char kind, struct str bytes);

/* Asks the person at the terminal; no is the default, and is confirmed on stderr. Without a
 * terminal it is an error: `otherwise` says what to do then. */
MUST_USE struct err *cli_confirm(const char *question, const char *otherwise, bool *ret_yes);

bool cli_has_colour(int fd); /* is it a terminal whose owner wants colours? */
enum tint { TINT_FAINT, TINT_BOLD, TINT_RED, TINT_GREEN, TINT_YELLOW };
/* Text from outside for stdout, made visible; in colour where stdout is a terminal that wants it.
 */
void cli_add_tinted(struct strbuf *out, enum tint tint, struct str text);
size_t cli_n_columns(void); /* of the terminal that stdout is; 0: not a terminal */

#endif
