/* command.h - a command of the keel program: one file, one const descriptor, one function.
 *
 * run() returns the exit status, or an error that main prints with its hint and turns into one.
 * stdout holds only the answer; everything else goes to stderr. */
#ifndef KEEL_CLI_COMMAND_H
#define KEEL_CLI_COMMAND_H

#include "base/strbuf.h"
#include "cli/args.h"

struct command {
    const char *name;                      /* "doctor"; "inspect decode" for one below another */
    const char *usage;                     /* "[--probe]": what follows the name */
    const char *summary;                   /* one line */
    const char *details;                   /* paragraphs and examples for --help; NULL: none */
    const struct option *options;          /* ends with a NULL name; NULL: none */
    const struct command *const *children; /* ends with NULL; NULL: it runs itself */
    struct err *(*run)(const struct args *args, int *ret_status);
};

/* All commands at the top, NULL at the end; the program itself is the root. */
extern const struct command command_root;
extern const struct command *const commands[];

void command_print_help(const struct command *c);

/* Reads a file whole, "-" is standard input; ERR_VALIDATION names it. */
MUST_USE struct err *cli_read_file(const char *path, struct strbuf *out);
/* Writes to stdout; a closed pipe is not an error worth a word. */
MUST_USE struct err *cli_print(struct str text);

#endif
