/* options.h - `rm -rf x` is `rm -fr x` and `rm -r -f x`.
 *
 * Handles single letters after one dash, in any order and any number of words, before `--`. Long
 * options, and letters with a value in the same word, are ordinary words. */
#ifndef KEEL_GATE_OPTIONS_H
#define KEEL_GATE_OPTIONS_H

#include "base/strbuf.h"
#include "gate/shell/split.h"

/* Removes the letters from a pattern without quotes. They are a set, one bit each. False: the
 * pattern has none before its first `*`, or they cannot be reordered. */
bool options_of_pattern(struct str pattern, uint64_t *ret_letters, struct strbuf *rest);

/* Removes them from a command, whose program loses its directory. */
struct command_options {
    uint64_t letters;
    bool may_have_more; /* an expanded word may be options */
};
struct command_options options_of_command(const struct split_command *c, struct strbuf *rest);

#endif
