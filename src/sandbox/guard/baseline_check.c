/* baseline_check.c - looks at protected places after a command, and puts them right.
 *
 * A command in the background may still run and change things meanwhile, so nothing is done through
 * a path that it could bend: directories are opened from the root without following links, and
 * every change is made by name in one of them. */
#include "sandbox/guard/baseline.h"

#include "base/git_config.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/guard/quarantine.h"
#include "sandbox/plan/plan.h"
#include "sys/dir_names.h"
#include "sys/locked_file.h"
#include "sys/temp_file.h"
#include "sys/unlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_CONFIG_BYTES = 1 << 20 };

struct comparison {
    const struct baseline *b;
    struct survey *survey;
    struct guard_report report;
    struct dir_names names; /* in the root, as the command has left it */
};

/* --- what keel has made for mounts --- */

/* A directory of a mount point's is known only by its name, where another keel has made it. */
static bool is_that_one(const struct guarded *item, const struct stat *st,
                        const struct identity *id)
{
    return identity_eq(id, &item->identity) || (!item->identity.inode && S_ISDIR(st->st_mode));
}

/* It was empty, and so was all in it: that it is gone means nothing. The next keel removes it if
 * the one that made it is killed. */
static bool is_empty_mount_point(const struct baseline *b, const struct guarded *item)
{
    if (!item->is_made)
        return false;
    for (const struct guarded *in = item; in < b->items + b->n; in++) {
        if (!path_is_in(in->path, item->path))
            break;
        if (in->kind != GUARDED_ABSENT && !(in->is_made && in->content.n == 0))
            return false;
    }
    return true;
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

/* A new file, then the rename: a reader sees one or the other. */
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

/* Not even touched since it was read. */
static bool has_its_time(const struct guarded *item, const struct stat *st,
                         const struct identity *id)
{
    return item->changed.tv_sec && identity_eq(id, &item->identity) &&
           st->st_ctim.tv_sec == item->changed.tv_sec &&
           st->st_ctim.tv_nsec == item->changed.tv_nsec;
}

static bool is_same(int dir, const char *name, const struct guarded *item, const struct stat *st,
                    const struct identity *id)
{
    switch (item->kind) {
    case GUARDED_FILE:
        return st->st_mode == item->mode && st->st_size == (off_t)item->content.n &&
               (has_its_time(item, st, id) || file_is_same(dir, name, item));
    case GUARDED_LINK:
        return S_ISLNK(st->st_mode) && link_is_same(dir, name, item);
    case GUARDED_DIRECTORY:
        return S_ISDIR(st->st_mode);
    default:
        return identity_eq(id, &item->identity);
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

/* Something else is in the way: it goes aside. A file is just replaced. */
static void check_there(struct comparison *c, int dir, const char *name, const struct guarded *item)
{
    struct identity id;
    struct stat st;
    bool exists = identity_look(dir, name, &st, &id) == 0;

    if (exists && is_same(dir, name, item, &st, &id))
        return;
    if (exists && !(item->kind == GUARDED_FILE && S_ISREG(st.st_mode)) &&
        !quarantine(&c->report, dir, name)) {
        guard_report_failure(&c->report, item->path);
        return;
    }
    if (put_back(dir, name, item) ||
        (errno == EACCES && unlocks_add(c->report.unlocks, dir) && put_back(dir, name, item)))
        guard_report_path(&c->report, item->path,
                          exists ? "was changed by the command; keel restored it"
                                 : "was removed by the command; keel restored it");
    else
        guard_report_failure(&c->report, item->path);
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
static void check_mounted(struct comparison *c, int dir, const char *name,
                          const struct guarded *item)
{
    struct identity id;
    struct stat st;

    if (identity_look(dir, name, &st, &id) < 0 || is_that_one(item, &st, &id) ||
        is_harmless(dir, name, item, &st))
        return;
    if (!quarantine(&c->report, dir, name))
        guard_report_failure(&c->report, item->path);
    else if (item->has_content &&
             put_back(dir, name,
                      &(struct guarded){
                          .kind = GUARDED_FILE, .mode = item->mode, .content = item->content}))
        guard_report_path(
            &c->report, item->path,
            "was replaced while a command ran; keel restored it, and renamed the other by "
            "appending " QUARANTINE_SUFFIX);
    else
        guard_report_path(
            &c->report, item->path,
            "was replaced while a command ran; keel renamed it by appending " QUARANTINE_SUFFIX);
}

/* --- directories --- */

/* Brings it back from where it was moved to in this root. */
static bool bring_back(const struct comparison *c, const struct guarded *item, int dir,
                       const char *name)
{
    struct dir_unlocker unlocker = unlocks_for_watch(c->report.unlocks);
    AUTO(strbuf) struct strbuf now = {0};
    struct identity id;
    const char *old_name;
    struct stat st;
    bool done = false;
    int from;

    if (!dir_watch_find(c->survey->watch, item->identity.inode, &now))
        return false;
    from = below_open_parent(c->survey->fd, strbuf_cstr(&now), &old_name, c->report.unlocks);
    if (from < 0)
        return false;
    if (identity_look(from, old_name, &st, &id) == 0 && identity_eq(&id, &item->identity))
        done = renameat2(from, old_name, dir, name, RENAME_NOREPLACE) == 0;
    close(from);
    if (done) /* what is in it has another path now */
        err_ignore(dir_watch_update(c->survey->watch, &unlocker), "it comes up at the next look");
    return done;
}

static void check_ancestor(struct comparison *c, int dir, const char *name,
                           const struct guarded *item)
{
    struct identity id;
    struct stat st;

    if (identity_look(dir, name, &st, &id) == 0) {
        if (is_that_one(item, &st, &id))
            return;
        quarantine_named(&c->report, dir, name, item->path);
    }
    if (bring_back(c, item, dir, name))
        guard_report_path(&c->report, item->path, "was moved by the command; keel moved it back");
    else
        guard_report_path(&c->report, item->path,
                          "was removed by the command, and keel cannot restore it");
}

/* Nobody needs it where it is gone. */
static void check_own(struct comparison *c, int dir, const char *name, const struct guarded *item)
{
    struct identity id;
    struct stat st;
    bool exists = identity_look(dir, name, &st, &id) == 0;

    if (exists && is_that_one(item, &st, &id))
        return;
    if (exists && !quarantine(&c->report, dir, name))
        guard_report_failure(&c->report, item->path);
    else if (bring_back(c, item, dir, name))
        guard_report_path(&c->report, item->path, "was moved by the command; keel moved it back");
    else if (exists)
        guard_report_path(
            &c->report, item->path,
            "was replaced while a command ran; keel renamed it by appending " QUARANTINE_SUFFIX);
}

static bool is_guarded_directory(const struct baseline *b, const char *path)
{
    const struct guarded *item = baseline_find(b, path);

    return item && item->kind == GUARDED_DIRECTORY;
}

/* Where to put what was made in a guarded directory, and in those in it: beside the topmost of
 * them, as some programs obey all that they find in such a directory. */
static int open_beside(const struct comparison *c, const struct guarded *item)
{
    AUTO_FREE char *top = mem_strdup(item->path);
    const char *name;
    char *slash;

    while ((slash = strrchr(top, '/'))) {
        *slash = 0;
        if (!is_guarded_directory(c->b, top)) {
            *slash = '/';
            break;
        }
    }
    return below_open_parent(c->survey->fd, top, &name, c->report.unlocks);
}

static void check_entry(struct comparison *c, int dir, const char *name, const char *path,
                        int beside)
{
    struct stat st;

    if (baseline_find(c->b, path) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISREG(st.st_mode) && !is_quarantined(name))
        quarantine_named(&c->report, dir, name, path);
    else if (!S_ISREG(st.st_mode))
        quarantine_elsewhere(&c->report, dir, name, beside, path);
}

/* What was not in it before goes aside. */
static void check_entries(struct comparison *c, const struct guarded *item)
{
    int fd = below_open_dir(c->survey->fd, item->path, c->report.unlocks);
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
        guard_report_failure(&c->report, item->path);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    if (beside >= 0)
        close(beside);
}

/* --- what was not there --- */

static void check_absent(struct comparison *c, int dir, const char *name,
                         const struct guarded *item)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        quarantine_named(&c->report, dir, name, item->path);
}

/* The quick look, and the usual answer. Links on the way do no harm: nothing is done. */
static bool is_still_absent(const struct comparison *c, const char *path)
{
    struct stat st;

    if (dir_names_lack_first(&c->names, path))
        return true;
    return fstatat(c->survey->fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

/* A link that the command has made leads to something of that name. */
static void move_link(struct comparison *c, const struct guarded *item)
{
    AUTO_FREE char *link = str_dup(below_first_link(c->survey->fd, item->path));
    const char *name;
    int dir = below_open_parent(c->survey->fd, link, &name, c->report.unlocks);

    if (dir >= 0) {
        quarantine_named(&c->report, dir, name, link);
        close(dir);
    } else {
        guard_report_failure(&c->report, item->path);
    }
}

/* It stays as the command has left it. */
static void check_reported(struct comparison *c, int dir, const char *name, struct guarded *item)
{
    struct stat st;
    bool exists = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;

    if (item->was_reported || !exists ||
        (item->has_content && S_ISREG(st.st_mode) && file_is_same(dir, name, item)))
        return;
    guard_report_path(&c->report, item->path,
                      "was changed by the command; check it before you use what it names");
    item->was_reported = true;
}

/* What no longer exists does no harm, and nothing is put in its place. */
static bool may_be_gone(const struct guarded *item)
{
    return item->kind == GUARDED_ABSENT || item->kind == GUARDED_REPORTED ||
           item->kind == GUARDED_MOUNTED || item->kind == GUARDED_OWN;
}

static void check_item(struct comparison *c, struct guarded *item)
{
    const char *name;
    int dir;

    if (item->kind == GUARDED_TODO)
        return;
    if ((item->kind == GUARDED_ABSENT || is_empty_mount_point(c->b, item)) &&
        is_still_absent(c, item->path))
        return;
    dir = below_open_parent(c->survey->fd, item->path, &name, c->report.unlocks);
    if (dir < 0) {
        if (item->kind == GUARDED_ABSENT && errno == ELOOP)
            move_link(c, item);
        else if (!may_be_gone(item) || (errno != ENOENT && errno != ENOTDIR))
            guard_report_failure(&c->report, item->path);
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
    case GUARDED_OWN:
        check_own(c, dir, name, item);
        break;
    case GUARDED_REPORTED:
        check_reported(c, dir, name, item);
        break;
    case GUARDED_TODO:
    case N_GUARDED_KINDS:
        BUG("nothing to compare");
    }
    close(dir);
}

void baseline_check_replaced(struct baseline *b, struct survey *s, struct strbuf *notes)
{
    struct comparison c = {b, s, {s->root, notes, s->unlocks}};

    for (size_t i = 0; i < b->n; i++)
        if (b->items[i].kind == GUARDED_MOUNTED || b->items[i].kind == GUARDED_FILE ||
            b->items[i].kind == GUARDED_OWN)
            check_item(&c, &b->items[i]);
}

void baseline_check(struct baseline *b, struct survey *s, struct strbuf *notes)
{
    AUTO(arena) struct arena a = {0};
    struct comparison c = {b, s, {s->root, notes, s->unlocks}, {0}};

    dir_names_read(&c.names, &a, s->fd);
    for (size_t i = 0; i < b->n; i++)
        check_item(&c, &b->items[i]);
}
