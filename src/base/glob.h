/* glob.h - path patterns: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**`, backslash escapes.
 *
 * Compiled once, matched in time linear in pattern x path, whatever the pattern: no backtracking
 * blow-up. Works on bytes, but `?` and classes take whole UTF-8 characters; a byte that is not
 * UTF-8 counts as one character. `**` crosses directories where it stands for whole ones: at the
 * start or after a '/', and before a '/' or at the end; elsewhere it is like `*`. A glob does not
 * change once it is made: threads may share it. */
#ifndef KEEL_BASE_GLOB_H
#define KEEL_BASE_GLOB_H

#include "base/err.h"

enum glob_flags {
    GLOB_NOCASE = 1 << 0,            /* ASCII letters */
    GLOB_LITERAL_SEPARATOR = 1 << 1, /* `*`, `?` and `[!a]` do not match '/'; `[/]` does */
    GLOB_NO_ESCAPE = 1 << 2,         /* backslash is an ordinary character */
    GLOB_EMPTY_ALTERNATES = 1 << 3,  /* {,a} may match nothing */
    GLOB_NO_BRACES = 1 << 4,         /* { } and , are ordinary, as in gitignore */
    /* As git matches paths: on bytes, no braces, no class matches '/', classes know escapes and
     * names such as [:alpha:], and `**` after plain text alone counts as at the start. */
    GLOB_GIT = 1 << 5,
};

struct glob;

#define GLOB_MAX_PATTERN 4096 /* bytes */
#define GLOB_MAX_DEPTH 64     /* of braces in braces */

MUST_USE struct err *glob_compile(struct str pattern, int flags, struct glob **ret_glob);
bool glob_matches(const struct glob *g, struct str path);
void glob_free(struct glob *g);
DEFINE_AUTO_PTR(glob, glob_free)

#endif
