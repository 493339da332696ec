/* command.h - patterns over shell commands.
 *
 * Narrowly, a pattern must hold for every simple command in the line as it is written; what is
 * looked up, expanded or written to a file is in doubt. Widely, it is enough that it holds for one
 * of them, however it is spelled and its options are ordered, and those that programs such as env,
 * xargs and sh start count too. */
#ifndef KEEL_GATE_COMMAND_H
#define KEEL_GATE_COMMAND_H

#include "gate/command_key.h"
#include "gate/pattern.h"
#include "gate/place.h"
#include "gate/shell/split.h"

/* A line, and what it runs. */
struct command_line {
    struct str line; /* without white space around it */
    struct shell_split split;
    struct command_glance glance; /* of all texts that a pattern is held against */
    bool *is_unknown;             /* by the split's index: keel does not know the program */
};
/* With another shell than bash nothing about the line is sure: grammars differ. */
void command_init(struct command_line *c, struct arena *a, struct str line, bool other_shell);

enum match command_match(struct str pattern, const struct command_line *c, enum reading reading);

/* Widely: does a program that keel does not know have a word from which on its words are such a
 * command? It may be one that starts it. */
bool command_may_pass_on(struct str pattern, const struct command_line *c);

/* "git log:*" and "git log *" are the command and whatever follows it; the head is "git log". */
struct str command_pattern_head(struct str pattern);
/* Has it no quotes and backslashes, and one blank between words? */
bool command_pattern_is_flat(struct str pattern);

/* --- several patterns for one line --- */

/* Which commands of a line no pattern has allowed yet. */
struct command_cover {
    const struct command_line *command;
    bool *is_covered; /* by the split's index */
    size_t n_left;
};
/* False: the line cannot be judged by its parts, or it has only one. */
bool command_cover_init(struct command_cover *cover, const struct command_line *c, struct arena *a);
bool command_cover_add(struct command_cover *cover, struct str pattern); /* true: it covers more */

/* --- files --- */

/* Widely: does the line open a file by a redirection, or change one in a way that is obvious, that
 * the pattern of paths means? Those that cannot be told are not asked about; the sandbox holds
 * them. */
enum match command_match_files(struct str pattern, const struct subject *s, bool writes_only);

/* Notes what the names of those files hold. False: there are none. */
bool command_note_files(const struct subject *s, struct grams *grams);

/* The next file that the line redirects to, in it as written or in what it starts; `given` is NULL
 * where it cannot be told which. Start with *at = 0. Devices that keep nothing are left out. */
struct command_file {
    struct place place;
    bool writes, is_inner;
};
bool command_next_file(const struct subject *s, struct arena *a, size_t *at,
                       struct command_file *ret_file);
bool command_writes(const struct command_line *c);     /* does the line as written? */
bool command_is_path(const struct shell_word *target); /* a plain one, expanded in no other way */

#endif
