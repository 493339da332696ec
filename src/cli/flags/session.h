/* session.h - which session `keel -p` works in, and what that may cost. */
#ifndef KEEL_CLI_FLAGS_SESSION_H
#define KEEL_CLI_FLAGS_SESSION_H

#include "cli/args.h"
#include "sdk/agent/agent.h"

MUST_USE struct err *session_flags_read(const struct args *args, struct agent_options *o);

/* Can a session have this name? One line of text, and not empty; NULL: it keeps the one it has. */
MUST_USE struct err *session_name_check(const char *name);

/* Does the command line resume a session? */
bool session_flags_resume(const struct args *args);

#endif
