/* write_notices_test.c - what an observer hears of a command's changes, with namespaces and
 * without; with the argument "user", as an ordinary user.
 *
 * What no shell can do the helper `writes` does. */
#include "sandbox/as_user.h"
#include "sandbox/watcher.h"
#include "sys/work.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct err *run_writes(struct box *b, struct watcher *w, const char *what, const char *arg)
{
    TRY(box_watch_argv(b, w, ARGV(helper("writes"), what, arg)));
    if (b->exit_code && b->exit_code != SKIPPED)
        print_error("writes %s: %" STR_FMT, what, STR_ARG(strbuf_str(&b->out)));
    return NULL;
}

/* --- what is reported --- */

BOX_TEST(each_kind_of_change_is_reported_in_its_order)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(put_file(box_path(b, "ws/gone"), "x"));
    TRY(box_watch(b, &w,
                  "echo 1 >> file; echo 2 > new; mkdir d; mv new d/moved; ln d/moved hard; "
                  "ln -s moved d/soft; rm gone; rm d/soft d/moved; rmdir d; mkfifo pipe; "
                  "truncate -s 1 file"));
    EXPECT_OUTPUT(w.lines, "content ws/file\n"
                           "content ws/new\n"
                           "name ws/d\n"
                           "rename ws/new > ws/d/moved\n"
                           "name ws/hard > ws/d/moved\n"
                           "name ws/d/soft\n"
                           "removal ws/gone\n"
                           "removal ws/d/soft\n"
                           "removal ws/d/moved\n"
                           "removal ws/d\n"
                           "name ws/pipe\n"
                           "content ws/file\n");
    EXPECT(b->exit_code == 0 && w.missed.n == 0);
    return NULL;
}

static void keep_old(struct watcher *w, const struct write_notice *notice)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(err) struct err *e = fs_read(notice->path, &text, NULL);

    strbuf_addf(w->act_self, "%" STR_FMT, STR_ARG(strbuf_str(&text)));
}

BOX_TEST(what_was_there_is_still_there_when_it_is_reported)
{
    AUTO(strbuf) struct strbuf old = {0};
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    w.act = keep_old;
    w.act_self = &old;
    TRY(box_watch(b, &w, "echo new > file; rm file"));
    EXPECT_OUTPUT(old, "text\nnew\n");
    EXPECT(!fs_exists(box_path(b, "ws/file")));
    return NULL;
}

BOX_TEST(who_only_reads_is_not_held)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(box_watch(b, &w,
                  "cat file; ls -lR . > /dev/null; grep -r text . 2> /dev/null; find . -newer "
                  "file; stat file; test -w file; head -c 1 /dev/zero > /dev/null; cd ..; cd ws"));
    EXPECT(b->exit_code == 0);
    EXPECT_OUTPUT(w.lines, "");
    EXPECT_OUTPUT(w.missed, "");
    return NULL;
}

BOX_TEST(nothing_outside_is_reported_and_nothing_temporary)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(box_watch(b, &w,
                  arena_format(&b->arena,
                               "echo x > $TMPDIR/t; mv $TMPDIR/t $TMPDIR/u; rm $TMPDIR/u; "
                               "echo x > %s/file; echo x > /no/such; echo x > /etc/passwd; "
                               "rm %s/file; echo end",
                               b->outside.path, b->outside.path)
                      .p));
    EXPECT(str_ends(strbuf_str(&b->out), S("end\n")));
    EXPECT(file_is(box_outside(b, "file"), "theirs\n"));
    EXPECT_OUTPUT(w.lines, "");
    EXPECT_OUTPUT(w.missed, "");
    return NULL;
}

/* With namespaces mv has to copy in the end. */
BOX_TEST(what_is_moved_in_is_reported)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(box_watch(b, &w, "mv $TMPDIR/.keep new"));
    EXPECT(b->exit_code == 0 && fs_exists(box_path(b, "ws/new")));
    EXPECT(str_starts(strbuf_str(&w.lines), S("rename tmp/.keep > ws/new\n")));
    return NULL;
}

BOX_TEST(an_added_directory_counts)
{
    const char *added[] = {b->outside.path};
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->outside.path);
    b->policy.writable = added;
    b->policy.n_writable = 1;
    TRY(box_watch(b, &w, arena_format(&b->arena, "echo x > %s/new", b->outside.path).p));
    EXPECT_OUTPUT(w.lines, "content new\n");
    return NULL;
}

BOX_TEST(attributes_are_reported_where_they_can_be_changed)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    EXPECT(symlink("other", box_path(b, "ws/soft")) == 0);
    TRY(put_file(box_path(b, "ws/other"), "x"));
    if (geteuid() == 0) /* or they cannot be changed */
        EXPECT(chmod(box_path(b, "ws"), 0755) == 0);
    TRY(run_writes(b, &w, "by-descriptor", "file"));
    if (!has_namespaces(b)) {
        EXPECT_OUTPUT(w.lines, "");
        return NULL;
    }
    EXPECT(b->exit_code == 0);
    EXPECT_OUTPUT(w.lines, "attributes ws/file\n" /* mode */
                           "attributes ws/file\n" /* owner */
                           "attributes ws/file\n" /* an extended one */
                           "attributes ws/file\n"
                           "attributes ws\n"
                           "attributes ws/soft\n"
                           "attributes ws/other\n"
                           "removal ws/file\n"
                           "content ws/file\n");
    return NULL;
}

/* --- which file is meant --- */

BOX_TEST(a_path_means_what_it_means_to_the_command)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "from-directories", NULL));
    EXPECT(b->exit_code == 0);
    EXPECT_OUTPUT(w.lines, "name ws/d\n"
                           "content ws/d/x\n"
                           "content ws/y\n"
                           "name ws/d/e\n"
                           "exchange ws/d/x > ws/y\n"
                           "rename ws/d/x > ws/d/e/z\n"
                           "name ws/d/e/soft\n"
                           "content ws/d/e/z\n"
                           "content ws/d/e/soft\n" /* fails */
                           "content ws/d/e/w\n"
                           "name ws/d/hard > ws/d/e/w\n"
                           "removal ws/d/hard\n"
                           "content ws/d/e/v\n"
                           "removal ws/d/e/v\n");
    return NULL;
}

BOX_TEST(links_lead_where_they_lead)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(fs_make_dirs(box_path(b, "ws/d/e"), 0755));
    EXPECT(symlink("d", box_path(b, "ws/to-dir")) == 0);
    EXPECT(symlink("../file", box_path(b, "ws/d/up")) == 0);
    EXPECT(symlink(box_path(b, "ws/d/none"), box_path(b, "ws/hanging")) == 0);
    EXPECT(symlink(b->policy.workspace, box_outside(b, "in")) == 0);
    EXPECT(symlink(b->outside.path, box_path(b, "ws/out")) == 0);
    TRY(box_watch(b, &w,
                  arena_format(&b->arena,
                               "echo x > to-dir/e/1; echo x > to-dir/up; echo x > hanging; "
                               "echo x > %s/in/to-dir/e/../2; echo x > out/in/3; rm to-dir/up; "
                               "rm -f out/file; mv to-dir/e/../2 out/in/d/e/4",
                               b->outside.path)
                      .p));
    EXPECT_OUTPUT(w.lines, "content ws/d/e/1\n"
                           "content ws/file\n"
                           "content ws/d/none\n"
                           "content ws/d/2\n"
                           "content ws/3\n"
                           "removal ws/d/up\n"
                           "rename ws/d/2 > ws/d/e/4\n");
    EXPECT(file_is(box_path(b, "ws/file"), "x\n") && file_is(box_path(b, "ws/d/none"), "x\n"));
    return NULL;
}

BOX_TEST(a_chain_of_links_is_followed_as_far_as_the_kernel_does)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "links", NULL));
    EXPECT(b->exit_code == 0 && fs_exists(box_path(b, "ws/end")));
    EXPECT(str_find(strbuf_str(&w.lines), S("name ws/l40\ncontent ws/end\n")) != STR_NONE);
    EXPECT(str_ends(strbuf_str(&w.lines), S("content ws/end\n")));
    return NULL;
}

/* Without namespaces /proc is closed to commands, but for what a shell's own process is. */
BOX_TEST(what_proc_names_is_the_file_behind_it)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "through-proc", NULL));
    if (has_namespaces(b))
        EXPECT(b->exit_code == 0);
    EXPECT(str_starts(strbuf_str(&w.lines), S("content ws/file\n")));
    if (b->exit_code == 0)
        EXPECT_OUTPUT(w.lines, "content ws/file\n"
                               "content ws/file\n"
                               "content ws/file\n"
                               "content ws/new\n"
                               "content ws/new\n");
    return NULL;
}

BOX_TEST(a_file_that_had_no_name_gets_one)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "without-name", NULL));
    if (b->exit_code == 0)
        EXPECT(str_starts(strbuf_str(&w.lines), S("name ws/linked")));
    return NULL;
}

/* --- hostile commands --- */

BOX_TEST(bad_paths_fail_as_ever_and_odd_ones_are_reported)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "bad-paths", NULL));
    EXPECT(b->exit_code == 0 && w.missed.n == 0);
    EXPECT(str_starts(strbuf_str(&w.lines),
                      S("content ws/across\ncontent ws/edge\ncontent ws/long\ncontent ws/nnn")));
    EXPECT(str_ends(strbuf_str(&w.lines), S("content ws\ncontent ws/a\nb\xff\x01 (deleted)\n")));
    return NULL;
}

BOX_TEST(a_place_deeper_than_paths_are_long_is_told)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "deep", NULL));
    EXPECT(b->exit_code == 0);
    EXPECT_OUTPUT(w.missed, "the command changes files whose paths are too long\n");
    return NULL;
}

BOX_TEST(a_path_that_only_its_process_can_read_is_refused)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "secret-memory", NULL));
    if (b->exit_code == SKIPPED)
        print_message("this kernel has no secret memory\n");
    EXPECT(b->exit_code == 0 || b->exit_code == SKIPPED);
    EXPECT_OUTPUT(w.lines, "");
    return NULL;
}

BOX_TEST(a_process_that_sets_itself_apart_is_seen_or_told)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "apart", NULL));
    EXPECT(b->exit_code == 0 && fs_exists(box_path(b, "ws/apart")));
    if (geteuid() == 0 || has_namespaces(b))
        EXPECT_OUTPUT(w.lines, "content ws/apart\n");
    else
        EXPECT_OUTPUT(w.missed, "a program of the command does not let keel see its changes\n");
    return NULL;
}

BOX_TEST(filters_of_the_command_change_nothing)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "own-filters", NULL));
    EXPECT(b->exit_code == 0);
    EXPECT_OUTPUT(w.lines, "content ws/filtered\n");
    return NULL;
}

BOX_TEST(children_of_every_kind_are_heard)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "children", NULL));
    EXPECT(b->exit_code == 0 && w.n_notices == 51);
    EXPECT(str_starts(strbuf_str(&w.lines), S("content ws/of-vfork\ncontent ws/of-fork\n")));
    return NULL;
}

BOX_TEST(a_flood_from_threads_is_reported_to_the_last)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "flood", "10000"));
    EXPECT(b->exit_code == 0 && w.n_notices == 10000 && w.missed.n == 0);
    return NULL;
}

BOX_TEST(signals_interrupt_nothing_for_good)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "signals", NULL));
    EXPECT(b->exit_code == 0 && w.n_notices >= 500 && w.missed.n == 0);
    return NULL;
}

BOX_TEST(processes_that_are_killed_in_the_middle_hold_nobody_up)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(run_writes(b, &w, "until-killed", NULL));
    EXPECT(b->exit_code == 0 && w.n_notices >= 100 && w.missed.n == 0);
    return NULL;
}

static void see_place(struct watcher *w, const struct write_notice *notice)
{
    const char *rest = without(notice->path, w->act_self);

    if (rest == notice->path || strstr(rest, "..") || strstr(rest, "//"))
        w->has_overlapped = true;
}

BOX_TEST(a_path_that_changes_all_the_time_leads_nowhere_else)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    w.act = see_place;
    w.act_self = (void *)(uintptr_t)b->policy.workspace;
    TRY(run_writes(b, &w, "changing-path", NULL));
    EXPECT(b->exit_code == 0 && !w.has_overlapped);
    return NULL;
}

/* --- when it ends --- */

struct gate_at_notice {
    sem_t inside, may_leave;
};

static void wait_at_gate(struct watcher *w, const struct write_notice *notice)
{
    struct gate_at_notice *g = w->act_self;

    sem_post(&g->inside);
    sem_wait(&g->may_leave);
}

static struct err *await_inside(void *arg)
{
    struct gate_at_notice *g = arg;

    while (sem_wait(&g->inside) < 0)
        continue;
    return NULL;
}

static struct err *look_after(void *arg)
{
    struct box *b = arg;

    return sandbox_command_ended(&b->sandbox, &b->notes);
}

BOX_TEST(the_end_of_a_command_waits_for_its_observer)
{
    struct proc_spec spec = box_spec(b, ARGV(helper("writes"), "for-ever"));
    struct gate_at_notice gate;
    AUTO(watcher) struct watcher w;
    struct proc *p = NULL;
    struct group g;

    watcher_init(&w, b->dir.path);
    w.act = wait_at_gate;
    w.act_self = &gate;
    sem_init(&gate.inside, 0, 0);
    sem_init(&gate.may_leave, 0, 0);
    spec.observer = &w.observer;
    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(work_run(await_inside, &gate));
    proc_free(p); /* its call is held until it is killed */
    EXPECT(w.n_notices == 1 && w.is_inside && w.observer.n_refs == 2);
    group_begin(&g, 0, 0);
    group_spawn(&g, "ended", look_after, b);
    TRY(task_yield());
    EXPECT(w.observer.n_refs == 2);
    sem_post(&gate.may_leave);
    TRY(group_end(&g));
    EXPECT(!w.is_inside && w.observer.n_refs == 1 && w.n_notices == 1);
    return NULL;
}

/* As when a person stops it with ^Z, and as when keel waits. */
BOX_TEST(a_command_that_is_stopped_in_the_middle_continues)
{
    struct proc_spec spec = box_spec(b, SHELL("echo x > new; echo y > newer"));
    struct gate_at_notice gate;
    AUTO(watcher) struct watcher w;
    struct proc *p = NULL;
    struct proc_status status;

    watcher_init(&w, b->dir.path);
    w.act = wait_at_gate;
    w.act_self = &gate;
    sem_init(&gate.inside, 0, 0);
    sem_init(&gate.may_leave, 0, 2);
    spec.observer = &w.observer;
    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(work_run(await_inside, &gate));
    proc_signal(p, SIGSTOP);
    proc_signal(p, SIGCONT);
    TRY(proc_wait(p, &status));
    proc_free(p);
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT_OUTPUT(w.lines, "content ws/new\ncontent ws/newer\n");
    EXPECT(status.exited && status.exit_code == 0 && file_is(box_path(b, "ws/newer"), "y\n"));
    return NULL;
}

/* What nothing looks after any more changes nothing any more, and holds nothing up. */
BOX_TEST(a_sandbox_that_goes_first_leaves_a_command_that_cannot_write)
{
    const char *script = "mkfifo go; echo ready; read line < go; echo x > late";
    struct proc_spec spec = box_spec(b, SHELL(script));
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(watcher) struct watcher w;
    struct proc *p = NULL;
    int fd;

    watcher_init(&w, b->dir.path);
    spec.observer = &w.observer;
    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(read_ready(p));
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    sandbox_done(&b->sandbox);
    b->sandbox.launcher.start = NULL;
    fd = open(box_path(b, "ws/go"), O_RDWR | O_CLOEXEC);
    EXPECT(write(fd, "\n", 1) == 1);
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    close(fd);
    EXPECT(w.observer.n_refs == 1 && !fs_exists(box_path(b, "ws/late")));
    EXPECT(has_text(&output.out, "Function not implemented"));
    return NULL;
}

static struct rlimit all_fds;

static void take_fds_away(struct watcher *w, const struct write_notice *notice)
{
    struct rlimit none = {3, all_fds.rlim_max}; /* those that everybody has */

    w->act = NULL;
    setrlimit(RLIMIT_NOFILE, &none);
}

static void missed_and_give_back(struct write_observer *o, const char *why)
{
    watcher_missed(o, why);
    setrlimit(RLIMIT_NOFILE, &all_fds);
}

BOX_TEST(a_keel_that_cannot_look_says_so_once_and_lets_the_command_go_on)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    EXPECT(getrlimit(RLIMIT_NOFILE, &all_fds) == 0);
    w.act = take_fds_away;
    w.observer.missed = missed_and_give_back;
    TRY(box_watch(b, &w, "echo x > file; echo y > missed; echo z > file"));
    EXPECT(b->exit_code == 0 && file_is(box_path(b, "ws/missed"), "y\n"));
    EXPECT_OUTPUT(w.lines, "content ws/file\ncontent ws/file\n");
    EXPECT_OUTPUT(w.missed, "keel could not follow the command's changes\n");
    return NULL;
}

BOX_TEST(a_command_in_the_background_has_its_own_observer)
{
    struct proc_spec spec = box_spec(b, SHELL("read line < go; echo x > late"));
    AUTO(watcher) struct watcher behind, before;
    struct proc *p = NULL;
    struct proc_status status;

    watcher_init(&behind, b->dir.path);
    watcher_init(&before, b->dir.path);
    spec.observer = &behind.observer;
    EXPECT(mkfifo(box_path(b, "ws/go"), 0644) == 0);
    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(box_watch(b, &before, "echo y > now; echo z > go"));
    TRY(proc_wait(p, &status));
    proc_free(p);
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT_OUTPUT(before.lines, "content ws/now\ncontent ws/go\n");
    EXPECT_OUTPUT(behind.lines, "content ws/late\n");
    return NULL;
}

static size_t count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;

    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

BOX_TEST(nothing_stays_open_after_a_command)
{
    AUTO(watcher) struct watcher w;
    size_t n = 0;

    watcher_init(&w, b->dir.path);
    for (int i = 0; i < 12; i++) {
        TRY(box_watch(b, &w, "echo x > file"));
        if (i == 1)
            n = count_fds();
    }
    EXPECT(w.n_notices == 12);
    TRY(put_file(box_path(b, "ws/broken"), "\177ELF"));
    EXPECT(chmod(box_path(b, "ws/broken"), 0755) == 0);
    for (int i = 0; i < 12; i++) {
        struct proc_spec spec = box_spec(b, ARGV("./broken"));
        struct proc *p = NULL;
        AUTO(err) struct err *e = NULL;

        spec.observer = &w.observer;
        e = launcher_start(&b->sandbox.launcher, &spec, &p);
        EXPECT(e && strstr(e->text, "cannot run ./broken"));
    }
    EXPECT(w.observer.n_refs == 1 && w.missed.n == 0);
    /* Threads of the last few may be on their way out; each has two. */
    EXPECT(count_fds() <= n + 8);
    return NULL;
}

/* --- where it cannot be had --- */

static struct err *run_plainly(void *arg)
{
    struct watcher *w = arg;
    struct proc_spec spec = {.argv = ARGV("/bin/true"), .observer = &w->observer};
    struct proc_status status;
    struct proc *p = NULL;

    TRY(launcher_start(&launcher_plain, &spec, &p));
    TRY(proc_wait(p, &status));
    proc_free(p);
    return NULL;
}

TEST(a_launcher_without_walls_says_that_it_reports_nothing)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, "/");
    assert_ok(loop_run_once(run_plainly, &w));
    assert_true(output_is(&w.missed, "commands run without the sandbox\n"));
}

/* A second listener is not to be had below one. This process keeps it: the test is the last. */
BOX_TEST(inside_of_what_follows_calls_already_it_is_told)
{
    static struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    static int listener = -1;
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    if (listener < 0) {
        EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
        listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC |
                                    SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
                                &(struct sock_fprog){.len = 1, .filter = all});
        EXPECT(listener >= 0);
    }
    TRY(box_watch(b, &w, "echo x > file"));
    EXPECT(b->exit_code == 0 && file_is(box_path(b, "ws/file"), "x\n"));
    EXPECT_OUTPUT(w.lines, "");
    EXPECT_OUTPUT(w.missed, "keel runs under a program that already traces all system calls\n");
    return NULL;
}

/* --- all of it --- */

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        BOTH_WAYS(each_kind_of_change_is_reported_in_its_order),
        BOTH_WAYS(what_was_there_is_still_there_when_it_is_reported),
        BOTH_WAYS(who_only_reads_is_not_held),
        BOTH_WAYS(nothing_outside_is_reported_and_nothing_temporary),
        BOTH_WAYS(what_is_moved_in_is_reported),
        BOTH_WAYS(an_added_directory_counts),
        BOTH_WAYS(attributes_are_reported_where_they_can_be_changed),
        BOTH_WAYS(a_path_means_what_it_means_to_the_command),
        BOTH_WAYS(links_lead_where_they_lead),
        BOTH_WAYS(a_chain_of_links_is_followed_as_far_as_the_kernel_does),
        BOTH_WAYS(what_proc_names_is_the_file_behind_it),
        BOTH_WAYS(a_file_that_had_no_name_gets_one),
        BOTH_WAYS(bad_paths_fail_as_ever_and_odd_ones_are_reported),
        BOTH_WAYS(a_place_deeper_than_paths_are_long_is_told),
        BOTH_WAYS(a_path_that_only_its_process_can_read_is_refused),
        BOTH_WAYS(a_process_that_sets_itself_apart_is_seen_or_told),
        BOTH_WAYS(filters_of_the_command_change_nothing),
        BOTH_WAYS(children_of_every_kind_are_heard),
        BOTH_WAYS(a_flood_from_threads_is_reported_to_the_last),
        BOTH_WAYS(signals_interrupt_nothing_for_good),
        BOTH_WAYS(processes_that_are_killed_in_the_middle_hold_nobody_up),
        BOTH_WAYS(a_path_that_changes_all_the_time_leads_nowhere_else),
        BOTH_WAYS(the_end_of_a_command_waits_for_its_observer),
        BOTH_WAYS(a_command_that_is_stopped_in_the_middle_continues),
        BOTH_WAYS(a_sandbox_that_goes_first_leaves_a_command_that_cannot_write),
        BOTH_WAYS(a_keel_that_cannot_look_says_so_once_and_lets_the_command_go_on),
        BOTH_WAYS(a_command_in_the_background_has_its_own_observer),
        BOTH_WAYS(nothing_stays_open_after_a_command),
        UNIT(a_launcher_without_walls_says_that_it_reports_nothing),
        BOTH_WAYS(inside_of_what_follows_calls_already_it_is_told),
    };

    return is_user_as_asked(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
