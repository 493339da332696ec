/* agents.c - many agents at rest: N live sessions open in one process, as `keel -p` opens one, each
 * after a turn. Prints what one holds: memory, descriptors, tasks, child processes.
 *
 *     bench-agents agents N PROMPT    what each is asked; the model is that of the environment
 *     bench-agents sessions N         the same conversations, opened again as bare sessions
 *
 * The first agents are not counted: what they load and make is for all. */
#include "bench.h"

#include "sdk/live_session.h"
#include "sys/loop.h"
#include "sys/scheduler.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define MODEL "anthropic/claude-sonnet-4-5"
#define N_FIRST 32 /* that are not counted */
#define N_AT_ONCE 16
#define REST_MS 3000

/* What the process holds. */
struct holding {
    long kib;
    int n_descriptors, n_children;
    unsigned n_tasks;
};

struct seat {
    struct live_session live;
    struct waker answered;
    struct err *error; /* of its turn */
};

struct bench {
    bool has_agents; /* else bare sessions */
    int n;
    const char *prompt;
    struct host *host;
    struct project *project;
    struct model_choice *model;
    struct seat *seats;
    int n_next, n_wanted, n_complete;
    struct holding before, after;
    long n_wakes;
    double seconds;
};

/* --- what a process holds --- */

static int count_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = -3; /* ".", ".." and its own */

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static int count_children(void)
{
    char path[64];
    FILE *file;
    int pid, n = 0;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "r");
    while (file && fscanf(file, "%d", &pid) == 1)
        n++;
    if (file)
        fclose(file);
    return n;
}

static struct holding look(void)
{
    return (struct holding){resident_kib(), count_descriptors(), count_children(),
                            task_loop()->n_tasks};
}

/* --- one agent --- */

static void on_answer(void *self, struct run_result *r)
{
    struct seat *s = self;

    s->error = TAKE(r->error);
    waker_wake(&s->answered);
}

static struct err *use_agent(struct bench *b, struct seat *s)
{
    struct message *prompt = message_new(ROLE_USER, S(""));

    message_add_text(prompt, str_of(b->prompt));
    waker_init(&s->answered);
    TRY(live_session_submit(&s->live, prompt, (struct str){0}));
    TRY(waker_park(&s->answered));
    return TAKE(s->error);
}

static struct err *use_some(void *arg)
{
    struct bench *b = arg;

    while (b->n_next < b->n_wanted) {
        struct seat *s = &b->seats[b->n_next++];

        TRY(live_session_open(
            &s->live, b->project,
            &(struct live_options){.agent = {.model = b->model, .mode = "bypassPermissions"},
                                   .face = {.on_end = on_answer, .self = s}}));
        TRY(use_agent(b, s));
        b->n_complete++;
    }
    return NULL;
}

/* --- all of them --- */

static struct err *open_agents(struct bench *b, int n)
{
    struct group g;

    b->n_wanted = b->n_next + n;
    group_begin(&g, 0, 0);
    for (int i = 0; i < N_AT_ONCE; i++)
        group_spawn(&g, "agents", use_some, b);
    TRY(group_end(&g));
    return task_sleep(REST_MS); /* what is still on its way ends */
}

static struct err *rest(struct bench *b)
{
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    TRY(task_sleep(REST_MS));
    getrusage(RUSAGE_SELF, &after);
    b->n_wakes = after.ru_nvcsw - before.ru_nvcsw;
    return NULL;
}

static struct err *measure(struct bench *b)
{
    double start;

    TRY(open_agents(b, N_FIRST));
    b->before = look();
    start = seconds();
    TRY(open_agents(b, b->n));
    b->seconds = seconds() - start - REST_MS / 1e3;
    b->after = look();
    return rest(b);
}

static struct err *run_agents(struct bench *b)
{
    struct err *e;

    b->seats = mem_alloc((size_t)(N_FIRST + b->n) * sizeof *b->seats);
    TRY(project_choose_model(b->project, MODEL, &b->model));
    e = measure(b);
    for (int i = 0; i < b->n_next; i++)
        live_session_done(&b->seats[i].live);
    return e;
}

/* --- bare sessions --- */

static struct err *open_sessions(struct bench *b, struct store *store, struct session *sessions)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary *items;
    size_t n;
    struct group *tasks = host_tasks(b->host);
    double start = seconds();

    TRY(store_list(store, &(struct store_list_query){0}, &a, &items, &n));
    for (size_t i = 0; i < n && b->n_next < N_FIRST + b->n; i++) {
        if (b->n_next == N_FIRST)
            b->before = look();
        TRY(session_open(&sessions[b->n_next++],
                         &(struct session_options){.store = store,
                                                   .start = SESSION_RESUME,
                                                   .id = items[i].id,
                                                   .cwd = str_of(b->project->place.cwd),
                                                   .tasks = tasks}));
    }
    b->n_complete = b->n_next;
    b->seconds = seconds() - start;
    TRY(task_sleep(REST_MS));
    b->after = look();
    return rest(b);
}

static struct err *run_sessions(struct bench *b)
{
    struct session *sessions = mem_alloc((size_t)(N_FIRST + b->n) * sizeof *sessions);
    struct store *store;
    bool is_kept;
    struct err *e;

    TRY(host_open_store(b->host, S(""), 0, &store, &is_kept));
    e = open_sessions(b, store, sessions);
    for (int i = 0; i < b->n_next; i++)
        session_done(&sessions[i]);
    host_close_store(b->host, store);
    mem_free(sessions);
    return e;
}

/* --- the program --- */

static struct err *run(void *arg)
{
    struct bench *b = arg;

    return b->has_agents ? run_agents(b) : run_sessions(b);
}

static struct err *run_project(struct bench *b)
{
    b->host = host_new(&(struct host_options){0});
    TRY(project_open(b->host, &(struct project_options){0}, &b->project));
    return loop_run_once(run, b);
}

static void print(const struct bench *b)
{
    const struct holding *was = &b->before, *is = &b->after;

    printf("{\"agents\":%d,\"complete\":%d,\"kib_each\":%.1f,\"resident_mib\":%.0f,"
           "\"descriptors\":%d,\"children\":%d,\"tasks\":%d,\"wakes\":%ld,\"idle_seconds\":%.0f,"
           "\"ms_each\":%.2f}\n",
           b->n, b->n_complete - N_FIRST, (double)(is->kib - was->kib) / b->n,
           (double)is->kib / 1024, is->n_descriptors - was->n_descriptors,
           is->n_children - was->n_children, (int)(is->n_tasks - was->n_tasks), b->n_wakes,
           REST_MS / 1e3, b->seconds * 1e3 / b->n);
}

int main(int argc, char **argv)
{
    struct bench b = {.has_agents = argc == 4};
    struct err *e;

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: %s agents N PROMPT\n       %s sessions N\n", argv[0], argv[0]);
        return EXIT_FAILURE;
    }
    b.n = atoi(argv[2]);
    b.prompt = argv[3];
    e = run_project(&b);
    model_choice_unref(b.model);
    project_unref(b.project);
    host_unref(b.host);
    mem_free(b.seats);
    if (e) {
        AUTO_FREE char *text = err_message(e);

        fprintf(stderr, "%s\n", text);
        err_free(e);
        return EXIT_FAILURE;
    }
    print(&b);
    return b.n_complete == b.n + N_FIRST ? EXIT_SUCCESS : EXIT_FAILURE;
}
