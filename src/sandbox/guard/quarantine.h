/* quarantine.h - what a command has put where others would obey it: out of the way, and told.
 *
 * It is renamed in its directory, with ".keel-untrusted" after its name, so that nothing is lost
 * and nothing is run. */
#ifndef KEEL_SANDBOX_GUARD_QUARANTINE_H
#define KEEL_SANDBOX_GUARD_QUARANTINE_H

#include "base/strbuf.h"

#define QUARANTINE_SUFFIX ".keel-untrusted"

struct unlocks;

/* Whom to tell, and of which directory: paths are relative to it. Directories that may not be
 * changed are unlocked (unlock.h). */
struct guard_report {
    const char *root;
    struct strbuf *notes;
    struct unlocks *unlocks;
};
/* Of each `what` the first paths are named; then a line says that there are more. */
void guard_report_path(const struct guard_report *r, const char *path, const char *what);
void guard_report_failure(const struct guard_report *r, const char *path); /* why: errno */

/* `name` is in the directory `dir`; `path` is what a person calls it. */
bool quarantine(const struct guard_report *r, int dir, const char *name);
void quarantine_named(const struct guard_report *r, int dir, const char *name, const char *path);
bool is_quarantined(const char *name); /* is it a name that quarantine() gives? */
/* The same for a directory that lies in one whose contents others obey: it goes to `to`, too. */
void quarantine_elsewhere(const struct guard_report *r, int dir, const char *name, int to,
                          const char *path);

#endif
