/* proxy_command_test.c - commands of one session and the proxy that they share. */
#include "sandbox/box.h"

#include "net/lookup.h"
#include "net/server.h"
#include "sandbox/proxy/proxy.h"

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n"

static const struct server_script greeting = {.response = {ANSWER, sizeof ANSWER - 1}};

/* Every name is this machine. */
static struct err *look_up(struct lookup *l)
{
    snprintf(l->addresses[l->n++], sizeof l->addresses[0], "127.0.0.1");
    return task_yield();
}

struct net {
    struct net_rules rules;
    struct group group;
    struct proxy *proxy;
    struct server *server;
};

static struct err *net_begin(struct net *n, struct box *b)
{
    *n = (struct net){.server = server_start(server_play, (void *)&greeting)};
    group_begin(&n->group, 0, GROUP_KEEP_GOING);
    n->proxy = proxy_new(
        &(struct proxy_options){.rules = &n->rules, .group = &n->group, .look_up = look_up});
    b->policy.network = SANDBOX_PROXY_ONLY;
    b->policy.proxy = n->proxy;
    return net_rules_add(&b->arena, &n->rules, NET_ALLOW_PRIVATE,
                         arena_format(&b->arena, "good.test:%d", server_port(n->server)));
}

static void net_end(struct net *n)
{
    group_cancel(&n->group);
    err_ignore(group_end(&n->group), "it was cancelled");
    proxy_free(n->proxy);
    server_stop(n->server);
}

/* A test with a box b and a net n. */
#define NET_TEST(name)                                                                             \
    static struct err *name##_with_net(struct box *b, struct net *n);                              \
    BOX_TEST(name)                                                                                 \
    {                                                                                              \
        struct net n;                                                                              \
        struct err *e = net_begin(&n, b);                                                          \
                                                                                                   \
        if (!e)                                                                                    \
            e = name##_with_net(b, &n);                                                            \
        net_end(&n);                                                                               \
        return e;                                                                                  \
    }                                                                                              \
    static struct err *name##_with_net(struct box *b, struct net *n)

static const char *fetch(struct box *b, const struct net *n)
{
    return arena_format(&b->arena, "curl -sS http://good.test:%d/", server_port(n->server)).p;
}

NET_TEST(every_command_of_a_session_finds_the_proxy)
{
    for (int i = 0; i < 3; i++) {
        TRY(box_run(b, fetch(b, n)));
        EXPECT_OUTPUT(b->out, "hello\n");
    }
    EXPECT(server_n_requests(n->server) == 3);
    return NULL;
}

struct running {
    struct box *box;
    const char *script;
    bool is_fine;
};

static struct err *run_one(void *arg)
{
    struct running *r = arg;
    AUTO(proc_output) struct proc_output output = {0};
    AUTO(strbuf) struct strbuf notes = {0};
    struct proc_spec spec = box_spec(r->box, SHELL(r->script));
    struct proc *p = NULL;

    TRY(launcher_start(&r->box->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    r->is_fine = output_is(&output.out, "hello\n");
    return sandbox_command_ended(&r->box->sandbox, &notes);
}

/* None has a network yet, so each makes one; all of them are served. */
NET_TEST(commands_that_are_the_first_at_the_same_time_find_it_too)
{
    struct running running[4] = {0};
    struct group g;

    TRY(box_open(b));
    group_begin(&g, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(running); i++) {
        running[i] = (struct running){.box = b, .script = fetch(b, n)};
        group_spawn(&g, "command", run_one, &running[i]);
    }
    TRY(group_end(&g));
    for (size_t i = 0; i < ARRAY_LEN(running); i++)
        EXPECT(running[i].is_fine);
    return NULL;
}

NET_TEST(a_command_in_the_background_keeps_its_way_out)
{
    const char *script = arena_format(&b->arena, "read go; %s", fetch(b, n)).p;
    struct proc_spec spec = box_spec(b, SHELL(script));
    AUTO(proc_output) struct proc_output output = {0};
    struct proc *background = NULL;

    spec.stdin_kind = PROC_STDIN_PIPE;
    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &background));
    TRY(box_run(b, fetch(b, n)));
    EXPECT_OUTPUT(b->out, "hello\n");
    TRY(proc_write(background, S("go\n")));
    proc_close_stdin(background);
    TRY(proc_collect(background, 60000, &output));
    proc_free(background);
    EXPECT_OUTPUT(output.out, "hello\n");
    return sandbox_command_ended(&b->sandbox, &b->notes);
}

NET_TEST(another_host_is_refused)
{
    TRY(box_run(b, arena_format(&b->arena, "curl -sS http://other.test:%d/; %s",
                                server_port(n->server), fetch(b, n))
                       .p));
    EXPECT(has_text(&b->out, "keel: commands may not connect to other.test:"));
    EXPECT(str_ends(strbuf_str(&b->out), S("hello\n")));
    return NULL;
}

NET_TEST(a_command_with_variables_of_its_own_gets_those_of_the_proxy)
{
    static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                              "https_proxy=http://me:secret@proxy.corp:8080",
                                              "NO_PROXY=*", NULL};
    AUTO(proc_output) struct proc_output output = {0};
    struct proc_spec spec = box_spec(b, SHELL("env | grep -i -e proxy= -e secret | sort"));
    struct proc *p = NULL;

    spec.environment = environment;
    TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    EXPECT(has_text(&output.out, "https_proxy=http://127.0.0.1:3128\n"));
    EXPECT(has_text(&output.out, "NO_PROXY=localhost,127.0.0.1,::1\n"));
    EXPECT(str_find(strbuf_str(&output.out), S("corp")) == STR_NONE);
    EXPECT(server_n_requests(n->server) == 0);
    return sandbox_command_ended(&b->sandbox, &b->notes);
}

NET_TEST(without_namespaces_no_command_runs)
{
    b->policy.no_namespaces = true;
    EXPECT_ERR(box_run(b, "echo ran"), ERR_SANDBOX);
    EXPECT(server_n_requests(n->server) == 0);
    return NULL;
}

RUN_TESTS(WAY(every_command_of_a_session_finds_the_proxy, with_namespaces),
          WAY(commands_that_are_the_first_at_the_same_time_find_it_too, with_namespaces),
          WAY(a_command_in_the_background_keeps_its_way_out, with_namespaces),
          WAY(another_host_is_refused, with_namespaces),
          WAY(a_command_with_variables_of_its_own_gets_those_of_the_proxy, with_namespaces),
          WAY(without_namespaces_no_command_runs, with_namespaces))
