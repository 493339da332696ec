/* variables.h - which variables of an environment are private. Pure.
 *
 * By name and by value (secret_values.h): a name says what a person meant, a value what it is. If a
 * name is only a hint (AUTH, KEY in the middle), a value that cannot be a credential (a path, a
 * number, a word) decides for the variable. All names and prefixes are in tables, with the
 * reason. */
#ifndef KEEL_BASE_VARIABLES_H
#define KEEL_BASE_VARIABLES_H

#include "base/str.h"

enum variable_kind {
    VARIABLE_PLAIN,
    VARIABLE_SECRET,  /* a credential, or the place of one */
    VARIABLE_ADDRESS, /* of something that a confined command cannot or must not reach */
    VARIABLE_PROXY,   /* of the user; without a password */
};

enum variable_kind variable_kind(struct str name, struct str value);

/* By its name alone: OPENAI_API_KEY, GH_TOKEN, AWS_ACCESS_KEY_ID, PGPASSWORD. */
bool variable_is_secret(struct str name);

#endif
