/* json_skim.h - a few members of an object's text, without a tree. Pure.
 *
 * For texts that are known to be JSON, because keel wrote them and their checksum fits: what lies
 * between the members that are wanted is only passed over, which takes a tenth of the time of
 * json_parse(). Of a text that json_parse() takes, the members found here are the `raw` that it
 * finds; of any other text, whatever comes out lies within it. */
#ifndef KEEL_BASE_JSON_SKIM_H
#define KEEL_BASE_JSON_SKIM_H

#include "base/json.h"

struct json_wanted {
    struct str key;
    struct str raw; /* of its value; empty: the object has no such member */
};

/* Fills `raw` of each. False: it cannot tell, because the text is not an object, or because a name
 * in it is written with escapes. */
bool json_skim(struct str object, struct json_wanted *wanted, size_t n_wanted);

#endif
