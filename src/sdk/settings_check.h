/* settings_check.h - what the table of keys says about a file's tree. */
#ifndef KEEL_SDK_SETTINGS_CHECK_H
#define KEEL_SDK_SETTINGS_CHECK_H

#include "sdk/settings.h"

/* The row whose path fits, * standing for any member; NULL if the key is not ours. */
const struct setting_key *setting_key_find(struct str path);

/* ERR_VALIDATION names file, key, expected and actual type of the first value that is wrong. */
MUST_USE struct err *settings_check(const struct json *tree, const char *file);

/* What may be used of a project that is not trusted; names of the rest are appended, with commas.
 */
struct json *settings_untrusted_part(struct arena *a, const struct json *tree,
                                     struct strbuf *left_out) MUST_USE;

/* Takes off the lists of what is allowed in `over` what those of `under` do not allow. */
void settings_narrow(struct arena *a, const struct json *under, struct json *over);

#endif
