/* command_path.c - from what a command says to the place that it means. */
#include "sandbox/watch/command_path.h"

#include "sandbox/plan/plan.h"
#include "sys/auto_fd.h"
#include "sys/open_plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_LINKS = 40 }; /* as the kernel has it */

/* --- the writable directories --- */

void write_roots_init(struct write_roots *r, const char *const *paths, size_t n,
                      const char *scratch)
{
    *r = (struct write_roots){.all = mem_alloc((n + 1) * sizeof *r->all)};
    for (size_t i = 0; i < n + (scratch != NULL); i++) {
        const char *path = i < n ? paths[i] : scratch;
        struct stat st = {0};

        if (lstat(path, &st) < 0)
            continue;
        r->all[r->n++] = (struct write_root){mem_strdup(path), st.st_dev, st.st_ino, i < n};
    }
}

void write_roots_done(struct write_roots *r)
{
    for (size_t i = 0; i < r->n; i++)
        mem_free(r->all[i].path);
    mem_free(r->all);
}

/* The nearest one that the path is or lies in, or NULL. */
static const struct write_root *find_root(const struct write_roots *r, const char *path)
{
    const struct write_root *nearest = NULL;

    for (size_t i = 0; i < r->n; i++)
        if (path_is_in(path, r->all[i].path) &&
            (!nearest || strlen(r->all[i].path) > strlen(nearest->path)))
            nearest = &r->all[i];
    return nearest;
}

bool write_roots_count(const struct write_roots *r, const char *path)
{
    const struct write_root *root = find_root(r, path);

    return root && root->counts;
}

/* --- paths as texts --- */

static bool is_name(const char *path, size_t n, const char *name)
{
    return n == strlen(name) && memcmp(path, name, n) == 0;
}

static void name_root(char text[PATH_MAX])
{
    text[0] = '/';
    text[1] = 0;
}

/* "" is "/" here. */
static size_t cut_last(const char *text, size_t n)
{
    while (n > 0 && text[--n] != '/')
        continue;
    return n;
}

static bool add_name(char text[PATH_MAX], size_t *n_text, const char *name, size_t n)
{
    if (*n_text + n + 2 > PATH_MAX)
        return false;
    text[(*n_text)++] = '/';
    memcpy(text + *n_text, name, n);
    *n_text += n;
    text[*n_text] = 0;
    return true;
}

/* Only at the beginning ".." is surely the directory above, and only a last name without a slash
 * or a dot behind it may be a link that counts itself. */
bool command_path_join(const char *base, const char *path, char ret_text[PATH_MAX])
{
    size_t n_text = path[0] == '/' ? 0 : strlen(base);
    bool has_name = false;

    if (n_text >= PATH_MAX)
        return false;
    memcpy(ret_text, base, n_text);
    n_text -= n_text > 0 && ret_text[n_text - 1] == '/';
    ret_text[n_text] = 0;
    for (path += strspn(path, "/"); *path;) {
        size_t n = strcspn(path, "/"), n_slashes = strspn(path + n, "/");
        bool is_last = !path[n + n_slashes], is_dot = is_name(path, n, ".");

        if (is_name(path, n, "..")) {
            if (has_name)
                return false;
            n_text = cut_last(ret_text, n_text);
            ret_text[n_text] = 0;
        } else if (!is_dot) {
            if (!add_name(ret_text, &n_text, path, n))
                return false;
            has_name = true;
        }
        if (has_name && is_last && (is_dot || n_slashes))
            return false;
        path += n + n_slashes;
    }
    if (n_text == 0)
        name_root(ret_text);
    return true;
}

/* --- what /proc says of the process --- */

/* A process that has set itself apart cannot be looked into without privileges. */
static int proc_error(int error)
{
    return error == EACCES ? EPERM : error == ENAMETOOLONG ? EOVERFLOW : error;
}

/* What each process has must be there, or the process is not. */
static int proc_error_of_own(int error)
{
    return error == ENOENT ? ESRCH : proc_error(error);
}

bool command_path_can_look(void)
{
    char self[16], text[16] = "";

    snprintf(self, sizeof self, "%d", (int)getpid());
    return readlink("/proc/self", text, sizeof text - 1) > 0 && strcmp(self, text) == 0;
}

static void proc_path(char ret[64], pid_t process, int dir)
{
    if (dir == AT_FDCWD)
        snprintf(ret, 64, "/proc/%d/cwd", (int)process);
    else
        snprintf(ret, 64, "/proc/%d/fd/%d", (int)process, dir);
}

/* What has no name ("pipe:[7]") or none any more ("/x (deleted)") is not told from a name here. */
static int read_proc_link(const char *path, char ret_text[PATH_MAX])
{
    ssize_t n = readlink(path, ret_text, PATH_MAX);

    if (n < 0)
        return proc_error(errno);
    if (n == PATH_MAX)
        return EOVERFLOW;
    ret_text[n] = 0;
    return ret_text[0] == '/' ? 0 : ENOENT;
}

static int open_process(pid_t process, const char *what)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d%s", (int)process, what);
    return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* --- in one step --- */

/* Opens the directory that the last name of `text` is in, through no link. */
static int open_above(const char *text, const char **ret_name)
{
    char above[PATH_MAX];
    size_t n = cut_last(text, strlen(text));

    memcpy(above, text, n);
    above[n] = 0;
    if (n == 0)
        name_root(above);
    *ret_name = text + n + 1;
    return open_plain(above, O_PATH | O_DIRECTORY);
}

/* ELOOP: a link is on the way, or at its end where that is followed. */
static int check_plain(const char *text, bool follows_last)
{
    const char *name;
    AUTO_FD fd = open_above(text, &name);
    char first;

    if (fd < 0)
        return errno;
    return follows_last && readlinkat(fd, name, &first, 1) >= 0 ? ELOOP : 0;
}

/* --- name by name --- */

struct way_down {
    struct command_path *path;
    const struct write_roots *roots;
    pid_t process;
    int fd;        /* the directory that has been reached */
    size_t n_text; /* of path->text, its name; "" is "/" */
    unsigned n_links;
};

static void enter(struct way_down *w, int take_fd)
{
    close(w->fd);
    w->fd = take_fd;
}

static int return_to_root(struct way_down *w)
{
    int fd = open_process(w->process, "/root");

    if (fd < 0)
        return proc_error_of_own(errno);
    enter(w, fd);
    w->n_text = 0;
    w->path->text[0] = 0;
    return 0;
}

static int go_up(struct way_down *w)
{
    int fd = openat(w->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return errno;
    enter(w, fd);
    w->n_text = cut_last(w->path->text, w->n_text);
    w->path->text[w->n_text] = 0;
    return 0;
}

static int name_it(struct way_down *w, const char *name)
{
    return add_name(w->path->text, &w->n_text, name, strlen(name)) ? 0 : EOVERFLOW;
}

/* A mount can show a writable directory elsewhere too; then it has the name that keel knows. */
static int go_into(struct way_down *w, const char *name, int take_fd, const struct stat *st)
{
    int error = name_it(w, name);

    enter(w, take_fd);
    for (size_t i = 0; !error && i < w->roots->n; i++) {
        const struct write_root *root = &w->roots->all[i];

        if (root->device != st->st_dev || root->inode != st->st_ino)
            continue;
        w->n_text = strlen(root->path);
        memcpy(w->path->text, root->path, w->n_text + 1);
    }
    return error;
}

/* Puts what the link says before what is left to go. */
static int follow(struct way_down *w, int link_fd, const char *rest)
{
    struct command_path *p = w->path;
    size_t n_rest = strlen(rest);
    ssize_t n = readlinkat(link_fd, "", p->link, sizeof p->link);

    if (n < 0)
        return proc_error(errno);
    if (++w->n_links > MAX_LINKS)
        return ELOOP;
    if (n == sizeof p->link || (size_t)n + n_rest >= sizeof p->rest)
        return EOVERFLOW;
    memmove(p->rest + n, rest, n_rest + 1);
    memcpy(p->rest, p->link, (size_t)n);
    return p->link[0] == '/' ? return_to_root(w) : 0;
}

/* /proc/self means the command, and not who looks. Nothing is opened here that could wait or have
 * an effect, nor is anything mounted on demand. */
static int open_name(const struct way_down *w, const char *name)
{
    if (strcmp(w->path->text, "/proc") == 0 &&
        (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0))
        return open_process(w->process, "");
    return openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/* One name, which is not "." or "..". *rest is what follows it; afterwards what is left to go. */
static int go_on(struct way_down *w, const char *name, const char **rest, bool follows_last)
{
    const char *next = *rest;
    bool is_last = !next[strspn(next, "/")], is_plain = is_last && !*next;
    int fd, error = 0;
    struct stat st;

    *rest = is_last ? "" : next;
    if (is_plain && !follows_last)
        return name_it(w, name);
    fd = open_name(w, name);
    if (fd < 0)
        return errno == ENOENT && is_last ? name_it(w, name) : errno;
    if (fstat(fd, &st) < 0) {
        error = errno;
    } else if (S_ISDIR(st.st_mode)) {
        return go_into(w, name, fd, &st);
    } else if (S_ISLNK(st.st_mode)) {
        error = follow(w, fd, next);
        *rest = w->path->rest;
    } else {
        error = is_plain ? name_it(w, name) : ENOTDIR;
    }
    close(fd);
    return error;
}

/* All of `rest`. */
static int go_down(struct way_down *w, bool follows_last)
{
    const char *rest = w->path->rest;
    char name[NAME_MAX + 1];
    int error = 0;

    while (!error && *(rest += strspn(rest, "/"))) {
        size_t n = strcspn(rest, "/");

        if (n > NAME_MAX)
            return ENAMETOOLONG;
        memcpy(name, rest, n);
        name[n] = 0;
        rest += n;
        if (strcmp(name, "..") == 0)
            error = go_up(w);
        else if (strcmp(name, ".") != 0)
            error = go_on(w, name, &rest, follows_last);
    }
    if (!error && w->n_text == 0)
        name_root(w->path->text);
    return error;
}

static int find_slowly(struct command_path *p, const struct write_roots *roots, pid_t process,
                       const char *path, bool follows_last)
{
    struct way_down w = {.path = p, .roots = roots, .process = process};
    int error;

    snprintf(p->rest, sizeof p->rest, "%s/%s", path[0] == '/' ? "" : p->base, path);
    p->text[0] = 0;
    w.fd = open_process(process, "/root");
    if (w.fd < 0)
        return proc_error_of_own(errno);
    error = go_down(&w, follows_last);
    close(w.fd);
    return error;
}

/* --- either way --- */

/* What most commands write to and what is never anything else. */
static bool is_common_device(const char *path)
{
    return strcmp(path, "/dev/null") == 0 || strcmp(path, "/dev/tty") == 0;
}

int command_path_find(struct command_path *p, const struct write_roots *roots, pid_t process,
                      int dir, const char *path, bool follows_last)
{
    const struct write_root *root;
    char link[64];
    int error;

    if (!*path)
        return ENOENT;
    if (is_common_device(path)) {
        memcpy(p->text, path, strlen(path) + 1);
        return 0;
    }
    if (path[0] != '/') {
        proc_path(link, process, dir);
        error = read_proc_link(link, p->base);
        if (error)
            return dir == AT_FDCWD ? proc_error_of_own(error) : error;
    }
    root = command_path_join(p->base, path, p->text) ? find_root(roots, p->text) : NULL;
    if (root) {
        error = strcmp(p->text, root->path) == 0 ? 0 : check_plain(p->text, follows_last);
        if (error != ELOOP)
            return error;
    }
    return find_slowly(p, roots, process, path, follows_last);
}

/* The text alone may be of a file that was removed, whose name another one has by now. */
int command_path_find_fd(struct command_path *p, const struct write_roots *roots, pid_t process,
                         int fd)
{
    struct stat open_one, named;
    const char *name;
    char link[64];
    int error;

    proc_path(link, process, fd);
    error = read_proc_link(link, p->text);
    if (error || !write_roots_count(roots, p->text))
        return error;
    if (stat(link, &open_one) < 0)
        return proc_error(errno);
    {
        AUTO_FD above = open_above(p->text, &name);

        if (above < 0 || fstatat(above, name, &named, AT_SYMLINK_NOFOLLOW) < 0)
            return errno;
    }
    return named.st_dev == open_one.st_dev && named.st_ino == open_one.st_ino ? 0 : ENOENT;
}
