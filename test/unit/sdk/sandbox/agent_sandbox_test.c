/* agent_sandbox_test.c - what an agent's commands hold while none runs. */
#include "files.h"
#include "net/server.h"
#include "sdk/sandbox/agent_sandbox.h"
#include "sys/procs.h"

#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n"

static const struct server_script greeting = {.response = {ANSWER, sizeof ANSWER - 1}};
static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL};

struct world {
    struct temp_dir dir;
    struct arena arena;
    struct server *server;
    struct permission_rules rules;
    struct net_rules network;
    struct agent_sandbox sandbox;
};

static struct err *world_begin(struct world *w)
{
    *w = (struct world){.dir = temp_dir_make(),
                        .server = server_start(server_play, (void *)&greeting)};
    put(&w->dir, "ws/file", "text\n");
    put(&w->dir, "home/", "");
    agent_sandbox_init(
        &w->sandbox,
        &(struct agent_sandbox_options){
            .source = {.workspace = arena_cstr(&w->arena, str_of(temp_path(&w->dir, "ws"))),
                       .home = arena_cstr(&w->arena, str_of(temp_path(&w->dir, "home"))),
                       .rules = &w->rules},
            .network = &w->network,
            .environment = environment});
    return net_rules_add(&w->arena, &w->network, NET_ALLOW_PRIVATE,
                         arena_format(&w->arena, "127.0.0.1:%d", server_port(w->server)));
}

static void world_end(struct world *w)
{
    agent_sandbox_done(&w->sandbox);
    server_stop(w->server);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}

/* A test whose body is a task with a world, named w. */
#define WORLD_TEST(name)                                                                           \
    static struct err *name##_in_world(struct world *w);                                           \
    static struct err *name##_in_task(void *unused)                                                \
    {                                                                                              \
        struct world w;                                                                            \
        struct err *e = world_begin(&w);                                                           \
                                                                                                   \
        if (!e)                                                                                    \
            e = name##_in_world(&w);                                                               \
        world_end(&w);                                                                             \
        return e;                                                                                  \
    }                                                                                              \
    TEST(name)                                                                                     \
    {                                                                                              \
        assert_ok(loop_run_once(name##_in_task, NULL));                                            \
    }                                                                                              \
    static struct err *name##_in_world(struct world *w)

static struct err *start(struct world *w, const char *script, struct proc **ret_proc)
{
    struct proc_spec spec = {.argv = SHELL(script),
                             .environment = environment,
                             .cwd = w->sandbox.options.source.workspace,
                             .stdin_kind = PROC_STDIN_PIPE,
                             .merge_stderr = true};

    return launcher_start(&w->sandbox.launcher, &spec, ret_proc);
}

static struct err *finish(struct world *w, struct proc *take_proc, const char *output)
{
    AUTO(proc_output) struct proc_output got = {0};
    AUTO(strbuf) struct strbuf notes = {0};

    proc_close_stdin(take_proc);
    TRY(proc_collect(take_proc, 60000, &got));
    proc_free(take_proc);
    EXPECT_OUTPUT(got.out, output);
    return launcher_ended(&w->sandbox.launcher, &notes);
}

static struct err *run(struct world *w, const char *script, const char *output)
{
    struct proc *p = NULL;

    TRY(start(w, script, &p));
    return finish(w, p, output);
}

/* But for those of processes that have ended and are reaped meanwhile. */
static size_t count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    char to[PATH_MAX];
    size_t n = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir))) {
        ssize_t length = readlinkat(dirfd(dir), entry->d_name, to, sizeof to);

        n += length > 0 && !str_is(str_make(to, (size_t)length), "anon_inode:[pidfd]");
    }
    closedir(dir);
    return n;
}

static struct err *rest(struct world *w)
{
    EXPECT(agent_sandbox_rest(&w->sandbox));
    while (w->sandbox.proxy_tasks.n_live)
        TRY(task_yield());
    return NULL;
}

WORLD_TEST(at_rest_it_has_no_descriptor)
{
    size_t n_first;

    TRY(run(w, "echo first", "first\n"));
    TRY(rest(w));
    n_first = count_descriptors();
    TRY(run(w, "echo again", "again\n"));
    EXPECT(count_descriptors() > n_first);
    TRY(rest(w));
    EXPECT(count_descriptors() == n_first);
    return NULL;
}

WORLD_TEST(after_a_rest_commands_find_their_way_out_again)
{
    const char *fetch =
        arena_format(&w->arena, "curl -sS http://127.0.0.1:%d/", server_port(w->server)).p;

    TRY(run(w, fetch, "hello\n"));
    TRY(rest(w));
    TRY(run(w, fetch, "hello\n"));
    EXPECT(server_n_requests(w->server) == 2);
    return NULL;
}

WORLD_TEST(it_does_not_rest_while_a_command_runs)
{
    struct proc *p = NULL;

    TRY(start(w, "read go; echo $go", &p));
    EXPECT(!agent_sandbox_rest(&w->sandbox));
    TRY(proc_write(p, S("there\n")));
    TRY(finish(w, p, "there\n"));
    EXPECT(agent_sandbox_rest(&w->sandbox));
    return NULL;
}

RUN_TESTS(UNIT(at_rest_it_has_no_descriptor), UNIT(after_a_rest_commands_find_their_way_out_again),
          UNIT(it_does_not_rest_while_a_command_runs))
