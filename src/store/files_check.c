/* files_check.c - every byte of a log belongs to a line that is what it was, where it was.
 *
 * Reading tells of records that are lost. This tells of the rest: lines of the store's own, lines
 * that stand there twice, and what stands between lines. */
#include "store/files_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TOLD 100 /* of one log */
#define MAX_DEPTH 64 /* of child runs; damage may have made a circle of parents */

struct checking {
    struct str id;
    const char *path;
    struct store_damage_sink sink;
    unsigned n_told;
    uint64_t n_lines;
    uint64_t next_seq;
    int64_t shift;   /* how far lines stand behind where they were written */
    uint64_t broken; /* the last line that cannot be read; 0: there is none, or it was a record */
    struct arena scratch; /* of one line */
    struct files_state state;
};

static void tell(struct checking *c, const char *format, ...) PRINTF_LIKE(2, 3);
static void tell(struct checking *c, const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    if (++c->n_told > MAX_TOLD)
        return;
    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    strbuf_addf(&text, " in %s", c->path);
    c->sink.on_damage(c->sink.self, strbuf_str(&text));
}

static void tell_broken(struct checking *c)
{
    if (c->broken)
        tell(c, "line %" PRIu64 " is damaged", c->broken);
    c->broken = 0;
}

/* Where records are missing reading says so: they were on the lines that are broken or gone. */
static void check_place(struct checking *c, const struct files_line *l, uint64_t start)
{
    int64_t shift = l->at == FILES_LINE_NOWHERE ? c->shift : (int64_t)start - (int64_t)l->at;
    bool has_gap = !l->is_own && l->record.seq > c->next_seq;

    if (has_gap)
        c->broken = 0;
    tell_broken(c);
    if (shift > c->shift && !has_gap)
        tell(c, "%" PRId64 " byte%s added before line %" PRIu64, shift - c->shift,
             shift - c->shift == 1 ? " was" : "s were", c->n_lines);
    if (shift < c->shift && !has_gap)
        tell(c, "%" PRId64 " byte%s missing before line %" PRIu64, c->shift - shift,
             c->shift - shift == 1 ? " is" : "s are", c->n_lines);
    c->shift = shift;
}

static void check_line(struct checking *c, struct str line, uint64_t start)
{
    struct files_line l;

    c->n_lines++;
    arena_clear(&c->scratch);
    if (!files_line_parse(line, &c->scratch, &l)) {
        tell_broken(c);
        c->broken = c->n_lines;
        return;
    }
    if (!str_eq(l.id, c->id))
        tell(c, "line %" PRIu64 " belongs to another session", c->n_lines);
    check_place(c, &l, start);
    files_state_add(&c->state, &l);
    c->state.end = start + line.n + 1;
    if (l.is_own)
        return;
    if (l.record.seq < c->next_seq)
        tell(c, "line %" PRIu64 " has event %" PRIu64 ", which an earlier line also has",
             c->n_lines, l.record.seq);
    c->next_seq = MAX(c->next_seq, l.record.seq + l.record.n_events);
}

/* The list is derived from the log: where it knows all of it, it says the same. */
static void check_entry(struct checking *c, const struct files_entry *e)
{
    const struct store_summary *listed = &e->summary, *told = &c->state.summary;
    const struct {
        const char *what;
        bool is_same;
    } values[] = {
        {"parent", str_eq(listed->parent, told->parent)},
        {"root", str_eq(e->root, c->state.root)},
        {"directory", str_eq(listed->cwd, told->cwd)},
        {"name", str_eq(listed->name, told->name)},
        {"provider", str_eq(listed->provider, told->provider)},
        {"model", str_eq(listed->model, told->model)},
        {"preview", str_eq(listed->preview, told->preview)},
        {"time of creation", listed->created_ms == told->created_ms},
        {"time of last use", listed->updated_ms == told->updated_ms},
        {"number of events", listed->next_seq == told->next_seq},
        {"number of messages", listed->n_messages == told->n_messages},
    };

    for (size_t i = 0; c->state.is_created && i < ARRAY_LEN(values); i++)
        if (!values[i].is_same)
            tell(c, "the list has a different %s than the log", values[i].what);
}

/* What a crash had cut off was not acknowledged; a line that is whole but for its end was. The list
 * knows how long the log was when the session was closed. */
static void check_end(struct checking *c, const char *dir, uint64_t end, struct str tail)
{
    struct files_entry listed = {0};
    struct files_line l;

    arena_clear(&c->scratch);
    if (files_index_find(dir, c->id, &c->scratch, &listed) && listed.end == c->state.end)
        check_entry(c, &listed);
    if (listed.end > end)
        tell(c, "%" PRIu64 " byte%s missing at the end", listed.end - end,
             listed.end - end == 1 ? " is" : "s are");
    else if (tail.n && (files_line_parse(tail, &c->scratch, &l) ||
                        files_line_parse(str_slice(tail, 0, tail.n - 1), &c->scratch, &l)))
        tell(c, "the end of the last line is damaged");
    else if (tail.n && listed.end == end - tail.n && !files_line_is_torn(tail, c->id))
        tell(c, "%zu byte%s added at the end", tail.n, tail.n == 1 ? " was" : "s were");
}

static struct err *walk(struct checking *c, const char *dir, int fd, uint64_t end)
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
    tell_broken(c);
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
    e = walk(&c, dir, fd, end);
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

/* Does its parent lead to a session without one? */
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

/* What there is to say of a log that is not in the list; empty: it is gone meanwhile. */
static struct str tell_unlisted(const char *path, struct arena *a)
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

/* The list knows of a session before its log is there: so the logs are looked at first. */
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
            text = tell_unlisted(path, &a);
        if (text.n)
            sink.on_damage(sink.self, text);
    }
    for (size_t i = 0; i < x.n; i++)
        if (is_stray(&x, &x.entries[i]))
            sink.on_damage(sink.self,
                           store_stray(&a, x.entries[i].summary.id, x.entries[i].summary.parent));
    return NULL;
}
