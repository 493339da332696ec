/* runs.c - many runs at once: N of them in one process, three tool rounds each.
 *
 * Every run is held inside the tool of its last round until all are there; then the memory is
 * measured. What the transcripts themselves need is told apart. */
#include "bench.h"
#include "rounds_model.h"

#include "model/message_json.h"
#include "sys/loop.h"

#include <stdlib.h>

struct bench {
    int n_runs;
    struct run_plan plan;
    struct waker **parked; /* the runs inside their last tool */
    int n_parked, n_complete;
    long before_kib, held_kib;
    size_t transcript_bytes;
};

/* --- the tool --- */

static struct err *hold(struct bench *b)
{
    struct waker waker;

    waker_init(&waker);
    b->parked[b->n_parked++] = &waker;
    if (b->n_parked == b->n_runs) {
        b->held_kib = resident_kib();
        for (int i = 0; i < b->n_runs; i++)
            waker_wake(b->parked[i]);
    }
    return waker_park(&waker);
}

static struct err *run_tool(const struct tool *t, struct tool_context *c, const struct json *args,
                            struct tool_result *result)
{
    bool is_last = json_int_or(json_get(args, "round"), 0) == N_ROUNDS;

    tool_result_addf(result, "%0*d", RESULT_BYTES, 0);
    return is_last ? hold(t->self) : task_yield();
}

/* --- the runs --- */

static size_t count_bytes(const struct history *h)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;

    jw_init(&w, &text);
    jw_begin_array(&w);
    for (size_t i = 0; i < h->n_messages; i++)
        message_write(&w, h->messages[i]);
    jw_end_array(&w);
    return text.n;
}

static const struct run_plan *get_plan(void *self)
{
    return &((struct bench *)self)->plan;
}

static struct err *run_one(void *arg)
{
    struct bench *b = arg;
    struct gate gate = {rounds_judge};
    AUTO(conversation) struct conversation conversation;
    AUTO(message) struct message *input = message_new(ROLE_USER, S("input"));
    AUTO(run_result) struct run_result result;

    message_add_text(input, S("Hold on, please."));
    conversation_init(&conversation, S("session"), S("/"));
    run_start(&conversation, &(struct run_input){.prompt = input},
              &(struct run_kit){.plan = get_plan, .plan_self = b, .gate = &gate}, NULL, &result);
    b->n_complete += result.outcome == RUN_DONE && result.n_tools_executed == N_ROUNDS;
    b->transcript_bytes = count_bytes(&conversation.history);
    return NULL;
}

static struct err *run_all(void *arg)
{
    struct bench *b = arg;
    struct group g;

    b->before_kib = resident_kib();
    group_begin(&g, 0, 0);
    for (int i = 0; i < b->n_runs; i++)
        group_spawn(&g, "run", run_one, b);
    return group_end(&g);
}

int main(int argc, char **argv)
{
    struct bench b = {.n_runs = argc > 1 ? atoi(argv[1]) : 2000};
    struct tool tool = {.name = "Hold",
                        .description = "Holds on",
                        .schema = ROUNDS_SCHEMA,
                        .risk = RISK_INSPECT,
                        .run = run_tool,
                        .self = &b};
    struct target target = {
        .provider = &rounds_provider, .model = S("m"), .price = {-1, -1, -1, -1}};
    AUTO(tool_registry) struct tool_registry *registry = tool_registry_new();
    AUTO(err) struct err *e = tool_registry_add(registry, &tool, NULL);
    double start = seconds();

    b.parked = mem_alloc((size_t)b.n_runs * sizeof(struct waker *));
    b.plan = (struct run_plan){.targets = &target,
                               .n_targets = 1,
                               .tools = registry,
                               .filter = {.allows_all = true},
                               .stream = true};
    if (!e)
        e = loop_run_once(run_all, &b);
    mem_free(b.parked);
    if (e) {
        AUTO_FREE char *text = err_message(e);

        fprintf(stderr, "%s\n", text);
    }
    printf("{\"runs\":%d,\"complete\":%d,\"kib_per_run\":%.1f,\"transcript_bytes\":%zu,"
           "\"seconds\":%.2f}\n",
           b.n_runs, b.n_complete, (double)(b.held_kib - b.before_kib) / b.n_runs,
           b.transcript_bytes, seconds() - start);
    return e || b.n_complete != b.n_runs ? EXIT_FAILURE : EXIT_SUCCESS;
}
