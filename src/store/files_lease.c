/* files_lease.c - the sessions that are open here, and their appends.
 *
 * The first task that appends to a log writes everything that waits for it; the others wait. The
 * state of an open session stays in memory until its lease ends. */
#include "store/files_store.h"

#include "store/session_lock.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/loop.h"
#include "sys/work.h"

#include <unistd.h>

#define REFRESH_BYTES ((uint64_t)256 << 10) /* how far the list may be behind a log */

struct waiting_append {
    struct files_append append;
    struct waker waker;
    struct waiting_append *next;
};

struct log_stream {
    struct log_stream *next; /* in its bucket */
    struct files_state state;
    struct log_stream *root;
    int lock_fd; /* of a root */
    uint64_t fence, listed_end;
    bool is_writing;
    bool is_lost; /* another process has the lease */
    struct waiting_append *first, **last;
};

static int64_t now_ms(void)
{
    return clock_unix_ms(loop_clock(task_loop()));
}

/* --- open streams --- */

static struct log_stream *find_stream(struct files_store *f, struct str id)
{
    for (struct log_stream *s = f->streams[files_bucket(id)]; s; s = s->next)
        if (str_eq(s->state.summary.id, id))
            return s;
    return NULL;
}

static struct log_stream *add_stream(struct files_store *f, struct files_state *take_state)
{
    struct log_stream *s = mem_alloc(sizeof *s);
    struct log_stream **at = &f->streams[files_bucket(take_state->summary.id)];

    s->state = *take_state;
    *take_state = (struct files_state){0};
    s->listed_end = s->state.end;
    s->root = s;
    s->lock_fd = -1;
    s->last = &s->first;
    s->next = *at;
    *at = s;
    return s;
}

static void free_stream(struct log_stream *s)
{
    files_state_done(&s->state);
    mem_free(s);
}

/* Children first: they point at their root. */
static void drop_tree(struct files_store *f, struct log_stream *root)
{
    for (size_t i = 0; i < FILES_BUCKETS; i++)
        for (struct log_stream **at = &f->streams[i]; *at;) {
            struct log_stream *s = *at;

            if (s->root != root || s == root) {
                at = &s->next;
                continue;
            }
            *at = s->next;
            free_stream(s);
        }
    for (struct log_stream **at = &f->streams[files_bucket(root->state.summary.id)]; *at;
         at = &(*at)->next)
        if (*at == root) {
            *at = root->next;
            break;
        }
    free_stream(root);
}

void files_free_streams(struct files_store *f)
{
    for (size_t i = 0; i < FILES_BUCKETS; i++)
        while (f->streams[i]) {
            struct log_stream *s = f->streams[i];

            f->streams[i] = s->next;
            if (s->lock_fd >= 0)
                close(s->lock_fd); /* the file stays: it shows that the list may be behind */
            free_stream(s);
        }
}

/* --- appending --- */

struct log_batch {
    const char *dir;
    struct log_stream *stream;
    struct waiting_append *first;
    int64_t unix_ms;
    bool is_lost;
};

static struct err *batch_write(void *arg)
{
    struct log_batch *b = arg;
    struct log_stream *s = b->stream;

    for (struct waiting_append *w = b->first; w; w = w->next)
        w->append.next = w->next ? &w->next->append : NULL;
    TRY(files_append_all(b->dir, &s->state, s->root->lock_fd, b->unix_ms, &b->first->append,
                         &b->is_lost));
    if (s->state.end - s->listed_end >= REFRESH_BYTES && files_index_refresh(b->dir, &s->state))
        s->listed_end = s->state.end;
    return NULL;
}

static void write_all(struct files_store *f, struct log_stream *s, const struct waiting_append *own)
{
    s->is_writing = true;
    task_shield_begin(); /* others wait for this */
    while (s->first) {
        struct log_batch b = {.dir = f->dir, .stream = s, .first = s->first, .unix_ms = now_ms()};
        AUTO(err) struct err *e = NULL;

        s->first = NULL;
        s->last = &s->first;
        e = work_run(batch_write, &b);
        s->is_lost |= b.is_lost;
        for (struct waiting_append *w = b.first, *next; w; w = next) {
            next = w->next; /* a woken waiter is gone */
            if (e && !w->append.error)
                w->append.error = err_copy(e);
            if (w != own)
                waker_wake(&w->waker);
        }
    }
    task_shield_end();
    s->is_writing = false;
}

/* What is handed in is written, even if its task no longer waits. */
static struct err *hand_in(struct files_store *f, struct log_stream *s, struct files_append append)
{
    struct waiting_append w = {.append = append};

    waker_init(&w.waker);
    *s->last = &w;
    s->last = &w.next;
    if (!s->is_writing) {
        write_all(f, s, &w);
        return w.append.error;
    }
    task_shield_begin();
    err_ignore(waker_park(&w.waker), "a shielded wait is not interrupted");
    task_shield_end();
    return w.append.error;
}

/* --- streams that are not loaded yet --- */

struct load_call {
    const char *dir;
    struct files_state state;
    bool found;
};

static struct err *stream_load(void *arg)
{
    struct load_call *c = arg;

    return files_state_load(&c->state, c->dir, &c->found);
}

static struct err *load_stream(struct files_store *f, struct str id, struct log_stream **ret_stream)
{
    struct load_call c = {.dir = f->dir};
    struct log_stream *root;
    struct err *e;

    files_state_init(&c.state, id);
    e = work_run(stream_load, &c);
    if (!e && !c.found)
        e = store_no_session(id);
    root = e ? NULL : find_stream(f, c.state.root);
    *ret_stream = e ? NULL : find_stream(f, id); /* another task may have been faster */
    if (!e && !*ret_stream && root) {
        *ret_stream = add_stream(f, &c.state);
        (*ret_stream)->root = root;
    }
    files_state_done(&c.state);
    return e;
}

/* Finds the stream that this lease may write to. */
static struct err *need_stream(struct files_store *f, struct str id, uint64_t fence,
                               struct log_stream **ret_stream)
{
    struct log_stream *s = find_stream(f, id);

    if (!store_id_is_valid(id))
        return store_no_session(id);
    if (!s)
        TRY(load_stream(f, id, &s));
    if (!s || s->is_lost || s->root->is_lost || s->root->lock_fd < 0 || s->root->fence != fence)
        return err_hint(err_new(ERR_STORAGE,
                                "session %" STR_FMT " is now written by another process",
                                STR_ARG(s ? s->root->state.summary.id : id)),
                        "open it again, or continue in a copy of it with --fork-session");
    *ret_stream = s;
    return NULL;
}

struct err *files_append(struct store *store, struct str stream, uint64_t expected_seq,
                         uint64_t fence, const struct store_record *records, size_t n,
                         const struct store_summary *update)
{
    struct log_stream *s;

    TRY(need_stream(files_of(store), stream, fence, &s));
    return hand_in(
        files_of(store), s,
        (struct files_append){
            .expected_seq = expected_seq, .records = records, .n_records = n, .update = update});
}

/* --- leases --- */

struct lease_call {
    struct files_store *files;
    struct str id;
    const struct store_summary *create;
    int64_t unix_ms;
    int lock_fd;
    struct files_state state;
    struct strbuf notice;
    bool is_new;
};

static struct err *log_open(void *arg)
{
    struct lease_call *c = arg;
    struct files_store *f = c->files;
    struct err *e;

    if (!c->create && !fs_exists(f->dir))
        return store_no_session(c->id);
    TRY(session_lock_take(f->lock_dir, c->id, &c->lock_fd));
    e = files_removal_finish(f->dir, c->id);
    if (!e)
        e = files_open_log(f->dir, c->id, c->create, c->unix_ms, &c->state, &c->notice, &c->is_new);
    if (e)
        session_lock_release(f->lock_dir, c->id, c->lock_fd);
    return e;
}

struct err *files_open(struct store *store, struct str id, const struct store_summary *create,
                       struct arena *a, struct store_lease *ret_lease)
{
    struct lease_call c = {
        .files = files_of(store), .id = id, .create = create, .unix_ms = now_ms(), .lock_fd = -1};
    struct err *e = work_run(log_open, &c);
    struct log_stream *s;

    if (!e) {
        s = add_stream(c.files, &c.state);
        s->lock_fd = c.lock_fd;
        s->fence = s->state.fence;
        *ret_lease = (struct store_lease){.fence = s->fence,
                                          .next_seq = s->state.summary.next_seq,
                                          .is_new = c.is_new,
                                          .notice = arena_str(a, strbuf_str(&c.notice))};
    }
    files_state_done(&c.state);
    strbuf_done(&c.notice);
    return e;
}

struct close_call {
    struct files_store *files;
    struct log_stream *root;
};

static bool list_tree(struct files_store *f, struct log_stream *root)
{
    bool is_listed = true;

    for (size_t i = 0; i < FILES_BUCKETS; i++)
        for (struct log_stream *s = f->streams[i]; s; s = s->next)
            if (s->root == root && s->listed_end != s->state.end)
                is_listed &= files_index_refresh(f->dir, &s->state);
    return is_listed;
}

/* Updates the list before it removes the lock file, which makes readers look at the log. If the
 * list cannot be updated, the lock file stays, like that of a killed process. */
static struct err *lease_give_back(void *arg)
{
    struct close_call *c = arg;

    if (list_tree(c->files, c->root))
        session_lock_release(c->files->lock_dir, c->root->state.summary.id, c->root->lock_fd);
    else
        close(c->root->lock_fd);
    return NULL;
}

/* Another process has the session and writes its entries; what this one knows is old or uncertain.
 * A lock file that still exists stays and makes readers look at the log. */
static struct err *lease_let_go(void *arg)
{
    struct close_call *c = arg;

    close(c->root->lock_fd);
    return NULL;
}

static bool is_fenced_out(const struct files_store *f, const struct log_stream *root)
{
    for (size_t i = 0; i < FILES_BUCKETS; i++)
        for (const struct log_stream *s = f->streams[i]; s; s = s->next)
            if (s->root == root && s->is_lost)
                return true;
    return !files_holds_lease(root->lock_fd);
}

static struct log_stream *find_writing(const struct files_store *f, const struct log_stream *root)
{
    for (size_t i = 0; i < FILES_BUCKETS; i++)
        for (struct log_stream *s = f->streams[i]; s; s = s->next)
            if (s->root == root && s->is_writing)
                return s;
    return NULL;
}

void files_close(struct store *store, struct str id, uint64_t fence)
{
    struct files_store *f = files_of(store);
    struct log_stream *s = find_stream(f, id), *writing;
    struct close_call c = {f, s};

    if (!s || s->lock_fd < 0 || s->fence != fence)
        return;
    s->fence = 0; /* nothing more is handed in from here on */
    task_shield_begin();
    /* Appends are written in turn: an empty one waits for those before it. */
    while ((writing = find_writing(f, s)))
        err_ignore(hand_in(f, writing, (struct files_append){.is_update = true}), "it is empty");
    err_ignore(work_run(is_fenced_out(f, s) ? lease_let_go : lease_give_back, &c),
               "it reports nothing");
    task_shield_end();
    drop_tree(f, s);
}

struct child_call {
    const char *dir;
    struct files_state *state;
    int64_t unix_ms;
};

static struct err *child_create(void *arg)
{
    struct child_call *c = arg;

    return files_create_log(c->dir, c->state, c->unix_ms, 0);
}

struct err *files_add_child(struct store *store, const struct store_summary *child, uint64_t fence)
{
    struct files_store *f = files_of(store);
    AUTO(files_state) struct files_state state = {0};
    struct child_call c = {f->dir, &state, now_ms()};
    struct log_stream *parent, *root;

    TRY(need_stream(f, child->parent, fence, &parent));
    files_state_init(&state, child->id);
    state.summary.parent = arena_str(&state.arena, child->parent);
    state.root = arena_str(&state.arena, parent->root->state.summary.id);
    state.summary.created_ms = child->created_ms;
    state.summary.updated_ms = child->created_ms;
    files_state_update(&state, child);
    root = parent->root;
    TRY(work_run(child_create, &c));
    if (!find_stream(f, child->id))
        add_stream(f, &state)->root = root;
    return NULL;
}

/* --- changes without a lease --- */

struct update_call {
    const char *dir;
    const struct store_summary *update;
    int64_t unix_ms;
    bool is_clamp;
};

static struct err *summary_update(void *arg)
{
    struct update_call *c = arg;
    struct files_append w = {.is_update = true, .is_clamp = c->is_clamp, .update = c->update};
    AUTO(files_state) struct files_state s = {0};
    bool found, lost;
    struct err *e;
    int lock;

    files_state_init(&s, c->update->id);
    TRY(files_state_load(&s, c->dir, &found));
    if (!found)
        return store_no_session(c->update->id);
    TRY(files_index_lock(c->dir, &lock));
    e = files_append_all(c->dir, &s, -1, c->unix_ms, &w, &lost);
    if (!e) /* without a lock file the list must not be behind */
        files_index_put_or_drop(c->dir, &s);
    close(lock);
    return e ? e : w.error;
}

static struct err *change_summary(struct files_store *f, const struct store_summary *u,
                                  bool is_clamp)
{
    struct log_stream *s = find_stream(f, u->id);
    struct update_call c = {f->dir, u, now_ms(), is_clamp};

    if (s && !s->is_lost)
        return hand_in(f, s,
                       (struct files_append){.is_update = true, .is_clamp = is_clamp, .update = u});
    return work_run(summary_update, &c);
}

struct err *files_update(struct store *store, const struct store_summary *u)
{
    if (!store_id_is_valid(u->id))
        return store_no_session(u->id);
    return change_summary(files_of(store), u, /* is_clamp= */ false);
}

/* The list is sorted by time: sessions from the future come first. */
struct err *files_clamp_times(struct store *store, int64_t after_ms, int64_t to_ms)
{
    AUTO(arena) struct arena a = {0};
    struct files_store *f = files_of(store);
    struct store_summary *items = NULL;
    size_t n = 0;

    TRY(files_list(store, &(struct store_list_query){0}, &a, &items, &n));
    for (size_t i = 0; i < n && items[i].updated_ms > after_ms; i++) {
        struct store_summary clamped = {.id = items[i].id, .updated_ms = to_ms};

        TRY(change_summary(f, &clamped, /* is_clamp= */ true));
    }
    return NULL;
}

struct err *files_find(struct store *store, struct str id, struct arena *a,
                       struct store_summary *ret_summary, bool *ret_found)
{
    struct files_store *f = files_of(store);
    const struct log_stream *s = find_stream(f, id);

    if (!s || s->is_writing)
        return files_look_up(f->dir, id, a, ret_summary, ret_found);
    *ret_found = true;
    *ret_summary = files_copy_summary(a, &s->state.summary);
    ret_summary->is_open = s->root->lock_fd >= 0 && s->root->fence;
    ret_summary->holder = ret_summary->is_open ? S("this process") : (struct str){0};
    return NULL;
}
