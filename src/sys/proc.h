/* proc.h - child processes: started with posix_spawn, followed by pidfd, never left behind.
 *
 * proc_spawn() starts one, in its own process group; the task then reads, writes and waits.
 * proc_free() ends what still runs and reaps it, waiting (shielded) if it must; so a cancelled
 * task leaves no process. proc_run() does the whole of it and collects the output under a cap.
 *
 * A supervised child runs under keel-exec, which ends the whole tree it may have grown (setsid,
 * double forks and nohup included) when the command ends, when proc_free() or the time-out says
 * so, or when keel itself is gone, by TERM and two seconds later by KILL. Only children started
 * here are waited for; the library sets no signal handler and is no subreaper. */
#ifndef KEEL_SYS_PROC_H
#define KEEL_SYS_PROC_H

#include "base/strbuf.h"
#include "sys/task.h"

enum proc_stdin { PROC_STDIN_CLOSED /* /dev/null */, PROC_STDIN_PIPE, PROC_STDIN_BYTES };
enum proc_stdout { PROC_STDOUT_PIPE, PROC_STDOUT_PTY /* all three on one terminal */ };

struct proc_spec {
    const char *const *argv;
    const char *const *environment; /* NULL: empty; pass environ to inherit */
    const char *cwd;                /* NULL: keel's own */
    enum proc_stdin stdin_kind;
    struct str stdin_bytes; /* for PROC_STDIN_BYTES */
    enum proc_stdout stdout_kind;
    bool merge_stderr; /* stderr goes where stdout goes */
    bool supervised;
    uint64_t grace_ms;                /* between TERM and KILL; 0: 2 s */
    unsigned short n_rows, n_columns; /* of the pty; 0: 24 x 80 */
    const int *extra_fds;             /* become 3, 4, ... in the child, in this order */
    size_t n_extra_fds;
};

enum proc_stream { PROC_OUT, PROC_ERR };

struct proc_status {
    bool exited, signalled;
    int exit_code; /* when exited */
    int signal;    /* when signalled */
};

struct proc;

MUST_USE struct err *proc_spawn(const struct proc_spec *spec, struct proc **ret_proc);
void proc_free(struct proc *p);
DEFINE_AUTO_PTR(proc, proc_free)

int proc_pid(const struct proc *p); /* of the command, or of its supervisor */
/* Up to `size` bytes; *ret_n is 0 at the end of the stream. */
MUST_USE struct err *proc_read(struct proc *p, enum proc_stream stream, void *buffer, size_t size,
                               size_t *ret_n);
MUST_USE struct err *proc_write(struct proc *p, struct str bytes);
void proc_close_stdin(struct proc *p);
/* The whole tree when supervised, else the process group. */
void proc_signal(struct proc *p, int signal);
/* Waits for the command's end; a second call returns the same status. */
MUST_USE struct err *proc_wait(struct proc *p, struct proc_status *ret_status);
void proc_resize_pty(struct proc *p, unsigned short n_rows, unsigned short n_columns);

struct proc_output {
    struct strbuf out, err; /* init them with their caps; what is over is read and dropped */
    size_t n_out_bytes, n_err_bytes; /* all that came */
    struct proc_status status;
    bool timed_out;
};
void proc_output_done(struct proc_output *o);
DEFINE_AUTO_VAL(proc_output, proc_output_done)

/* Runs it to its end; time-outs kill the tree and set timed_out (no error). timeout_ms 0: none.
 * The head of an overlong output is kept. */
MUST_USE struct err *proc_run(const struct proc_spec *spec, uint64_t timeout_ms,
                              struct proc_output *output);

/* Where keel-exec is: beside the running program or library, else in its libexec directory. */
MUST_USE struct err *proc_find_supervisor(char path[4096]);

#endif
