/* files_index.c - the list of all sessions in one file, so that listing opens no logs.
 *
 * `.index` has one line per session, with values between tabs. A later line of the same session
 * replaces an earlier one; a line without values removes the session. The index is derived: when it
 * is missing or damaged it is rebuilt from the logs. The entry of an open session may be behind its
 * log. A lock file shows that a session is open, or was when its process died, and only then its
 * log is read. */
#include "store/files_store.h"

#include "store/session_lock.h"
#include "sys/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char header[] = "keel-index 1\n";
#define N_VALUES 14
#define COMPACT_LINES 64 /* rewritten with more dead lines than this, and than live ones */
#define MAX_INDEX ((size_t)1 << 30)

void files_index_done(struct files_index *x)
{
    arena_done(&x->arena);
    *x = (struct files_index){0};
}

struct err *files_index_lock(const char *dir, int *ret_fd)
{
    AUTO(arena) struct arena a = {0};
    const char *path = fs_join(&a, dir, ".index.lock");
    struct err *e;

    TRY(fs_make_dirs(dir, 0700));
    *ret_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*ret_fd < 0)
        return err_hint(err_errno(ERR_STORAGE, errno, "cannot open %s", path),
                        "check its permissions, or choose another store with --store");
    e = files_lock(*ret_fd, path);
    if (e) {
        close(*ret_fd);
        *ret_fd = -1;
    }
    return e;
}

/* --- lines --- */

static void write_value(struct strbuf *out, struct str text)
{
    strbuf_add_char(out, '\t');
    for (size_t i = 0; i < text.n; i++)
        switch (text.p[i]) {
        case '\t':
            strbuf_add_cstr(out, "\\t");
            break;
        case '\n':
            strbuf_add_cstr(out, "\\n");
            break;
        case '\\':
            strbuf_add_cstr(out, "\\\\");
            break;
        default:
            strbuf_add_char(out, text.p[i]);
        }
}

static void write_entry(struct strbuf *out, const struct store_summary *s, struct str root,
                        uint64_t end)
{
    strbuf_add(out, s->id);
    write_value(out, s->parent);
    write_value(out, root);
    write_value(out, s->cwd);
    write_value(out, s->name);
    write_value(out, s->provider);
    write_value(out, s->model);
    write_value(out, s->preview);
    strbuf_addf(out,
                "\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
                s->created_ms, s->updated_ms, s->next_seq, s->n_messages, s->n_bytes, end);
}

/* Decodes in place: an escape of two characters becomes one. */
static struct str read_value(struct str text)
{
    char *p = (char *)text.p;
    size_t n = 0;

    if (str_find_char(text, '\\') == STR_NONE)
        return text;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '\\' && i + 1 < text.n) {
            c = text.p[++i];
            c = c == 't' ? '\t' : c == 'n' ? '\n' : c;
        }
        p[n++] = c;
    }
    return str_make(p, n);
}

static bool read_entry(struct str line, struct files_entry *ret_entry)
{
    struct str values[N_VALUES];
    int64_t numbers[6];
    size_t n = 0;

    while (n < N_VALUES && str_split(&line, '\t', &values[n]))
        n++;
    if (n != N_VALUES || line.n || !store_id_is_valid(values[0]))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (!str_to_int64(values[8 + i], &numbers[i]))
            return false;
    *ret_entry = (struct files_entry){
        .summary = {.id = values[0],
                    .parent = values[1],
                    .cwd = read_value(values[3]),
                    .name = read_value(values[4]),
                    .provider = read_value(values[5]),
                    .model = read_value(values[6]),
                    .preview = read_value(values[7]),
                    .created_ms = numbers[0],
                    .updated_ms = numbers[1],
                    .next_seq = (uint64_t)numbers[2],
                    .n_messages = (uint64_t)numbers[3],
                    .n_bytes = (uint64_t)numbers[4]},
        .root = values[2],
        .end = (uint64_t)numbers[5],
    };
    return true;
}

/* --- a table by id, for reading --- */

struct entry_table {
    size_t *slots; /* the number of an entry, counted from 1 */
    size_t n_slots;
};

static size_t *find_slot(const struct entry_table *t, const struct files_index *x, struct str id)
{
    size_t i = str_hash(id) & (t->n_slots - 1);

    while (t->slots[i] && !str_eq(x->entries[t->slots[i] - 1].summary.id, id))
        i = (i + 1) & (t->n_slots - 1);
    return &t->slots[i];
}

static void add_entry(struct files_index *x, const struct files_entry *e)
{
    x->entries = arena_grow(&x->arena, x->entries, x->n, &x->room, sizeof *x->entries);
    x->entries[x->n++] = *e;
}

static bool take_line(struct files_index *x, const struct entry_table *t, struct str line)
{
    struct files_entry e = {.summary.id = line};
    size_t *slot;

    if (str_find_char(line, '\t') != STR_NONE ? !read_entry(line, &e) : !store_id_is_valid(line))
        return false;
    slot = find_slot(t, x, e.summary.id);
    if (*slot) {
        x->entries[*slot - 1] = e;
    } else {
        add_entry(x, &e);
        *slot = x->n;
    }
    return true;
}

/* An entry without a root only says that its session is gone. */
static void drop_gone(struct files_index *x)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        if (x->entries[i].root.n)
            x->entries[n++] = x->entries[i];
    x->n = n;
}

static size_t count_lines(struct str text)
{
    size_t n = 0;

    for (size_t at; (at = str_find_char(text, '\n')) != STR_NONE; n++)
        text = str_skip(text, at + 1);
    return n;
}

static bool parse(struct files_index *x, struct str text, size_t *ret_lines)
{
    struct entry_table t;
    struct str line;
    bool is_good = str_starts(text, str_of(header)) && text.p[text.n - 1] == '\n';

    *ret_lines = 0;
    if (!is_good)
        return false;
    text = str_skip(text, sizeof header - 1);
    *ret_lines = count_lines(text);
    /* At most half full. */
    t.n_slots = 64;
    while (t.n_slots < 2 * *ret_lines)
        t.n_slots *= 2;
    t.slots = mem_alloc(t.n_slots * sizeof *t.slots);
    while (is_good && text.n && str_split(&text, '\n', &line))
        is_good = take_line(x, &t, line);
    mem_free(t.slots);
    drop_gone(x);
    return is_good;
}

static struct err *read_index(const char *dir, struct files_index *x, bool *ret_good,
                              size_t *ret_lines)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    bool exists;

    strbuf_init(&text, MAX_INDEX);
    TRY(fs_read(fs_join(&a, dir, ".index"), &text, &exists));
    *ret_good = false;
    *ret_lines = 0;
    if (exists && text.n)
        *ret_good = parse(x, arena_str(&x->arena, strbuf_str(&text)), ret_lines);
    return NULL;
}

/* --- from the logs --- */

/* An unreadable log must not keep the others from the list; files_check_list() reports it. */
static void add_log(const char *dir, struct str id, struct files_index *x)
{
    AUTO(files_state) struct files_state s = {0};
    bool found;
    struct err *e;

    files_state_init(&s, id);
    e = files_state_load(&s, dir, &found);
    if (!e && found)
        add_entry(x, &(struct files_entry){.summary = files_copy_summary(&x->arena, &s.summary),
                                           .root = arena_str(&x->arena, s.root),
                                           .end = s.end});
    err_ignore(e, "who opens it gets the reason");
}

static struct err *read_logs(const char *dir, struct files_index *x)
{
    struct dirent *entry;
    struct str id;
    DIR *d = opendir(dir);

    x->n = 0;
    if (!d)
        return errno == ENOENT ? NULL : err_errno(ERR_STORAGE, errno, "cannot list %s", dir);
    while ((entry = readdir(d)))
        if (files_id_of(entry->d_name, &id))
            add_log(dir, id, x);
    closedir(d);
    return NULL;
}

/* --- writing --- */

static struct err *write_index(const char *dir, const struct files_index *x)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_init(&text, MAX_INDEX);
    strbuf_add_cstr(&text, header);
    for (size_t i = 0; i < x->n; i++)
        write_entry(&text, &x->entries[i].summary, x->entries[i].root, x->entries[i].end);
    TRY(strbuf_check(&text, "the list of sessions"));
    return fs_write_atomic(fs_join(&a, dir, ".index"), strbuf_str(&text), 0600);
}

struct err *files_index_rebuild(const char *dir)
{
    AUTO(files_index) struct files_index x = {0};
    struct err *e;
    int lock;

    TRY(files_index_lock(dir, &lock));
    e = read_logs(dir, &x);
    if (!e)
        e = write_index(dir, &x);
    close(lock);
    return e;
}

/* Under the lock: rebuilds the index if lines cannot be added to it. */
static struct err *mend(const char *dir, int fd)
{
    AUTO(files_index) struct files_index x = {0};
    struct stat st;
    char last = 0;

    if (fstat(fd, &st) == 0 && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
        last == '\n')
        return NULL;
    TRY(read_logs(dir, &x));
    return write_index(dir, &x);
}

static int open_index(const char *dir)
{
    AUTO(arena) struct arena a = {0};

    return open(fs_join(&a, dir, ".index"), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                0600);
}

static struct err *cannot_write(const char *dir)
{
    return err_hint(err_errno(ERR_STORAGE, errno, "cannot write %s/.index", dir),
                    "check the free disk space and the permissions of the directory");
}

static struct err *add_lines(const char *dir, struct str lines, bool is_durable)
{
    struct err *e = NULL;
    int fd = open_index(dir);

    if (fd < 0)
        return cannot_write(dir);
    e = mend(dir, fd);
    close(fd);
    TRY(e);
    fd = open_index(dir); /* mend() may have replaced the file */
    if (fd < 0)
        return cannot_write(dir);
    if (write(fd, lines.p, lines.n) != (ssize_t)lines.n || (is_durable && fdatasync(fd) < 0))
        e = cannot_write(dir);
    close(fd);
    return e;
}

struct err *files_index_put(const char *dir, const struct files_state *s, bool is_durable)
{
    AUTO(strbuf) struct strbuf line = {0};

    write_entry(&line, &s->summary, s->root, s->end);
    return add_lines(dir, strbuf_str(&line), is_durable);
}

static struct err *forget(const char *dir, const struct str *ids, size_t n)
{
    AUTO(strbuf) struct strbuf lines = {0};

    for (size_t i = 0; i < n; i++)
        strbuf_addf(&lines, "%" STR_FMT "\n", STR_ARG(ids[i]));
    return add_lines(dir, strbuf_str(&lines), /* is_durable= */ true);
}

bool files_index_refresh(const char *dir, const struct files_state *s)
{
    bool is_listed = false;
    struct err *e;
    int lock;

    e = files_index_lock(dir, &lock);
    if (!e) {
        e = files_index_put(dir, s, /* is_durable= */ false);
        is_listed = !e;
        close(lock);
    }
    err_ignore(e, "the session's lock file makes up for it");
    return is_listed;
}

void files_index_drop(const char *dir)
{
    AUTO(arena) struct arena a = {0};

    err_ignore(fs_remove(fs_join(&a, dir, ".index")), "nothing can be changed there");
}

void files_index_put_or_drop(const char *dir, const struct files_state *s)
{
    struct err *e = files_index_put(dir, s, /* is_durable= */ false);

    if (e)
        files_index_drop(dir);
    err_ignore(e, "there may be no room; without a list the logs are read");
}

void files_index_forget_or_drop(const char *dir, const struct str *ids, size_t n)
{
    struct err *e = forget(dir, ids, n);

    if (e)
        files_index_drop(dir);
    err_ignore(e, "there may be no room; without a list the logs are read");
}

/* --- reading --- */

/* Drops the lines of sessions that changed often, or are gone. */
static void compact(const char *dir)
{
    AUTO(files_index) struct files_index x = {0};
    size_t n_lines;
    struct err *e;
    bool is_good;
    int lock;

    e = files_index_lock(dir, &lock);
    if (!e) {
        e = read_index(dir, &x, &is_good, &n_lines);
        if (!e && is_good)
            e = write_index(dir, &x);
        close(lock);
    }
    err_ignore(e, "it is only larger than it need be");
}

static int compare_ids(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Names of files in the lock directory, without their ending. */
struct root_list {
    struct str *ids;
    size_t n, room;
};

static void add_root(struct root_list *l, struct arena *a, struct str name, struct str ending)
{
    if (!str_ends(name, ending))
        return;
    l->ids = arena_grow(a, l->ids, l->n, &l->room, sizeof *l->ids);
    l->ids[l->n++] = arena_str(a, str_slice(name, 0, name.n - ending.n));
}

/* Finds the roots that have a lock file, sorted, and those with a removal under way. */
static void read_locks(const char *lock_dir, struct arena *a, struct root_list *ret_open,
                       struct root_list *ret_removals)
{
    struct dirent *entry;
    DIR *d = opendir(lock_dir);

    *ret_open = *ret_removals = (struct root_list){0};
    while (d && (entry = readdir(d))) {
        add_root(ret_open, a, str_of(entry->d_name), S(".lock"));
        add_root(ret_removals, a, str_of(entry->d_name), S(FILES_REMOVAL));
    }
    if (d)
        closedir(d);
    if (ret_open->n)
        qsort(ret_open->ids, ret_open->n, sizeof *ret_open->ids, compare_ids);
}

/* --- removals --- */

bool files_index_removes(const struct files_index *x, struct str id)
{
    for (size_t i = 0; i < x->n_removed; i++)
        if (str_eq(x->removed[i], id))
            return true;
    return false;
}

static void drop_removed(struct files_index *x)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++)
        if (!files_index_removes(x, x->entries[i].summary.id))
            x->entries[n++] = x->entries[i];
    x->n = n;
}

/* Reads what the removals remove. If their process was killed, this one completes them. */
static void take_removals(const char *dir, struct files_index *x, const struct root_list *roots)
{
    for (size_t i = 0; i < roots->n; i++) {
        struct str *ids, *all;
        size_t n;

        files_removal_read(dir, roots->ids[i], &x->arena, &ids, &n);
        all = ARENA_ARRAY(&x->arena, x->n_removed + n, struct str);
        for (size_t k = 0; k < x->n_removed; k++)
            all[k] = x->removed[k];
        for (size_t k = 0; k < n; k++)
            all[x->n_removed + k] = ids[k];
        x->removed = all;
        x->n_removed += n;
        files_removal_try(dir, roots->ids[i]);
    }
    if (x->n_removed)
        drop_removed(x);
}

/* --- updating entries --- */

/* *ret_found false: its log was never created. An entry whose log existed and is missing now stays:
 * only a removal takes a session from the list. */
static struct err *bring_up_to_date(const char *dir, struct files_index *x, struct files_entry *e,
                                    bool *ret_found)
{
    AUTO(files_state) struct files_state s = {0};
    struct stat st;
    char path[FILES_MAX_PATH];
    bool is_there;

    TRY(files_path(path, dir, e->summary.id, ".jsonl"));
    is_there = lstat(path, &st) == 0;
    *ret_found = is_there || e->end > 0;
    if (!is_there || (uint64_t)st.st_size == e->end)
        return NULL;
    files_state_init(&s, e->summary.id);
    if ((uint64_t)st.st_size > e->end) {
        s.summary = files_copy_summary(&s.arena, &e->summary);
        s.root = arena_str(&s.arena, e->root);
        s.end = e->end;
    }
    TRY(files_state_load(&s, dir, ret_found));
    e->summary = files_copy_summary(&x->arena, &s.summary);
    e->root = arena_str(&x->arena, s.root);
    e->end = s.end;
    return NULL;
}

/* Forgets entries without a log: the process was killed before it created the log, or the disk was
 * full. Checks again under the lock, because another process may have created the log since. */
static void forget_missing(const char *dir, struct str *ids, size_t n)
{
    char path[FILES_MAX_PATH];
    size_t n_gone = 0;
    struct err *e;
    int lock;

    e = n ? files_index_lock(dir, &lock) : NULL;
    if (n && !e) {
        for (size_t i = 0; i < n && !e; i++) {
            e = files_path(path, dir, ids[i], ".jsonl");
            if (!e && !fs_exists(path))
                ids[n_gone++] = ids[i];
        }
        if (!e && n_gone)
            e = forget(dir, ids, n_gone);
        close(lock);
    }
    err_ignore(e, "they are looked at again");
}

/* May its log say more than its entry? Yes if the session is open, or was when its process died,
 * and if the entry was made before a log that may not exist. */
static bool is_doubtful(const struct files_entry *e, const struct root_list *roots)
{
    return e->end == 0 ||
           (roots->n && bsearch(&e->root, roots->ids, roots->n, sizeof *roots->ids, compare_ids));
}

static struct err *look_at_open_ones(const char *dir, struct files_index *x)
{
    AUTO(arena) struct arena a = {0};
    const char *lock_dir = files_lock_dir(&a, dir);
    struct root_list roots, removals;
    struct str *missing;
    size_t n = 0, n_missing = 0;

    read_locks(lock_dir, &a, &roots, &removals);
    take_removals(dir, x, &removals);
    missing = ARENA_ARRAY(&a, x->n, struct str);
    for (size_t i = 0; i < x->n; i++) {
        struct files_entry e = x->entries[i];
        bool found = true;

        if (is_doubtful(&e, &roots)) {
            err_ignore(bring_up_to_date(dir, x, &e, &found), "who opens it gets the reason");
            e.summary.holder = session_lock_holder(lock_dir, e.root, &x->arena);
            e.summary.is_open = e.summary.holder.n > 0;
        }
        if (found)
            x->entries[n++] = e;
        else if (!e.summary.is_open)
            missing[n_missing++] = e.summary.id;
    }
    x->n = n;
    forget_missing(dir, missing, n_missing);
    return NULL;
}

bool files_index_find(const char *dir, struct str id, struct arena *a,
                      struct files_entry *ret_entry)
{
    AUTO(files_index) struct files_index x = {0};
    size_t n_lines;
    bool is_good;

    err_ignore(read_index(dir, &x, &is_good, &n_lines), "then it says nothing");
    for (size_t i = 0; i < x.n; i++)
        if (str_eq(x.entries[i].summary.id, id)) {
            *ret_entry = x.entries[i];
            ret_entry->summary = files_copy_summary(a, &x.entries[i].summary);
            ret_entry->root = arena_str(a, x.entries[i].root);
            return true;
        }
    return false;
}

struct err *files_index_read(const char *dir, struct files_index *x)
{
    size_t n_lines;
    bool is_good;

    TRY(read_index(dir, x, &is_good, &n_lines));
    if (!is_good && fs_exists(dir)) {
        err_ignore(files_index_rebuild(dir), "sessions that may only be read are listed too");
        files_index_done(x);
        TRY(read_index(dir, x, &is_good, &n_lines));
    }
    if (!is_good)
        TRY(read_logs(dir, x));
    else if (n_lines > 2 * x->n + COMPACT_LINES)
        compact(dir);
    return look_at_open_ones(dir, x);
}
