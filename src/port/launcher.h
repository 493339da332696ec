/* launcher.h - how commands are started: plainly, or inside a sandbox.
 *
 * Tools say what they want to run and for whom; what the command may touch is the launcher's
 * business, and nothing that a model writes gets into it. */
#ifndef KEEL_PORT_LAUNCHER_H
#define KEEL_PORT_LAUNCHER_H

#include "sys/proc.h"

struct launcher {
    /* Required; may wait. The process is the caller's to free. */
    struct err *(*start)(struct launcher *l, const struct proc_spec *spec, struct proc **ret_proc);
};

MUST_USE struct err *launcher_start(struct launcher *l, const struct proc_spec *spec,
                                    struct proc **ret_proc);

/* Supervised, so that no descendant is left behind, and otherwise as it is. */
extern struct launcher launcher_plain;

#endif
