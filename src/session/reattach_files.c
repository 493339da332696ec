/* reattach_files.c - the files in work: those used last, and how they begin.
 *
 * Which files the model has read is in the session's state; when each was last used, in the calls
 * of the history. Names are always given; a file's first lines only if it is still as it was read,
 * so that the model knows no more than it is taken to know. Links are not followed, and what a
 * rule hides is not named. */
#include "session/compact.h"

#include "base/file_kind.h"
#include "base/utf8.h"
#include "port/file_stamp.h"
#include "sys/fs.h"
#include "sys/spot.h"
#include "sys/work.h"

#include <fcntl.h>
#include <unistd.h>

#define MAX_FILES 10
#define MAX_USES 200 /* paths of calls that are looked at */
#define MAX_PATH_BYTES 4096
#define EXCERPT_BYTES 2048 /* of one file */
#define HEAD_BYTES 4096    /* that show what it is */

struct file {
    const char *path;        /* canonical */
    struct file_stamp stamp; /* when it was read */
    bool is_chosen;
};

struct file_excerpt {
    const char *path;
    bool has_changed;
    struct str text; /* the first lines; empty: not given */
    bool is_whole;
};

struct file_search {
    struct arena arena;
    const struct path_filter *hidden;
    struct file *files;
    size_t n_files, files_room;
    const char **uses; /* absolute, the last one first */
    size_t n_uses, uses_room;
    struct file_excerpt excerpts[MAX_FILES];
    size_t n_excerpts;
};

/* --- what the session knows: in the task --- */

static void collect_files(struct file_search *j, const struct tool_state *s)
{
    struct state_entry x;
    size_t at = 0;

    while (tool_state_next(s, STATE_FILE, &at, &x)) {
        struct str path = x.name;

        if (!str_starts(path, S("/")) || path.n >= MAX_PATH_BYTES || memchr(path.p, 0, path.n))
            continue; /* a log may say anything */
        j->files = arena_grow(&j->arena, j->files, j->n_files, &j->files_room, sizeof *j->files);
        j->files[j->n_files++] =
            (struct file){.path = arena_cstr(&j->arena, path), .stamp = file_stamp_read(x.value)};
    }
}

/* Any argument may be a path; what is none will not be the path of a file either. */
static void collect_paths(struct file_search *j, const struct tool_state *s, struct str args)
{
    AUTO(arena) struct arena scratch = {0};
    struct json *v;
    AUTO(err) struct err *e = json_parse(&scratch, args, 0, &v);

    if (e)
        return;
    json_each (member, v) {
        struct str given = json_str(member);

        if (!given.n || given.n >= MAX_PATH_BYTES || memchr(given.p, 0, given.n) ||
            memchr(given.p, '\n', given.n))
            continue;
        j->uses = arena_grow(&j->arena, j->uses, j->n_uses, &j->uses_room, sizeof *j->uses);
        j->uses[j->n_uses++] = tool_state_path(s, &j->arena, NULL, given);
    }
}

static void collect_uses(struct file_search *j, const struct tool_state *s, const struct history *h)
{
    for (size_t i = h->n_messages; i-- > 0;) {
        const struct message *m = h->messages[i];

        for (size_t k = m->n_parts; k-- > 0 && j->n_uses < MAX_USES;)
            if (m->parts[k].kind == PART_TOOL_CALL && !m->parts[k].is_free_text)
                collect_paths(j, s, m->parts[k].args);
    }
}

/* --- what is there: in a worker --- */

static bool is_hidden(const struct path_filter *hidden, const char *path)
{
    struct str all = str_of(path);

    for (size_t i = 1; hidden && i < all.n; i++)
        if (path[i] == '/' && hidden->is_hidden(hidden->self, str_slice(all, 0, i), true))
            return true;
    return hidden && hidden->is_hidden(hidden->self, all, /* is_dir= */ false);
}

static bool is_as_read(const struct file *f, const struct stat *s)
{
    struct file_stamp now = file_stamp_of(s);

    return file_stamp_eq(&now, &f->stamp);
}

/* The whole lines among the first bytes, if they are text. */
static void take_lines(struct file_search *j, struct file_excerpt *x, struct str bytes,
                       uint64_t size)
{
    size_t end;

    x->is_whole = bytes.n == size && bytes.n <= EXCERPT_BYTES;
    if (!bytes.n || file_kind_of(bytes).class != FILE_TEXT)
        return;
    bytes = utf8_truncate(bytes, EXCERPT_BYTES);
    end = x->is_whole ? bytes.n : str_rfind_char(bytes, '\n');
    if (end != STR_NONE && utf8_is_valid(str_slice(bytes, 0, end)))
        x->text = arena_str(&j->arena, str_slice(bytes, 0, end));
}

static void read_head(struct file_search *j, const struct file *f, const struct spot *spot,
                      struct file_excerpt *x)
{
    char bytes[HEAD_BYTES];
    struct stat s;
    AUTO(err) struct err *e = NULL;
    ssize_t n = -1;
    int fd;

    e = spot_open(spot, O_RDONLY | O_NONBLOCK | O_NOCTTY, &fd);
    if (e || fd < 0)
        return;
    if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && is_as_read(f, &s))
        n = pread(fd, bytes, sizeof bytes, 0);
    close(fd);
    if (n > 0)
        take_lines(j, x, str_make(bytes, (size_t)n), f->stamp.size);
}

static void look_at(struct file_search *j, struct file *f)
{
    AUTO(spot) struct spot spot = SPOT_NONE;
    AUTO(err) struct err *e = NULL;
    struct file_excerpt x = {.path = f->path};
    struct stat s;
    bool exists;

    f->is_chosen = true;
    if (is_hidden(j->hidden, f->path))
        return;
    e = spot_find(f->path, f->path, &spot);
    if (!e)
        e = spot_look(&spot, &exists, &s);
    if (e || !exists || !S_ISREG(s.st_mode))
        return;
    x.has_changed = !is_as_read(f, &s);
    if (!x.has_changed)
        read_head(j, f, &spot, &x);
    j->excerpts[j->n_excerpts++] = x;
}

static struct file *find_file(const struct file_search *j, const char *path)
{
    for (size_t i = 0; i < j->n_files; i++)
        if (strcmp(j->files[i].path, path) == 0)
            return &j->files[i];
    return NULL;
}

/* Those of calls first, then those that were read last. */
static struct err *look(void *arg)
{
    struct file_search *j = arg;

    for (size_t i = 0; i < j->n_uses && j->n_excerpts < MAX_FILES && !work_cancelled(); i++) {
        struct file *f = find_file(j, fs_resolve(&j->arena, j->uses[i]));

        if (f && !f->is_chosen)
            look_at(j, f);
    }
    for (size_t i = j->n_files; i-- > 0 && j->n_excerpts < MAX_FILES && !work_cancelled();)
        if (!j->files[i].is_chosen)
            look_at(j, &j->files[i]);
    return NULL;
}

/* --- what the model reads --- */

/* A name may hold anything but must stay on its line. */
static void add_path(struct strbuf *out, const char *path)
{
    for (; *path; path++)
        strbuf_add_char(out, (unsigned char)*path < ' ' || *path == 0x7F ? '?' : *path);
}

static void add_name(const struct file_excerpt *x, struct strbuf *out)
{
    strbuf_add_cstr(out, "\n- ");
    add_path(out, x->path);
    if (x->has_changed)
        strbuf_add_cstr(out, " (has changed since it was read: read it again before using it)");
}

static void add_excerpt(const struct file_excerpt *x, size_t max_bytes, struct strbuf *out)
{
    if (!x->text.n || out->n + x->text.n + strlen(x->path) + 100 > max_bytes)
        return;
    strbuf_add_cstr(out, "\n\n<file path=\"");
    add_path(out, x->path);
    strbuf_addf(out, "\">\n%" STR_FMT, STR_ARG(x->text));
    if (!str_ends(x->text, S("\n")))
        strbuf_add_char(out, '\n');
    strbuf_addf(out, "%s</file>", x->is_whole ? "" : "[only its first lines]\n");
}

static void write_files(const struct file_search *j, size_t max_bytes, struct strbuf *out)
{
    if (!j->n_excerpts)
        return;
    strbuf_add_cstr(out, "Files in work, the last used first:");
    for (size_t i = 0; i < j->n_excerpts; i++)
        add_name(&j->excerpts[i], out);
    for (size_t i = 0; i < j->n_excerpts; i++)
        add_excerpt(&j->excerpts[i], max_bytes, out);
}

static struct err *attach_files(void *self, const struct reattaching *r, struct strbuf *out)
{
    const struct tool_state *s = r->conversation->state;
    struct file_search j = {.hidden = r->hidden};
    struct err *e = NULL;

    collect_files(&j, s);
    if (j.n_files) {
        collect_uses(&j, s, &r->conversation->history);
        e = work_run(look, &j);
    }
    if (!e)
        write_files(&j, r->max_bytes, out);
    arena_done(&j.arena);
    return e;
}

const struct reattacher reattach_files = {.attach = attach_files};
