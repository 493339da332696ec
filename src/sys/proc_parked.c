/* proc_parked.c - starts a supervisor ahead, and hands it its command. */
#include "sys/proc_internal.h"

#include "sys/scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct proc_parked {
    pid_t pid;
    int pidfd;   /* -1 without pidfds */
    int control; /* keel's end */
    bool is_built;
};

/* --- messages --- */

struct order_fds {
    int fd[EXEC_ORDER_MAX_FDS];
    size_t n;
};

static void add_fd(struct order_fds *f, int fd)
{
    BUG_IF(f->n == EXEC_ORDER_MAX_FDS);
    f->fd[f->n++] = fd;
}

/* False: it could not be sent. */
static bool send_order(int control, struct exec_order *order, const struct order_fds *fds)
{
    size_t n_bytes = fds->n * sizeof fds->fd[0];
    char data[CMSG_SPACE(sizeof fds->fd)] __attribute__((aligned(8))) = {0};
    struct iovec part = {order, sizeof *order};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = data,
                             .msg_controllen = CMSG_SPACE(n_bytes)};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);

    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(n_bytes);
    memcpy(CMSG_DATA(header), fds->fd, n_bytes);
    return sendmsg(control, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)sizeof *order;
}

/* --- life cycle --- */

static void parked_reap(struct proc_parked *p)
{
    siginfo_t info;

    kill(p->pid, SIGCONT); /* a stopped one does not see the end of its channel */
    if (p->pidfd >= 0 && task_self()) {
        reaper_add(task_loop(), p->pidfd);
        p->pidfd = -1;
        return;
    }
    while (waitid(P_PID, (id_t)p->pid, &info, WEXITED) < 0 && errno == EINTR)
        continue;
}

void proc_parked_free(struct proc_parked *p)
{
    if (!p)
        return;
    fd_close(&p->control);
    if (p->pid)
        parked_reap(p);
    fd_close(&p->pidfd);
    mem_free(p);
}

int proc_parked_pid(const struct proc_parked *p)
{
    return p->pid;
}

static struct err *parking_error(int error, const char *what)
{
    return err_errno(ERR_TOOL_FAILED, error, "cannot %s", what);
}

/* No input, no output, the channel, and a namespace to join. */
static struct err *open_fds(struct proc_parked *p, const struct proc_parking *how,
                            struct child_fds *c)
{
    AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC), theirs = -1;
    int ends[2];

    if (null < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return parking_error(errno, "make a control channel");
    p->control = ends[0];
    theirs = ends[1];
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        TRY(child_fds_add(c, null));
    TRY(child_fds_add(c, theirs));
    return how->user_fd >= 0 ? child_fds_add(c, how->user_fd) : NULL;
}

static int start(const struct proc_parking *how, const struct child_fds *c, const char *supervisor,
                 pid_t *ret_pid)
{
    static const struct proc_spec nothing = {.cwd = "/"}; /* and no environment */
    char control[32], user[32];
    const char *argv[8] = {"keel-exec", EXEC_OPTION_INIT, EXEC_OPTION_PARKED, control};
    size_t n = 4;

    snprintf(control, sizeof control, EXEC_OPTION_CONTROL "%d", STDERR_FILENO + 1);
    snprintf(user, sizeof user, EXEC_OPTION_USER "%d", STDERR_FILENO + 2);
    if (how->user_fd >= 0)
        argv[n++] = user;
    if (!how->has_namespaces)
        argv[n++] = EXEC_OPTION_NO_NAMESPACE;
    if (how->has_namespaces && geteuid() == 0 &&
        proc_clone_init(&nothing, c, supervisor, argv, ret_pid) == 0)
        return 0;
    argv[1] = argv[0]; /* without EXEC_OPTION_INIT */
    return proc_spawn_program(&nothing, c, supervisor, argv + 1, ret_pid);
}

/* It always fits: the channel has no other user. */
static bool announce_policy(const struct proc_parked *p, const struct proc_parking *how)
{
    struct exec_order order = {.version = EXEC_PROTOCOL_VERSION,
                               .kind = EXEC_EXPECT,
                               .flags = how->network_fd >= 0 ? EXEC_ORDER_NETWORK : 0};
    struct order_fds fds = {.n = 0};

    add_fd(&fds, how->policy_fd);
    if (how->network_fd >= 0)
        add_fd(&fds, how->network_fd);
    return send_order(p->control, &order, &fds);
}

struct err *proc_park(const struct proc_parking *how, struct proc_parked **ret_parked)
{
    AUTO(proc_parked) struct proc_parked *p = mem_alloc(sizeof *p);
    AUTO(child_fds) struct child_fds c = {0};
    char supervisor[4096];
    int error;

    p->pidfd = p->control = -1;
    TRY(proc_find_supervisor(supervisor));
    TRY(open_fds(p, how, &c));
    error = start(how, &c, supervisor, &p->pid);
    if (error) {
        p->pid = 0;
        return parking_error(error, "start keel-exec");
    }
    p->pidfd = pidfd_open(p->pid, 0);
    p->is_built = how->policy_fd >= 0;
    if (p->is_built && !announce_policy(p, how))
        return parking_error(errno, "send a policy to keel-exec");
    *ret_parked = TAKE(p);
    return NULL;
}

/* --- its command --- */

/* One that was killed may leave its channel to the init of its namespace for a moment. */
static bool is_alive(const struct proc_parked *p)
{
    struct pollfd ends[] = {{.fd = p->control}, {.fd = p->pidfd, .events = POLLIN}};

    return poll(ends, ARRAY_LEN(ends), 0) == 0;
}

static uint32_t add_texts(struct strbuf *out, const char *const *texts)
{
    uint32_t n = 0;

    for (; texts && texts[n]; n++)
        strbuf_add(out, str_make(texts[n], strlen(texts[n]) + 1));
    return n;
}

/* A file in memory that cannot be changed any more. */
static struct err *open_texts(struct str texts, int *ret_fd)
{
    AUTO_CLOSE int fd = memfd_create("command", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    while (fd >= 0 && texts.n > 0) {
        ssize_t n = write(fd, texts.p, texts.n);

        if (n < 0 && errno != EINTR)
            return parking_error(errno, "write a command");
        texts = str_skip(texts, n > 0 ? (size_t)n : 0);
    }
    if (fd < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        return parking_error(errno, "write a command");
    *ret_fd = fd;
    fd = -1;
    return NULL;
}

struct err *proc_hand_over(struct proc *p, const struct proc_spec *spec, const struct child_fds *c,
                           const char *program, bool *ret_done)
{
    struct proc_confinement *confinement = spec->confinement;
    AUTO(proc_parked) struct proc_parked *parked = TAKE(confinement->take_parked);
    AUTO(strbuf) struct strbuf texts = {0};
    AUTO_CLOSE int texts_fd = -1;
    struct order_fds fds = {.n = 0};
    struct exec_order order = {
        .version = EXEC_PROTOCOL_VERSION,
        .kind = EXEC_ORDER,
        .flags = (parked->is_built ? EXEC_ORDER_BUILT : 0) | (p->is_pty ? EXEC_ORDER_TTY : 0) |
                 (spec->before_start ? EXEC_ORDER_HELD : 0) |
                 (spec->confinement->wants_notices ? EXEC_ORDER_NOTICES : 0) |
                 (spec->confinement->rules_fd >= 0 ? EXEC_ORDER_RULES : 0) |
                 (spec->confinement->network_fd >= 0 ? EXEC_ORDER_NETWORK : 0),
        .grace_ms = (int32_t)MIN(p->grace_ms, (uint64_t)INT32_MAX),
        .n_fds = (uint32_t)c->n};

    *ret_done = false;
    if (!is_alive(parked))
        return NULL;
    strbuf_add(&texts, str_make(program, strlen(program) + 1));
    order.n_arguments = add_texts(&texts, spec->argv);
    order.n_variables = add_texts(&texts, spec->environment);
    TRY(open_texts(strbuf_str(&texts), &texts_fd));
    for (int i = 0; i < c->n; i++)
        add_fd(&fds, c->fd[i]);
    add_fd(&fds, confinement->policy_fd);
    add_fd(&fds, texts_fd);
    if (confinement->rules_fd >= 0)
        add_fd(&fds, confinement->rules_fd);
    if (confinement->network_fd >= 0)
        add_fd(&fds, confinement->network_fd);
    if (confinement->held_fd >= 0)
        add_fd(&fds, confinement->held_fd);
    if (!send_order(parked->control, &order, &fds))
        return NULL;
    p->pid = parked->pid;
    p->pidfd = parked->pidfd;
    p->control = parked->control;
    parked->pid = 0;
    parked->pidfd = parked->control = -1;
    *ret_done = true;
    return NULL;
}
