/* sandbox.c - what a sandbox adds to the start of /bin/true, in microseconds (medians).
 *
 * The ways take turns, so that a busy machine is as unfair to one as to the others. */
#include "bench.h"

#include "sandbox/sandbox.h"
#include "sys/loop.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_ROUNDS = 300, N_WAYS = 4 };

static const char *const names[N_WAYS] = {"bare", "supervised", "namespaces", "landlock"};

struct bench {
    struct arena arena;
    struct sandbox_policy policy;
    struct sandbox sandboxes[2];
    double took[N_WAYS][N_ROUNDS];
};

static struct err *start(struct bench *b, int way, struct proc **ret_proc)
{
    static const char *const argv[] = {"/bin/true", NULL};
    struct proc_spec spec = {.argv = argv, .stdin_kind = PROC_STDIN_INHERIT};

    spec.stdout_kind = PROC_STDOUT_INHERIT;
    spec.supervised = way == 1;
    if (way < 2)
        return proc_spawn(&spec, ret_proc);
    return launcher_start(&b->sandboxes[way - 2].launcher, &spec, ret_proc);
}

static struct err *run_once(struct bench *b, int way)
{
    AUTO(strbuf) struct strbuf notes = {0};
    struct proc_status status;
    struct proc *p = NULL;

    TRY(start(b, way, &p));
    TRY(proc_wait(p, &status));
    proc_free(p);
    return way < 2 ? NULL : sandbox_command_ended(&b->sandboxes[way - 2], &notes);
}

static int double_cmp(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static struct err *run(void *arg)
{
    struct bench *b = arg;

    for (int i = 0; i < N_ROUNDS; i++)
        for (int way = 0; way < N_WAYS; way++) {
            double begin = seconds();

            TRY(run_once(b, way));
            b->took[way][i] = (seconds() - begin) * 1e6;
        }
    return NULL;
}

static struct err *set_up(struct bench *b, char tmp_dir[4096], char workspace[PATH_MAX])
{
    b->policy.workspace = getcwd(workspace, PATH_MAX);
    b->policy.home = getenv("HOME");
    b->policy.hidden = sandbox_secret_places(&b->arena, b->policy.home, NULL, &b->policy.n_hidden);
    TRY(sandbox_protected_places(&b->arena, workspace, &b->policy.read_only,
                                 &b->policy.n_read_only));
    TRY(sandbox_make_tmp(tmp_dir));
    b->policy.tmp_dir = tmp_dir;
    sandbox_init(&b->sandboxes[0], &b->policy);
    b->policy.no_namespaces = true;
    sandbox_init(&b->sandboxes[1], &b->policy);
    return NULL;
}

int main(void)
{
    static struct bench b;
    static char tmp_dir[4096], workspace[PATH_MAX];
    AUTO(err) struct err *e = set_up(&b, tmp_dir, workspace);

    if (!e)
        e = loop_run_once(run, &b);
    sandbox_remove_tmp(tmp_dir);
    if (e) {
        fprintf(stderr, "%s\n", e->text);
        return EXIT_FAILURE;
    }
    for (int way = 0; way < N_WAYS; way++) {
        qsort(b.took[way], N_ROUNDS, sizeof b.took[way][0], double_cmp);
        printf("%s\"%s_us\":%.0f", way ? "," : "{", names[way], b.took[way][N_ROUNDS / 2]);
    }
    printf("}\n");
    return EXIT_SUCCESS;
}
