/* script.h - the effects of a program of sed or awk besides printing, as far as its text shows.
 * Pure.
 *
 * Both languages can write files and start commands. In doubt every effect is possible. */
#ifndef KEEL_GATE_SHELL_SCRIPT_H
#define KEEL_GATE_SHELL_SCRIPT_H

#include "gate/shell/split.h"

enum script_effect {
    SCRIPT_STARTS = 1 << 0, /* starts another program */
    SCRIPT_WRITES = 1 << 1, /* writes a file */
    SCRIPT_READS = 1 << 2,  /* writes a file that it names itself */
    SCRIPT_ANY = SCRIPT_STARTS | SCRIPT_WRITES | SCRIPT_READS,
};

unsigned sed_script_effects(struct str script); /* enum script_effect */
unsigned awk_program_effects(struct str program);

/* The effects of a call of the program with its options; words[0] is its name. */
unsigned sed_effects(const struct shell_word *words, size_t n);
unsigned awk_effects(const struct shell_word *words, size_t n);

#endif
