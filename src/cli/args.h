/* args.h - command lines: options from a table, the rest as operands.
 *
 * Takes --name VALUE, --name=VALUE, -x VALUE, -xVALUE, -ab for -a -b, and -- to end options;
 * options may be anywhere. An unknown option is an error that names the nearest known one, and
 * so is the name of an option where a value belongs: --name=--other passes that. */
#ifndef KEEL_CLI_ARGS_H
#define KEEL_CLI_ARGS_H

#include "base/err.h"

/* Operands or values that are sessions: completion asks for those of the directory. */
#define COMPLETE_SESSIONS "SESSION"
/* Those that are commands of keel, tools with rules, models, vendors, or programs: completion
 * offers what there is. */
#define COMPLETE_COMMANDS "COMMAND"
#define COMPLETE_TOOLS "TOOL"
#define COMPLETE_MODELS "MODEL"
#define COMPLETE_VENDORS "VENDOR"
#define COMPLETE_PROGRAMS "PROGRAM"

struct option {
    const char *name;       /* without dashes */
    char letter;            /* 0: none */
    const char *value_name; /* NULL: a switch */
    const char *help;
    const char *alias; /* another spelling that is taken too; NULL: none */
    char other_letter; /* another letter that is taken too; 0: none */
    const char *group; /* heading in --help, of this one and those that follow; NULL: the same */
    const char *words; /* the values it takes, for completion: "text json"; NULL: not a list */
    /* Takes several values: words behind it are further ones, once there is an operand, or where
     * they look like it. NULL: takes one. */
    bool (*is_item)(struct str word);
};

struct args {
    const struct option *options; /* ends with a NULL name */
    const char *command;          /* for messages: "inspect decode" */
    struct arg {
        const struct option *option;
        const char *value;
    } *given;
    size_t n_given;
    const char **operands;
    size_t n_operands;
};

MUST_USE struct err *args_parse(struct args *a, const char *command, const struct option *options,
                                int argc, char **argv);
/* The same for operands that are a command of their own: the first one ends the options. */
MUST_USE struct err *args_parse_command(struct args *a, const char *command,
                                        const struct option *options, int argc, char **argv);
void args_done(struct args *a);
DEFINE_AUTO_VAL(args, args_done)

bool args_has(const struct args *a, const char *name);
const char *args_get(const struct args *a,
                     const char *name); /* the last value; NULL if not given */
/* The next value of a repeated option; start with *at = 0. NULL after the last. */
const char *args_next(const struct args *a, const char *name, size_t *at);
/* The value as an integer within bounds, or `otherwise` when not given. */
MUST_USE struct err *args_int(const struct args *a, const char *name, int64_t least, int64_t most,
                              int64_t otherwise, int64_t *ret_value);
/* ERR_VALIDATION unless there are `least` to `most` operands; `usage` says what they are. */
MUST_USE struct err *args_count(const struct args *a, size_t least, size_t most, const char *usage);

#endif
