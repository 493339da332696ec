/* launcher.h - how commands are started: plainly, or inside a sandbox.
 *
 * Tools say what they want to run and for whom; what the command may touch is the launcher's
 * business, and nothing that a model writes gets into it. */
#ifndef KEEL_PORT_LAUNCHER_H
#define KEEL_PORT_LAUNCHER_H

#include "sys/proc.h"

/* How a command ended, for what its launcher has to say about it. */
struct command_ending {
    struct str command, output;
    const char *cwd; /* where it began; NULL: who knows */
    bool failed, timed_out;
};

struct launcher {
    /* Required; may wait. The process is the caller's to free. */
    struct err *(*start)(struct launcher *l, const struct proc_spec *spec, struct proc **ret_proc);
    /* Puts right what the command should not have done; NULL: there is nothing to do. */
    struct err *(*ended)(struct launcher *l, struct strbuf *notes);
    /* Appends what a model should know whose command ended so, because something was kept from it;
     * NULL: nothing ever is. */
    void (*advise)(struct launcher *l, const struct command_ending *e, struct strbuf *out);
    /* A command is likely to be started soon: what no command changes may be made ready. Does not
     * wait. NULL: there is nothing to make ready. */
    void (*expect)(struct launcher *l);
    /* What a model has asked for is done. If it was without commands, none is expected any more. */
    void (*rest)(struct launcher *l);
};

MUST_USE struct err *launcher_start(struct launcher *l, const struct proc_spec *spec,
                                    struct proc **ret_proc);
/* Once for every command that was started, after proc_free(). Appends a line about each thing that
 * was put right; the person has been told already. Waits even when the task is cancelled. */
MUST_USE struct err *launcher_ended(struct launcher *l, struct strbuf *notes);

/* Appends nothing where there is nothing to know. */
void launcher_advise(struct launcher *l, const struct command_ending *e, struct strbuf *out);

/* They do nothing where there is nothing to do; `l` may be NULL. In a task. */
void launcher_expect(struct launcher *l);
void launcher_rest(struct launcher *l);

/* Supervised, so that no descendant is left behind, and otherwise as it is. */
extern struct launcher launcher_plain;

#endif
