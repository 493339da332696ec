/* shells.h - what the tests of commands share: a clock that output moves, a small environment, and
 * a mark in it by which all that comes of a command is found. */
#ifndef KEEL_TEST_UNIT_TOOL_SHELLS_H
#define KEEL_TEST_UNIT_TOOL_SHELLS_H

#include "sys/procs.h"
#include "tool/builtin.h"
#include "tool/fixture.h"

struct shell_fixture {
    struct tool_fixture tools;
    struct virtual_clock clock;
    const char *environment[8]; /* room for a test's own */
    char mark[64], path[4200];
    struct strbuf progress; /* all that was shown */
    uint64_t jump_ms;       /* how far the clock goes when something is shown first */
};

static inline void shell_fixture_on_progress(void *self, struct str text)
{
    struct shell_fixture *f = self;

    strbuf_add(&f->progress, text);
    f->clock.now_ms += f->jump_ms;
    f->jump_ms = 0;
}

/* In the caller's memory, since the tools point into it. */
static inline void shell_fixture_init(struct shell_fixture *f)
{
    static int n_marks;

    *f = (struct shell_fixture){.tools = tool_fixture_make()};
    virtual_clock_init(&f->clock, 0);
    snprintf(f->mark, sizeof f->mark, "TEST_MARK=%d.%d", (int)getpid(), n_marks++);
    snprintf(f->path, sizeof f->path, "PATH=%s", getenv("PATH"));
    f->environment[0] = f->mark;
    f->environment[1] = f->path;
    f->tools.config.environment = f->environment;
    f->tools.context.on_progress = shell_fixture_on_progress;
    f->tools.context.progress_self = f;
}

static inline void shell_fixture_done(struct shell_fixture *f)
{
    strbuf_done(&f->progress);
    tool_fixture_done(&f->tools);
}
DEFINE_AUTO_VAL(shell_fixture, shell_fixture_done)

static inline int count_left(const struct shell_fixture *f)
{
    return count_processes(has_mark, f->mark);
}

/* {"command": ..., more}; `more` begins with a comma or is empty. */
static inline struct tool_result bash_in_task(struct shell_fixture *f, const char *command,
                                              const char *more)
{
    AUTO(strbuf) struct strbuf args = {0};

    strbuf_add_cstr(&args, "{\"command\":");
    json_write_string(&args, str_of(command));
    strbuf_addf(&args, "%s}", more);
    return tool_call_in_task(&f->tools, &tool_bash, strbuf_cstr(&args));
}

struct bash_call {
    struct shell_fixture *fixture;
    const char *command, *more;
    struct tool_result result;
};

static inline struct err *bash_call_task(void *arg)
{
    struct bash_call *c = arg;

    c->result = bash_in_task(c->fixture, c->command, c->more);
    return NULL;
}

static inline struct err *run_on_clock(struct shell_fixture *f, task_fn fn, void *arg)
{
    AUTO(loop) struct loop *l = loop_new(&f->clock.clock);

    return loop_run(l, fn, arg);
}

static inline struct tool_result bash_with(struct shell_fixture *f, const char *command,
                                           const char *more)
{
    struct bash_call c = {f, command, more};

    assert_ok(run_on_clock(f, bash_call_task, &c));
    return c.result;
}

static inline struct tool_result bash(struct shell_fixture *f, const char *command)
{
    return bash_with(f, command, "");
}

/* Runs it and compares what the model reads. */
#define assert_bash(f, command, wanted)                                                            \
    do {                                                                                           \
        AUTO(tool_result) struct tool_result result_ = bash(f, command);                           \
        assert_str(strbuf_str(&result_.text), wanted);                                             \
    } while (0)

#endif
