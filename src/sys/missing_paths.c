/* missing_paths.c - remembers directories that lack a name. */
#include "sys/missing_paths.h"

#include "base/secret_places.h"
#include "sys/auto_fd.h"
#include "sys/dir_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

#define TICK_NS 20000000       /* twice the tick of the slowest clock that stamps files */
#define WHOLE_S_NS 2000000000L /* for file systems that keep only seconds */

/* --- the list --- */

static unsigned char *slot_of(struct missing_paths *m, const char *path)
{
    size_t i = str_hash(str_of(path)) % ARRAY_LEN(m->slots);

    while (m->slots[i] && strcmp(m->paths[m->slots[i] - 1], path) != 0)
        i = (i + 1) % ARRAY_LEN(m->slots);
    return &m->slots[i];
}

void missing_paths_init(struct missing_paths *m, const char *const *paths, size_t n)
{
    *m = (struct missing_paths){.n = MIN(n, (size_t)MISSING_PATHS_MAX)};
    for (size_t i = 0; i < m->n; i++) {
        m->paths[i] = paths[i];
        m->lacked_by[i] = -1;
        *slot_of(m, paths[i]) = (unsigned char)(i + 1);
    }
}

void missing_paths_done(struct missing_paths *m)
{
    arena_done(&m->arena);
    *m = (struct missing_paths){0};
}

int missing_paths_find(const struct missing_paths *m, const char *path)
{
    return *slot_of((struct missing_paths *)(uintptr_t)m, path) - 1;
}

/* --- directories --- */

/* Is its time past, at the grain of its file system, so that a later change gets a later time? */
static bool is_past(struct timespec changed, struct timespec now)
{
    int64_t grain_ns = changed.tv_nsec ? TICK_NS : WHOLE_S_NS;

    return (int64_t)(now.tv_sec - changed.tv_sec) * 1000000000 + now.tv_nsec - changed.tv_nsec >
           grain_ns;
}

static bool is_unchanged(const struct lacking_dir *d)
{
    struct stat st;

    return d->is_settled && lstat(d->path, &st) == 0 && st.st_dev == d->device &&
           st.st_ino == d->inode && st.st_ctim.tv_sec == d->changed.tv_sec &&
           st.st_ctim.tv_nsec == d->changed.tv_nsec;
}

/* False: nothing about its missing names is certain. */
static bool read_dir(struct lacking_dir *d)
{
    AUTO_FD fd = -1;
    struct timespec now;
    struct stat st;

    d->is_fresh = d->is_settled = false;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    fd = open(d->path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !dir_lists_all(fd))
        return false;
    d->device = st.st_dev;
    d->inode = st.st_ino;
    d->changed = st.st_ctim;
    d->is_settled = is_past(st.st_ctim, now);
    return d->is_fresh = true;
}

/* Finds the directory as it is in this look, before its missing names are used; -1: it is not
 * reliable. */
static short find_dir(struct missing_paths *m, const char *path)
{
    size_t i = 0;

    while (i < m->n_dirs && strcmp(m->dirs[i].path, path) != 0)
        i++;
    if (i == m->n_dirs) {
        m->dirs = arena_grow(&m->arena, m->dirs, m->n_dirs, &m->dirs_room, sizeof *m->dirs);
        m->dirs[m->n_dirs++] = (struct lacking_dir){.path = arena_cstr(&m->arena, str_of(path))};
    }
    return m->dirs[i].is_fresh || read_dir(&m->dirs[i]) ? (short)i : -1;
}

/* --- looking --- */

/* Goes name by name, through directories only. */
static short ask(struct missing_paths *m, const char *path)
{
    char above[PATH_MAX] = "/", next[PATH_MAX];
    size_t n = strlen(path);
    struct stat st;

    if (n >= sizeof next || path[0] != '/' || !path[1])
        return -1;
    for (size_t end = 0; end < n;) {
        short dir = find_dir(m, above);

        end += 1 + strcspn(path + end + 1, "/");
        memcpy(next, path, end);
        next[end] = '\0';
        if (dir < 0)
            return -1;
        if (lstat(next, &st) < 0)
            return errno == ENOENT ? dir : -1;
        if (!S_ISDIR(st.st_mode))
            return -1;
        memcpy(above, next, end + 1);
    }
    return -1;
}

void missing_paths_look(struct missing_paths *m, struct missing_set *ret_set)
{
    bool is_first = m->n_dirs == 0;

    for (size_t i = 0; i < m->n_dirs; i++) {
        m->dirs[i].is_fresh = is_unchanged(&m->dirs[i]);
        m->dirs[i].is_stale = !m->dirs[i].is_fresh;
    }
    for (size_t i = 0; i < m->n; i++) {
        short dir = m->lacked_by[i];

        if (is_first || (dir >= 0 && m->dirs[dir].is_stale))
            m->lacked_by[i] = ask(m, m->paths[i]);
        ret_set->has[i] = m->lacked_by[i] >= 0;
    }
}

/* --- the system's places --- */

static struct missing_paths of_system;
static pthread_mutex_t of_system_lock = PTHREAD_MUTEX_INITIALIZER;

/* The list is constant once it exists. */
void missing_of_system_look(struct missing_set *ret_set)
{
    const char *paths[MISSING_PATHS_MAX];
    size_t n = 0;

    pthread_mutex_lock(&of_system_lock);
    if (of_system.n == 0) {
        while (n < MISSING_PATHS_MAX && secret_places_of_system[n].path) {
            paths[n] = secret_places_of_system[n].path;
            n++;
        }
        missing_paths_init(&of_system, paths, n);
    }
    missing_paths_look(&of_system, ret_set);
    pthread_mutex_unlock(&of_system_lock);
}

bool missing_of_system_has(const struct missing_set *s, const char *path)
{
    int i = missing_paths_find(&of_system, path);

    return i >= 0 && s->has[i];
}
