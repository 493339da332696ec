/* proc.h - child processes: started with posix_spawn, followed by pidfd, never left behind.
 *
 * proc_spawn() starts one, in a session and process group of its own; the task then reads, writes
 * and waits. It has failed when the command could not be executed, so that is never mistaken for
 * an exit code. proc_free() ends what still runs and reaps it, waiting (shielded) if it must; so a
 * cancelled task leaves no process. proc_run() does the whole of it and collects the output under
 * a cap. All of these may wait.
 *
 * A supervised child runs under keel-exec, which ends the whole tree it may have grown (setsid,
 * double forks and nohup included) by TERM and, after a grace period, by KILL: when proc_end(),
 * proc_free() or a time-out says so, after grace_ms; when the command has ended or keel itself is
 * gone, within a second. Only children started here are waited for; the library sets no signal
 * handler and is no subreaper. */
#ifndef KEEL_SYS_PROC_H
#define KEEL_SYS_PROC_H

#include "base/strbuf.h"
#include "exec/protocol.h"
#include "sys/task.h"

enum proc_stdin {
    PROC_STDIN_CLOSED, /* /dev/null; on a terminal an end-of-file that is typed at once */
    PROC_STDIN_PIPE,   /* or the terminal: written by proc_write() */
    PROC_STDIN_BYTES,  /* stdin_bytes, in a pipe or in a file if they are many; not on a terminal */
    PROC_STDIN_INHERIT, /* keel's own */
};
enum proc_stdout {
    PROC_STDOUT_PIPE,
    PROC_STDOUT_PTY,     /* all three on one terminal */
    PROC_STDOUT_INHERIT, /* keel's own stdout and stderr; there is nothing to read */
};

/* A supervisor of confined commands that was started before there is one: for what it is worth to
 * have that done, and used once. It has made what no policy changes, and what a policy says that
 * the command is likely to have. It holds nothing else of keel's but the channel over which it gets
 * its command; when that ends, it does. */
struct proc_parked;

struct proc_parking {
    bool has_namespaces; /* as the policy will say */
    int user_fd;         /* of an earlier command, to be joined; -1: none */
    /* A policy with namespaces, and the network that is to be joined (-1: the machine's own). The
     * command must have a policy with the same items, but for where it starts, and no mount of the
     * machine may have changed. policy_fd -1: none. */
    int policy_fd, network_fd;
};

/* Blocks until it has been started. */
MUST_USE struct err *proc_park(const struct proc_parking *how, struct proc_parked **ret_parked);
void proc_parked_free(struct proc_parked *p); /* ends it; the loop of a task reaps it */
DEFINE_AUTO_PTR(proc_parked, proc_parked_free)
int proc_parked_pid(const struct proc_parked *p);

/* Walls around a supervised command, which runs within them or not at all. */
struct proc_confinement {
    int policy_fd; /* exec/policy.h; it also says where the command starts */
    int rules_fd;  /* of Landlock, for the reading of files; -1: none */
    /* Of an earlier command, to be joined; -1: none. When there is none to join, those of this
     * command are put here, for the caller to close. */
    int network_fd, user_fd;
    /* Of a policy with POLICY_PROXY, when this command's network is a new one: the socket where
     * commands find keel's proxy, for the caller to accept from and to close. -1: none. */
    int listener_fd;
    /* Is the caller to learn what the command is about to change? Then the listener of its notices
     * (exec/write_calls.h), for the caller to answer and to close; -1: why not. */
    bool wants_notices;
    int notices_fd, notices_error;
    int held_fd; /* that the supervisor keeps open until the command's end; -1: none */
    /* Its supervisor, made for the same namespaces, user_fd and policy; taken. NULL: a new one is
     * started, as it is when this one has died. */
    struct proc_parked *take_parked;
    bool has_proxy;                 /* does the policy say POLICY_PROXY? */
    bool has_namespaces;            /* and POLICY_NAMESPACES? */
    const struct proc_judge *judge; /* borrowed until proc_free(); NULL: none */
    struct exec_record refusal;     /* out: why they could not be built; kind EXEC_REFUSED if so */
    bool died_unheard;              /* out: the supervisor died first; nothing was started */
};

/* Who looks after what the walls leave open. Both are called by who waits for the command. */
struct proc_judge {
    /* Another program has put a file where one was that is protected from the command, which stands
     * still. Is it harmless? False ends the command. May wait. */
    bool (*is_harmless)(void *self);
    /* Processes of the command may be left, and nothing reaches them. */
    void (*note_lost)(void *self);
    void *self;
};

struct write_observer;

struct proc_spec {
    const char *const *argv;        /* argv[0] is looked up in the PATH of `environment` */
    const char *const *environment; /* NULL: empty; pass environ to inherit */
    const char *cwd;                /* NULL: keel's own. Of a confined command: to find it by */
    enum proc_stdin stdin_kind;
    struct str stdin_bytes; /* for PROC_STDIN_BYTES */
    enum proc_stdout stdout_kind;
    bool merge_stderr; /* stderr goes where stdout goes */
    bool supervised;
    /* Of a supervised command: called while its supervisor gets ready. The command starts when
     * this has returned, or with an error never. NULL: at once. */
    struct err *(*before_start)(void *self);
    void *before_self;
    /* A supervised command of a normal user runs in a user namespace where one may be made; sudo
     * and other set-user-ID programs do not work there. This keeps it out, at a price: should
     * keel-exec be killed by KILL, the command's own children may live on. */
    bool no_namespace;
    struct proc_confinement *confinement; /* NULL: none */
    /* Learns what the command is about to change (write_observer.h), where it is confined;
     * borrowed. NULL: nothing does. */
    struct write_observer *observer;
    /* Of a supervised command: when nothing of its tree is left, its supervisor is not waited for.
     * Taking its namespaces down takes the kernel a while; the loop reaps it. */
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
/* TERM to all of it, KILL after the grace period; waits until it is gone. */
MUST_USE struct err *proc_end(struct proc *p);
void proc_resize_pty(struct proc *p, unsigned short n_rows, unsigned short n_columns);

struct proc_output {
    struct strbuf out, err; /* init them with their caps; what is over is read and dropped */
    size_t n_out_bytes, n_err_bytes; /* all that came */
    struct proc_status status;
    bool timed_out;
};
void proc_output_done(struct proc_output *o);
DEFINE_AUTO_VAL(proc_output, proc_output_done)

/* Runs it to its end; time-outs end the tree and set timed_out (no error). timeout_ms 0: none.
 * The head of an overlong output is kept. The output ends with the command (with its tree when
 * supervised), even if somebody else still holds the other end of a pipe. */
MUST_USE struct err *proc_run(const struct proc_spec *spec, uint64_t timeout_ms,
                              struct proc_output *output);
/* The same with one that was started already, and that nobody else reads or waits for. */
MUST_USE struct err *proc_collect(struct proc *p, uint64_t timeout_ms, struct proc_output *output);

/* Is the program in the PATH of the environment? NULL: the process's own. Blocks a little. */
bool proc_can_run(const char *program, const char *const *environment);
/* The file that runs then, without links. False: there is none. Blocks a little. */
bool proc_find_file(const char *program, const char *const *environment, char path[4096]);
/* Where keel-exec is: where the environment variable KEEL_EXEC says, else beside the running
 * program or library, else in its libexec directory. */
MUST_USE struct err *proc_find_supervisor(char path[4096]);
/* The same for keel-media and KEEL_MEDIA. */
MUST_USE struct err *proc_find_media(char path[4096]);

#endif
