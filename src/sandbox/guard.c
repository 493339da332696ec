/* guard.c - remembers protected places before a command. */
#include "sandbox/guard.h"

#include "sandbox/below.h"
#include "sandbox/guard_internal.h"
#include "sandbox/plan.h"
#include "sys/locked_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MAX_FILE_BYTES = 4 << 20,
    MAX_BYTES = 64 << 20,
    MAX_ITEMS = 200000,
    MAX_ANCESTORS = 512, /* each keeps a descriptor open */
    MAX_DEPTH = 64,
};

/* --- remembering --- */

static struct guarded *add(struct guard *g, struct guarded_root *root, const char *path,
                           enum guarded_kind kind, const struct stat *st)
{
    struct guarded *item;

    root->items = arena_grow(&g->arena, root->items, root->n, &root->room, sizeof *root->items);
    item = &root->items[root->n++];
    *item = (struct guarded){.path = path, .kind = kind, .fd = -1};
    if (st) {
        item->mode = st->st_mode;
        item->device = st->st_dev;
        item->inode = st->st_ino;
    }
    g->n_items++;
    return item;
}

static struct err *too_much(const struct guarded_root *root, const char *path)
{
    return err_hint(err_new(ERR_SANDBOX, "%s/%s is too large to be protected", root->path, path),
                    "without namespaces protected files are copied before each command; move it, "
                    "or allow namespaces: see keel doctor");
}

static struct err *unreadable(const struct guarded_root *root, const char *path)
{
    return err_errno(ERR_SANDBOX, errno, "cannot remember %s/%s before a command", root->path,
                     path);
}

/* Whole, or not at all. */
static bool read_content(struct guard *g, int fd, struct guarded *item)
{
    struct stat st;
    char *bytes;
    ssize_t n;

    if (fstat(fd, &st) < 0)
        return false;
    if (st.st_size > MAX_FILE_BYTES || g->n_bytes > MAX_BYTES) {
        errno = EFBIG;
        return false;
    }
    bytes = arena_alloc(&g->arena, (size_t)st.st_size + 1);
    n = read(fd, bytes, (size_t)st.st_size);
    if (n < 0)
        return false;
    item->content = str_make(bytes, (size_t)n);
    item->has_content = true;
    g->n_bytes += (size_t)n;
    return true;
}

static bool take_content(struct guard *g, int dir, const char *name, struct guarded *item)
{
    int fd = locked_file_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    bool done = fd >= 0 && read_content(g, fd, item);
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return done;
}

static struct err *take_file(struct guard *g, struct guarded_root *root, int dir, const char *name,
                             struct guarded *item)
{
    if (take_content(g, dir, name, item))
        return NULL;
    return errno == EFBIG ? too_much(root, item->path) : unreadable(root, item->path);
}

static void take_link(struct guard *g, struct guarded *item, int dir, const char *name)
{
    char target[4096];
    ssize_t n = readlinkat(dir, name, target, sizeof target);

    item->content = arena_str(&g->arena, str_make(target, n > 0 ? (size_t)n : 0));
    item->has_content = true;
}

static struct err *take(struct guard *g, struct guarded_root *root, int dir, const char *name,
                        const char *path, int depth);

static struct err *take_entries(struct guard *g, struct guarded_root *root, const char *path,
                                int depth)
{
    int fd = depth < MAX_DEPTH ? below_open_dir(root->fd, path, NULL) : -1;
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct err *e = NULL;

    if (!d) {
        if (fd >= 0)
            close(fd);
        return unreadable(root, path);
    }
    while (!e && (entry = readdir(d)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            e = take(g, root, dirfd(d), entry->d_name,
                     arena_format(&g->arena, "%s/%s", path, entry->d_name).p, depth + 1);
    closedir(d);
    return e;
}

/* With namespaces files and directories are mounts, and stay what they are by themselves: but for
 * files that have a second name somewhere. */
static bool is_kept_by_mounts(const struct guard *g, const struct stat *st, int depth)
{
    if (!g->namespaces)
        return false;
    if (S_ISREG(st->st_mode))
        return st->st_nlink == 1;
    return depth > 0 || (!S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode));
}

/* What cannot be put back can still go aside. */
static void take_mounted(struct guard *g, struct guarded_root *root, int dir, const char *name,
                         const char *path, const struct stat *st)
{
    struct guarded *item = add(g, root, path, GUARDED_MOUNTED, st);

    if (S_ISREG(st->st_mode))
        take_content(g, dir, name, item);
}

static struct err *take(struct guard *g, struct guarded_root *root, int dir, const char *name,
                        const char *path, int depth)
{
    struct stat st;

    if (g->n_items > MAX_ITEMS)
        return too_much(root, path);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno != ENOENT)
            return unreadable(root, path);
        add(g, root, path, GUARDED_ABSENT, NULL);
    } else if (is_kept_by_mounts(g, &st, depth)) {
        if (depth == 0)
            take_mounted(g, root, dir, name, path, &st);
    } else if (S_ISLNK(st.st_mode)) {
        take_link(g, add(g, root, path, GUARDED_LINK, &st), dir, name);
    } else if (S_ISREG(st.st_mode)) {
        return take_file(g, root, dir, name, add(g, root, path, GUARDED_FILE, &st));
    } else if (S_ISDIR(st.st_mode)) {
        add(g, root, path, g->namespaces ? GUARDED_MOUNTED : GUARDED_DIRECTORY, &st);
        return take_entries(g, root, path, depth);
    } else {
        add(g, root, path, GUARDED_SPECIAL, &st);
    }
    return NULL;
}

static bool has_ancestor(const struct guarded_root *root, const char *path)
{
    for (size_t i = 0; i < root->n; i++)
        if (root->items[i].kind == GUARDED_ANCESTOR && strcmp(root->items[i].path, path) == 0)
            return true;
    return false;
}

/* Each directory from below the root down to above `path`, once. Paths of one directory come
 * together, so most have those of the path before. */
static struct err *take_ancestors(struct guard *g, struct guarded_root *root, const char *path)
{
    const char *before = root->last ? root->last : "";

    root->last = path;
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        const char *directory = arena_cstr(&g->arena, str_make(path, (size_t)(slash - path)));
        struct guarded *item;
        struct stat st;

        if (strncmp(before, path, (size_t)(slash - path) + 1) == 0 || has_ancestor(root, directory))
            continue;
        if (g->n_ancestors++ >= MAX_ANCESTORS)
            return too_much(root, path);
        item = add(g, root, directory, GUARDED_ANCESTOR, NULL);
        item->fd = below_open_dir(root->fd, directory, NULL);
        if (item->fd < 0 || fstat(item->fd, &st) < 0)
            return unreadable(root, directory);
        item->device = st.st_dev;
        item->inode = st.st_ino;
    }
    return NULL;
}

static void close_parent(struct guarded_root *root)
{
    if (root->parent_fd >= 0)
        close(root->parent_fd);
    root->parent_fd = -1;
}

/* The directory that it is in, which most paths have in common with the one before; -1: there is
 * none. */
static int find_parent(struct guarded_root *root, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    struct str parent = str_make(path, slash ? (size_t)(slash - path) : 0);

    *ret_name = slash ? slash + 1 : path;
    if (!slash)
        return root->fd;
    if (!str_eq(parent, root->parent)) {
        close_parent(root);
        root->parent = parent;
        root->parent_fd = below_open_parent(root->fd, path, ret_name, NULL);
    }
    return root->parent_fd;
}

/* Its directory is missing. Or it lies behind a link, which must stay as it is; where that leads to
 * is guarded by its own name. Or in a directory that cannot be searched, and is hidden from
 * commands. */
static void take_missing(struct guard *g, struct guarded_root *root, const char *path)
{
    const char *name;
    int dir;

    if (errno == ENOENT || errno == ENOTDIR) {
        add(g, root, path, GUARDED_ABSENT, NULL);
    } else if (errno == ELOOP) {
        path = arena_cstr(&g->arena, below_first_link(root->fd, path));
        dir = below_open_parent(root->fd, path, &name, NULL);
        if (dir < 0)
            return;
        take_link(g, add(g, root, path, GUARDED_LINK, NULL), dir, name);
        close(dir);
    }
}

static struct err *take_path(struct guard *g, struct guarded_root *root, const char *path)
{
    const char *name;
    struct err *e;
    int dir = find_parent(root, path, &name);

    if (dir < 0) {
        take_missing(g, root, path);
        return NULL;
    }
    e = take(g, root, dir, name, path, 0);
    if (!e && !g->namespaces)
        e = take_ancestors(g, root, path);
    return e;
}

/* --- roots --- */

static int guarded_cmp(const void *a, const void *b)
{
    const struct guarded *left = a, *right = b;

    int order = path_cmp(left->path, right->path);

    return order ? order : (int)left->kind - (int)right->kind;
}

/* A directory that is guarded may lie above another such. */
static void sort(struct guarded_root *root)
{
    size_t n = 0;

    if (root->n)
        qsort(root->items, root->n, sizeof *root->items, guarded_cmp);
    for (size_t i = 0; i < root->n; i++) {
        if (n && strcmp(root->items[n - 1].path, root->items[i].path) == 0) {
            if (root->items[i].fd >= 0)
                close(root->items[i].fd);
            continue;
        }
        root->items[n++] = root->items[i];
    }
    root->n = n;
}

static struct err *take_paths(struct guard *g, struct guarded_root *root,
                              const struct sandbox_policy *policy)
{
    for (size_t i = 0; i < policy->n_read_only; i++) {
        const char *path = policy->read_only[i];

        if (path_is_in(path, root->path) && strcmp(path, root->path) != 0)
            TRY(take_path(g, root,
                          arena_cstr(&g->arena, str_skip(str_of(path), strlen(root->path) + 1))));
    }
    return NULL;
}

static struct err *take_root(struct guard *g, const char *path, const struct sandbox_policy *policy)
{
    struct guarded_root *root = &g->roots[g->n_roots];
    struct err *e;

    *root = (struct guarded_root){
        .path = arena_cstr(&g->arena, str_of(path)),
        .fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC),
        .parent_fd = -1,
    };
    if (root->fd < 0)
        return err_errno(ERR_SANDBOX, errno, "cannot open %s", path);
    g->n_roots++;
    e = take_paths(g, root, policy);
    close_parent(root);
    if (!e)
        sort(root);
    return e;
}

struct err *guard_take(const struct sandbox_policy *policy, bool namespaces,
                       struct guard **ret_guard)
{
    AUTO(guard) struct guard *g = mem_alloc(sizeof *g);

    g->namespaces = namespaces;
    g->roots = ARENA_ARRAY(&g->arena, policy->n_writable + 1, struct guarded_root);
    TRY(take_root(g, policy->workspace, policy));
    for (size_t i = 0; i < policy->n_writable; i++)
        if (!path_is_in(policy->writable[i], policy->workspace))
            TRY(take_root(g, policy->writable[i], policy));
    *ret_guard = TAKE(g);
    return NULL;
}

bool guard_serves(const struct guard *g, bool namespaces)
{
    return namespaces || !g->namespaces;
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_roots; i++) {
        for (size_t j = 0; j < g->roots[i].n; j++)
            if (g->roots[i].items[j].fd >= 0)
                close(g->roots[i].items[j].fd);
        close(g->roots[i].fd);
    }
    arena_done(&g->arena);
    mem_free(g);
}
