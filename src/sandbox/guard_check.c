/* guard_check.c - looks at protected places after a command, and puts them right.
 *
 * A command in the background may still run and change things meanwhile, so nothing is done through
 * a path that it could bend: directories are opened from the root without following links, and
 * every change is made by name in one of them. */
#include "sandbox/guard.h"

#include "sandbox/aside.h"
#include "sandbox/below.h"
#include "sandbox/git_config.h"
#include "sandbox/guard_internal.h"
#include "sandbox/plan.h"
#include "sandbox/unlock.h"
#include "sys/locked_file.h"
#include "sys/temp_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_CONFIG_BYTES = 1 << 20 };

struct check {
    struct guarded_root *root;
    struct teller teller;
};

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

/* A new file, then the rename: whoever reads sees one or the other. */
static bool write_file(int dir, const char *name, const struct guarded *item)
{
    AUTO(temp_file) struct temp_file file = TEMP_FILE_NONE;

    return temp_file_open(&file, dir, name) == 0 && write_all(file.fd, item->content) &&
           fchmod(file.fd, item->mode & 07777) == 0 && temp_file_replace(&file) == 0;
}

static bool write_link(int dir, const char *name, const struct guarded *item)
{
    char target[4096 + 1];

    snprintf(target, sizeof target, "%" STR_FMT, STR_ARG(item->content));
    return symlinkat(target, dir, name) == 0;
}

static bool file_is_same(int dir, const char *name, const struct guarded *item)
{
    int fd = locked_file_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
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
    if (exists && !(item->kind == GUARDED_FILE && S_ISREG(st.st_mode)) &&
        !move_aside(&c->teller, dir, name)) {
        tell_failure(&c->teller, item->path);
        return;
    }
    if (put_back(dir, name, item) ||
        (errno == EACCES && unlocks_add(c->teller.unlocks, dir) && put_back(dir, name, item)))
        tell(&c->teller, item->path,
             exists ? "was changed by the command; it has been put back"
                    : "was removed by the command; it has been put back");
    else
        tell_failure(&c->teller, item->path);
}

/* --- what was mounted read-only --- */

static bool is_git_config(const char *name)
{
    return strcmp(name, "config") == 0 || strcmp(name, "config.worktree") == 0;
}

/* People change settings of repositories all day, and git puts a new file in place each time. */
static bool is_harmless_config(int dir, const char *name, const struct guarded *item)
{
    int fd = locked_file_openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    AUTO_FREE char *text = mem_alloc(MAX_CONFIG_BYTES);
    ssize_t n = fd >= 0 ? read(fd, text, MAX_CONFIG_BYTES) : -1;

    if (fd >= 0)
        close(fd);
    return n >= 0 && n < MAX_CONFIG_BYTES &&
           git_config_adds_nothing(item->content, str_make(text, (size_t)n));
}

static bool is_harmless(int dir, const char *name, const struct guarded *item,
                        const struct stat *st)
{
    if (!S_ISREG(st->st_mode) || !item->has_content)
        return false;
    return file_is_same(dir, name, item) ||
           (is_git_config(name) && is_harmless_config(dir, name, item));
}

/* Another one is there, without a mount: commands that run could write it. */
static void check_mounted(struct check *c, int dir, const char *name, const struct guarded *item)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        (st.st_dev == item->device && st.st_ino == item->inode) ||
        is_harmless(dir, name, item, &st))
        return;
    if (!move_aside(&c->teller, dir, name))
        tell_failure(&c->teller, item->path);
    else if (item->has_content &&
             put_back(dir, name,
                      &(struct guarded){
                          .kind = GUARDED_FILE, .mode = item->mode, .content = item->content}))
        tell(&c->teller, item->path,
             "was replaced while a command ran; it has been put back, and the other is now called "
             "*" ASIDE);
    else
        tell(&c->teller, item->path, "was replaced while a command ran; it is now called *" ASIDE);
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
        move_aside_told(&c->teller, dir, name, item->path);
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", item->fd);
    n = readlink(link, now, sizeof now - 1);
    if (n > 0)
        now[n] = 0;
    if (n > 0 && fstat(item->fd, &st) == 0 && st.st_nlink > 0 &&
        strncmp(now, c->root->path, n_root) == 0 && now[n_root] == '/') {
        const char *old_name;

        from = below_open_parent(c->root->fd, now + n_root + 1, &old_name, c->teller.unlocks);
        if (from >= 0 && renameat2(from, old_name, dir, name, RENAME_NOREPLACE) == 0) {
            tell(&c->teller, item->path, "was moved by the command; it has been put back");
            close(from);
            return;
        }
        if (from >= 0)
            close(from);
    }
    tell(&c->teller, item->path, "was removed by the command and cannot be put back");
}

static int path_to_item_cmp(const void *path, const void *item)
{
    return path_cmp(path, ((const struct guarded *)item)->path);
}

static const struct guarded *find_item(const struct guarded_root *root, const char *path)
{
    return bsearch(path, root->items, root->n, sizeof *root->items, path_to_item_cmp);
}

static bool is_known(const struct guarded_root *root, const char *path)
{
    return find_item(root, path) != NULL;
}

static bool is_guarded_directory(const struct guarded_root *root, const char *path)
{
    const struct guarded *item = find_item(root, path);

    return item && item->kind == GUARDED_DIRECTORY;
}

/* Where to put what was made in a guarded directory, and in those in it: beside the topmost of
 * them, as some programs obey all that they find in such a directory. */
static int open_beside(const struct check *c, const struct guarded *item)
{
    AUTO_FREE char *top = mem_strdup(item->path);
    const char *name;
    char *slash;

    while ((slash = strrchr(top, '/'))) {
        *slash = 0;
        if (!is_guarded_directory(c->root, top)) {
            *slash = '/';
            break;
        }
    }
    return below_open_parent(c->root->fd, top, &name, c->teller.unlocks);
}

static void check_entry(struct check *c, int dir, const char *name, const char *path, int beside)
{
    struct stat st;

    if (is_known(c->root, path) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISREG(st.st_mode) && !is_aside(name))
        move_aside_told(&c->teller, dir, name, path);
    else if (!S_ISREG(st.st_mode))
        move_out_told(&c->teller, dir, name, beside, path);
}

/* What was not in it before goes aside. */
static void check_entries(struct check *c, const struct guarded *item)
{
    int fd = below_open_dir(c->root->fd, item->path, c->teller.unlocks);
    int beside = open_beside(c, item);
    DIR *d = fd >= 0 && beside >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    while (d && (entry = readdir(d))) {
        struct str name = str_of(entry->d_name);
        AUTO(strbuf) struct strbuf full = {0};

        if (str_is(name, ".") || str_is(name, ".."))
            continue;
        strbuf_addf(&full, "%s/%s", item->path, name.p);
        check_entry(c, dirfd(d), name.p, strbuf_cstr(&full), beside);
    }
    if (!d)
        tell_failure(&c->teller, item->path);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    if (beside >= 0)
        close(beside);
}

/* --- what was not there --- */

static void check_absent(struct check *c, int dir, const char *name, const struct guarded *item)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        move_aside_told(&c->teller, dir, name, item->path);
}

/* The quick look, and the usual answer. Links on the way do no harm: nothing is done. */
static bool is_still_absent(const struct guarded_root *root, const char *path)
{
    struct stat st;

    return fstatat(root->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

/* A link that the command has made leads to something of that name. */
static void move_link(struct check *c, const struct guarded *item)
{
    AUTO_FREE char *link = str_dup(below_first_link(c->root->fd, item->path));
    const char *name;
    int dir = below_open_parent(c->root->fd, link, &name, c->teller.unlocks);

    if (dir >= 0) {
        move_aside_told(&c->teller, dir, name, link);
        close(dir);
    } else {
        tell_failure(&c->teller, item->path);
    }
}

static void check_item(struct check *c, const struct guarded *item)
{
    const char *name;
    int dir;

    if (item->kind == GUARDED_ABSENT && is_still_absent(c->root, item->path))
        return;
    dir = below_open_parent(c->root->fd, item->path, &name, c->teller.unlocks);
    if (dir < 0) {
        if (item->kind == GUARDED_ABSENT && errno == ELOOP)
            move_link(c, item);
        else if (item->kind != GUARDED_ABSENT || (errno != ENOENT && errno != ENOTDIR))
            tell_failure(&c->teller, item->path);
        return;
    }
    switch (item->kind) {
    case GUARDED_ABSENT:
        check_absent(c, dir, name, item);
        break;
    case GUARDED_ANCESTOR:
        check_ancestor(c, dir, name, item);
        break;
    case GUARDED_DIRECTORY:
        check_there(c, dir, name, item);
        check_entries(c, item);
        break;
    case GUARDED_MOUNTED:
        check_mounted(c, dir, name, item);
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
    AUTO(unlocks) struct unlocks unlocks = {0};

    for (size_t i = 0; i < g->n_roots; i++) {
        struct check c = {&g->roots[i], {g->roots[i].path, notes, &unlocks}};

        for (size_t j = 0; j < c.root->n; j++)
            check_item(&c, &c.root->items[j]);
    }
}
