/* leases.c - open file description locks. They belong to an open file, not to a process, so that
 * two stores in one process exclude each other, too. */
#include "store/leases.h"

#include "base/sha256.h"
#include "store/session_lock.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define FILE_NAME "leases"
#define PID_BITS 22  /* the largest id of a process on Linux is below 2^22 */
#define MAX_TRIES 64 /* two seconds */

struct lease {
    off_t at;
    uint64_t fence;
    char *id;
};

struct leases {
    pthread_mutex_t lock;
    char *dir;
    int fd; /* -1: nothing is held */
    struct lease *items;
    size_t n, room;
};

/* Ranges neither overlap nor touch, unless two ids have the same place. */
static off_t place_of(struct str id)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;
    uint64_t place = 0;

    sha256_init(&h);
    sha256_add(&h, id);
    sha256_end(&h, digest);
    for (size_t i = 0; i < sizeof place; i++)
        place = place << 8 | digest[i];
    return (off_t)(place >> (PID_BITS + 1) << PID_BITS);
}

/* The process that has locked the range with another descriptor than this; 0: none. */
static pid_t find_holder(int fd, off_t at)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};

    if (fcntl(fd, F_OFD_GETLK, &range) < 0 || range.l_type == F_UNLCK)
        return 0;
    return range.l_start == at ? (pid_t)range.l_len : 0; /* else the lock is not of keel */
}

/* A child that a killed process has just forked holds the lock for a moment, until it runs its own
 * program. */
static bool is_dead(pid_t pid)
{
    return kill(pid, 0) < 0 && errno == ESRCH;
}

static struct err *open_file(struct leases *l)
{
    AUTO(arena) struct arena a = {0};
    const char *path = fs_join(&a, l->dir, FILE_NAME);
    struct err *e;

    if (l->fd >= 0)
        return NULL;
    e = fs_make_dirs(l->dir, 0700);
    if (!e) {
        l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (l->fd < 0)
            e = err_errno(ERR_STORAGE, errno, "cannot open %s", path);
    }
    return e ? err_hint(e, "check its permissions, or choose another store with --store") : NULL;
}

/* Somebody may remove the file; the next lease opens, and then creates, it again. */
static void close_unused(struct leases *l)
{
    if (l->n || l->fd < 0)
        return;
    close(l->fd);
    l->fd = -1;
}

static struct lease *find_lease(const struct leases *l, struct str id, off_t at)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].at == at && str_is(id, l->items[i].id))
            return &l->items[i];
    return NULL;
}

static void add_lease(struct leases *l, struct str id, off_t at)
{
    l->items = mem_grow(l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n++] = (struct lease){.at = at, .id = str_dup(id)};
}

/* If not taken, *ret_holder holds it; 0: the holder has just released it. */
static struct err *try_lock(struct leases *l, struct str id, bool *ret_taken, pid_t *ret_holder)
{
    off_t at = place_of(id);
    struct flock range = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = getpid()};

    *ret_taken = false;
    *ret_holder = getpid();
    if (find_lease(l, id, at))
        return NULL;
    TRY(open_file(l));
    if (fcntl(l->fd, F_OFD_SETLK, &range) == 0) {
        add_lease(l, id, at);
        *ret_taken = true;
        return NULL;
    }
    if (errno != EAGAIN && errno != EACCES)
        return err_errno(ERR_STORAGE, errno, "cannot lock %s/" FILE_NAME, l->dir);
    *ret_holder = find_holder(l->fd, at);
    return NULL;
}

/* Older versions of keel lock a file for each session. */
static struct err *check_older(struct leases *l, struct str id)
{
    AUTO(arena) struct arena a = {0};
    struct str holder = session_lock_holder(l->dir, id, &a);

    return holder.n ? session_lock_refused(id, arena_cstr(&a, holder)) : NULL;
}

static struct err *refuse(struct str id, pid_t holder)
{
    AUTO(arena) struct arena a = {0};

    return session_lock_refused(id, holder ? arena_format(&a, "process %ld", (long)holder).p : "");
}

struct err *leases_take(struct leases *l, struct str id)
{
    TRY(check_older(l, id));
    for (unsigned n_tries = 0;; n_tries++) {
        pid_t holder;
        struct err *e;
        bool taken;

        pthread_mutex_lock(&l->lock);
        e = try_lock(l, id, &taken, &holder);
        close_unused(l);
        pthread_mutex_unlock(&l->lock);
        if (e || taken)
            return e;
        if (n_tries == MAX_TRIES || (holder && !is_dead(holder)) || !work_pause(n_tries))
            return refuse(id, holder);
    }
}

void leases_set_fence(struct leases *l, struct str id, uint64_t fence)
{
    struct lease *x;

    pthread_mutex_lock(&l->lock);
    x = find_lease(l, id, place_of(id));
    BUG_IF(!x);
    x->fence = fence;
    pthread_mutex_unlock(&l->lock);
}

/* If two ids have the same place, it stays locked until both are released. */
static void unlock(struct leases *l, off_t at)
{
    struct flock range = {
        .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = (off_t)1 << PID_BITS};

    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].at == at)
            return;
    fcntl(l->fd, F_OFD_SETLK, &range); /* cannot fail for a range that is locked here */
}

void leases_release(struct leases *l, struct str id, uint64_t fence)
{
    off_t at = place_of(id);
    struct lease *x;

    pthread_mutex_lock(&l->lock);
    x = find_lease(l, id, at);
    if (x && x->fence == fence) {
        mem_free(x->id);
        *x = l->items[--l->n];
        unlock(l, at);
    }
    close_unused(l);
    pthread_mutex_unlock(&l->lock);
}

struct leases *leases_new(const char *dir)
{
    struct leases *l = mem_alloc(sizeof *l);

    pthread_mutex_init(&l->lock, NULL);
    l->dir = mem_strdup(dir);
    l->fd = -1;
    return l;
}

void leases_free(struct leases *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++)
        mem_free(l->items[i].id);
    l->n = 0;
    close_unused(l);
    mem_free(l->items);
    mem_free(l->dir);
    pthread_mutex_destroy(&l->lock);
    mem_free(l);
}

/* --- holders --- */

static pid_t find_holder_in(const char *dir, struct str id)
{
    AUTO(arena) struct arena a = {0};
    AUTO_FD fd = open(fs_join(&a, dir, FILE_NAME), O_RDWR | O_CLOEXEC | O_NOFOLLOW);

    return fd < 0 ? 0 : find_holder(fd, place_of(id));
}

bool lease_is_held(const char *dir, struct str id)
{
    return find_holder_in(dir, id) != 0 || session_lock_is_held(dir, id);
}

struct str lease_holder(const char *dir, struct str id, struct arena *a)
{
    pid_t holder = find_holder_in(dir, id);

    return holder ? arena_format(a, "process %ld", (long)holder) : session_lock_holder(dir, id, a);
}
