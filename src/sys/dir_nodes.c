/* dir_nodes.c - the directories of a watch in memory: a tree, a list in the order of arrival, and
 * tables by name and by the kernel's number. */
#include "sys/dir_watch_internal.h"

#include <unistd.h>

/* --- tables --- */

static struct watched_dir **name_slot(const struct dir_watch *w, const struct watched_dir *above,
                                      const char *name)
{
    uint64_t hash = str_hash(str_of(name)) ^ ((uintptr_t)above >> 4) * 0x9e3779b97f4a7c15;

    return &w->by_name[(hash ^ hash >> 32) & (w->n_slots - 1)];
}

static struct watched_dir **watch_slot(const struct dir_watch *w, int watch)
{
    return &w->by_watch[(unsigned)watch & (w->n_slots - 1)];
}

static void put_in_tables(struct dir_watch *w, struct watched_dir *d)
{
    struct watched_dir **slot = name_slot(w, d->above, d->name);

    d->by_name = *slot;
    *slot = d;
    if (d->watch < 0)
        return;
    slot = watch_slot(w, d->watch);
    d->by_watch = *slot;
    *slot = d;
}

static void grow_tables(struct dir_watch *w)
{
    if (w->n_dirs < w->n_slots)
        return;
    w->n_slots = MAX((size_t)64, w->n_slots * 2);
    mem_free(w->by_name);
    mem_free(w->by_watch);
    w->by_name = mem_alloc(w->n_slots * sizeof(struct watched_dir *));
    w->by_watch = mem_alloc(w->n_slots * sizeof(struct watched_dir *));
    for (struct watched_dir *d = w->oldest; d; d = d->newer)
        put_in_tables(w, d);
}

static void take_from_names(struct dir_watch *w, struct watched_dir *d)
{
    struct watched_dir **at = name_slot(w, d->above, d->name);

    while (*at != d)
        at = &(*at)->by_name;
    *at = d->by_name;
}

struct watched_dir *dir_node_find(const struct dir_watch *w, const struct watched_dir *above,
                                  const char *name)
{
    struct watched_dir *d = w->n_slots ? *name_slot(w, above, name) : NULL;

    while (d && (d->above != above || strcmp(d->name, name) != 0))
        d = d->by_name;
    return d;
}

/* Several directories may share a number: one that is mounted in two places. */
void dir_node_set_watch(struct dir_watch *w, struct watched_dir *d, int watch)
{
    struct watched_dir **at;

    if (d->watch >= 0) {
        at = watch_slot(w, d->watch);
        while (*at != d)
            at = &(*at)->by_watch;
        *at = d->by_watch;
        w->n_watched--;
    }
    d->watch = watch;
    if (watch >= 0) {
        at = watch_slot(w, watch);
        d->by_watch = *at;
        *at = d;
        w->n_watched++;
    }
}

/* --- adding --- */

struct watched_dir *dir_node_add(struct dir_watch *w, struct watched_dir *above, const char *name)
{
    size_t n = strlen(name) + 1;
    struct watched_dir *d = mem_alloc(sizeof *d + n);

    memcpy(d->name, name, n);
    d->watch = -1;
    d->above = above;
    d->depth = (unsigned short)(above ? above->depth + 1 : 0);
    d->since = d->last_change = w->next_version;
    if (above) {
        d->after = above->first;
        d->back = &above->first;
        if (d->after)
            d->after->back = &d->after;
        above->first = d;
    }
    grow_tables(w);
    put_in_tables(w, d);
    d->older = w->newest;
    if (w->newest)
        w->newest->newer = d;
    else
        w->oldest = d;
    w->newest = d;
    w->n_dirs++;
    dir_node_read_later(w, d);
    return d;
}

void dir_node_read_later(struct dir_watch *w, struct watched_dir *d)
{
    if (d->is_to_be_read)
        return;
    d->is_to_be_read = true;
    /* The last one first: reading what is in a directory comes after reading it. */
    d->next_to_read = w->to_read;
    w->to_read = d;
}

struct watched_dir *dir_node_next_to_read(struct dir_watch *w)
{
    while (w->to_read) {
        struct watched_dir *d = w->to_read;

        w->to_read = d->next_to_read;
        d->is_to_be_read = false;
        if (!d->is_gone)
            return d;
        dir_node_release(d);
    }
    return NULL;
}

/* --- removing --- */

struct dir_finds *dir_finds_of(const struct watched_dir *d, int reader)
{
    struct dir_finds *f = d->finds;

    while (f && f->reader != reader)
        f = f->beside;
    return f;
}

void dir_finds_free(struct dir_finds *f)
{
    struct dir_finds **at;

    if (!f)
        return;
    for (at = &f->dir->finds; *at != f; at = &(*at)->beside)
        continue;
    *at = f->beside;
    *f->back = f->next;
    if (f->next)
        f->next->back = f->back;
    for (size_t i = 0; i < f->n; i++)
        mem_free(f->items[i].name);
    mem_free(f);
}

void dir_node_release(struct watched_dir *d)
{
    if (d->is_gone && !d->is_to_be_read && d->n_logged == 0)
        mem_free(d);
}

static void take_from_list(struct dir_watch *w, struct watched_dir *d)
{
    if (d->older)
        d->older->newer = d->newer;
    else
        w->oldest = d->newer;
    if (d->newer)
        d->newer->older = d->older;
    else
        w->newest = d->older;
    if (w->settle_next == d)
        w->settle_next = d->newer;
}

/* Removes an empty one. */
static void remove_one(struct dir_watch *w, struct watched_dir *d)
{
    while (d->finds)
        dir_finds_free(d->finds);
    if (w->above == d || w->last == d)
        dir_forget_fds(w);
    dir_events_unwatch(w, d);
    take_from_names(w, d);
    take_from_list(w, d);
    if (d->back) {
        *d->back = d->after;
        if (d->after)
            d->after->back = d->back;
    }
    d->above = NULL;
    d->is_gone = true;
    w->n_dirs--;
    dir_node_release(d);
}

/* Without recursion: a command may make trees as deep as it likes. */
void dir_node_empty(struct dir_watch *w, struct watched_dir *d)
{
    while (d->first) {
        struct watched_dir *deepest = d->first;

        while (deepest->first)
            deepest = deepest->first;
        remove_one(w, deepest);
    }
}

void dir_node_remove(struct dir_watch *w, struct watched_dir *d)
{
    dir_node_empty(w, d);
    if (w->root == d)
        w->root = NULL;
    remove_one(w, d);
}

void dir_nodes_done(struct dir_watch *w)
{
    if (w->root)
        dir_node_remove(w, w->root);
    BUG_IF(dir_node_next_to_read(w) || w->n_dirs);
    mem_free(w->by_name);
    mem_free(w->by_watch);
    w->by_name = w->by_watch = NULL;
    w->n_slots = 0;
}
