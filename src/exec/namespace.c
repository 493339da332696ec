/* namespace.c - makes namespaces for the command, if allowed.
 *
 * Without a policy that is a pid namespace. Its init is this program: it adopts orphans, nothing
 * inside can hide from kill(-1), and the kernel ends everything inside with init. It always comes
 * with a mount namespace that has its own /proc: with the outer /proc the command would see foreign
 * pids, and `ps`, /proc/$$ and every debugger would act on the wrong process. Only /proc is
 * private; mounts that root makes elsewhere propagate as before. A sandbox has its own mounts
 * (mounts.c), network and IPC.
 *
 * Root needs no user namespace. Other users get one that maps only their own user and group, to
 * themselves, so files and getuid() look as before. The capabilities that it brings are only for
 * init; command.c drops them. */
#include "exec/covers.h"
#include "exec/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return false;
    n = write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text);
}

static char *put_number(char *at, unsigned value)
{
    char digits[16];
    int n = 0;

    do
        digits[n++] = (char)('0' + value % 10);
    while (value /= 10);
    while (n > 0)
        *at++ = digits[--n];
    *at++ = ' ';
    return at;
}

/* "ID ID 1": itself and no other. */
static void write_map(char map[64], unsigned id)
{
    memcpy(put_number(put_number(map, id), id), "1", sizeof "1");
}

static bool map_identity(uid_t uid, gid_t gid)
{
    char uids[64], gids[64];

    write_map(uids, uid);
    write_map(gids, gid);
    /* Without privileges the kernel accepts a group map only after setgroups() is given up. */
    return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", gids) &&
           write_file("/proc/self/uid_map", uids);
}

static bool mount_proc(void)
{
    return kernel_mount(NULL, "/proc", NULL, MS_REC | MS_PRIVATE) == 0 &&
           kernel_mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC) == 0;
}

/* The loopback of a new network namespace is down. */
static bool start_loopback(void)
{
    struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return done;
}

static bool makes_network(const struct options *o, const struct exec_place *place)
{
    return place->policy && !(place->policy->flags & POLICY_NETWORK) && o->network_fd < 0;
}

static struct fault build(const struct options *o, struct exec_place *place)
{
    if (!place->policy)
        return (struct fault){mount_proc() ? 0 : errno, EXEC_STEP_PROC, 0};
    if (makes_network(o, place) && !start_loopback())
        return (struct fault){errno, EXEC_STEP_LOOPBACK, 0};
    return mounts_build(place->policy, &place->roots);
}

static pid_t clone_with(uint64_t flags)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};

    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

static uint64_t clone_flags(const struct options *o, const struct exec_place *place)
{
    uint64_t flags = CLONE_NEWPID | CLONE_NEWNS;

    if (place->policy && !o->is_parked) /* that has made them already */
        flags |= CLONE_NEWIPC;
    if (makes_network(o, place))
        flags |= CLONE_NEWNET;
    return flags;
}

/* The user namespace comes first: it gives the right to join the network. */
static bool join(const struct options *o, struct exec_place *place)
{
    if (o->user_fd >= 0) {
        if (setns(o->user_fd, CLONE_NEWUSER) < 0)
            return false;
        close(o->user_fd);
        place->own_user_namespace = true;
    }
    if (o->network_fd >= 0) {
        if (setns(o->network_fd, CLONE_NEWNET) < 0)
            return false;
        close(o->network_fd);
    }
    return true;
}

static bool keep_fd(struct exec_place *place, int fd)
{
    if (fd >= 0)
        place->for_keel[place->n_for_keel++] = fd;
    return fd >= 0;
}

static bool keep_namespace(struct exec_place *place, const char *path)
{
    return keep_fd(place, open(path, O_RDONLY | O_CLOEXEC));
}

/* Keeps what keel needs of the new network, in the order of protocol.h. */
static struct fault keep_network(struct exec_place *place)
{
    bool has_proxy = place->policy->flags & POLICY_PROXY;
    bool done = keep_namespace(place, "/proc/self/ns/net") &&
                (!has_proxy || keep_fd(place, listener_open())) &&
                (!place->is_new_user || keep_namespace(place, "/proc/self/ns/user"));

    return (struct fault){done ? 0 : errno, EXEC_STEP_LOOPBACK, 0};
}

static struct fault fill(const struct options *o, struct exec_place *place)
{
    struct fault fault = build(o, place);

    if (!fault.error && makes_network(o, place))
        fault = keep_network(place);
    if (!fault.error && place->policy)
        fault = cwd_enter(place->policy, &place->roots);
    if (!fault.error)
        place->mode = EXEC_MODE_NAMESPACE;
    return fault;
}

static struct fault make_rest(const struct options *o, struct exec_place *place)
{
    if (!join(o, place) || unshare((int)(clone_flags(o, place) & ~CLONE_NEWPID)) < 0)
        return (struct fault){errno, EXEC_STEP_NAMESPACES, 0};
    return (struct fault){0};
}

/* The network was joined before, and the mounts were built by a policy with the same items. */
static struct fault enter_built(const struct options *o, struct exec_place *place)
{
    struct fault fault = covers_check(place->policy, &place->roots);

    if (o->network_fd >= 0)
        close(o->network_fd);
    if (!fault.error)
        fault = cwd_enter(place->policy, &place->roots);
    place->mode = EXEC_MODE_NAMESPACE;
    return fault;
}

struct fault namespace_enter(const struct options *o, struct exec_place *place)
{
    struct fault fault;

    if (place->is_built)
        return enter_built(o, place);
    fault = make_rest(o, place);
    return fault.error ? fault : fill(o, place);
}

struct fault namespace_build_ahead(const struct options *o, struct exec_place *place)
{
    struct fault fault = make_rest(o, place);

    if (!fault.error)
        fault = mounts_build(place->policy, &place->roots);
    place->is_built = !fault.error;
    return fault;
}

/* Runs in the new init until everything is built; then reports success or the fault to the
 * caller. */
static void become_init(const struct options *o, struct exec_place *place, int ready, uid_t uid,
                        gid_t gid)
{
    struct fault fault = {0};

    place->is_new_user = place->own_user_namespace && o->user_fd < 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (place->is_new_user && !map_identity(uid, gid))
        fault = (struct fault){errno, EXEC_STEP_NAMESPACES, 0};
    else if (!o->is_parked)
        fault = fill(o, place);
    /* The write fails if the parent died before its death could signal this process. */
    if (write(ready, &fault, sizeof fault) != (ssize_t)sizeof fault || fault.error)
        _exit(EXIT_SUPERVISOR);
}

/* Like fork() into new namespaces. -1: not allowed here, for the reason given. */
static pid_t fork_into(uint64_t flags, const struct options *o, struct exec_place *place,
                       struct fault *ret_fault)
{
    struct fault fault = {EIO, EXEC_STEP_NAMESPACES, 0};
    uid_t uid = geteuid();
    gid_t gid = getegid();
    int ready[2];
    pid_t pid;

    *ret_fault = fault;
    if (pipe2(ready, O_CLOEXEC) < 0)
        return -1;
    pid = join(o, place) ? clone_with(flags) : -1;
    if (pid < 0 && errno == EPERM && uid != 0 && o->network_fd < 0) {
        place->own_user_namespace = true;
        pid = clone_with(flags | CLONE_NEWUSER);
    }
    if (pid == 0) {
        close(ready[0]);
        become_init(o, place, ready[1], uid, gid);
        close(ready[1]);
        return 0;
    }
    if (pid < 0)
        fault.error = errno;
    close(ready[1]);
    if (pid > 0 && (read(ready[0], &fault, sizeof fault) != (ssize_t)sizeof fault || fault.error)) {
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    close(ready[0]);
    if (pid < 0)
        place->own_user_namespace = false;
    *ret_fault = fault;
    return pid;
}

pid_t namespace_fork(const struct options *o, struct exec_place *place, struct fault *ret_fault)
{
    return fork_into(clone_flags(o, place), o, place, ret_fault);
}

pid_t namespace_park(const struct options *o, struct exec_place *place)
{
    struct fault fault;
    pid_t pid = 0;

    if (!o->is_init)
        pid = fork_into(CLONE_NEWPID | CLONE_NEWIPC, o, place, &fault);
    else if (unshare(CLONE_NEWIPC) < 0)
        return -1;
    if (pid == 0)
        mounts_make_ahead(&place->roots);
    return pid;
}
