/* run.h - the hooks of a session: those that fit an event are run, and their answers become one.
 *
 * All hooks of an event get the same input, so their order does not matter: they run at once, a few
 * at a time, and the same hook in two groups runs once. Answers are merged in the order of the
 * configuration. What a hook does wrong is a notice; a hook of PreToolUse that says failClosed then
 * blocks. */
#ifndef KEEL_HOOK_RUN_H
#define KEEL_HOOK_RUN_H

#include "hook/config.h"

/* What every hook is told besides its event's own fields. Borrowed until the call returns. */
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
    /* Required; asked for each event, since a session moves and changes its mode. */
    void (*place)(void *self, struct hook_place *ret_place);
    /* A hook failed: a sentence for the person. May be NULL. */
    void (*notice)(void *self, enum hook_event event, struct str text);
    void *self; /* of both */
};
/* Sets the port; the other members are the caller's to fill. */
void hook_runner_init(struct hook_runner *r);

#endif
