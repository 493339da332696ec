/* run_test.c - events, from what is configured to one outcome. */
#include "hook/executors.h"
#include "hook/outcomes.h"
#include "hook/run.h"
#include "sys/tasks.h"
#include "temp_dir.h"

#include <sys/stat.h>

/* A session with real commands and with functions of the host. */
struct scene {
    struct hook_runner runner;
    struct hook_config *config;
    struct command_hooks command;
    struct callback_hooks callback;
    struct hook_executor *executors[2];
    struct temp_dir dir;
    struct arena arena;
    struct strbuf notices, called; /* what was told, and which functions ran */
    unsigned n_waiting, n_wanted;  /* of functions that wait for each other */
    struct waker *wakers[32];
    /* the event */
    struct hook_input input;
    struct hook_outcome outcome;
    struct err *error;
};

static void place(void *self, struct hook_place *ret_place)
{
    struct scene *s = self;

    *ret_place = (struct hook_place){.session_id = S("s-1"),
                                     .transcript_path = S("/t.jsonl"),
                                     .cwd = s->dir.path,
                                     .permission_mode = "acceptEdits"};
}

static void notice(void *self, enum hook_event event, struct str text)
{
    struct scene *s = self;

    strbuf_addf(&s->notices, "%" STR_FMT "\n", STR_ARG(text));
}

/* Waits until as many as are wanted wait too. */
static struct err *meet(struct scene *s)
{
    struct waker w;

    waker_init(&w);
    s->wakers[s->n_waiting++] = &w;
    if (s->n_waiting == s->n_wanted)
        for (unsigned i = 0; i < s->n_waiting; i++)
            waker_wake(s->wakers[i]);
    return waker_park(&w);
}

/* "meet": waits for others. "fail": cannot be run. Else the id is what it prints. */
static struct err *call(void *self, struct str id, struct str input, struct hook_reply *reply)
{
    struct scene *s = self;

    strbuf_addf(&s->called, "%" STR_FMT "\n", STR_ARG(id));
    if (str_starts(id, S("meet")))
        return meet(s);
    if (str_is(id, "fail"))
        return err_hint(err_new(ERR_CONFIGURATION, "nothing is called fail"), "call it otherwise");
    if (str_is(id, "sleep"))
        return task_sleep(1000000);
    strbuf_add(&reply->out, id);
    return NULL;
}

static void scene_init(struct scene *s, const char *hooks)
{
    struct json *tree;

    *s = (struct scene){.config = hook_config_new(), .dir = temp_dir_make()};
    assert_ok(json_parse(&s->arena, str_of(hooks), 0, &tree));
    assert_ok(hook_config_add(s->config, tree, &(struct hook_file){.name = "f"}));
    command_hooks_init(&s->command, &launcher_plain, s->dir.path, NULL);
    callback_hooks_init(&s->callback, call, s);
    s->executors[0] = &s->command.executor;
    s->executors[1] = &s->callback.executor;
    hook_runner_init(&s->runner);
    s->runner.config = s->config;
    s->runner.executors = s->executors;
    s->runner.n_executors = 2;
    s->runner.place = place;
    s->runner.notice = notice;
    s->runner.self = s;
}

static void scene_done(struct scene *s)
{
    hook_config_free(s->config);
    temp_dir_done(&s->dir);
    arena_done(&s->arena);
    strbuf_done(&s->notices);
    strbuf_done(&s->called);
}
DEFINE_AUTO_VAL(scene, scene_done)

static struct err *fire_in_task(void *arg)
{
    struct scene *s = arg;

    s->error = hooks_run(&s->runner.hooks, &s->input, &s->arena, &s->outcome);
    return NULL;
}

static struct str fire(struct scene *s, enum hook_event event, const char *fields)
{
    struct json *tree = NULL;

    if (fields)
        assert_ok(json_parse(&s->arena, str_of(fields), 0, &tree));
    s->input = (struct hook_input){.event = event, .fields = tree};
    assert_ok(loop_run_once(fire_in_task, s));
    assert_ok(s->error);
    return show_outcome(&s->arena, &s->outcome);
}

#define BASH "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}"
#define RUNS(command) "{\"type\":\"command\",\"command\":\"" command "\"}"
#define CALLS(id) "{\"type\":\"callback\",\"callback\":\"" id "\"}"
#define PRE(groups) "{\"PreToolUse\":[" groups "]}"
#define FOR(matcher, hooks) "{\"matcher\":\"" matcher "\",\"hooks\":[" hooks "]}"
#define ALL(hooks) FOR("*", hooks)

TEST(a_hook_is_told_who_where_and_what)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf want = {0}, got = {0};

    scene_init(&s, PRE(FOR("Bash", RUNS("cat > input"))));
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "");
    strbuf_addf(&want,
                "{\"session_id\":\"s-1\",\"transcript_path\":\"/t.jsonl\",\"cwd\":\"%s\","
                "\"permission_mode\":\"acceptEdits\",\"hook_event_name\":\"PreToolUse\","
                "\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}",
                s.dir.path);
    got = read_file(temp_path(&s.dir, "input"));
    assert_str(strbuf_str(&got), strbuf_cstr(&want));
    assert_str(strbuf_str(&s.notices), "");
}

TEST(a_script_blocks_with_exit_2)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE(FOR("Bash", RUNS("grep -q ls && echo 'no ls' >&2 && exit 2"))));
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "blocked deny reason[no ls]");
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, "{\"tool_name\":\"Edit\"}"), "");
}

TEST(a_script_answers_in_json)
{
    AUTO(scene) struct scene s;

    scene_init(&s,
               PRE(ALL(RUNS("echo '{\\\"hookSpecificOutput\\\":{\\\"permissionDecision\\\":"
                            "\\\"ask\\\",\\\"updatedInput\\\":{\\\"command\\\":\\\"id\\\"}}}'"))));
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "ask input[{\"command\":\"id\"}]");
}

TEST(matchers_choose_by_the_field_of_their_event)
{
    AUTO(scene) struct scene s;

    scene_init(
        &s, "{\"SessionStart\":[" FOR("resume", CALLS("resumed")) "," FOR(
                "startup|clear", CALLS("fresh")) "],\"Stop\":[{\"hooks\":[" CALLS("stop") "]}]}");
    assert_str(fire(&s, HOOK_SESSION_START, "{\"source\":\"resume\"}"), "context[resumed]");
    assert_str(fire(&s, HOOK_SESSION_START, "{\"source\":\"clear\"}"), "context[fresh]");
    assert_str(fire(&s, HOOK_SESSION_START, "{\"source\":\"compact\"}"), "");
    assert_str(fire(&s, HOOK_STOP, NULL), "");
    assert_str(strbuf_str(&s.called), "resumed\nfresh\nstop\n");
}

TEST(an_event_without_hooks_asks_nobody)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE(FOR("Edit", CALLS("x"))));
    s.runner.place = NULL;
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "");
    assert_str(fire(&s, HOOK_STOP, NULL), "");
    assert_null(hooks_run(NULL, &s.input, &s.arena, &s.outcome));
    assert_str(strbuf_str(&s.called), "");
}

TEST(hooks_of_one_event_run_at_the_same_time)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE(ALL(CALLS("meet 1") "," CALLS("meet 2")) "," FOR("Bash", CALLS("meet 3"))));
    s.n_wanted = 3;
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "");
    assert_int_equal(s.n_waiting, 3);
}

TEST(the_same_hook_in_two_groups_runs_once)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE(ALL(CALLS("a") "," CALLS("b")) "," FOR("Bash", CALLS("b") "," CALLS("c"))));
    fire(&s, HOOK_PRE_TOOL_USE, BASH);
    assert_str(strbuf_str(&s.called), "a\nb\nc\n");
}

TEST(the_same_command_with_another_environment_is_another_hook)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf got = {0};

    scene_init(
        &s, PRE("{\"env\":{\"WHO\":\"1\"},\"hooks\":[" RUNS(
                "echo x >> ran") "]},"
                                 "{\"env\":{\"WHO\":\"2\"},\"hooks\":[" RUNS(
                                     "echo x >> ran") "]},"
                                                      "{\"env\":{\"WHO\":\"2\"},\"hooks\":[" RUNS(
                                                          "echo x >> ran") "]}"));
    fire(&s, HOOK_PRE_TOOL_USE, BASH);
    got = read_file(temp_path(&s.dir, "ran"));
    assert_str(strbuf_str(&got), "x\nx\n");
}

TEST(answers_come_in_the_order_of_the_configuration_however_long_they_take)
{
    AUTO(scene) struct scene s;

    /* the first waits for the second */
    scene_init(&s, "{\"UserPromptSubmit\":[{\"hooks\":[" RUNS("cat go; echo first") "," RUNS(
                       "echo second; : > go") "]}]}");
    assert_int_equal(mkfifo(temp_path(&s.dir, "go"), 0600), 0);
    assert_str(fire(&s, HOOK_USER_PROMPT_SUBMIT, "{\"prompt\":\"hi\"}"), "context[first\nsecond]");
}

TEST(more_hooks_than_run_at_once_all_run)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf hooks = {0};

    strbuf_add_cstr(&hooks, "{\"SessionStart\":[{\"hooks\":[");
    for (int i = 0; i < 40; i++)
        strbuf_addf(&hooks, "%s" CALLS("%d"), i ? "," : "", i);
    strbuf_add_cstr(&hooks, "]}]}");
    scene_init(&s, strbuf_cstr(&hooks));
    fire(&s, HOOK_SESSION_START, "{\"source\":\"startup\"}");
    assert_true(str_ends(s.outcome.additional_context, S("\n37\n38\n39")));
    assert_true(str_starts(s.outcome.additional_context, S("0\n1\n2\n3\n")));
}

/* --- what goes wrong --- */

#define FAILS(text) "the PreToolUse hook " text

TEST(a_hook_that_fails_is_told_and_stops_nothing)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE(ALL(CALLS("fail") "," RUNS(
                       "echo boom >&2; exit 1") ","
                                                "{\"type\":\"prompt\",\"prompt\":\"Safe?\"}")));
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "");
    assert_str(
        strbuf_str(&s.notices),
        FAILS("callback \"fail\" of f failed: it did not run: nothing is called fail; call "
              "it otherwise\n")
            FAILS("command \"echo boom >&2; exit 1\" of f failed: it exited with code 1: boom\n")
                FAILS("prompt \"Safe?\" of f failed: it did not run: hooks of type prompt are "
                      "not available here\n"));
}

TEST(an_answer_that_cannot_be_read_is_told_and_refuses_the_call)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE(ALL(CALLS("{oops"))));
    assert_str(
        fire(&s, HOOK_PRE_TOOL_USE, BASH),
        "blocked deny reason[" FAILS(
            "callback \"{oops\" of f failed: its answer is not valid JSON: a name in double quotes "
            "was expected at line 1, column 2; without its answer the call is denied]"));
    assert_str(strbuf_str(&s.notices),
               FAILS("callback \"{oops\" of f failed: its answer is not valid JSON: a name in "
                     "double quotes was expected at line 1, column 2\n"));
}

TEST(a_hook_that_takes_too_long_is_ended_and_told)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE("{\"timeout\":0.2,\"hooks\":[" CALLS("sleep") "," RUNS("sleep 1000") "]}"));
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "");
    assert_str(strbuf_str(&s.notices),
               FAILS("callback \"sleep\" of f failed: it timed out after 0.2 s\n")
                   FAILS("command \"sleep 1000\" of f failed: it timed out after 0.2 s\n"));
}

static void closed(const char *hook, const char *want)
{
    AUTO(scene) struct scene s;
    AUTO(strbuf) struct strbuf hooks = {0};

    strbuf_addf(&hooks, PRE("{\"failClosed\":true,\"timeout\":0.2,\"hooks\":[%s]}"), hook);
    scene_init(&s, strbuf_cstr(&hooks));
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), want);
    assert_true(s.notices.n > 0);
}

TEST(a_hook_that_must_not_fail_blocks_when_it_does)
{
    closed(CALLS("fail"), "blocked deny reason[" FAILS(
                              "callback \"fail\" of f failed: it did not run: nothing is called "
                              "fail; call it otherwise; without its answer the call is denied]"));
    closed(CALLS("sleep"),
           "blocked deny reason[" FAILS("callback \"sleep\" of f failed: it timed out after 0.2 s; "
                                        "without its answer the call is denied]"));
    closed(RUNS("exit 1"),
           "blocked deny reason[" FAILS("command \"exit 1\" of f failed: it exited with code 1; "
                                        "without its answer the call is denied]"));
    closed(CALLS("{"),
           "blocked deny reason[" FAILS(
               "callback \"{\" of f failed: its answer is not valid JSON: a name in double quotes "
               "was expected at line 1, column 2; without its answer the call is denied]"));
    closed("{\"type\":\"agent\",\"agent\":\"x\"}",
           "blocked deny reason[" FAILS(
               "agent \"x\" of f failed: it did not run: hooks of type agent are not available "
               "here; without its answer the call is denied]"));
}

TEST(a_hook_that_must_not_fail_and_does_not_blocks_nothing)
{
    AUTO(scene) struct scene s;

    scene_init(&s, PRE("{\"failClosed\":true,\"hooks\":[" CALLS("fine") "," RUNS("true") "]}"));
    assert_str(fire(&s, HOOK_PRE_TOOL_USE, BASH), "");
    assert_str(strbuf_str(&s.notices), "");
}

TEST(hostile_output_stays_within_bounds)
{
    AUTO(scene) struct scene s;

    scene_init(&s,
               "{\"UserPromptSubmit\":[{\"hooks\":[" RUNS(
                   "head -c 3000000 /dev/zero | tr "
                   "'\\\\0' '\\\\377'") "," RUNS("printf '{'; head -c 3000000 /dev/zero") "]}]}");
    fire(&s, HOOK_USER_PROMPT_SUBMIT, "{\"prompt\":\"hi\"}");
    assert_true(s.outcome.additional_context.n > 1000);
    assert_true(s.outcome.additional_context.n < 40000);
    assert_int_not_equal(str_find(strbuf_str(&s.notices), S("it printed more than 1048576 bytes")),
                         STR_NONE);
    assert_int_not_equal(
        str_find(strbuf_str(&s.notices), S("its answer is longer than 1048576 bytes")), STR_NONE);
}

static struct err *cancelled_in_task(void *arg)
{
    struct scene *s = arg;
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "fire", fire_in_task, s);
    group_cancel(&g);
    return group_end(&g);
}

TEST(a_cancelled_event_is_an_error_and_no_outcome)
{
    AUTO(scene) struct scene s;

    scene_init(&s, "{\"Stop\":[{\"hooks\":[" CALLS("sleep") "," RUNS("sleep 1000") "]}]}");
    s.input = (struct hook_input){.event = HOOK_STOP};
    assert_ok(loop_run_once(cancelled_in_task, &s));
    assert_err(s.error, ERR_CANCELLED);
    assert_str(strbuf_str(&s.notices), "");
}

RUN_TESTS(UNIT(a_hook_is_told_who_where_and_what), UNIT(a_script_blocks_with_exit_2),
          UNIT(a_script_answers_in_json), UNIT(matchers_choose_by_the_field_of_their_event),
          UNIT(an_event_without_hooks_asks_nobody), UNIT(hooks_of_one_event_run_at_the_same_time),
          UNIT(the_same_hook_in_two_groups_runs_once),
          UNIT(the_same_command_with_another_environment_is_another_hook),
          UNIT(answers_come_in_the_order_of_the_configuration_however_long_they_take),
          UNIT(more_hooks_than_run_at_once_all_run),
          UNIT(a_hook_that_fails_is_told_and_stops_nothing),
          UNIT(an_answer_that_cannot_be_read_is_told_and_refuses_the_call),
          UNIT(a_hook_that_takes_too_long_is_ended_and_told),
          UNIT(a_hook_that_must_not_fail_blocks_when_it_does),
          UNIT(a_hook_that_must_not_fail_and_does_not_blocks_nothing),
          UNIT(hostile_output_stays_within_bounds),
          UNIT(a_cancelled_event_is_an_error_and_no_outcome))
