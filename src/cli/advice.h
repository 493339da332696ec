/* advice.h - what to do instead, for words and options that keel does not have: what users of other
 * agents type, what was misspelt, and what another command has. */
#ifndef KEEL_CLI_ADVICE_H
#define KEEL_CLI_ADVICE_H

#include "cli/command.h"

/* Is the word so near to a known one that this was meant? One wrong letter of three is too many:
 * "hello" is not "help". */
bool advice_is_misspelt(struct str word, struct str known);

/* For a word that names no command below `parent`: a sentence without its full stop; NULL: there is
 * nothing to say. At the top a word may begin with a slash. */
const char *advice_word(const struct command *parent, const char *word);

/* ERR_VALIDATION: the command that is parsed has no such option. `given` with its dashes, without
 * its value. */
MUST_USE NEVER_NULL struct err *advice_option(const struct args *a, struct str given);

/* ERR_VALIDATION: options of `a` precede the command that its operands name. */
MUST_USE NEVER_NULL struct err *advice_order(const struct args *a);

#endif
