/* seccomp.c - limits the system calls of a sandboxed command.
 *
 * Refused calls get EPERM, so that programs degrade instead of dying. There are three kinds: calls
 * that bypass files and processes (keys, mounts, namespaces, devices of the kernel); calls that had
 * too many holes (io_uring, userfaultfd, bpf); and, without namespaces, calls that Landlock does
 * not cover: sockets, modes, owners, times and attributes of files, memory that is shared by
 * number. Calls newer than this list do not exist (ENOSYS): programs know old kernels.
 *
 * For sockets and requests of ioctl() the lists say what is allowed.
 *
 * The filter is written here (filter.h) and not by libseccomp, which takes 0.7 ms per command
 * instead of 0.1 ms. */
#include "exec/exec.h"
#include "exec/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#define FOREIGN_BIT 0x40000000u /* x32 */
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#define FOREIGN_BIT 0x80000000u /* none */
#else
#error "keel-exec does not know the system calls of this machine: add it here"
#endif

enum {
    NEWEST_CALL = 462, /* mseal; numbers above 424 are the same on all machines */
    FCHMODAT2 = 452,
    MPTCP = 262,
    SOCKET_TYPE = 0xf, /* the rest of the argument are flags */
    SET_ID_BITS = 06000,
};

#define N_OF(array) (sizeof(array) / sizeof *(array))

#define REFUSE REFUSE_WITH(EPERM)
#define NO_SUCH_CALL REFUSE_WITH(ENOSYS)
#define NO_SUCH_REQUEST REFUSE_WITH(ENOTTY)

#define NAMESPACE_FLAGS                                                                            \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |  \
     CLONE_NEWNET | CLONE_NEWTIME)

/* --- the lists --- */

static const uint16_t never[] = {
    /* keys */
    SYS_add_key,
    SYS_keyctl,
    SYS_request_key,
    /* mounts and namespaces */
    SYS_chroot,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_mount,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_open_tree,
    SYS_pivot_root,
    SYS_setns,
    SYS_umount2,
    /* files by number, also covered ones */
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    /* the memory and descriptors of other processes; debuggers have ptrace for their own */
    SYS_kcmp,
    SYS_pidfd_getfd,
    SYS_process_madvise,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    /* large parts of the kernel */
    SYS_bpf,
    SYS_fanotify_init,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_io_uring_setup,
    SYS_lookup_dcookie,
    SYS_perf_event_open,
    SYS_userfaultfd,
    /* the machine */
    SYS_acct,
    SYS_clock_settime,
    SYS_delete_module,
    SYS_finit_module,
    SYS_init_module,
    SYS_kexec_load,
    SYS_quotactl,
    SYS_reboot,
    SYS_setdomainname,
    SYS_sethostname,
    SYS_settimeofday,
    SYS_swapoff,
    SYS_swapon,
    SYS_syslog,
    SYS_vhangup,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef SYS_quotactl_fd
    SYS_quotactl_fd,
#endif
#ifdef __x86_64__
    SYS__sysctl,
    SYS_ioperm,
    SYS_iopl,
    SYS_modify_ldt,
    SYS_uselib,
    SYS_ustat,
#endif
};

/* Landlock has no right for these, and no namespace protects other processes from them. */
static const uint16_t without_namespaces[] = {
    SYS_fchmod,      SYS_fchmodat,     FCHMODAT2,     SYS_fchown,       SYS_fchownat,
    SYS_utimensat,   SYS_fremovexattr, SYS_fsetxattr, SYS_lremovexattr, SYS_lsetxattr,
    SYS_removexattr, SYS_setxattr,     SYS_mq_open,   SYS_mq_unlink,    SYS_msgctl,
    SYS_msgget,      SYS_msgrcv,       SYS_msgsnd,    SYS_semctl,       SYS_semget,
    SYS_semop,       SYS_semtimedop,   SYS_shmat,     SYS_shmctl,       SYS_shmget,
#ifdef __x86_64__
    SYS_chmod,       SYS_chown,        SYS_futimesat, SYS_lchown,       SYS_utime,
    SYS_utimes,
#endif
};

/* Calls that a process may make about itself, named by 0, but not about others. If 0 can also mean
 * the user, it would name all processes of the person. */
static const struct {
    uint16_t call;
    uint8_t pid_arg;
    uint8_t user; /* the value of the first argument for that; 0: none */
} of_processes[] = {
    {SYS_ioprio_set, 1, 3},          {SYS_migrate_pages, 0, 0},      {SYS_move_pages, 0, 0},
    {SYS_sched_setaffinity, 0, 0},   {SYS_sched_setattr, 0, 0},      {SYS_sched_setparam, 0, 0},
    {SYS_setpriority, 1, PRIO_USER}, {SYS_sched_setscheduler, 0, 0},
};

/* --- calls whose arguments matter --- */

/* Answers like an older kernel. */
static void lose_call(struct filter *f, unsigned call)
{
    filter_begin_call(f, call);
    filter_end(f, NO_SUCH_CALL);
    filter_end_call(f);
}

static void refuse_flags(struct filter *f, unsigned call, uint32_t flags)
{
    filter_begin_call(f, call);
    filter_load_arg(f, 0);
    filter_end_if(f, BPF_JSET, flags, REFUSE);
    filter_end(f, ALLOW);
    filter_end_call(f);
}

/* All requests on terminals are allowed, except those that type, select or load for others. */
static const uint32_t refused_ioctls[] = {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS, TIOCVHANGUP};

/* For files, requests that read, and that copy between open files. For networks, requests that
 * read: setting needs a right that no command has, but some requests load modules first. */
static const uint32_t allowed_ioctls[] = {
    FICLONE,         FICLONERANGE,      FIDEDUPERANGE,     FIGETBSZ,       FS_IOC_FIEMAP,
    FS_IOC_GETFLAGS, FS_IOC_GETVERSION, FS_IOC_FSGETXATTR, RNDGETENTCNT,   FIOGETOWN,
    SIOCATMARK,      SIOCETHTOOL,       SIOCGIFADDR,       SIOCGIFBRDADDR, SIOCGIFCONF,
    SIOCGIFDSTADDR,  SIOCGIFFLAGS,      SIOCGIFHWADDR,     SIOCGIFINDEX,   SIOCGIFMAP,
    SIOCGIFMETRIC,   SIOCGIFMTU,        SIOCGIFNAME,       SIOCGIFNETMASK, SIOCGIFTXQLEN,
    SIOCGPGRP,
};

/* Landlock has no right for attributes of a file that is open only for reading. */
static const uint32_t attribute_ioctls[] = {FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR};

/* The receiver of signals when a socket is ready. */
static const uint32_t owner_ioctls[] = {FIOSETOWN, SIOCSPGRP};

static void refuse_ioctls(struct filter *f, bool has_namespaces, bool has_signals)
{
    filter_begin_call(f, SYS_ioctl);
    filter_load_arg(f, 1);
    filter_end_if_any(f, refused_ioctls, N_OF(refused_ioctls), REFUSE);
    filter_end_if_any(f, allowed_ioctls, N_OF(allowed_ioctls), ALLOW);
    filter_end_if_any(f, attribute_ioctls, N_OF(attribute_ioctls), has_namespaces ? ALLOW : REFUSE);
    filter_end_if_any(f, owner_ioctls, N_OF(owner_ioctls), has_signals ? ALLOW : REFUSE);
    filter_mask(f, _IOC_TYPEMASK << _IOC_TYPESHIFT);
    filter_end_if(f, BPF_JEQ, 'T' << _IOC_TYPESHIFT, ALLOW);
    filter_end(f, NO_SUCH_REQUEST);
    filter_end_call(f);
}

/* The network is that of the namespace, or none: TCP, UDP, echo requests, and questions about
 * interfaces. Unix sockets cannot be made, as they could connect to those of others, which have
 * names in the file system. */
static void refuse_sockets(struct filter *f, bool has_network)
{
    static const uint32_t protocols[] = {
        0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP, IPPROTO_ICMPV6, MPTCP};

    filter_begin_call(f, SYS_socket);
    if (has_network) {
        filter_load_arg(f, 0);
        filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 4);
        filter_load_arg(f, 2);
        filter_end_if(f, BPF_JEQ, NETLINK_ROUTE, ALLOW);
        filter_end(f, REFUSE);
        filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 2, 0);
        filter_end_unless(f, BPF_JEQ, AF_INET6, REFUSE);
        filter_load_arg(f, 1);
        filter_mask(f, SOCKET_TYPE);
        filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 2, 0);
        filter_end_unless(f, BPF_JEQ, SOCK_DGRAM, REFUSE);
        filter_load_arg(f, 2);
        filter_end_if_any(f, protocols, N_OF(protocols), ALLOW);
    }
    filter_end(f, REFUSE);
    filter_end_call(f);
}

/* Pairs have no names and stay connected to each other. Datagrams could be sent anywhere, even from
 * one of a pair; raw Unix sockets are datagrams. */
static void refuse_socket_pairs(struct filter *f)
{
    filter_begin_call(f, SYS_socketpair);
    filter_load_arg(f, 0);
    filter_end_unless(f, BPF_JEQ, AF_UNIX, REFUSE);
    filter_load_arg(f, 1);
    filter_mask(f, SOCKET_TYPE);
    filter_end_if(f, BPF_JEQ, SOCK_STREAM, ALLOW);
    filter_end_if(f, BPF_JEQ, SOCK_SEQPACKET, ALLOW);
    filter_end(f, REFUSE);
    filter_end_call(f);
}

/* Only queries, the usual personality, and the one that debuggers need. */
static void refuse_personalities(struct filter *f)
{
    enum { ADDR_NO_RANDOMIZE = 0x40000 };

    filter_begin_call(f, SYS_personality);
    filter_load_arg(f, 0);
    filter_end_if(f, BPF_JEQ, 0, ALLOW);
    filter_end_if(f, BPF_JEQ, ADDR_NO_RANDOMIZE, ALLOW);
    filter_end_if(f, BPF_JEQ, 0xffffffff, ALLOW);
    filter_end(f, REFUSE);
    filter_end_call(f);
}

static void refuse_other_processes(struct filter *f)
{
    for (size_t i = 0; i < N_OF(of_processes); i++) {
        filter_begin_call(f, of_processes[i].call);
        if (of_processes[i].user) {
            filter_load_arg(f, 0);
            filter_end_if(f, BPF_JEQ, of_processes[i].user, REFUSE);
        }
        filter_load_arg(f, of_processes[i].pid_arg);
        filter_end_if(f, BPF_JEQ, 0, ALLOW);
        filter_end(f, REFUSE);
        filter_end_call(f);
    }
}

/* A limit of one second of processor time kills like a signal: the processes of the person or, in a
 * namespace, its init, which is the supervisor. */
static void refuse_limits_of_others(struct filter *f, bool has_namespaces)
{
    filter_begin_call(f, SYS_prlimit64);
    filter_load_arg(f, 0);
    if (has_namespaces)
        filter_end_unless(f, BPF_JEQ, 1, ALLOW);
    else
        filter_end_if(f, BPF_JEQ, 0, ALLOW);
    filter_load_arg(f, 2);
    filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    filter_load(f, offsetof(struct seccomp_data, args) + 8 * 2 + 4);
    filter_end_if(f, BPF_JEQ, 0, ALLOW);
    filter_end(f, REFUSE);
    filter_end_call(f);
}

/* --- modes of files --- */

/* A program with a set-user-ID or set-group-ID bit gives every account of the machine the rights of
 * keel's user. mkdir() accepts such bits too, but the kernel drops them, and `cp -r` passes on
 * those of its source. openat2() has the mode in memory, where no filter sees it: programs know
 * kernels without it, and use openat(). */
static void refuse_set_id_modes(struct filter *f, unsigned mode_arg, bool has_namespaces)
{
    static const struct {
        uint16_t call;
        uint8_t mode_arg;
        bool makes_file; /* the others are always refused without namespaces */
    } calls[] = {
        {SYS_fchmod, 1, false}, {SYS_fchmodat, 2, false}, {FCHMODAT2, 2, false},
        {SYS_mknodat, 2, true},
#ifdef __x86_64__
        {SYS_chmod, 1, false},  {SYS_creat, 1, true},     {SYS_mknod, 1, true},
#endif
    };
    bool has_begun = false;

    for (size_t i = 0; i < N_OF(calls); i++) {
        if (calls[i].mode_arg != mode_arg || (!has_namespaces && !calls[i].makes_file))
            continue;
        if (!has_begun)
            filter_begin_call(f, calls[i].call);
        else
            filter_also_call(f, calls[i].call);
        has_begun = true;
    }
    if (!has_begun)
        return;
    filter_load_arg(f, mode_arg);
    filter_end_if(f, BPF_JSET, SET_ID_BITS, REFUSE);
    filter_end(f, ALLOW);
    filter_end_call(f);
}

/* An open has a mode if it creates a file. Without truncation a file that is open only for reading
 * cannot be cut short either, which Landlock prevents from version 3 on. */
static void refuse_opens(struct filter *f, bool has_truncation)
{
    static const struct {
        uint16_t call;
        uint8_t flags_arg;
    } opens[] = {
        {SYS_openat, 2},
#ifdef __x86_64__
        {SYS_open, 1},
#endif
    };

    for (size_t i = 0; i < N_OF(opens); i++) {
        filter_begin_call(f, opens[i].call);
        if (!has_truncation) {
            filter_load_arg(f, opens[i].flags_arg);
            filter_mask(f, O_TRUNC | O_ACCMODE);
            filter_end_if(f, BPF_JEQ, O_TRUNC | O_RDONLY, REFUSE);
            filter_end_if(f, BPF_JEQ, O_TRUNC | O_ACCMODE, REFUSE);
        }
        filter_load_arg(f, opens[i].flags_arg);
        filter_end_unless(f, BPF_JSET, O_CREAT | (O_TMPFILE & ~O_DIRECTORY), ALLOW);
        filter_load_arg(f, opens[i].flags_arg + 1u);
        filter_end_if(f, BPF_JSET, SET_ID_BITS, REFUSE);
        filter_end(f, ALLOW);
        filter_end_call(f);
    }
    lose_call(f, SYS_openat2);
    if (!has_truncation)
        filter_add_call(f, SYS_truncate);
}

/* --- descriptors --- */

/* A lease keeps others from opening a file for 45 seconds: a readable file of the person's is
 * enough, and saving it would have to wait. Also refuses signals by way of a file that is ready. */
static void refuse_fcntls(struct filter *f, bool has_signals)
{
    static const uint32_t leases[] = {F_SETLEASE}, signals[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};

    filter_begin_call(f, SYS_fcntl);
    filter_load_arg(f, 1);
    filter_end_if_any(f, leases, N_OF(leases), REFUSE);
    filter_end_if_any(f, signals, N_OF(signals), has_signals ? ALLOW : REFUSE);
    filter_end(f, ALLOW);
    filter_end_call(f);
}

/* --- gaps of older versions of Landlock --- */

/* kill() by number remains: BPF cannot know whose process that is. */
static void refuse_signals(struct filter *f)
{
    static const uint16_t calls[] = {SYS_pidfd_send_signal, SYS_rt_sigqueueinfo,
                                     SYS_rt_tgsigqueueinfo, SYS_tkill};

    filter_begin_call(f, SYS_kill);
    filter_load_arg(f, 0);
    filter_end_if(f, BPF_JEQ, 0xffffffff, REFUSE); /* all processes */
    filter_end(f, ALLOW);
    filter_end_call(f);
    filter_add_calls(f, calls, N_OF(calls));
}

/* --- the whole filter --- */

static bool build(struct filter *f, const struct policy_header *p, int landlock_abi)
{
    bool has_namespaces = p->flags & POLICY_NAMESPACES;
    bool has_signals = has_namespaces || landlock_abi >= 6;

    filter_load(f, offsetof(struct seccomp_data, arch));
    filter_end_unless(f, BPF_JEQ, NATIVE_ARCH, REFUSE);
    filter_load(f, offsetof(struct seccomp_data, nr));
    filter_end_if(f, BPF_JGE, FOREIGN_BIT, REFUSE);
    filter_end_if(f, BPF_JGT, NEWEST_CALL, NO_SUCH_CALL);
    /* Its flags are in memory, too; without it the C library uses clone(). */
    lose_call(f, SYS_clone3);
    refuse_flags(f, SYS_clone, NAMESPACE_FLAGS & ~CLONE_NEWTIME); /* this bit is a signal there */
    refuse_flags(f, SYS_unshare, NAMESPACE_FLAGS);
    refuse_opens(f, /* has_truncation= */ has_namespaces || landlock_abi >= 3);
    refuse_set_id_modes(f, /* mode_arg= */ 1, has_namespaces);
    refuse_set_id_modes(f, /* mode_arg= */ 2, has_namespaces);
    refuse_ioctls(f, has_namespaces, has_signals);
    refuse_sockets(f, has_namespaces || p->flags & POLICY_NETWORK);
    refuse_socket_pairs(f);
    refuse_fcntls(f, has_signals);
    refuse_personalities(f);
    filter_add_calls(f, never, N_OF(never));
    refuse_limits_of_others(f, has_namespaces);
    if (!has_namespaces) {
        refuse_other_processes(f);
        filter_add_calls(f, without_namespaces, N_OF(without_namespaces));
    }
    if (!has_signals)
        refuse_signals(f);
    return filter_close(f, REFUSE);
}

struct fault seccomp_confine(const struct policy_header *p, int landlock_abi)
{
    static struct filter f;
    struct sock_fprog program;

    if (!build(&f, p, landlock_abi))
        return (struct fault){E2BIG, EXEC_STEP_SECCOMP, 0};
    program = (struct sock_fprog){.len = (unsigned short)f.n, .filter = f.code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
        return (struct fault){errno, EXEC_STEP_SECCOMP, 0};
    return (struct fault){0};
}
