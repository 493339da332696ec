/* denied_places.h - deny rules about paths, for who enforces them on something else than calls: the
 * sandbox of commands.
 *
 * Rules are read as for calls, widely: from the project's root and from the current directory, and
 * a directory that is denied is denied with all below it. A picture of the rules at this time;
 * threads may share it. */
#ifndef KEEL_GATE_DENIED_PLACES_H
#define KEEL_GATE_DENIED_PLACES_H

#include "base/glob.h"
#include "gate/gate.h"

struct denied_place {
    struct str rule;    /* as it was written; borrowed from the rules */
    bool is_untrusted;  /* a project says it that is not trusted */
    bool hides;         /* not to be read, and so not to be written; else only not to be written */
    const char *path;   /* absolute; links in it are not resolved */
    struct glob *glob;  /* of what is denied below `path`, over absolute paths; NULL: `path` is */
    struct str pattern; /* what the glob was made of */
};

struct denied_places {
    struct arena arena;
    struct denied_place *items;
    size_t n, room;
};

/* ERR_SANDBOX for a rule that cannot be read: what it was to deny is not known. Those of a project
 * that is not trusted are skipped: it must not be able to stop all commands. */
MUST_USE struct err *denied_places_init(struct denied_places *d,
                                        const struct permission_rules *rules,
                                        const struct tool_state *state);
void denied_places_done(struct denied_places *d);
DEFINE_AUTO_VAL(denied_places, denied_places_done)

#endif
