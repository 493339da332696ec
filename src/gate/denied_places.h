/* denied_places.h - deny rules about paths, for the sandbox of commands.
 *
 * Rules are read widely, as for calls: relative to the project's root and to the current directory.
 * A denied directory is denied with everything below it. This is a snapshot of the rules; threads
 * may share it. */
#ifndef KEEL_GATE_DENIED_PLACES_H
#define KEEL_GATE_DENIED_PLACES_H

#include "base/glob.h"
#include "gate/gate.h"

struct denied_place {
    struct str rule;   /* as written; borrowed from the rules */
    bool is_untrusted; /* it comes from an untrusted project */
    bool hides;        /* denies reading and writing; otherwise only writing */
    const char *path;  /* absolute; links in it are not resolved */
    struct glob
        *glob; /* what is denied below `path`, over absolute paths; NULL: `path` itself is */
    struct str pattern; /* the text of the glob */
};

struct denied_places {
    struct arena arena;
    struct denied_place *items;
    size_t n, room;
};

/* ERR_SANDBOX for a rule that cannot be read, since what it denies is unknown. Those of an
 * untrusted project are skipped: it must not be able to stop all commands. */
MUST_USE struct err *denied_places_init(struct denied_places *d,
                                        const struct permission_rules *rules,
                                        const struct tool_state *state);
void denied_places_done(struct denied_places *d);
DEFINE_AUTO_VAL(denied_places, denied_places_done)

#endif
