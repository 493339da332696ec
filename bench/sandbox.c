/* sandbox.c - what a sandbox adds to the start of /bin/true, in microseconds (medians).
 *
 * The ways take turns, so that a busy machine is as unfair to one as to the others. The last one is
 * an agent's: with a policy that is made anew for each command, by a rule with a pattern. Its first
 * command, which looks at the whole workspace, is told apart, and so are those that change it: a
 * shell that makes a file and removes it. */
#include "bench.h"

#include "sdk/sandbox/agent_sandbox.h"
#include "sys/loop.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_ROUNDS = 300, BARE = 0, SUPERVISED, NAMESPACES, LANDLOCK, AGENT, WRITER, N_WAYS };

static const char *const names[N_WAYS] = {"bare",     "supervised", "namespaces",
                                          "landlock", "agent",      "writer"};

struct bench {
    struct arena arena;
    struct sandbox_policy policy;
    struct sandbox sandboxes[2];
    struct agent_sandbox agent;
    struct permission_rules rules;
    char keel_home[4096]; /* where the agent keeps its baseline */
    double first;
    double took[N_WAYS][N_ROUNDS];
};

static struct err *start(struct bench *b, int way, struct proc **ret_proc)
{
    static const char *const idle[] = {"/bin/true", NULL};
    static const char *const writer[] = {"/bin/sh", "-c", "echo >made; rm made", NULL};
    struct proc_spec spec = {.argv = way == WRITER ? writer : idle,
                             .stdin_kind = PROC_STDIN_INHERIT};

    spec.stdout_kind = PROC_STDOUT_INHERIT;
    spec.supervised = way == SUPERVISED;
    if (way < NAMESPACES)
        return proc_spawn(&spec, ret_proc);
    if (way >= AGENT)
        return launcher_start(&b->agent.launcher, &spec, ret_proc);
    return launcher_start(&b->sandboxes[way - NAMESPACES].launcher, &spec, ret_proc);
}

static struct err *run_once(struct bench *b, int way)
{
    AUTO(strbuf) struct strbuf notes = {0};
    struct proc_status status;
    struct proc *p = NULL;

    TRY(start(b, way, &p));
    TRY(proc_wait(p, &status));
    proc_free(p);
    if (way >= AGENT)
        return launcher_ended(&b->agent.launcher, &notes);
    return way < NAMESPACES ? NULL : sandbox_command_ended(&b->sandboxes[way - NAMESPACES], &notes);
}

static int double_cmp(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static struct err *run_rounds(struct bench *b)
{
    double start_s = seconds();

    TRY(run_once(b, AGENT));
    b->first = (seconds() - start_s) * 1e6;
    for (int i = 0; i < N_ROUNDS; i++)
        for (int way = 0; way < N_WAYS; way++) {
            double begin = seconds();

            TRY(run_once(b, way));
            b->took[way][i] = (seconds() - begin) * 1e6;
        }
    return NULL;
}

static struct err *run(void *arg)
{
    struct bench *b = arg;
    struct err *e;

    agent_sandbox_init(&b->agent,
                       &(struct agent_sandbox_options){.source = {.workspace = b->policy.workspace,
                                                                  .home = b->policy.home,
                                                                  .keel_home = b->keel_home,
                                                                  .rules = &b->rules}});
    e = run_rounds(b);
    agent_sandbox_done(&b->agent);
    return e;
}

static struct err *set_up(struct bench *b, char tmp_dir[4096], char workspace[PATH_MAX])
{
    b->policy.workspace = getcwd(workspace, PATH_MAX);
    b->policy.home = getenv("HOME");
    b->policy.hidden = sandbox_secret_places(&b->arena, b->policy.home, NULL, &b->policy.n_hidden);
    TRY(sandbox_protected_places(&b->arena, workspace, &b->policy.read_only,
                                 &b->policy.n_read_only));
    TRY(sandbox_make_tmp(tmp_dir));
    TRY(sandbox_make_tmp(b->keel_home));
    b->policy.tmp_dir = tmp_dir;
    sandbox_init(&b->sandboxes[0], &b->policy);
    b->policy.no_namespaces = true;
    sandbox_init(&b->sandboxes[1], &b->policy);
    return NULL;
}

int main(void)
{
    static struct bench b;
    const struct str deny[] = {S("Read(.env)"), S("Read(**/*.pem)")};
    static char tmp_dir[4096], workspace[PATH_MAX];
    AUTO(err) struct err *e = set_up(&b, tmp_dir, workspace);

    b.rules = (struct permission_rules){.deny = deny, .n_deny = ARRAY_LEN(deny)};
    if (!e)
        e = loop_run_once(run, &b);
    sandbox_remove_tmp(tmp_dir);
    sandbox_remove_tmp(b.keel_home);
    if (e) {
        fprintf(stderr, "%s\n", e->text);
        return EXIT_FAILURE;
    }
    for (int way = 0; way < N_WAYS; way++) {
        qsort(b.took[way], N_ROUNDS, sizeof b.took[way][0], double_cmp);
        printf("%s\"%s_us\":%.0f", way ? "," : "{", names[way], b.took[way][N_ROUNDS / 2]);
    }
    printf(",\"first_us\":%.0f}\n", b.first);
    return EXIT_SUCCESS;
}
