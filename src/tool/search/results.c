/* results.c - collects what threads find and prints it sorted. */
#include "tool/search/results.h"

#include "tool/search/printer.h"

#include <stdlib.h>

#define DEFAULT_OUTPUT_BYTES ((size_t)1 << 20)
#define PRUNE_ITEMS 1024
#define PRUNE_BYTES ((size_t)4 << 20)

void grep_results_init(struct grep_results *r, const struct grep_query *query)
{
    *r = (struct grep_results){.query = query};
    r->max_output_bytes = query->max_output_bytes ? query->max_output_bytes : DEFAULT_OUTPUT_BYTES;
    pthread_mutex_init(&r->lock, NULL);
}

static void result_done(struct grep_result *item)
{
    mem_free(item->path);
    mem_free(item->text);
}

void grep_results_done(struct grep_results *r)
{
    for (size_t i = 0; i < r->n; i++)
        result_done(&r->items[i]);
    mem_free(r->items);
    pthread_mutex_destroy(&r->lock);
}

/* --- order --- */

static int compare_paths(const void *a, const void *b)
{
    const struct grep_result *x = a, *y = b;

    return strcmp(x->path, y->path);
}

static int compare_times(const void *a, const void *b)
{
    const struct grep_result *x = a, *y = b;

    if (x->modified_ns != y->modified_ns)
        return x->modified_ns > y->modified_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static void sort(struct grep_results *r)
{
    if (r->n)
        qsort(r->items, r->n, sizeof *r->items,
              r->query->mode == GREP_FILES ? compare_times : compare_paths);
}

/* --- collecting --- */

static size_t count_lines(const struct grep_result *item)
{
    return item->text ? item->n_lines : 1;
}

static size_t count_bytes(const struct grep_result *item)
{
    return item->text ? item->n_text : strlen(item->path) + 1;
}

/* How many results, in order, are enough to fill the output. */
static size_t count_needed(const struct grep_results *r)
{
    size_t offset = r->query->offset, limit = r->query->head_limit;
    size_t n_lines = 0, n_bytes = 0, i;

    for (i = 0; i < r->n; i++) {
        if (limit && n_lines >= offset && n_lines - offset >= limit)
            break;
        if (n_bytes > r->max_output_bytes)
            break;
        if (n_lines >= offset) /* earlier ones are skipped, at least in part */
            n_bytes += count_bytes(&r->items[i]);
        n_lines += count_lines(&r->items[i]);
    }
    return i;
}

static void prune(struct grep_results *r)
{
    size_t n_needed;

    sort(r);
    n_needed = count_needed(r);
    while (r->n > n_needed) {
        r->was_cut = true;
        r->n--;
        r->n_bytes -= count_bytes(&r->items[r->n]);
        result_done(&r->items[r->n]);
    }
    r->n_pruned = r->n;
    r->n_pruned_bytes = r->n_bytes;
}

void grep_results_add(struct grep_results *r, struct grep_result take_result)
{
    pthread_mutex_lock(&r->lock);
    if (r->n == r->room) {
        r->room = MAX(r->room * 2, (size_t)64);
        r->items = mem_resize(r->items, r->room * sizeof *r->items);
    }
    r->items[r->n++] = take_result;
    r->was_cut |= take_result.is_cut;
    r->n_bytes += count_bytes(&take_result);
    /* only when much has come since the last time, so that all the sorting stays cheap */
    if (r->n > 2 * r->n_pruned + PRUNE_ITEMS || r->n_bytes > 2 * r->n_pruned_bytes + PRUNE_BYTES)
        prune(r);
    pthread_mutex_unlock(&r->lock);
}

/* --- printing --- */

struct output {
    struct grep_results *results;
    struct strbuf *out;
    size_t n_before; /* bytes that were there already */
    size_t n_skipped, n_lines;
};

/* False when the output is full. */
static bool print_line(struct output *o, struct str line)
{
    struct grep_results *r = o->results;
    size_t n_bytes = o->out->n - o->n_before;

    if (o->n_skipped < r->query->offset) {
        o->n_skipped++;
        return true;
    }
    if ((r->query->head_limit && o->n_lines >= r->query->head_limit) ||
        n_bytes + line.n + 1 > r->max_output_bytes) {
        r->was_cut = true;
        return false;
    }
    strbuf_add(o->out, line);
    strbuf_add_char(o->out, '\n');
    o->n_lines++;
    return true;
}

static bool print_text(struct output *o, struct str text, bool is_first)
{
    const struct grep_query *q = o->results->query;
    struct str line;

    if (!is_first && (q->n_before || q->n_after) && !print_line(o, S("--")))
        return false;
    while (text.n && str_split(&text, '\n', &line))
        if (!print_line(o, line))
            return false;
    return true;
}

static bool print_path(struct output *o, const struct grep_result *item)
{
    AUTO(strbuf) struct strbuf line = {0};

    grep_print_path(&o->results->query->names, str_of(item->path), &line);
    if (o->results->query->mode == GREP_COUNT)
        strbuf_addf(&line, ":%zu", item->n_matches);
    return print_line(o, strbuf_str(&line));
}

struct err *grep_results_print(struct grep_results *r, struct strbuf *out)
{
    struct output o = {.results = r, .out = out, .n_before = out->n};
    bool goes_on = true;

    sort(r);
    for (size_t i = 0; i < r->n && goes_on; i++) {
        const struct grep_result *item = &r->items[i];

        if (item->text)
            goes_on = print_text(&o, str_make(item->text, item->n_text), i == 0);
        else
            goes_on = print_path(&o, item);
    }
    return strbuf_check(out, "the output of the search");
}
