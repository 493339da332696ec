/* dir_readers.c - the readers of a watch, and what they have found. */
#include "sys/dir_watch_internal.h"

static int find_reader(const struct dir_watch *w, const struct dir_judge *judge)
{
    for (int i = 0; i < DIR_WATCH_MAX_READERS; i++)
        if (w->n_users[i] && w->judges[i].judge == judge->judge &&
            w->judges[i].self == judge->self && w->judges[i].closing == judge->closing)
            return i;
    return -1;
}

static int take_reader(struct dir_watch *w, const struct dir_judge *judge)
{
    int reader = 0;

    while (reader < DIR_WATCH_MAX_READERS && w->n_users[reader])
        reader++;
    if (reader == DIR_WATCH_MAX_READERS)
        return -1;
    w->judges[reader] = *judge;
    for (struct watched_dir *d = w->newest; d; d = d->older)
        dir_node_read_later(w, d);
    return reader;
}

int dir_watch_add_reader(struct dir_watch *w, const struct dir_judge *judge)
{
    int reader;

    pthread_mutex_lock(&w->lock);
    reader = find_reader(w, judge);
    if (reader < 0)
        reader = take_reader(w, judge);
    if (reader >= 0)
        w->n_users[reader]++;
    pthread_mutex_unlock(&w->lock);
    return reader;
}

void dir_watch_remove_reader(struct dir_watch *w, int reader)
{
    pthread_mutex_lock(&w->lock);
    if (--w->n_users[reader] == 0) {
        w->judges[reader] = (struct dir_judge){0};
        while (w->finds[reader])
            dir_finds_free(w->finds[reader]);
    }
    pthread_mutex_unlock(&w->lock);
}

void dir_watch_each(struct dir_watch *w, int reader,
                    void (*found)(void *self, const struct watched_dir *dir, const char *name,
                                  unsigned meaning),
                    void *self)
{
    pthread_mutex_lock(&w->lock);
    for (const struct dir_finds *f = w->finds[reader]; f; f = f->next)
        for (size_t i = 0; i < f->n; i++)
            found(self, f->dir, f->items[i].name, f->items[i].meaning);
    pthread_mutex_unlock(&w->lock);
}

void dir_watch_each_shut(struct dir_watch *w,
                         void (*found)(void *self, const struct watched_dir *dir,
                                       enum dir_shut why),
                         void *self)
{
    pthread_mutex_lock(&w->lock);
    for (const struct watched_dir *d = w->oldest; d; d = d->newer)
        if (d->shut)
            found(self, d, d->shut);
    pthread_mutex_unlock(&w->lock);
}

void dir_watch_each_changed(struct dir_watch *w, uint64_t since,
                            void (*found)(void *self, const struct watched_dir *dir), void *self)
{
    pthread_mutex_lock(&w->lock);
    for (const struct watched_dir *d = w->oldest; d; d = d->newer)
        if (d->last_change > since)
            found(self, d);
    pthread_mutex_unlock(&w->lock);
}

bool dir_watch_find(struct dir_watch *w, ino_t inode, struct strbuf *path)
{
    struct watched_dir *d;

    pthread_mutex_lock(&w->lock);
    for (d = w->oldest; d && (d->inode != inode || !d->above); d = d->newer)
        continue;
    if (d)
        watched_dir_path(d, path);
    pthread_mutex_unlock(&w->lock);
    return d != NULL;
}
