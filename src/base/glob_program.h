/* glob_program.h - the program that glob_compile.c writes and glob.c runs. Private to glob.
 *
 * A program is a list of operations with a position each. A set of positions says where a match may
 * be after the characters read so far. Globs repeat single characters only, never groups, so all
 * jumps lead forward: one pass over the set in order also follows every jump. */
#ifndef KEEL_BASE_GLOB_PROGRAM_H
#define KEEL_BASE_GLOB_PROGRAM_H

#include "base/glob.h"

enum glob_op_kind {
    OP_CHAR,      /* the character `c` */
    OP_ONE,       /* any character */
    OP_CLASS,     /* one in `c` ranges, the first at `to` */
    OP_NOT_CLASS, /* one in none of them */
    OP_RUN,       /* any number of characters */
    OP_FORK,      /* continues both after it and at `to` */
    OP_JUMP,      /* continues at `to` */
    OP_END,       /* the pattern is used up; always and only the last one */
};

struct glob_op {
    uint8_t kind;
    bool takes_slash; /* ONE, CLASS, NOT_CLASS, RUN: may '/' be among them? */
    uint16_t to;
    uint32_t c;
};

struct glob_range {
    uint32_t low, high;
};

/* An alternative costs most: two operations for the one byte of its comma. */
#define GLOB_MAX_OPS (2 * GLOB_MAX_PATTERN + 1)

struct glob {
    int flags;
    char *text;            /* what every match starts and ends with, concatenated */
    size_t n_head, n_tail; /* bytes of text */
    size_t n_ops;          /* of the program for what is between them */
    struct glob_op *ops;
    struct glob_range *ranges;
};

#define GLOB_BAD_BYTE 0x110000u /* the number of a bad byte is this plus the byte */

/* The next character of a pattern or path; a byte that is not UTF-8 gets a number of its own. */
uint32_t glob_take_char(struct str *s, int flags);
uint32_t glob_fold(uint32_t c); /* ASCII letters to lower case */

#endif
