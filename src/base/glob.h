/* glob.h - path patterns: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**`, backslash escapes.
 *
 * Compiled once, matched in time linear in pattern x path, whatever the pattern: no backtracking
 * blow-up. Works on bytes, but `?` and classes take whole UTF-8 characters. */
#ifndef KEEL_BASE_GLOB_H
#define KEEL_BASE_GLOB_H

#include "base/err.h"

enum glob_flags {
    GLOB_NOCASE = 1 << 0,            /* ASCII letters */
    GLOB_LITERAL_SEPARATOR = 1 << 1, /* `*`, `?` and classes do not match '/' */
    GLOB_NO_ESCAPE = 1 << 2,         /* backslash is an ordinary character */
    GLOB_EMPTY_ALTERNATES = 1 << 3,  /* {,a} may match nothing */
    GLOB_NO_BRACES = 1 << 4,         /* { } and , are ordinary, as in gitignore */
};

struct glob;

#define GLOB_MAX_PATTERN 4096

MUST_USE struct err *glob_compile(struct str pattern, int flags, struct glob **ret_glob);
bool glob_matches(const struct glob *g, struct str path);
void glob_free(struct glob *g);
DEFINE_AUTO_PTR(glob, glob_free)

#endif
