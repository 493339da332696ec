/* calls.h - calls of tools whose results are compared, for the tests of the file tools. */
#ifndef KEEL_TEST_UNIT_TOOL_CALLS_H
#define KEEL_TEST_UNIT_TOOL_CALLS_H

#include "files.h"
#include "fixture.h"
#include "tool/builtin.h"

#include <sched.h>
#include <stdatomic.h>

/* Calls the tool and wants exactly this text. */
static inline void assert_says_(struct tool_fixture *f, struct tool *t, const char *args,
                                const char *want, const char *file, int line)
{
    AUTO(tool_result) struct tool_result r = tool_call(f, t, args);

    assert_str_(strbuf_str(&r.text), want, file, line);
    if (r.is_error)
        _fail(file, line);
}
#define assert_says(f, t, args, want) assert_says_((f), (t), (args), (want), __FILE__, __LINE__)

static inline void assert_has_(struct str text, const char *part, const char *file, int line)
{
    if (str_find(text, str_of(part)) == STR_NONE) {
        print_error("want \"%s\" in\n    \"%" STR_FMT "\"\n", part, STR_ARG(text));
        _fail(file, line);
    }
}
#define assert_has(text, part) assert_has_((text), (part), __FILE__, __LINE__)

/* Calls the tool and wants a failure with this in its text. */
static inline void assert_fails_(struct tool_fixture *f, struct tool *t, const char *args,
                                 const char *part, const char *file, int line)
{
    AUTO(tool_result) struct tool_result r = tool_call(f, t, args);

    assert_has_(strbuf_str(&r.text), part, file, line);
    if (!r.is_error)
        _fail(file, line);
}
#define assert_fails(f, t, args, part) assert_fails_((f), (t), (args), (part), __FILE__, __LINE__)

/* Calls the tool and wants it to work; what it says does not matter. */
static inline void assert_works_(struct tool_fixture *f, struct tool *t, const char *args,
                                 const char *file, int line)
{
    AUTO(tool_result) struct tool_result r = tool_call(f, t, args);

    if (r.is_error) {
        print_error("%s\n", strbuf_cstr(&r.text));
        _fail(file, line);
    }
}
#define assert_works(f, t, args) assert_works_((f), (t), (args), __FILE__, __LINE__)

static inline void assert_file_(struct tool_fixture *f, const char *name, struct str want,
                                const char *file, int line)
{
    AUTO(strbuf) struct strbuf got = read_file(temp_path(&f->dir, name));

    if (!str_eq(strbuf_str(&got), want)) {
        print_error("want \"%" STR_FMT "\"\n got \"%s\"\n", STR_ARG(want), strbuf_cstr(&got));
        _fail(file, line);
    }
}
#define assert_file(f, name, want) assert_file_((f), (name), S(want), __FILE__, __LINE__)

static inline const struct json *file_state(const struct tool_fixture *f, const char *name)
{
    return tool_state_get(f->state, STATE_FILE, str_of(temp_path(&f->dir, name)));
}

/* A filter that hides one name, wherever it is. */
static inline bool hides_name(const void *self, struct str path, bool is_dir)
{
    size_t slash = str_rfind_char(path, '/');

    return str_is(str_skip(path, slash + 1), self);
}

/* --- cancelling --- */

/* A call that is cancelled while its worker is in the middle of it. */
struct cancelled_call {
    struct tool_fixture *fixture;
    struct tool *tool;
    const char *args;
    atomic_bool has_begun, may_go_on; /* for a filter that waits */
    enum err_kind code;
};

static inline bool waits_to_be_cancelled(const void *self, struct str path, bool is_dir)
{
    struct cancelled_call *c = (struct cancelled_call *)(uintptr_t)self;

    atomic_store(&c->has_begun, true);
    while (!atomic_load(&c->may_go_on))
        sched_yield();
    return false;
}

static inline struct err *call_it_(void *arg)
{
    struct cancelled_call *c = arg;
    AUTO(tool_result) struct tool_result r = tool_call_in_task(c->fixture, c->tool, c->args);

    c->code = r.is_error ? r.code : ERR_N_KINDS;
    return NULL;
}

static inline struct err *cancel_it_(void *arg)
{
    struct cancelled_call *c = arg;
    struct err *e = NULL;
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "call", call_it_, c);
    do
        e = task_yield();
    while (!e && !atomic_load(&c->has_begun));
    group_cancel(&g);
    atomic_store(&c->may_go_on, true);
    TRY(e);
    return group_end(&g);
}

#endif
