/* secret_places.h - where programs keep credentials: keys, tokens, passwords, cookies, wallets, and
 * histories that hold what was typed.
 *
 * One table for all who must not show them: the file tools refuse these places in every mode, the
 * sandbox hides them from commands, exports replace what was read there. Names are half of it: what
 * only its owner may read counts too (sys/private_mode.h). A row says what is kept there, so that
 * whoever adds one has a reason. Pure. */
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

/* Variables by which a person has moved such a place. */
struct secret_variable {
    const char *name;
    const char *below; /* in the directory that it names; NULL: it names the place itself */
    const char *what;
};
extern const struct secret_variable secret_variables[]; /* ends with a NULL name */

/* The row that holds an absolute path, or one that begins with "~/"; NULL: none does. Homes are
 * /root, and what lies in /home, /var/home or /Users: the path may come from another machine. Links
 * are not followed. */
const struct secret_place *secret_place_find(struct str path);

#endif
