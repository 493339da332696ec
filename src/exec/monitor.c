/* monitor.c - waits for the command, for keel and for the clock, and ends the tree.
 *
 * The end of the command, a request, and the end of the control channel (keel closed it or died)
 * end the tree: every process gets TERM, and KILL if it still runs after the grace period. A
 * protected or hidden place that the command may have reached (covers.h) kills all of them at once.
 * Without children there are no descendants, since orphans become children of their init or
 * subreaper. */
#include "exec/covers.h"
#include "exec/exec.h"
#include "exec/kernel.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    /* If no process waits for them, all must end within two seconds. */
    UNASKED_GRACE_MS = 1000,
    /* Between two rounds of KILL, for processes that were forked during the first. */
    KILL_PERIOD_MS = 20,
    /* After this time without new processes, those that are left cannot be signalled: they gained
     * privileges. Those that fork faster than a busy machine finds them get longer. */
    GIVE_UP_MS = 2000,
    MAX_KILLING_MS = 60000,
    MAX_REAPED = 100, /* at a time */
    /* Without keel's judgement of a file by then, there will be none. */
    MAX_JUDGING_MS = 10000,
};

enum phase { RUNNING, ENDING, KILLING };

struct monitor {
    int control; /* -1 after its end */
    int signals;
    int grace_ms;
    enum exec_mode mode;
    bool is_enclosed; /* kill(-1) reaches the tree, and only the tree */
    pid_t command;
    bool command_ended, is_gone; /* with all descendants */
    struct exec_record end;      /* of the command, until it is reported */
    struct covers covers;
    unsigned n_asked;    /* replaced files about which keel was asked: see covers.n_replaced */
    int64_t judge_by_ms; /* 0: no open question */
    bool is_uncovered;   /* why it was ended */
    bool is_hurried;     /* the grace period is at most UNASKED_GRACE_MS */
    bool has_more;       /* there may be children to reap */
    int exit_code;
    enum phase phase;
    int64_t wake_ms;                  /* from ENDING on */
    int64_t give_up_ms, last_kill_ms; /* in KILLING */
};

static void send_record(int control, struct exec_record record)
{
    record.version = EXEC_PROTOCOL_VERSION;
    if (control >= 0) /* keel may be gone */
        send(control, &record, sizeof record, MSG_NOSIGNAL);
}

/* Sends the descriptors that keel needs for later commands along. */
static void report_start(int control, struct exec_place *place)
{
    struct exec_record record = {
        .version = EXEC_PROTOCOL_VERSION, .kind = EXEC_STARTED, .value = place->mode};
    union {
        char bytes[CMSG_SPACE(sizeof place->for_keel)];
        struct cmsghdr align;
    } control_data = {0};
    struct iovec part = {&record, sizeof record};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    size_t n_bytes = (size_t)place->n_for_keel * sizeof place->for_keel[0];

    if (n_bytes) {
        control_data.align.cmsg_level = SOL_SOCKET;
        control_data.align.cmsg_type = SCM_RIGHTS;
        control_data.align.cmsg_len = CMSG_LEN(n_bytes);
        memcpy(CMSG_DATA(&control_data.align), place->for_keel, n_bytes);
        message.msg_control = control_data.bytes;
        message.msg_controllen = CMSG_SPACE(n_bytes);
    }
    sendmsg(control, &message, MSG_NOSIGNAL);
    while (place->n_for_keel)
        close(place->for_keel[--place->n_for_keel]);
}

static void report(int control, enum exec_kind kind, int value)
{
    send_record(control, (struct exec_record){.kind = kind, .value = value});
}

void report_fault(int control, const struct fault *fault)
{
    send_record(control, (struct exec_record){
                             .kind = fault->step ? EXEC_REFUSED : EXEC_FAILED,
                             .value = fault->error,
                             .step = fault->step,
                             .item = fault->item,
                         });
}

/* True if there were processes that the last signal did not reach. */
static bool signal_all(const struct monitor *m, int signal)
{
    if (!m->is_enclosed)
        return tree_signal(signal);
    kill(-1, signal); /* all others in the namespace, at once */
    return false;
}

/* Ends the tree, or makes it end sooner. */
static void end_tree(struct monitor *m, int grace_ms)
{
    int64_t kill_ms = kernel_now_ms() + grace_ms;

    if (m->phase == RUNNING) {
        signal_all(m, SIGTERM);
        signal_all(m, SIGCONT); /* a stopped process does not get TERM */
        m->covers.is_standing_still = false;
        m->judge_by_ms = 0; /* keel checks it when it has ended */
        m->phase = ENDING;
        m->wake_ms = kill_ms;
    } else if (m->phase == ENDING && kill_ms < m->wake_ms) {
        m->wake_ms = kill_ms;
    }
}

/* No process may do anything from now on: a stopped one does not continue before it dies. */
static void kill_tree(struct monitor *m)
{
    int64_t now = kernel_now_ms();

    covers_end(&m->covers);
    m->is_uncovered = true;
    m->judge_by_ms = 0;
    signal_all(m, SIGKILL);
    if (m->phase != KILLING) {
        m->give_up_ms = now + GIVE_UP_MS;
        m->last_kill_ms = now + MAX_KILLING_MS;
    }
    m->phase = KILLING;
    m->wake_ms = now + KILL_PERIOD_MS;
}

/* The tree is stopped. It continues when keel has found all files harmless that were replaced so
 * far. */
static void ask_or_continue(struct monitor *m)
{
    if (m->judge_by_ms)
        return;
    if (m->n_asked == m->covers.n_replaced || m->phase != RUNNING) {
        covers_continue(&m->covers);
        return;
    }
    m->n_asked = m->covers.n_replaced;
    m->judge_by_ms = kernel_now_ms() + MAX_JUDGING_MS;
    report(m->control, EXEC_REPLACED, (int)m->n_asked);
}

static void hear_judgement(struct monitor *m, const struct exec_record *record)
{
    if (!m->judge_by_ms || record->item != m->n_asked)
        return;
    m->judge_by_ms = 0;
    if (record->value)
        ask_or_continue(m);
    else
        kill_tree(m);
}

static void end_tree_unasked(struct monitor *m)
{
    m->is_hurried = true;
    end_tree(m, m->grace_ms < UNASKED_GRACE_MS ? m->grace_ms : UNASKED_GRACE_MS);
}

static void read_request(struct monitor *m)
{
    struct exec_record record;
    ssize_t n = recv(m->control, &record, sizeof record, MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n != (ssize_t)sizeof record || record.version != EXEC_PROTOCOL_VERSION) {
        close(m->control);
        m->control = -1;
        end_tree_unasked(m);
    } else if (record.kind == EXEC_SIGNAL) {
        if (record.value != SIGCONT || !m->covers.is_standing_still)
            signal_all(m, record.value);
    } else if (record.kind == EXEC_END) {
        end_tree(m, m->grace_ms);
    } else if (record.kind == EXEC_JUDGED) {
        hear_judgement(m, &record);
    }
}

static void read_signal(struct monitor *m)
{
    struct signalfd_siginfo info;

    if (read(m->signals, &info, sizeof info) == (ssize_t)sizeof info && info.ssi_signo != SIGCHLD)
        end_tree(m, m->grace_ms);
}

static void note_command_end(struct monitor *m, int status)
{
    m->command_ended = true;
    m->exit_code = exit_code_of(status);
    m->end = WIFEXITED(status)
                 ? (struct exec_record){.kind = EXEC_EXITED, .value = WEXITSTATUS(status)}
                 : (struct exec_record){.kind = EXEC_SIGNALLED, .value = WTERMSIG(status)};
    if (m->is_uncovered)
        m->end.step = EXEC_STEP_CHANGED;
}

/* Most commands leave no processes: then keel gets both reports at once. */
static void report_end(struct monitor *m, bool is_gone)
{
    m->end.item = is_gone;
    if (m->end.kind)
        send_record(m->control, m->end);
    else if (is_gone && m->command_ended)
        report(m->control, EXEC_GONE, 0);
    m->end.kind = 0;
}

/* False if no descendant is left. It stops after a while and is called again without waiting, so
 * that a tree that forks and dies all the time cannot block the clock. */
static bool reap(struct monitor *m)
{
    int status, n = 0;
    pid_t pid;

    do {
        pid = waitpid(-1, &status, WNOHANG | __WALL);
        if (pid > 0 && pid == m->command)
            note_command_end(m, status);
    } while (pid > 0 && ++n < MAX_REAPED);
    m->has_more = pid > 0;
    m->is_gone = pid < 0 && errno == ECHILD;
    report_end(m, m->is_gone);
    return !m->is_gone;
}

/* False if waiting is useless. */
static bool advance(struct monitor *m)
{
    int64_t now = kernel_now_ms();

    if (m->command_ended && !m->is_hurried)
        end_tree_unasked(m);
    if (m->phase == RUNNING || now < m->wake_ms)
        return true;
    if (m->phase == ENDING) {
        m->phase = KILLING;
        m->give_up_ms = now + GIVE_UP_MS;
        m->last_kill_ms = now + MAX_KILLING_MS;
    }
    if (signal_all(m, SIGKILL))
        m->give_up_ms = now + GIVE_UP_MS;
    m->wake_ms = now + KILL_PERIOD_MS;
    return now < m->give_up_ms && now < m->last_kill_ms;
}

/* -1: never. */
static int earlier(int timeout_ms, int64_t at_ms, int64_t now)
{
    int64_t left_ms = at_ms > now ? at_ms - now : 0;

    return timeout_ms >= 0 && timeout_ms < left_ms ? timeout_ms : (int)left_ms;
}

static int poll_timeout_ms(const struct monitor *m)
{
    int64_t now = kernel_now_ms();
    int timeout_ms = covers_timeout_ms(&m->covers, now);

    if (m->has_more)
        return 0;
    if (m->judge_by_ms)
        timeout_ms = earlier(timeout_ms, m->judge_by_ms, now);
    return m->phase == RUNNING ? timeout_ms : earlier(timeout_ms, m->wake_ms, now);
}

static void look_at_covers(struct monitor *m)
{
    if (!covers_look(&m->covers, kernel_now_ms()))
        kill_tree(m);
    else if (m->covers.is_standing_still)
        ask_or_continue(m);
}

static void supervise(struct monitor *m)
{
    while (reap(m) && advance(m)) {
        struct pollfd fds[] = {
            {m->signals, POLLIN, 0}, {m->control, POLLIN, 0}, {m->covers.events, POLLIN, 0}};

        if (poll(fds, 3, poll_timeout_ms(m)) < 0)
            continue;
        if (fds[2].revents || covers_timeout_ms(&m->covers, kernel_now_ms()) == 0)
            look_at_covers(m);
        if (fds[0].revents)
            read_signal(m);
        if (m->control >= 0 && fds[1].revents)
            read_request(m);
        if (m->judge_by_ms && kernel_now_ms() >= m->judge_by_ms)
            kill_tree(m);
    }
}

/* Building the mounts of a namespace has opened these already. */
static struct fault prepare_rules(struct exec_place *place)
{
    struct fault fault = {0};

    if (!place->policy || place->policy->flags & POLICY_NAMESPACES)
        return fault;
    fault = roots_open(place->policy, &place->roots);
    return fault.error ? fault : cwd_enter(place->policy, &place->roots);
}

int monitor_run(const struct options *o, struct exec_place *place)
{
    struct monitor m = {
        .control = o->control, .grace_ms = o->grace_ms, .mode = place->mode, .covers = COVERS_NONE};
    struct fault fault;
    sigset_t heard;

    /* anywhere else kill(-1) would end all processes of this user */
    if (place->mode == EXEC_MODE_NAMESPACE && getpid() != 1)
        return EXIT_SUPERVISOR;
    m.is_enclosed = place->mode == EXEC_MODE_NAMESPACE || (place->policy && landlock_enclose());
    if (place->policy && place->mode == EXEC_MODE_NAMESPACE)
        covers_watch(&m.covers);
    fault = prepare_rules(place);
    if (!fault.error)
        fault = command_start(o, place, &m.command);
    if (fault.error) {
        report_fault(o->control, &fault);
        return EXIT_CANNOT_RUN;
    }
    report_start(o->control, place);
    if (place->policy && place->mode == EXEC_MODE_NAMESPACE)
        covers_begin(&m.covers, place->policy, &place->roots, kernel_now_ms());
    else
        roots_close(&place->roots);
    release_fds(o->control);
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    sigaddset(&heard, SIGTERM);
    sigaddset(&heard, SIGINT);
    sigaddset(&heard, SIGHUP);
    sigaddset(&heard, SIGQUIT);
    m.signals = signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK);
    if (m.signals < 0)
        end_tree(&m, 0);
    supervise(&m);
    /* The end of its init ends a namespace. */
    if (!m.command_ended || (!m.is_gone && m.mode == EXEC_MODE_SUBREAPER))
        report(m.control, EXEC_LOST, 0);
    return m.command_ended ? m.exit_code : EXIT_SUPERVISOR;
}
