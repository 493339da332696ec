/* run.h - the hooks of a session: runs the ones that match an event, and merges their answers.
 *
 * All hooks of an event get the same input and run at once, a few at a time, so their order does
 * not matter. A hook in two groups runs once. Answers are merged in the order of the configuration.
 * A failure is a notice; a hook of PreToolUse with failClosed then blocks. */
#ifndef KEEL_HOOK_RUN_H
#define KEEL_HOOK_RUN_H

#include "hook/config.h"

/* What every hook gets besides the fields of its event. Borrowed until the call returns. */
struct hook_place {
    struct str session_id, transcript_path;
    const char *cwd;
    const char *permission_mode;
};

struct hook_runner {
    struct hooks hooks; /* the port */
    const struct hook_config *config;
    struct hook_executor *const *executors;
    size_t n_executors;
    /* Required; called for each event, since the session may change its directory and mode. */
    void (*place)(void *self, struct hook_place *ret_place);
    /* Reports a failed hook in a sentence for the person. May be NULL. */
    void (*notice)(void *self, enum hook_event event, struct str text);
    void *self; /* for both */
};
/* Sets the port. The caller fills in the other members. */
void hook_runner_init(struct hook_runner *r);

#endif
