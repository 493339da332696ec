/* command_test.c - hooks that are real commands. */
#include "hook/executors.h"
#include "sys/procs.h"
#include "temp_dir.h"

/* One run of one command. */
struct trial {
    struct temp_dir dir;
    struct command_hooks executor;
    struct arena arena;
    struct hook_job job;
    struct hook_reply reply;
    struct err *error;
};

static struct trial trial_make(const char *command)
{
    struct trial t = {.dir = temp_dir_make()};
    struct json *definition = json_new(&t.arena, JSON_OBJECT);

    json_set_str(&t.arena, definition, "command", str_of(command));
    t.job = (struct hook_job){.definition = definition, .input = S("{}"), .timeout_ms = 60000};
    hook_reply_init(&t.reply);
    return t;
}

static void trial_done(struct trial *t)
{
    temp_dir_done(&t->dir);
    arena_done(&t->arena);
    hook_reply_done(&t->reply);
}
DEFINE_AUTO_VAL(trial, trial_done)

static struct err *run_in_task(void *arg)
{
    struct trial *t = arg;

    t->error = t->executor.executor.run(&t->executor.executor, &t->job, &t->reply);
    return NULL;
}

static void run_with(struct trial *t, const char *const *environment)
{
    if (!t->job.cwd)
        t->job.cwd = t->dir.path;
    command_hooks_init(&t->executor, &launcher_plain, "/the/project", environment);
    assert_ok(loop_run_once(run_in_task, t));
}

static void run_it(struct trial *t)
{
    run_with(t, NULL);
    assert_ok(t->error);
}

TEST(a_command_gets_the_input_on_stdin)
{
    AUTO(trial) struct trial t = trial_make("cat; echo oops >&2");

    t.job.input = S("{\"hook_event_name\":\"Stop\"}");
    run_it(&t);
    assert_str(strbuf_str(&t.reply.out), "{\"hook_event_name\":\"Stop\"}");
    assert_str(strbuf_str(&t.reply.err), "oops\n");
    assert_int_equal(t.reply.exit_code, 0);
    assert_false(t.reply.timed_out);
}

TEST(a_command_need_not_read_its_input)
{
    AUTO(trial) struct trial t = trial_make("exit 3");
    AUTO(strbuf) struct strbuf input = {0};

    while (input.n < 1000000)
        strbuf_add_cstr(&input, "long ");
    t.job.input = strbuf_str(&input);
    run_it(&t);
    assert_int_equal(t.reply.exit_code, 3);
}

TEST(exit_codes_come_back_as_they_are)
{
    AUTO(trial) struct trial two = trial_make("echo no >&2; exit 2");
    AUTO(trial) struct trial missing = trial_make("keel-has-no-such-program");
    AUTO(trial) struct trial killed = trial_make("kill -9 $$");

    run_it(&two);
    assert_int_equal(two.reply.exit_code, 2);
    run_it(&missing);
    assert_int_equal(missing.reply.exit_code, 127);
    run_it(&killed);
    assert_int_equal(killed.reply.exit_code, 137);
}

TEST(a_command_runs_where_the_session_is_and_knows_the_project)
{
    AUTO(trial)
    struct trial t = trial_make("pwd; echo $CLAUDE_PROJECT_DIR $KEEL_PROJECT_DIR $((1 + 1))");
    struct strbuf want = {0};

    run_it(&t);
    strbuf_addf(&want, "%s\n/the/project /the/project 2\n", t.dir.path);
    assert_str(strbuf_str(&t.reply.out), strbuf_cstr(&want));
    strbuf_done(&want);
}

TEST(credentials_are_not_in_the_environment)
{
    AUTO(trial) struct trial t = trial_make("env");
    static const struct str hidden[] = {{"MY_LLM", 6}};
    const char *path = getenv("PATH");
    const char *environment[] = {arena_format(&t.arena, "PATH=%s", path).p,
                                 "OPENAI_API_KEY=sk-1",
                                 "GH_TOKEN=sk-2",
                                 "KEEL_SESSION=sk-3",
                                 "MY_LLM=sk-4",
                                 "LD_PRELOAD=",
                                 "HARMLESS=yes",
                                 NULL};

    command_hooks_init(&t.executor, &launcher_plain, "/the/project", environment);
    t.executor.secret_variables = hidden;
    t.executor.n_secret_variables = 1;
    t.job.cwd = t.dir.path;
    assert_ok(loop_run_once(run_in_task, &t));
    assert_ok(t.error);
    assert_int_equal(str_find(strbuf_str(&t.reply.out), S("sk-")), STR_NONE);
    assert_int_equal(str_find(strbuf_str(&t.reply.out), S("LD_PRELOAD")), STR_NONE);
    assert_int_not_equal(str_find(strbuf_str(&t.reply.out), S("HARMLESS=yes\n")), STR_NONE);
    assert_int_not_equal(str_find(strbuf_str(&t.reply.out), S("KEEL_PROJECT_DIR=/the/project\n")),
                         STR_NONE);
}

TEST(a_group_adds_variables_and_may_name_one_of_the_outside)
{
    AUTO(trial)
    struct trial t =
        trial_make("echo $LEVEL $GIVEN_TOKEN $CLAUDE_PROJECT_DIR $(env | grep -c ^GIVEN_TOKEN=)");
    const char *environment[] = {arena_format(&t.arena, "PATH=%s", getenv("PATH")).p,
                                 "GIVEN_TOKEN=old", "OTHER_TOKEN=new", NULL};
    struct json *env = json_new(&t.arena, JSON_OBJECT);

    json_set_str(&t.arena, env, "LEVEL", S("strict one"));
    json_set_str(&t.arena, env, "GIVEN_TOKEN", S("$ENV:OTHER_TOKEN"));
    json_set_str(&t.arena, env, "CLAUDE_PROJECT_DIR", S("/elsewhere"));
    t.job.env = env;
    run_with(&t, environment);
    assert_ok(t.error);
    assert_str(strbuf_str(&t.reply.out), "strict one new /the/project 1\n");
}

TEST(a_variable_that_is_not_set_keeps_the_hook_from_running)
{
    AUTO(trial) struct trial t = trial_make("touch ran");
    struct json *env = json_new(&t.arena, JSON_OBJECT);

    json_set_str(&t.arena, env, "A", S("$ENV:KEEL_TEST_IS_NOT_SET"));
    t.job.env = env;
    run_with(&t, NULL);
    assert_string_equal(t.error->text,
                        "the variable named by $ENV:KEEL_TEST_IS_NOT_SET is not set");
    assert_err(t.error, ERR_CONFIGURATION);
    assert_int_not_equal(access(temp_path(&t.dir, "ran"), F_OK), 0);
}

TEST(a_command_that_takes_too_long_is_ended_with_all_it_started)
{
    AUTO(trial)
    struct trial t =
        trial_make("(trap '' TERM; setsid sleep 1000 & nohup sleep 1000 & sleep 1000) & "
                   "echo begun; sleep 1000");
    const char *const *mark = new_mark();
    const char *environment[] = {arena_format(&t.arena, "PATH=%s", getenv("PATH")).p,
                                 arena_format(&t.arena, "MARK_%s", mark[0]).p, NULL};
    const char *const wanted[] = {environment[1], NULL};

    t.job.timeout_ms = 300;
    run_with(&t, environment);
    assert_ok(t.error);
    assert_true(t.reply.timed_out);
    assert_str(strbuf_str(&t.reply.out), "begun\n");
    assert_int_equal(count_marked(wanted), 0);
}

TEST(what_a_command_leaves_behind_is_ended_and_not_waited_for)
{
    AUTO(trial) struct trial t = trial_make("setsid sleep 1000 & echo done");
    const char *const *mark = new_mark();
    const char *environment[] = {arena_format(&t.arena, "PATH=%s", getenv("PATH")).p,
                                 arena_format(&t.arena, "MARK_%s", mark[0]).p, NULL};
    const char *const wanted[] = {environment[1], NULL};

    run_with(&t, environment);
    assert_ok(t.error);
    assert_false(t.reply.timed_out);
    assert_str(strbuf_str(&t.reply.out), "done\n");
    assert_int_equal(count_marked(wanted), 0);
}

TEST(output_without_end_is_cut)
{
    AUTO(trial)
    struct trial t = trial_make("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2");

    run_it(&t);
    assert_int_equal(t.reply.exit_code, 0);
    assert_int_equal(t.reply.out.n, HOOK_MAX_OUTPUT);
    assert_int_equal(t.reply.err.n, HOOK_MAX_OUTPUT);
    assert_true(t.reply.is_cut);
}

TEST(a_command_that_cannot_be_started_is_an_error)
{
    AUTO(trial) struct trial t = trial_make("true");

    t.job.cwd = "/no/such/directory";
    run_with(&t, NULL);
    assert_non_null(t.error);
    err_free(t.error);
}

static struct err *cancel_soon(void *arg)
{
    struct trial *t = arg;
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "hook", run_in_task, t);
    while (access(temp_path(&t->dir, "begun"), F_OK) != 0) {
        struct err *e = task_sleep(5);

        if (e)
            err_ignore(e, "nobody cancels this task");
    }
    group_cancel(&g);
    return group_end(&g);
}

TEST(a_cancelled_run_leaves_no_command)
{
    AUTO(trial) struct trial t = trial_make("touch begun; sleep 1000");
    const char *const *mark = new_mark();
    const char *environment[] = {arena_format(&t.arena, "PATH=%s", getenv("PATH")).p,
                                 arena_format(&t.arena, "MARK_%s", mark[0]).p, NULL};
    const char *const wanted[] = {environment[1], NULL};

    t.job.cwd = t.dir.path;
    command_hooks_init(&t.executor, &launcher_plain, "/p", environment);
    assert_ok(loop_run_once(cancel_soon, &t));
    assert_err(t.error, ERR_CANCELLED);
    assert_int_equal(count_marked(wanted), 0);
}

TEST(without_a_launcher_commands_are_refused)
{
    AUTO(trial) struct trial t = trial_make("true");

    command_hooks_init(&t.executor, NULL, "/p", NULL);
    t.job.cwd = t.dir.path;
    assert_ok(loop_run_once(run_in_task, &t));
    assert_err(t.error, ERR_CONFIGURATION);
}

RUN_TESTS(UNIT(a_command_gets_the_input_on_stdin), UNIT(a_command_need_not_read_its_input),
          UNIT(exit_codes_come_back_as_they_are),
          UNIT(a_command_runs_where_the_session_is_and_knows_the_project),
          UNIT(credentials_are_not_in_the_environment),
          UNIT(a_group_adds_variables_and_may_name_one_of_the_outside),
          UNIT(a_variable_that_is_not_set_keeps_the_hook_from_running),
          UNIT(a_command_that_takes_too_long_is_ended_with_all_it_started),
          UNIT(what_a_command_leaves_behind_is_ended_and_not_waited_for),
          UNIT(output_without_end_is_cut), UNIT(a_command_that_cannot_be_started_is_an_error),
          UNIT(a_cancelled_run_leaves_no_command), UNIT(without_a_launcher_commands_are_refused))
