/* parked.c - many sessions at rest: N of them open in one process, each after a turn with three
 * tool rounds, kept in one SQLite file of the directory that is given. Prints what one holds in
 * memory, and how often the process wakes up while nothing happens. */
#include "bench.h"
#include "rounds_model.h"

#include "session/session.h"
#include "store/sqlite.h"
#include "sys/loop.h"

#include <stdlib.h>
#include <sys/resource.h>

#define N_AT_ONCE 64
#define REST_MS 3000

struct bench {
    int n_sessions;
    struct session *sessions;
    struct store *store;
    struct run_plan plan;
    struct group tasks; /* of all sessions */
    int n_next, n_complete;
    long before_kib, parked_kib;
    long n_wakes;
    double cpu_ms;
};

static struct err *run_tool(const struct tool *t, struct tool_context *c, const struct json *args,
                            struct tool_result *result)
{
    tool_result_addf(result, "%0*d", RESULT_BYTES, 0);
    return NULL;
}

static const struct run_plan *get_plan(void *self)
{
    return &((struct bench *)self)->plan;
}

static struct err *use_one(struct bench *b, struct session *s)
{
    struct gate gate = {rounds_judge};
    AUTO(message) struct message *input = message_new(ROLE_USER, S("input"));
    AUTO(run_result) struct run_result result;

    message_add_text(input, S("Hold on, please."));
    TRY(session_open(
        s, &(struct session_options){.store = b->store, .cwd = S("/"), .tasks = &b->tasks}));
    session_run(s, &(struct run_input){.prompt = input},
                &(struct run_kit){
                    .plan = get_plan, .plan_self = b, .gate = &gate, .max_rounds = RUN_UNLIMITED},
                &result);
    b->n_complete += result.outcome == RUN_DONE && result.n_tools_executed == N_ROUNDS;
    return NULL;
}

static struct err *use_some(void *arg)
{
    struct bench *b = arg;

    while (b->n_next < b->n_sessions)
        TRY(use_one(b, &b->sessions[b->n_next++]));
    return NULL;
}

static struct err *use_all(struct bench *b)
{
    struct group g;

    group_begin(&g, 0, 0);
    for (int i = 0; i < N_AT_ONCE; i++)
        group_spawn(&g, "sessions", use_some, b);
    return group_end(&g);
}

static double cpu_ms_of(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e3 +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e3;
}

/* All threads; the sleep itself is one of them. */
static struct err *rest(struct bench *b)
{
    struct rusage before, after;

    TRY(task_sleep(REST_MS)); /* what is still on its way ends */
    getrusage(RUSAGE_SELF, &before);
    TRY(task_sleep(REST_MS));
    getrusage(RUSAGE_SELF, &after);
    b->n_wakes = after.ru_nvcsw - before.ru_nvcsw;
    b->cpu_ms = cpu_ms_of(&after) - cpu_ms_of(&before);
    return NULL;
}

static struct err *run_all(void *arg)
{
    struct bench *b = arg;
    struct err *e;

    group_begin(&b->tasks, 0, GROUP_KEEP_GOING);
    b->before_kib = resident_kib();
    e = use_all(b);
    b->parked_kib = resident_kib();
    if (!e)
        e = rest(b);
    for (int i = 0; i < b->n_next; i++)
        session_done(&b->sessions[i]);
    err_ignore(group_end(&b->tasks), "journals tell their failures themselves");
    return e;
}

int main(int argc, char **argv)
{
    struct bench b = {.n_sessions = argc > 2 ? atoi(argv[2]) : 10000};
    struct tool tool = {.name = "Hold",
                        .description = "Holds on",
                        .schema = ROUNDS_SCHEMA,
                        .risk = RISK_INSPECT,
                        .run = run_tool};
    struct target target = {
        .provider = &rounds_provider, .model = S("m"), .price = {-1, -1, -1, -1}};
    AUTO(tool_registry) struct tool_registry *registry = tool_registry_new();
    AUTO(err) struct err *e = tool_registry_add(registry, &tool, NULL);
    char file[4096];
    double start = seconds();

    if (argc < 2) {
        fprintf(stderr, "usage: %s DIRECTORY [SESSIONS]\n", argv[0]);
        return EXIT_FAILURE;
    }
    snprintf(file, sizeof file, "%s/keel.db", argv[1]);
    b.sessions = mem_alloc((size_t)b.n_sessions * sizeof *b.sessions);
    b.store = store_sqlite_new(file);
    b.plan = (struct run_plan){.targets = &target,
                               .n_targets = 1,
                               .tools = registry,
                               .filter = {.allows_all = true},
                               .stream = true};
    if (!e)
        e = loop_run_once(run_all, &b);
    store_free(b.store);
    mem_free(b.sessions);
    if (e) {
        AUTO_FREE char *text = err_message(e);

        fprintf(stderr, "%s\n", text);
    }
    printf("{\"sessions\":%d,\"complete\":%d,\"kib_each\":%.1f,\"resident_mib\":%.0f,"
           "\"wakes\":%ld,\"idle_cpu_ms\":%.1f,\"idle_seconds\":%.0f,\"seconds\":%.1f}\n",
           b.n_sessions, b.n_complete, (double)(b.parked_kib - b.before_kib) / b.n_sessions,
           (double)b.parked_kib / 1024, b.n_wakes, b.cpu_ms, REST_MS / 1e3, seconds() - start);
    return e || b.n_complete != b.n_sessions ? EXIT_FAILURE : EXIT_SUCCESS;
}
