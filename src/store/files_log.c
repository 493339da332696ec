/* files_log.c - walks through a log and collects what it says of its session. */
#include "store/files_store.h"

#include "base/uuid.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((size_t)256 << 10)
#define MAX_CLOCK 64
#define MAX_LINE ((size_t)256 << 20)

/* --- places --- */

struct err *files_path(char path[FILES_MAX_PATH], const char *dir, struct str id,
                       const char *suffix)
{
    int n = snprintf(path, FILES_MAX_PATH, "%s/%" STR_FMT "%s", dir, STR_ARG(id), suffix);

    if (n > 0 && n < FILES_MAX_PATH)
        return NULL;
    return err_hint(err_new(ERR_STORAGE, "the path of %s is too long", dir),
                    "choose a store with a shorter path with --store");
}

/* No id begins with a dot. */
const char *files_lock_dir(struct arena *a, const char *dir)
{
    return fs_join(a, dir, ".locks");
}

/* A process that deletes a session removes its log and its entry under the index's lock. */
static bool is_still_listed(const char *dir, struct str id)
{
    AUTO(files_index) struct files_index x = {0};
    struct err *e;
    int lock;

    e = files_index_lock(dir, &lock);
    if (!e)
        close(lock);
    err_ignore(e, "where it cannot be taken no session is deleted");
    err_ignore(files_index_read(dir, &x), "then nothing is listed");
    return files_find_entry(&x, id);
}

struct err *files_no_log(const char *dir, struct str id, const char *path)
{
    if (!is_still_listed(dir, id))
        return store_no_session(id);
    return err_hint(
        err_new(ERR_STORAGE, "session %" STR_FMT " has no log: %s is missing", STR_ARG(id), path),
        "restore it from a backup, or remove the rest with keel session delete");
}

struct err *files_cannot_open(int error, const char *path)
{
    if (error != ELOOP)
        return err_errno(ERR_STORAGE, error, "cannot open %s", path);
    return err_hint(err_new(ERR_STORAGE, "%s is a symbolic link", path),
                    "a log must be a regular file: move the file itself to this name");
}

struct err *files_not_a_log(const char *path)
{
    return err_hint(err_new(ERR_STORAGE, "%s is not a regular file", path),
                    "move it away, and put the log there if you have it");
}

/* O_NONBLOCK: opening a pipe would wait for its writer. */
struct err *files_open_to_read(const char *path, int *ret_fd, uint64_t *ret_end)
{
    struct err *e = NULL;
    struct stat st;

    *ret_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (*ret_fd < 0)
        return errno == ENOENT ? NULL : files_cannot_open(errno, path);
    if (fstat(*ret_fd, &st) < 0)
        e = err_errno(ERR_STORAGE, errno, "cannot stat %s", path);
    else if (!S_ISREG(st.st_mode))
        e = files_not_a_log(path);
    if (e) {
        close(*ret_fd);
        *ret_fd = -1;
        return e;
    }
    *ret_end = (uint64_t)st.st_size;
    return NULL;
}

bool files_id_of(const char *name, struct str *ret_id)
{
    struct str whole = str_of(name), suffix = S(".jsonl");

    if (!str_ends(whole, suffix))
        return false;
    *ret_id = str_slice(whole, 0, whole.n - suffix.n);
    return store_id_is_valid(*ret_id);
}

bool files_is_name(struct str name)
{
    size_t n = UUID_TEXT_SIZE - 1;

    return name.n > n && name.p[n] == '.' && uuid_is_valid(str_slice(name, 0, n));
}

struct err *files_lock(int fd, const char *path)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    for (unsigned i = 0; fcntl(fd, F_OFD_SETLK, &whole) < 0; i++) {
        if (errno != EAGAIN && errno != EACCES)
            return err_errno(ERR_STORAGE, errno, "cannot lock %s", path);
        if (!work_pause(i))
            return err_new(ERR_STORAGE, "cannot lock %s: another process holds it", path);
    }
    return NULL;
}

struct err *files_sync_dir(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct err *e = NULL;

    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        e = err_errno(ERR_STORAGE, errno, "cannot make the directory %s durable", dir);
    if (fd >= 0)
        close(fd);
    return e;
}

/* --- the time --- */

/* An unreadable belief counts as none: it is written again. */
struct err *files_belief_read(const char *dir, struct store_belief *ret_belief)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_CLOCK};
    struct store_belief b;
    struct str looked, rest;
    bool exists;

    TRY(fs_read(fs_join(&a, dir, ".clock"), &text, &exists));
    rest = str_trim(strbuf_str(&text));
    if (exists && str_split(&rest, ' ', &looked) && str_to_int64(looked, &b.looked_ms) &&
        str_to_int64(rest, &b.believed_ms))
        *ret_belief = b;
    return NULL;
}

struct err *files_belief_write(const char *dir, const struct store_belief *b)
{
    AUTO(arena) struct arena a = {0};

    return fs_write_atomic(
        fs_join(&a, dir, ".clock"),
        arena_format(&a, "%" PRId64 " %" PRId64 "\n", b->looked_ms, b->believed_ms), 0600);
}

/* --- lines --- */

void files_walk_init(struct files_walk *w, const char *path, int fd, uint64_t from, uint64_t end)
{
    *w = (struct files_walk){.path = path, .fd = fd, .offset = from, .end = end};
    strbuf_init(&w->buffer, MAX_LINE);
}

void files_walk_done(struct files_walk *w)
{
    strbuf_done(&w->buffer);
}

/* *ret_n is 0 at the end. */
static struct err *read_more(struct files_walk *w, size_t *ret_n)
{
    uint64_t from = w->offset + w->buffer.n;
    size_t n = (size_t)MIN((uint64_t)MAX(STEP, w->buffer.n), w->end - MIN(from, w->end));
    char *at = strbuf_reserve(&w->buffer, n);
    ssize_t got;

    *ret_n = 0;
    if (n == 0)
        return NULL;
    if (!at)
        return err_new(ERR_STORAGE, "%s has a line of more than %zu bytes", w->path, MAX_LINE);
    do
        got = pread(w->fd, at, n, (off_t)from);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read %s", w->path);
    strbuf_grew(&w->buffer, (size_t)got);
    *ret_n = (size_t)got;
    return NULL;
}

struct err *files_walk_next(struct files_walk *w, struct str *ret_line, uint64_t *ret_start,
                            bool *ret_found)
{
    size_t seen = w->at, n, length;

    for (;;) {
        length = str_find_char(str_skip(strbuf_str(&w->buffer), seen), '\n');
        if (length != STR_NONE)
            break;
        strbuf_drop_front(&w->buffer, w->at);
        w->offset += w->at;
        w->at = 0;
        seen = w->buffer.n;
        TRY(read_more(w, &n));
        if (n == 0)
            break;
    }
    *ret_found = length != STR_NONE;
    *ret_start = w->offset + w->at;
    if (*ret_found) {
        *ret_line = str_make(w->buffer.p + w->at, seen + length - w->at);
        w->at = seen + length + 1;
    }
    return NULL;
}

/* --- what the lines say --- */

void files_state_init(struct files_state *s, struct str id)
{
    *s = (struct files_state){.summary.next_seq = 1};
    s->summary.id = arena_str(&s->arena, id);
    s->root = s->summary.id;
}

void files_state_done(struct files_state *s)
{
    arena_done(&s->arena);
    *s = (struct files_state){0};
}

struct store_summary files_copy_summary(struct arena *a, const struct store_summary *s)
{
    struct store_summary copy = *s;

    copy.id = arena_str(a, s->id);
    copy.parent = arena_str(a, s->parent);
    copy.cwd = arena_str(a, s->cwd);
    copy.name = arena_str(a, s->name);
    copy.provider = arena_str(a, s->provider);
    copy.model = arena_str(a, s->model);
    copy.preview = arena_str(a, s->preview);
    copy.holder = arena_str(a, s->holder);
    return copy;
}

void files_state_copy(struct files_state *to, const struct files_state *from)
{
    *to = *from;
    to->arena = (struct arena){0};
    to->summary = files_copy_summary(&to->arena, &from->summary);
    to->root = arena_str(&to->arena, from->root);
}

static void set_text(struct files_state *s, struct str *to, struct str from)
{
    if (from.n && !str_eq(*to, from))
        *to = arena_str(&s->arena, from);
}

void files_state_update(struct files_state *s, const struct store_summary *u)
{
    struct store_summary *to = &s->summary;

    set_text(s, &to->cwd, u->cwd);
    set_text(s, &to->name, u->name);
    set_text(s, &to->provider, u->provider);
    set_text(s, &to->model, u->model);
    set_text(s, &to->preview, u->preview);
    to->updated_ms = MAX(to->updated_ms, u->updated_ms);
    if (u->n_messages)
        to->n_messages = u->n_messages == STORE_NO_MESSAGES ? 0 : u->n_messages;
}

/* -1 means that none are left. */
static uint64_t messages_of(const struct json *body)
{
    int64_t n = json_int_or(json_get(body, "messages"), 0);

    return n < 0 ? STORE_NO_MESSAGES : (uint64_t)n;
}

static void add_own(struct files_state *s, const struct files_line *l)
{
    AUTO(arena) struct arena a = {0};
    struct json_where where;
    struct json *body;

    s->fence = MAX(s->fence, l->fence);
    if (!json_parse_at(&a, files_line_body(l, &a), JSON_REPAIR_UTF8, &body, &where))
        return;
    if (str_is(l->record.type, FILES_CREATED)) {
        s->is_created = true;
        s->summary.created_ms = json_int_or(json_get(body, "createdMs"), l->record.unix_ms);
        set_text(s, &s->summary.parent, json_get_text(body, "parent"));
        set_text(s, &s->root, json_get_text(body, "root"));
    }
    if (str_is(l->record.type, FILES_CLAMPED))
        s->summary.updated_ms = 0;
    files_state_update(s, &(struct store_summary){
                              .cwd = json_get_text(body, "cwd"),
                              .name = json_get_text(body, "name"),
                              .provider = json_get_text(body, "provider"),
                              .model = json_get_text(body, "model"),
                              .preview = json_get_text(body, "preview"),
                              .updated_ms = json_int_or(json_get(body, "updatedMs"), 0),
                              .n_messages = messages_of(body),
                          });
}

void files_state_add(struct files_state *s, const struct files_line *l)
{
    const struct store_record *r = &l->record;

    if (l->is_own) {
        add_own(s, l);
        return;
    }
    s->summary.next_seq = MAX(s->summary.next_seq, r->seq + r->n_events);
    s->summary.n_bytes += l->members.n + 2;
    s->summary.updated_ms = MAX(s->summary.updated_ms, r->unix_ms);
    files_state_update(s, &(struct store_summary){.n_messages = l->n_messages});
}

struct err *files_state_scan(struct files_state *s, const char *path, int fd, uint64_t end)
{
    AUTO(files_walk) struct files_walk w = {0};
    AUTO(arena) struct arena a = {0};
    struct files_line l;
    struct str line;
    uint64_t start;
    bool found;

    files_walk_init(&w, path, fd, s->end, end);
    for (;;) {
        TRY(files_walk_next(&w, &line, &start, &found));
        if (!found)
            return NULL;
        arena_clear(&a);
        if (!files_line_parse(line, &a, &l))
            continue;
        files_state_add(s, &l);
        s->end = start + line.n + 1;
    }
}

struct err *files_state_load(struct files_state *s, const char *dir, bool *ret_found)
{
    char path[FILES_MAX_PATH];
    uint64_t end;
    struct err *e;
    int fd;

    TRY(files_path(path, dir, s->summary.id, ".jsonl"));
    TRY(files_open_to_read(path, &fd, &end));
    *ret_found = fd >= 0;
    if (fd < 0)
        return NULL;
    e = files_state_scan(s, path, fd, end);
    close(fd);
    return e;
}

/* --- the store's own lines --- */

static void write_text(struct json_writer *w, const char *key, struct str text)
{
    if (text.n)
        jw_kv_str(w, key, text);
}

static void write_summary(struct json_writer *w, const struct store_summary *u)
{
    write_text(w, "cwd", u->cwd);
    write_text(w, "name", u->name);
    write_text(w, "provider", u->provider);
    write_text(w, "model", u->model);
    write_text(w, "preview", u->preview);
    if (u->updated_ms)
        jw_kv_int(w, "updatedMs", u->updated_ms);
    if (u->n_messages)
        jw_kv_int(w, "messages", (int64_t)u->n_messages);
}

void files_write_own(struct strbuf *out, uint64_t base, struct str id, const char *type,
                     int64_t unix_ms, uint64_t fence, const struct files_state *created,
                     const struct store_summary *update)
{
    AUTO(strbuf) struct strbuf body = {0};
    struct files_line l = {.is_own = true, .fence = fence};
    struct json_writer w;

    jw_init(&w, &body);
    jw_begin_object(&w);
    if (created) {
        jw_kv_int(&w, "createdMs", created->summary.created_ms);
        write_text(&w, "parent", created->summary.parent);
        write_text(&w, "root", created->root);
        write_summary(&w, &created->summary);
    }
    if (update)
        write_summary(&w, update);
    jw_end_object(&w);
    l.record =
        (struct store_record){.unix_ms = unix_ms, .type = str_of(type), .body = strbuf_str(&body)};
    files_line_write(out, base, id, &l);
}
