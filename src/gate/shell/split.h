/* split.h - what a line of bash would run: its simple commands, and the files it writes to.
 *
 * Pure. The line is read as `bash -c` reads it: quotes, expansions, here-documents, compound
 * commands, functions. Whatever is not understood for sure (a syntax error, text that only the
 * shell at work can judge) clears `is_sure`; what was seen is listed all the same. Time and memory
 * are linear in the line, times SHELL_MAX_DEPTH at worst.
 *
 * Commands that stand in the line, in `$( )` and in bodies of functions too, are as written. Those
 * that only a program would start (`env rm x`, `sh -c 'rm x'`, `find -exec`) are listed after it as
 * inner ones. One whose words cannot be seen (`eval "$x"`, `curl x | sh`) has a single word that
 * may be anything. */
#ifndef KEEL_GATE_SHELL_SPLIT_H
#define KEEL_GATE_SHELL_SPLIT_H

#include "base/arena.h"

#define SHELL_MAX_BYTES ((size_t)1 << 20)
#define SHELL_MAX_COMMANDS 4096
#define SHELL_MAX_DEPTH 24 /* of substitutions, subshells and wrappers in each other */

#define SHELL_MAX_READINGS 4

/* In texts: here an expansion puts what cannot be told, be it nothing or several words. */
#define SHELL_ANYTHING '\0'

struct shell_word {
    struct str source;   /* as written */
    struct str text;     /* without quotes */
    bool is_known;       /* nothing is expanded in it: the program gets this text */
    bool may_hold_slash; /* and what is expanded is more than a file's name */
};

struct split_command {
    const struct shell_word *words; /* assignments first, then the program and its arguments */
    size_t n_words, n_assignments;
    bool is_inner;
    struct str source;  /* the words as written with one blank between; SHELL_ANYTHING for a word
                           that is not known */
    struct str text;    /* the same without quotes, with all that is known of a word */
    size_t program_at;  /* in text: after the assignments */
    size_t basename_at; /* in text: after the program's directory */
    /* For rules that forbid: "git -C x push" is "git push", too. Without the options in front, and
     * without a word behind one that may be its value. */
    struct str readings[SHELL_MAX_READINGS];
    size_t n_readings;
};

struct shell_redirection {
    struct shell_word target;
    bool writes;
    bool is_inner;
    bool is_moved; /* after a `cd`: a relative path counts from elsewhere */
};

struct shell_split {
    struct split_command *commands;
    size_t n_commands;
    struct shell_redirection *redirections; /* to files only */
    size_t n_redirections;
    bool is_sure;
    bool changes_names;  /* it defines functions, or its loops set variables that programs heed */
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

/* Does the split tell what a program of this name starts, or does it start nothing that its words
 * name? Those of any other may be a command. */
bool shell_knows_program(struct str name);

/* Everything lives as long as the arena and `line`. */
void shell_split(struct arena *a, struct str line, struct shell_split *ret_split);

/* What the line obviously writes to or removes: targets of redirections, operands of rm, mv, tee
 * and the like. As given: relative to the current directory, "~/" not expanded. Not all of it. */
void shell_written_paths(struct arena *a, const struct shell_split *split, struct str **ret_paths,
                         size_t *ret_n);

#endif
