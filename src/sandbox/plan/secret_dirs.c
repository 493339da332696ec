/* secret_dirs.c - finds directories that lack places of credentials. */
#include "sandbox/plan/secret_dirs.h"

#include "base/secret_places.h"
#include "base/str.h"
#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_unchanged(const struct secret_dir *d)
{
    struct stat st;

    return lstat(d->path, &st) == 0 && st.st_dev == d->device && st.st_ino == d->inode &&
           st.st_ctim.tv_sec == d->changed.tv_sec && st.st_ctim.tv_nsec == d->changed.tv_nsec;
}

/* The directory of that path, through the links on the way to it; NULL: there is none that could be
 * entered. */
static struct secret_dir *find_dir(struct secret_dirs *d, const char *path)
{
    char real[PATH_MAX];
    struct stat st;

    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->items[i].path, path) == 0)
            return &d->items[i];
    if (!realpath(path, real) || stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
        return NULL;
    if (strcmp(real, path) != 0)
        return find_dir(d, real);
    d->items = arena_grow(&d->arena, d->items, d->n, &d->room, sizeof *d->items);
    d->items[d->n] = (struct secret_dir){.path = arena_cstr(&d->arena, str_of(path)),
                                         .device = st.st_dev,
                                         .inode = st.st_ino,
                                         .changed = st.st_ctim};
    return &d->items[d->n++];
}

static void add_missing(struct secret_dirs *d, struct secret_dir *dir, struct str name)
{
    for (size_t i = 0; i < dir->n; i++)
        if (str_is(name, dir->names[i]))
            return;
    dir->names = arena_grow(&d->arena, dir->names, dir->n, &dir->room, sizeof *dir->names);
    dir->names[dir->n++] = arena_cstr(&d->arena, name);
}

static void add_present(struct secret_dirs *d, struct secret_dir *dir, struct str name)
{
    dir->present = arena_grow(&d->arena, dir->present, dir->n_present, &dir->present_room,
                              sizeof *dir->present);
    dir->present[dir->n_present++] = arena_cstr(&d->arena, name);
}

/* From a directory that exists, as far as there is anything. */
static void add_place(struct secret_dirs *d, const char *from, const char *path)
{
    struct secret_dir *dir = find_dir(d, from);
    struct str rest = str_of(path), name;
    struct stat st;

    while (dir && str_split(&rest, '/', &name)) {
        const char *next = fs_join(&d->arena, strcmp(dir->path, "/") == 0 ? "" : dir->path,
                                   arena_cstr(&d->arena, name));

        if (lstat(next, &st) < 0) {
            if (errno == ENOENT)
                add_missing(d, dir, name);
            return;
        }
        if (rest.n == 0) {
            add_present(d, dir, name);
            return;
        }
        dir = find_dir(d, next);
    }
}

/* Those of the home, and all that lead to them. */
static void mark_split(struct secret_dirs *d)
{
    size_t n = d->n;

    for (size_t i = 0; i < n; i++) {
        char *path = arena_cstr(&d->arena, str_of(d->items[i].path)), *slash;

        d->items[i].is_split = true;
        while ((slash = strrchr(path, '/')) && path[1]) {
            struct secret_dir *above;

            slash[slash == path] = 0;
            above = find_dir(d, path);
            if (above)
                above->is_split = true;
        }
    }
}

void secret_dirs_update(struct secret_dirs *d, const char *home)
{
    uint64_t version = d->version;
    size_t n = 0;

    while (n < d->n && is_unchanged(&d->items[n]))
        n++;
    if (n > 0 && n == d->n)
        return;
    secret_dirs_done(d);
    d->version = version + 1;
    for (const struct secret_place *p = secret_places_in_home; home && p->path; p++)
        add_place(d, home, p->path);
    mark_split(d);
    for (const struct secret_place *p = secret_places_of_system; geteuid() == 0 && p->path; p++)
        add_place(d, "/", p->path + 1);
}

void secret_dirs_done(struct secret_dirs *d)
{
    arena_done(&d->arena);
    *d = (struct secret_dirs){0};
}
