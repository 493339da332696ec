/* box.h - a workspace, a home and a place outside, and commands run in a sandbox there. */
#ifndef KEEL_TEST_UNIT_SANDBOX_BOX_H
#define KEEL_TEST_UNIT_SANDBOX_BOX_H

#include "files.h"
#include "sandbox/sandbox.h"
#include "sys/procs.h"

struct box {
    struct temp_dir dir;     /* below /tmp or TMPDIR: hidden from commands but for what is theirs */
    struct temp_dir outside; /* elsewhere: may be read */
    const char *programs;    /* that were built beside the test, perhaps in a hidden place */
    struct sandbox_policy policy;
    struct sandbox sandbox;
    struct arena arena;
    struct strbuf out;   /* of the last command, both streams */
    struct strbuf notes; /* after it */
    int exit_code;
};

static const struct sandbox_policy with_namespaces = {0};
static const struct sandbox_policy without_namespaces = {.no_namespaces = true};

#define BOTH_WAYS(t) WAY(t, with_namespaces), WAY(t, without_namespaces)

/* A test whose body is a task with a box, named b. */
#define BOX_TEST(name)                                                                             \
    static struct err *name##_in_box(struct box *b);                                               \
    static struct err *name##_in_task(void *way)                                                   \
    {                                                                                              \
        struct box b;                                                                              \
        struct err *e = box_init(&b, way);                                                         \
                                                                                                   \
        if (!e)                                                                                    \
            e = name##_in_box(&b);                                                                 \
        box_done(&b);                                                                              \
        return e;                                                                                  \
    }                                                                                              \
    TEST(name)                                                                                     \
    {                                                                                              \
        assert_ok(loop_run_once(name##_in_task, *state));                                          \
    }                                                                                              \
    static struct err *name##_in_box(struct box *b)

static inline const char *box_path(struct box *b, const char *name)
{
    return fs_join(&b->arena, b->dir.path, name);
}

static inline const char *box_outside(struct box *b, const char *name)
{
    return fs_join(&b->arena, b->outside.path, name);
}

static inline bool has_namespaces(const struct box *b)
{
    return !b->policy.no_namespaces;
}

static inline struct err *put_file(const char *path, const char *text)
{
    AUTO_FREE char *above = mem_strdup(path);

    *strrchr(above, '/') = 0;
    TRY(fs_make_dirs(above, 0755));
    return fs_write_atomic(path, str_of(text), 0644);
}

static inline struct err *box_init(struct box *b, const struct sandbox_policy *policy)
{
    *b = (struct box){.policy = *policy};
    b->dir = temp_dir_make();
    snprintf(b->outside.path, sizeof b->outside.path, "/var/tmp/keel-test-XXXXXX");
    if (!mkdtemp(b->outside.path))
        return err_new(ERR_INTERNAL, "cannot make a directory in /var/tmp");
    TRY(put_file(box_path(b, "home/.ssh/id"), "the key\n"));
    TRY(put_file(box_path(b, "home/notes"), "notes\n"));
    TRY(put_file(box_path(b, "ws/file"), "text\n"));
    TRY(put_file(box_path(b, "tmp/.keep"), ""));
    TRY(put_file(box_outside(b, "file"), "theirs\n"));
    b->policy.workspace = box_path(b, "ws");
    b->policy.tmp_dir = box_path(b, "tmp");
    b->policy.home = box_path(b, "home");
    b->programs = arena_cstr(&b->arena, str_of(dirname((char *)helper("x"))));
    b->policy.visible = &b->programs;
    b->policy.n_visible = 1;
    b->policy.hidden = sandbox_secret_places(&b->arena, b->policy.home, NULL, &b->policy.n_hidden);
    return NULL;
}

static inline void box_done(struct box *b)
{
    if (b->sandbox.launcher.start)
        sandbox_done(&b->sandbox);
    strbuf_done(&b->out);
    strbuf_done(&b->notes);
    arena_done(&b->arena);
    temp_dir_done(&b->dir);
    temp_dir_done(&b->outside);
}

/* Starts anew; what was changed in the policy counts from now on. */
static inline struct err *box_open(struct box *b)
{
    if (b->sandbox.launcher.start)
        sandbox_done(&b->sandbox);
    sandbox_init(&b->sandbox, &b->policy);
    return NULL;
}

static inline struct proc_spec box_spec(struct box *b, const char *const *argv)
{
    static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C", NULL};

    return (struct proc_spec){
        .argv = argv, .environment = environment, .cwd = b->policy.workspace, .merge_stderr = true};
}

/* Runs a script in the workspace to its end, and looks after it. */
static inline struct err *box_run(struct box *b, const char *script)
{
    struct proc_output output = {0};
    struct proc_spec spec = box_spec(b, SHELL(script));
    struct proc *p = NULL;

    if (!b->sandbox.launcher.start)
        TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    strbuf_done(&b->out);
    strbuf_done(&output.err);
    b->out = output.out;
    b->exit_code = output.status.exited ? output.status.exit_code : -1;
    strbuf_clear(&b->notes);
    return sandbox_command_ended(&b->sandbox, &b->notes);
}

static inline bool file_is(const char *path, const char *text)
{
    AUTO(strbuf) struct strbuf got = {0};
    AUTO(err) struct err *e = fs_read(path, &got, NULL);

    return !e && str_is(strbuf_str(&got), text);
}

static inline bool has_text(const struct strbuf *b, const char *text)
{
    if (str_find(strbuf_str(b), str_of(text)) != STR_NONE)
        return true;
    print_error("want \"%s\"\n in \"%" STR_FMT "\"\n", text, STR_ARG(strbuf_str(b)));
    return false;
}

#endif
