/* aside.h - what a command has put where others would obey it: out of the way, and told.
 *
 * It is renamed in its directory, with ".keel-untrusted" after its name, so that nothing is lost
 * and nothing is run. */
#ifndef KEEL_SANDBOX_ASIDE_H
#define KEEL_SANDBOX_ASIDE_H

#include "base/strbuf.h"

#define ASIDE ".keel-untrusted"

struct unlocks;

/* Whom to tell, and of which directory: paths are relative to it. Directories that may not be
 * changed are unlocked (unlock.h). */
struct teller {
    const char *root;
    struct strbuf *notes;
    struct unlocks *unlocks;
};
/* Of each `what` the first paths are named; then a line says that there are more. */
void tell(const struct teller *t, const char *path, const char *what);
void tell_failure(const struct teller *t, const char *path); /* why: errno */

/* `name` is in the directory `dir`; `path` is what a person calls it. */
bool move_aside(const struct teller *t, int dir, const char *name);
void move_aside_told(const struct teller *t, int dir, const char *name, const char *path);
bool is_aside(const char *name); /* is it a name that move_aside() gives? */
/* The same for a directory that lies in one whose contents others obey: it goes to `to`, too. */
void move_out_told(const struct teller *t, int dir, const char *name, int to, const char *path);

#endif
