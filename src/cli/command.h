/* command.h - a command of the keel program: one file, one const descriptor, one function.
 *
 * run() sets the exit status (0), or returns an error, which main reports with its hint and turns
 * into one. */
#ifndef KEEL_CLI_COMMAND_H
#define KEEL_CLI_COMMAND_H

#include "cli/args.h"
#include "cli/io.h"

struct command {
    const char *name;                      /* "doctor"; "inspect decode" for one below another */
    const char *usage;                     /* "[--probe]": what follows the name; a line each */
    const char *operands;                  /* words it takes, for completion; NULL: files */
    const char *group;                     /* heading in keel --help; NULL below another command */
    const char *summary;                   /* one line */
    const char *details;                   /* paragraphs and examples for --help; NULL: none */
    const struct option *options;          /* ends with a NULL name; NULL: none */
    const char *remedy;                    /* for a word that names no child; NULL: its --help */
    bool is_unlisted;                      /* it works, but no list names it */
    bool takes_command;                    /* its operands are a command with options of its own */
    const struct command *const *children; /* ends with NULL; NULL: it runs itself */
    struct err *(*run)(const struct args *args, int *ret_status);
};

/* The program itself; its children are the commands at the top. */
extern const struct command command_root;

const struct command *command_find(const struct command *parent, const char *word);
/* The one that was probably meant; NULL: none is similar. */
const struct command *command_guess(const struct command *parent, const char *word);
const char *command_word(const struct command *c); /* "decode" of "inspect decode" */

/* What --help prints. */
void command_add_help(const struct command *c, struct strbuf *out);

/* ERR_VALIDATION: the word names no command below `parent`. */
MUST_USE NEVER_NULL struct err *command_unknown(const struct command *parent, const char *word);

#endif
