/* files_check.c - every byte of a log belongs to a line that is what it was, where it was.
 *
 * Reading tells of records that are lost. This tells of the rest: lines of the store's own, lines
 * that stand there twice, and what stands between lines. */
#include "store/files_store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TOLD 100 /* of one log */

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
    if (shift != c->shift && !has_gap)
        tell(c, "%" PRId64 " bytes %s before line %" PRIu64,
             shift > c->shift ? shift - c->shift : c->shift - shift,
             shift > c->shift ? "are too many" : "are missing", c->n_lines);
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
        tell(c, "line %" PRIu64 " is of another session", c->n_lines);
    check_place(c, &l, start);
    if (l.is_own)
        return;
    if (l.record.seq < c->next_seq)
        tell(c, "line %" PRIu64 " has event %" PRIu64 ", which a line before it has, too",
             c->n_lines, l.record.seq);
    c->next_seq = MAX(c->next_seq, l.record.seq + l.record.n_events);
}

/* What a crash had cut off was not acknowledged; a line that is whole but for its end was. The list
 * knows how long the log was when the session was closed. */
static void check_end(struct checking *c, const char *dir, uint64_t end, struct str tail)
{
    struct files_entry listed = {0};
    struct files_line l;

    arena_clear(&c->scratch);
    files_index_find(dir, c->id, &c->scratch, &listed);
    if (listed.end > end)
        tell(c, "%" PRIu64 " bytes are missing at the end", listed.end - end);
    else if (tail.n && (files_line_parse(tail, &c->scratch, &l) ||
                        files_line_parse(str_slice(tail, 0, tail.n - 1), &c->scratch, &l)))
        tell(c, "the end of the last line is damaged");
    else if (tail.n && listed.end == end - tail.n && !files_line_is_torn(tail, c->id))
        tell(c, "%zu bytes at the end are too many", tail.n);
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
    struct stat st;
    struct err *e;
    int fd;

    TRY(files_path(path, dir, id, ".jsonl"));
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? files_no_session(id) : files_cannot_open(errno, path);
    e = fstat(fd, &st) < 0 ? err_errno(ERR_STORAGE, errno, "cannot look at %s", path)
                           : walk(&c, dir, fd, (uint64_t)st.st_size);
    close(fd);
    arena_done(&c.scratch);
    return e;
}
