/* agents.c - many agents at rest: N of them open in one process, as `keel -p` opens one, each after
 * a turn. Prints what one holds: memory, descriptors, tasks, child processes.
 *
 *     bench-agents agents N PROMPT    what each is asked; the model is that of the environment
 *     bench-agents sessions N         the same conversations, opened again as bare sessions
 *
 * The first agents are not counted: what they load and make is for all. */
#include "bench.h"

#include "sdk/agent.h"
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

struct bench {
    bool has_agents; /* else bare sessions */
    int n;
    const char *prompt;
    struct host *host;
    struct project *project;
    struct model_choice *model;
    struct group group;
    struct chan *slots; /* holds something for each agent that is at work */
    struct waker **parked;
    int n_parked, n_complete;
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

static struct err *ask(struct agent *a, const char *prompt)
{
    AUTO(message) struct message *input = message_new(ROLE_USER, S(""));
    AUTO(run_result) struct run_result result = {0};
    struct run_input given = {.prompt = input};

    message_add_text(input, str_of(prompt));
    TRY(agent_run(a, &given, &result));
    return TAKE(result.error);
}

static struct err *park(struct bench *b)
{
    struct waker waker;
    void *slot;

    waker_init(&waker);
    b->parked[b->n_parked++] = &waker;
    chan_try_receive(b->slots, &slot);
    return waker_park(&waker);
}

static struct err *use_agent(struct bench *b)
{
    AUTO(agent) struct agent agent = {0};

    TRY(agent_open(&agent, b->project,
                   &(struct agent_options){.model = b->model, .mode = "bypassPermissions"}));
    TRY(ask(&agent, b->prompt));
    b->n_complete++;
    return park(b);
}

static struct err *agent_task(void *arg)
{
    struct bench *b = arg;

    TRY(chan_send(b->slots, b));
    return use_agent(b);
}

/* --- all of them --- */

static struct err *wait_for(struct bench *b, int n)
{
    while (b->n_parked < n)
        TRY(task_sleep(5));
    return task_sleep(REST_MS); /* what is still on its way ends */
}

static struct err *open_agents(struct bench *b, int n)
{
    for (int i = 0; i < n; i++)
        group_spawn(&b->group, "agent", agent_task, b);
    return wait_for(b, b->n_parked + n);
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

    TRY(project_choose_model(b->project, MODEL, &b->model));
    b->slots = chan_new(N_AT_ONCE);
    group_begin(&b->group, 0, 0);
    e = measure(b);
    for (int i = 0; i < b->n_parked; i++)
        waker_wake(b->parked[i]);
    if (e)
        group_cancel(&b->group);
    err_ignore(e ? group_end(&b->group) : NULL, "the first error says why");
    if (!e)
        e = group_end(&b->group);
    chan_free(b->slots);
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
    for (size_t i = 0; i < n && b->n_parked < N_FIRST + b->n; i++) {
        if (b->n_parked == N_FIRST)
            b->before = look();
        TRY(session_open(&sessions[b->n_parked++],
                         &(struct session_options){.store = store,
                                                   .start = SESSION_RESUME,
                                                   .id = items[i].id,
                                                   .cwd = str_of(b->project->place.cwd),
                                                   .tasks = tasks}));
    }
    b->n_complete = b->n_parked;
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
    for (int i = 0; i < b->n_parked; i++)
        session_done(&sessions[i]);
    host_close_store(b->host, store);
    mem_free(sessions);
    return e;
}

/* --- the program --- */

static void allow_files(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

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
    b.parked = mem_alloc((size_t)(N_FIRST + b.n) * sizeof(struct waker *));
    allow_files();
    e = run_project(&b);
    model_choice_unref(b.model);
    project_unref(b.project);
    host_unref(b.host);
    mem_free(b.parked);
    if (e) {
        AUTO_FREE char *text = err_message(e);

        fprintf(stderr, "%s\n", text);
        err_free(e);
        return EXIT_FAILURE;
    }
    print(&b);
    return b.n_complete == b.n + N_FIRST ? EXIT_SUCCESS : EXIT_FAILURE;
}
