/* shell_test.c - what the tools for commands are made of, and commands in the background. */
#include "base/utf8.h"
#include "tool/shell/background.h"
#include "tool/shell/command.h"
#include "tool/shell/exit_code.h"
#include "tool/shell/output.h"
#include "tool/shells.h"

/* --- tail --- */

TEST(a_tail_keeps_the_last_bytes_whatever_their_portions)
{
    for (size_t portion = 1; portion <= 25; portion++) {
        AUTO(tail) struct tail t;
        AUTO(strbuf) struct strbuf all = {0}, kept = {0};

        tail_init(&t, 10);
        for (int i = 0; i < 7; i++) {
            for (size_t j = 0; j < portion; j++)
                strbuf_add_char(&all, (char)('a' + (all.n % 26)));
            tail_add(&t, str_skip(strbuf_str(&all), all.n - portion));
        }
        tail_copy(&t, 0, &kept);
        assert_int_equal(t.end, all.n);
        assert_int_equal(tail_start(&t), all.n > 10 ? all.n - 10 : 0);
        assert_str(strbuf_str(&kept), strbuf_cstr(&all) + tail_start(&t));
    }
}

TEST(a_tail_is_copied_from_a_position_on)
{
    AUTO(tail) struct tail t;
    AUTO(strbuf) struct strbuf kept = {0};

    tail_init(&t, 8);
    tail_add(&t, S("0123456789"));
    tail_copy(&t, 6, &kept);
    assert_str(strbuf_str(&kept), "6789");
    strbuf_clear(&kept);
    tail_copy(&t, 10, &kept);
    tail_copy(&t, 99, &kept);
    assert_int_equal(kept.n, 0);
}

TEST(a_tail_takes_no_more_memory_than_it_needs)
{
    AUTO(tail) struct tail t;

    tail_init(&t, 1 << 20);
    tail_add(&t, S("few bytes"));
    assert_true(t.room < 10000);
}

/* --- output --- */

struct text_call {
    const struct output *output;
    struct strbuf *out;
};

static struct err *make_text(void *arg)
{
    struct text_call *c = arg;

    return output_add_text(c->output, c->out);
}

static void add_text(const struct output *o, struct strbuf *out)
{
    struct text_call c = {o, out};

    assert_ok(loop_run_once(make_text, &c));
}

static void fill(struct output *o, char c, size_t n)
{
    AUTO_FREE char *bytes = mem_alloc(n);

    memset(bytes, c, n);
    output_add(o, str_make(bytes, n));
}

TEST(a_character_across_head_and_tail_is_whole_when_nothing_is_missing)
{
    AUTO(output) struct output o;
    AUTO(strbuf) struct strbuf text = {0};

    output_init(&o);
    fill(&o, 'x', OUTPUT_MAX_BYTES / 2 - 1);
    output_add(&o, S("\xC3\xA9."));
    add_text(&o, &text);
    assert_int_equal(text.n, OUTPUT_MAX_BYTES / 2 + 2);
    assert_true(str_ends(strbuf_str(&text), S("x\xC3\xA9.")));
}

TEST(characters_that_were_cut_are_left_out)
{
    AUTO(output) struct output o;
    AUTO(strbuf) struct strbuf text = {0};

    output_init(&o);
    fill(&o, 'x', OUTPUT_MAX_BYTES / 2 - 1);
    output_add(&o, S("\xC3\xA9"));     /* half of it ends the head */
    output_add(&o, S("\xE2\x82\xAC")); /* the last byte of this begins the tail */
    fill(&o, 'y', OUTPUT_MAX_BYTES / 2 - 1);
    add_text(&o, &text);
    assert_true(utf8_is_valid(strbuf_str(&text)));
    assert_int_not_equal(
        str_find(strbuf_str(&text), S("x\n... [3 bytes of output left out] ...\nyyy")), STR_NONE);
    assert_int_equal(str_find(strbuf_str(&text), S("\xEF\xBF\xBD")), STR_NONE);
}

static void assert_clean(struct str bytes, const char *wanted)
{
    AUTO(strbuf) struct strbuf text = {0};

    output_add_clean(&text, bytes);
    assert_str(strbuf_str(&text), wanted);
}

TEST(nuls_are_shown_and_bad_bytes_repaired)
{
    assert_clean(S("\0\0a\0b\xFF\0c\xC3\xA9\0"), "␀␀a␀b\xEF\xBF\xBD␀c\xC3\xA9␀");
    assert_clean(S("a\0\0\0\0\0b"), "a␀␀␀␀[5 NUL bytes]b");
}

TEST(a_line_that_was_written_over_is_shown_as_it_was_at_last)
{
    assert_clean(S("10 %\r20 %\r100 %\ndone\n"), "100 %\ndone\n");
    assert_clean(S("10 %\r20 %\r"), "20 %");
    assert_clean(S("10 %\r20 %\r\n"), "20 %\r\n");
    assert_clean(S("\r     \rReady.\n"), "Ready.\n");
    assert_clean(S("one\r\ntwo\r\n"), "one\r\ntwo\r\n");
    assert_clean(S("\r\n\r\n"), "\r\n\r\n");
    assert_clean(S("\n\n"), "\n\n");
}

/* --- exit codes --- */

TEST(exit_codes_that_are_answers)
{
    static const struct {
        const char *command, *meaning;
    } cases[] = {
        {"grep -r x .", "nothing matches"},
        {"cat f | grep x", "nothing matches"},
        {"cd src; LC_ALL=C grep -c 'a; b' f", "nothing matches"},
        {"git -C x status; git grep foo", "nothing matches"},
        {"diff a b", "they differ"},
        {"test -e f", "the condition is false"},
        {"[ -e f ]", "the condition is false"},
        {"command -v cargo", "it is not there"},
        {"cd no && grep x f", "nothing matches"},
        {"diff <(sort a | uniq) <(sort b; echo)", "they differ"},
        {"grep \"$(cat x; pwd)\" f", "nothing matches"},
        {"(cd x; test -e f)", "the condition is false"},
        {"grep x f | head", NULL},
        {"grepper x", NULL},
        {"make", NULL},
        {"echo 'x | grep y", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *meaning = exit_code_meaning(str_of(cases[i].command), 1, S(""));

        if (!cases[i].meaning != !meaning || (meaning && strcmp(meaning, cases[i].meaning) != 0))
            fail_msg("%s: %s", cases[i].command, meaning ? meaning : "(failed)");
    }
    assert_null(exit_code_meaning(S("grep x f"), 2, S("")));
    assert_null(exit_code_meaning(S("grep x f"), 0, S("")));
    assert_null(exit_code_meaning(S("make && grep x f"), 1, S("make: error\n")));
    assert_null(exit_code_meaning(S("cd a && make && grep x f"), 1, S("make: error\n")));
    assert_null(exit_code_meaning(S("cd no && grep -c x f"), 1,
                                  S("bash: line 1: cd: no: No such file or directory\n")));
    assert_non_null(exit_code_meaning(S("cd src && grep -c x f"), 1, S("0\n")));
}

/* --- progress --- */

static void note(void *self, struct str text)
{
    strbuf_addf(self, "[%" STR_FMT "]", STR_ARG(text));
}

TEST(progress_is_shown_at_once_and_then_now_and_then)
{
    AUTO(strbuf) struct strbuf shown = {0};
    struct tool_context c = {.on_progress = note, .progress_self = &shown};
    struct shell_progress p = {.context = &c};

    progress_add(&p, S("one "), 1000);
    assert_int_equal(progress_wait_ms(&p, 1000), UINT64_MAX);
    progress_add(&p, S("two "), 1001);
    progress_add(&p, S("three "), 1030);
    assert_str(strbuf_str(&shown), "[one ]");
    assert_int_equal(progress_wait_ms(&p, 1030), 70);
    progress_show(&p, 1100);
    assert_str(strbuf_str(&shown), "[one ][two three ]");
    progress_add(&p, S("four"), 1200);
    assert_str(strbuf_str(&shown), "[one ][two three ][four]");
}

TEST(progress_shows_the_newest_when_there_is_too_much)
{
    AUTO(strbuf) struct strbuf shown = {0};
    struct tool_context c = {.on_progress = note, .progress_self = &shown};
    struct shell_progress p = {.context = &c};
    char many[5000];

    progress_add(&p, S("x"), 0);
    strbuf_clear(&shown);
    memset(many, 'a', sizeof many);
    progress_add(&p, str_make(many, sizeof many), 1);
    progress_add(&p, S("the end"), 2);
    progress_show(&p, 3);
    assert_int_equal(shown.n, sizeof p.newest + 2);
    assert_true(str_ends(strbuf_str(&shown), S("aathe end]")));
}

TEST(progress_waits_for_the_rest_of_a_character)
{
    AUTO(strbuf) struct strbuf shown = {0};
    struct tool_context c = {.on_progress = note, .progress_self = &shown};
    struct shell_progress p = {.context = &c};

    progress_add(&p, S("caf\xC3"), 0);
    progress_add(&p, S("\xA9"), 1);
    progress_show(&p, 2);
    assert_str(strbuf_str(&shown), "[caf][\xC3\xA9]");
}

/* --- which commands may move --- */

TEST(plain_words_without_a_builtin_that_moves_stay)
{
    static const char *const commands[] = {
        "true", "ls -la src/x.c", "git log --format=%h", "make -j8 all", "exec ls", "./run.sh a:b",
        "",     "cp a.b c.d"};

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (command_may_move(str_of(commands[i])))
            fail_msg("asks for nothing: %s", commands[i]);
}

TEST(whatever_could_run_cd_may_move)
{
    static const char *const commands[] = {
        "cd x",    "time cd x", "command cd x", "pushd x", "popd",       "source x",  ". x",
        "x\ncd y", "c\\d x",    "c''d x",       "$x y",    "`x`",        "eval x",    "c* x",
        "true;x",  "a|b",       "x & y",        "{ x",     "x > y",      "x # y",     "x\ty",
        "~ x",     "!x",        "(x)",          "c[d] x",  "builtin cd", "c\xC3\xA9", "c?",
    };

    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (!command_may_move(str_of(commands[i])))
            fail_msg("does not ask: %s", commands[i]);
    assert_true(command_may_move(S("a\0b")));
}

/* --- in the background --- */

/* A test whose body is a task with a session and a group for what outlives a call. */
struct session_task {
    struct shell_fixture f;
    struct group tasks;
    struct err *(*body)(struct session_task *t);
    char changes[4096]; /* of shell:ID, one a line */
};

static void note_change(void *self, struct str key, const struct json *value)
{
    struct session_task *t = self;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf line = {0};
    struct json *copy;

    if (!str_starts(key, S("shell:")))
        return;
    copy = json_copy(&a, value);
    if (json_remove(copy, S("pid")))
        strbuf_addf(&line, "%" STR_FMT " ", STR_ARG(key));
    json_write(&line, copy);
    snprintf(t->changes + strlen(t->changes), sizeof t->changes - strlen(t->changes), "%s\n",
             strbuf_cstr(&line));
}

static struct err *run_session(void *arg)
{
    struct session_task *t = arg;
    struct err *e, *end_error;

    group_begin(&t->tasks, 0, GROUP_KEEP_GOING);
    tool_state_set_tasks(t->f.tools.state, &t->tasks);
    e = t->body(t);
    group_cancel(&t->tasks);
    end_error = group_end(&t->tasks);
    if (e || err_is(end_error, ERR_CANCELLED)) {
        err_ignore(end_error, "it was cancelled here, or there is a better one");
        end_error = NULL;
    }
    return e ? e : end_error;
}

static void run_in_session(struct err *(*body)(struct session_task *t))
{
    struct session_task t = {.body = body};

    shell_fixture_init(&t.f);
    tool_state_listen(t.f.tools.state, (struct state_listener){note_change, &t});
    assert_ok(run_on_clock(&t.f, run_session, &t));
    assert_int_equal(count_left(&t.f), 0);
    shell_fixture_done(&t.f);
}

#define SESSION_TEST(name)                                                                         \
    static struct err *name##_in_session(struct session_task *t);                                  \
    TEST(name)                                                                                     \
    {                                                                                              \
        run_in_session(name##_in_session);                                                         \
    }                                                                                              \
    static struct err *name##_in_session(struct session_task *t)

/* Calls a tool and gives its text, which lives in a ring of four. */
static const char *call(struct session_task *t, struct tool *tool, const char *args)
{
    static char texts[4][4096];
    static unsigned next;
    AUTO(tool_result) struct tool_result r = tool_call_in_task(&t->f.tools, tool, args);
    char *text = texts[next++ % 4];

    snprintf(text, sizeof texts[0], "%s%s", r.is_error ? "failed: " : "", strbuf_cstr(&r.text));
    return text;
}

static const char *start(struct session_task *t, const char *command)
{
    AUTO(strbuf) struct strbuf args = {0};

    strbuf_add_cstr(&args, "{\"run_in_background\":true,\"command\":");
    json_write_string(&args, str_of(command));
    strbuf_add_char(&args, '}');
    return call(t, &tool_bash, strbuf_cstr(&args));
}

static const char *read_new(struct session_task *t, const char *id)
{
    char args[64];

    snprintf(args, sizeof args, "{\"bash_id\":\"%s\"}", id);
    return call(t, &tool_bash_output, args);
}

static const char *kill_it(struct session_task *t, const char *id)
{
    char args[64];

    snprintf(args, sizeof args, "{\"shell_id\":\"%s\"}", id);
    return call(t, &tool_kill_shell, args);
}

static struct shell *find(struct session_task *t, const char *id)
{
    return background_find(t->f.tools.state, str_of(id));
}

static struct err *wait_for_end(struct session_task *t, const char *id)
{
    while (shell_state(find(t, id)) == SHELL_RUNNING)
        TRY(task_yield());
    return NULL;
}

/* Until so many bytes are there to be read. */
static struct err *wait_for_bytes(struct session_task *t, const char *id, size_t n)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    uint64_t n_lost, end;

    while (bytes.n < n) {
        TRY(task_yield());
        strbuf_clear(&bytes);
        shell_peek(find(t, id), &bytes, &n_lost, &end);
    }
    return NULL;
}

#define EXPECT_SAME(got, wanted)                                                                   \
    do {                                                                                           \
        const char *got_ = (got);                                                                  \
        if (strcmp(got_, wanted) != 0)                                                             \
            return err_new(ERR_INTERNAL, "%s:%d:\nwanted \"%s\"\ngot \"%s\"", __FILE__, __LINE__,  \
                           wanted, got_);                                                          \
    } while (0)

#define STARTED(id)                                                                                \
    "Runs in the background as " id ". You are told when it ends; until then read what it prints " \
    "with BashOutput, or end it with KillShell."

SESSION_TEST(a_background_command_is_read_while_it_runs)
{
    EXPECT_SAME(call(t, &tool_bash, "{\"command\":\"mkfifo go\"}"),
                "(the command succeeded and printed nothing)");
    EXPECT_SAME(start(t, "echo one; read line < go; echo two; sleep 1000"), STARTED("bash_1"));
    TRY(wait_for_bytes(t, "bash_1", 4));
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: running\none\n");
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: running\n(no new output)");
    EXPECT_SAME(call(t, &tool_bash, "{\"command\":\"echo > go\"}"),
                "(the command succeeded and printed nothing)");
    TRY(wait_for_bytes(t, "bash_1", 4));
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: running\ntwo\n");
    return NULL;
}

SESSION_TEST(a_background_command_that_ends_tells_how)
{
    EXPECT_SAME(start(t, "echo done; exit 3"), STARTED("bash_1"));
    TRY(wait_for_end(t, "bash_1"));
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: ended with exit code 3\ndone\n");
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: ended with exit code 3\n(no new output)");
    EXPECT_SAME(t->changes, "shell:bash_1 {\"command\":\"echo done; exit 3\",\"call\":\"call_1\","
                            "\"state\":\"running\",\"seen\":false}\n"
                            "shell:bash_1 {\"command\":\"echo done; exit 3\",\"call\":\"call_1\","
                            "\"state\":\"ended\",\"exitCode\":3,\"seen\":false}\n"
                            "shell:bash_1 {\"command\":\"echo done; exit 3\",\"call\":\"call_1\","
                            "\"state\":\"ended\",\"exitCode\":3,\"seen\":true}\n");
    return NULL;
}

/* The clock moves when something is printed. */
SESSION_TEST(a_command_that_takes_too_long_goes_on_in_the_background)
{
    call(t, &tool_bash, "{\"command\":\"mkfifo go\"}");
    t->f.jump_ms = 120000;
    EXPECT_SAME(
        call(t, &tool_bash, "{\"command\":\"echo one; read line < go; echo two; exit 3\"}"),
        "one\n(Still running after 120 s. It continues in the background as bash_1. You are "
        "told when it ends; until then read what it prints with BashOutput, or end it with "
        "KillShell.)\n");
    EXPECT(shell_state(find(t, "bash_1")) == SHELL_RUNNING);
    call(t, &tool_bash, "{\"command\":\"echo > go\"}");
    TRY(wait_for_end(t, "bash_1"));
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: ended with exit code 3\ntwo\n");
    return NULL;
}

SESSION_TEST(a_command_with_a_time_out_of_its_own_is_ended_by_it)
{
    t->f.jump_ms = 120000;
    EXPECT(strstr(call(t, &tool_bash, "{\"command\":\"echo one; sleep 1000\",\"timeout\":120000}"),
                  "failed: one\n(tool failed: timeout) The command was ended after 120 s."));
    EXPECT(!find(t, "bash_1") && count_left(&t->f) == 0);
    return NULL;
}

SESSION_TEST(a_command_that_takes_too_long_is_ended_where_nothing_outlives_its_call)
{
    tool_state_set_tasks(t->f.tools.state, NULL);
    t->f.jump_ms = 120000;
    EXPECT(strstr(call(t, &tool_bash, "{\"command\":\"echo one; sleep 1000\"}"),
                  "failed: one\n(tool failed: timeout) The command was ended after 120 s."));
    EXPECT(count_left(&t->f) == 0);
    return NULL;
}

SESSION_TEST(killing_ends_the_tree_and_keeps_what_was_printed)
{
    EXPECT_SAME(start(t, "trap 'echo bye; exit 1' TERM; setsid sleep 1000 & echo up; "
                         "while :; do sleep 1000 & wait; done"),
                STARTED("bash_1"));
    TRY(wait_for_bytes(t, "bash_1", 3));
    EXPECT(count_left(&t->f) > 2);
    EXPECT_SAME(kill_it(t, "bash_1"), "bash_1: killed with exit code 1\n"
                                      "What it printed before can still be read with BashOutput.");
    EXPECT(count_left(&t->f) == 0);
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: killed with exit code 1\nup\nbye\n");
    EXPECT(strstr(t->changes, "\"state\":\"killed\",\"exitCode\":1,\"seen\":true}\n"));
    return NULL;
}

SESSION_TEST(a_signal_is_told)
{
    start(t, "sleep 1000");
    EXPECT_SAME(kill_it(t, "bash_1"), "bash_1: killed by SIGTERM\n"
                                      "What it printed before can still be read with BashOutput.");
    EXPECT(
        strstr(t->changes, "\"state\":\"killed\",\"exitCode\":143,\"signal\":15,\"seen\":true}\n"));
    return NULL;
}

SESSION_TEST(killing_what_has_ended_says_so)
{
    start(t, "true");
    TRY(wait_for_end(t, "bash_1"));
    EXPECT_SAME(kill_it(t, "bash_1"), "It had already ended. bash_1: ended with exit code 0\n"
                                      "What it printed before can still be read with BashOutput.");
    return NULL;
}

static struct err *kill_first(void *arg)
{
    struct session_task *t = arg;

    EXPECT(strncmp(kill_it(t, "bash_1"), "bash_1: killed", 14) == 0);
    return NULL;
}

SESSION_TEST(several_may_kill_one_at_once)
{
    struct group g;

    start(t, "sleep 1000");
    group_begin(&g, 0, 0);
    group_spawn(&g, "first", kill_first, t);
    group_spawn(&g, "second", kill_first, t);
    return group_end(&g);
}

SESSION_TEST(a_filter_gives_only_the_lines_that_match)
{
    start(t, "echo keep 1; echo drop; echo KEEP; printf 'keep 2'");
    TRY(wait_for_end(t, "bash_1"));
    EXPECT_SAME(call(t, &tool_bash_output, "{\"bash_id\":\"bash_1\",\"filter\":\"^k.*[0-9]$\"}"),
                "bash_1: ended with exit code 0\nkeep 1\nkeep 2");
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: ended with exit code 0\n(no new output)");
    return NULL;
}

SESSION_TEST(a_filter_waits_for_the_end_of_a_line)
{
    start(t, "printf 'a1\\na'; sleep 1000");
    TRY(wait_for_bytes(t, "bash_1", 4));
    EXPECT_SAME(call(t, &tool_bash_output, "{\"bash_id\":\"bash_1\",\"filter\":\"a\"}"),
                "bash_1: running\na1\n");
    EXPECT_SAME(call(t, &tool_bash_output, "{\"bash_id\":\"bash_1\",\"filter\":\"b\"}"),
                "bash_1: running\n(no new line matches the filter)");
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: running\na");
    return NULL;
}

SESSION_TEST(a_filter_that_is_no_expression_uses_nothing_up)
{
    const char *text;

    start(t, "echo here");
    TRY(wait_for_end(t, "bash_1"));
    text = call(t, &tool_bash_output, "{\"bash_id\":\"bash_1\",\"filter\":\"(\"}");
    EXPECT(strstr(text, "failed: the pattern \"(\" is not a regular expression"));
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: ended with exit code 0\nhere\n");
    return NULL;
}

SESSION_TEST(a_filter_that_runs_away_is_stopped)
{
    const char *text;

    start(t, "head -c 30000 /dev/zero | tr '\\0' a");
    TRY(wait_for_end(t, "bash_1"));
    text = call(t, &tool_bash_output, "{\"bash_id\":\"bash_1\",\"filter\":\"^(a+)+[bc]$\"}");
    EXPECT(strncmp(text, "failed: ", 8) == 0);
    return NULL;
}

SESSION_TEST(output_that_nobody_reads_is_lost_from_the_front_and_counted)
{
    AUTO(tool_result) struct tool_result r = {0};

    start(t, "head -c 1500000 /dev/zero | tr '\\0' x; echo end");
    TRY(wait_for_end(t, "bash_1"));
    r = tool_call_in_task(&t->f.tools, &tool_bash_output, "{\"bash_id\":\"bash_1\"}");
    EXPECT(str_starts(strbuf_str(&r.text), S("bash_1: ended with exit code 0\n"
                                             "... [451428 bytes of older output lost] ...\nxxx")));
    EXPECT(str_ends(strbuf_str(&r.text), S("xxxend\n")));
    EXPECT(json_int_or(json_get(r.details, "lostBytes"), 0) == 1500004 - (1 << 20));
    return NULL;
}

SESSION_TEST(an_id_that_is_not_known_is_a_failure_that_lists_the_others)
{
    start(t, "sleep 1000");
    start(t, "exit 2");
    TRY(wait_for_end(t, "bash_2"));
    EXPECT_SAME(
        read_new(t, "bash_7"),
        "failed: There is no background command \"bash_7\". Known commands: bash_1 (running), "
        "bash_2 (ended with exit code 2).");
    EXPECT_SAME(kill_it(t, "x"),
                "failed: There is no background command \"x\". Known commands: bash_1 "
                "(running), bash_2 (ended with exit code 2).");
    return NULL;
}

SESSION_TEST(without_any_an_id_is_not_known)
{
    EXPECT_SAME(read_new(t, "bash_1"), "failed: There is no background command \"bash_1\". None "
                                       "was started in this run.");
    return NULL;
}

SESSION_TEST(ids_go_on_after_those_of_an_earlier_run)
{
    AUTO(arena) struct arena a = {0};

    tool_state_restore(t->f.tools.state, S("shell:bash_4"), json_new(&a, JSON_OBJECT));
    EXPECT_SAME(
        read_new(t, "bash_4"),
        "failed: There is no background command \"bash_4\". It belonged to an earlier run; it has "
        "ended, and its output is gone. None was started in this run.");
    EXPECT_SAME(start(t, "true"), STARTED("bash_5"));
    return NULL;
}

SESSION_TEST(arguments_have_the_other_tool_s_names_too)
{
    start(t, "exit 1");
    TRY(wait_for_end(t, "bash_1"));
    EXPECT_SAME(call(t, &tool_bash_output, "{\"shell_id\":\"bash_1\"}"),
                "bash_1: ended with exit code 1\n(no new output)");
    EXPECT_SAME(call(t, &tool_kill_shell, "{\"bash_id\":\"bash_1\"}"),
                "It had already ended. bash_1: ended with exit code 1\n"
                "What it printed before can still be read with BashOutput.");
    return NULL;
}

SESSION_TEST(only_so_many_run_at_once)
{
    const char *text;

    for (int i = 0; i < BACKGROUND_MAX_RUNNING; i++)
        EXPECT(strncmp(start(t, "sleep 1000"), "Runs in", 7) == 0);
    text = start(t, "sleep 1000");
    EXPECT(strstr(text, "failed: 16 commands are already running in the background. End one with "
                        "KillShell first. Known commands: bash_1 (running), bash_2"));
    kill_it(t, "bash_3");
    EXPECT_SAME(start(t, "sleep 1000"), STARTED("bash_17"));
    return NULL;
}

SESSION_TEST(the_oldest_that_have_ended_are_forgotten)
{
    start(t, "sleep 1000");
    for (int i = 2; i <= 66; i++) {
        char id[32];

        snprintf(id, sizeof id, "bash_%d", i);
        start(t, "true");
        TRY(wait_for_end(t, id));
    }
    EXPECT(find(t, "bash_1") && !find(t, "bash_2") && !find(t, "bash_3") && find(t, "bash_4"));
    EXPECT(strstr(read_new(t, "bash_2"), "It belonged to an earlier run"));
    return NULL;
}

SESSION_TEST(a_cancelled_session_leaves_no_process)
{
    start(t, "setsid sleep 1000 & echo up; sleep 1000");
    start(t, "yes");
    TRY(wait_for_bytes(t, "bash_1", 3));
    EXPECT(count_left(&t->f) > 2);
    group_cancel(&t->tasks);
    TRY(wait_for_end(t, "bash_1"));
    TRY(wait_for_end(t, "bash_2"));
    EXPECT(count_left(&t->f) == 0);
    EXPECT(kill(shell_pid(find(t, "bash_1")), 0) < 0);
    EXPECT_SAME(read_new(t, "bash_1"), "bash_1: killed\nup\n");
    return NULL;
}

SESSION_TEST(a_command_that_cannot_be_started_is_not_listed)
{
    t->f.tools.config.shell = S("/no/such/shell");
    EXPECT(strstr(start(t, "true"), "failed: cannot run /no/such/shell"));
    EXPECT_SAME(read_new(t, "bash_1"), "failed: There is no background command \"bash_1\". None "
                                       "was started in this run.");
    return NULL;
}

SESSION_TEST(without_a_group_there_is_no_background)
{
    tool_state_set_tasks(t->f.tools.state, NULL);
    EXPECT_SAME(start(t, "true"),
                "failed: Commands cannot run in the background here. Run it without "
                "run_in_background.");
    return NULL;
}

RUN_TESTS(
    UNIT(a_tail_keeps_the_last_bytes_whatever_their_portions),
    UNIT(a_tail_is_copied_from_a_position_on), UNIT(a_tail_takes_no_more_memory_than_it_needs),
    UNIT(a_character_across_head_and_tail_is_whole_when_nothing_is_missing),
    UNIT(characters_that_were_cut_are_left_out), UNIT(nuls_are_shown_and_bad_bytes_repaired),
    UNIT(a_line_that_was_written_over_is_shown_as_it_was_at_last),
    UNIT(exit_codes_that_are_answers), UNIT(progress_is_shown_at_once_and_then_now_and_then),
    UNIT(progress_shows_the_newest_when_there_is_too_much),
    UNIT(progress_waits_for_the_rest_of_a_character),
    UNIT(plain_words_without_a_builtin_that_moves_stay), UNIT(whatever_could_run_cd_may_move),
    UNIT(a_background_command_is_read_while_it_runs),
    UNIT(a_background_command_that_ends_tells_how),
    UNIT(a_command_that_takes_too_long_goes_on_in_the_background),
    UNIT(a_command_with_a_time_out_of_its_own_is_ended_by_it),
    UNIT(a_command_that_takes_too_long_is_ended_where_nothing_outlives_its_call),
    UNIT(killing_ends_the_tree_and_keeps_what_was_printed), UNIT(a_signal_is_told),
    UNIT(killing_what_has_ended_says_so), UNIT(several_may_kill_one_at_once),
    UNIT(a_filter_gives_only_the_lines_that_match), UNIT(a_filter_waits_for_the_end_of_a_line),
    UNIT(a_filter_that_is_no_expression_uses_nothing_up), UNIT(a_filter_that_runs_away_is_stopped),
    UNIT(output_that_nobody_reads_is_lost_from_the_front_and_counted),
    UNIT(an_id_that_is_not_known_is_a_failure_that_lists_the_others),
    UNIT(without_any_an_id_is_not_known), UNIT(ids_go_on_after_those_of_an_earlier_run),
    UNIT(arguments_have_the_other_tool_s_names_too), UNIT(only_so_many_run_at_once),
    UNIT(the_oldest_that_have_ended_are_forgotten), UNIT(a_cancelled_session_leaves_no_process),
    UNIT(a_command_that_cannot_be_started_is_not_listed),
    UNIT(without_a_group_there_is_no_background))
