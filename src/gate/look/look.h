/* look.h - which commands only look: one table for all users.
 *
 * A line only looks if bash reads it as keel does, it writes to no file, and every command in it,
 * including those that xargs or find start, is in the table with options that do nothing else. The
 * table is short rather than clever. It serves three purposes:
 * - the gate lets such a line run without a question, where nothing can be changed
 *   (docs/adr/0024-looking-needs-no-question.md);
 * - undo saves nothing before it;
 * - it may run beside other calls of its batch, if it does not move.
 * The second and the third have no sandbox to fall back on, so a row must be right by itself. */
#ifndef KEEL_GATE_LOOK_LOOK_H
#define KEEL_GATE_LOOK_LOOK_H

#include "gate/shell/split.h"

struct reach_map;
struct subject;

/* Pure. */
bool split_only_looks(const struct shell_split *split);
bool line_only_looks(struct str line);  /* as bash reads it */
bool look_has_program(struct str name); /* with any options */
/* A line that only looks: does it change the directory of the shell, and so of the session? */
bool split_moves(const struct shell_split *split);

/* The programs of the table, in its order, with their options in words; ends with NULL. */
struct look_program {
    const char *name;
    const char *but; /* what it must not have; NULL: no limit */
};
const struct look_program *look_programs(struct arena *a, size_t *ret_n) MUST_USE;

/* A line that only looks: would Read look without a question at everything that it names in plain
 * words, and at every program it runs? What it names in other ways is left to the sandbox, which
 * shows nothing else. Blocks. */
bool look_stays_free(const struct subject *s, const struct reach_map *map, struct arena *a);

/* How a row of the table reads its words; for look_stays_free(). */
enum look_how {
    LOOK_IS_BUILTIN = 1 << 0, /* a builtin of bash */
    LOOK_NO_FILES = 1 << 1,   /* operands are texts */
    LOOK_TEXT_FIRST = 1 << 2, /* the first operand is a text, unless -e or -f gives one */
    LOOK_NAMES = 1 << 3,      /* operands are names of programs */
    LOOK_ONE_FILE = 1 << 4,   /* it would write to a second operand */
    LOOK_NO_WORDS = 1 << 5,   /* only without words */
    LOOK_MOVES = 1 << 6,      /* moves the shell to its operand */
};
struct look_row {
    const char *name;
    unsigned how;        /* enum look_how */
    const char *letters; /* forbidden short options; NULL: none */
    const char *words;   /* forbidden long options, each between blanks; NULL: none */
    const char *valued;  /* short options whose value is not a file; NULL: none */
    bool (*check)(const struct split_command *c); /* a further check; may be NULL */
};
const struct look_row *look_row_of(const struct split_command *c); /* NULL: not in the table */

/* --- git.c --- */

bool git_only_looks(const struct split_command *c);

#endif
