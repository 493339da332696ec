/* files_write.c - changes a log: always under the file's lock, with one write and one fsync.
 *
 * The holder of the lock sees a log at rest. Bytes after the last good line were torn by a crash
 * and are moved aside. New good lines come from others: they change the summary, which needs no
 * lease, or they end this lease. */
#include "store/files_store.h"

#include "sys/auto_fd.h"
#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err *written_by_others(struct str root)
{
    return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is now written by another process",
                            STR_ARG(root)),
                    "open it again, or continue in a copy of it with --fork-session");
}

static struct err *cannot_write(int error, const char *path)
{
    struct err *e;

    if (error == ELOOP)
        return files_cannot_open(error, path);
    e = err_errno(ERR_STORAGE, error, "cannot write %s", path);
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return err_hint(e, "free some disk space, or choose another store with --store");
    return err_hint(e, "check its permissions, or choose another store with --store");
}

/* --- the file --- */

static struct err *size_of(int fd, const char *path, uint64_t *ret_bytes)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot stat %s", path);
    if (!S_ISREG(st.st_mode))
        return files_not_a_log(path);
    *ret_bytes = (uint64_t)st.st_size;
    return NULL;
}

static int write_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        bytes = str_skip(bytes, (size_t)n);
    }
    return 0;
}

/* Appends all bytes at `end`, or nothing. *ret_unsure: the file may hold a part of them. */
static struct err *append_bytes(int fd, const char *path, uint64_t end, struct str bytes,
                                bool *ret_unsure)
{
    int error = write_all(fd, bytes);

    if (!error && fdatasync(fd) < 0)
        error = errno;
    if (!error)
        return NULL;
    *ret_unsure = ftruncate(fd, (off_t)end) < 0 || fdatasync(fd) < 0;
    return cannot_write(error, path);
}

/* --- what a crash has torn --- */

static struct err *move_aside(int fd, const char *path, uint64_t from, size_t n, int64_t unix_ms,
                              char torn[FILES_MAX_PATH])
{
    AUTO(strbuf) struct strbuf bytes = {0};
    bool created = false;

    TRY(fs_read_range(path, from, n, &bytes));
    for (unsigned i = 0; !created; i++) {
        int length = snprintf(torn, FILES_MAX_PATH, "%s.torn-%lld", path, (long long)unix_ms + i);

        if (length < 0 || length >= FILES_MAX_PATH)
            return err_new(ERR_STORAGE, "the path of %s is too long", path);
        TRY(fs_create(torn, strbuf_str(&bytes), 0600, &created));
    }
    if (ftruncate(fd, (off_t)from) < 0 || fdatasync(fd) < 0)
        return cannot_write(errno, path);
    return NULL;
}

static struct err *cut_torn(int fd, const char *path, struct files_state *s, uint64_t size,
                            int64_t unix_ms, struct strbuf *notice)
{
    char torn[FILES_MAX_PATH];

    if (size == s->end)
        return NULL;
    TRY(move_aside(fd, path, s->end, (size_t)(size - s->end), unix_ms, torn));
    if (notice)
        strbuf_addf(notice,
                    "the end of %s was damaged, probably by a crash; its last %" PRIu64
                    " bytes are now in %s",
                    path, size - s->end, torn);
    return NULL;
}

/* --- appending --- */

/* Reads what others have appended. The holder of a lease must not find their records. */
static struct err *catch_up(int fd, const char *path, struct files_state *s, bool has_lease,
                            int64_t unix_ms, bool *ret_lost)
{
    uint64_t size, next_seq = s->summary.next_seq, fence = s->fence;

    TRY(size_of(fd, path, &size));
    if (size == s->end)
        return NULL;
    if (size > s->end)
        TRY(files_state_scan(s, path, fd, size));
    *ret_lost =
        size < s->end || (has_lease && (s->summary.next_seq != next_seq || s->fence != fence));
    if (*ret_lost)
        return written_by_others(s->root);
    return cut_torn(fd, path, s, size, unix_ms, NULL);
}

/* A lock file that was removed by hand locks nothing. */
bool files_holds_lease(int lock_fd)
{
    struct stat st;

    return lock_fd < 0 || (fstat(lock_fd, &st) == 0 && st.st_nlink > 0);
}

static bool is_empty_update(const struct store_summary *u)
{
    return !u->cwd.n && !u->name.n && !u->provider.n && !u->model.n && !u->preview.n &&
           !u->updated_ms && !u->n_messages;
}

/* Changes of the list come before the records that cause them, and a record that changes the number
 * of messages says so itself. So whatever remains of a torn append is true. */
static void write_append(struct strbuf *out, const struct files_state *s,
                         const struct files_append *w, int64_t unix_ms)
{
    struct store_summary rest = w->update ? *w->update : (struct store_summary){0};

    for (size_t i = 0; i < w->n_records; i++)
        if (w->records[i].n_messages)
            rest.n_messages = 0;
    if (w->is_clamp || !is_empty_update(&rest))
        files_write_own(out, s->end, s->summary.id, w->is_clamp ? FILES_CLAMPED : FILES_UPDATED,
                        unix_ms, 0, NULL, &rest);
    for (size_t i = 0; i < w->n_records; i++) {
        struct files_line l = {.record = w->records[i], .n_messages = w->records[i].n_messages};

        files_line_write(out, s->end, s->summary.id, &l);
    }
}

/* Payloads belong to the session and are removed with it. Whether they exist is only the caller's
 * belief. */
static struct err *check_payloads(const char *dir, struct str id, const struct files_append *w)
{
    AUTO(arena) struct arena a = {0};

    for (size_t i = 0; i < w->n_records; i++)
        for (size_t k = 0; k < w->records[i].n_payloads; k++) {
            struct str handle = w->records[i].payloads[k];

            if (!fs_exists(arena_format(&a, "%s/%" STR_FMT FILES_PAYLOADS "/%" STR_FMT ".json", dir,
                                        STR_ARG(id), STR_ARG(handle))
                               .p))
                return store_payload_missing(handle);
        }
    return NULL;
}

/* Encodes the valid appends; the others get their error. */
static void write_accepted(struct strbuf *out, const char *dir, const struct files_state *s,
                           struct files_append *first, int64_t unix_ms)
{
    uint64_t next_seq = s->summary.next_seq;

    for (struct files_append *w = first; w; w = w->next) {
        size_t before = out->n;

        if (!w->is_update)
            w->error = store_check_append(next_seq, w->expected_seq, w->records, w->n_records);
        if (!w->error)
            w->error = check_payloads(dir, s->summary.id, w);
        if (w->error)
            continue;
        write_append(out, s, w, unix_ms);
        if (strbuf_is_over(out)) {
            w->error = strbuf_check(out, "the data to append");
            w->error->kind = ERR_STORAGE;
            strbuf_cut(out, before);
            continue;
        }
        for (size_t i = 0; i < w->n_records; i++)
            next_seq += w->records[i].n_events;
    }
}

static void apply(struct files_state *s, const struct files_append *first)
{
    for (const struct files_append *w = first; w; w = w->next) {
        if (w->error)
            continue;
        for (size_t i = 0; i < w->n_records; i++) {
            s->summary.next_seq += w->records[i].n_events;
            s->summary.n_bytes += w->records[i].body.n + w->records[i].n_payload_bytes;
            s->summary.updated_ms = MAX(s->summary.updated_ms, w->records[i].unix_ms);
        }
        if (w->is_clamp)
            s->summary.updated_ms = 0;
        if (w->update)
            files_state_update(s, w->update);
    }
}

struct err *files_append_all(const char *dir, struct files_state *s, int lock_fd, int64_t unix_ms,
                             struct files_append *first, bool *ret_lost)
{
    AUTO(strbuf) struct strbuf out = {0};
    char path[FILES_MAX_PATH];
    AUTO_FD fd = -1;

    strbuf_init(&out, (size_t)512 << 20);
    TRY(files_path(path, dir, s->summary.id, ".jsonl"));
    *ret_lost = !files_holds_lease(lock_fd);
    if (*ret_lost && access(path, F_OK) == 0)
        return written_by_others(s->root);
    if (*ret_lost) /* not by keel, which leaves the lock when it removes a log */
        return err_hint(err_new(ERR_STORAGE, "a file in %s was moved or removed while in use", dir),
                        "put it back if you can; keel stores nothing more until it is restarted");
    fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? store_no_session(s->summary.id) : cannot_write(errno, path);
    TRY(files_lock(fd, path));
    TRY(catch_up(fd, path, s, /* has_lease= */ lock_fd >= 0, unix_ms, ret_lost));
    write_accepted(&out, dir, s, first, unix_ms);
    TRY(append_bytes(fd, path, s->end, strbuf_str(&out), ret_lost));
    s->end += out.n;
    apply(s, first);
    return NULL;
}

/* --- beginnings --- */

static struct err *write_created(int fd, const char *path, struct files_state *s, int64_t unix_ms,
                                 uint64_t fence)
{
    AUTO(strbuf) struct strbuf out = {0};
    bool unsure;

    if (!s->is_created)
        files_write_own(&out, s->end, s->summary.id, FILES_CREATED, unix_ms, 0, s, NULL);
    if (fence)
        files_write_own(&out, s->end, s->summary.id, FILES_OPENED, unix_ms, fence, NULL, NULL);
    TRY(append_bytes(fd, path, s->end, strbuf_str(&out), &unsure));
    s->is_created = true;
    s->fence = MAX(s->fence, fence);
    s->end += out.n;
    return NULL;
}

static struct err *create_file(const char *dir, const char *path, struct files_state *s,
                               int64_t unix_ms, uint64_t fence)
{
    AUTO_FD fd = -1;
    struct err *e;

    fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return cannot_write(errno, path);
    TRY(files_lock(fd, path));
    e = write_created(fd, path, s, unix_ms, fence);
    if (!e)
        e = files_sync_dir(dir);
    if (e)
        unlink(path);
    return e;
}

/* A crash left a log in which nothing was recorded, perhaps not even its first line. */
static struct err *complete_file(const char *path, struct files_state *s, int64_t unix_ms,
                                 uint64_t fence)
{
    uint64_t size;
    AUTO_FD fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return cannot_write(errno, path);
    TRY(files_lock(fd, path));
    TRY(size_of(fd, path, &size));
    TRY(files_state_scan(s, path, fd, size));
    if (s->summary.next_seq > 1)
        return err_new(ERR_STORAGE, "session %" STR_FMT " already exists", STR_ARG(s->summary.id));
    TRY(cut_torn(fd, path, s, size, unix_ms, NULL));
    return write_created(fd, path, s, unix_ms, fence);
}

struct err *files_create_log(const char *dir, struct files_state *s, int64_t unix_ms,
                             uint64_t fence)
{
    char path[FILES_MAX_PATH];
    AUTO_FD index = -1;
    struct err *e;

    TRY(files_path(path, dir, s->summary.id, ".jsonl"));
    TRY(files_index_lock(dir, &index));
    /* The list gets its entry first: a session that the list lacks is worse than an entry without
     * a log. */
    if (fs_exists(path))
        return complete_file(path, s, unix_ms, fence);
    e = files_index_put(dir, s, /* is_durable= */ true);
    if (!e)
        e = create_file(dir, path, s, unix_ms, fence);
    if (e)
        files_index_forget_or_drop(dir, &s->summary.id, 1);
    return e;
}

static void take_summary(struct files_state *s, const struct store_summary *create)
{
    s->summary.created_ms = create->created_ms;
    s->summary.updated_ms = create->created_ms;
    files_state_update(s, create);
}

/* The line with the session's origin may be lost or was never written; the list got it before.
 * Lines of the log are newer. */
static void take_listed(const char *dir, struct files_state *s)
{
    struct store_summary newer = s->summary;
    struct files_entry listed;

    if (!files_index_find(dir, s->summary.id, &s->arena, &listed))
        return;
    take_summary(s, &listed.summary);
    files_state_update(s, &newer);
}

struct err *files_open_log(const char *dir, struct str id, const struct store_summary *create,
                           int64_t unix_ms, struct files_state *s, struct strbuf *notice,
                           bool *ret_new)
{
    char path[FILES_MAX_PATH];
    uint64_t size;
    AUTO_FD fd = -1;

    TRY(files_path(path, dir, id, ".jsonl"));
    fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    *ret_new = fd < 0 && errno == ENOENT;
    if (fd < 0 && !*ret_new)
        return cannot_write(errno, path);
    if (*ret_new && !create)
        return store_no_session(id);
    files_state_init(s, id);
    if (*ret_new) {
        take_summary(s, create);
        return files_create_log(dir, s, unix_ms, 1);
    }
    TRY(files_lock(fd, path));
    TRY(size_of(fd, path, &size));
    TRY(files_state_scan(s, path, fd, size));
    TRY(cut_torn(fd, path, s, size, unix_ms, notice));
    *ret_new = !s->is_created && s->summary.next_seq == 1 && create;
    if (*ret_new)
        take_summary(s, create);
    else if (!s->is_created)
        take_listed(dir, s);
    return write_created(fd, path, s, unix_ms, s->fence + 1);
}
