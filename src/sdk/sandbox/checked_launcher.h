/* checked_launcher.h - starts commands of a trusted project's settings, as long as the files that
 * they run are what was trusted.
 *
 * Commands of hooks and of the search run outside of the sandbox, and their scripts lie where an
 * agent works. Right before each start the files are read again; one that has changed refuses the
 * start with ERR_TOOL_DENIED. */
#ifndef KEEL_SDK_SANDBOX_CHECKED_LAUNCHER_H
#define KEEL_SDK_SANDBOX_CHECKED_LAUNCHER_H

#include "port/launcher.h"
#include "sdk/project.h"

struct checked_launcher {
    struct launcher launcher;
    struct launcher *inner;
    const struct project *project;
};

/* For command lines of a shell: argv is SHELL -c LINE. Both are borrowed; `inner` may be NULL when
 * nothing is ever started. */
void checked_launcher_init(struct checked_launcher *c, struct launcher *inner,
                           const struct project *project);

#endif
