/* ini.h - values of files like ~/.aws/config: "[section]" lines, "name = value" lines.
 *
 * Lines that begin with '#' or ';' are comments, and so is the text after a blank and one of them
 * in a section's line. An indented line below a name without a value belongs to a group of names
 * ("s3 =", then " max_queue_size = 1"), and is ignored. If a name is repeated, the last one wins.
 * Pure. */
#ifndef KEEL_BASE_INI_H
#define KEEL_BASE_INI_H

#include "base/str.h"

#define INI_MAX_BYTES ((size_t)1 << 20) /* nothing is found in a longer text */

bool ini_has_section(struct str text, struct str section);
/* Without white space around it; borrows from the text. Empty if it is missing. */
struct str ini_get(struct str text, struct str section, struct str name);

#endif
