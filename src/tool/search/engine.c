/* engine.c - runs a search or a glob over a walk. */
#include "tool/search/engine.h"

#include "sys/locked_file.h"
#include "sys/work.h"
#include "tool/search/search.h"
#include "tool/search/types.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* --- the results of all threads, and the output in order ---
 *
 * Results that can no longer be part of the output are dropped on the way, so that memory stays
 * near the size of the output. */

struct grep_result {
    char *path;
    int64_t modified_ns;
    size_t n_matches;
    char *text; /* whole lines; NULL: only the path, with a count if requested */
    size_t n_text, n_lines;
    bool is_cut; /* there were more lines than any output can hold */
};

struct grep_results {
    const struct grep_query *query;
    size_t max_output_bytes;
    pthread_mutex_t lock;
    struct grep_result *items;
    size_t n, room;
    size_t n_bytes;
    size_t n_pruned, n_pruned_bytes; /* as of the last pruning */
    bool was_cut;
};

#define DEFAULT_OUTPUT_BYTES ((size_t)1 << 20)
#define PRUNE_ITEMS 1024
#define PRUNE_BYTES ((size_t)4 << 20)

static void results_init(struct grep_results *r, const struct grep_query *query)
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

static void results_done(struct grep_results *r)
{
    for (size_t i = 0; i < r->n; i++)
        result_done(&r->items[i]);
    mem_free(r->items);
    pthread_mutex_destroy(&r->lock);
}

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

static void sort_results(struct grep_results *r)
{
    if (r->n)
        qsort(r->items, r->n, sizeof *r->items,
              r->query->mode == GREP_FILES ? compare_times : compare_paths);
}

static size_t count_bytes(const struct grep_result *item)
{
    return item->text ? item->n_text : strlen(item->path) + 1;
}

/* How many results, in order, fill the output. */
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
        n_lines += r->items[i].text ? r->items[i].n_lines : 1;
    }
    return i;
}

static void prune_results(struct grep_results *r)
{
    size_t n_needed;

    sort_results(r);
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

static void results_add(struct grep_results *r, struct grep_result take_result)
{
    pthread_mutex_lock(&r->lock);
    if (r->n == r->room) {
        r->room = MAX(r->room * 2, (size_t)64);
        r->items = mem_resize(r->items, r->room * sizeof *r->items);
    }
    r->items[r->n++] = take_result;
    r->was_cut |= take_result.is_cut;
    r->n_bytes += count_bytes(&take_result);
    /* only after many new results, so that sorting stays cheap */
    if (r->n > 2 * r->n_pruned + PRUNE_ITEMS || r->n_bytes > 2 * r->n_pruned_bytes + PRUNE_BYTES)
        prune_results(r);
    pthread_mutex_unlock(&r->lock);
}

struct result_page {
    struct grep_results *results;
    struct strbuf *out;
    size_t n_before; /* bytes that were there before */
    size_t n_skipped, n_lines;
};

/* False when the output is full. */
static bool print_line(struct result_page *o, struct str line)
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

static bool print_text(struct result_page *o, struct str text, bool is_first)
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

static bool print_path(struct result_page *o, const struct grep_result *item)
{
    AUTO(strbuf) struct strbuf line = {0};

    grep_print_path(&o->results->query->names, str_of(item->path), &line);
    if (o->results->query->mode == GREP_COUNT)
        strbuf_addf(&line, ":%zu", item->n_matches);
    return print_line(o, strbuf_str(&line));
}

static struct err *results_print(struct grep_results *r, struct strbuf *out)
{
    struct result_page o = {.results = r, .out = out, .n_before = out->n};
    bool goes_on = true;

    sort_results(r);
    for (size_t i = 0; i < r->n && goes_on; i++) {
        const struct grep_result *item = &r->items[i];

        if (item->text)
            goes_on = print_text(&o, str_make(item->text, item->n_text), i == 0);
        else
            goes_on = print_path(&o, item);
    }
    return strbuf_check(out, "the output of the search");
}

/* --- a search --- */

struct grep {
    const struct grep_query *query;
    struct grep_pattern *pattern;
    struct grep_types *types; /* NULL: all types */
    struct grep_results results;
    pthread_mutex_t lock; /* for what follows */
    struct grep_report report;
};

/* The state of one thread. */
struct grep_thread {
    struct grep_search search;
    struct grep_report report;
};

void grep_report_done(struct grep_report *r)
{
    err_free(r->failure);
    r->failure = NULL;
}

static void grep_done(struct grep *g)
{
    grep_pattern_free(g->pattern);
    grep_types_free(g->types);
    results_done(&g->results);
    pthread_mutex_destroy(&g->lock);
    grep_report_done(&g->report);
}
DEFINE_AUTO_VAL(grep, grep_done)

/* --- one file --- */

/* Takes and closes the descriptor. */
static struct err *search_file(struct grep *g, struct grep_thread *t, int take_fd, struct str path,
                               const atomic_bool *is_over)
{
    struct grep_search *s = &t->search;
    const struct grep_printer *pr = &s->printer;
    struct err *e = grep_search_file(s, take_fd, path, is_over);
    struct grep_result result;

    close(take_fd);
    TRY(e);
    t->report.n_files_skipped += s->was_skipped;
    t->report.n_files_searched += !s->was_skipped;
    t->report.n_matches += s->n_matches;
    t->report.n_files_matched += s->n_matches > 0;
    if (!s->n_matches)
        return NULL;
    result = (struct grep_result){
        .path = str_dup(path), .modified_ns = s->modified_ns, .n_matches = s->n_matches};
    if (g->query->mode == GREP_CONTENT) {
        result.text = str_dup(strbuf_str(&pr->text));
        result.n_text = pr->text.n;
        result.n_lines = pr->n_lines;
        result.is_cut = pr->is_full;
    }
    results_add(&g->results, result);
    return NULL;
}

/* --- the walk --- */

static void *grep_begin_thread(void *self)
{
    struct grep *g = self;
    struct grep_thread *t = mem_alloc(sizeof *t);

    grep_search_init(&t->search, g->query, g->pattern);
    return t;
}

static void grep_end_thread(void *self, void *thread)
{
    struct grep *g = self;
    struct grep_thread *t = thread;

    pthread_mutex_lock(&g->lock);
    g->report.n_matches += t->report.n_matches;
    g->report.n_files_matched += t->report.n_files_matched;
    g->report.n_files_searched += t->report.n_files_searched;
    g->report.n_files_skipped += t->report.n_files_skipped;
    pthread_mutex_unlock(&g->lock);
    grep_search_done(&t->search);
    mem_free(t);
}

/* Each such file is expensive: false when there were too many. */
static bool note_failure(struct grep *g, struct err *take_error)
{
    bool goes_on;

    pthread_mutex_lock(&g->lock);
    goes_on = ++g->report.n_files_failed < GREP_MAX_FAILED;
    if (!g->report.failure)
        g->report.failure = TAKE(take_error);
    pthread_mutex_unlock(&g->lock);
    err_free(take_error);
    return goes_on;
}

static bool matches_globs(const struct grep_query *q, const struct walk_entry *entry)
{
    for (size_t i = 0; i < q->n_globs; i++)
        if (glob_matches(q->globs[i], entry->path) ||
            glob_matches(q->globs[i], str_of(entry->name)))
            return true;
    return q->n_globs == 0;
}

static bool grep_visit(void *self, void *thread, const struct walk_entry *entry)
{
    struct grep *g = self;
    struct grep_thread *t = thread;
    struct err *e;
    int fd;

    if (!entry->is_file || !grep_types_match(g->types, entry->name) ||
        !matches_globs(g->query, entry))
        return true;
    fd = locked_file_openat(entry->dir_fd, entry->name, OPEN_FLAGS | O_NOFOLLOW);
    if (fd < 0) {
        t->report.n_files_skipped += errno != ENOENT; /* removed meanwhile */
        return true;
    }
    e = search_file(g, t, fd, entry->path, entry->is_over);
    return !e || note_failure(g, e);
}

static struct err *search_tree(struct grep *g, const struct walk_options *options)
{
    const struct walk_visitor visitor = {.begin_thread = grep_begin_thread,
                                         .end_thread = grep_end_thread,
                                         .visit = grep_visit,
                                         .self = g};

    TRY(walk_run(options, &visitor, &g->report.walk));
    return g->report.n_matches ? NULL : TAKE(g->report.failure);
}

/* --- a file as the root --- */

static struct err *search_root_file(struct grep *g, const struct walk_options *options)
{
    struct grep_thread *t;
    struct str path;
    struct err *e;
    int fd = options->has_root_fd ? fcntl(options->root_fd, F_DUPFD_CLOEXEC, 0)
                                  : locked_file_openat(AT_FDCWD, options->root, OPEN_FLAGS);

    if (fd < 0)
        return err_hint(
            err_errno(ERR_VALIDATION, errno, "cannot search the file %s", options->root),
            "name a file that may be read");
    t = grep_begin_thread(g);
    path = g->query->names.root_file.n ? g->query->names.root_file : str_of(options->root);
    e = search_file(g, t, fd, path, /* is_over= */ NULL);
    grep_end_thread(g, t);
    g->report.walk.n_entries = 1;
    g->report.walk.was_cancelled = work_cancelled();
    return e;
}

static bool is_directory(const struct walk_options *options)
{
    struct stat st;
    int failure = options->has_root_fd ? fstat(options->root_fd, &st) : stat(options->root, &st);

    return failure || S_ISDIR(st.st_mode); /* the walk reports the error */
}

struct err *grep_run(const struct grep_query *query, const struct walk_options *options,
                     struct strbuf *out, struct grep_report *ret_report)
{
    AUTO(grep) struct grep g = {.query = query};

    results_init(&g.results, query);
    pthread_mutex_init(&g.lock, NULL);
    TRY(grep_pattern_compile(query, &g.pattern));
    if (query->type.n)
        TRY(grep_types_find(query->type, &g.types));
    TRY(is_directory(options) ? search_tree(&g, options) : search_root_file(&g, options));
    TRY(results_print(&g.results, out));
    g.report.was_cut = g.results.was_cut;
    *ret_report = g.report;
    g.report.failure = NULL; /* it belongs to the caller now */
    return NULL;
}

/* --- globs --- */

struct glob_search {
    const struct glob_query *query;
    struct grep_results files, dirs;
    atomic_size_t n_files, n_dirs;
};

static void glob_search_done(struct glob_search *s)
{
    results_done(&s->files);
    results_done(&s->dirs);
}
DEFINE_AUTO_VAL(glob_search, glob_search_done)

static bool matches_any(const struct glob_query *q, struct str path)
{
    for (size_t i = 0; i < q->n_patterns; i++)
        if (glob_matches(q->patterns[i], path))
            return true;
    return false;
}

static char *copy_path(const struct walk_entry *entry)
{
    AUTO(strbuf) struct strbuf path = {0};

    strbuf_add(&path, entry->path);
    if (entry->is_dir)
        strbuf_add_char(&path, '/');
    return strbuf_take(&path);
}

static bool glob_visit(void *self, void *thread, const struct walk_entry *entry)
{
    struct glob_search *s = self;
    bool is_file = !entry->is_dir || s->query->with_dirs;
    struct grep_result result = {0};
    struct stat st;

    if (!matches_any(s->query, entry->path) ||
        fstatat(entry->dir_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return true;
    atomic_fetch_add(is_file ? &s->n_files : &s->n_dirs, 1);
    result.path = copy_path(entry);
    result.modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    results_add(is_file ? &s->files : &s->dirs, result);
    return true;
}

struct err *glob_run(const struct glob_query *q, const struct walk_options *options,
                     struct strbuf *out, struct grep_report *ret_report)
{
    /* only what the output needs */
    const struct grep_query query = {.mode = GREP_FILES,
                                     .head_limit = q->max_results,
                                     .max_output_bytes = SIZE_MAX,
                                     .names = q->names};
    AUTO(glob_search) struct glob_search s = {.query = q};
    const struct walk_visitor visitor = {.visit = glob_visit, .self = &s};
    struct grep_report report = {0};
    struct grep_results *found = &s.files;

    results_init(&s.files, &query);
    results_init(&s.dirs, &query);
    TRY(walk_run(options, &visitor, &report.walk));
    report.n_files_matched = atomic_load(&s.n_files);
    if (report.n_files_matched == 0) {
        found = &s.dirs;
        report.n_files_matched = atomic_load(&s.n_dirs);
    }
    TRY(results_print(found, out));
    report.n_matches = report.n_files_matched;
    report.was_cut = found->was_cut;
    *ret_report = report;
    return NULL;
}
