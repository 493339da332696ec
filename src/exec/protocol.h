/* protocol.h - the protocol between keel and keel-exec.
 *
 * keel starts `keel-exec OPTIONS -- PROGRAM ARGV0 ARG...` with the command's stdio, environment and
 * working directory, and one end of a SOCK_SEQPACKET pair as the control channel. Every packet is
 * one struct exec_record in the machine's byte order: both programs come from one build, and the
 * version shows if they do not.
 *
 * With EXEC_OPTION_HELD everything is prepared, and the command starts when keel sends EXEC_START;
 * after any other record, or the end of the channel, it never starts. The first record of keel-exec
 * is EXEC_STARTED, EXEC_FAILED or EXEC_REFUSED; with EXEC_OPTION_NOTICES, one EXEC_NOTICES may come
 * before it. After EXEC_STARTED comes one EXEC_EXITED or EXEC_SIGNALLED as soon as the command has
 * ended, or EXEC_LOST if it could not be ended. When the whole tree is gone, EXEC_GONE follows, and
 * keel-exec exits; or EXEC_LOST, if it exits although processes may be left. When keel's end of the
 * channel closes, for any reason, the tree is ended.
 *
 * While the command runs, EXEC_REPLACED asks keel to check protected files, and the tree is stopped
 * until keel answers with EXEC_JUDGED; without an answer it is ended.
 *
 * With EXEC_OPTION_PARKED keel-exec is started before there is a command, in the directory /:
 * `keel-exec --parked OPTIONS`. It prepares what no policy changes, sends nothing, and waits for
 * one struct exec_order; then it continues as above. If the channel ends first, it exits. */
#ifndef KEEL_EXEC_PROTOCOL_H
#define KEEL_EXEC_PROTOCOL_H

#include <stdint.h>

#define EXEC_PROTOCOL_VERSION 12

/* The channel's fd. Those from 3 up to it are the command's. */
#define EXEC_OPTION_CONTROL "--control="
/* The time between TERM and KILL. */
#define EXEC_OPTION_GRACE "--grace-ms="
/* The command waits for EXEC_START. */
#define EXEC_OPTION_HELD "--held"
/* keel gets notices of the changes that the command makes: EXEC_NOTICES; only with a policy. */
#define EXEC_OPTION_NOTICES "--notices"
/* Wait for a struct exec_order with the rest: the command, its policy, the network to join. */
#define EXEC_OPTION_PARKED "--parked"
/* Stdin becomes the controlling terminal. */
#define EXEC_OPTION_TTY "--tty"
/* It is already init of a pid namespace, which keel has made for it; only with a policy, or to wait
 * for one. */
#define EXEC_OPTION_INIT "--init"
/* Be a subreaper even if a namespace is allowed. */
#define EXEC_OPTION_NO_NAMESPACE "--no-namespace"
/* The fd of a policy (policy.h): the command runs within it or not at all. */
#define EXEC_OPTION_POLICY "--policy="
/* The fd of a set of Landlock rules for reading files, shared with other commands: the command's
 * own /proc is added to it. Only with a policy of namespaces. */
#define EXEC_OPTION_RULES "--rules="
/* The fds of the user and the network namespace of an earlier command under a policy: this one
 * joins them. A first command sends those that it made along with EXEC_STARTED, as SCM_RIGHTS: the
 * network, then the listener of a policy with POLICY_PROXY, then the user. */
#define EXEC_OPTION_USER "--user="
#define EXEC_OPTION_NETWORK "--network="
/* Prefix of variables of the environment that are for the command but not for keel-exec, which is
 * not confined: those that tell the dynamic linker what to load. */
#define EXEC_KEPT_VARIABLE "KEEL_EXEC_KEPT_"
/* As the only option: writes a struct exec_probe to stdout and exits. */
#define EXEC_OPTION_PROBE "--probe"

/* On the loopback of a command's network, which is its own: the port of keel's proxy under a policy
 * with POLICY_PROXY. keel itself accepts the connections. */
#define EXEC_PROXY_PORT 3128

enum exec_kind {
    /* from keel-exec */
    EXEC_STARTED = 1, /* value: enum exec_mode */
    EXEC_FAILED,      /* value: errno; the command never ran */
    EXEC_REFUSED,     /* value: errno, step, item: the sandbox could not be built */
    /* value: exit code; item 1: stands for EXEC_GONE, too; step EXEC_STEP_CHANGED: keel-exec has
     * ended it, as a protected or hidden place was replaced from outside and the command may have
     * reached it. */
    EXEC_EXITED,
    EXEC_SIGNALLED, /* value: signal; the same */
    EXEC_LOST,      /* KILL did not reach all processes: some gained privileges, or fork */
    /* Comes with the listener of the calls in write_calls.h (SCM_RIGHTS): the kernel holds each of
     * them until the listener answers. value: 0, or an errno and no listener. */
    EXEC_NOTICES,
    EXEC_GONE, /* the tree is gone, and keel-exec is done */
    /* Another program has replaced a protected file. value: the number of the question. */
    EXEC_REPLACED,
    /* from keel */
    EXEC_SIGNAL = 16, /* value: signal, for every process of the tree */
    EXEC_END,         /* TERM now, KILL after the grace period */
    EXEC_START,       /* start the held command */
    EXEC_ORDER,       /* a struct exec_order, whose second word this is */
    EXEC_JUDGED, /* value: 1: the files are harmless, 0: end it; item: number of the question */
    EXEC_EXPECT, /* a struct exec_order without a command: see there */
};

enum exec_mode { EXEC_MODE_SUBREAPER, EXEC_MODE_NAMESPACE };

/* The step at which building a sandbox failed. */
enum exec_step {
    EXEC_STEP_NONE,
    EXEC_STEP_POLICY,     /* the policy could not be read */
    EXEC_STEP_NAMESPACES, /* not allowed here */
    EXEC_STEP_PROC,       /* /proc could not be mounted */
    EXEC_STEP_LOOPBACK,
    EXEC_STEP_MOUNTS,   /* the read-only root, /dev */
    EXEC_STEP_ITEM,     /* an item of the policy: record.item */
    EXEC_STEP_CHANGED,  /* ESTALE: keel saw something else there when it planned */
    EXEC_STEP_CWD,      /* the working directory is hidden */
    EXEC_STEP_LANDLOCK, /* EOPNOTSUPP, ENOSYS: the kernel has none */
    EXEC_STEP_SECCOMP,
    EXEC_STEP_PRIVILEGES,
};

struct exec_probe {
    uint32_t version; /* EXEC_PROTOCOL_VERSION */
    uint32_t has_namespaces, has_user_namespace, has_seccomp;
    int32_t landlock_abi; /* 0: none */
    int32_t error;        /* errno, if there are no namespaces */
    uint32_t step;        /* enum exec_step */
};

struct exec_record {
    uint32_t version; /* EXEC_PROTOCOL_VERSION */
    uint32_t kind;    /* enum exec_kind */
    int32_t value;
    uint32_t step; /* enum exec_step */
    uint32_t item; /* of the policy, from 0; or as the kind says */
};

enum exec_order_flag {
    EXEC_ORDER_TTY = 1 << 0,     /* as EXEC_OPTION_TTY */
    EXEC_ORDER_HELD = 1 << 1,    /* as EXEC_OPTION_HELD */
    EXEC_ORDER_NOTICES = 1 << 2, /* as EXEC_OPTION_NOTICES */
    EXEC_ORDER_NETWORK = 1 << 3, /* with a network, as with EXEC_OPTION_NETWORK */
    EXEC_ORDER_RULES = 1 << 4,   /* with rules, as with EXEC_OPTION_RULES */
    EXEC_ORDER_BUILT = 1 << 5,   /* the policy has the items of the one that came ahead */
};

/* The command for a parked keel-exec. It comes with descriptors (SCM_RIGHTS), in this order: those
 * of the command as 0, 1, 2 and so on; the policy; a sealed file with the texts; the rules and the
 * network, if flags say so; and perhaps one that is only held open. Each text ends with a NUL: the
 * program, its arguments, its environment.
 *
 * Before it, the sandbox in which the command will probably run may come once: EXEC_EXPECT, of
 * which only the flags count, with a policy of namespaces and, if flags say so, a network. It is
 * built at once. The command that follows must have a policy with the same items, except for
 * POLICY_CWD, and nothing may have been mounted or unmounted on the machine since; keel checks
 * both. If its mounts are no longer in place, the answer is EXEC_REFUSED with EXEC_STEP_CHANGED. */
struct exec_order {
    uint32_t version; /* EXEC_PROTOCOL_VERSION */
    uint32_t kind;    /* EXEC_ORDER, EXEC_EXPECT */
    uint32_t flags;   /* enum exec_order_flag */
    int32_t grace_ms;
    uint32_t n_fds; /* of the command */
    uint32_t n_arguments, n_variables;
};
enum { EXEC_ORDER_MAX_FDS = 40 }; /* including all others */

#endif
