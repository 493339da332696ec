/* linked.c - files with a second name. */
#include "sandbox/guard/linked.h"

#include "base/quoted.h"
#include "sandbox/guard/open_below.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 2048, /* that are asked for their number of names, by one look */
    MAX_CHANGED = 4096, /* files that are looked at after a command */
    MAX_NAMED = 3,      /* in a note */
};

struct linked_file {
    char *path;
    ino_t inode;
    struct timespec changed;
};

/* --- the list of a small tree --- */

static void drop(struct linked_files *l, size_t index)
{
    mem_free(l->items[index].path);
    l->items[index] = l->items[--l->n];
}

static bool is_in(const char *path, const char *directory)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;

    return strlen(directory) == n && strncmp(path, directory, n) == 0;
}

static void add(struct linked_files *l, const char *directory, const char *name,
                const struct stat *st)
{
    AUTO(strbuf) struct strbuf path = {0};

    strbuf_addf(&path, "%s%s%s", directory, *directory ? "/" : "", name);
    if (l->n == l->room) {
        l->room = MAX((size_t)16, l->room * 2);
        l->items = mem_resize(l->items, l->room * sizeof *l->items);
    }
    l->items[l->n++] = (struct linked_file){strbuf_take(&path), st->st_ino, st->st_ctim};
}

static void list_directory(struct linked_files *l, const struct survey *s, const char *directory)
{
    int fd = below_open_dir(s->fd, directory, s->unlocks);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct stat st;

    for (size_t i = l->n; i-- > 0;)
        if (is_in(l->items[i].path, directory))
            drop(l, i);
    while (d && l->n_entries <= MAX_ENTRIES && (entry = readdir(d))) {
        l->n_entries++;
        if (entry->d_type != DT_DIR &&
            fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode) && st.st_nlink > 1)
            add(l, directory, entry->d_name, &st);
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

struct changed_dirs {
    char **paths;
    size_t n;
};

static void note_dir(void *self, const struct watched_dir *dir)
{
    struct changed_dirs *c = self;
    struct strbuf path = {0};

    watched_dir_path(dir, &path);
    c->paths = mem_resize(c->paths, (c->n + 1) * sizeof(char *));
    c->paths[c->n++] = path.n ? strbuf_take(&path) : mem_strdup("");
    strbuf_done(&path);
}

/* Reads the directories that have changed. */
static void list_changed(struct linked_files *l, const struct survey *s)
{
    struct changed_dirs c = {0};

    if (dir_watch_n_dirs(s->watch) > DIR_WATCH_FEW)
        return;
    l->n_entries = 0;
    dir_watch_each_changed(s->watch, l->version, note_dir, &c);
    for (size_t i = 0; i < c.n; i++) {
        list_directory(l, s, c.paths[i]);
        mem_free(c.paths[i]);
    }
    mem_free(c.paths);
}

void linked_files_look(struct linked_files *l, const struct survey *s)
{
    list_changed(l, s);
    l->version = s->version;
    l->mark = dir_watch_mark(s->watch);
}

void linked_files_done(struct linked_files *l)
{
    while (l->n)
        drop(l, l->n - 1);
    mem_free(l->items);
    *l = (struct linked_files){0};
}

/* --- after a command --- */

struct linked_check {
    char **paths; /* that have changed */
    size_t n;
};

static void guard_report_path(struct linked_check *c, const char *path)
{
    if (c->n == MAX_CHANGED || (c->n && strcmp(c->paths[c->n - 1], path) == 0))
        return;
    c->paths = mem_resize(c->paths, (c->n + 1) * sizeof(char *));
    c->paths[c->n++] = mem_strdup(path);
}

static void note_written(void *self, const struct watched_dir *dir, const char *name)
{
    AUTO(strbuf) struct strbuf path = {0};

    if (!name)
        return; /* of a directory that is new: what is in it was created by the command */
    watched_dir_path(dir, &path);
    strbuf_addf(&path, "%s%s", path.n ? "/" : "", name);
    guard_report_path(self, strbuf_cstr(&path));
}

static bool look_at(const struct survey *s, const char *path, struct stat *ret_stat)
{
    const char *name;
    int dir = below_open_parent(s->fd, path, &name, s->unlocks);
    bool is_linked = dir >= 0 && fstatat(dir, name, ret_stat, AT_SYMLINK_NOFOLLOW) == 0 &&
                     S_ISREG(ret_stat->st_mode) && ret_stat->st_nlink > 1;

    if (dir >= 0)
        close(dir);
    return is_linked;
}

/* Of the list, those that are not as they were. */
static void find_in_list(const struct linked_files *l, const struct survey *s,
                         struct linked_check *c)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct linked_file *f = &l->items[i];
        struct stat st;

        if (look_at(s, f->path, &st) && st.st_ino == f->inode &&
            (st.st_ctim.tv_sec != f->changed.tv_sec || st.st_ctim.tv_nsec != f->changed.tv_nsec))
            guard_report_path(c, f->path);
    }
}

static int text_cmp(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void drop_others(const struct survey *s, struct linked_check *c)
{
    size_t n = 0;
    struct stat st;

    if (c->n)
        qsort(c->paths, c->n, sizeof *c->paths, text_cmp);
    for (size_t i = 0; i < c->n; i++)
        if ((n == 0 || strcmp(c->paths[n - 1], c->paths[i]) != 0) && look_at(s, c->paths[i], &st))
            c->paths[n++] = c->paths[i];
        else
            mem_free(c->paths[i]);
    c->n = n;
}

static void tell_changed(const struct survey *s, const struct linked_check *c, struct strbuf *notes)
{
    AUTO(arena) struct arena a = {0};

    if (c->n == 0)
        return;
    for (size_t i = 0; i < MIN(c->n, (size_t)MAX_NAMED); i++)
        strbuf_addf(notes, "%s%" STR_FMT, i ? ", " : "",
                    STR_ARG(quoted(&a, arena_format(&a, "%s/%s", s->root, c->paths[i]))));
    if (c->n > MAX_NAMED)
        strbuf_addf(notes, " and %zu more", c->n - MAX_NAMED);
    strbuf_addf(notes,
                " changed and %s a second name (hard link): the change appears there too, possibly "
                "in another project\n",
                c->n == 1 ? "has" : "have");
}

void linked_files_check(struct linked_files *l, const struct survey *s, struct strbuf *notes)
{
    struct linked_check c = {0};

    if (!dir_watch_changes(s->watch, l->mark, note_written, &c))
        find_in_list(l, s, &c);
    drop_others(s, &c);
    tell_changed(s, &c, notes);
    for (size_t i = 0; i < c.n; i++) {
        struct stat st;

        for (size_t j = 0; j < l->n; j++)
            if (strcmp(l->items[j].path, c.paths[i]) == 0 && look_at(s, c.paths[i], &st))
                l->items[j].changed = st.st_ctim;
        mem_free(c.paths[i]);
    }
    mem_free(c.paths);
    linked_files_look(l, s);
}
