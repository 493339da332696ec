/* notices.c - what it costs a command that its changes are reported before they are made.
 *
 * The start of /bin/true, which changes nothing, and 4,000 files, each made, written and removed,
 * without an observer and with one that only counts. The ways take turns, and of each the fastest
 * tenth counts: the difference is small, and the rest is what else the machine does. As
 * `bench-notices make` it is the command that makes the files. */
#include "bench.h"

#include "sandbox/sandbox.h"
#include "sys/loop.h"
#include "sys/write_observer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { N_ROUNDS = 300, N_FILE_ROUNDS = 9, N_FILES = 4000, N_WAYS = 4 };

static const char *const names[N_WAYS] = {"namespaces", "namespaces_observed", "landlock",
                                          "landlock_observed"};

struct counter {
    struct write_observer observer;
    size_t n_notices;
};

static void counter_about_to(struct write_observer *o, const struct write_notice *notice)
{
    ((struct counter *)o)->n_notices++;
}

static void counter_missed(struct write_observer *o, const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(EXIT_FAILURE);
}

static void counter_free(struct write_observer *o)
{
}

struct notices_bench {
    struct sandbox sandboxes[2];
    struct counter counter;
    double took[N_WAYS][N_ROUNDS];
};

static struct err *run_once(struct notices_bench *b, int way, const char *const *argv)
{
    struct sandbox *s = &b->sandboxes[way / 2];
    AUTO(strbuf) struct strbuf notes = {0};
    struct proc_spec spec = {.argv = argv, .stdout_kind = PROC_STDOUT_INHERIT};
    struct proc_status status;
    struct proc *p = NULL;

    spec.observer = way % 2 ? &b->counter.observer : NULL;
    TRY(launcher_start(&s->launcher, &spec, &p));
    TRY(proc_wait(p, &status));
    proc_free(p);
    if (!status.exited || status.exit_code)
        return err_new(ERR_INTERNAL, "%s failed", argv[0]);
    return sandbox_command_ended(s, &notes);
}

static int double_cmp(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

/* Prints what the fastest tenth took at most, in microseconds. */
static struct err *run_rounds(struct notices_bench *b, int n_rounds, const char *what,
                              const char *const *argv)
{
    for (int i = 0; i < n_rounds; i++)
        for (int way = 0; way < N_WAYS; way++) {
            double begin = seconds();

            TRY(run_once(b, way, argv));
            b->took[way][i] = (seconds() - begin) * 1e6;
        }
    for (int way = 0; way < N_WAYS; way++) {
        qsort(b->took[way], (size_t)n_rounds, sizeof b->took[way][0], double_cmp);
        printf("\"%s_%s_us\":%.0f,", names[way], what, b->took[way][n_rounds / 10]);
    }
    return NULL;
}

static struct err *run(void *arg)
{
    static const char *const nothing[] = {"/bin/true", NULL};
    static char self[PATH_MAX];
    const char *const files[] = {self, "make", NULL};
    struct notices_bench *b = arg;

    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return err_new(ERR_INTERNAL, "this program has no name");
    TRY(run_rounds(b, N_ROUNDS, "true", nothing));
    b->counter.n_notices = 0;
    TRY(run_rounds(b, N_FILE_ROUNDS, "files", files));
    printf("\"n_files\":%d,\"n_notices\":%zu}\n", N_FILES,
           b->counter.n_notices / (2 * N_FILE_ROUNDS));
    return NULL;
}

/* New each time: what was there is removed before. */
static int make_files(void)
{
    char name[32];

    for (int i = 0; i < N_FILES; i++) {
        int fd;

        snprintf(name, sizeof name, "file%d", i);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (fd < 0 || write(fd, name, strlen(name)) < 0 || close(fd) < 0)
            return EXIT_FAILURE;
    }
    for (int i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof name, "file%d", i);
        unlink(name);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    static struct notices_bench b = {.counter = {.observer = {.about_to = counter_about_to,
                                                              .missed = counter_missed,
                                                              .free = counter_free,
                                                              .n_refs = 1}}};
    static char tmp_dir[4096], workspace[PATH_MAX];
    struct sandbox_policy policy = {.workspace = getcwd(workspace, sizeof workspace),
                                    .tmp_dir = tmp_dir};
    AUTO(err) struct err *e = NULL;

    if (argc > 1)
        return make_files();
    e = sandbox_make_tmp(tmp_dir);
    sandbox_init(&b.sandboxes[0], &policy);
    policy.no_namespaces = true;
    sandbox_init(&b.sandboxes[1], &policy);
    printf("{");
    if (!e)
        e = loop_run_once(run, &b);
    sandbox_done(&b.sandboxes[0]);
    sandbox_done(&b.sandboxes[1]);
    sandbox_remove_tmp(tmp_dir);
    if (e)
        fprintf(stderr, "%s\n", e->text);
    return e ? EXIT_FAILURE : EXIT_SUCCESS;
}
