/* fill.c - reads the files of a tree that are not known yet, several at once. */
#include "snapshot/file_tree.h"

#include "sys/work.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define MAX_THREADS 8
#define FILES_A_THREAD 32 /* for fewer no thread is worth its start */
#define READ_ROOM ((size_t)1 << 18)

struct fill {
    struct file_state **files;
    size_t n;
    uint64_t max_file_bytes;
    struct blob_store *blobs;
    atomic_size_t next;
    atomic_bool is_over;
    pthread_mutex_t lock;
    struct err *error; /* the first */
};

/* --- which --- */

static bool is_wanted(const struct file_state *f, bool saves)
{
    return state_has_content(f) && !f->why_not && (!f->is_known || (saves && !f->is_saved));
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = (*(struct file_state *const *)a)->stamp.size;
    uint64_t y = (*(struct file_state *const *)b)->stamp.size;

    return (x > y) - (x < y);
}

static uint64_t size_of_saved(const struct file_tree *t)
{
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->files[i].is_saved)
            n_bytes += t->files[i].stamp.size;
    return n_bytes;
}

/* The small ones first: they are the most, and the ones that people write. */
static void choose(struct fill *fill, struct file_tree *t, const struct file_tree_limits *limits,
                   struct fill_report *report)
{
    uint64_t n_bytes = fill->blobs ? size_of_saved(t) : 0;
    size_t n = 0;

    fill->files = mem_alloc((t->n + 1) * sizeof(struct file_state *));
    for (size_t i = 0; i < t->n; i++)
        if (is_wanted(&t->files[i], fill->blobs != NULL))
            fill->files[n++] = &t->files[i];
    qsort(fill->files, n, sizeof *fill->files, by_size);
    for (size_t i = 0; i < n; i++) {
        struct file_state *f = fill->files[i];

        n_bytes += fill->blobs ? f->stamp.size : 0;
        if (f->stamp.size <= limits->max_file_bytes && n_bytes <= limits->max_bytes) {
            fill->n++;
            continue;
        }
        if (f->stamp.size > limits->max_file_bytes) {
            f->why_not = "it is larger than snapshot.maxFileBytes allows";
            report->n_too_large++;
        } else {
            f->why_not = "all files together are larger than snapshot.maxBytes allows";
            report->n_over_total++;
        }
    }
    report->n_read = fill->n;
}

/* --- reading --- */

static void fail(struct fill *fill, struct err *take_error)
{
    atomic_store(&fill->is_over, true);
    pthread_mutex_lock(&fill->lock);
    if (fill->error)
        err_free(take_error);
    else
        fill->error = take_error;
    pthread_mutex_unlock(&fill->lock);
}

static void *read_files(void *arg)
{
    struct fill *fill = arg;
    AUTO(strbuf) struct strbuf buffer = {.max_bytes = fill->max_file_bytes + READ_ROOM};
    size_t i;

    while (!atomic_load(&fill->is_over) && (i = atomic_fetch_add(&fill->next, 1)) < fill->n) {
        struct err *e =
            work_cancelled() ? err_new(ERR_CANCELLED, "the files were not all saved") : NULL;

        if (!e)
            e = state_read(fill->files[i], fill->max_file_bytes, fill->blobs, &buffer);
        if (e)
            fail(fill, e);
    }
    return NULL;
}

static unsigned count_threads(size_t n_files)
{
    cpu_set_t cpus;
    size_t n_cores = sched_getaffinity(0, sizeof cpus, &cpus) < 0 ? 1 : (size_t)CPU_COUNT(&cpus);

    return (unsigned)MIN(MIN(n_cores, (size_t)MAX_THREADS), n_files / FILES_A_THREAD + 1);
}

/* This thread is one of them: it alone knows when the task is cancelled. The others have all
 * signals blocked, whose handlers are not their business. */
static void read_all(struct fill *fill)
{
    unsigned n_wanted = count_threads(fill->n), n = 0;
    pthread_t threads[MAX_THREADS];
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (n + 1 < n_wanted && pthread_create(&threads[n], NULL, read_files, fill) == 0)
        n++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    read_files(fill);
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

struct err *file_tree_fill(struct file_tree *t, const struct file_tree_limits *limits,
                           struct blob_store *blobs, struct fill_report *ret_report)
{
    struct fill fill = {.max_file_bytes = limits->max_file_bytes,
                        .blobs = blobs,
                        .lock = PTHREAD_MUTEX_INITIALIZER};

    *ret_report = (struct fill_report){0};
    choose(&fill, t, limits, ret_report);
    if (fill.n)
        read_all(&fill);
    mem_free(fill.files);
    return fill.error;
}
