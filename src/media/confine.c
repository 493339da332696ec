/* confine.c - what keel-media gives up before it reads anything.
 *
 * The dynamic linker has finished by then. read(), write() and memory remain: the process can open
 * no file, make no socket, start no process and make nothing new executable. A decoder that is
 * taken over can only write nonsense to keel, which checks it. Other calls fail with EPERM instead
 * of killing the process, since libraries try calls that they can do without. */
#include "media/media.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#define NATIVE_ARCH 0 /* no call is allowed: keel reports that it cannot be confined */
#endif

static const unsigned short allowed[] = {
    SYS_read,         SYS_write,          SYS_close,         SYS_fstat,     SYS_munmap,
    SYS_mremap,       SYS_madvise,        SYS_brk,           SYS_futex,     SYS_exit,
    SYS_exit_group,   SYS_rt_sigreturn,   SYS_clock_gettime, SYS_getrandom, SYS_lseek,
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sched_yield,
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define REFUSAL (SECCOMP_RET_ERRNO | EPERM)
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))

/* The low half of an argument, which both machines store first. */
#define LOAD_PROTECTION LOAD(args[2])

static bool set_filter(void)
{
    struct sock_filter code[16 + 2 * ARRAY_LEN(allowed)] = {
        LOAD(arch),
        IS(NATIVE_ARCH, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        IS(SYS_mmap, 1, 0), /* no executable memory */
        IS(SYS_mprotect, 0, 4),
        LOAD_PROTECTION,
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        RETURN(REFUSAL),
        RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.filter = code};
    unsigned short n = 10;

    for (size_t i = 0; i < ARRAY_LEN(allowed); i++) {
        code[n++] = (struct sock_filter)IS(allowed[i], 0, 1);
        code[n++] = (struct sock_filter)RETURN(SECCOMP_RET_ALLOW);
    }
    code[n++] = (struct sock_filter)RETURN(REFUSAL);
    program.len = n;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool set_limit(int what, rlim_t limit)
{
    return setrlimit(what, &(struct rlimit){limit, limit}) == 0;
}

bool media_confine(void)
{
    return set_limit(RLIMIT_AS, MEDIA_MAX_MEMORY) && set_limit(RLIMIT_CPU, MEDIA_MAX_CPU_SECONDS) &&
           set_limit(RLIMIT_FSIZE, 0) && set_limit(RLIMIT_CORE, 0) &&
           prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && set_filter();
}
