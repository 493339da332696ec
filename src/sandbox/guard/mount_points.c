/* mount_points.c - makes mount points in repositories, and removes them. */
#include "sandbox/guard/mount_points.h"

#include "base/git_config.h"
#include "sandbox/guard/git_dir.h"
#include "sandbox/guard/open_below.h"
#include "sys/locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { MAX_CONFIG_BYTES = 1 << 20 };

/* --- the list --- */

void mount_points_done(struct mount_points *c)
{
    for (size_t i = 0; i < c->n; i++)
        mem_free(c->paths[i]);
    mem_free(c->paths);
    *c = (struct mount_points){0};
}

void mount_points_add(struct mount_points *c, const char *path)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->paths[i], path) == 0)
            return;
    c->paths = mem_resize(c->paths, (c->n + 1) * sizeof(char *));
    c->paths[c->n++] = mem_strdup(path);
}

/* --- which are wanted --- */

enum mount_point_kind {
    POINT_DIRECTORY,
    POINT_FILE,
};

struct mount_point {
    const char *name;
    enum mount_point_kind kind;
    bool is_of_each; /* of every working tree; else of the repository that they share */
};

static const struct mount_point wanted[] = {
    {"config", POINT_FILE, false},      {"hooks", POINT_DIRECTORY, false},
    {"info", POINT_DIRECTORY, false},   {"info/attributes", POINT_FILE, false},
    {"modules", POINT_DIRECTORY, true}, {"worktrees", POINT_DIRECTORY, false},
};
static const struct mount_point worktree_config = {"config.worktree", POINT_FILE, true};

static bool is_true(struct str value)
{
    return value.n == 0 || str_eq_nocase(value, S("true")) || str_eq_nocase(value, S("yes")) ||
           str_eq_nocase(value, S("on")) || str_eq_nocase(value, S("1"));
}

static size_t read_config(int git_dir, char *text)
{
    int fd = locked_file_openat(git_dir, "config", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, text, MAX_CONFIG_BYTES) : -1;

    if (fd >= 0)
        close(fd);
    return n < 0 || n == MAX_CONFIG_BYTES ? 0 : (size_t)n;
}

/* Does git read a config.worktree there? */
static bool reads_worktree_config(int git_dir)
{
    AUTO_FREE char *text = mem_alloc(MAX_CONFIG_BYTES);
    AUTO(arena) struct arena arena = {0};
    struct git_reader r = {.rest = str_make(text, read_config(git_dir, text)), .arena = &arena};
    struct git_setting s;

    while (git_config_next(&r, &s))
        if (str_eq_nocase(s.section, S("extensions")) &&
            str_eq_nocase(s.key, S("worktreeconfig")) && is_true(s.value))
            return true;
    return false;
}

/* --- making --- */

/* It belongs to whom the directory belongs to. */
static void give_to_owner(int dir, const char *name)
{
    struct stat st;

    if (geteuid() == 0 && fstat(dir, &st) == 0 &&
        fchownat(dir, name, st.st_uid, st.st_gid, AT_SYMLINK_NOFOLLOW) < 0)
        return; /* root's, then */
}

/* False: it is there, or commands cannot make it either. */
static bool make_point(int dir, const char *name, enum mount_point_kind kind)
{
    int fd;

    if (kind == POINT_DIRECTORY)
        return mkdirat(dir, name, 0755) == 0;
    fd = openat(dir, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Where a directory on the way is a link, nothing is made: it leads elsewhere. */
static void make_in(struct mount_points *c, int root_fd, const char *git_dir,
                    const struct mount_point *point)
{
    AUTO(strbuf) struct strbuf path = {0};
    const char *name;
    int dir;

    strbuf_addf(&path, "%s%s%s", git_dir, *git_dir ? "/" : "", point->name);
    dir = below_open_parent(root_fd, strbuf_cstr(&path), &name, NULL);
    if (dir < 0)
        return;
    if (make_point(dir, name, point->kind)) {
        give_to_owner(dir, name);
        mount_points_add(c, strbuf_cstr(&path));
    }
    close(dir);
}

static void make_all(struct mount_points *c, const struct survey *s, const struct directory *d)
{
    bool is_linked = d->names & GIT_NAME_COMMONDIR;
    AUTO_FREE char *common = is_linked ? git_dir_resolve(s, d->path, "commondir") : NULL;
    int dir = below_open_dir(s->fd, common ? common : d->path, NULL);

    for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
        if (wanted[i].is_of_each || !is_linked)
            make_in(c, s->fd, d->path, &wanted[i]);
    if (dir >= 0 && reads_worktree_config(dir))
        make_in(c, s->fd, d->path, &worktree_config);
    if (dir >= 0)
        close(dir);
}

void mount_points_make(struct mount_points *c, const struct survey *s)
{
    for (size_t i = 0; i < s->now.n; i++)
        if (names_are_git_dir(s->now.items[i].names))
            make_all(c, s, &s->now.items[i]);
}

/* --- removing --- */

/* What somebody has put something into stays, and is theirs. */
static void remove_point(int root_fd, const char *path)
{
    const char *name;
    int dir = below_open_parent(root_fd, path, &name, NULL);
    struct stat st;

    if (dir < 0)
        return;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        if (S_ISDIR(st.st_mode))
            unlinkat(dir, name, AT_REMOVEDIR);
        else if (S_ISREG(st.st_mode) && st.st_size == 0)
            unlinkat(dir, name, 0);
    }
    close(dir);
}

void mount_points_remove(struct mount_points *c, int root_fd,
                         bool (*is_needed)(void *self, const char *path), void *self)
{
    while (c->n > 0) {
        char *path = c->paths[--c->n];

        if (!is_needed(self, path))
            remove_point(root_fd, path);
        mem_free(path);
    }
}
