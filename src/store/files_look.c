/* files_look.c - what needs no lease: reading records, finding and listing sessions, search,
 * checks. */
#include "store/files_store.h"

#include "sys/work.h"

#include <stdlib.h>

/* --- records --- */

struct page_call {
    const char *dir;
    struct str id;
    const struct store_query *query;
    struct store_page *page;
};

static struct err *page_read(void *arg)
{
    struct page_call *c = arg;

    return files_read_page(c->dir, c->id, c->query, c->page);
}

struct err *files_read(struct store *store, struct str stream, const struct store_query *q,
                       struct store_page *ret_page)
{
    struct page_call c = {files_of(store)->dir, stream, q, ret_page};

    return store_id_is_valid(stream) ? work_run(page_read, &c) : store_no_session(stream);
}

/* --- damage --- */

struct check_call {
    const char *dir;
    struct str id;
    struct arena arena;
    struct str *texts;
    size_t n, room;
};

static void damage_note(void *self, struct str text)
{
    struct check_call *c = self;

    c->texts = arena_grow(&c->arena, c->texts, c->n, &c->room, sizeof *c->texts);
    c->texts[c->n++] = arena_str(&c->arena, text);
}

static struct err *log_check(void *arg)
{
    struct check_call *c = arg;

    return files_check_log(c->dir, c->id, (struct store_damage_sink){damage_note, c});
}

static struct err *list_check(void *arg)
{
    struct check_call *c = arg;

    return files_check_list(c->dir, (struct store_damage_sink){damage_note, c});
}

/* The sink belongs to the task: it gets what the worker found. */
static struct err *report_damage(struct check_call *c, struct err *(*check)(void *arg),
                                 struct store_damage_sink sink)
{
    struct err *e = work_run(check, c);

    for (size_t i = 0; i < c->n; i++)
        sink.on_damage(sink.self, c->texts[i]);
    arena_done(&c->arena);
    return e;
}

struct err *files_check(struct store *store, struct str stream, struct store_damage_sink sink)
{
    struct check_call c = {.dir = files_of(store)->dir, .id = stream};

    return report_damage(&c, log_check, sink);
}

struct err *files_check_all(struct store *store, struct store_damage_sink sink)
{
    struct check_call c = {.dir = files_of(store)->dir};

    return report_damage(&c, list_check, sink);
}

/* --- sessions --- */

const struct files_entry *files_find_entry(const struct files_index *x, struct str id)
{
    for (size_t i = 0; i < x->n; i++)
        if (str_eq(x->entries[i].summary.id, id))
            return &x->entries[i];
    return NULL;
}

/* A crash cut off the making of a child: its log has no line. It is not there until it is added
 * again. */
static bool is_unmade_child(const struct files_entry *e)
{
    return e->summary.parent.n && !e->end;
}

struct list_call {
    const char *dir;
    struct str id;
    struct files_index index;
    const struct store_list_query *query;
    struct arena *arena;
    struct store_summary *items;
    size_t n;
    struct str words;
    size_t n_max;
    struct store_hit *hits;
};

static struct err *session_find(void *arg)
{
    struct list_call *c = arg;
    const struct files_entry *e;
    AUTO(files_state) struct files_state s = {0};
    bool found;

    TRY(files_index_read(c->dir, &c->index));
    e = files_find_entry(&c->index, c->id);
    if (e && is_unmade_child(e))
        return NULL;
    if (e) {
        c->items = arena_copy(c->arena, &e->summary, sizeof e->summary);
    } else if (files_index_removes(&c->index, c->id)) {
        return NULL;
    } else { /* somebody may have put the file there */
        files_state_init(&s, c->id);
        TRY(files_state_load(&s, c->dir, &found));
        if (!found)
            return NULL;
        c->items = arena_copy(c->arena, &s.summary, sizeof s.summary);
    }
    *c->items = files_copy_summary(c->arena, c->items);
    c->n = 1;
    return NULL;
}

struct err *files_look_up(const char *dir, struct str id, struct arena *a,
                          struct store_summary *ret_summary, bool *ret_found)
{
    struct list_call c = {.dir = dir, .id = id, .arena = a};
    struct err *e = work_run(session_find, &c);

    files_index_done(&c.index);
    *ret_found = c.n > 0;
    if (c.n)
        *ret_summary = *c.items;
    return e;
}

static struct err *sessions_list(void *arg)
{
    struct list_call *c = arg;
    struct files_index *x = &c->index;
    size_t n = 0;

    TRY(files_index_read(c->dir, x));
    for (size_t i = 0; i < x->n; i++)
        if (!is_unmade_child(&x->entries[i]) && store_is_listed(&x->entries[i].summary, c->query))
            x->entries[n++] = x->entries[i];
    if (n)
        qsort(x->entries, n, sizeof *x->entries, files_compare);
    c->n = c->query->n_max ? MIN(n, c->query->n_max) : n;
    c->items = ARENA_ARRAY(c->arena, c->n, struct store_summary);
    for (size_t i = 0; i < c->n; i++)
        c->items[i] = files_copy_summary(c->arena, &x->entries[i].summary);
    return NULL;
}

struct err *files_list(struct store *store, const struct store_list_query *q, struct arena *a,
                       struct store_summary **ret_items, size_t *ret_n)
{
    struct list_call c = {.dir = files_of(store)->dir, .query = q, .arena = a};
    struct err *e = work_run(sessions_list, &c);

    files_index_done(&c.index);
    *ret_items = c.items;
    *ret_n = c.n;
    return e;
}

static struct err *sessions_search(void *arg)
{
    struct list_call *c = arg;

    return files_search_logs(c->dir, c->words, c->n_max, c->arena, c->hits, &c->n);
}

struct err *files_search(struct store *store, struct str words, size_t n_max, struct arena *a,
                         struct store_hit **ret_hits, size_t *ret_n)
{
    struct list_call c = {.dir = files_of(store)->dir, .words = words, .n_max = n_max, .arena = a};
    struct err *e;

    c.hits = ARENA_ARRAY(a, n_max, struct store_hit);
    e = work_run(sessions_search, &c);
    *ret_hits = c.hits;
    *ret_n = c.n;
    return e;
}
