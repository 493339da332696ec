/* command.h - patterns over shell commands.
 *
 * Narrowly, a pattern must match every simple command in the line as written; what is looked up,
 * expanded or written to a file is in doubt. Widely, it is enough that it matches one of them, in
 * any spelling and order of options. Commands that programs such as env, xargs and sh start count
 * too. */
#ifndef KEEL_GATE_COMMAND_H
#define KEEL_GATE_COMMAND_H

#include "gate/pattern.h"
#include "gate/place.h"
#include "gate/shell/split.h"

/* A line and the commands it runs. */
struct command_line {
    struct str line; /* without surrounding white space */
    struct shell_split split;
    bool *is_unknown; /* by the split's index: keel does not know the program */
};
/* For a shell other than bash nothing about the line is sure, since grammars differ. */
void command_init(struct command_line *c, struct arena *a, struct str line, bool other_shell);

enum match command_match(struct str pattern, const struct command_line *c, enum reading reading);

/* Widely: does an unknown program get words that form such a command? It may start it. */
bool command_may_pass_on(struct str pattern, const struct command_line *c);

/* --- several patterns for one line --- */

/* Which commands of a line no pattern has allowed yet. */
struct command_cover {
    const struct command_line *command;
    bool *is_covered; /* by the split's index */
    size_t n_left;
};
/* False: the line cannot be judged in parts, or has only one. */
bool command_cover_init(struct command_cover *cover, const struct command_line *c, struct arena *a);
bool command_cover_add(struct command_cover *cover,
                       struct str pattern); /* true: it covers another command */

/* --- files --- */

/* Widely: does the line redirect to a file, or obviously change one, that the path pattern matches?
 * Unknown files are ignored here; the sandbox protects them. */
enum match command_match_files(struct str pattern, const struct subject *s, bool writes_only);

/* The next file that the line redirects to, as written or in an inner command; `given` is NULL if
 * it is unknown. Start with *at = 0. Devices that keep nothing are skipped. */
struct command_file {
    struct place place;
    bool writes, is_inner;
};
bool command_next_file(const struct subject *s, struct arena *a, size_t *at,
                       struct command_file *ret_file);
bool command_writes(const struct command_line *c);     /* does the line as written? */
bool command_is_path(const struct shell_word *target); /* a plain path without other expansions */

#endif
