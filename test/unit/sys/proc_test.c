/* proc_test.c - starting commands, what they get and what they give. */
#include "sys/procs.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MIB ((size_t)1 << 20)

/* --- how it ended --- */

PROC_TEST(an_exit_code_is_told)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("exit 7"));

    TRY(proc_run(&spec, 0, &o));
    EXPECT(ended_with(o.status, 7));
    EXPECT(!o.timed_out);
    return NULL;
}

PROC_TEST(a_deadly_signal_is_told)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("kill -USR1 $$"));

    TRY(proc_run(&spec, 0, &o));
    EXPECT(ended_by(o.status, SIGUSR1));
    return NULL;
}

PROC_TEST(one_that_runs_already_can_be_run_to_its_end)
{
    AUTO(proc) struct proc *p = NULL;
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("echo out; echo err >&2; exit 7"));

    TRY(proc_spawn(&spec, &p));
    TRY(proc_collect(p, 0, &o));
    EXPECT(ended_with(o.status, 7));
    EXPECT(str_is(strbuf_str(&o.out), "out\n"));
    EXPECT(str_is(strbuf_str(&o.err), "err\n"));
    return NULL;
}

PROC_TEST(the_status_can_be_asked_for_twice)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, SHELL("exit 3"));
    struct proc_status first, second;

    TRY(proc_spawn(&spec, &p));
    TRY(proc_wait(p, &first));
    TRY(proc_wait(p, &second));
    EXPECT(ended_with(first, 3) && ended_with(second, 3));
    return NULL;
}

/* --- what cannot be run --- */

static struct err *expect_no_start(const struct proc_spec *spec, const char *text, const char *hint)
{
    AUTO(proc) struct proc *p = NULL;
    AUTO(err) struct err *e = proc_spawn(spec, &p);
    AUTO_FREE char *message = e ? err_message(e) : NULL;

    EXPECT(err_is(e, ERR_CONFIGURATION));
    EXPECT(strcmp(message, text) == 0);
    EXPECT(err_find_hint(e) && strstr(err_find_hint(e), hint));
    return NULL;
}

PROC_TEST(a_missing_command_is_an_error_and_not_exit_code_127)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec missing = command(way, ARGV("no-such-command"));
    struct proc_spec missing_file = command(way, ARGV("/no/such/command"));
    struct proc_spec exits_127 = command(way, SHELL("exit 127"));

    TRY(expect_no_start(&missing, "cannot run no-such-command: No such file or directory", "PATH"));
    TRY(expect_no_start(&missing_file, "cannot run /no/such/command: No such file or directory",
                        "full path"));
    TRY(proc_run(&exits_127, 0, &o));
    EXPECT(ended_with(o.status, 127));
    return NULL;
}

/* A directory with the scripts that the tests below look for; gone with the test. */
struct scripts {
    char dir[64];
    char path[128]; /* "PATH=DIR" */
};

static void write_script(const struct scripts *s, const char *name, mode_t mode, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    file = fopen(path, "w");
    if (!file)
        return;
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
}

static struct err *scripts_init(struct scripts *s)
{
    strcpy(s->dir, "/tmp/keel-proc-XXXXXX");
    EXPECT(mkdtemp(s->dir));
    snprintf(s->path, sizeof s->path, "PATH=%s", s->dir);
    write_script(s, "greet", 0755, "#!/bin/sh\necho hello from the script\n");
    write_script(s, "locked", 0644, "#!/bin/sh\n");
    write_script(s, "headless", 0755, "echo no first line\n");
    write_script(s, "orphan", 0755, "#!/no/such/interpreter\n");
    return NULL;
}

static void scripts_done(struct scripts *s)
{
    static const char *const names[] = {"greet", "locked", "headless", "orphan"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char path[256];

        snprintf(path, sizeof path, "%s/%s", s->dir, names[i]);
        unlink(path);
    }
    rmdir(s->dir);
}
DEFINE_AUTO_VAL(scripts, scripts_done)

PROC_TEST(a_file_that_cannot_be_executed_is_told_with_the_remedy)
{
    AUTO(scripts) struct scripts s = {0};
    const char *environment[] = {s.path, NULL};
    struct proc_spec spec = command(way, ARGV("locked"));

    TRY(scripts_init(&s));
    spec.environment = environment;
    TRY(expect_no_start(&spec, "cannot run locked: Permission denied", "chmod +x"));
    spec.argv = ARGV("headless");
    TRY(expect_no_start(&spec, "cannot run headless: Exec format error", "#!/bin/sh"));
    spec.argv = ARGV("orphan");
    TRY(expect_no_start(&spec, "cannot run orphan: No such file or directory", "interpreter"));
    spec.argv = ARGV("/tmp");
    TRY(expect_no_start(&spec, "cannot run /tmp: Permission denied", "file"));
    return NULL;
}

PROC_TEST(arguments_that_are_too_long_are_told)
{
    AUTO_FREE char *text = mem_alloc(MIB);
    struct proc_spec spec;

    memset(text, 'x', MIB - 1);
    spec = command(way, ARGV("echo", text));
    return expect_no_start(&spec, "cannot run echo: Argument list too long", "file");
}

PROC_TEST(a_missing_working_directory_is_told_as_such)
{
    struct proc_spec spec = command(way, ARGV("true"));

    spec.cwd = "/no/such/directory";
    return expect_no_start(&spec,
                           "cannot run true in /no/such/directory: No such file or directory",
                           "working directory");
}

/* --- what it gets --- */

PROC_TEST(the_childs_path_decides_which_file_is_run)
{
    AUTO(scripts) struct scripts s = {0};
    AUTO(proc_output) struct proc_output o = {0};
    const char *environment[] = {s.path, NULL};
    struct proc_spec spec = command(way, ARGV("greet"));

    TRY(scripts_init(&s));
    TRY(expect_no_start(&spec, "cannot run greet: No such file or directory", "PATH"));
    spec.environment = environment;
    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "hello from the script\n");
    return NULL;
}

PROC_TEST(relative_paths_count_from_the_childs_directory)
{
    AUTO(scripts) struct scripts s = {0};
    AUTO(proc_output) struct proc_output by_name = {0}, by_path = {0};
    static const char *const relative_path[] = {"PATH=/nowhere::/bin", NULL};
    struct proc_spec spec = command(way, ARGV("./greet"));

    TRY(scripts_init(&s));
    spec.cwd = s.dir;
    TRY(proc_run(&spec, 0, &by_name));
    EXPECT_OUTPUT(by_name.out, "hello from the script\n");
    spec.argv = ARGV("greet");
    spec.environment = relative_path;
    TRY(proc_run(&spec, 0, &by_path));
    EXPECT_OUTPUT(by_path.out, "hello from the script\n");
    return NULL;
}

PROC_TEST(it_runs_in_its_directory_under_the_name_it_was_given)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("pwd; tr '\\0' ' ' </proc/$$/cmdline | cut -c1-5"));

    spec.cwd = "/usr/share";
    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "/usr/share\nsh -c\n");
    return NULL;
}

PROC_TEST(no_environment_means_an_empty_one)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, ARGV("env"));

    spec.environment = NULL;
    TRY(proc_run(&spec, 0, &o));
    EXPECT(ended_with(o.status, 0));
    EXPECT_OUTPUT(o.out, "");
    return NULL;
}

PROC_TEST(no_file_descriptor_leaks_into_it)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "list-fds"));
    int low = open("/dev/null", O_RDONLY), high = fcntl(low, F_DUPFD, 200);
    struct err *e = proc_run(&spec, 0, &o);

    close(low);
    close(high);
    TRY(e);
    EXPECT_OUTPUT(o.out, "0 1 2 ");
    return NULL;
}

PROC_TEST(extra_descriptors_follow_stdio_in_their_order)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("echo third >&3; echo fourth >&4"));
    char text[64] = "";
    int third[2], fourth[2], ends[2];
    struct err *e;

    EXPECT(pipe2(third, O_CLOEXEC) == 0 && pipe2(fourth, O_CLOEXEC) == 0);
    ends[0] = third[1];
    ends[1] = fourth[1];
    spec.extra_fds = ends;
    spec.n_extra_fds = 2;
    e = proc_run(&spec, 0, &o);
    close(third[1]);
    close(fourth[1]);
    (void)!read(third[0], text, 16);
    (void)!read(fourth[0], text + strlen(text), 16);
    close(third[0]);
    close(fourth[0]);
    TRY(e);
    EXPECT(strcmp(text, "third\nfourth\n") == 0);
    return NULL;
}

PROC_TEST(stdio_is_right_even_when_the_hosts_own_is_closed)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("cat; echo err >&2"));
    int saved = dup(STDIN_FILENO);
    struct err *e;

    spec.stdin_kind = PROC_STDIN_BYTES;
    spec.stdin_bytes = S("in\n");
    close(STDIN_FILENO);
    e = proc_run(&spec, 0, &o);
    dup2(saved, STDIN_FILENO);
    close(saved);
    TRY(e);
    EXPECT_OUTPUT(o.out, "in\n");
    EXPECT_OUTPUT(o.err, "err\n");
    return NULL;
}

PROC_TEST(it_begins_with_default_signals)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "list-masked-signals"));
    sigset_t blocked, old;
    struct err *e;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &old);
    signal(SIGHUP, SIG_IGN);
    e = proc_run(&spec, 0, &o);
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    TRY(e);
    EXPECT(ended_with(o.status, 0));
    EXPECT_OUTPUT(o.out, "");
    return NULL;
}

/* --- input --- */

PROC_TEST(input_comes_through_a_pipe)
{
    char bytes[4096] = "";
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("test -p /dev/stdin && wc -c"));

    spec.stdin_kind = PROC_STDIN_BYTES;
    spec.stdin_bytes = str_make(bytes, sizeof bytes);
    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "4096\n");
    return NULL;
}

PROC_TEST(input_may_be_larger_than_a_pipe)
{
    AUTO_FREE char *bytes = mem_alloc(4 * MIB);
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("wc -c; cat"));

    spec.stdin_kind = PROC_STDIN_BYTES;
    spec.stdin_bytes = str_make(bytes, 4 * MIB);
    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "4194304\n");
    return NULL;
}

PROC_TEST(without_input_it_reads_the_end_at_once)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("cat; echo over"));

    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "over\n");
    return NULL;
}

static struct err *write_a_mib(void *arg)
{
    AUTO_FREE char *bytes = mem_alloc(MIB);
    struct proc *p = arg;

    memset(bytes, 'x', MIB);
    TRY(proc_write(p, str_make(bytes, MIB)));
    proc_close_stdin(p);
    return NULL;
}

PROC_TEST(what_is_written_comes_back_while_more_is_written)
{
    AUTO(proc) struct proc *p = NULL;
    AUTO_FREE char *chunk = mem_alloc(MIB);
    struct proc_spec spec = command(way, ARGV("cat"));
    size_t n, n_all = 0;
    struct group g;
    struct err *e;

    spec.stdin_kind = PROC_STDIN_PIPE;
    TRY(proc_spawn(&spec, &p));
    group_begin(&g, 0, 0);
    group_spawn(&g, "writer", write_a_mib, p);
    do {
        e = proc_read(p, PROC_OUT, chunk, MIB, &n);
        n_all += n;
    } while (!e && n > 0);
    TRY(group_end(&g));
    TRY(e);
    EXPECT(n_all == MIB);
    return NULL;
}

PROC_TEST(writing_to_a_closed_input_is_an_error_and_no_signal)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV("true"));
    struct proc_status status;
    sigset_t pending;

    spec.stdin_kind = PROC_STDIN_PIPE;
    TRY(proc_spawn(&spec, &p));
    TRY(proc_wait(p, &status));
    TRY(proc_end(p)); /* its supervisor may hold the pipe a moment longer */
    EXPECT_TEXT(proc_write(p, S("anybody there?")), "true closed its input");
    EXPECT_TEXT(proc_write(p, S("anybody there?")), "the input of true is closed");
    sigpending(&pending);
    EXPECT(!sigismember(&pending, SIGPIPE));
    return NULL;
}

/* --- output --- */

PROC_TEST(both_streams_are_read_without_a_deadlock)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "fill-both", "2097152"));

    TRY(proc_run(&spec, 0, &o));
    EXPECT(o.out.n == 2 * MIB && o.err.n == 2 * MIB);
    EXPECT(o.n_out_bytes == 2 * MIB && o.n_err_bytes == 2 * MIB);
    return NULL;
}

PROC_TEST(stderr_can_go_where_stdout_goes)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("echo one; echo two >&2; echo three"));

    spec.merge_stderr = true;
    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "one\ntwo\nthree\n");
    EXPECT_OUTPUT(o.err, "");
    return NULL;
}

PROC_TEST(the_head_of_a_long_output_is_kept_and_the_rest_counted)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("printf 0123456789; head -c 1000000 /dev/zero"));

    strbuf_init(&o.out, 10);
    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "0123456789");
    EXPECT(o.n_out_bytes == 1000010 && o.out.room <= 64);
    EXPECT(ended_with(o.status, 0));
    return NULL;
}

PROC_TEST(output_without_end_takes_no_more_than_its_cap)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "flood"));

    strbuf_init(&o.out, 1000);
    TRY(proc_run(&spec, 300, &o));
    EXPECT(o.timed_out && ended_by(o.status, SIGTERM));
    EXPECT(o.out.n == 1000 && o.n_out_bytes > 1000);
    return NULL;
}

/* Nobody ends what a plain command has put into another session; it holds our pipe. */
PROC_TEST(output_ends_with_the_command_though_an_outsider_holds_the_pipe)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, SHELL("setsid sleep 1000 & echo $!"));
    int outsider;

    TRY(proc_run(&spec, 0, &o));
    outsider = atoi(strbuf_cstr(&o.out));
    EXPECT(outsider > 0);
    EXPECT(kill(outsider, SIGKILL) == 0);
    return NULL;
}

/* --- terminals --- */

static struct err *run_on_terminal(const void *way, const char *const *argv, struct strbuf *ret)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, argv);

    spec.stdout_kind = PROC_STDOUT_PTY;
    TRY(proc_run(&spec, 0, &o));
    strbuf_add(ret, strbuf_str(&o.out));
    EXPECT(ended_with(o.status, 0));
    return NULL;
}

PROC_TEST(a_terminal_is_the_commands_own)
{
    AUTO(strbuf) struct strbuf text = {0};

    TRY(run_on_terminal(way, ARGV(helper("misbehave"), "describe-terminal"), &text));
    EXPECT_OUTPUT(text, "terminals 111, controlling yes, leader yes, foreground yes, 24x80\r\n");
    return NULL;
}

PROC_TEST(a_terminal_without_input_is_at_its_end)
{
    AUTO(strbuf) struct strbuf text = {0};

    TRY(run_on_terminal(way, SHELL("cat; echo over"), &text));
    EXPECT_OUTPUT(text, "over\r\n");
    return NULL;
}

PROC_TEST(a_piped_command_has_no_terminal_to_prompt_on)
{
    AUTO(proc_output) struct proc_output o = {0};
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "describe-terminal"));

    TRY(proc_run(&spec, 0, &o));
    EXPECT_OUTPUT(o.out, "terminals 000, controlling no, leader yes, foreground no, 0x0\n");
    return NULL;
}

static struct err *read_line(struct proc *p, char *line, size_t size)
{
    size_t n, n_all = 0;

    do {
        TRY(proc_read(p, PROC_OUT, line + n_all, 1, &n));
        n_all += n;
    } while (n > 0 && line[n_all - 1] != '\n' && n_all < size - 1);
    line[n_all] = 0;
    return NULL;
}

PROC_TEST(a_terminal_takes_input_and_echoes_it)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, SHELL("read x; echo got $x; cat; echo over"));
    char line[64];

    spec.stdin_kind = PROC_STDIN_PIPE;
    spec.stdout_kind = PROC_STDOUT_PTY;
    TRY(proc_spawn(&spec, &p));
    TRY(proc_write(p, S("word\n")));
    TRY(read_line(p, line, sizeof line));
    EXPECT(strcmp(line, "word\r\n") == 0);
    TRY(read_line(p, line, sizeof line));
    EXPECT(strcmp(line, "got word\r\n") == 0);
    proc_close_stdin(p);
    TRY(read_line(p, line, sizeof line));
    EXPECT(strcmp(line, "over\r\n") == 0);
    TRY(read_line(p, line, sizeof line));
    EXPECT(strcmp(line, "") == 0);
    return NULL;
}

PROC_TEST(a_terminal_that_is_resized_says_so)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, ARGV(helper("misbehave"), "watch-size"));
    char line[64];

    spec.stdout_kind = PROC_STDOUT_PTY;
    spec.n_rows = 5;
    spec.n_columns = 7;
    TRY(proc_spawn(&spec, &p));
    TRY(read_line(p, line, sizeof line));
    EXPECT(strcmp(line, "5x7\r\n") == 0);
    proc_resize_pty(p, 50, 132);
    TRY(read_line(p, line, sizeof line));
    EXPECT(strcmp(line, "50x132\r\n") == 0);
    return NULL;
}

/* --- what is left of it --- */

static struct err *run_and_free(void *way)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(way, SHELL("exit 3"));
    struct proc_status status;

    spec.may_linger = true;
    TRY(proc_spawn(&spec, &p));
    TRY(proc_wait(p, &status));
    EXPECT(status.exited && status.exit_code == 3);
    return proc_end(p);
}

TEST(a_supervisor_that_lingers_is_gone_with_the_loop)
{
    assert_ok(loop_run_once(run_and_free, *state));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

RUN_TESTS(
    EVERY_WAY(a_supervisor_that_lingers_is_gone_with_the_loop), EVERY_WAY(an_exit_code_is_told),
    EVERY_WAY(a_deadly_signal_is_told), EVERY_WAY(one_that_runs_already_can_be_run_to_its_end),
    EVERY_WAY(the_status_can_be_asked_for_twice),
    EVERY_WAY(a_missing_command_is_an_error_and_not_exit_code_127),
    EVERY_WAY(a_file_that_cannot_be_executed_is_told_with_the_remedy),
    EVERY_WAY(arguments_that_are_too_long_are_told),
    EVERY_WAY(a_missing_working_directory_is_told_as_such),
    EVERY_WAY(the_childs_path_decides_which_file_is_run),
    EVERY_WAY(relative_paths_count_from_the_childs_directory),
    EVERY_WAY(it_runs_in_its_directory_under_the_name_it_was_given),
    EVERY_WAY(no_environment_means_an_empty_one), EVERY_WAY(no_file_descriptor_leaks_into_it),
    EVERY_WAY(extra_descriptors_follow_stdio_in_their_order),
    EVERY_WAY(stdio_is_right_even_when_the_hosts_own_is_closed),
    EVERY_WAY(it_begins_with_default_signals), EVERY_WAY(input_comes_through_a_pipe),
    EVERY_WAY(input_may_be_larger_than_a_pipe), EVERY_WAY(without_input_it_reads_the_end_at_once),
    EVERY_WAY(what_is_written_comes_back_while_more_is_written),
    EVERY_WAY(writing_to_a_closed_input_is_an_error_and_no_signal),
    EVERY_WAY(both_streams_are_read_without_a_deadlock), EVERY_WAY(stderr_can_go_where_stdout_goes),
    EVERY_WAY(the_head_of_a_long_output_is_kept_and_the_rest_counted),
    EVERY_WAY(output_without_end_takes_no_more_than_its_cap),
    WAY(output_ends_with_the_command_though_an_outsider_holds_the_pipe, plain),
    EVERY_WAY(a_terminal_is_the_commands_own), EVERY_WAY(a_terminal_without_input_is_at_its_end),
    EVERY_WAY(a_piped_command_has_no_terminal_to_prompt_on),
    EVERY_WAY(a_terminal_takes_input_and_echoes_it), EVERY_WAY(a_terminal_that_is_resized_says_so))
