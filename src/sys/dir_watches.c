/* dir_watches.c - watches that several parts of a program share. */
#include "sys/dir_watch_internal.h"

struct dir_watches {
    pthread_mutex_t lock;
    struct dir_watch **items;
    size_t n;
};

struct dir_watches *dir_watches_new(void)
{
    struct dir_watches *all = mem_alloc(sizeof *all);

    pthread_mutex_init(&all->lock, NULL);
    return all;
}

static void drop_unused(struct dir_watches *all, const char *wanted)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++)
        if (__atomic_load_n(&all->items[i]->n_refs, __ATOMIC_ACQUIRE) == 1 &&
            (!wanted || strcmp(all->items[i]->root_path, wanted) != 0))
            dir_watch_unref(all->items[i]);
        else
            all->items[n++] = all->items[i];
    all->n = n;
}

struct dir_watch *dir_watches_get(struct dir_watches *all, const char *root)
{
    struct dir_watch *w = NULL;

    pthread_mutex_lock(&all->lock);
    drop_unused(all, root);
    for (size_t i = 0; i < all->n && !w; i++)
        if (strcmp(all->items[i]->root_path, root) == 0)
            w = all->items[i];
    if (!w) {
        w = dir_watch_new(root);
        all->items = mem_resize(all->items, (all->n + 1) * sizeof(struct dir_watch *));
        all->items[all->n++] = w;
    }
    w = dir_watch_ref(w);
    pthread_mutex_unlock(&all->lock);
    return w;
}

void dir_watches_trim(struct dir_watches *all)
{
    pthread_mutex_lock(&all->lock);
    drop_unused(all, NULL);
    if (all->n == 0) {
        mem_free(all->items);
        all->items = NULL;
    }
    pthread_mutex_unlock(&all->lock);
}

void dir_watches_free(struct dir_watches *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++)
        dir_watch_unref(all->items[i]);
    mem_free(all->items);
    pthread_mutex_destroy(&all->lock);
    mem_free(all);
}
