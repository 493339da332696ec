/* options.h - `rm -rf x` is `rm -fr x` and `rm -r -f x`.
 *
 * Single letters after one dash, in any order and in any number of words, before `--`. Long options
 * and letters with a value in the same word are words like any other. */
#ifndef KEEL_GATE_OPTIONS_H
#define KEEL_GATE_OPTIONS_H

#include "base/strbuf.h"
#include "gate/shell/split.h"

/* Letters are a set: one bit each. Takes the letters out of a pattern without quotes. False: it has
 * none before its first `*`, or is none of the kind that can be put in another order. */
bool options_of_pattern(struct str pattern, uint64_t *ret_letters, struct strbuf *rest);

/* Takes them out of a command, from its program on, which loses its directory. */
struct command_options {
    uint64_t letters;
    bool may_have_more; /* a word that is expanded may be some */
};
struct command_options options_of_command(const struct split_command *c, struct strbuf *rest);

#endif
