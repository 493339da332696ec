/* files_read.c - pages of records, and the search in them.
 *
 * Records are sorted by number, so a binary search over the file finds any of them. A page reads no
 * more of the file than it needs. A missing number was on a broken line. */
#include "store/files_store.h"

#include "store/excerpt.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEAR ((uint64_t)256 << 10)        /* below this distance lines are read one by one */
#define FIRST_WINDOW ((uint64_t)64 << 10) /* what is read at once backwards; */
#define MAX_WINDOW ((uint64_t)1 << 20)    /* most callers want the last few records */

struct log_reader {
    char path[FILES_MAX_PATH];
    int fd;
    uint64_t end;
    struct arena scratch; /* of one line */
};

static void log_done(struct log_reader *l)
{
    if (l->fd >= 0)
        close(l->fd);
    arena_done(&l->scratch);
}
DEFINE_AUTO_VAL(log_reader, log_done)
#define LOG_NONE ((struct log_reader){.fd = -1})

/* Finds the next line that is a record. */
static struct err *next_record(struct log_reader *l, struct files_walk *w,
                               struct files_line *ret_line, uint64_t *ret_start, bool *ret_found)
{
    struct str line;

    for (;;) {
        TRY(files_walk_next(w, &line, ret_start, ret_found));
        if (!*ret_found)
            return NULL;
        arena_clear(&l->scratch);
        if (files_line_parse(line, &l->scratch, ret_line) && !ret_line->is_own)
            return NULL;
    }
}

/* Finds the first record that begins after `at` and before `end`. */
static struct err *record_behind(struct log_reader *l, uint64_t at, uint64_t end,
                                 struct files_line *ret_line, uint64_t *ret_start, bool *ret_found)
{
    AUTO(files_walk) struct files_walk w = {0};
    struct str line;

    files_walk_init(&w, l->path, l->fd, at, end);
    TRY(files_walk_next(&w, &line, ret_start, ret_found)); /* the rest of a line */
    return *ret_found ? next_record(l, &w, ret_line, ret_start, ret_found) : NULL;
}

/* Finds the beginning of a line, at or shortly before the record that holds event `seq`. */
static struct err *find_near(struct log_reader *l, uint64_t seq, uint64_t *ret_offset)
{
    uint64_t low = 0, high = l->end;

    while (high - low > NEAR) {
        uint64_t middle = low + (high - low) / 2, start;
        struct files_line line;
        bool found;

        TRY(record_behind(l, middle, high, &line, &start, &found));
        if (found && line.record.seq <= seq)
            low = start;
        else
            high = middle;
    }
    *ret_offset = low;
    return NULL;
}

/* --- pages --- */

static bool is_wanted(const struct store_record *r, const struct store_query *q)
{
    return (!q->core_only || r->is_core) && (q->type.n == 0 || str_eq(q->type, r->type)) &&
           !store_query_leaves(q, r->type);
}

struct log_page {
    struct log_reader *log;
    const struct store_query *query;
    struct store_page *page;
    size_t n_bytes, room;
};

/* False: the page is full. */
static bool add_record(struct log_page *f, const struct files_line *l)
{
    const struct store_query *q = f->query;
    struct store_page *page = f->page;
    struct store_record r = l->record;
    struct str *payloads;

    if (!is_wanted(&r, q))
        return true;
    page->has_more = (q->n_max && page->n == q->n_max) || f->n_bytes >= STORE_PAGE_BYTES;
    if (page->has_more)
        return false;
    payloads = ARENA_ARRAY(&page->arena, r.n_payloads, struct str);
    for (size_t i = 0; i < r.n_payloads; i++)
        payloads[i] = arena_str(&page->arena, r.payloads[i]);
    r.payloads = payloads;
    r.type = arena_str(&page->arena, r.type);
    r.run_id = arena_str(&page->arena, r.run_id);
    r.body = files_line_body(l, &page->arena);
    page->records = arena_grow(&page->arena, page->records, page->n, &f->room, sizeof r);
    page->records[page->n++] = r;
    f->n_bytes += r.body.n;
    return true;
}

/* Counts the lines before `before`: a person looks for damage with an editor. */
static struct err *count_lines(struct log_reader *l, uint64_t before, uint64_t *ret_n)
{
    AUTO(files_walk) struct files_walk w = {0};
    struct str line;
    uint64_t start;
    bool found = true;

    files_walk_init(&w, l->path, l->fd, 0, before);
    for (*ret_n = 0;; ++*ret_n) {
        TRY(files_walk_next(&w, &line, &start, &found));
        if (!found)
            return NULL;
    }
}

/* Events from..to cannot be read; the next good record is at `offset`. A page that has records
 * already ends before the gap. */
static struct err *report_gap(struct log_page *f, uint64_t from, uint64_t to, uint64_t offset)
{
    uint64_t n_before;
    char what[64];

    f->page->has_more = f->page->n > 0;
    if (f->page->has_more)
        return NULL;
    TRY(count_lines(f->log, offset, &n_before));
    f->page->damaged_at = from;
    f->page->go_on_at = f->query->newest_first ? from : to;
    if (to - from == 1)
        snprintf(what, sizeof what, "event %" PRIu64 " is", from);
    else
        snprintf(what, sizeof what, "events %" PRIu64 " to %" PRIu64 " are", from, to - 1);
    return err_hint(
        err_new(ERR_STORAGE, "%s damaged: line %" PRIu64 " of %s", what, n_before, f->log->path),
        "the file holds one JSON object per line; restore this line from a backup if you have one");
}

static struct err *read_forward(struct log_page *f)
{
    AUTO(files_walk) struct files_walk w = {0};
    const struct store_query *q = f->query;
    uint64_t from = MAX(q->from, (uint64_t)1), start, offset, next = 0;
    struct files_line l;
    bool found;

    TRY(find_near(f->log, from, &offset));
    if (offset == 0)
        next = 1;
    files_walk_init(&w, f->log->path, f->log->fd, offset, f->log->end);
    for (;;) {
        uint64_t after;

        TRY(next_record(f->log, &w, &l, &start, &found));
        if (!found || (q->to && MAX(next, from) >= q->to))
            return NULL;
        after = l.record.seq + l.record.n_events;
        if (next && l.record.seq > next && l.record.seq > from)
            return report_gap(f, MAX(next, from), l.record.seq, start);
        if (l.record.seq < next)
            continue; /* a repeated record; files_check_log() reports it */
        next = after;
        if (after <= from)
            continue;
        if ((q->to && l.record.seq >= q->to) || !add_record(f, &l))
            return NULL;
    }
}

/* --- backwards --- */

struct spot_in_log {
    struct str line;
    uint64_t start;
};

/* Reads the lines of the last `size` bytes before `end`: at least one, unless there is none. */
static struct err *read_window(struct log_reader *l, uint64_t end, uint64_t size, struct arena *a,
                               struct spot_in_log **ret_lines, size_t *ret_n, uint64_t *ret_from)
{
    for (;; size *= 2) {
        AUTO(files_walk) struct files_walk w = {0};
        uint64_t from = end > size ? end - size : 0, start;
        size_t room = 0;
        struct str line;
        bool found;

        *ret_lines = NULL;
        *ret_n = 0;
        arena_clear(a);
        files_walk_init(&w, l->path, l->fd, from, end);
        if (from)
            TRY(files_walk_next(&w, &line, &start, &found));
        for (;;) {
            TRY(files_walk_next(&w, &line, &start, &found));
            if (!found)
                break;
            *ret_lines = arena_grow(a, *ret_lines, *ret_n, &room, sizeof **ret_lines);
            (*ret_lines)[(*ret_n)++] = (struct spot_in_log){arena_str(a, line), start};
        }
        *ret_from = *ret_n ? (*ret_lines)[0].start : 0;
        if (*ret_n || from == 0)
            return NULL;
    }
}

/* Finds where the first record from number `seq` on begins. */
static struct err *find_end(struct log_reader *l, uint64_t seq, uint64_t *ret_end)
{
    AUTO(files_walk) struct files_walk w = {0};
    struct files_line line;
    uint64_t offset, start;
    bool found;

    *ret_end = l->end;
    if (seq == 0)
        return NULL;
    TRY(find_near(l, seq, &offset));
    files_walk_init(&w, l->path, l->fd, offset, l->end);
    do
        TRY(next_record(l, &w, &line, &start, &found));
    while (found && line.record.seq < seq);
    if (found)
        *ret_end = start;
    return NULL;
}

/* Adds one window, from its end. *ret_more false: nothing more is wanted. */
static struct err *add_window(struct log_page *f, const struct spot_in_log *lines, size_t n,
                              uint64_t *before, uint64_t *offset, bool *ret_more)
{
    *ret_more = false;
    for (size_t i = n; i-- > 0;) {
        struct files_line l;
        uint64_t after;

        arena_clear(&f->log->scratch);
        if (!files_line_parse(lines[i].line, &f->log->scratch, &l) || l.is_own)
            continue;
        after = l.record.seq + l.record.n_events;
        if (*before && after < *before && *before > f->query->from)
            return report_gap(f, MAX(after, f->query->from), *before, *offset);
        *before = l.record.seq;
        *offset = lines[i].start;
        if (after <= f->query->from || !add_record(f, &l))
            return NULL;
    }
    *ret_more = true;
    return NULL;
}

static struct err *read_backward(struct log_page *f)
{
    AUTO(arena) struct arena a = {0};
    uint64_t before = f->query->to, end, offset, size = FIRST_WINDOW;
    struct spot_in_log *lines;
    bool more = true;
    size_t n;

    TRY(find_end(f->log, f->query->to, &end));
    offset = end;
    if (end == f->log->end)
        before = 0; /* the stream ends before that */
    for (; more && end; size = MIN(2 * size, MAX_WINDOW)) {
        TRY(read_window(f->log, end, size, &a, &lines, &n, &end));
        TRY(add_window(f, lines, n, &before, &offset, &more));
    }
    if (more && before > MAX(f->query->from, (uint64_t)1))
        return report_gap(f, 1, before, offset);
    return NULL;
}

struct err *files_read_page(const char *dir, struct str id, const struct store_query *q,
                            struct store_page *page)
{
    AUTO(log_reader) struct log_reader l = LOG_NONE;
    struct log_page f = {.log = &l, .query = q, .page = page};

    TRY(files_path(l.path, dir, id, ".jsonl"));
    TRY(files_open_to_read(l.path, &l.fd, &l.end));
    if (l.fd < 0)
        return files_no_log(dir, id, l.path);
    return q->newest_first ? read_backward(&f) : read_forward(&f);
}

/* --- the search --- */

int files_compare(const void *a, const void *b)
{
    const struct files_entry *x = a, *y = b;

    if (x->summary.updated_ms != y->summary.updated_ms)
        return x->summary.updated_ms < y->summary.updated_ms ? 1 : -1;
    return str_cmp(y->summary.id, x->summary.id);
}

struct log_search {
    const char *dir;
    struct str words;
    size_t n_max;
    struct arena *arena;
    struct store_hit *hits;
    size_t *n;
};

static void search_page(struct log_search *s, const struct files_entry *e,
                        const struct store_page *p)
{
    for (size_t i = 0; i < p->n && *s->n < s->n_max; i++) {
        AUTO(strbuf) struct strbuf text = {0};
        struct str excerpt;

        store_record_text(&p->records[i], &text);
        if (excerpt_find(strbuf_str(&text), s->words, s->arena, &excerpt))
            s->hits[(*s->n)++] = (struct store_hit){files_copy_summary(s->arena, &e->summary),
                                                    p->records[i].seq, excerpt};
    }
}

static struct err *search_log(struct log_search *s, const struct files_entry *e)
{
    struct store_query q = {.core_only = true, .newest_first = true};
    bool more = true;

    while (more && *s->n < s->n_max) {
        AUTO(store_page) struct store_page page = {0};
        struct err *failure = files_read_page(s->dir, e->summary.id, &q, &page);

        more = failure ? page.go_on_at > 1 : page.has_more;
        q.to = failure ? page.go_on_at : page.n ? page.records[page.n - 1].seq : 0;
        err_ignore(failure, "what is damaged is not found; reading the session tells of it");
        search_page(s, e, &page);
        if (work_cancelled())
            return err_new(ERR_CANCELLED, "the search was cancelled");
    }
    return NULL;
}

struct err *files_search_logs(const char *dir, struct str words, size_t n_max, struct arena *a,
                              struct store_hit *hits, size_t *n)
{
    AUTO(files_index) struct files_index x = {0};
    struct log_search s = {dir, words, n_max, a, hits, n};

    TRY(files_index_read(dir, &x));
    if (x.n)
        qsort(x.entries, x.n, sizeof *x.entries, files_compare);
    for (size_t i = 0; i < x.n && *n < n_max; i++)
        TRY(search_log(&s, &x.entries[i]));
    return NULL;
}
