/* runner.h - child runs, as a tool starts them.
 *
 * A tool that delegates describes a run and gets its result. The child has a history and a stream
 * of events of its own; model, gate, sandbox and budget are its parent's, and of the tools at most
 * what its parent has. It runs inside the call: cancelling the call interrupts it. */
#ifndef KEEL_PORT_RUNNER_H
#define KEEL_PORT_RUNNER_H

#include "port/run_result.h"
#include "port/tool_set.h"

#define RUNNER_MAX_DEPTH 8 /* of runs inside of each other */

struct child_spec {
    struct str agent;         /* its name, for people */
    struct str system;        /* its system text, all of it */
    struct str prompt;        /* what it is asked */
    struct tool_filter tools; /* within its parent's, or the run is refused */
    unsigned max_rounds;      /* 0: as many as it takes */
};

/* Of one call. */
struct runner {
    /* In order: after a crash the call is made again, and its n-th child continues where it stood,
     * or gives at once what it gave. The result is the caller's to end, also with an error:
     * ERR_VALIDATION, it was refused; else it could not begin. What the run itself comes to is in
     * the result; where it waits for an answer, so must the tool (tool_result_wait()). */
    struct err *(*run)(void *self, const struct child_spec *spec, struct run_result *ret_result);
    void *self;
};

#endif
