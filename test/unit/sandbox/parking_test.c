/* parking_test.c - supervisors that are started before their command, with namespaces and without;
 * with the argument "user", as an ordinary user. */
#include "sandbox/as_user.h"
#include "sandbox/box.h"
#include "sandbox/parking.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NONE = 0 };

/* --- who waits --- */

static int parked_pid(const struct box *b)
{
    return parking_pid(b->sandbox.parking);
}

/* Returns when they have been started. */
static struct err *expect_commands(struct box *b, unsigned n)
{
    struct group tasks;

    group_begin(&tasks, 0, 0);
    while (n-- > 0)
        sandbox_expect(&b->sandbox, &tasks);
    return group_end(&tasks);
}

/* After a first command, which finds out how commands can be run here. */
static struct err *park(struct box *b, pid_t *ret_pid)
{
    TRY(box_run(b, "true"));
    EXPECT(parked_pid(b) == NONE);
    TRY(expect_commands(b, 1));
    *ret_pid = parked_pid(b);
    EXPECT(*ret_pid != NONE);
    return NULL;
}

static bool has_ended(int pidfd)
{
    struct pollfd end = {.fd = pidfd, .events = POLLIN};

    return poll(&end, 1, 60000) == 1;
}

/* --- using it --- */

BOX_TEST(a_command_runs_under_the_supervisor_that_waits)
{
    struct proc_spec spec = box_spec(b, SHELL("echo here; exit 3"));
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(proc) struct proc *p = NULL;
    pid_t pid;

    TRY(park(b, &pid));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    EXPECT(proc_pid(p) == pid);
    EXPECT(proc_is_isolated(p) == has_namespaces(b));
    TRY(proc_collect(p, 60000, &output));
    EXPECT(ended_with(output.status, 3));
    EXPECT_OUTPUT(output.out, "here\n");
    proc_free(TAKE(p));
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT(parked_pid(b) == NONE);
    TRY(box_run(b, "echo again"));
    EXPECT_OUTPUT(b->out, "again\n");
    return NULL;
}

BOX_TEST(nothing_waits_before_the_first_command)
{
    TRY(box_open(b));
    TRY(expect_commands(b, 1));
    EXPECT(!has_namespaces(b) || parked_pid(b) == NONE);
    TRY(box_run(b, "echo first"));
    EXPECT_OUTPUT(b->out, "first\n");
    return NULL;
}

BOX_TEST(one_waits_however_often_a_command_is_expected)
{
    TRY(box_run(b, "true"));
    for (int i = 0; i < 2; i++) {
        struct group tasks;

        group_begin(&tasks, 0, 0);
        sandbox_expect(&b->sandbox, &tasks);
        sandbox_expect(&b->sandbox, &tasks);
        TRY(box_run(b, "echo 1"));
        EXPECT_OUTPUT(b->out, "1\n");
        TRY(group_end(&tasks));
        EXPECT(parked_pid(b) == NONE);
        TRY(box_run(b, "echo 2"));
        EXPECT_OUTPUT(b->out, "2\n");
    }
    return NULL;
}

BOX_TEST(all_that_belongs_to_a_command_gets_there)
{
    static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                              "LANG=C",
                                              "ODD=a b\n\"c\"",
                                              "EMPTY=",
                                              "LD_BIND_NOW=1",
                                              NULL};
    const char *script = "printf '%s|' \"$0\" \"$@\" \"$ODD\" \"${EMPTY-none}\" \"$LD_BIND_NOW\"; "
                         "cat; cat <&3; pwd; [ -e /proc/self/fd/5 ] || echo no more";
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = box_spec(b, ARGV("sh", "-c", script, "", "two words", "line\nline"));
    AUTO(strbuf) struct strbuf want = {0};
    int fds[2], unused;
    pid_t pid;

    TRY(put_file(box_path(b, "ws/deep/.keep"), ""));
    TRY(park(b, &pid));
    EXPECT(pipe2(fds, O_CLOEXEC) == 0 && write(fds[1], "third\n", 6) == 6);
    close(fds[1]);
    unused = fcntl(fds[0], F_DUPFD_CLOEXEC, 0);
    spec.environment = environment;
    spec.cwd = box_path(b, "ws/deep");
    spec.stdin_kind = PROC_STDIN_BYTES;
    spec.stdin_bytes = S("input\n");
    spec.extra_fds = (const int[]){fds[0], unused};
    spec.n_extra_fds = 2;
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    EXPECT(proc_pid(p) == pid);
    close(fds[0]);
    close(unused);
    TRY(proc_collect(p, 60000, &output));
    proc_free(TAKE(p));
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    strbuf_addf(&want, "|two words|line\nline|a b\n\"c\"||1|input\nthird\n%s\nno more\n", spec.cwd);
    EXPECT_OUTPUT(output.out, strbuf_cstr(&want));
    return NULL;
}

BOX_TEST(a_terminal_gets_there)
{
    struct proc_spec spec =
        box_spec(b, SHELL("test -t 0 && test -t 1 && : > /dev/tty && echo yes"));
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(proc) struct proc *p = NULL;
    pid_t pid;

    TRY(park(b, &pid));
    spec.stdout_kind = PROC_STDOUT_PTY;
    spec.merge_stderr = false;
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    EXPECT(proc_pid(p) == pid);
    TRY(proc_collect(p, 60000, &output));
    proc_free(TAKE(p));
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT_OUTPUT(output.out, "yes\r\n");
    return NULL;
}

/* --- the walls are of the moment when the command starts --- */

BOX_TEST(what_appears_while_it_waits_is_hidden_and_protected)
{
    pid_t pid;

    TRY(park(b, &pid));
    TRY(put_file(box_path(b, "home/.aws/credentials"), "the token\n"));
    TRY(put_file(box_path(b, "ws/.envrc"), "mine\n"));
    TRY(box_run(b, "cat ../home/.aws/credentials; cat ../home/notes; echo theirs > .envrc"));
    EXPECT(str_find(strbuf_str(&b->out), S("the token")) == STR_NONE);
    EXPECT(has_text(&b->out, "notes"));
    EXPECT(file_is(box_path(b, "ws/.envrc"), "mine\n"));
    return NULL;
}

BOX_TEST(a_policy_that_changes_while_it_waits_counts)
{
    const char *hidden[] = {box_path(b, "ws/private")};
    pid_t pid;

    TRY(put_file(box_path(b, "ws/private/file"), "private\n"));
    TRY(park(b, &pid));
    b->sandbox.policy.workspace_is_read_only = true;
    b->sandbox.policy.hidden = hidden;
    b->sandbox.policy.n_hidden = 1;
    TRY(box_run(b, "cat file; cat private/file; echo x > file"));
    EXPECT(has_text(&b->out, "text\n"));
    EXPECT(str_find(strbuf_str(&b->out), S("private\n")) == STR_NONE);
    EXPECT(file_is(box_path(b, "ws/file"), "text\n"));
    return NULL;
}

static bool can_mount(const struct box *b)
{
    return geteuid() == 0 && has_namespaces(b);
}

/* A second path to a secret place. */
BOX_TEST(a_mount_that_comes_while_it_waits_shows_nothing)
{
    const char *place = box_outside(b, "mounted");
    pid_t pid;

    if (!can_mount(b))
        return NULL; /* only root can mount, and without namespaces there are no mounts to copy */
    TRY(put_file(box_outside(b, "mounted/.keep"), ""));
    TRY(park(b, &pid));
    EXPECT(mount(box_path(b, "home/.ssh"), place, NULL, MS_BIND, NULL) == 0);
    struct err *e =
        box_run(b, arena_format(&b->arena, "cat %s/id; cat %s/file", place, b->outside.path).p);
    EXPECT(umount(place) == 0);
    TRY(e);
    EXPECT(str_find(strbuf_str(&b->out), S("the key")) == STR_NONE);
    EXPECT(has_text(&b->out, "theirs"));
    return NULL;
}

/* The older table of mounts had it, and no plan names it any more. */
BOX_TEST(a_mount_that_goes_while_it_waits_shows_nothing)
{
    const char *place = box_outside(b, "mounted");
    struct err *e;
    pid_t pid;

    if (!can_mount(b))
        return NULL; /* as above */
    TRY(put_file(box_outside(b, "mounted/id"), "no secret\n"));
    TRY(box_run(b, "true"));
    EXPECT(mount(box_path(b, "home/.ssh"), place, NULL, MS_BIND, NULL) == 0);
    e = expect_commands(b, 1);
    pid = parked_pid(b);
    EXPECT(umount(place) == 0);
    TRY(e);
    EXPECT(pid != NONE);
    TRY(box_run(b, arena_format(&b->arena, "cat %s/id", place).p));
    EXPECT_OUTPUT(b->out, "no secret\n");
    return NULL;
}

/* --- walls that are built while it waits --- */

/* What has another mount namespace than we have; only root may look. */
static struct err *await_walls(pid_t pid)
{
    char theirs[64], own_target[64] = "", target[64] = "";

    snprintf(theirs, sizeof theirs, "/proc/%d/ns/mnt", (int)pid);
    EXPECT(readlink("/proc/self/ns/mnt", own_target, sizeof own_target - 1) > 0);
    do
        EXPECT(readlink(theirs, target, sizeof target - 1) > 0);
    while (strcmp(own_target, target) == 0);
    return NULL;
}

/* They are not whole yet when there is another namespace: this one of them stands. */
static struct err *await_mount(struct box *b, pid_t pid, const char *path)
{
    struct str wanted = arena_format(&b->arena, " %s ", path);
    const char *table = arena_format(&b->arena, "/proc/%d/mountinfo", (int)pid).p;
    bool is_there = false;

    while (!is_there) {
        AUTO(strbuf) struct strbuf text = {0};

        TRY(fs_read_stream(table, &text));
        is_there = str_find(strbuf_str(&text), wanted) != STR_NONE;
    }
    return NULL;
}

BOX_TEST(it_waits_in_the_walls_of_the_command_before)
{
    pid_t pid;

    TRY(park(b, &pid));
    if (can_mount(b))
        TRY(await_walls(pid));
    TRY(box_run(b, "cat ../home/.ssh/id; echo more >> file; cat file"));
    EXPECT(str_find(strbuf_str(&b->out), S("the key")) == STR_NONE);
    EXPECT(has_text(&b->out, "text\nmore\n"));
    EXPECT(file_is(box_path(b, "ws/file"), "text\nmore\n"));
    return NULL;
}

/* Runs it, and says whether the supervisor that waits was the one. */
static struct err *run_after(struct box *b, pid_t pid, const char *script, bool *ret_was_parked)
{
    struct proc_spec spec = box_spec(b, SHELL(script));
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(proc) struct proc *p = NULL;

    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    *ret_was_parked = proc_pid(p) == pid;
    TRY(proc_collect(p, 60000, &output));
    proc_free(TAKE(p));
    strbuf_clear(&b->out);
    strbuf_add(&b->out, strbuf_str(&output.out));
    return sandbox_command_ended(&b->sandbox, &b->notes);
}

/* The kernel takes a mount away with the name that it lies upon, though another name leads to the
 * same file. No policy differs. */
BOX_TEST(a_protected_file_that_is_put_back_under_its_name_stays_protected)
{
    const char *path = box_path(b, "ws/.envrc"), *other = box_path(b, "ws/other");
    bool was_parked;
    pid_t pid;

    TRY(put_file(path, "mine\n"));
    TRY(park(b, &pid));
    if (can_mount(b))
        TRY(await_mount(b, pid, path));
    EXPECT(link(path, other) == 0 && unlink(path) == 0 && rename(other, path) == 0);
    TRY(run_after(b, pid, "echo theirs > .envrc; rm -f .envrc; echo runs", &was_parked));
    EXPECT(has_text(&b->out, "runs"));
    EXPECT(file_is(path, "mine\n"));
    EXPECT(!was_parked || !can_mount(b)); /* only root sees when the walls stand */
    return NULL;
}

/* Where no command writes, a policy names a place by its path alone. */
BOX_TEST(a_hidden_file_that_is_replaced_stays_hidden)
{
    const char *path = box_path(b, "home/.ssh/id"), *new_dir = box_path(b, "home/new");
    bool was_parked;
    pid_t pid;

    TRY(park(b, &pid));
    if (can_mount(b))
        TRY(await_walls(pid));
    TRY(put_file(box_path(b, "home/new/id"), "the new key\n"));
    EXPECT(rename(box_path(b, "home/.ssh"), box_path(b, "home/old")) == 0);
    EXPECT(rename(new_dir, box_path(b, "home/.ssh")) == 0);
    EXPECT(file_is(path, "the new key\n"));
    TRY(run_after(b, pid, "cat ../home/.ssh/id; echo runs", &was_parked));
    EXPECT(str_find(strbuf_str(&b->out), S("the new key")) == STR_NONE);
    EXPECT(has_text(&b->out, "runs"));
    return NULL;
}

BOX_TEST(a_workspace_that_was_moved_there_and_back_is_writable)
{
    const char *away = box_path(b, "away");
    bool was_parked;
    pid_t pid;

    TRY(park(b, &pid));
    if (can_mount(b))
        TRY(await_walls(pid));
    EXPECT(rename(box_path(b, "ws"), away) == 0 && rename(away, box_path(b, "ws")) == 0);
    TRY(run_after(b, pid, "echo new > file; cat file", &was_parked));
    EXPECT_OUTPUT(b->out, "new\n");
    EXPECT(file_is(box_path(b, "ws/file"), "new\n"));
    return NULL;
}

/* --- what it holds, and its end --- */

BOX_TEST(it_holds_no_lock_and_stands_nowhere)
{
    char link[64], target[4096];
    ssize_t n;
    pid_t pid;

    TRY(park(b, &pid));
    if (geteuid() != 0)
        return NULL; /* it lets nobody but root look into it */
    for (int fd = -1; fd < 1024; fd++) {
        if (fd < 0)
            snprintf(link, sizeof link, "/proc/%d/cwd", (int)pid);
        else
            snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)pid, fd);
        n = readlink(link, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        EXPECT(fd >= 0 || strcmp(target, "/") == 0);
        EXPECT(!strstr(target, "/locks"));
    }
    return NULL;
}

BOX_TEST(one_that_was_killed_is_replaced)
{
    siginfo_t info;
    pid_t pid;

    TRY(park(b, &pid));
    EXPECT(kill(pid, SIGKILL) == 0);
    EXPECT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    TRY(box_run(b, "echo alive"));
    EXPECT_OUTPUT(b->out, "alive\n");
    EXPECT(b->exit_code == 0);
    return NULL;
}

static struct err *kill_supervisor(void *pid)
{
    siginfo_t info;

    EXPECT(kill(*(pid_t *)pid, SIGKILL) == 0);
    EXPECT(waitid(P_PID, (id_t) * (pid_t *)pid, &info, WEXITED | WNOWAIT) == 0);
    return NULL;
}

/* When it has its command, but may not start it yet. */
static struct err *run_under_one_that_dies(struct box *b, bool is_stopped)
{
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = box_spec(b, SHELL("echo ran >> marks; cat marks"));
    pid_t pid;

    TRY(park(b, &pid));
    if (is_stopped) /* so that it does not even read it */
        EXPECT(kill(pid, SIGSTOP) == 0);
    spec.before_start = kill_supervisor;
    spec.before_self = &pid;
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(TAKE(p));
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT_OUTPUT(output.out, "ran\n");
    return NULL;
}

BOX_TEST(one_that_dies_before_it_may_start_its_command_is_replaced)
{
    return run_under_one_that_dies(b, /* is_stopped= */ false);
}

BOX_TEST(one_that_dies_before_it_reads_its_command_is_replaced)
{
    return run_under_one_that_dies(b, /* is_stopped= */ true);
}

BOX_TEST(when_no_command_is_expected_any_more_it_ends)
{
    pid_t pid;
    int pidfd;

    TRY(park(b, &pid));
    pidfd = pidfd_open(pid, 0);
    EXPECT(pidfd >= 0);
    sandbox_rest(&b->sandbox);
    EXPECT(has_ended(pidfd));
    close(pidfd);
    TRY(box_run(b, "echo later"));
    EXPECT_OUTPUT(b->out, "later\n");
    return NULL;
}

BOX_TEST(it_ends_with_its_sandbox_even_when_somebody_has_stopped_it)
{
    pid_t pid;
    int pidfd;

    TRY(park(b, &pid));
    pidfd = pidfd_open(pid, 0);
    EXPECT(pidfd >= 0 && kill(pid, SIGSTOP) == 0);
    sandbox_done(&b->sandbox);
    b->sandbox = (struct sandbox){0};
    EXPECT(has_ended(pidfd));
    close(pidfd);
    return NULL;
}

static struct err *refuse_start(void *self)
{
    return err_new(ERR_STORAGE, "the journal is full");
}

BOX_TEST(a_command_that_may_not_start_never_does)
{
    struct proc_spec spec = box_spec(b, SHELL("echo ran > file"));
    AUTO(err) struct err *e = NULL;
    struct proc *p = NULL;
    pid_t pid;
    int pidfd;

    TRY(park(b, &pid));
    pidfd = pidfd_open(pid, 0);
    spec.before_start = refuse_start;
    e = launcher_start(&b->sandbox.launcher, &spec, &p);
    EXPECT(err_is(e, ERR_STORAGE));
    EXPECT(has_ended(pidfd));
    close(pidfd);
    EXPECT(file_is(box_path(b, "ws/file"), "text\n"));
    TRY(box_run(b, "cat file"));
    EXPECT_OUTPUT(b->out, "text\n");
    return NULL;
}

BOX_TEST(a_program_that_is_not_there_is_told_as_ever)
{
    struct proc_spec spec = box_spec(b, ARGV("no-such-program"));
    AUTO(err) struct err *e = NULL;
    struct proc *p = NULL;
    pid_t pid;
    int pidfd;

    TRY(park(b, &pid));
    pidfd = pidfd_open(pid, 0);
    e = launcher_start(&b->sandbox.launcher, &spec, &p);
    EXPECT(err_is(e, ERR_CONFIGURATION));
    EXPECT(has_ended(pidfd));
    close(pidfd);
    return NULL;
}

BOX_TEST(what_a_command_leaves_behind_is_ended)
{
    struct proc_spec spec = box_spec(b, SHELL("setsid sleep 1000 >/dev/null 2>&1 & echo started"));
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(proc) struct proc *p = NULL;
    pid_t pid;
    int pidfd;

    TRY(park(b, &pid));
    pidfd = pidfd_open(pid, 0);
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(TAKE(p));
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT_OUTPUT(output.out, "started\n");
    EXPECT(has_ended(pidfd));
    close(pidfd);
    return NULL;
}

/* --- all of it --- */

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(a_command_runs_under_the_supervisor_that_waits),
        BOTH_WAYS(nothing_waits_before_the_first_command),
        BOTH_WAYS(one_waits_however_often_a_command_is_expected),
        BOTH_WAYS(all_that_belongs_to_a_command_gets_there),
        BOTH_WAYS(a_terminal_gets_there),
        BOTH_WAYS(what_appears_while_it_waits_is_hidden_and_protected),
        BOTH_WAYS(a_policy_that_changes_while_it_waits_counts),
        BOTH_WAYS(a_mount_that_comes_while_it_waits_shows_nothing),
        BOTH_WAYS(a_mount_that_goes_while_it_waits_shows_nothing),
        BOTH_WAYS(it_waits_in_the_walls_of_the_command_before),
        BOTH_WAYS(a_protected_file_that_is_put_back_under_its_name_stays_protected),
        BOTH_WAYS(a_hidden_file_that_is_replaced_stays_hidden),
        BOTH_WAYS(a_workspace_that_was_moved_there_and_back_is_writable),
        BOTH_WAYS(it_holds_no_lock_and_stands_nowhere),
        BOTH_WAYS(one_that_was_killed_is_replaced),
        BOTH_WAYS(one_that_dies_before_it_may_start_its_command_is_replaced),
        BOTH_WAYS(one_that_dies_before_it_reads_its_command_is_replaced),
        BOTH_WAYS(when_no_command_is_expected_any_more_it_ends),
        BOTH_WAYS(it_ends_with_its_sandbox_even_when_somebody_has_stopped_it),
        BOTH_WAYS(a_command_that_may_not_start_never_does),
        BOTH_WAYS(a_program_that_is_not_there_is_told_as_ever),
        BOTH_WAYS(what_a_command_leaves_behind_is_ended),
    };

    return is_user_as_asked(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
