/* split.h - what a line of bash would run: its simple commands, and the files it writes to.
 *
 * Pure. The line is read as `bash -c` reads it: quotes, expansions, here-documents, compound
 * commands, functions. Anything that is not certain (a syntax error, text that depends on the
 * running shell) clears `is_sure`; what was seen is listed anyway. Time and memory are linear in
 * the line, times SHELL_MAX_DEPTH in the worst case.
 *
 * Commands in the line, also in `$( )` and in function bodies, are as written. Commands that only a
 * program would start (`env rm x`, `sh -c 'rm x'`, `find -exec`) follow as inner ones. One whose
 * words are unseen (`eval "$x"`, `curl x | sh`) has a single word that may be anything. */
#ifndef KEEL_GATE_SHELL_SPLIT_H
#define KEEL_GATE_SHELL_SPLIT_H

#include "base/arena.h"

#define SHELL_MAX_BYTES ((size_t)1 << 20)
#define SHELL_MAX_COMMANDS 4096
#define SHELL_MAX_DEPTH 24 /* of nested substitutions, subshells and wrappers */

#define SHELL_MAX_READINGS 4

/* In texts: stands for an expansion whose result is unknown, be it nothing or several words. */
#define SHELL_ANYTHING '\0'

struct shell_word {
    struct str source;   /* as written */
    struct str text;     /* without quotes */
    bool is_known;       /* nothing in it is expanded: the program gets this text */
    bool may_hold_slash; /* and it expands to more than file names */
};

struct split_command {
    const struct shell_word *words; /* assignments first, then the program and its arguments */
    size_t n_words, n_assignments;
    bool is_inner;
    struct str source;  /* the words as written, separated by one blank; SHELL_ANYTHING for an
                           unknown word */
    struct str text;    /* the same without quotes, with the known parts of each word */
    size_t program_at;  /* in text: after the assignments */
    size_t basename_at; /* in text: after the program's directory */
    /* For rules that deny: "git -C x push" is also "git push". Without leading options, and without
     * a word that may be an option's value. */
    struct str readings[SHELL_MAX_READINGS];
    size_t n_readings;
};

struct shell_redirection {
    struct shell_word target;
    bool writes;
    bool is_inner;
    bool is_moved; /* after a `cd`: a relative path starts elsewhere */
};

struct shell_split {
    struct split_command *commands;
    size_t n_commands;
    struct shell_redirection *redirections; /* only to files */
    size_t n_redirections;
    bool is_sure;
    bool changes_names;  /* it defines functions, or its loops set variables that programs use */
    bool starts_unseen;  /* a program that can start any other: python -c, make, ssh */
    bool sets_variables; /* one of its commands may, such as read, export, printf -v */
};

/* The program without its directory; empty: there is none. */
static inline struct str shell_command_name(const struct split_command *c)
{
    if (c->n_words == c->n_assignments)
        return (struct str){0};
    return str_skip(c->words[c->n_assignments].text, c->basename_at - c->program_at);
}

/* Does the split show what a program of this name starts, or does the program start nothing that
 * its words name? The words of any other may be a command. */
bool shell_knows_program(struct str name);

/* Everything lives as long as the arena and `line`. */
void shell_split(struct arena *a, struct str line, struct shell_split *ret_split);

/* The paths that the line obviously writes or removes: targets of redirections, operands of rm, mv,
 * tee and the like. As given: relative to the current directory, "~/" not expanded. Incomplete. */
void shell_written_paths(struct arena *a, const struct shell_split *split, struct str **ret_paths,
                         size_t *ret_n);

#endif
