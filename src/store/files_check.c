/* files_check.c - checks that every byte of a log is in a line, unchanged and in its place.
 *
 * Reading reports lost records. This file reports the rest: damaged lines of the store itself,
 * repeated lines, and bytes between lines. */
#include "store/files_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_REPORTED 100 /* of one log */
#define MAX_DEPTH 64     /* of child runs; damage can make a circle of parents */

struct checking {
    struct str id;
    const char *path;
    struct store_damage_sink sink;
    unsigned n_reported;
    uint64_t n_lines;
    uint64_t next_seq;
    int64_t shift;        /* how far lines are behind the offset where they were written */
    uint64_t broken;      /* the last unreadable line; 0: none, or it was a record */
    struct arena scratch; /* of one line */
    struct files_state state;
};

static void report(struct checking *c, const char *format, ...) PRINTF_LIKE(2, 3);
static void report(struct checking *c, const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    if (++c->n_reported > MAX_REPORTED)
        return;
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    strbuf_addf(&text, " in %s", c->path);
    c->sink.on_damage(c->sink.self, strbuf_str(&text));
}

static void report_broken(struct checking *c)
{
    if (c->broken)
        report(c, "line %" PRIu64 " is damaged", c->broken);
    c->broken = 0;
}

/* Where records are missing, reading reports it: they were on the broken or missing lines. */
static void check_place(struct checking *c, const struct files_line *l, uint64_t start)
{
    int64_t shift = l->at == FILES_LINE_NOWHERE ? c->shift : (int64_t)start - (int64_t)l->at;
    bool has_gap = !l->is_own && l->record.seq > c->next_seq;

    if (has_gap)
        c->broken = 0;
    report_broken(c);
    if (shift > c->shift && !has_gap)
        report(c, "%" PRId64 " byte%s added before line %" PRIu64, shift - c->shift,
               shift - c->shift == 1 ? " was" : "s were", c->n_lines);
    if (shift < c->shift && !has_gap)
        report(c, "%" PRId64 " byte%s missing before line %" PRIu64, c->shift - shift,
               c->shift - shift == 1 ? " is" : "s are", c->n_lines);
    c->shift = shift;
}

static void check_line(struct checking *c, struct str line, uint64_t start)
{
    struct files_line l;

    c->n_lines++;
    arena_clear(&c->scratch);
    if (!files_line_parse(line, &c->scratch, &l)) {
        report_broken(c);
        c->broken = c->n_lines;
        return;
    }
    if (!str_eq(l.id, c->id))
        report(c, "line %" PRIu64 " belongs to another session", c->n_lines);
    check_place(c, &l, start);
    files_state_add(&c->state, &l);
    c->state.end = start + line.n + 1;
    if (l.is_own)
        return;
    if (l.record.seq < c->next_seq)
        report(c, "line %" PRIu64 " has event %" PRIu64 ", which an earlier line also has",
               c->n_lines, l.record.seq);
    c->next_seq = MAX(c->next_seq, l.record.seq + l.record.n_events);
}

/* The list is derived from the log. An entry that knows the whole log must agree with it. */
static void check_entry(struct checking *c, const struct files_entry *e)
{
    const struct store_summary *listed = &e->summary, *logged = &c->state.summary;
    const struct {
        const char *what;
        bool is_same;
    } values[] = {
        {"parent", str_eq(listed->parent, logged->parent)},
        {"root", str_eq(e->root, c->state.root)},
        {"directory", str_eq(listed->cwd, logged->cwd)},
        {"name", str_eq(listed->name, logged->name)},
        {"provider", str_eq(listed->provider, logged->provider)},
        {"model", str_eq(listed->model, logged->model)},
        {"preview", str_eq(listed->preview, logged->preview)},
        {"time of creation", listed->created_ms == logged->created_ms},
        {"time of last use", listed->updated_ms == logged->updated_ms},
        {"number of events", listed->next_seq == logged->next_seq},
        {"number of messages", listed->n_messages == logged->n_messages},
    };

    for (size_t i = 0; c->state.is_created && i < ARRAY_LEN(values); i++)
        if (!values[i].is_same)
            report(c, "the list has a different %s than the log", values[i].what);
}

/* A line that a crash cut off was never acknowledged. A line that only lacks its end was. The list
 * knows how long the log was when the session was closed. */
static void check_end(struct checking *c, const char *dir, uint64_t end, struct str tail)
{
    struct files_entry listed = {0};
    struct files_line l;

    arena_clear(&c->scratch);
    if (files_index_find(dir, c->id, &c->scratch, &listed) && listed.end == c->state.end)
        check_entry(c, &listed);
    if (listed.end > end)
        report(c, "%" PRIu64 " byte%s missing at the end", listed.end - end,
               listed.end - end == 1 ? " is" : "s are");
    else if (tail.n && (files_line_parse(tail, &c->scratch, &l) ||
                        files_line_parse(str_slice(tail, 0, tail.n - 1), &c->scratch, &l)))
        report(c, "the end of the last line is damaged");
    else if (tail.n && listed.end == end - tail.n && !files_line_is_torn(tail, c->id))
        report(c, "%zu byte%s added at the end", tail.n, tail.n == 1 ? " was" : "s were");
}

static struct err *check_lines(struct checking *c, const char *dir, int fd, uint64_t end)
{
    AUTO(files_walk) struct files_walk w = {0};
    bool found = true;

    files_walk_init(&w, c->path, fd, 0, end);
    while (found) {
        struct str line;
        uint64_t start;

        TRY(files_walk_next(&w, &line, &start, &found));
        if (found)
            check_line(c, line, start);
    }
    report_broken(c);
    check_end(c, dir, end, str_skip(strbuf_str(&w.buffer), w.at));
    return NULL;
}

struct err *files_check_log(const char *dir, struct str id, struct store_damage_sink sink)
{
    char path[FILES_MAX_PATH];
    struct checking c = {.id = id, .path = path, .sink = sink, .next_seq = 1};
    uint64_t end;
    struct err *e;
    int fd;

    TRY(files_path(path, dir, id, ".jsonl"));
    TRY(files_open_to_read(path, &fd, &end));
    if (fd < 0)
        return files_no_log(dir, id, path);
    files_state_init(&c.state, id);
    e = check_lines(&c, dir, fd, end);
    close(fd);
    arena_done(&c.scratch);
    files_state_done(&c.state);
    return e;
}

/* --- all of them --- */

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(((const struct files_entry *)a)->summary.id,
                   ((const struct files_entry *)b)->summary.id);
}

static const struct files_entry *find_sorted(const struct files_index *x, struct str id)
{
    struct files_entry key = {.summary.id = id};

    return x->n ? bsearch(&key, x->entries, x->n, sizeof key, compare_ids) : NULL;
}

/* Does its chain of parents end anywhere but at a root? */
static bool is_stray(const struct files_index *x, const struct files_entry *e)
{
    const struct files_entry *at = e;

    for (unsigned depth = 0; at && at->summary.parent.n; depth++) {
        if (depth == MAX_DEPTH)
            return true;
        at = find_sorted(x, at->summary.parent);
    }
    return !at || !str_eq(e->root, at->summary.id);
}

static struct err *list_logs(const char *dir, struct arena *a, struct str **ret_ids, size_t *ret_n)
{
    size_t room = 0;
    DIR *d = opendir(dir);
    struct dirent *entry;
    struct str id;

    *ret_ids = NULL;
    *ret_n = 0;
    if (!d)
        return errno == ENOENT ? NULL : err_errno(ERR_STORAGE, errno, "cannot list %s", dir);
    while ((entry = readdir(d)))
        if (files_id_of(entry->d_name, &id)) {
            *ret_ids = arena_grow(a, *ret_ids, *ret_n, &room, sizeof **ret_ids);
            (*ret_ids)[(*ret_n)++] = arena_str(a, id);
        }
    closedir(d);
    return NULL;
}

/* What is wrong with a log that is not in the list. Empty: the log no longer exists. */
static struct str describe_unlisted(const char *path, struct arena *a)
{
    AUTO(err) struct err *e = NULL;
    AUTO_FREE char *text = NULL;
    uint64_t end;
    int fd;

    e = files_open_to_read(path, &fd, &end);
    if (e) {
        text = err_message(e);
        return arena_str(a, str_of(text));
    }
    if (fd < 0)
        return (struct str){0};
    close(fd);
    return arena_format(a, "%s is not in the list of sessions; keel session rebuild adds it", path);
}

/* The list gets an entry before the log exists. So the logs are read first. */
struct err *files_check_list(const char *dir, struct store_damage_sink sink)
{
    AUTO(arena) struct arena a = {0};
    AUTO(files_index) struct files_index x = {0};
    char path[FILES_MAX_PATH];
    struct str *ids;
    size_t n;

    TRY(list_logs(dir, &a, &ids, &n));
    TRY(files_index_read(dir, &x));
    if (x.n)
        qsort(x.entries, x.n, sizeof *x.entries, compare_ids);
    for (size_t i = 0; i < n; i++) {
        struct str text = {0};

        TRY(files_path(path, dir, ids[i], ".jsonl"));
        if (!find_sorted(&x, ids[i]) && !files_index_removes(&x, ids[i]))
            text = describe_unlisted(path, &a);
        if (text.n)
            sink.on_damage(sink.self, text);
    }
    for (size_t i = 0; i < x.n; i++)
        if (is_stray(&x, &x.entries[i]))
            sink.on_damage(sink.self,
                           store_stray(&a, x.entries[i].summary.id, x.entries[i].summary.parent));
    return NULL;
}
