/* types.h - file types by name: which files are "py" or "make". */
#ifndef KEEL_TOOL_GREP_TYPES_H
#define KEEL_TOOL_GREP_TYPES_H

#include "base/err.h"

struct grep_types;

/* ERR_VALIDATION lists the known types. */
MUST_USE struct err *grep_types_find(struct str name, struct grep_types **ret_types);
void grep_types_free(struct grep_types *t);

/* `name` is the file's name without its directory. NULL matches every file. */
bool grep_types_match(const struct grep_types *t, const char *name);

#endif
