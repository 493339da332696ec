/* proc_tree_test.c - ending commands and all that came of them. */
#include "sys/procs.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* --- descendants --- */

PROC_TEST(what_a_command_leaves_in_the_background_ends_with_it)
{
    const char *const *mark = new_mark();
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = marked(
        command(way, SHELL("sleep 1000 & setsid sleep 1000 & nohup sleep 1000 & echo ok")), mark);

    TRY(proc_run(&spec, 0, &o));
    EXPECT(ended_with(o.status, 0));
    EXPECT_OUTPUT(o.out, "ok\n");
    EXPECT(count_marked(mark) == 0);
    return NULL;
}

PROC_TEST(daemons_that_ignore_term_end_with_the_command_that_left_them)
{
    const char *const *mark = new_mark();
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec =
        marked(command(way, ARGV(helper("misbehave"), "leave-daemons", "20")), mark);

    spec.grace_ms = 50;
    TRY(proc_run(&spec, 0, &o));
    EXPECT(ended_with(o.status, 0));
    EXPECT(count_marked(mark) == 0);
    return NULL;
}

static struct err *catch_a_relay(const void *way, const char *kind)
{
    const char *const *mark = new_mark();
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = marked(command(way, ARGV(helper("misbehave"), kind)), mark);

    spec.grace_ms = 50;
    TRY(proc_run(&spec, 0, &o));
    EXPECT(ended_with(o.status, 0));
    for (int i = 0; i < 100; i++)
        EXPECT(count_marked(mark) == 0);
    return NULL;
}

PROC_TEST(a_relay_of_forks_is_caught)
{
    return catch_a_relay(way, "relay");
}

PROC_TEST(a_relay_of_sessions_is_caught)
{
    return catch_a_relay(way, "relay-of-sessions");
}

PROC_TEST(a_time_out_ends_the_tree)
{
    const char *const *mark = new_mark();
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec =
        marked(command(way, ARGV(helper("misbehave"), "stay-with-daemons", "5")), mark);

    spec.grace_ms = 50;
    TRY(proc_run(&spec, 500, &o));
    EXPECT(o.timed_out && ended_by(o.status, SIGTERM));
    EXPECT(count_marked(mark) == 0);
    return NULL;
}

PROC_TEST(freeing_it_ends_the_tree)
{
    const char *const *mark = new_mark();
    struct proc *p = NULL;
    struct proc_spec spec =
        marked(command(way, ARGV(helper("misbehave"), "stay-with-daemons", "5")), mark);
    struct err *e;

    spec.grace_ms = 50;
    TRY(proc_spawn(&spec, &p));
    e = read_ready(p);
    if (!e && count_marked(mark) < 6)
        e = err_new(ERR_INTERNAL, "the mark does not work");
    proc_free(p);
    TRY(e);
    EXPECT(count_marked(mark) == 0);
    return NULL;
}

/* --- one process --- */

PROC_TEST(a_child_that_ignores_term_is_killed)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "ignore-term"));
    struct proc_status status;

    spec.grace_ms = 50;
    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    TRY(proc_end(p));
    TRY(proc_wait(p, &status));
    EXPECT(ended_by(status, SIGKILL));
    return NULL;
}

PROC_TEST(a_child_that_heeds_term_is_not_killed)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec =
        command(way, SHELL("trap 'exit 5' TERM; echo ready; while :; do sleep 1000 & wait; done"));
    struct proc_status status;

    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    TRY(proc_end(p));
    TRY(proc_wait(p, &status));
    EXPECT(ended_with(status, 5));
    return NULL;
}

PROC_TEST(a_stopped_child_hears_term)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "stop-itself"));
    struct proc_status status;

    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    TRY(proc_end(p));
    TRY(proc_wait(p, &status));
    EXPECT(ended_by(status, SIGTERM));
    return NULL;
}

PROC_TEST(a_child_that_closes_its_pipes_and_runs_on_is_still_followed)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "close-pipes"));
    struct proc_status status;
    char byte;
    size_t n;

    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    TRY(proc_read(p, PROC_OUT, &byte, 1, &n));
    EXPECT(n == 0);
    TRY(proc_read(p, PROC_ERR, &byte, 1, &n));
    EXPECT(n == 0);
    proc_signal(p, SIGUSR2);
    TRY(proc_wait(p, &status));
    EXPECT(ended_by(status, SIGUSR2));
    return NULL;
}

PROC_TEST(a_signal_reaches_the_children_too)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "outlive-child"));
    struct proc_status status;

    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    proc_signal(p, SIGUSR1);
    TRY(proc_wait(p, &status));
    EXPECT(ended_with(status, SIGUSR1));
    return NULL;
}

/* --- cancelling --- */

struct job {
    struct proc_spec spec;
    struct waker started;
};

static struct err *run_job(void *arg)
{
    struct job *job = arg;
    AUTO(proc) struct proc *p = NULL;
    struct proc_status status;

    TRY(proc_spawn(&job->spec, &p));
    TRY(read_ready(p));
    waker_wake(&job->started);
    return proc_wait(p, &status);
}

PROC_TEST(cancelling_the_task_leaves_no_process)
{
    const char *const *mark = new_mark();
    const struct way *w = way;
    const char *habit = w->supervised ? "stay-with-daemons" : "ignore-term";
    struct job job = {.spec = marked(command(way, ARGV(helper("misbehave"), habit)), mark)};
    struct group g;
    struct err *e;

    job.spec.grace_ms = 50;
    waker_init(&job.started);
    group_begin(&g, 0, 0);
    group_spawn(&g, "job", run_job, &job);
    e = waker_park(&job.started);
    group_cancel(&g);
    EXPECT_ERR(group_end(&g), ERR_CANCELLED);
    TRY(e);
    EXPECT(count_marked(mark) == 0);
    EXPECT(count_children() == 0);
    return NULL;
}

static struct err *run_to_the_end(void *arg)
{
    AUTO(proc_output) struct proc_output o = {0};

    return proc_run(arg, 0, &o);
}

PROC_TEST(cancelling_a_run_leaves_no_process)
{
    const char *const *mark = new_mark();
    struct proc_spec spec = marked(command(way, ARGV(helper("misbehave"), "ignore-term")), mark);
    struct group g;
    struct err *e;

    spec.grace_ms = 50;
    group_begin(&g, 0, 0);
    group_spawn(&g, "run", run_to_the_end, &spec);
    do
        e = task_sleep(1);
    while (!e && count_marked(mark) == 0);
    group_cancel(&g);
    EXPECT_ERR(group_end(&g), ERR_CANCELLED);
    TRY(e);
    EXPECT(count_marked(mark) == 0);
    EXPECT(count_children() == 0);
    return NULL;
}

static int count_fds(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

PROC_TEST(two_hundred_commands_leave_no_zombie_and_no_descriptor)
{
    struct proc_spec spec = command(way, ARGV("true")), bad = command(way, ARGV("no-such-thing"));
    int n_fds = count_fds();

    for (int i = 0; i < 200; i++) {
        AUTO(proc_output) struct proc_output o = {0};

        TRY(proc_run(&spec, 0, &o));
        EXPECT(ended_with(o.status, 0));
        EXPECT_ERR(proc_run(&bad, 0, &o), ERR_CONFIGURATION);
    }
    EXPECT(count_children() == 0);
    EXPECT(count_fds() == n_fds);
    return NULL;
}

/* --- the death of others --- */

PROC_TEST(nothing_is_left_when_keel_is_killed)
{
    const char *const *mark = new_mark();
    const struct way *w = way;
    AUTO_FREE char *host = mem_strdup(helper("proc-host"));
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec;

    spec = marked(
        command(&plain, ARGV(host, w->name, helper("misbehave"), "stay-with-daemons", "5")), mark);
    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    EXPECT(count_marked(mark) >= 7);
    EXPECT(kill(proc_pid(p), SIGKILL) == 0);
    return wait_until_gone(mark);
}

PROC_TEST(a_supervisor_that_is_told_to_end_takes_its_tree_along)
{
    const char *const *mark = new_mark();
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec =
        marked(command(way, ARGV(helper("misbehave"), "stay-with-daemons", "5")), mark);
    struct proc_status status;

    spec.grace_ms = 50;
    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    EXPECT(kill(proc_pid(p), SIGTERM) == 0);
    TRY(proc_wait(p, &status));
    EXPECT(ended_by(status, SIGTERM));
    return wait_until_gone(mark);
}

/* Can this user make what the supervisor needs, a pid namespace with a /proc of its own? */
static bool may_make_namespaces(void)
{
    int flags = CLONE_NEWPID | CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
    int status = 1;
    pid_t pid = fork();

    if (pid == 0) {
        if (unshare(flags) < 0)
            _exit(1);
        pid = fork();
        if (pid == 0)
            _exit(mount(NULL, "/proc", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
                  mount("proc", "/proc", "proc", 0, NULL) < 0);
        waitpid(pid, &status, 0);
        _exit(status != 0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* A test that counts as skipped where this user may not make namespaces. */
#define NAMESPACE_TEST(name)                                                                       \
    static struct err *name##_in_task(void *way);                                                  \
    TEST(name)                                                                                     \
    {                                                                                              \
        if (!may_make_namespaces()) {                                                              \
            print_message("[ SKIPPED because this user may not make namespaces ]\n");              \
            skip();                                                                                \
        }                                                                                          \
        assert_ok(loop_run_once(name##_in_task, *state));                                          \
    }                                                                                              \
    static struct err *name##_in_task(void *way)

NAMESPACE_TEST(a_supervisor_that_is_killed_takes_its_namespace_along)
{
    const char *const *mark = new_mark();
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec =
        marked(command(way, ARGV(helper("misbehave"), "stay-with-daemons", "5")), mark);
    struct proc_status status;

    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    EXPECT(kill(proc_pid(p), SIGKILL) == 0);
    EXPECT_ERR(proc_wait(p, &status), ERR_TOOL_FAILED);
    return wait_until_gone(mark);
}

NAMESPACE_TEST(a_namespace_is_used_where_it_may_be_made)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV("readlink", "/proc/self/ns/pid"));
    char own[64] = "", seen[64] = "";
    const struct way *w = way;
    size_t n;

    EXPECT(readlink("/proc/self/ns/pid", own, sizeof own - 1) > 0);
    TRY(proc_spawn(&spec, &p));
    TRY(proc_read(p, PROC_OUT, seen, sizeof seen - 1, &n));
    EXPECT(n > 0);
    EXPECT(proc_is_isolated(p) == !w->no_namespace);
    EXPECT((strncmp(seen, own, strlen(own)) != 0) == !w->no_namespace);
    return NULL;
}

PROC_TEST(the_command_sees_itself_in_proc)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("cat /proc/$$/comm"));

    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "sh\n");
    return NULL;
}

/* The same user, the same groups and no capability more than without a supervisor. */
PROC_TEST(the_command_has_the_privileges_of_its_user)
{
    AUTO(proc_output) struct proc_output here = {0}, there = {0};
    static const char script[] = "id -u; id -g; grep -E '^Cap(Prm|Eff|Amb)' /proc/self/status";
    struct proc_spec bare = command(&plain, SHELL(script)), spec = command(way, SHELL(script));

    TRY(proc_run(&bare, 0, &here));
    TRY(proc_run(&spec, 0, &there));
    EXPECT(here.out.n > 0);
    EXPECT_OUTPUT(there.out, strbuf_cstr(&here.out));
    return NULL;
}

/* --- without a proper supervisor --- */

/* Runs `true` with KEEL_EXEC set to `path`; the old value comes back. */
static struct err *run_under(const char *path)
{
    AUTO(proc_output) struct proc_output o = {0};
    AUTO_FREE char *old = getenv("KEEL_EXEC") ? mem_strdup(getenv("KEEL_EXEC")) : NULL;
    struct proc_spec spec = command(&in_namespace, ARGV("true"));
    struct err *e;

    setenv("KEEL_EXEC", path, 1);
    e = proc_run(&spec, 0, &o);
    if (old)
        setenv("KEEL_EXEC", old, 1);
    else
        unsetenv("KEEL_EXEC");
    return e;
}

PROC_TEST(without_its_supervisor_nothing_is_run)
{
    AUTO(err) struct err *e = run_under("/no/such/keel-exec");

    EXPECT(err_is(e, ERR_CONFIGURATION));
    EXPECT(strcmp(e->text, "cannot run /no/such/keel-exec, which KEEL_EXEC names") == 0);
    EXPECT(err_find_hint(e));
    return NULL;
}

/* Installs both programs under a directory of their own and starts the host there. */
static struct err *run_installed(const char *host_dir, const char *supervisor_dir)
{
    static const char script[] =
        "set -e; d=$(mktemp -d); trap 'rm -r $d' EXIT; mkdir -p $d/$1 $d/$2\n"
        "cp $3 $d/$1/proc-host; cp $KEEL_EXEC $d/$2/keel-exec; unset KEEL_EXEC\n"
        "$d/$1/proc-host namespace echo ready & read -r line; kill $!";
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(
        &plain, ARGV("sh", "-c", script, "sh", host_dir, supervisor_dir, helper("proc-host")));
    struct proc_status status;

    spec.stdin_kind = PROC_STDIN_PIPE;
    TRY(proc_spawn(&spec, &p));
    TRY(read_ready(p));
    proc_close_stdin(p);
    return proc_wait(p, &status);
}

PROC_TEST(the_supervisor_is_found_beside_the_program_and_in_libexec)
{
    TRY(run_installed("bin", "bin"));
    return run_installed("bin", "libexec/keel");
}

/* --- held --- */

struct held {
    const char *mark;
    bool may_start, was_there;
};

static struct err *look(void *self)
{
    struct held *h = self;

    h->was_there = access(h->mark, F_OK) == 0;
    return h->may_start ? NULL : err_new(ERR_STORAGE, "no");
}

static struct err *run_held(const void *way, struct held *h)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV("touch", h->mark));
    struct proc_status status;

    spec.before_start = look;
    spec.before_self = h;
    TRY(proc_spawn(&spec, &p));
    return proc_wait(p, &status);
}

PROC_TEST(a_command_that_is_held_starts_when_it_may)
{
    char mark[] = "/tmp/keel-held-XXXXXX";
    struct held h = {.mark = mark, .may_start = true};

    close(mkstemp(mark));
    unlink(mark);
    TRY(run_held(way, &h));
    EXPECT(!h.was_there);
    EXPECT(unlink(mark) == 0);
    return NULL;
}

PROC_TEST(a_command_that_may_not_start_never_does)
{
    char mark[] = "/tmp/keel-held-XXXXXX";
    struct held h = {.mark = mark};

    close(mkstemp(mark));
    unlink(mark);
    EXPECT_TEXT(run_held(way, &h), "no");
    EXPECT(unlink(mark) < 0 && errno == ENOENT);
    return NULL;
}

PROC_TEST(a_supervisor_that_says_nothing_is_an_error)
{
    EXPECT_TEXT(run_under("/bin/true"), "the supervisor of true exited unexpectedly");
    return NULL;
}

RUN_TESTS(SUPERVISED(what_a_command_leaves_in_the_background_ends_with_it),
          SUPERVISED(daemons_that_ignore_term_end_with_the_command_that_left_them),
          SUPERVISED(a_relay_of_forks_is_caught), SUPERVISED(a_relay_of_sessions_is_caught),
          SUPERVISED(a_time_out_ends_the_tree), SUPERVISED(freeing_it_ends_the_tree),
          EVERY_WAY(a_child_that_ignores_term_is_killed),
          EVERY_WAY(a_child_that_heeds_term_is_not_killed), EVERY_WAY(a_stopped_child_hears_term),
          EVERY_WAY(a_child_that_closes_its_pipes_and_runs_on_is_still_followed),
          EVERY_WAY(a_signal_reaches_the_children_too),
          EVERY_WAY(cancelling_the_task_leaves_no_process),
          EVERY_WAY(cancelling_a_run_leaves_no_process),
          EVERY_WAY(two_hundred_commands_leave_no_zombie_and_no_descriptor),
          SUPERVISED(nothing_is_left_when_keel_is_killed),
          SUPERVISED(a_supervisor_that_is_told_to_end_takes_its_tree_along),
          WAY(a_supervisor_that_is_killed_takes_its_namespace_along, in_namespace),
          SUPERVISED(a_namespace_is_used_where_it_may_be_made),
          SUPERVISED(the_command_sees_itself_in_proc),
          SUPERVISED(the_command_has_the_privileges_of_its_user),
          SUPERVISED(a_command_that_is_held_starts_when_it_may),
          SUPERVISED(a_command_that_may_not_start_never_does),
          UNIT(without_its_supervisor_nothing_is_run),
          UNIT(the_supervisor_is_found_beside_the_program_and_in_libexec),
          UNIT(a_supervisor_that_says_nothing_is_an_error))
