/* words.h - possible file names in a command line. Pure.
 *
 * For code that must know every file that a command could run: an extra word is harmless, a missing
 * one is not. Each line is read twice. Once as a shell reads it, for quoted names with blanks; once
 * split at everything that can precede or follow a name, for quoted command lines. Variables are
 * dropped: "$DIR"/check.sh becomes /check.sh. */
#ifndef KEEL_HOOK_WORDS_H
#define KEEL_HOOK_WORDS_H

#include "base/arena.h"

struct word_list {
    struct str *items; /* unique, each followed by a NUL; in the arena */
    size_t n, room;
    bool is_full; /* there are more than HOOK_MAX_WORDS */
};
#define HOOK_MAX_WORDS 512

/* Appends the words of a line. */
void hook_words_add(struct word_list *l, struct arena *a, struct str line);

#endif
