/* bash_test.c - the Bash tool with real commands. */
#include "files.h"
#include "sys/clean_env.h"
#include "tool/shells.h"

#define NOTHING "(the command succeeded and printed nothing)"

static struct str detail(const struct tool_result *r, const char *key)
{
    static char text[256];
    AUTO(strbuf) struct strbuf b = {0};
    const struct json *value = json_get(r->details, key);

    if (value)
        json_write(&b, value);
    snprintf(text, sizeof text, "%s", strbuf_cstr(&b));
    return str_of(text);
}

static void assert_cwd(struct shell_fixture *f, const char *relative)
{
    struct str cwd = str_of(tool_state_cwd(f->tools.state));

    assert_true(str_starts(cwd, str_of(f->tools.dir.path)));
    assert_str(str_skip(cwd, strlen(f->tools.dir.path)), relative);
}

/* --- the working directory --- */

TEST(a_command_starts_in_the_session_s_directory)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "here.txt", "");
    assert_bash(&f, "ls", "here.txt\n");
}

TEST(the_directory_is_kept_however_the_shell_ends)
{
    static const char *const commands[] = {
        "cd sub",
        "cd sub; exit 3",
        "cd sub; exit",
        "cd sub && exec true",
        "cd sub; exec sh -c 'exit 7'",
        "set -e; cd sub; false; cd ..",
        "set -eu; cd sub; echo $nothing",
        "go() { cd sub; }; go",
        "cd sub; no-such-command",
        "cd sub; kill $$",
        "set -x; cd sub",
        "pushd sub",
        "cd sub; ls /no/such/file",
        "cd sub; exec 3>&- 4>&- 5>&- 1>&- 2>&- 0<&-",
        "cd sub; (cd ..); cd .. | cat; echo $(cd ..)",
        "exec 2>&1; exec 5>/dev/null; cd sub",
        "cd sub; bash -c 'cd ..'",
        "eval 'cd sub'",
        "cd sub\n\n# the end",
        "cd sub; sleep 1000 &",
    };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        AUTO(shell_fixture) struct shell_fixture f;
        AUTO(tool_result) struct tool_result r = {0};

        shell_fixture_init(&f);
        put(&f.tools.dir, "sub/", "");
        r = bash(&f, commands[i]);
        if (!str_ends(str_of(tool_state_cwd(f.tools.state)), S("/sub")))
            fail_msg("not kept: %s\n%s", commands[i], strbuf_cstr(&r.text));
        assert_cwd(&f, "/sub");
        assert_bash(&f, "basename \"$PWD\"", "sub\n");
    }
}

/* What it prints, and that it ends in this directory of the workspace. */
static void assert_moves(struct shell_fixture *f, const char *command, const char *printed,
                         const char *place)
{
    AUTO(strbuf) struct strbuf wanted = {0};

    strbuf_addf(&wanted, "%sThe working directory is now %s%s.\n", printed, f->tools.dir.path,
                place);
    assert_bash(f, command, strbuf_cstr(&wanted));
}

TEST(a_new_directory_is_told)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/deep/", "");
    assert_moves(&f, "cd sub", "", "/sub");
    assert_bash(&f, "cd deep; cd ..; echo same", "same\n");
    assert_moves(&f, "echo x; cd deep; false", "Exit code 1\nx\n", "/sub/deep");
    assert_cwd(&f, "/sub/deep");
}

static void assert_stays(struct shell_fixture *f, const char *command, const char *kept,
                         const char *left)
{
    AUTO(strbuf) struct strbuf wanted = {0};

    strbuf_addf(&wanted, "The working directory is %s%s again: %s is outside the workspace.\n",
                f->tools.dir.path, kept, left);
    assert_bash(f, command, strbuf_cstr(&wanted));
    assert_cwd(f, kept);
}

TEST(a_command_that_leaves_the_workspace_does_not_take_the_session_along)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(strbuf) struct strbuf away = {0};

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    assert_stays(&f, "cd /usr", "", "/usr");
    assert_moves(&f, "cd sub", "", "/sub");
    assert_stays(&f, "cd /usr/bin", "/sub", "/usr/bin");
    assert_stays(&f, "cd ../..", "/sub", "/tmp");
    strbuf_addf(&away, "%s/sub/away", f.tools.dir.path);
    assert_stays(&f, "ln -s /usr away; cd away", "/sub", strbuf_cstr(&away));
}

TEST(an_added_directory_is_a_place_to_work_in)
{
    static const char *const added[] = {"/usr"};
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    f.tools.config.added_dirs = added;
    f.tools.config.n_added_dirs = 1;
    assert_bash(&f, "cd /usr/bin", "The working directory is now /usr/bin.\n");
    assert_bash(&f, "pwd", "/usr/bin\n");
}

TEST(a_command_that_removes_its_directory_says_so)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(strbuf) struct strbuf wanted = {0};

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    assert_moves(&f, "cd sub", "", "/sub");
    strbuf_addf(&wanted, "The working directory is %s again: %s/sub no longer exists.\n",
                f.tools.dir.path, f.tools.dir.path);
    assert_bash(&f, "rmdir \"$PWD\"", strbuf_cstr(&wanted));
    assert_bash(&f, "ls", NOTHING);
}

TEST(the_directory_of_a_subshell_is_not_kept)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    assert_bash(&f, "(cd sub; exec true)", NOTHING);
    assert_cwd(&f, "");
    assert_bash(&f, "cd sub | cat", NOTHING);
    assert_cwd(&f, "");
}

TEST(names_with_blanks_quotes_and_newlines_are_kept)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(strbuf) struct strbuf told = {0};

    shell_fixture_init(&f);
    strbuf_addf(&told, "The working directory is now \"%s/a \\\"b'\\n\\nc\\n\".\n",
                f.tools.dir.path);
    assert_bash(&f, "mkdir $'a \"b\\'\\n\\nc\\n'; cd a*", strbuf_cstr(&told));
    assert_cwd(&f, "/a \"b'\n\nc\n");
    assert_bash(&f, "ls ..", "a \"b'\n\nc\n\n");
}

TEST(a_directory_that_was_reached_by_a_link_keeps_its_name)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "real/deep/", "");
    assert_moves(&f, "ln -s real/deep link; cd link", "", "/link");
    assert_cwd(&f, "/link");
    assert_moves(&f, "basename \"$PWD\"; cd ..", "link\n", "");
    assert_cwd(&f, "");
}

TEST(a_command_with_an_exit_trap_of_its_own_runs_it_and_does_not_move)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    assert_bash(&f, "trap 'echo bye' EXIT; cd sub", "bye\n");
    assert_cwd(&f, "");
}

TEST(files_that_a_command_opens_get_nothing_else)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_bash(&f, "exec 3>three 4>four 9>nine; echo x >&3; mkdir d; cd d; cd ..", NOTHING);
    assert_bash(&f, "cat three four nine", "x\n");
}

TEST(a_directory_that_is_gone_is_a_failure_and_the_next_call_runs_in_the_workspace)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    assert_moves(&f, "cd sub", "", "/sub");
    rmdir(temp_path(&f.tools.dir, "sub"));
    r = bash(&f, "touch ran");
    assert_true(r.is_error);
    assert_int_not_equal(str_find(strbuf_str(&r.text), S("/sub no longer exists")), STR_NONE);
    assert_cwd(&f, "");
    assert_bash(&f, "ls", NOTHING);
}

TEST(a_workspace_that_is_gone_is_a_failure)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    rmdir(f.tools.dir.path);
    r = bash(&f, "true");
    assert_true(r.is_error);
    assert_true(str_starts(strbuf_str(&r.text), S("The workspace ")));
}

TEST(a_directory_that_the_command_removed_is_not_kept)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_bash(&f, "mkdir sub; cd sub; rmdir ../sub", NOTHING);
    assert_cwd(&f, "");
}

static struct err *move_while_another_runs(void *arg)
{
    struct shell_fixture *f = arg;
    struct bash_call slow = {f, "read line < fifo", ""};
    struct tool_result moves, wakes;
    struct group g;
    struct err *e;

    group_begin(&g, 0, 0);
    group_spawn(&g, "slow", bash_call_task, &slow);
    moves = bash_in_task(f, "cd sub", "");
    wakes = bash_in_task(f, "echo go > ../fifo", "");
    e = group_end(&g);
    tool_result_done(&moves);
    tool_result_done(&wakes);
    tool_result_done(&slow.result);
    return e;
}

TEST(a_command_that_stays_does_not_take_back_where_another_went_meanwhile)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    assert_bash(&f, "mkfifo fifo", NOTHING);
    assert_ok(run_on_clock(&f, move_while_another_runs, &f));
    assert_cwd(&f, "/sub");
}

/* --- what the command sees of us: nothing --- */

struct bare_run {
    struct shell_fixture *fixture;
    const char *command;
    struct proc_output output;
};

static struct err *run_bare(void *arg)
{
    struct bare_run *r = arg;
    const char *const given[] = {r->fixture->mark, r->fixture->path, NULL};
    AUTO(arena) struct arena a = {0};
    struct proc_spec spec = {
        .argv = ARGV("bash", "-c", r->command),
        .environment = clean_environment(&a, &(struct clean_env_options){.environment = given}),
        .cwd = r->fixture->tools.dir.path,
        .merge_stderr = true};

    return proc_run(&spec, 0, &r->output);
}

TEST(a_command_prints_what_it_prints_in_a_bare_shell)
{
    static const char *const commands[] = {
        "echo $0 $# $? $- $LINENO $BASH_SUBSHELL $SHLVL \"$*\"",
        "echo \"$BASH_EXECUTION_STRING\"",
        "set -x; cd .; echo a; exec echo b",
        "set -x; false; exit",
        "no-such-command\n\ncd /no/such/dir\necho $LINENO",
        "false; echo $?; exec 8>&1; echo $? $_ >&8",
        "if ; then",
        "echo 'open",
        "env | sort",
        "declare -F; alias; trap -p INT; shopt; set -o",
        "(exit 4); echo $?; f() { return 5; }; f; echo $? ${FUNCNAME[*]}",
        "echo ${BASH_ENV-none}; bash -c 'echo ${BASH_ENV-none}'",
        "sleep 0 & wait; echo $?",
    };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        AUTO(shell_fixture) struct shell_fixture f;
        AUTO(strbuf) struct strbuf wanted = {0};
        struct bare_run bare = {&f, commands[i]};

        shell_fixture_init(&f);
        assert_ok(run_on_clock(&f, run_bare, &bare));
        if (bare.output.status.exit_code)
            strbuf_addf(&wanted, "Exit code %d\n", bare.output.status.exit_code);
        strbuf_add(&wanted, strbuf_str(&bare.output.out));
        assert_bash(&f, commands[i], strbuf_cstr(&wanted));
        proc_output_done(&bare.output);
    }
}

/* --- how it ends --- */

TEST(what_it_prints_is_the_result)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    r = bash(&f, "echo hello");
    assert_str(strbuf_str(&r.text), "hello\n");
    assert_false(r.is_error);
    assert_str(detail(&r, "exitCode"), "0");
    assert_str(detail(&r, "signal"), "null");
    assert_str(detail(&r, "durationMs"), "0");
    assert_str(detail(&r, "timedOut"), "false");
}

TEST(an_exit_code_other_than_zero_is_a_failure_and_comes_first)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    r = bash(&f, "echo out; exit 3");
    assert_str(strbuf_str(&r.text), "Exit code 3\nout\n");
    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_TOOL_FAILED);
    assert_str(detail(&r, "exitCode"), "3");
}

TEST(an_exit_code_that_is_an_answer_is_no_error)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0}, failed = {0};

    shell_fixture_init(&f);
    r = bash(&f, "echo a > f; cat f | grep b");
    assert_str(strbuf_str(&r.text), "Exit code 1: nothing matches.\n");
    assert_false(r.is_error);
    failed = bash(&f, "grep x no-such-file");
    assert_true(failed.is_error);
}

TEST(a_signal_is_named)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    r = bash(&f, "echo out; kill -KILL $$");
    assert_str(strbuf_str(&r.text), "Killed by SIGKILL\nout\n");
    assert_true(r.is_error);
    assert_str(detail(&r, "exitCode"), "null");
    assert_str(detail(&r, "signal"), "9");
}

TEST(success_without_output_is_said)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_bash(&f, "true", NOTHING);
    assert_bash(&f, "false", "Exit code 1\n");
}

TEST(output_and_errors_come_in_their_order)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_bash(&f, "echo 1; echo 2 >&2; echo 3; ls /no/such 2>/dev/null; echo 4 >&2",
                "1\n2\n3\n4\n");
}

TEST(there_is_nothing_to_read)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_bash(&f, "cat; read line; echo $?", "1\n");
}

TEST(what_a_command_leaves_behind_ends_with_it)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_bash(&f, "sleep 1000 & setsid sleep 1000 & nohup sleep 1000 >/dev/null & echo ok",
                "ok\n");
    assert_int_equal(count_left(&f), 0);
}

TEST(a_time_out_keeps_what_was_printed_and_leaves_no_process)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    f.jump_ms = 2500;
    r = bash_with(&f, "setsid sleep 1000 & printf before; sleep 1000", ",\"timeout\":2500");
    assert_str(strbuf_str(&r.text),
               "before\n(tool failed: timeout) The command was ended after 2.5 s. Give it a longer "
               "timeout (at most 600000 ms), or start it with run_in_background: then it continues "
               "while you work, and you are told when it ends.\n");
    assert_true(r.is_error);
    assert_int_equal(r.code, ERR_TIMEOUT);
    assert_str(detail(&r, "timedOut"), "true");
    assert_str(detail(&r, "durationMs"), "2500");
    assert_int_equal(count_left(&f), 0);
}

TEST(what_a_command_says_when_it_is_ended_is_kept)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    f.jump_ms = 1000;
    r = bash_with(&f,
                  "trap 'echo ended; exit' TERM; echo ready; while :; do sleep 1000 & wait; done",
                  ",\"timeout\":1000");
    assert_true(str_starts(strbuf_str(&r.text), S("ready\nended\n(tool failed: timeout) ")));
}

static struct err *cancel_when_shown(void *arg)
{
    struct shell_fixture *f = arg;
    struct bash_call call = {f, "echo here; sleep 1000 & wait", ""};
    struct group g;
    struct err *e = NULL;

    group_begin(&g, 0, 0);
    group_spawn(&g, "call", bash_call_task, &call);
    while (!e && f->progress.n == 0 && call.result.text.n == 0)
        e = task_yield();
    group_cancel(&g);
    err_ignore(group_end(&g), "it is in the result");
    if (!e && call.result.code != ERR_CANCELLED)
        e = err_new(ERR_INTERNAL, "not cancelled: %s", strbuf_cstr(&call.result.text));
    tool_result_done(&call.result);
    return e;
}

TEST(a_cancelled_call_leaves_no_process)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_ok(run_on_clock(&f, cancel_when_shown, &f));
    assert_int_equal(count_left(&f), 0);
}

/* --- what it prints --- */

TEST(a_huge_output_is_kept_at_both_ends)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};
    const size_t n_kept = (size_t)16 << 20;
    struct str text;
    char note[128];

    shell_fixture_init(&f);
    r = bash(&f, "echo start; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end");
    text = strbuf_str(&r.text);
    snprintf(note, sizeof note, "\n... [%zu bytes of output left out] ...\n",
             sizeof "start\n" - 1 + 20000000 + sizeof "\nend\n" - 1 - n_kept);
    assert_int_equal(text.n, n_kept + strlen(note));
    assert_true(str_starts(text, S("start\nxxx")));
    assert_true(str_ends(text, S("xxx\nend\n")));
    assert_int_equal(str_find(text, str_of(note)), n_kept / 2);
}

TEST(a_command_that_never_stops_printing_ends_by_its_time_out)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    f.jump_ms = 1000;
    r = bash_with(&f, "yes", ",\"timeout\":1000");
    assert_true(str_starts(strbuf_str(&r.text), S("y\ny\n")));
    assert_int_equal(r.code, ERR_TIMEOUT);
    assert_true(r.text.n < (17 << 20));
    assert_int_equal(count_left(&f), 0);
}

TEST(nuls_are_shown_and_bad_utf8_is_repaired)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    assert_bash(&f, "printf 'a\\0\\0b\\377c\\303\\251\\303'",
                "a␀␀b\xEF\xBF\xBD"
                "c\xC3\xA9\xEF\xBF\xBD");
}

TEST(a_person_sees_what_is_printed)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    f.jump_ms = 1000;
    assert_bash(&f, "echo one; sleep 0; echo two", "one\ntwo\n");
    assert_str(strbuf_str(&f.progress), "one\ntwo\n");
}

/* --- environment and shell --- */

TEST(credentials_do_not_reach_the_command)
{
    AUTO(shell_fixture) struct shell_fixture f;
    const struct str hidden[] = {S("MY_LLM")};

    shell_fixture_init(&f);
    f.environment[2] = "OPENAI_API_KEY=sk-1";
    f.environment[3] = "FOO=bar";
    f.environment[4] = "MY_LLM=abc";
    f.environment[5] = "FINDER=def";
    f.environment[6] = "BASH_ENV=/no/such/file";
    f.tools.config.secret_variables = hidden;
    f.tools.config.n_secret_variables = 1;
    f.tools.config.search.key_variable = S("FINDER");
    assert_bash(&f, "echo ${OPENAI_API_KEY-none} ${MY_LLM-none} ${FINDER-none} $FOO $PAGER $TERM",
                "none none none bar cat dumb\n");
}

TEST(without_bash_there_is_sh)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    snprintf(f.path, sizeof f.path, "PATH=/no/such/directory");
    assert_moves(&f, "echo $0; cd sub; exit 3", "Exit code 3\n/bin/sh\n", "/sub");
    assert_cwd(&f, "/sub");
}

TEST(another_shell_can_be_chosen_and_keeps_its_directory_too)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/9/", "");
    f.tools.config.shell = S("sh");
    assert_moves(&f, "echo $0 $#; exec 9>nine; cd sub; cd 9; set -e; false", "Exit code 1\nsh 0\n",
                 "/sub/9");
    assert_cwd(&f, "/sub/9");
    assert_bash(&f, "cat ../../nine; echo 3456789; cd ..", "3456789\n");
    assert_cwd(&f, "/sub/9");
}

TEST(bash_in_posix_mode_keeps_its_directory_too)
{
    AUTO(shell_fixture) struct shell_fixture f;

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/", "");
    f.environment[2] = "POSIXLY_CORRECT=1";
    assert_moves(&f, "cd sub; echo ${BASH_ENV-none}", "none\n", "/sub");
    assert_cwd(&f, "/sub");
}

TEST(a_shell_that_is_not_there_is_told)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    f.tools.config.shell = S("/no/such/shell");
    r = bash(&f, "true");
    assert_int_equal(r.code, ERR_CONFIGURATION);
    assert_true(str_starts(strbuf_str(&r.text), S("cannot run /no/such/shell")));
}

/* --- arguments --- */

TEST(commands_in_the_forms_of_other_agents_are_taken)
{
    static const struct {
        const char *given, *want;
    } cases[] = {
        {"{\"command\":[\"bash\",\"-lc\",\"make && ls\"]}", "{\"command\":\"make && ls\"}"},
        {"{\"cmd\":[\"git\",\"log\",\"--format=%h it's\"]}",
         "{\"command\":\"git log '--format=%h it'\\\\''s'\"}"},
        {"{\"command\":[\"zsh\",\"-lc\",\"ls *(.)\"]}", "{\"command\":\"zsh -lc 'ls *(.)'\"}"},
        {"{\"command\":[\"rm\",\"\"]}", "{\"command\":\"rm ''\"}"},
        {"{\"command\":\"ls\",\"workdir\":\".\"}", "{\"command\":\"ls\"}"},
        {"{\"command\":\"ls # all\",\"workdir\":\"a b\"}",
         "{\"command\":\"(cd -- 'a b' || exit\\nls # all\\n)\"}"},
        {"{\"command\":[\"ls\"],\"cwd\":\"/srv\"}",
         "{\"command\":\"(cd -- /srv || exit\\nls\\n)\"}"},
        {"{\"command\":\"ls\",\"timeout_ms\":900000}", "{\"command\":\"ls\",\"timeout\":600000}"},
        /* what means nothing for certain stays, and is refused */
        {"{\"command\":[\"ls\",1]}", "{\"command\":[\"ls\",1]}"},
        {"{\"command\":[]}", "{\"command\":[]}"},
        {"{\"command\":\"ls\",\"workdir\":7}", "{\"command\":\"ls\",\"workdir\":7}"},
        {"{\"command\":\"ls\",\"timeout\":-5}", "{\"command\":\"ls\",\"timeout\":-5}"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf got = {0};
        struct json *given;

        assert_ok(json_parse(&a, str_of(cases[i].given), 0, &given));
        json_write(&got, tool_rename_arguments(&tool_bash, given, &a));
        assert_str(strbuf_str(&got), cases[i].want);
    }
}

TEST(a_directory_of_one_call_is_not_that_of_the_next)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result there = {0}, none = {0}, missing = {0};

    shell_fixture_init(&f);
    put(&f.tools.dir, "sub/x.txt", "");
    there = bash_with(&f, "ls", ",\"workdir\":\"sub\"");
    assert_str(strbuf_str(&there.text), "x.txt\n");
    assert_cwd(&f, "");
    none = bash_with(&f, "grep a x.txt", ",\"workdir\":\"sub\"");
    assert_false(none.is_error);
    missing = bash_with(&f, "touch here", ",\"workdir\":\"absent\"");
    assert_true(missing.is_error);
    assert_bash(&f, "ls", "sub\n");
}

TEST(a_model_that_asks_to_leave_the_sandbox_reads_that_it_cannot)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0}, no = {0};

    shell_fixture_init(&f);
    r = bash_with(&f, "echo hi", ",\"dangerouslyDisableSandbox\":true");
    assert_str(strbuf_str(&r.text),
               "hi\n(dangerouslyDisableSandbox has no effect: commands stay in "
               "the sandbox unless the person switches it off)\n");
    no = bash_with(&f, "echo hi", ",\"dangerouslyDisableSandbox\":false");
    assert_str(strbuf_str(&no.text), "hi\n");
}

TEST(a_time_out_over_ten_minutes_is_ten_minutes)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    r = bash_with(&f, "true", ",\"timeout\":600001");
    assert_false(r.is_error);
}

TEST(the_call_s_deadline_leaves_time_to_end_the_command)
{
    AUTO(arena) struct arena a = {0};
    struct json *args;

    assert_ok(json_parse(&a, S("{\"command\":\"x\",\"timeout\":5000}"), 0, &args));
    assert_int_equal(tool_bash.timeout_ms(&tool_bash, args), 15000);
    assert_ok(json_parse(&a, S("{\"command\":\"x\"}"), 0, &args));
    assert_int_equal(tool_bash.timeout_ms(&tool_bash, args), 130000);
}

TEST(a_nul_in_the_command_is_refused)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};

    shell_fixture_init(&f);
    r = tool_call(&f.tools, &tool_bash, "{\"command\":\"echo safe\\u0000; touch ran\"}");
    assert_true(r.is_error);
    assert_str(strbuf_str(&r.text), "The command holds a NUL character, which no command can.");
}

TEST(the_longest_command_runs_and_a_longer_one_is_refused)
{
    AUTO(shell_fixture) struct shell_fixture f;
    AUTO(tool_result) struct tool_result r = {0};
    AUTO(strbuf) struct strbuf command = {0};

    shell_fixture_init(&f);
    strbuf_add_cstr(&command, "echo ok #");
    while (command.n < (128 << 10) - 1)
        strbuf_add_char(&command, 'x');
    assert_bash(&f, strbuf_cstr(&command), "ok\n");
    strbuf_add_char(&command, 'x');
    r = bash(&f, strbuf_cstr(&command));
    assert_true(r.is_error);
    assert_true(str_starts(strbuf_str(&r.text), S("The command is 131072 bytes long")));
}

RUN_TESTS(UNIT(a_command_starts_in_the_session_s_directory),
          UNIT(the_directory_is_kept_however_the_shell_ends),
          UNIT(the_directory_of_a_subshell_is_not_kept), UNIT(a_new_directory_is_told),
          UNIT(a_command_that_leaves_the_workspace_does_not_take_the_session_along),
          UNIT(an_added_directory_is_a_place_to_work_in),
          UNIT(a_command_that_removes_its_directory_says_so),
          UNIT(names_with_blanks_quotes_and_newlines_are_kept),
          UNIT(a_directory_that_was_reached_by_a_link_keeps_its_name),
          UNIT(a_command_with_an_exit_trap_of_its_own_runs_it_and_does_not_move),
          UNIT(files_that_a_command_opens_get_nothing_else),
          UNIT(a_directory_that_is_gone_is_a_failure_and_the_next_call_runs_in_the_workspace),
          UNIT(a_workspace_that_is_gone_is_a_failure),
          UNIT(a_directory_that_the_command_removed_is_not_kept),
          UNIT(a_command_that_stays_does_not_take_back_where_another_went_meanwhile),
          UNIT(a_command_prints_what_it_prints_in_a_bare_shell), UNIT(what_it_prints_is_the_result),
          UNIT(an_exit_code_other_than_zero_is_a_failure_and_comes_first),
          UNIT(an_exit_code_that_is_an_answer_is_no_error), UNIT(a_signal_is_named),
          UNIT(success_without_output_is_said), UNIT(output_and_errors_come_in_their_order),
          UNIT(there_is_nothing_to_read), UNIT(what_a_command_leaves_behind_ends_with_it),
          UNIT(a_time_out_keeps_what_was_printed_and_leaves_no_process),
          UNIT(what_a_command_says_when_it_is_ended_is_kept),
          UNIT(a_cancelled_call_leaves_no_process), UNIT(a_huge_output_is_kept_at_both_ends),
          UNIT(a_command_that_never_stops_printing_ends_by_its_time_out),
          UNIT(nuls_are_shown_and_bad_utf8_is_repaired), UNIT(a_person_sees_what_is_printed),
          UNIT(credentials_do_not_reach_the_command), UNIT(without_bash_there_is_sh),
          UNIT(another_shell_can_be_chosen_and_keeps_its_directory_too),
          UNIT(bash_in_posix_mode_keeps_its_directory_too), UNIT(a_shell_that_is_not_there_is_told),
          UNIT(commands_in_the_forms_of_other_agents_are_taken),
          UNIT(a_directory_of_one_call_is_not_that_of_the_next),
          UNIT(a_model_that_asks_to_leave_the_sandbox_reads_that_it_cannot),
          UNIT(a_time_out_over_ten_minutes_is_ten_minutes),
          UNIT(the_call_s_deadline_leaves_time_to_end_the_command),
          UNIT(a_nul_in_the_command_is_refused),
          UNIT(the_longest_command_runs_and_a_longer_one_is_refused))
