/* baseline.c - remembers a writable directory. */
#include "sandbox/guard/baseline_parts.h"

#include "base/protected_places.h"
#include "sandbox/guard/git_todo.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/plan/plan.h"
#include "sys/dir_names.h"
#include "sys/locked_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_FILE_BYTES = 4 << 20,
    MAX_BYTES = 64 << 20,
    MAX_ITEMS = 200000,
    MAX_DEPTH = 64,
    SURE_AFTER_S = 3, /* no file system has a coarser clock */
};

/* What is done once. */
struct taking {
    struct baseline *b;
    int root_fd;
    struct dir_names names;          /* of the root */
    const struct baseline *previous; /* may be NULL */
    struct path_list own;            /* directories of keel's in the root */
    const char *last;                /* path whose ancestors were remembered */
    struct str parent;               /* the directory that was opened last */
    int parent_fd;                   /* -1: it could not be, for this reason: */
    int parent_error;
};

/* --- remembering --- */

struct guarded *baseline_add(struct baseline *b, const char *path, enum guarded_kind kind,
                             const struct stat *st, const struct identity *identity)
{
    struct guarded *item;

    b->items = arena_grow(&b->arena, b->items, b->n, &b->room, sizeof *b->items);
    item = &b->items[b->n++];
    *item = (struct guarded){.path = path, .kind = kind};
    if (st) {
        item->mode = st->st_mode;
        item->identity = *identity;
    }
    return item;
}

static struct err *too_much(const struct taking *t, const char *path)
{
    return err_hint(err_new(ERR_SANDBOX, "%s/%s is too large to protect", t->b->root, path),
                    "without namespaces keel copies protected files before each command; move the "
                    "file, or allow namespaces: see keel doctor");
}

static struct err *too_many(const struct taking *t)
{
    return err_hint(
        err_new(ERR_SANDBOX, "more than %d protected names in %s", MAX_ITEMS, t->b->root),
        "each git repository has about eighty of them: remove repositories that a command created, "
        "or start keel in a subdirectory");
}

static struct err *unreadable(const struct taking *t, const char *path)
{
    return err_errno(ERR_SANDBOX, errno, "cannot save %s/%s before a command", t->b->root, path);
}

/* Whole, or not at all. */
static bool read_content(struct baseline *b, int fd, struct guarded *item)
{
    struct stat st;
    char *bytes;
    ssize_t n;

    if (fstat(fd, &st) < 0)
        return false;
    if (st.st_size > MAX_FILE_BYTES || b->n_bytes > MAX_BYTES) {
        errno = EFBIG;
        return false;
    }
    bytes = arena_alloc(&b->arena, (size_t)st.st_size + 1);
    n = read(fd, bytes, (size_t)st.st_size);
    if (n < 0)
        return false;
    item->content = str_make(bytes, (size_t)n);
    item->has_content = true;
    b->n_bytes += (size_t)n;
    if (time(NULL) - st.st_ctim.tv_sec > SURE_AFTER_S)
        item->changed = st.st_ctim;
    return true;
}

static bool is_unchanged(const struct guarded *was, const struct guarded *item,
                         const struct stat *st)
{
    return was && was->has_content && was->changed.tv_sec && was->kind == item->kind &&
           identity_eq(&was->identity, &item->identity) &&
           was->changed.tv_sec == st->st_ctim.tv_sec &&
           was->changed.tv_nsec == st->st_ctim.tv_nsec && was->content.n == (size_t)st->st_size;
}

static bool take_content(struct taking *t, int dir, const char *name, const struct stat *st,
                         struct guarded *item)
{
    const struct guarded *was = t->previous ? baseline_find(t->previous, item->path) : NULL;
    bool done;
    int fd, error;

    if (is_unchanged(was, item, st)) {
        item->content = arena_str(&t->b->arena, was->content);
        item->has_content = true;
        item->changed = was->changed;
        t->b->n_bytes += item->content.n;
        return true;
    }
    fd = locked_file_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    done = fd >= 0 && read_content(t->b, fd, item);
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return done;
}

static struct err *take_file(struct taking *t, int dir, const char *name, const struct stat *st,
                             struct guarded *item)
{
    if (take_content(t, dir, name, st, item))
        return NULL;
    return errno == EFBIG ? too_much(t, item->path) : unreadable(t, item->path);
}

static void take_link(struct baseline *b, struct guarded *item, int dir, const char *name)
{
    char target[4096];
    ssize_t n = readlinkat(dir, name, target, sizeof target);

    item->content = arena_str(&b->arena, str_make(target, n > 0 ? (size_t)n : 0));
    item->has_content = true;
}

static struct err *take(struct taking *t, int dir, const char *name, const char *path, int depth);

static struct err *take_entries(struct taking *t, const char *path, int depth)
{
    int fd = depth < MAX_DEPTH ? below_open_dir(t->root_fd, path, NULL) : -1;
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct err *e = NULL;

    if (!d) {
        if (fd >= 0)
            close(fd);
        return unreadable(t, path);
    }
    while (!e && (entry = readdir(d)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            e = take(t, dirfd(d), entry->d_name,
                     arena_format(&t->b->arena, "%s/%s", path, entry->d_name).p, depth + 1);
    closedir(d);
    return e;
}

/* Links cannot be mounted, a file with a second name can be written by that name, and what is in a
 * directory that is mounted is mounted with it. */
static bool is_kept_by_mounts(const struct baseline *b, const struct stat *st, int depth)
{
    if (!b->has_namespaces)
        return false;
    if (S_ISREG(st->st_mode))
        return st->st_nlink <= 1; /* 0: it is being replaced right now */
    return depth > 0 || (!S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode));
}

/* What cannot be put back can still go aside. */
static void take_mounted(struct taking *t, int dir, const char *name, const char *path,
                         const struct stat *st, const struct identity *identity)
{
    struct guarded *item = baseline_add(t->b, path, GUARDED_MOUNTED, st, identity);

    if (S_ISREG(st->st_mode))
        take_content(t, dir, name, st, item);
}

static bool is_own(const struct taking *t, const char *path)
{
    for (size_t i = 0; i < t->own.n; i++)
        if (path_is_in(path, t->own.paths[i]))
            return true;
    return false;
}

static struct err *take(struct taking *t, int dir, const char *name, const char *path, int depth)
{
    struct baseline *b = t->b;
    struct identity id;
    struct stat st;

    if (is_own(t, path))
        return NULL;
    if (b->n > MAX_ITEMS)
        return too_many(t);
    if (identity_look(dir, name, &st, &id) < 0) {
        if (errno != ENOENT)
            return unreadable(t, path);
        baseline_add(b, path, GUARDED_ABSENT, NULL, NULL);
    } else if (is_kept_by_mounts(b, &st, depth)) {
        if (depth == 0)
            take_mounted(t, dir, name, path, &st, &id);
    } else if (S_ISLNK(st.st_mode)) {
        take_link(b, baseline_add(b, path, GUARDED_LINK, &st, &id), dir, name);
    } else if (S_ISREG(st.st_mode)) {
        return take_file(t, dir, name, &st, baseline_add(b, path, GUARDED_FILE, &st, &id));
    } else if (S_ISDIR(st.st_mode)) {
        baseline_add(b, path, b->has_namespaces ? GUARDED_MOUNTED : GUARDED_DIRECTORY, &st, &id);
        return take_entries(t, path, depth);
    } else {
        baseline_add(b, path, GUARDED_SPECIAL, &st, &id);
    }
    return NULL;
}

/* Each directory from below the root down to above `path`. Paths of one directory come together, so
 * most have those of the path before; what comes twice is dropped in the end. */
static struct err *take_ancestors(struct taking *t, const char *path)
{
    const char *before = t->last ? t->last : "";

    t->last = path;
    for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
        const char *directory = arena_cstr(&t->b->arena, str_make(path, (size_t)(slash - path)));
        struct identity id;
        struct stat st;
        int fd;

        if (strncmp(before, path, (size_t)(slash - path) + 1) == 0)
            continue;
        if (t->b->n > MAX_ITEMS)
            return too_many(t);
        fd = below_open_dir(t->root_fd, directory, NULL);
        if (fd < 0 || identity_look(fd, "", &st, &id) < 0)
            return unreadable(t, directory);
        close(fd);
        baseline_add(t->b, directory, GUARDED_ANCESTOR, &st, &id);
    }
    return NULL;
}

/* --- places --- */

static void close_parent(struct taking *t)
{
    if (t->parent_fd >= 0)
        close(t->parent_fd);
    t->parent_fd = -1;
}

/* The directory that it is in, which most paths have in common with the one before; -1: there is
 * none. */
static int find_parent(struct taking *t, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    struct str parent = str_make(path, slash ? (size_t)(slash - path) : 0);

    *ret_name = slash ? slash + 1 : path;
    if (!slash)
        return t->root_fd;
    if (!t->parent.p || !str_eq(parent, t->parent)) {
        close_parent(t);
        t->parent = parent;
        t->parent_fd = below_open_parent(t->root_fd, path, ret_name, NULL);
        t->parent_error = errno;
    }
    return t->parent_fd;
}

/* Its directory is missing. Or it lies behind a link, which must stay as it is; where that leads to
 * is guarded by its own name. Or in a directory that cannot be searched, and is hidden from
 * commands. */
static void take_missing(struct taking *t, const char *path)
{
    struct baseline *b = t->b;
    const char *name;
    int dir;

    if (t->parent_error == ENOENT || t->parent_error == ENOTDIR) {
        baseline_add(b, path, GUARDED_ABSENT, NULL, NULL);
    } else if (t->parent_error == ELOOP) {
        path = arena_cstr(&b->arena, below_first_link(t->root_fd, path));
        dir = below_open_parent(t->root_fd, path, &name, NULL);
        if (dir < 0)
            return;
        take_link(b, baseline_add(b, path, GUARDED_LINK, NULL, NULL), dir, name);
        close(dir);
    }
}

/* No command reaches it, unless it has a second name elsewhere. */
static struct err *take_in_own(struct taking *t, int dir, const char *name, const char *path)
{
    struct identity id;
    struct stat st;

    if (identity_look(dir, name, &st, &id) < 0 || !S_ISREG(st.st_mode) || st.st_nlink <= 1)
        return NULL;
    return take_file(t, dir, name, &st, baseline_add(t->b, path, GUARDED_FILE, &st, &id));
}

static struct err *take_path(struct taking *t, const char *path)
{
    const char *name;
    struct err *e;
    int dir;

    if (dir_names_lack_first(&t->names, path)) {
        baseline_add(t->b, path, GUARDED_ABSENT, NULL, NULL);
        return NULL;
    }
    dir = find_parent(t, path, &name);
    if (dir < 0) {
        take_missing(t, path);
        return NULL;
    }
    if (is_own(t, path))
        return take_in_own(t, dir, name, path);
    e = take(t, dir, name, path, 0);
    if (!e && !t->b->has_namespaces)
        e = take_ancestors(t, path);
    return e;
}

static int guarded_cmp(const void *a, const void *b)
{
    const struct guarded *left = a, *right = b;
    int order = path_cmp(left->path, right->path);

    return order ? order : (int)left->kind - (int)right->kind;
}

/* A directory that is guarded may lie above another such: its own kind comes first. */
void baseline_sort(struct baseline *b)
{
    size_t n = 0;

    if (b->n)
        qsort(b->items, b->n, sizeof *b->items, guarded_cmp);
    for (size_t i = 0; i < b->n; i++)
        if (n == 0 || strcmp(b->items[n - 1].path, b->items[i].path) != 0)
            b->items[n++] = b->items[i];
    b->n = n;
}

/* Another writable directory in this one must stay where it is. With namespaces the kernel sees to
 * that: it is a mount point. */
static struct err *take_root_in_root(struct taking *t, const char *path)
{
    struct baseline *b = t->b;

    if (b->has_namespaces || !path_is_in(path, b->root) || strcmp(path, b->root) == 0)
        return NULL;
    return take_ancestors(t, arena_format(&b->arena, "%s/", path + strlen(b->root) + 1).p);
}

/* Those that are there: one that a command could make is none. Neither is a root of its own (see
 * plan_check()). */
static void take_own(struct taking *t, const struct sandbox_policy *policy)
{
    struct baseline *b = t->b;

    t->own.arena = &b->arena;
    for (size_t i = 0; i < policy->n_own; i++) {
        const char *path = policy->own[i], *name;
        struct identity id;
        struct stat st;
        int dir;

        if (!path_is_in(path, b->root) || strcmp(path, b->root) == 0)
            continue;
        path = arena_cstr(&b->arena, str_skip(str_of(path), strlen(b->root) + 1));
        dir = below_open_parent(t->root_fd, path, &name, NULL);
        if (dir < 0)
            continue;
        if (identity_look(dir, name, &st, &id) == 0 && S_ISDIR(st.st_mode)) {
            baseline_add(b, path, GUARDED_OWN, &st, &id);
            path_list_add(&t->own, path);
        }
        close(dir);
    }
}

static struct err *take_paths(struct taking *t, const struct sandbox_policy *policy)
{
    struct baseline *b = t->b;

    take_own(t, policy);
    TRY(take_root_in_root(t, policy->workspace));
    for (size_t i = 0; i < policy->n_writable; i++)
        TRY(take_root_in_root(t, policy->writable[i]));

    for (size_t i = 0; i < policy->n_read_only; i++) {
        const char *path = policy->read_only[i];

        if (path_is_in(path, b->root) && strcmp(path, b->root) != 0)
            TRY(take_path(t, arena_cstr(&b->arena, str_skip(str_of(path), strlen(b->root) + 1))));
    }
    return NULL;
}

/* What a person has left to be done is known by the lines that git would run. */
static void take_todo(struct taking *t, const char *path)
{
    const char *name;
    int dir = below_open_parent(t->root_fd, path, &name, NULL);
    AUTO(strbuf) struct strbuf lines = {0};
    struct guarded list = {.path = path};
    struct identity id;
    struct stat st;

    if (dir < 0)
        return;
    if (identity_look(dir, name, &st, &id) == 0 && S_ISREG(st.st_mode) &&
        take_content(t, dir, name, &st, &list)) {
        git_todo_find(list.content, &lines);
        baseline_add(t->b, path, GUARDED_TODO, NULL, NULL)->content =
            arena_str(&t->b->arena, strbuf_str(&lines));
    }
    close(dir);
}

static void take_todos(struct taking *t, const struct survey *s)
{
    for (size_t i = 0; i < s->now.n; i++) {
        const char *git_dir = s->now.items[i].path;
        unsigned names = s->now.items[i].names;
        bool has_todo = names & GIT_NAME_TODO && names_are_git_dir(names);

        for (size_t j = 0; has_todo && git_todo_paths[j]; j++)
            take_todo(t, arena_format(&t->b->arena, "%s%s%s", git_dir, *git_dir ? "/" : "",
                                      git_todo_paths[j])
                             .p);
    }
}

/* A file that a command may write. What is too long to be compared is none. */
static void take_reported(struct taking *t, const char *path)
{
    const char *name;
    int dir = below_open_parent(t->root_fd, path, &name, NULL);
    struct guarded *item = baseline_add(t->b, path, GUARDED_REPORTED, NULL, NULL);
    struct identity id;
    struct stat st;

    if (dir < 0)
        return;
    if (identity_look(dir, name, &st, &id) == 0 && S_ISREG(st.st_mode))
        take_content(t, dir, name, &st, item);
    close(dir);
}

static void take_all_reported(struct taking *t, const struct survey *s)
{
    for (size_t i = 0; i < s->now.n; i++)
        for (const struct protected_place *row = protected_places; row->path; row++)
            if (row->how & PLACE_REPORTED && s->now.items[i].names & GIT_NAME_DOT_GIT)
                take_reported(t, arena_format(&t->b->arena, "%s%s%s", s->now.items[i].path,
                                              *s->now.items[i].path ? "/" : "", row->path)
                                     .p);
}

void baseline_take_directories(struct baseline *b, const struct directory *items, size_t n)
{
    b->directories = ARENA_ARRAY(&b->arena, n + 1, struct directory);
    b->n_directories = n;
    for (size_t i = 0; i < n; i++) {
        b->directories[i] = items[i];
        b->directories[i].path = arena_cstr(&b->arena, str_of(items[i].path));
    }
}

struct err *baseline_take(const struct survey *s, const struct sandbox_policy *policy,
                          bool has_namespaces, const struct baseline *previous,
                          struct baseline **ret_baseline)
{
    AUTO(baseline) struct baseline *b = mem_alloc(sizeof *b);
    AUTO(arena) struct arena scratch = {0};
    struct taking t = {.b = b, .root_fd = s->fd, .previous = previous, .parent_fd = -1};
    struct err *e;

    b->root = arena_cstr(&b->arena, str_of(s->root));
    b->has_namespaces = has_namespaces;
    b->time_ns = s->time_ns;
    b->covers = "";
    dir_names_read(&t.names, &scratch, s->fd);
    e = take_paths(&t, policy);
    close_parent(&t);
    if (e)
        return e;
    take_todos(&t, s);
    take_all_reported(&t, s);
    baseline_sort(b);
    baseline_take_directories(b, s->now.items, s->now.n);
    *ret_baseline = TAKE(b);
    return NULL;
}

void baseline_free(struct baseline *b)
{
    if (!b)
        return;
    arena_done(&b->arena);
    mem_free(b);
}
