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
    /* Puts right what the command should not have done; NULL: there is nothing to do. */
    struct err *(*ended)(struct launcher *l, struct strbuf *notes);
    /* What a model should know whose command printed this, because something was kept from it; may
     * be NULL, and so may what it returns. */
    const char *(*advice)(struct launcher *l, struct str output);
};

MUST_USE struct err *launcher_start(struct launcher *l, const struct proc_spec *spec,
                                    struct proc **ret_proc);
/* Once for every command that was started, after proc_free(). Appends a line about each thing that
 * was put right; the person has been told already. Waits even when the task is cancelled. */
MUST_USE struct err *launcher_ended(struct launcher *l, struct strbuf *notes);

/* NULL: there is nothing to know. */
const char *launcher_advice(struct launcher *l, struct str output);

/* Supervised, so that no descendant is left behind, and otherwise as it is. */
extern struct launcher launcher_plain;

#endif
