/* git_dir.c - repositories that a command has made. */
#include "sandbox/git_dir.h"

#include "sandbox/aside.h"
#include "sandbox/below.h"
#include "sandbox/git_config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_CONFIG_BYTES = 4096 }; /* of a new repository; git itself writes some hundred */

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* At most `room` bytes of a file; STR_NONE when it is none, or longer, or linked elsewhere. */
static size_t read_file(int dir, const char *name, char *bytes, size_t room)
{
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    ssize_t n = -1;

    if (fd < 0)
        return STR_NONE;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        n = read(fd, bytes, room);
    close(fd);
    return n < 0 || (size_t)n == room ? STR_NONE : (size_t)n;
}

/* --- where it is --- */

/* Puts `text` behind the directory `path`. Only a run of ".." at its beginning goes up: behind a
 * name, ".." is where a link of that name says. */
static bool join(const char *path, struct str text, char ret_path[GIT_PATH_MAX])
{
    struct str above = str_of(path), part;
    bool has_name = false;
    size_t n;

    n = (size_t)snprintf(ret_path, GIT_PATH_MAX, "%s", path);
    if (n >= GIT_PATH_MAX)
        return false;
    while (str_split(&text, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (str_is(part, "..")) {
            if (has_name || above.n == 0)
                return false;
            n = str_rfind_char(above, '/');
            n = n == STR_NONE ? 0 : n;
            above = str_slice(above, 0, n);
            ret_path[n] = 0;
            continue;
        }
        has_name = true;
        n += (size_t)snprintf(ret_path + n, GIT_PATH_MAX - n, "%s%" STR_FMT, n ? "/" : "",
                              STR_ARG(part));
        if (n >= GIT_PATH_MAX)
            return false;
    }
    return true;
}

bool git_dir_resolve(const struct survey *s, const char *path, const char *name,
                     char ret_path[GIT_PATH_MAX])
{
    static const struct str prefix = {"gitdir: ", 8};
    size_t n_root = strlen(s->root), n = STR_NONE;
    char bytes[GIT_PATH_MAX];
    int dir = below_open_dir(s->fd, path);
    struct str text;

    if (dir < 0)
        return false;
    n = read_file(dir, name, bytes, sizeof bytes);
    close(dir);
    if (n == STR_NONE || memchr(bytes, 0, n))
        return false;
    text = str_make(bytes, n);
    while (str_ends(text, S("\n")) || str_ends(text, S("\r")))
        text.n--;
    if (strcmp(name, ".git") == 0) {
        if (!str_starts(text, prefix))
            return false;
        text = str_skip(text, prefix.n);
    }
    if (text.n && text.p[0] == '/') {
        if (!str_starts(text, str_of(s->root)) || text.n <= n_root || text.p[n_root] != '/')
            return false;
        path = "";
        text = str_skip(text, n_root + 1);
    }
    dir = join(path, text, ret_path) ? below_open_dir(s->fd, ret_path) : -1;
    if (dir >= 0)
        close(dir);
    return dir >= 0;
}

/* --- what is in a new one --- */

struct check {
    const struct survey *survey;
    struct teller teller;
};

static const char *path_in(const char *directory, const char *name, char path[GIT_PATH_MAX])
{
    snprintf(path, GIT_PATH_MAX, "%s%s%s", directory, *directory ? "/" : "", name);
    return path;
}

static void put_aside(struct check *c, int dir, const char *directory, const char *name)
{
    char path[GIT_PATH_MAX];

    move_aside_told(&c->teller, dir, name, path_in(directory, name, path));
}

static bool is_there(int dir, const char *name, mode_t *ret_type)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return false;
    *ret_type = st.st_mode & S_IFMT;
    return true;
}

/* All but the samples. */
static void check_hooks(struct check *c, int git_dir, const char *path)
{
    int fd = openat(git_dir, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    char hooks[GIT_PATH_MAX];
    const struct dirent *entry;

    path_in(path, "hooks", hooks);
    while (d && (entry = readdir(d)))
        if (!is_dots(entry->d_name) && !is_aside(entry->d_name) &&
            !str_ends(str_of(entry->d_name), S(".sample")))
            put_aside(c, dirfd(d), hooks, entry->d_name);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

/* One that is linked to another name could be changed by that name. */
static bool is_plain_config(int dir, const char *name)
{
    char text[MAX_CONFIG_BYTES];
    size_t n = read_file(dir, name, text, sizeof text);
    struct stat st;

    return n != STR_NONE && git_config_is_plain(str_make(text, n)) &&
           fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink == 1;
}

static bool is_known_git_dir(const struct survey *s, const char *path)
{
    const struct directory *d = survey_find(s, path);

    return d && !d->is_new && names_are_git_dir(d->before);
}

static void check_git_dir(struct check *c, const char *path);

/* Further working trees have one, and share all else with the repository that it leads to. */
static void check_commondir(struct check *c, int dir, const char *path)
{
    char common[GIT_PATH_MAX];
    const struct directory *d;

    if (git_dir_resolve(c->survey, path, "commondir", common)) {
        if (is_known_git_dir(c->survey, common))
            return;
        d = survey_find(c->survey, common);
        if (d && d->is_new && strcmp(common, path) != 0 && !(d->names & GIT_NAME_COMMONDIR)) {
            check_git_dir(c, common);
            return;
        }
    }
    put_aside(c, dir, path, "commondir");
}

static void check_git_dir(struct check *c, const char *path)
{
    static const char *const configs[] = {"config", "config.worktree"};
    int dir = below_open_dir(c->survey->fd, path);
    mode_t type;

    if (dir < 0)
        return;
    if (is_there(dir, "hooks", &type)) {
        if (type == S_IFDIR)
            check_hooks(c, dir, path);
        else
            put_aside(c, dir, path, "hooks");
    }
    for (size_t i = 0; i < ARRAY_LEN(configs); i++)
        if (is_there(dir, configs[i], &type) && !is_plain_config(dir, configs[i]))
            put_aside(c, dir, path, configs[i]);
    if (is_there(dir, "commondir", &type))
        check_commondir(c, dir, path);
    close(dir);
}

/* --- which are new --- */

/* A file that says where the git directory is, as submodules and working trees have. */
static void check_git_file(struct check *c, int dir, const char *path)
{
    char git_dir[GIT_PATH_MAX];
    const struct directory *d;

    if (git_dir_resolve(c->survey, path, ".git", git_dir)) {
        if (is_known_git_dir(c->survey, git_dir))
            return;
        d = survey_find(c->survey, git_dir);
        if (d && d->is_new) {
            check_git_dir(c, git_dir);
            return;
        }
    }
    put_aside(c, dir, path, ".git");
}

static void check_dot_git(struct check *c, const char *path)
{
    int dir = below_open_dir(c->survey->fd, path);
    char git_dir[GIT_PATH_MAX];
    mode_t type;

    if (dir < 0)
        return;
    if (is_there(dir, ".git", &type)) {
        if (type == S_IFDIR)
            check_git_dir(c, path_in(path, ".git", git_dir));
        else if (type == S_IFREG)
            check_git_file(c, dir, path);
        else
            put_aside(c, dir, path, ".git");
    }
    close(dir);
}

/* The names that make it a repository and were not there. */
static void unmake(struct check *c, const struct directory *d)
{
    int dir = below_open_dir(c->survey->fd, d->path);

    for (unsigned i = 1; dir >= 0 && i < N_GIT_NAMES; i++)
        if (d->names & ~d->before & 1u << i)
            put_aside(c, dir, d->path, git_names[i]);
    if (dir >= 0)
        close(dir);
}

/* Its configuration is protected whatever else is in it. */
static bool is_dot_git(const char *path)
{
    const char *slash = strrchr(path, '/');

    return strcmp(slash ? slash + 1 : path, ".git") == 0;
}

void git_dirs_check_new(const struct survey *s, struct strbuf *notes)
{
    struct check c = {s, {s->root, notes}};

    for (size_t i = 0; i < s->n; i++) {
        const struct directory *d = s->all[i];
        unsigned before = d->is_new ? 0 : d->before;

        if (d->names & ~before & GIT_NAME_DOT_GIT)
            check_dot_git(&c, d->path);
        if (!names_are_git_dir(d->names) || names_are_git_dir(before))
            continue;
        if (d->is_new)
            check_git_dir(&c, d->path);
        else if (!is_dot_git(d->path))
            unmake(&c, d);
    }
}
