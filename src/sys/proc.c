/* proc.c - the life of a child: start, follow, end, reap.
 *
 * Only proc_free(), or the loop after it, reaps a child. Until then no other process has its pid
 * and its process group, so signals to them cannot go astray. */
#include "sys/proc_internal.h"

#include "sys/scheduler.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
    DEFAULT_GRACE_MS = 2000,
    /* After the grace period a supervisor may need this long to see the last process end. */
    SUPERVISOR_MARGIN_MS = 4000,
    LOOK_PERIOD_MS = 10,
};

int proc_pid(const struct proc *p)
{
    return p->pid;
}

bool proc_is_isolated(const struct proc *p)
{
    return p->is_isolated;
}

static bool is_supervised(const struct proc *p)
{
    return p->control >= 0;
}

/* --- the supervisor's channel --- */

/* A supervisor that is gone needs no records. */
static void send_record(struct proc *p, struct exec_record record)
{
    record.version = EXEC_PROTOCOL_VERSION;
    p->is_unheard = send(p->control, &record, sizeof record, MSG_DONTWAIT | MSG_NOSIGNAL) < 0;
}

static void request(struct proc *p, enum exec_kind kind, int value)
{
    send_record(p, (struct exec_record){.kind = kind, .value = value});
}

static struct err *supervisor_is_gone(const struct proc *p)
{
    return err_hint(err_new(ERR_TOOL_FAILED, "the supervisor of %s exited unexpectedly", p->name),
                    "keel-exec was killed, or the system is out of memory or processes");
}

/* Descriptors that arrived with a record. */
struct came_fds {
    int fd[4];
    size_t n;
};

static void came_fds_done(struct came_fds *c)
{
    for (size_t i = 0; i < c->n; i++)
        close(c->fd[i]);
}
DEFINE_AUTO_VAL(came_fds, came_fds_done)

/* Moves the next one to `to`, or closes it if there is one already. */
static void take_fd(struct came_fds *c, int *to)
{
    if (c->n == 0)
        return;
    if (*to < 0)
        *to = c->fd[0];
    else
        close(c->fd[0]);
    memmove(c->fd, c->fd + 1, --c->n * sizeof c->fd[0]);
}

static void read_fds(struct msghdr *message, struct came_fds *ret)
{
    struct cmsghdr *header = CMSG_FIRSTHDR(message);

    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
        return;
    ret->n = MIN((header->cmsg_len - CMSG_LEN(0)) / sizeof ret->fd[0], ARRAY_LEN(ret->fd));
    memcpy(ret->fd, CMSG_DATA(header), ret->n * sizeof ret->fd[0]);
}

static ssize_t receive(int control, struct exec_record *ret, struct came_fds *fds)
{
    char data[CMSG_SPACE(sizeof fds->fd)] __attribute__((aligned(8)));
    struct iovec part = {ret, sizeof *ret};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = fds ? data : NULL,
                             .msg_controllen = fds ? sizeof data : 0};
    ssize_t n = recvmsg(control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n > 0 && fds)
        read_fds(&message, fds);
    return n;
}

/* Waits for the next record. Descriptors may arrive with it, for the caller to take or to close. */
static struct err *read_record(struct proc *p, struct exec_record *ret, struct came_fds *ret_fds)
{
    ssize_t n;

    do {
        TRY(task_wait_fd(p->control, TASK_FD_READ, NULL));
        n = receive(p->control, ret, ret_fds);
        /* ECONNRESET shows that a request was not read; records follow it. */
        p->is_unheard |= n < 0 && errno == ECONNRESET;
    } while (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET));
    if (n <= 0)
        return supervisor_is_gone(p);
    if (n != (ssize_t)sizeof *ret || ret->version != EXEC_PROTOCOL_VERSION)
        return err_hint(err_new(ERR_CONFIGURATION, "keel-exec and keel are of different versions"),
                        "install both from the same version, and check KEEL_EXEC");
    return NULL;
}

/* --- starting --- */

static struct proc *proc_new(const struct proc_spec *spec)
{
    struct proc *p = mem_alloc(sizeof *p);

    p->name = mem_strdup(spec->argv[0]);
    p->pidfd = p->in = p->out = p->err = p->control = -1;
    p->grace_ms = spec->grace_ms ? spec->grace_ms : DEFAULT_GRACE_MS;
    p->may_linger = spec->may_linger;
    p->judge = spec->confinement ? spec->confinement->judge : NULL;
    return p;
}

/* If the command is to send it, it does so just before it is executed. */
static struct err *await_notices(struct proc *p, struct proc_confinement *c,
                                 struct exec_record *ret_next, struct came_fds *ret_fds)
{
    TRY(read_record(p, ret_next, ret_fds));
    if (!c || ret_next->kind != EXEC_NOTICES)
        return NULL;
    take_fd(ret_fds, &c->notices_fd);
    c->notices_error = ret_next->value;
    came_fds_done(ret_fds);
    *ret_fds = (struct came_fds){0};
    return read_record(p, ret_next, ret_fds);
}

/* Waits until the command runs. */
static struct err *await_start(struct proc *p, const struct proc_spec *spec, const char *program)
{
    AUTO(came_fds) struct came_fds fds = {0};
    struct exec_record record;
    struct err *e = await_notices(p, spec->confinement, &record, &fds);

    if (spec->confinement) /* a command starts when its supervisor has read everything */
        spec->confinement->died_unheard = err_is(e, ERR_TOOL_FAILED) && p->is_unheard;
    TRY(e);
    if (record.kind == EXEC_FAILED)
        return proc_exec_error(spec, program, record.value);
    if (record.kind == EXEC_REFUSED) {
        if (spec->confinement)
            spec->confinement->refusal = record;
        return err_errno(ERR_SANDBOX, record.value, "cannot build the sandbox of %s", p->name);
    }
    if (spec->confinement) {
        /* It comes with what later commands need. */
        take_fd(&fds, &spec->confinement->network_fd);
        if (spec->confinement->has_proxy)
            take_fd(&fds, &spec->confinement->listener_fd);
        take_fd(&fds, &spec->confinement->user_fd);
    }
    p->is_isolated = record.value == EXEC_MODE_NAMESPACE;
    return NULL;
}

struct err *proc_spawn(const struct proc_spec *spec, struct proc **ret_proc)
{
    AUTO(proc) struct proc *p = proc_new(spec);
    AUTO_FREE char *program = NULL;

    TRY(proc_find_program(spec, &program));
    TRY(proc_start(p, spec, program));
    if (spec->before_start) {
        TRY(spec->before_start(spec->before_self));
        request(p, EXEC_START, 0);
    }
    if (is_supervised(p))
        TRY(await_start(p, spec, program));
    *ret_proc = TAKE(p);
    return NULL;
}

/* --- waiting --- */

static int wait_with(const struct proc *p, siginfo_t *ret_info, int flags)
{
    *ret_info = (siginfo_t){0};
    return p->pidfd >= 0 ? waitid(P_PIDFD, (id_t)p->pidfd, ret_info, WEXITED | flags)
                         : waitid(P_PID, (id_t)p->pid, ret_info, WEXITED | flags);
}

static bool can_say_last_word(const struct proc *p)
{
    return p->may_linger && is_supervised(p) && p->has_status && p->pidfd >= 0;
}

/* It follows the command's end, when nothing else reads from its supervisor. */
static bool hear_last_word(struct proc *p)
{
    struct exec_record record;

    if (p->tree_is_gone || !can_say_last_word(p) ||
        receive(p->control, &record, NULL) != (ssize_t)sizeof record)
        return p->tree_is_gone;
    p->tree_is_gone = record.kind == EXEC_GONE;
    if (record.kind == EXEC_LOST && p->judge)
        p->judge->note_lost(p->judge->self);
    return p->tree_is_gone;
}

static bool is_gone(struct proc *p)
{
    siginfo_t info;

    return hear_last_word(p) || wait_with(p, &info, WNOHANG | WNOWAIT) < 0 || info.si_pid != 0;
}

struct err *proc_wait_gone(struct proc *p)
{
    if (!p->tree_is_gone && can_say_last_word(p))
        TRY(task_wait_fd(p->control, TASK_FD_READ, NULL)); /* or it ends without one */
    if (hear_last_word(p))
        return NULL;
    if (p->pidfd >= 0)
        return task_wait_fd(p->pidfd, TASK_FD_READ, NULL);
    /* Valgrind and kernels before 5.3 have no pidfds: poll. */
    while (!is_gone(p))
        TRY(task_sleep(LOOK_PERIOD_MS));
    return NULL;
}

static struct proc_status status_of(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        return (struct proc_status){.exited = true, .exit_code = info->si_status};
    return (struct proc_status){.signalled = true, .signal = info->si_status};
}

static struct err *wait_plain(struct proc *p)
{
    siginfo_t info;

    TRY(proc_wait_gone(p));
    if (wait_with(p, &info, WNOHANG | WNOWAIT) < 0)
        return err_hint(err_errno(ERR_INTERNAL, errno, "cannot get the exit status of %s", p->name),
                        "the program that uses keel must neither ignore SIGCHLD nor wait for "
                        "children that it did not start");
    p->status = status_of(&info);
    p->has_status = true;
    return NULL;
}

static struct err *wait_supervised(struct proc *p)
{
    struct exec_record record;

    TRY(read_record(p, &record, NULL));
    while (record.kind == EXEC_REPLACED) {
        /* The command waits for the answer. */
        send_record(p,
                    (struct exec_record){.kind = EXEC_JUDGED,
                                         .value = p->judge && p->judge->is_harmless(p->judge->self),
                                         .item = (uint32_t)record.value});
        TRY(read_record(p, &record, NULL));
    }
    if (record.kind == EXEC_LOST)
        return err_hint(err_new(ERR_TOOL_FAILED, "cannot kill %s", p->name),
                        "it has privileges that keel lacks; kill it as root");
    if (record.kind == EXEC_EXITED)
        p->status = (struct proc_status){.exited = true, .exit_code = record.value};
    else
        p->status = (struct proc_status){.signalled = true, .signal = record.value};
    p->status.lost_protection = record.step == EXEC_STEP_CHANGED;
    p->has_status = true;
    p->tree_is_gone = record.item && can_say_last_word(p);
    return NULL;
}

struct err *proc_wait(struct proc *p, struct proc_status *ret_status)
{
    if (!p->has_status)
        TRY(is_supervised(p) ? wait_supervised(p) : wait_plain(p));
    *ret_status = p->status;
    return NULL;
}

/* --- ending --- */

/* If a host has reaped the child against the rules, its number may belong to another process. */
static bool is_ours(const struct proc *p)
{
    siginfo_t info;

    return wait_with(p, &info, WNOHANG | WNOWAIT) == 0;
}

static void signal_group(const struct proc *p, int signal)
{
    if (is_ours(p))
        kill(-p->pid, signal);
}

void proc_signal(struct proc *p, int signal)
{
    if (is_supervised(p))
        request(p, EXEC_SIGNAL, signal);
    else
        signal_group(p, signal);
}

/* A supervisor that outlives its time is killed too: its namespace ends with it. */
static void kill_at_once(struct proc *p)
{
    if (!is_supervised(p))
        signal_group(p, SIGKILL);
    else if (is_ours(p))
        kill(p->pid, SIGKILL);
}

static struct err *wait_at_most(struct proc *p, uint64_t limit_ms, bool *ret_is_gone)
{
    struct deadline limit;
    struct err *e;

    deadline_begin(&limit, limit_ms, p->name);
    e = proc_wait_gone(p);
    *ret_is_gone = !e;
    if (err_is(e, ERR_TIMEOUT) && limit.expired) {
        err_ignore(e, "the caller goes on with KILL");
        e = NULL;
    }
    deadline_end(&limit);
    return e;
}

struct err *proc_end(struct proc *p)
{
    uint64_t limit_ms = p->grace_ms + (is_supervised(p) ? SUPERVISOR_MARGIN_MS : 0);
    bool gone = is_gone(p);

    if (!gone) {
        if (is_supervised(p)) {
            request(p, EXEC_END, 0);
        } else {
            signal_group(p, SIGTERM);
            signal_group(p, SIGCONT); /* a stopped process does not hear TERM */
        }
        TRY(wait_at_most(p, limit_ms, &gone));
    }
    if (gone)
        return NULL;
    kill_at_once(p);
    return proc_wait_gone(p);
}

static void end_and_reap(struct proc *p)
{
    struct err *e = NULL;
    siginfo_t info;

    if (!is_gone(p)) {
        task_shield_begin();
        e = proc_end(p);
        task_shield_end();
    }
    if (e || !is_supervised(p))
        kill_at_once(p); /* what the leader left in its group */
    err_ignore(e, "it is dead now");
    if (p->tree_is_gone && task_self()) {
        reaper_add(task_loop(), p->pidfd);
        p->pidfd = -1;
        return;
    }
    while (wait_with(p, &info, 0) < 0 && errno == EINTR)
        continue;
}

void proc_free(struct proc *p)
{
    if (!p)
        return;
    if (p->pid)
        end_and_reap(p);
    fd_close(&p->pidfd);
    fd_close(&p->in);
    fd_close(&p->out);
    fd_close(&p->err);
    fd_close(&p->control);
    mem_free(p->name);
    mem_free(p);
}
