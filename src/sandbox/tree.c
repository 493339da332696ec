/* tree.c - directories with the times of their last changes, and what was found in them. */
#include "sandbox/tree.h"

#include "base/strbuf.h"
#include "sys/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 10000000, /* that are read in one update */
    /* Some file systems count in seconds. */
    UNSURE_SECONDS = 2,
};

struct find {
    char *name;
    unsigned meaning;
};

struct dir {
    struct dir **children; /* sorted by name */
    size_t n_children;
    struct find *finds;
    size_t n_finds;
    dev_t device;
    ino_t inode;
    struct timespec changed;
    bool was_read; /* and would look changed, should it change now */
    bool is_shut;  /* keel may not look into it: what was known before still counts */
    char name[];
};

struct tree {
    struct tree_judge judge;
    char *root_path;
    size_t n_prefix; /* bytes of it before the slash of an entry */
    int root_fd;     /* -1: not open */
    struct dir *root;
    size_t n_dirs;
    /* of an update */
    struct strbuf path; /* of the directory that is looked at */
    time_t sure_before;
    size_t n_entries, n_read;
};

/* --- directories in memory --- */

static struct dir *dir_new(struct tree *t, const char *name)
{
    size_t n = strlen(name) + 1;
    struct dir *d = mem_alloc(sizeof *d + n);

    memcpy(d->name, name, n);
    t->n_dirs++;
    return d;
}

static void forget_finds(struct dir *d)
{
    for (size_t i = 0; i < d->n_finds; i++)
        mem_free(d->finds[i].name);
    mem_free(d->finds);
    d->finds = NULL;
    d->n_finds = 0;
}

static void dir_free(struct tree *t, struct dir *d);

static void forget(struct tree *t, struct dir *d)
{
    for (size_t i = 0; i < d->n_children; i++)
        dir_free(t, d->children[i]);
    mem_free(d->children);
    d->children = NULL;
    d->n_children = 0;
    d->was_read = d->is_shut = false;
    forget_finds(d);
}

static void dir_free(struct tree *t, struct dir *d)
{
    forget(t, d);
    mem_free(d);
    t->n_dirs--;
}

/* --- the path --- */

static size_t enter(struct tree *t, const char *name)
{
    size_t before = t->path.n;

    strbuf_add_char(&t->path, '/');
    strbuf_add_cstr(&t->path, name);
    return before;
}

/* Below the root's descriptor. */
static const char *relative(struct tree *t)
{
    return t->path.n > t->n_prefix ? strbuf_cstr(&t->path) + t->n_prefix + 1 : ".";
}

/* --- reading one --- */

/* The entries of one directory. */
struct reading {
    char **names; /* of directories */
    size_t n_names, names_room;
    struct find *finds;
    size_t n_finds, finds_room;
};

static void reading_done(struct reading *r)
{
    for (size_t i = 0; i < r->n_names; i++)
        mem_free(r->names[i]);
    mem_free(r->names);
    for (size_t i = 0; i < r->n_finds; i++)
        mem_free(r->finds[i].name);
    mem_free(r->finds);
}
DEFINE_AUTO_VAL(reading, reading_done)

static void *grow(void *items, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return items;
    *room = MAX(*room * 2, (size_t)8);
    return mem_resize(items, *room * size);
}

static void add_find(struct reading *r, const char *name, unsigned meaning)
{
    r->finds = grow(r->finds, r->n_finds, &r->finds_room, sizeof *r->finds);
    r->finds[r->n_finds++] = (struct find){mem_strdup(name), meaning};
}

static void add_name(struct reading *r, const char *name)
{
    r->names = grow(r->names, r->n_names, &r->names_room, sizeof *r->names);
    r->names[r->n_names++] = mem_strdup(name);
}

static bool is_directory(int fd, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void read_entry(struct tree *t, struct reading *r, int fd, const struct dirent *entry)
{
    size_t before = enter(t, entry->d_name);
    unsigned meaning = t->judge.judge(t->judge.self, strbuf_cstr(&t->path), entry->d_name);

    strbuf_cut(&t->path, before);
    if (meaning)
        add_find(r, entry->d_name, meaning);
    if (!(meaning & TREE_CLOSED) && is_directory(fd, entry))
        add_name(r, entry->d_name);
}

static struct err *too_much(const struct tree *t, const char *what, int limit)
{
    return err_hint(err_new(ERR_SANDBOX, "%s holds more than %d %s", t->root_path, limit, what),
                    "commands run only where keel can look for what is to be kept from them: start "
                    "it in a smaller directory, and give deny rules directories that are smaller");
}

static struct err *read_entries(struct tree *t, DIR *stream, struct reading *r)
{
    const struct dirent *entry;

    while ((entry = readdir(stream))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++t->n_entries > MAX_ENTRIES)
            return too_much(t, "files", MAX_ENTRIES);
        read_entry(t, r, dirfd(stream), entry);
    }
    return NULL;
}

static int name_cmp(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Directories that were there before keep what is known of them: they are looked at next. */
static struct err *take_children(struct tree *t, struct dir *d, struct reading *r)
{
    struct dir **children = mem_alloc(MAX(r->n_names, (size_t)1) * sizeof *children);
    size_t old = 0;

    if (r->n_names)
        qsort(r->names, r->n_names, sizeof *r->names, name_cmp);
    for (size_t i = 0; i < r->n_names; i++) {
        while (old < d->n_children && strcmp(d->children[old]->name, r->names[i]) < 0)
            dir_free(t, d->children[old++]);
        if (old < d->n_children && strcmp(d->children[old]->name, r->names[i]) == 0)
            children[i] = d->children[old++];
        else
            children[i] = dir_new(t, r->names[i]);
    }
    while (old < d->n_children)
        dir_free(t, d->children[old++]);
    mem_free(d->children);
    d->children = children;
    d->n_children = r->n_names;
    return t->n_dirs > TREE_MAX_DIRS ? too_much(t, "directories", TREE_MAX_DIRS) : NULL;
}

static struct err *take_reading(struct tree *t, struct dir *d, struct reading *r)
{
    forget_finds(d);
    d->finds = TAKE(r->finds);
    d->n_finds = r->n_finds;
    r->n_finds = 0;
    return take_children(t, d, r);
}

/* NULL and errno. No link on the way is followed, whoever has put it there meanwhile. */
static DIR *open_stream(struct tree *t)
{
    struct open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, t->root_fd, relative(t), &how, sizeof how);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

/* For want of descriptors or memory: what is there is not known. */
static bool is_passing(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

static struct err *read_dir(struct tree *t, struct dir *d)
{
    AUTO(reading) struct reading r = {0};
    DIR *stream = open_stream(t);
    struct err *e;

    t->n_read++;
    if (!stream) {
        e = is_passing(errno)
                ? err_errno(ERR_SANDBOX, errno, "cannot look into %s", strbuf_cstr(&t->path))
                : NULL;
        forget(t, d);
        return e;
    }
    e = read_entries(t, stream, &r);
    closedir(stream);
    return e ? e : take_reading(t, d, &r);
}

/* A command of the same user can open such a directory, which others' commands cannot. */
static bool is_shut(const struct tree *t, const char *path, const struct stat *st)
{
    return st->st_uid == geteuid() && faccessat(t->root_fd, path, R_OK | X_OK, AT_EACCESS) < 0 &&
           errno == EACCES;
}

/* --- looking --- */

static bool is_as_it_was(const struct dir *d, const struct stat *st)
{
    return d->was_read && d->device == st->st_dev && d->inode == st->st_ino &&
           d->changed.tv_sec == st->st_ctim.tv_sec && d->changed.tv_nsec == st->st_ctim.tv_nsec;
}

static void remember(const struct tree *t, struct dir *d, const struct stat *st)
{
    d->device = st->st_dev;
    d->inode = st->st_ino;
    d->changed = st->st_ctim;
    d->was_read = !d->is_shut && st->st_ctim.tv_sec < t->sure_before;
}

static struct err *look(struct tree *t, struct dir *d)
{
    struct stat st;

    if (fstatat(t->root_fd, relative(t), &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode)) {
        forget(t, d);
        return NULL;
    }
    if (is_as_it_was(d, &st))
        return NULL;
    d->is_shut = is_shut(t, relative(t), &st);
    if (d->is_shut && d == t->root)
        return err_errno(ERR_SANDBOX, EACCES, "cannot look into %s", t->root_path);
    if (!d->is_shut)
        TRY(read_dir(t, d));
    remember(t, d, &st);
    return NULL;
}

static struct err *update(struct tree *t, struct dir *d, int depth)
{
    if (work_cancelled())
        return err_new(ERR_CANCELLED, "interrupted");
    TRY(look(t, d));
    if (d->is_shut)
        return NULL;
    for (size_t i = 0; depth < TREE_MAX_DEPTH && i < d->n_children; i++) {
        size_t before = enter(t, d->children[i]->name);

        TRY(update(t, d->children[i], depth + 1));
        strbuf_cut(&t->path, before);
    }
    return NULL;
}

static struct err *update_all(struct tree *t, time_t now)
{
    strbuf_clear(&t->path);
    strbuf_add(&t->path, str_make(t->root_path, t->n_prefix));
    t->n_entries = t->n_read = 0;
    t->sure_before = now - UNSURE_SECONDS;
    t->root_fd = open(t->root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (t->root_fd >= 0)
        return update(t, t->root, 0);
    forget(t, t->root);
    if (errno == ENOENT || errno == ENOTDIR)
        return NULL;
    return err_errno(ERR_SANDBOX, errno, "cannot open %s", t->root_path);
}

struct err *tree_update(struct tree *t, time_t now)
{
    struct err *e = update_all(t, now);

    if (t->root_fd >= 0)
        close(t->root_fd);
    t->root_fd = -1;
    if (e)
        forget(t, t->root); /* half of it is worth nothing */
    return e;
}

struct tree *tree_new(const char *root, struct tree_judge judge)
{
    struct tree *t = mem_alloc(sizeof *t);

    t->judge = judge;
    t->root_path = mem_strdup(root);
    t->n_prefix = strcmp(root, "/") == 0 ? 0 : strlen(root);
    t->root_fd = -1;
    t->root = dir_new(t, "");
    return t;
}

void tree_free(struct tree *t)
{
    if (!t)
        return;
    dir_free(t, t->root);
    strbuf_done(&t->path);
    mem_free(t->root_path);
    mem_free(t);
}

/* --- what was found --- */

struct visit {
    const struct tree *tree;
    struct strbuf path;
    void (*found)(void *self, const char *path, unsigned meaning);
    void *self;
};

static void visit_at(struct visit *v, const char *name, unsigned meaning)
{
    size_t before = v->path.n;

    strbuf_addf(&v->path, "/%s", name);
    v->found(v->self, strbuf_cstr(&v->path), meaning);
    strbuf_cut(&v->path, before);
}

static void visit(struct visit *v, const struct dir *d)
{
    for (size_t i = 0; i < d->n_finds; i++)
        visit_at(v, d->finds[i].name, d->finds[i].meaning);
    for (size_t i = 0; i < d->n_children; i++) {
        const struct dir *child = d->children[i];
        size_t before = v->path.n;

        if (child->is_shut && v->tree->judge.shut)
            visit_at(v, child->name, v->tree->judge.shut);
        strbuf_addf(&v->path, "/%s", child->name);
        visit(v, child);
        strbuf_cut(&v->path, before);
    }
}

void tree_each(const struct tree *t, void (*found)(void *self, const char *path, unsigned meaning),
               void *self)
{
    struct visit v = {.tree = t, .found = found, .self = self};

    strbuf_add(&v.path, str_make(t->root_path, t->n_prefix));
    visit(&v, t->root);
    strbuf_done(&v.path);
}

size_t tree_n_read(const struct tree *t)
{
    return t->n_read;
}

size_t tree_n_dirs(const struct tree *t)
{
    return t->n_dirs;
}
