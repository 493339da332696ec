/* proc.h - child processes: started with posix_spawn, followed by pidfd, never left behind.
 *
 * proc_spawn() starts one, in a session and process group of its own; the task then reads, writes
 * and waits. It fails if the command cannot be executed, so that this is never mistaken for an exit
 * code. proc_free() ends what still runs and reaps it, with a shielded wait if necessary, so a
 * cancelled task leaves no process. proc_run() does all of it and collects the output under a cap.
 * All of these may wait.
 *
 * A supervised child runs under keel-exec, which ends the whole tree that it has started (setsid,
 * double forks and nohup included) by TERM and, after a grace period, by KILL: when proc_end(),
 * proc_free() or a time-out says so, after grace_ms; when the command has ended or keel itself is
 * gone, within a second. Only children started here are waited for. The library sets no signal
 * handler and is not a subreaper. */
#ifndef KEEL_SYS_PROC_H
#define KEEL_SYS_PROC_H

#include "base/strbuf.h"
#include "exec/protocol.h"
#include "sys/task.h"

enum proc_stdin {
    PROC_STDIN_CLOSED, /* /dev/null; on a terminal an end-of-file, typed at once */
    PROC_STDIN_PIPE,   /* a pipe or the terminal: written by proc_write() */
    PROC_STDIN_BYTES, /* stdin_bytes, in a pipe, or in a file if they are many; not on a terminal */
    PROC_STDIN_INHERIT, /* keel's own */
};
enum proc_stdout {
    PROC_STDOUT_PIPE,
    PROC_STDOUT_PTY,     /* all three on one terminal */
    PROC_STDOUT_INHERIT, /* keel's own stdout and stderr; nothing can be read */
};

/* A supervisor for a confined command, started ahead to save time, and used once. It has done what
 * no policy changes, and what the command's policy will probably say. It holds nothing else of keel
 * but the channel over which it gets its command. It ends when the channel ends. */
struct proc_parked;

struct proc_parking {
    bool has_namespaces; /* as the policy will say */
    int user_fd;         /* of an earlier command, to be joined; -1: none */
    /* A policy with namespaces, and the network to join (-1: the machine's own). The command must
     * have a policy with the same items, except for where it starts, and no mount of the machine
     * may have changed. policy_fd -1: none. */
    int policy_fd, network_fd;
};

/* Blocks until it has started. */
MUST_USE struct err *proc_park(const struct proc_parking *how, struct proc_parked **ret_parked);
void proc_parked_free(struct proc_parked *p); /* ends it; the loop of a task reaps it */
DEFINE_AUTO_PTR(proc_parked, proc_parked_free)
int proc_parked_pid(const struct proc_parked *p);

/* The walls around a supervised command, which runs within them or not at all. */
struct proc_confinement {
    int policy_fd; /* exec/policy.h; it also says where the command starts */
    int rules_fd;  /* of Landlock, for the reading of files; -1: none */
    /* Of an earlier command, to be joined; -1: none. If there is none to join, this command's own
     * are returned here, for the caller to close. */
    int network_fd, user_fd;
    /* For a policy with POLICY_PROXY, if this command's network is new: the socket where commands
     * find keel's proxy, for the caller to accept from and to close. -1: none. */
    int listener_fd;
    /* Does the caller want to learn what the command is about to change? Then the listener of its
     * notices (exec/write_calls.h), for the caller to answer and to close; -1 if there is none,
     * with the reason. */
    bool wants_notices;
    int notices_fd, notices_error;
    int held_fd; /* that the supervisor keeps open until the command's end; -1: none */
    /* Its supervisor, made for the same namespaces, user_fd and policy; taken. NULL, or if it has
     * died: a new one is started. */
    struct proc_parked *take_parked;
    bool has_proxy;                 /* does the policy say POLICY_PROXY? */
    bool has_namespaces;            /* and POLICY_NAMESPACES? */
    const struct proc_judge *judge; /* borrowed until proc_free(); NULL: none */
    struct exec_record refusal;     /* out: why they could not be built; kind EXEC_REFUSED if so */
    bool died_unheard;              /* out: the supervisor died first; nothing was started */
};

/* Judges what the walls leave open. The task that waits for the command calls both. */
struct proc_judge {
    /* Another program has replaced a file that is protected from the command, which is stopped. Is
     * the file harmless? False ends the command. May wait. */
    bool (*is_harmless)(void *self);
    /* Processes of the command may be left, and nothing can reach them. */
    void (*note_lost)(void *self);
    void *self;
};

struct write_observer;

struct proc_spec {
    const char *const *argv;        /* argv[0] is looked up in the PATH of `environment` */
    const char *const *environment; /* NULL: empty; pass environ to inherit */
    const char *cwd;                /* NULL: keel's own. Of a confined command: where to find it */
    enum proc_stdin stdin_kind;
    struct str stdin_bytes; /* for PROC_STDIN_BYTES */
    enum proc_stdout stdout_kind;
    bool merge_stderr; /* stderr goes where stdout goes */
    bool supervised;
    /* For a supervised command: called while its supervisor gets ready. The command starts when
     * this has returned, and never after an error. NULL: at once. */
    struct err *(*before_start)(void *self);
    void *before_self;
    /* A supervised command of a normal user runs in a user namespace where one may be made; sudo
     * and other set-user-ID programs do not work there. This keeps it out of one, at a price: if
     * keel-exec is killed by KILL, the command's own children may live on. */
    bool no_namespace;
    struct proc_confinement *confinement; /* NULL: none */
    /* Learns what the command is about to change (write_observer.h), if it is confined; borrowed.
     * NULL: nothing does. */
    struct write_observer *observer;
    /* For a supervised command: its supervisor is not waited for once its tree is gone. The kernel
     * takes a while to remove its namespaces; the loop reaps it. */
    bool may_linger;
    uint64_t grace_ms;                /* between TERM and KILL; 0: 2 s */
    unsigned short n_rows, n_columns; /* of the pty; 0: 24 x 80 */
    const int *extra_fds;             /* become 3, 4, ... in the child, in this order */
    size_t n_extra_fds;               /* at most 25 */
};

enum proc_stream { PROC_OUT, PROC_ERR };

/* Why a confined command was ended, for people and models. */
#define PROC_LOST_PROTECTION                                                                       \
    "keel ended the command: another program replaced something that is protected or hidden from " \
    "it, and the command may have reached the new one. Check that place, then start the command "  \
    "again."

struct proc_status {
    bool exited, signalled;
    int exit_code;        /* when exited */
    int signal;           /* when signalled */
    bool lost_protection; /* its supervisor ended it: PROC_LOST_PROTECTION */
};

struct proc;

MUST_USE struct err *proc_spawn(const struct proc_spec *spec, struct proc **ret_proc);
void proc_free(struct proc *p);
DEFINE_AUTO_PTR(proc, proc_free)

int proc_pid(const struct proc *p);          /* of the command, or of its supervisor */
bool proc_is_isolated(const struct proc *p); /* does its tree live in a pid namespace? */
/* Up to `size` bytes; *ret_n is 0 at the end of the stream. One task per stream at a time. */
MUST_USE struct err *proc_read(struct proc *p, enum proc_stream stream, void *buffer, size_t size,
                               size_t *ret_n);
MUST_USE struct err *proc_write(struct proc *p, struct str bytes);
/* Not while another task writes. On a terminal it types end-of-file. */
void proc_close_stdin(struct proc *p);
/* The whole tree when supervised, else the process group. */
void proc_signal(struct proc *p, int signal);
/* Waits for the command's end; a second call returns the same status. One task at a time. */
MUST_USE struct err *proc_wait(struct proc *p, struct proc_status *ret_status);
/* TERM to all of it, KILL after the grace period. Waits until it is gone. */
MUST_USE struct err *proc_end(struct proc *p);
void proc_resize_pty(struct proc *p, unsigned short n_rows, unsigned short n_columns);

struct proc_output {
    struct strbuf out, err; /* init them with their caps; output over a cap is read and dropped */
    size_t n_out_bytes, n_err_bytes; /* everything that arrived */
    struct proc_status status;
    bool timed_out;
};
void proc_output_done(struct proc_output *o);
DEFINE_AUTO_VAL(proc_output, proc_output_done)

/* Runs it to its end. A time-out ends the tree and sets timed_out (no error). timeout_ms 0: none.
 * The head of a too long output is kept. The output ends with the command (with its tree when
 * supervised), even if another process still holds the other end of a pipe. */
MUST_USE struct err *proc_run(const struct proc_spec *spec, uint64_t timeout_ms,
                              struct proc_output *output);
/* The same for a started one that nothing else reads or waits for. */
MUST_USE struct err *proc_collect(struct proc *p, uint64_t timeout_ms, struct proc_output *output);

/* Is the program in the PATH of the environment? NULL: the process's own. Blocks a little. */
bool proc_can_run(const char *program, const char *const *environment);
/* The file that runs then, without links. False: there is none. Blocks a little. */
bool proc_find_file(const char *program, const char *const *environment, char path[4096]);
/* Finds keel-exec: where the environment variable KEEL_EXEC says, else beside the running program
 * or library, else in its libexec directory. */
MUST_USE struct err *proc_find_supervisor(char path[4096]);
/* The same for keel-media and KEEL_MEDIA. */
MUST_USE struct err *proc_find_media(char path[4096]);

#endif
