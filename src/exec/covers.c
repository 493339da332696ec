/* covers.c - finds places that have lost their mounts, and covers them again. */
#include "exec/covers.h"

#include "exec/kernel.h"
#include "exec/standstill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_LOOK_MS = 20,   /* most commands have ended by then */
    BLIND_PERIOD_MS = 10, /* between two checks if inotify has no room */
    /* For a place that is replaced again and again, as by several `git config` in a row. */
    MAX_COVERING_MS = 2000,
    MAX_READS = 16,
};

#define NAME_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)

/* --- events --- */

/* A name with other letters may be another spelling of any name, if a directory ignores case. */
static bool is_ascii(const char *name)
{
    for (; *name; name++)
        if (*name & 0x80)
            return false;
    return true;
}

static unsigned to_small(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (unsigned)letter | 0x20 : (unsigned char)letter;
}

/* Most names that come and go, such as those of locks and objects, are unimportant: one bit of
 * their sum shows it. */
static unsigned sum_of(const char *name)
{
    unsigned sum = 0;

    for (; *name && *name != '/'; name++)
        sum = sum * 31 + to_small(*name);
    return sum % COVERS_NAME_BITS;
}

static void note_name(struct covers *c, const char *name)
{
    unsigned sum = sum_of(name);

    c->names[sum / 64] |= 1ull << sum % 64;
}

static void note_names(struct covers *c)
{
    policy_each(item, c->policy)
    {
        for (const char *slash = item->text; slash; slash = strchr(slash + 1, '/'))
            note_name(c, slash + 1);
        for (const char *name = NULL;
             item->kind == POLICY_LACKS && (name = policy_next_name(item, name));)
            note_name(c, name);
    }
}

static bool may_matter(const struct covers *c, const char *name)
{
    unsigned sum = sum_of(name);

    return c->names[sum / 64] >> sum % 64 & 1;
}

static bool is_lacking(const struct policy_item *item, const char *name)
{
    for (const char *lacking = NULL; (lacking = policy_next_name(item, lacking));)
        if (strcasecmp(lacking, name) == 0)
            return true;
    return false;
}

/* Is it one of the names on the way to the item? */
static bool is_on_the_way(const struct policy_item *item, const char *name)
{
    size_t n = strlen(name);
    const char *at = item->text;

    if (item->kind == POLICY_LACKS && is_lacking(item, name))
        return true;

    while ((at = strcasestr(at, name))) {
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
    if (!(event->mask & NAME_EVENTS) || event->len == 0)
        return false;
    if (!is_ascii(event->name))
        return true;
    if (!may_matter(c, event->name))
        return false;
    policy_each(item, c->policy)
    {
        if (is_on_the_way(item, event->name))
            return true;
    }
    return false;
}

/* Has a name on the way to a place changed? If a command makes events faster than they are read,
 * all places are checked each time. */
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

/* A path to the file of a descriptor. */
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

/* A directory that is watched already stays watched. If this user may not read a directory, the
 * command cannot enter it. */
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

/* Watches the directories on the way to the item that was located last. */
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

/* --- covering --- */

enum cover_state {
    COVERED,
    LOOK_AGAIN, /* it was not, and was covered, or replaced once more before that */
    OPEN,
};

static bool is_in_writable(const struct policy_header *p, const struct policy_item *item)
{
    uint32_t n = 0;

    policy_each(root, p)
    {
        if (policy_is_root(root->kind) && ++n == item->root)
            return root->kind == POLICY_WRITABLE;
    }
    return false;
}

/* The tree is stopped, so a process that reached the place before it was covered still holds it. A
 * second name also leads to a file, if a command could make one. */
static bool may_be_reached(const struct covers *c, const struct policy_item *item,
                           const struct stat *st, const char *path, bool is_hidden)
{
    if (S_ISREG(st->st_mode) && st->st_nlink > 1 && is_in_writable(c->policy, item))
        return true;
    return is_held(&(struct held_place){st, path, is_hidden});
}

static bool stand_still(struct covers *c)
{
    return c->is_standing_still || (c->is_standing_still = standstill_begin());
}

static enum cover_state hide(struct covers *c, const struct policy_item *item, int place,
                             const struct stat *st, const char *path)
{
    if (!stand_still(c))
        return OPEN;
    if (!mounts_hide(c->roots, place, st))
        return LOOK_AGAIN;
    return may_be_reached(c, item, st, path, /* is_hidden= */ true) ? OPEN : LOOK_AGAIN;
}

/* Only keel can judge what a command wrote before the file came here, or before it was covered. */
static enum cover_state cover_again(struct covers *c, const struct policy_item *item, int place,
                                    const struct stat *st)
{
    if (item->kind == POLICY_HIDDEN)
        return hide(c, item, place, st, item->text);
    if (item->kind != POLICY_READ_ONLY || !S_ISREG(st->st_mode) || !stand_still(c))
        return OPEN;
    if (!mounts_pin(item, place))
        return LOOK_AGAIN;
    c->n_replaced++;
    return may_be_reached(c, item, st, item->text, /* is_hidden= */ false) ? OPEN : LOOK_AGAIN;
}

/* A file that did not exist when the command started, in a place that it can write to, may be its
 * own. keel checks it afterwards. */
static bool can_be_uncovered(const struct policy_item *item)
{
    return item->kind == POLICY_LACKS ||
           (item->kind >= POLICY_HOLDER && item->kind <= POLICY_ANCHOR &&
            item->expect != POLICY_ABSENT);
}

/* When a place is being removed, the kernel takes its mounts off some milliseconds before its name.
 * Nothing can be created in a directory in that state, but some file systems have no link counts:
 * so the tree waits until the name is gone. */
static enum cover_state wait_for_removal(struct covers *c)
{
    return stand_still(c) ? LOOK_AGAIN : OPEN;
}

static enum cover_state look_at_place(struct covers *c, const struct policy_item *item, int fd,
                                      const struct stat *st)
{
    if (is_covered(c->roots, item, fd, st))
        return COVERED;
    return st->st_nlink == 0 ? wait_for_removal(c) : cover_again(c, item, fd, st);
}

/* Checks a name that was missing. A link shows nothing that was hidden before. */
static enum cover_state look_at_name(struct covers *c, const struct policy_item *item, int dir,
                                     const char *name)
{
    size_t n_dir = item->text[1] ? strlen(item->text) : 0, n_name = strlen(name);
    int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    enum cover_state state = COVERED;
    char path[PATH_MAX];
    struct stat st;

    if (fd < 0)
        return is_nothing(errno) ? COVERED : OPEN;
    if (fstat(fd, &st) < 0 || n_dir + n_name + 2 > sizeof path) {
        state = OPEN;
    } else if (!S_ISLNK(st.st_mode) && !is_closed(c->roots, &st)) {
        memcpy(path, item->text, n_dir);
        path[n_dir] = '/';
        memcpy(path + n_dir + 1, name, n_name + 1);
        state = hide(c, item, fd, &st, path);
    }
    close(fd);
    return state;
}

static enum cover_state look_for_names(struct covers *c, const struct policy_item *item, int dir)
{
    enum cover_state all = COVERED;

    watch(c, dir);
    for (const char *name = NULL; all != OPEN && (name = policy_next_name(item, name));) {
        enum cover_state state = look_at_name(c, item, dir, name);

        if (state > all)
            all = state;
    }
    return all;
}

static enum cover_state look_at(struct covers *c, const struct policy_item *item)
{
    enum cover_state state;
    struct stat st;
    int fd;

    if (!can_be_uncovered(item))
        return COVERED;
    fd = locate_now(c->roots, item, &st);
    if (fd < 0 && !is_nothing(errno))
        return OPEN;
    watch_way(c, item);
    if (fd < 0)
        return COVERED;
    if (item->kind == POLICY_LACKS)
        state = look_for_names(c, item, fd);
    else
        state = look_at_place(c, item, fd, &st);
    close(fd);
    return state;
}

static enum cover_state look_at_all(struct covers *c)
{
    enum cover_state all = COVERED;

    locate_anew(c->roots);
    policy_each(item, c->policy)
    {
        enum cover_state state = look_at(c, item);

        if (state > all)
            all = state;
    }
    locate_anew(c->roots);
    return all;
}

/* Covered places may have been replaced meanwhile, and so may places that were checked before their
 * directory was watched: then all are checked again. */
static bool cover_all(struct covers *c)
{
    struct patience patience = patience_of(MAX_COVERING_MS);
    enum cover_state state;

    do {
        c->has_new_watch = false;
        state = look_at_all(c);
    } while (state != OPEN && (state == LOOK_AGAIN || c->has_new_watch) &&
             patience_lasts(&patience));
    return state == COVERED;
}

void covers_watch(struct covers *c)
{
    c->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

static bool has_places(const struct policy_header *p)
{
    policy_each(item, p)
    {
        if (can_be_uncovered(item))
            return true;
    }
    return false;
}

void covers_begin(struct covers *c, const struct policy_header *p, struct root_fds *roots,
                  int64_t now_ms)
{
    c->policy = p;
    c->roots = roots;
    c->is_blind = c->events < 0;
    c->look_at_ms = has_places(p) ? now_ms + FIRST_LOOK_MS : -1;
}

void covers_end(struct covers *c)
{
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
    bool is_due = !c->has_looked || c->is_blind;

    if (!c->has_looked)
        note_names(c);
    c->has_looked = true;
    if (c->events >= 0)
        is_due |= read_events(c);
    if (is_due && !cover_all(c))
        return false;
    c->look_at_ms = c->is_blind ? now_ms + BLIND_PERIOD_MS : -1;
    return true;
}

void covers_continue(struct covers *c)
{
    if (c->is_standing_still)
        standstill_end();
    c->is_standing_still = false;
}
