/* guard_check.c - looks at protected places after a command, and puts them right.
 *
 * A command in the background may still run and change things meanwhile, so nothing is done through
 * a path that it could bend: directories are opened from the root without following links, and
 * every change is made by name in one of them. */
#include "sandbox/guard.h"

#include "sandbox/git_config.h"
#include "sandbox/guard_internal.h"
#include "sandbox/plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ASIDE ".keel-untrusted"

enum { MAX_CONFIG_BYTES = 4096 }; /* of a new repository; git itself writes some hundred */

struct check {
    struct guarded_root *root;
    struct strbuf *notes;
};

static void note(struct check *c, const char *path, const char *what)
{
    strbuf_addf(c->notes, "%s/%s %s\n", c->root->path, path, what);
}

static void note_failure(struct check *c, const char *path)
{
    strbuf_addf(c->notes,
                "%s/%s was changed by the command and cannot be put back (%s): look at it before "
                "you use it\n",
                c->root->path, path, strerror(errno));
}

/* --- moving aside --- */

static bool move_aside(int dir, const char *name)
{
    char aside[NAME_MAX + 1];

    for (int i = 0; i < 1000; i++) {
        int n = i ? snprintf(aside, sizeof aside, "%.200s" ASIDE "-%d", name, i)
                  : snprintf(aside, sizeof aside, "%.200s" ASIDE, name);

        if (n >= (int)sizeof aside)
            return false;
        if (renameat2(dir, name, dir, aside, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool is_aside(const char *name)
{
    return strstr(name, ASIDE) != NULL;
}

static void move_aside_noted(struct check *c, int dir, const char *name, const char *path)
{
    if (move_aside(dir, name))
        note(c, path, "was made by the command; it is now called *" ASIDE);
    else
        note_failure(c, path);
}

/* --- putting back --- */

static bool write_all(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0)
            return false;
        bytes = str_skip(bytes, (size_t)n);
    }
    return true;
}

/* A new file beside it, then the rename: whoever reads sees one or the other. */
static bool write_file(int dir, const char *name, const struct guarded *item)
{
    char temp[64];
    int fd;

    snprintf(temp, sizeof temp, ".keel-put-back-%d", (int)getpid());
    unlinkat(dir, temp, 0);
    fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    if (!write_all(fd, item->content) || fchmod(fd, item->mode & 07777) < 0) {
        close(fd);
        return false;
    }
    return close(fd) == 0 && renameat(dir, temp, dir, name) == 0;
}

static bool write_link(int dir, const char *name, const struct guarded *item)
{
    char target[4096 + 1];

    snprintf(target, sizeof target, "%" STR_FMT, STR_ARG(item->content));
    return symlinkat(target, dir, name) == 0;
}

static bool file_is_same(int dir, const char *name, const struct guarded *item)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char bytes[4096];
    struct str rest = item->content;
    ssize_t n = 0;

    if (fd < 0)
        return false;
    while ((n = read(fd, bytes, sizeof bytes)) > 0) {
        if (!str_starts(rest, str_make(bytes, (size_t)n)))
            break;
        rest = str_skip(rest, (size_t)n);
    }
    close(fd);
    return n == 0 && rest.n == 0;
}

static bool link_is_same(int dir, const char *name, const struct guarded *item)
{
    char target[4096];
    ssize_t n = readlinkat(dir, name, target, sizeof target);

    return n >= 0 && str_eq(str_make(target, (size_t)n), item->content);
}

static bool is_same(int dir, const char *name, const struct guarded *item, const struct stat *st)
{
    switch (item->kind) {
    case GUARDED_FILE:
        return st->st_mode == item->mode && st->st_size == (off_t)item->content.n &&
               file_is_same(dir, name, item);
    case GUARDED_LINK:
        return S_ISLNK(st->st_mode) && link_is_same(dir, name, item);
    case GUARDED_DIRECTORY:
        return S_ISDIR(st->st_mode);
    default:
        return st->st_dev == item->device && st->st_ino == item->inode;
    }
}

static bool put_back(int dir, const char *name, const struct guarded *item)
{
    switch (item->kind) {
    case GUARDED_FILE:
        return write_file(dir, name, item);
    case GUARDED_LINK:
        return write_link(dir, name, item);
    case GUARDED_DIRECTORY:
        return mkdirat(dir, name, item->mode & 07777) == 0;
    default:
        errno = ENOTSUP;
        return false;
    }
}

/* What stands in the way is something else: it goes aside. A file is just replaced. */
static void check_there(struct check *c, int dir, const char *name, const struct guarded *item)
{
    struct stat st;
    bool exists = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

    if (exists && is_same(dir, name, item, &st))
        return;
    if (exists && !(item->kind == GUARDED_FILE && S_ISREG(st.st_mode)) && !move_aside(dir, name)) {
        note_failure(c, item->path);
        return;
    }
    if (put_back(dir, name, item))
        note(c, item->path,
             exists ? "was changed by the command; it has been put back"
                    : "was removed by the command; it has been put back");
    else
        note_failure(c, item->path);
}

/* --- directories --- */

/* Wherever it was moved to in this root, it comes back. */
static void check_ancestor(struct check *c, int dir, const char *name, const struct guarded *item)
{
    char link[64], now[PATH_MAX];
    size_t n_root = strlen(c->root->path);
    struct stat st;
    ssize_t n;
    int from;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (st.st_dev == item->device && st.st_ino == item->inode)
            return;
        move_aside_noted(c, dir, name, item->path);
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", item->fd);
    n = readlink(link, now, sizeof now - 1);
    if (n > 0)
        now[n] = 0;
    if (n > 0 && fstat(item->fd, &st) == 0 && st.st_nlink > 0 &&
        strncmp(now, c->root->path, n_root) == 0 && now[n_root] == '/') {
        const char *old_name;

        from = guard_open_parent(c->root, now + n_root + 1, &old_name);
        if (from >= 0 && renameat2(from, old_name, dir, name, RENAME_NOREPLACE) == 0) {
            note(c, item->path, "was moved by the command; it has been put back");
            close(from);
            return;
        }
        if (from >= 0)
            close(from);
    }
    note(c, item->path, "was removed by the command and cannot be put back");
}

static int path_to_item_cmp(const void *path, const void *item)
{
    return path_cmp(path, ((const struct guarded *)item)->path);
}

static bool is_known(const struct guarded_root *root, const char *path)
{
    return bsearch(path, root->items, root->n, sizeof *root->items, path_to_item_cmp) != NULL;
}

/* What was not in it before goes aside; in a new directory of hooks, all but the samples. */
static void check_entries(struct check *c, const char *path, bool is_new)
{
    int fd = guard_open_dir(c->root, path);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    while (d && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);
        AUTO(strbuf) struct strbuf full = {0};

        if (str_is(name, ".") || str_is(name, "..") || is_aside(name.p))
            continue;
        strbuf_addf(&full, "%s/%s", path, name.p);
        if (is_new ? !str_ends(name, S(".sample")) : !is_known(c->root, strbuf_cstr(&full)))
            move_aside_noted(c, dirfd(d), name.p, strbuf_cstr(&full));
    }
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

/* --- what was not there --- */

static void check_absent(struct check *c, int dir, const char *name, const struct guarded *item)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        move_aside_noted(c, dir, name, item->path);
}

static bool config_is_plain(int dir, const char *name)
{
    char text[MAX_CONFIG_BYTES];
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text);

    if (fd >= 0)
        close(fd);
    return n >= 0 && n < (ssize_t)sizeof text && git_config_is_plain(str_make(text, (size_t)n));
}

/* A repository that the command has made has hooks and a configuration, and may keep them as far
 * as git makes them itself. */
static void check_new_parent(struct check *c, int dir, const char *name, const struct guarded *item)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (strcmp(name, "hooks") == 0 && S_ISDIR(st.st_mode))
        check_entries(c, item->path, /* is_new= */ true);
    else if (strcmp(name, "config") != 0 || !S_ISREG(st.st_mode))
        move_aside_noted(c, dir, name, item->path);
    else if (!config_is_plain(dir, name))
        note(c, item->path, "was made by the command: look at it before you run git there");
}

/* The quick look, and the usual answer. Links on the way do no harm: nothing is done. */
static bool is_still_absent(const struct guarded_root *root, const char *path)
{
    struct stat st;

    return fstatat(root->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

static void check_item(struct check *c, const struct guarded *item)
{
    const char *name;
    int dir;

    if (item->kind <= GUARDED_ABSENT_WITH_PARENT && is_still_absent(c->root, item->path))
        return;
    dir = guard_open_parent(c->root, item->path, &name);
    if (dir < 0) {
        if (item->kind > GUARDED_ABSENT_WITH_PARENT)
            note_failure(c, item->path);
        return;
    }
    switch (item->kind) {
    case GUARDED_ABSENT:
        check_absent(c, dir, name, item);
        break;
    case GUARDED_ABSENT_WITH_PARENT:
        check_new_parent(c, dir, name, item);
        break;
    case GUARDED_ANCESTOR:
        check_ancestor(c, dir, name, item);
        break;
    case GUARDED_DIRECTORY:
        check_there(c, dir, name, item);
        check_entries(c, item->path, /* is_new= */ false);
        break;
    case GUARDED_LINK:
    case GUARDED_FILE:
    case GUARDED_SPECIAL:
        check_there(c, dir, name, item);
        break;
    }
    close(dir);
}

void guard_check(struct guard *g, struct strbuf *notes)
{
    for (size_t i = 0; i < g->n_roots; i++) {
        struct check c = {&g->roots[i], notes};

        for (size_t j = 0; j < c.root->n; j++)
            check_item(&c, &c.root->items[j]);
    }
}
