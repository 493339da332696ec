/* probe.c - finds out which sandbox can be built here, by building one. */
#include "exec/exec.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sandbox without writable places. */
static const struct policy_header empty = {
    .version = POLICY_VERSION,
    .flags = POLICY_NAMESPACES,
    .n_bytes = sizeof empty,
};

int probe_run(const struct options *o)
{
    struct exec_probe probe = {.version = EXEC_PROTOCOL_VERSION};
    struct exec_place place = {.policy = &empty};
    struct fault fault;
    pid_t init = namespace_fork(o, &place, &fault);

    if (init == 0)
        _exit(0);
    probe.has_namespaces = init > 0;
    probe.has_user_namespace = place.own_user_namespace;
    probe.error = init > 0 ? 0 : fault.error;
    probe.step = init > 0 ? EXEC_STEP_NONE : fault.step;
    if (init > 0)
        waitpid(init, NULL, 0);
    probe.landlock_abi = landlock_version();
    probe.has_seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
    return write(STDOUT_FILENO, &probe, sizeof probe) == (ssize_t)sizeof probe ? 0
                                                                               : EXIT_SUPERVISOR;
}
