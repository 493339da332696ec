/* agent_hooks.h - a person's hooks, as the settings have them, put around an agent. */
#ifndef KEEL_SDK_AGENT_HOOKS_H
#define KEEL_SDK_AGENT_HOOKS_H

#include "hook/executors.h"
#include "hook/run.h"
#include "sdk/checked_launcher.h"

struct agent;

struct agent_hooks {
    struct command_hooks commands;
    struct checked_launcher checked; /* for those of the project */
    struct http_hooks http;
    struct hook_executor *executors[2];
    struct hook_runner runner;
    bool has_begun;
    struct str transcript; /* found when it is asked for */
};

/* For those of its base; an agent without hooks has nothing to do with the rest. */
void agent_hooks_open(struct agent *a);
void agent_hooks_done(struct agent *a);

/* NULL: there are none. */
struct hooks *agent_hooks_port(struct agent *a);

/* SessionStart, before the first run; what the hooks say is added to the system text. */
MUST_USE struct err *agent_hooks_begin(struct agent *a);
/* SessionEnd, once. Waits even when the session was cancelled before, as long as the hooks may
 * take; cancelling it now ends them. */
void agent_hooks_end(struct agent *a);

#endif
