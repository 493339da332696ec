/* secret_places.h - the places where programs keep credentials: keys, tokens, passwords, cookies,
 * wallets, and histories of typed text.
 *
 * One table for every reader that must not show them: the file tools refuse these places in every
 * mode, the sandbox hides them from commands, exports replace what was read there. Names are half
 * of it: files that only their owner may read count too (sys/private_mode.h). A row says what the
 * place holds, as a reason. Pure. */
#ifndef KEEL_BASE_SECRET_PLACES_H
#define KEEL_BASE_SECRET_PLACES_H

#include "base/str.h"

struct secret_place {
    const char *path; /* below the home, or absolute; a file, or a directory with all in it */
    const char *what;
};

/* Both end with a NULL path. */
extern const struct secret_place secret_places_in_home[];
extern const struct secret_place secret_places_of_system[];

/* Variables that move such a place. */
struct secret_variable {
    const char *name;
    const char *below; /* in the directory that it names; NULL: it names the place itself */
    const char *what;
};
extern const struct secret_variable secret_variables[]; /* ends with a NULL name */

/* The row for an absolute path, or one that begins with "~/"; NULL: none. Homes are /root, and the
 * directories in /home, /var/home and /Users: the path may come from another machine. Links are not
 * followed. */
const struct secret_place *secret_place_find(struct str path);

#endif
