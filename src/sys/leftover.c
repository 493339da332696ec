/* leftover.c - one list per process: paths, each followed by a NUL; emptied when none is in use. */
#include "sys/leftover.h"

#include "base/utf8.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/random.h"
#include "sys/spot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>

#define TOKEN_CHARS 12
#define TOKEN_SIZE (TOKEN_CHARS + 1)
#define MARK ".keel-"
#define MAX_LIST ((size_t)1 << 20)
#define MAX_TRIES 10

static struct {
    pthread_mutex_t lock;
    char *dir;
    char token[TOKEN_SIZE]; /* the list's name, and part of those in it */
    int fd;                 /* -1: there is none yet */
    unsigned n_used, n_made;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* --- the list --- */

static const char *list_path(struct arena *a, const char *dir, const char *token)
{
    return fs_join(a, dir, token);
}

static bool lock_list(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

/* Another process may have removed it as a dead one between creating and locking it. */
static bool is_linked(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

static void make_token(void)
{
    snprintf(list.token, TOKEN_SIZE, "%0*llx", TOKEN_CHARS,
             (unsigned long long)random_below(&random_system, (uint64_t)1 << (4 * TOKEN_CHARS)));
}

static void close_list(void)
{
    AUTO(arena) struct arena a = {0};

    if (list.fd < 0)
        return;
    unlink(list_path(&a, list.dir, list.token));
    close(list.fd);
    list.fd = -1;
}

static void open_list(void)
{
    AUTO(arena) struct arena a = {0};

    if (!list.dir || list.fd >= 0)
        return;
    err_ignore(fs_make_dirs(list.dir, 0700), "then no list can be made");
    for (unsigned i = 0; i < MAX_TRIES; i++) {
        make_token();
        list.fd = open(list_path(&a, list.dir, list.token),
                       O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (list.fd < 0 && errno != EEXIST)
            return;
        if (list.fd >= 0 && lock_list(list.fd) && is_linked(list.fd))
            return;
        close_list();
    }
}

void leftover_keep_in(const char *dir)
{
    pthread_mutex_lock(&list.lock);
    if (!list.dir || strcmp(list.dir, dir) != 0) {
        if (list.n_used == 0)
            close_list();
        if (list.fd < 0) {
            mem_free(list.dir);
            list.dir = mem_strdup(dir);
        }
    }
    pthread_mutex_unlock(&list.lock);
}

void leftover_end(void)
{
    pthread_mutex_lock(&list.lock);
    if (list.n_used == 0) {
        close_list();
        mem_free(TAKE(list.dir));
    }
    pthread_mutex_unlock(&list.lock);
}

/* --- names --- */

/* If the directory is moved later, the file is not found again. */
static bool write_path(int dir_fd, const char *name)
{
    char link[64], path[PATH_MAX + NAME_MAX + 2];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", dir_fd);
    n = readlink(link, path, PATH_MAX);
    if (n <= 0 || n >= PATH_MAX)
        return false;
    n += snprintf(path + n, sizeof path - (size_t)n, "/%s", name) + 1;
    return write(list.fd, path, (size_t)n) == n;
}

void leftover_begin(struct leftover *l, int dir_fd, const char *name)
{
    size_t n_end = sizeof MARK + TOKEN_CHARS + 12;
    struct str kept = utf8_truncate(str_of(name), NAME_MAX - n_end);

    pthread_mutex_lock(&list.lock);
    open_list();
    if (list.fd < 0)
        make_token();
    snprintf(l->name, sizeof l->name, ".%" STR_FMT MARK "%s-%u", STR_ARG(kept), list.token,
             list.n_made++);
    l->is_listed = list.fd >= 0 && write_path(dir_fd, l->name);
    list.n_used += l->is_listed;
    pthread_mutex_unlock(&list.lock);
}

void leftover_done(struct leftover *l)
{
    if (!l->is_listed)
        return;
    pthread_mutex_lock(&list.lock);
    l->is_listed = false;
    if (--list.n_used == 0 && ftruncate(list.fd, 0) < 0)
        close_list(); /* the next one begins another list */
    pthread_mutex_unlock(&list.lock);
}

/* --- lists of dead processes --- */

static bool is_token_of(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr("0123456789abcdef", text.p[i]))
            return false;
    return text.n == TOKEN_CHARS;
}

/* The token in ".NAME.keel-TOKEN-7"; empty: the name has another form. */
static struct str token_in(struct str name)
{
    size_t dash = str_rfind_char(name, '-');
    struct str head = dash == STR_NONE ? S("") : str_slice(name, 0, dash), token;

    if (!str_starts(name, S(".")) || head.n < TOKEN_CHARS)
        return (struct str){0};
    token = str_skip(head, head.n - TOKEN_CHARS);
    return is_token_of(token) && str_ends(str_slice(head, 0, head.n - TOKEN_CHARS), S(MARK))
               ? token
               : (struct str){0};
}

bool leftover_has_name(struct str path)
{
    size_t slash = str_rfind_char(path, '/');

    return token_in(slash == STR_NONE ? path : str_skip(path, slash + 1)).n > 0;
}

static void remove_path(const char *path, const char *token)
{
    AUTO(spot) struct spot spot = SPOT_NONE;
    const char *slash = strrchr(path, '/');
    AUTO(err) struct err *e = NULL;

    if (path[0] != '/' || !str_is(token_in(str_of(slash + 1)), token))
        return;
    e = spot_find(path, path, &spot);
    if (!e && strcmp(spot.name, slash + 1) == 0) /* its directory exists */
        unlinkat(spot.dir_fd, spot.name, 0);
}

static void sweep_list(const char *path, const char *token)
{
    AUTO_FD fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_LIST};
    AUTO(err) struct err *e = NULL;
    struct str rest, one;

    if (fd < 0 || !lock_list(fd) || !is_linked(fd))
        return;
    e = fs_read(path, &text, NULL);
    rest = strbuf_str(&text);
    while (rest.n && str_find_char(rest, '\0') != STR_NONE && str_split(&rest, '\0', &one))
        remove_path(one.p, token);
    unlink(path);
}

void leftover_sweep(const char *dir)
{
    AUTO(arena) struct arena a = {0};
    struct dirent *entry;
    DIR *d = opendir(dir);

    while (d && (entry = readdir(d)))
        if (is_token_of(str_of(entry->d_name)))
            sweep_list(list_path(&a, dir, entry->d_name), entry->d_name);
    if (d)
        closedir(d);
}
