/* stores.c - what a store costs: appends of one session and of many, opening the list of 10,000.
 * `bench-stores STORE`: as for --store. Leaves its sessions there, so that `bench-stores STORE
 * list` can list them again. */
#include "bench.h"

#include "store/open.h"
#include "sys/loop.h"

#include <stdlib.h>

#define N_SESSIONS 10000
#define N_APPENDS 500
#define N_WRITERS 64

struct writer {
    struct store *store;
    struct str id;
    uint64_t fence, next_seq;
    size_t n;
};

static struct err *append_some(void *arg)
{
    struct writer *w = arg;

    for (size_t i = 0; i < w->n; i++) {
        struct store_record r = {.seq = w->next_seq,
                                 .n_events = 1,
                                 .unix_ms = 1700000000000,
                                 .type = S("tool_call"),
                                 .run_id = S("run-1"),
                                 .body =
                                     S("{\"tool\":\"Read\",\"path\":\"src/main.c\",\"n\":100}")};

        TRY(store_append(w->store, w->id, r.seq, w->fence, &r, 1, NULL));
        w->next_seq++;
    }
    return NULL;
}

static struct err *open_writer(struct writer *w, struct store *s, struct arena *a, const char *kind,
                               unsigned number)
{
    struct store_summary create = {.cwd = S("/project"),
                                   .preview = S("Repair the parser of dates"),
                                   .created_ms = 1700000000000 + number};
    struct store_lease lease;

    *w = (struct writer){.store = s, .id = arena_format(a, "bench-%s-%u", kind, number)};
    TRY(store_open(s, w->id, &create, a, &lease));
    w->fence = lease.fence;
    w->next_seq = lease.next_seq;
    return NULL;
}

static struct err *append_alone(struct store *s, struct arena *a)
{
    struct writer w;
    double start;

    TRY(open_writer(&w, s, a, "one", 0));
    w.n = N_APPENDS;
    start = seconds();
    TRY(append_some(&w));
    printf("\"append_ms\":%.2f,", (seconds() - start) * 1000 / N_APPENDS);
    store_close(s, w.id, w.fence);
    return NULL;
}

static struct err *append_together(struct store *s, struct arena *a)
{
    struct writer writers[N_WRITERS];
    struct group g;
    double start;

    for (unsigned i = 0; i < N_WRITERS; i++) {
        TRY(open_writer(&writers[i], s, a, "many", i));
        writers[i].n = N_APPENDS / 10;
    }
    start = seconds();
    group_begin(&g, 0, 0);
    for (size_t i = 0; i < N_WRITERS; i++)
        group_spawn(&g, "append", append_some, &writers[i]);
    TRY(group_end(&g));
    printf("\"appends_a_second_of_%d\":%.0f,", N_WRITERS,
           N_WRITERS * (N_APPENDS / 10) / (seconds() - start));
    for (size_t i = 0; i < N_WRITERS; i++)
        store_close(s, writers[i].id, writers[i].fence);
    return NULL;
}

static struct err *fill(struct store *s, struct arena *a)
{
    for (unsigned i = 0; i < N_SESSIONS; i++) {
        struct writer w;

        TRY(open_writer(&w, s, a, "list", i));
        store_close(s, w.id, w.fence);
    }
    return NULL;
}

/* In ms, with what has to be opened for it the first time. */
static struct err *list(struct store *s, size_t n_max, size_t *ret_n, double *ret_ms)
{
    AUTO(arena) struct arena a = {0};
    struct store_summary *items;
    double start = seconds();

    TRY(store_list(s, &(struct store_list_query){.n_max = n_max}, &a, &items, ret_n));
    *ret_ms = (seconds() - start) * 1000;
    return NULL;
}

static struct err *measure_list(struct store *s)
{
    double first_ms, again_ms, page_ms;
    size_t n, n_page;

    TRY(list(s, 0, &n, &first_ms));
    TRY(list(s, 0, &n, &again_ms));
    TRY(list(s, 20, &n_page, &page_ms));
    printf("\"sessions\":%zu,\"list_ms\":%.2f,\"list_again_ms\":%.2f,\"list_20_ms\":%.2f}\n", n,
           first_ms, again_ms, page_ms);
    return NULL;
}

static struct err *measure(void *arg)
{
    char **words = arg;
    AUTO(store) struct store *s = NULL;
    AUTO(arena) struct arena a = {0};

    TRY(store_from_url(words[0], ".", /* timeout_ms= */ 0, &s));
    printf("{");
    if (words[1])
        return measure_list(s);
    TRY(append_alone(s, &a));
    TRY(append_together(s, &a));
    TRY(fill(s, &a));
    return measure_list(s);
}

int main(int argc, char **argv)
{
    AUTO(err) struct err *e = NULL;

    if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "list") != 0)) {
        fprintf(stderr, "usage: bench-stores STORE [list]\n");
        return 2;
    }
    e = loop_run_once(measure, argv + 1);
    if (e)
        fprintf(stderr, "%s\n", e->text);
    return e ? 1 : 0;
}
