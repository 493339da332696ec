/* probe_kernel.c - asks the kernel for rights and for the rarely used parts of it. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call that the kernel let in answers otherwise than with a refusal, be it only that its
 * arguments are nonsense. Nothing is changed by it. */
static int answered(const char *call, long result)
{
    if (result < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS))
        return stopped(call);
    return reached();
}

/* ---- parts of the kernel ---- */

static int by_io_uring(char **a)
{
    struct io_uring_params params = {0};

    (void)a;
    return ended("io_uring_setup", syscall(SYS_io_uring_setup, 4, &params));
}

static int by_bpf(char **a)
{
    union bpf_attr attributes = {0};

    (void)a;
    attributes.map_type = BPF_MAP_TYPE_ARRAY;
    attributes.key_size = attributes.value_size = 4;
    attributes.max_entries = 1;
    return ended("bpf", syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, sizeof(attributes)));
}

static int by_userfaultfd(char **a)
{
    (void)a;
    return ended("userfaultfd", syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* user mode only */));
}

static int by_perf(char **a)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof(attributes),
                                         .config = PERF_COUNT_SW_TASK_CLOCK,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1};

    (void)a;
    return ended("perf_event_open", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
}

/* The key goes away by itself: outside, nothing may be left of the attempt. */
static int by_add_key(char **a)
{
    long key = syscall(SYS_add_key, "user", a[0], "x", 1, KEY_SPEC_USER_KEYRING);

    if (key < 0)
        return stopped("add_key");
    syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, 1);
    return reached();
}

static int by_keyctl(char **a)
{
    (void)a;
    return ended("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1));
}

static int by_request_key(char **a)
{
    (void)a;
    return answered("request_key", syscall(SYS_request_key, "user", "keel-attack", NULL, 0));
}

static int by_quotactl(char **a)
{
    struct dqinfo info;

    (void)a;
    return answered("quotactl",
                    quotactl(QCMD(Q_GETINFO, USRQUOTA), "/dev/null", 0, (caddr_t)&info));
}

static int by_fanotify(char **a)
{
    (void)a;
    return ended("fanotify_init", fanotify_init(FAN_CLASS_CONTENT, O_RDONLY));
}

static int by_init_module(char **a)
{
    (void)a;
    return answered("init_module", syscall(SYS_init_module, "nonsense", 8, ""));
}

static int by_reboot(char **a)
{
    (void)a;
    return answered("reboot", syscall(SYS_reboot, 0, 0, 0, 0));
}

static int by_kexec(char **a)
{
    (void)a;
    return answered("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, -1));
}

static int by_swapon(char **a)
{
    (void)a;
    return answered("swapon", swapon("/nonexistent", 0));
}

static int by_acct(char **a)
{
    (void)a;
    return answered("acct", acct("/nonexistent"));
}

static int by_settime(char **a)
{
    const struct timezone nonsense = {.tz_minuteswest = 100000};

    (void)a;
    return answered("settimeofday", syscall(SYS_settimeofday, NULL, &nonsense));
}

static int by_sethostname(char **a)
{
    (void)a;
    return answered("sethostname", syscall(SYS_sethostname, "", /* too long: */ 1000));
}

static int by_iopl(char **a)
{
    (void)a;
#ifdef __x86_64__
    return ended("iopl", iopl(3));
#else
    errno = ENOSYS;
    return stopped("iopl");
#endif
}

/* ---- namespaces and mounts ---- */

static int unshare_user(char **a)
{
    (void)a;
    return ended("unshare", unshare(CLONE_NEWUSER));
}

static int wait_for(pid_t pid, const char *call)
{
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid(pid, NULL, __WALL);
    return ended(call, pid);
}

static int clone_user(char **a)
{
    (void)a;
    return wait_for((pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL),
                    "clone");
}

/* The flags lie in memory, where a filter cannot look. */
static int clone3_user(char **a)
{
    struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};

    (void)a;
    return wait_for((pid_t)syscall(SYS_clone3, &args, sizeof(args)), "clone3");
}

static int by_mount(char **a)
{
    return ended("mount", mount("none", a[0], "tmpfs", 0, NULL));
}

static int by_bind(char **a)
{
    int fd;

    if (mount(a[0], a[1], NULL, MS_BIND, NULL) < 0)
        return stopped("mount");
    if (chdir(a[1]) < 0)
        return stopped("chdir");
    fd = open("canary", O_WRONLY | O_APPEND | O_CLOEXEC);
    return fd < 0 ? stopped("canary") : write_line(fd);
}

/* Makes what is read-only writable again. */
static int by_remount(char **a)
{
    int fd;

    if (mount(NULL, a[0], NULL, MS_REMOUNT | MS_BIND, NULL) < 0 &&
        mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) < 0)
        stopped("mount"); /* where nothing is mounted there is nothing to undo */
    fd = open(a[1], O_WRONLY | O_APPEND | O_CLOEXEC);
    return fd < 0 ? stopped(a[1]) : write_line(fd);
}

static int by_umount(char **a)
{
    if (umount2(a[0], MNT_DETACH) < 0)
        stopped("umount2"); /* outside nothing is mounted there, and the file is read at once */
    return print_file(AT_FDCWD, a[1]);
}

static int by_fsopen(char **a)
{
    (void)a;
    return ended("fsopen", fsopen("tmpfs", 0));
}

static int by_open_tree(char **a)
{
    return ended("open_tree", open_tree(AT_FDCWD, a[0], OPEN_TREE_CLONE | AT_RECURSIVE));
}

static int by_overlay(char **a)
{
    char options[1024];

    snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s/upper,workdir=%s/work", a[0], a[1],
             a[1]);
    return ended("mount", mount("none", a[2], "overlay", 0, options));
}

/* In a mount namespace of its own, so that outside nothing is changed either. */
static int by_pivot_root(char **a)
{
    if (unshare(CLONE_NEWNS) < 0)
        return stopped("unshare");
    if (mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) < 0 ||
        mount(a[0], a[0], NULL, MS_BIND, NULL) < 0 || chdir(a[0]) < 0)
        return stopped("mount");
    return ended("pivot_root", syscall(SYS_pivot_root, ".", "."));
}

/* A directory handle from before chroot() leads out of it again. */
static int chroot_escape(char **a)
{
    int above = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (chroot(a[0]) < 0)
        return stopped("chroot");
    if (fchdir(above) < 0 || chroot(".") < 0)
        return stopped("fchdir");
    return print_file(AT_FDCWD, a[1]);
}

static int join_namespace(char **a)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%s/ns/%s", a[0], a[1]);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? stopped(path) : ended("setns", setns(fd, 0));
}

/* ---- programs and terminals ---- */

/* Runs itself, with the other arguments, out of memory. */
static int memfd_exec(char **a)
{
    char *const arguments[] = {"probe", a[0], a[1], NULL};
    char *const none[] = {NULL};
    char bytes[65536];
    int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    int to = memfd_create("attack", 0);
    ssize_t n;

    if (from < 0 || to < 0)
        return stopped("memfd_create");
    while ((n = read(from, bytes, sizeof(bytes))) > 0)
        if (write(to, bytes, (size_t)n) != n)
            return stopped("write");
    fexecve(to, arguments, none);
    return stopped("fexecve");
}

/* What capabilities there are, as a number. */
static int capabilities(char **a)
{
    char line[256];
    FILE *f = fopen("/proc/self/status", "re");

    (void)a;
    while (f && fgets(line, sizeof(line), f))
        if (strncmp(line, "Cap", 3) == 0)
            fputs(line, stdout);
    return 0;
}

/* May a program that is started gain rights? */
static int by_no_new_privs(char **a)
{
    char line[256];
    int value = 0;
    FILE *f = fopen("/proc/self/status", "re");

    (void)a;
    while (f && fgets(line, sizeof(line), f))
        sscanf(line, "NoNewPrivs: %d", &value);
    if (!value)
        return reached();
    errno = EPERM;
    return stopped("NoNewPrivs");
}

static int push_input(unsigned long request)
{
    static const char typed[] = "echo attack\n";
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

    if (fd < 0)
        fd = 0;
    for (const char *c = typed; *c; c++)
        if (syscall(SYS_ioctl, fd, request, c) < 0)
            return stopped("TIOCSTI");
    return reached();
}

static int by_tiocsti(char **a)
{
    (void)a;
    return push_input(TIOCSTI);
}

/* The kernel takes the lower half of the number; a filter may compare all of it. */
static int by_tiocsti_wide(char **a)
{
    (void)a;
    return push_input(TIOCSTI | 1ul << 32);
}

static int by_tioclinux(char **a)
{
    char paste = 3;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);

    (void)a;
    return ended("TIOCLINUX", ioctl(fd < 0 ? 0 : fd, TIOCLINUX, &paste));
}

/* The one that it has: what it would load is not the matter here. */
static int line_discipline(char **a)
{
    int fd = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), terminal = 0;

    (void)a;
    return fd < 0 ? stopped("/dev/ptmx") : ended("TIOCSETD", ioctl(fd, TIOCSETD, &terminal));
}

static int crash(char **a)
{
    if (chdir(a[0]) < 0)
        return stopped(a[0]);
    abort();
}

static int began(char **a)
{
    (void)a;
    printf("BEGAN\n");
    return 0;
}

const struct deed kernel_deeds[] = {
    {"began", 0, began},
    {"io-uring", 0, by_io_uring},
    {"bpf", 0, by_bpf},
    {"userfaultfd", 0, by_userfaultfd},
    {"perf", 0, by_perf},
    {"add-key", 1, by_add_key},
    {"keyctl", 0, by_keyctl},
    {"request-key", 0, by_request_key},
    {"quotactl", 0, by_quotactl},
    {"fanotify", 0, by_fanotify},
    {"init-module", 0, by_init_module},
    {"reboot", 0, by_reboot},
    {"kexec", 0, by_kexec},
    {"swapon", 0, by_swapon},
    {"acct", 0, by_acct},
    {"settime", 0, by_settime},
    {"sethostname", 0, by_sethostname},
    {"iopl", 0, by_iopl},
    {"unshare-user", 0, unshare_user},
    {"clone-user", 0, clone_user},
    {"clone3-user", 0, clone3_user},
    {"mount", 1, by_mount},
    {"bind", 2, by_bind},
    {"remount", 2, by_remount},
    {"umount", 2, by_umount},
    {"fsopen", 0, by_fsopen},
    {"open-tree", 1, by_open_tree},
    {"overlay", 3, by_overlay},
    {"pivot-root", 1, by_pivot_root},
    {"chroot-escape", 2, chroot_escape},
    {"setns", 2, join_namespace},
    {"memfd-exec", 2, memfd_exec},
    {"capabilities", 0, capabilities},
    {"no-new-privs", 0, by_no_new_privs},
    {"tiocsti", 0, by_tiocsti},
    {"tiocsti-wide", 0, by_tiocsti_wide},
    {"tioclinux", 0, by_tioclinux},
    {"line-discipline", 0, line_discipline},
    {"crash", 1, crash},
    {NULL, 0, NULL},
};
