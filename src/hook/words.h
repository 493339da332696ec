/* words.h - what may be the name of a file in a command line. Pure.
 *
 * For who must know every file that a command could run, not for who runs it: a word too many does
 * no harm, one too few would. So a line is read twice: as a shell would, for names with blanks in
 * quotes, and cut at everything that can stand before or behind a name, for command lines in
 * quotes. Variables are dropped: of "$DIR"/check.sh stays /check.sh. */
#ifndef KEEL_HOOK_WORDS_H
#define KEEL_HOOK_WORDS_H

#include "base/arena.h"

struct word_list {
    struct str *items; /* each once, followed by a NUL; in the arena */
    size_t n, room;
    bool is_full; /* there are more than HOOK_MAX_WORDS */
};
#define HOOK_MAX_WORDS 512

/* Appends the words of a line. */
void hook_words_add(struct word_list *l, struct arena *a, struct str line);

#endif
