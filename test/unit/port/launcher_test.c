/* launcher_test.c */
#include "port/launcher.h"

#include "sys/procs.h"

static struct err *read_all(struct proc *p, struct strbuf *out)
{
    size_t n;

    do {
        char *at = strbuf_reserve(out, 4096);

        TRY(proc_read(p, PROC_OUT, at, 4096, &n));
        strbuf_grew(out, n);
    } while (n);
    return NULL;
}

PROC_TEST(a_command_runs_as_it_is_given)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "WORD=hello", NULL};
    struct proc_spec spec = {
        .argv = SHELL("echo \"$WORD\"; pwd; exit 7"), .environment = environment, .cwd = "/"};
    AUTO(proc) struct proc *p = NULL;
    AUTO(strbuf) struct strbuf out = {0};
    struct proc_status status;

    TRY(launcher_start(&launcher_plain, &spec, &p));
    TRY(read_all(p, &out));
    TRY(proc_wait(p, &status));
    EXPECT_OUTPUT(out, "hello\n/\n");
    EXPECT(ended_with(status, 7));
    EXPECT(!spec.supervised);
    return NULL;
}

/* Otherwise the stream would stay open as long as the descendant lives. */
PROC_TEST(no_descendant_is_left_behind)
{
    AUTO(proc) struct proc *p = NULL;
    AUTO(strbuf) struct strbuf out = {0};
    struct proc_spec spec = command(NULL, SHELL("setsid sleep 1000 & echo started"));
    struct deadline deadline;
    struct err *e;

    TRY(launcher_start(&launcher_plain, &spec, &p));
    deadline_begin(&deadline, 60000, "the end of the command's tree");
    e = read_all(p, &out);
    deadline_end(&deadline);
    TRY(e);
    EXPECT_OUTPUT(out, "started\n");
    return NULL;
}

PROC_TEST(a_command_that_does_not_exist_is_an_error)
{
    AUTO(proc) struct proc *p = NULL;
    struct proc_spec spec = command(NULL, ARGV("no-such-command"));

    EXPECT_ERR(launcher_start(&launcher_plain, &spec, &p), ERR_CONFIGURATION);
    EXPECT(!p);
    return NULL;
}

/* --- another launcher --- */

struct refusing {
    struct launcher launcher;
    const struct proc_spec *asked;
};

static struct err *refuse(struct launcher *l, const struct proc_spec *spec, struct proc **ret_proc)
{
    ((struct refusing *)l)->asked = spec;
    return err_new(ERR_SANDBOX, "not here");
}

TEST(a_launcher_decides_about_what_it_is_given)
{
    struct refusing r = {.launcher = {refuse}};
    struct proc_spec spec = command(NULL, ARGV("true"));
    struct proc *p = NULL;

    assert_err(launcher_start(&r.launcher, &spec, &p), ERR_SANDBOX);
    assert_ptr_equal(r.asked, &spec);
    assert_null(p);
}

RUN_TESTS(UNIT(a_command_runs_as_it_is_given), UNIT(no_descendant_is_left_behind),
          UNIT(a_command_that_does_not_exist_is_an_error),
          UNIT(a_launcher_decides_about_what_it_is_given))
