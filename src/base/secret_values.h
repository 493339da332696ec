/* secret_values.h - finds credentials by their value alone. Pure. */
#ifndef KEEL_BASE_SECRET_VALUES_H
#define KEEL_BASE_SECRET_VALUES_H

#include "base/str.h"

/* The part of a value that is a credential anywhere: the password of an address, a key with a known
 * prefix, the text after "Bearer". Empty: there is none. */
struct str value_find_secret(struct str value);

/* Can it not be a credential, because it is a number, a switch, a path or a word? */
bool value_is_ordinary(struct str value);
/* Is it too long and too mixed to be a word of an ordinary text? */
bool value_is_random(struct str value);

#endif
