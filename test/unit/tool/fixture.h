/* fixture.h - runs one tool as the engine would: arguments checked, in a task, with a session.
 *
 *     AUTO(tool_fixture) struct tool_fixture f = tool_fixture_make();
 *     AUTO(tool_result) struct tool_result r = tool_call(&f, &tool_read, "{\"file_path\":\"a\"}");
 *
 * tool_call() runs a loop of its own. A test that needs several calls in one loop (background
 * commands) runs them in a task itself, with tool_call_in_task(). */
#ifndef KEEL_TEST_UNIT_TOOL_FIXTURE_H
#define KEEL_TEST_UNIT_TOOL_FIXTURE_H

#include "port/tool_set.h"
#include "sys/loop.h"
#include "temp_dir.h"

struct tool_fixture {
    struct temp_dir dir;
    struct tool_state *state; /* its cwd is the directory */
    struct tool_config config;
    struct tool_context context; /* change what a test needs */
};

static inline struct tool_fixture tool_fixture_make(void)
{
    struct tool_fixture f = {.dir = temp_dir_make()};

    f.state = tool_state_new(str_of(f.dir.path));
    f.context = (struct tool_context){
        .call_id = S("call_1"), .state = f.state, .launcher = &launcher_plain};
    return f;
}

static inline void tool_fixture_done(struct tool_fixture *f)
{
    tool_state_free(f->state);
    temp_dir_done(&f->dir);
}
DEFINE_AUTO_VAL(tool_fixture, tool_fixture_done)

/* The result; an error of the tool becomes a failed result, as it does in the engine. */
static inline struct tool_result tool_call_in_task(struct tool_fixture *f, struct tool *t,
                                                   const char *args_text)
{
    AUTO(tool_registry) struct tool_registry *registry = tool_registry_new();
    AUTO(tool_set) struct tool_set *set = NULL;
    AUTO(arena) struct arena a = {0};
    struct tool_context context = f->context;
    struct tool_result r;
    struct json *given, *args = NULL;
    struct tool copy = *t;
    struct err *e;

    copy.free = NULL;
    tool_result_init(&r);
    context.config = &f->config;
    assert_ok(tool_registry_add(registry, &copy, NULL));
    set = tool_registry_snapshot(registry);
    assert_ok(json_parse(&a, str_of(args_text), 0, &given));
    e = tool_entry_arguments(&set->entries[0], given, &a, &args);
    if (!e)
        e = t->run(t, &context, args, &r);
    if (e) {
        char *text = err_message(e);

        tool_result_fail(&r, "%s", text);
        r.code = e->kind;
        free(text);
        err_free(e);
    }
    return r;
}

struct tool_call_ {
    struct tool_fixture *fixture;
    struct tool *tool;
    const char *args;
    struct tool_result result;
};

static inline struct err *tool_call_task_(void *arg)
{
    struct tool_call_ *c = arg;

    c->result = tool_call_in_task(c->fixture, c->tool, c->args);
    return NULL;
}

static inline struct tool_result tool_call(struct tool_fixture *f, struct tool *t, const char *args)
{
    struct tool_call_ c = {.fixture = f, .tool = t, .args = args};

    assert_ok(loop_run_once(tool_call_task_, &c));
    return c.result;
}

#endif
