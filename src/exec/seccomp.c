/* seccomp.c - which system calls a sandboxed command may make.
 *
 * What it may not gets EPERM, so that programs degrade instead of dying. Three kinds are refused:
 * what reaches around files and processes (keys, mounts, namespaces, devices of the kernel); what
 * has had too many holes to be worth it (io_uring, userfaultfd, bpf); and, without namespaces, what
 * Landlock does not cover: sockets, modes, owners, times and attributes of files, memory that is
 * shared by number. Calls newer than this list do not exist (ENOSYS): programs know old kernels.
 *
 * The filter is written here, not by libseccomp: that takes 0.7 ms a command, this 0.1. The kernel
 * tries the filter for every call when it is loaded and remembers those that are always allowed, so
 * the list is searched by halves. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
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
    NEWEST_CALL = 462, /* mseal; the numbers above 424 are the same everywhere */
    FCHMODAT2 = 452,
    MAX_CODE = 768,
    MAX_CALLS = 192,
};

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
    /* files by number, whatever covers them */
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    /* the memory and descriptors of other processes; a debugger has ptrace for its own */
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

/* Landlock has no right for these, and no namespace keeps them away from others. */
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

/* What may be done to the caller itself, named by 0, but not to other processes. */
static const struct {
    uint16_t call;
    uint8_t pid_arg;
} of_processes[] = {
    {SYS_ioprio_set, 1},        {SYS_migrate_pages, 0},      {SYS_move_pages, 0},
    {SYS_sched_setaffinity, 0}, {SYS_sched_setattr, 0},      {SYS_sched_setparam, 0},
    {SYS_setpriority, 1},       {SYS_sched_setscheduler, 0},
};

static const uint32_t terminal_ioctls[] = {TIOCSTI, TIOCLINUX};

/* Attributes of a file that is open for reading only. */
static const uint32_t file_ioctls[] = {
    FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION, FS_IOC32_SETVERSION,
};

/* --- writing a filter --- */

struct filter {
    struct sock_filter code[MAX_CODE];
    unsigned n;
    uint16_t calls[MAX_CALLS]; /* refused whatever their arguments; sorted */
    unsigned n_calls;
};

#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define NO_SUCH_CALL (SECCOMP_RET_ERRNO | ENOSYS)

static void emit(struct filter *f, uint16_t code, uint32_t k, unsigned if_true, unsigned if_false)
{
    if (f->n < MAX_CODE)
        f->code[f->n] = (struct sock_filter){code, (uint8_t)if_true, (uint8_t)if_false, k};
    f->n++;
}

static void load(struct filter *f, unsigned offset)
{
    emit(f, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void load_call(struct filter *f)
{
    load(f, offsetof(struct seccomp_data, nr));
}

/* The lower half: ints are all that is compared here. */
static void load_arg(struct filter *f, unsigned arg)
{
    load(f, offsetof(struct seccomp_data, args) + 8 * arg);
}

static void end_with(struct filter *f, uint32_t action)
{
    emit(f, BPF_RET | BPF_K, action, 0, 0);
}

static void end_if(struct filter *f, uint16_t comparison, uint32_t k, uint32_t action)
{
    emit(f, BPF_JMP | comparison | BPF_K, k, 0, 1);
    end_with(f, action);
}

/* begin_call(...) what happens when it is this call, which must end; end_call(...). */
static unsigned begin_call(struct filter *f, unsigned call)
{
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
    return f->n;
}

static void end_call(struct filter *f, unsigned begin)
{
    if (f->n <= MAX_CODE)
        f->code[begin - 1].jf = (uint8_t)(f->n - begin);
}

/* --- calls whose arguments count --- */

static void refuse_flags(struct filter *f, unsigned call, uint32_t flags)
{
    unsigned begin = begin_call(f, call);

    load_arg(f, 0);
    end_if(f, BPF_JSET, flags, REFUSE);
    end_with(f, ALLOW);
    end_call(f, begin);
}

static void refuse_ioctls(struct filter *f, bool has_namespaces)
{
    unsigned begin = begin_call(f, SYS_ioctl);

    load_arg(f, 1);
    for (size_t i = 0; i < sizeof terminal_ioctls / sizeof terminal_ioctls[0]; i++)
        end_if(f, BPF_JEQ, terminal_ioctls[i], REFUSE);
    for (size_t i = 0; !has_namespaces && i < sizeof file_ioctls / sizeof file_ioctls[0]; i++)
        end_if(f, BPF_JEQ, file_ioctls[i], REFUSE);
    end_with(f, ALLOW);
    end_call(f, begin);
}

/* Network is what the namespace has, or none. No Unix socket is made, as none could be kept from
 * those of others, which have names in the file system; pairs have no names. */
static void refuse_sockets(struct filter *f, bool has_network)
{
    unsigned begin = begin_call(f, SYS_socket);

    load_arg(f, 0);
    if (has_network) {
        end_if(f, BPF_JEQ, AF_INET, ALLOW);
        end_if(f, BPF_JEQ, AF_INET6, ALLOW);
        emit(f, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 3);
        load_arg(f, 2);
        end_if(f, BPF_JEQ, NETLINK_ROUTE, ALLOW);
    }
    end_with(f, REFUSE);
    end_call(f, begin);

    /* A datagram socket can be sent anywhere, even one of a pair. */
    begin = begin_call(f, SYS_socketpair);
    load_arg(f, 1);
    emit(f, BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0);
    end_if(f, BPF_JEQ, SOCK_DGRAM, REFUSE);
    end_with(f, ALLOW);
    end_call(f, begin);
}

/* Nothing but asking, the usual one, and the one that debuggers want. */
static void refuse_personalities(struct filter *f)
{
    enum { ADDR_NO_RANDOMIZE = 0x40000 };
    unsigned begin = begin_call(f, SYS_personality);

    load_arg(f, 0);
    end_if(f, BPF_JEQ, 0, ALLOW);
    end_if(f, BPF_JEQ, ADDR_NO_RANDOMIZE, ALLOW);
    end_if(f, BPF_JEQ, 0xffffffff, ALLOW);
    end_with(f, REFUSE);
    end_call(f, begin);
}

static void refuse_other_processes(struct filter *f)
{
    unsigned begin;

    for (size_t i = 0; i < sizeof of_processes / sizeof of_processes[0]; i++) {
        begin = begin_call(f, of_processes[i].call);
        load_arg(f, of_processes[i].pid_arg);
        end_if(f, BPF_JEQ, 0, ALLOW);
        end_with(f, REFUSE);
        end_call(f, begin);
    }
    /* A limit of a second of processor time kills as well as a signal does. */
    begin = begin_call(f, SYS_prlimit64);
    load_arg(f, 0);
    end_if(f, BPF_JEQ, 0, ALLOW);
    load_arg(f, 2);
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load(f, offsetof(struct seccomp_data, args) + 8 * 2 + 4);
    end_if(f, BPF_JEQ, 0, ALLOW);
    end_with(f, REFUSE);
    end_call(f, begin);
}

/* --- calls that are refused altogether --- */

static void add_call(struct filter *f, unsigned call)
{
    unsigned at = f->n_calls++;

    if (at >= MAX_CALLS)
        return;
    for (; at > 0 && f->calls[at - 1] > call; at--)
        f->calls[at] = f->calls[at - 1];
    f->calls[at] = (uint16_t)call;
}

static void add_calls(struct filter *f, const uint16_t *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_call(f, calls[i]);
}

/* The call is loaded. Ends in any case. */
static void search(struct filter *f, unsigned from, unsigned to)
{
    unsigned middle = from + (to - from) / 2, at;

    if (to - from <= 3) {
        for (; from < to; from++)
            end_if(f, BPF_JEQ, f->calls[from], REFUSE);
        end_with(f, ALLOW);
        return;
    }
    at = f->n;
    emit(f, BPF_JMP | BPF_JGE | BPF_K, f->calls[middle], 0, 0);
    search(f, from, middle);
    if (at < MAX_CODE)
        f->code[at].jt = (uint8_t)(f->n - at - 1);
    search(f, middle, to);
}

/* --- what older versions of Landlock leave open --- */

/* Cutting a file short that is open for reading only. Flags in memory cannot be looked at. */
static void refuse_truncation(struct filter *f)
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

    add_call(f, SYS_truncate);
    end_if(f, BPF_JEQ, SYS_openat2, NO_SUCH_CALL);
    for (size_t i = 0; i < sizeof opens / sizeof opens[0]; i++) {
        unsigned begin = begin_call(f, opens[i].call);

        load_arg(f, opens[i].flags_arg);
        emit(f, BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE, 0, 0);
        end_if(f, BPF_JEQ, O_TRUNC | O_RDONLY, REFUSE);
        end_if(f, BPF_JEQ, O_TRUNC | O_ACCMODE, REFUSE);
        end_with(f, ALLOW);
        end_call(f, begin);
    }
}

/* What is left is kill() by number: BPF cannot tell whose process that is. */
static void refuse_signals(struct filter *f)
{
    static const uint16_t calls[] = {SYS_pidfd_send_signal, SYS_rt_sigqueueinfo,
                                     SYS_rt_tgsigqueueinfo, SYS_tkill};
    unsigned begin = begin_call(f, SYS_kill);

    load_arg(f, 0);
    end_if(f, BPF_JEQ, 0xffffffff, REFUSE); /* everybody */
    end_with(f, ALLOW);
    end_call(f, begin);
    /* Signals by way of a file that is ready. */
    begin = begin_call(f, SYS_fcntl);
    load_arg(f, 1);
    end_if(f, BPF_JEQ, F_SETOWN, REFUSE);
    end_if(f, BPF_JEQ, F_SETOWN_EX, REFUSE);
    end_if(f, BPF_JEQ, F_SETSIG, REFUSE);
    end_with(f, ALLOW);
    end_call(f, begin);
    add_calls(f, calls, sizeof calls / sizeof calls[0]);
}

static void build(struct filter *f, const struct policy_header *p, int landlock_abi)
{
    bool has_namespaces = p->flags & POLICY_NAMESPACES;

    load(f, offsetof(struct seccomp_data, arch));
    emit(f, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
    end_with(f, REFUSE);
    load_call(f);
    end_if(f, BPF_JGE, FOREIGN_BIT, REFUSE);
    end_if(f, BPF_JGT, NEWEST_CALL, NO_SUCH_CALL);
    /* Its flags are in memory too; without it the C library uses clone(). */
    end_if(f, BPF_JEQ, SYS_clone3, NO_SUCH_CALL);
    refuse_flags(f, SYS_clone, NAMESPACE_FLAGS & ~CLONE_NEWTIME); /* that bit is a signal there */
    refuse_flags(f, SYS_unshare, NAMESPACE_FLAGS);
    refuse_ioctls(f, has_namespaces);
    refuse_sockets(f, has_namespaces || p->flags & POLICY_NETWORK);
    refuse_personalities(f);
    add_calls(f, never, sizeof never / sizeof never[0]);
    if (!has_namespaces) {
        refuse_other_processes(f);
        add_calls(f, without_namespaces, sizeof without_namespaces / sizeof *without_namespaces);
        if (landlock_abi < 3)
            refuse_truncation(f);
        if (landlock_abi < 6)
            refuse_signals(f);
    }
    search(f, 0, f->n_calls);
}

struct fault seccomp_confine(const struct policy_header *p, int landlock_abi)
{
    static struct filter f;
    struct sock_fprog program;

    build(&f, p, landlock_abi);
    if (f.n > MAX_CODE || f.n_calls > MAX_CALLS)
        return (struct fault){E2BIG, EXEC_STEP_SECCOMP, 0};
    program = (struct sock_fprog){.len = (unsigned short)f.n, .filter = f.code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
        return (struct fault){errno, EXEC_STEP_SECCOMP, 0};
    return (struct fault){0};
}
