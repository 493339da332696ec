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
    const char *group;                     /* heading in keel --help; NULL below another command */
    const char *summary;                   /* one line */
    const char *details;                   /* paragraphs and examples for --help; NULL: none */
    const struct option *options;          /* ends with a NULL name; NULL: none */
    const struct command *const *children; /* ends with NULL; NULL: it runs itself */
    struct err *(*run)(const struct args *args, int *ret_status);
};

/* The program itself; its children are the commands at the top. */
extern const struct command command_root;

const struct command *command_find(const struct command *parent, const char *word);
const char *command_word(const struct command *c); /* "decode" of "inspect decode" */

/* What --help prints. */
void command_help(const struct command *c, struct strbuf *out);

/* Reads a file whole, "-" is standard input; ERR_VALIDATION names it. */
MUST_USE struct err *cli_read_file(const char *path, struct strbuf *out);
/* Writes to stdout; a closed pipe is not an error worth a word. */
MUST_USE struct err *cli_print(struct str text);

#endif
