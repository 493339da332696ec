/* settings_check.h - what the table of keys says about a file's tree. */
#ifndef KEEL_CONFIG_SETTINGS_CHECK_H
#define KEEL_CONFIG_SETTINGS_CHECK_H

#include "config/settings_keys.h"

/* The row whose path fits, * standing for any member; NULL if the key is not ours. */
const struct setting_key *setting_key_find(struct str path);

/* Whose words they are. */
enum settings_origin {
    SETTINGS_OWN,     /* a file for keel: a key that is not known is an error */
    SETTINGS_FLAGS,   /* --settings: programs may hand over what is meant for another one */
    SETTINGS_FOREIGN, /* a file for another program: only that it is an object */
};

/* ERR_VALIDATION names file and key of the first value that is wrong, and what it must be, or a
 * key that does not exist and the nearest that does. Of flags only keys that are like a known one
 * are errors. */
MUST_USE struct err *settings_check(const struct json *tree, const char *file,
                                    enum settings_origin origin);

/* What a file of this kind (bits of enum setting_source) can set; names of the rest are appended,
 * with commas. */
struct json *settings_part(struct arena *a, const struct json *tree, unsigned from,
                           struct strbuf *left_out) MUST_USE;

/* Takes off the lists of what is allowed in `over` what those of `under` do not allow. */
void settings_narrow(struct arena *a, const struct json *under, struct json *over);

#endif
