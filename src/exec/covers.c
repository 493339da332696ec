/* covers.c - finds places that have lost their mounts, and covers them again. */
#include "exec/covers.h"

#include "exec/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    FIRST_LOOK_MS = 20,    /* most commands have ended by then */
    BLIND_PERIOD_MS = 100, /* between two looks where inotify has no room for us */
    USE_PERIOD_MS = 10,
    MAX_USE_MS = 1000, /* for an editor that has just made the file */
    MAX_PASSES = 8,
    MAX_READS = 16,
};

#define NAME_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)

/* --- what has happened --- */

/* Most names that come and go, such as those of locks and objects, lead nowhere: a bit of their
 * sum says so at once. */
static unsigned sum_of(const char *name)
{
    unsigned sum = 0;

    for (; *name && *name != '/'; name++)
        sum = sum * 31 + (unsigned char)*name;
    return sum % COVERS_NAME_BITS;
}

static void note_names(struct covers *c)
{
    policy_each(item, c->policy)
    {
        for (const char *slash = item->text; slash; slash = strchr(slash + 1, '/')) {
            unsigned sum = sum_of(slash + 1);

            c->names[sum / 64] |= 1ull << sum % 64;
        }
    }
}

static bool may_matter(const struct covers *c, const char *name)
{
    unsigned sum = sum_of(name);

    return c->names[sum / 64] >> sum % 64 & 1;
}

/* Is it one of the names that lead to the item? */
static bool is_on_the_way(const struct policy_item *item, const char *name)
{
    size_t n = strlen(name);
    const char *at = item->text;

    while ((at = strstr(at, name))) {
        if (at > item->text && at[-1] == '/' && (at[n] == '/' || at[n] == 0))
            return true;
        at += n;
    }
    return false;
}

static bool matters(const struct covers *c, const struct inotify_event *event)
{
    if (event->mask & IN_Q_OVERFLOW)
        return true;
    if (!(event->mask & NAME_EVENTS) || event->len == 0 || !may_matter(c, event->name))
        return false;
    policy_each(item, c->policy)
    {
        if (is_on_the_way(item, event->name))
            return true;
    }
    return false;
}

/* Has a name changed that leads to one of the places? A command that makes events faster than they
 * are read has all places looked at, as often as we come to it. */
static bool read_events(struct covers *c)
{
    _Alignas(struct inotify_event) char buffer[4096];
    bool found = false;
    ssize_t n = 0;

    for (int i = 0; i < MAX_READS && (n = read(c->events, buffer, sizeof buffer)) > 0; i++)
        for (ssize_t at = 0; at < n && !found;) {
            const struct inotify_event *event = (const struct inotify_event *)(buffer + at);

            found = matters(c, event);
            at += (ssize_t)(sizeof *event + event->len);
        }
    return found || n > 0;
}

/* A path to what a descriptor names. */
struct fd_path {
    char text[32];
};

static struct fd_path path_of_fd(int fd)
{
    static const char prefix[] = "/proc/self/fd/";
    struct fd_path path = {0};
    size_t at = sizeof prefix - 1;
    char digits[16];
    int n = 0;

    memcpy(path.text, prefix, at);
    do
        digits[n++] = (char)('0' + fd % 10);
    while (fd /= 10);
    while (n > 0)
        path.text[at++] = digits[--n];
    return path;
}

/* One that is watched already stays so. A directory that this user may not read is none that the
 * command gets into. */
static void watch(struct covers *c, int dir)
{
    int watch = c->events >= 0
                    ? inotify_add_watch(c->events, path_of_fd(dir).text, NAME_EVENTS | IN_ONLYDIR)
                    : 0;

    if (watch < 0 && errno != EACCES)
        c->is_blind = true;
    if (watch > c->last_watch) { /* the kernel counts upwards */
        c->last_watch = watch;
        c->has_new_watch = true;
    }
}

/* The directories on the way to the item that was located last. */
static void watch_way(struct covers *c, const struct policy_item *item)
{
    for (unsigned i = 0; i < c->roots->n_dirs; i++)
        if (!c->roots->dirs[i].is_watched) {
            watch(c, c->roots->dirs[i].fd);
            c->roots->dirs[i].is_watched = true;
        }
    if (c->roots->n_dirs == 0)
        watch(c, c->roots->fd[item->root]);
}

/* --- what is there --- */

/* Kernels before 5.8 do not tell. */
static bool is_mount(int fd)
{
    struct kernel_statx st = {0};

    if (kernel_statx(fd, &st) < 0)
        return false;
    return !(st.known_attributes & KERNEL_STATX_MOUNT_ROOT) ||
           st.attributes & KERNEL_STATX_MOUNT_ROOT;
}

static bool is_read_only(int fd)
{
    struct statvfs st;

    return fstatvfs(fd, &st) == 0 && st.f_flag & ST_RDONLY;
}

static bool is_own(const struct root_fds *roots, const struct stat *st)
{
    struct stat own;

    return fstat(roots->own, &own) == 0 && own.st_dev == st->st_dev;
}

/* A link cannot be covered. keel looks after one that it has seen; what a hidden one leads to is
 * hidden by its own name. */
static bool may_be_link(const struct policy_item *item, const struct stat *st)
{
    return item->kind == POLICY_HIDDEN || item->kind == POLICY_HOLDER ||
           (item->expect == POLICY_THIS && item->device == st->st_dev && item->inode == st->st_ino);
}

static bool is_covered(const struct covers *c, const struct policy_item *item, int fd,
                       const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return may_be_link(item, st);
    switch (item->kind) {
    case POLICY_READ_ONLY:
        return is_read_only(fd);
    case POLICY_ANCHOR:
        return is_mount(fd);
    case POLICY_HIDDEN:
    case POLICY_HOLDER:
        return is_own(c->roots, st);
    }
    return true;
}

/* --- who has it open --- */

/* Not the command, if the file is somebody else's. */
static bool may_be_written(const struct stat *st)
{
    return geteuid() == 0 || st->st_uid == geteuid() || st->st_mode & (S_IWGRP | S_IWOTH);
}

enum use { FREE, IN_USE, UNSAFE };

/* What was opened before the file was covered leads below the mount; one for reading as well, as
 * /proc/self/fd opens it again. The kernel grants a lease for writing when nobody else has the file
 * open, by whatever descriptor, also one that is mapped or on its way through a socket; but for
 * those that only name it (O_PATH). A file that nobody has open gets no second name either. It is
 * open here for a moment only: another supervisor may ask the same. */
static enum use use_of(int place)
{
    int fd = open(path_of_fd(place).text, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    enum use use = FREE;
    struct stat st;

    if (fd < 0)
        return errno == EWOULDBLOCK ? IN_USE : UNSAFE; /* somebody holds a lease */
    if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
        use = errno == EAGAIN ? IN_USE : UNSAFE;
    else if (fstat(fd, &st) < 0 || st.st_nlink > 1)
        use = UNSAFE;
    close(fd);
    return use;
}

static bool remember_users(struct covers *c, int place, const struct stat *st, int64_t now_ms)
{
    enum use use = may_be_written(st) ? use_of(place) : FREE;
    int fd;

    if (use != IN_USE)
        return use == FREE;
    fd = c->n_used < COVERS_MAX_USED ? fcntl(place, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd < 0)
        return false;
    c->used[c->n_used++] = (struct used_file){fd, now_ms + MAX_USE_MS};
    return true;
}

static bool look_for_users(struct covers *c, int64_t now_ms)
{
    for (unsigned i = 0; i < c->n_used;) {
        struct used_file *file = &c->used[i];
        enum use use = use_of(file->place);

        if (use == UNSAFE || (use == IN_USE && now_ms >= file->until_ms))
            return false;
        if (use == IN_USE) {
            i++;
            continue;
        }
        close(file->place);
        *file = c->used[--c->n_used];
    }
    return true;
}

/* --- covering --- */

enum state {
    COVERED,
    LOOK_AGAIN, /* it was not, and was covered, or exchanged once more before it could be */
    OPEN,
};

static enum state cover_again(struct covers *c, const struct policy_item *item, int place,
                              const struct stat *st, int64_t now_ms)
{
    if (item->kind == POLICY_HIDDEN) {
        mounts_hide(c->roots, place, st);
        return LOOK_AGAIN;
    }
    if (item->kind != POLICY_READ_ONLY || !S_ISREG(st->st_mode))
        return OPEN;
    return !mounts_pin(item, place) || remember_users(c, place, st, now_ms) ? LOOK_AGAIN : OPEN;
}

static bool is_nothing(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP;
}

/* What did not exist when the command started in a place where it can write may be its own. keel
 * looks at it afterwards. */
static enum state look_at(struct covers *c, const struct policy_item *item, int64_t now_ms)
{
    enum state state = COVERED;
    struct stat st;
    int fd;

    if (item->kind < POLICY_HOLDER || item->kind > POLICY_ANCHOR || item->expect == POLICY_ABSENT)
        return COVERED;
    fd = locate_now(c->roots, item, &st);
    if (fd < 0 && !is_nothing(errno))
        return OPEN;
    watch_way(c, item);
    if (fd < 0)
        return COVERED;
    if (!is_covered(c, item, fd, &st))
        state = cover_again(c, item, fd, &st, now_ms);
    close(fd);
    return state;
}

static enum state look_at_all(struct covers *c, int64_t now_ms)
{
    enum state all = COVERED;

    locate_anew(c->roots);
    policy_each(item, c->policy)
    {
        enum state state = look_at(c, item, now_ms);

        if (state > all)
            all = state;
    }
    locate_anew(c->roots);
    return all;
}

/* What was covered may have been exchanged meanwhile, and so may have been what was looked at
 * before its directory was watched: then all is looked at again. */
static bool cover_all(struct covers *c, int64_t now_ms)
{
    enum state state;
    int n = 0;

    do {
        c->has_new_watch = false;
        state = look_at_all(c, now_ms);
    } while (state != OPEN && (state == LOOK_AGAIN || c->has_new_watch) && ++n < MAX_PASSES);
    return state == COVERED;
}

void covers_begin(struct covers *c, const struct policy_header *p, struct root_fds *roots,
                  int64_t now_ms)
{
    *c = (struct covers){
        .policy = p, .roots = roots, .events = -1, .look_at_ms = now_ms + FIRST_LOOK_MS};
}

void covers_end(struct covers *c)
{
    while (c->n_used > 0)
        close(c->used[--c->n_used].place);
    if (c->events >= 0)
        close(c->events);
    *c = COVERS_NONE;
}

int covers_timeout_ms(const struct covers *c, int64_t now_ms)
{
    int64_t at_ms = c->look_at_ms;

    if (!c->policy || at_ms < 0)
        return -1;
    return at_ms <= now_ms ? 0 : (int)(at_ms - now_ms);
}

bool covers_look(struct covers *c, int64_t now_ms)
{
    bool is_due = c->events < 0 || c->is_blind;

    if (c->events < 0 && !c->is_blind) {
        note_names(c);
        c->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        c->is_blind = c->events < 0;
    }
    if (c->events >= 0)
        is_due |= read_events(c);
    if ((is_due && !cover_all(c, now_ms)) || !look_for_users(c, now_ms))
        return false;
    c->look_at_ms = c->n_used     ? now_ms + USE_PERIOD_MS
                    : c->is_blind ? now_ms + BLIND_PERIOD_MS
                                  : -1;
    return true;
}
