/* claim.c - locks and states of writable directories. */
#include "sandbox/guard/claim.h"

#include "base/sha256.h"
#include "sys/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_BASELINE_BYTES = 256 << 20,
    MAX_STATE_BYTES = 128 + PATH_MAX,
    MAX_LISTED = 4096,
    BOOT_SIZE = 37, /* with the NUL */
    ID_SIZE = 33,
    SURE_AFTER_S = 3, /* no file system has a coarser clock */
};

/* What is locked, of each directory: a byte each. */
enum { LOCK_TURN, LOCK_USED, LOCK_RUNNING, N_LOCKS = 4 };

struct claim {
    struct claim *next;
    struct claims *all;
    char *root;
    char id[ID_SIZE]; /* of its files */
    off_t locks;      /* in the file of locks */
    bool is_used, is_running;
    struct stat baseline; /* as it was last read or written; st_ino 0: never */
};

/* What was read of the directory. */
struct claim_list {
    char **roots;
    size_t n;
    struct timespec changed; /* the directory, when it was read; 0: to be read again */
};

struct claims {
    char *dir;
    int fd;         /* the file of locks; -1: not open */
    int running_fd; /* the same, opened again: supervisors get this one */
    struct claim *first;
    char boot[BOOT_SIZE];
    struct claim_list list;
};

/* --- locks --- */

static bool set_lock(int fd, const struct claim *c, int which, short type)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = c->locks + which, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* By an open file other than `fd`. */
static bool is_locked(int fd, const struct claim *c, int which)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = c->locks + which, .l_len = 1};

    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool claim_try_lock(struct claim *c)
{
    return set_lock(c->all->fd, c, LOCK_TURN, F_WRLCK);
}

void claim_unlock(struct claim *c)
{
    set_lock(c->all->fd, c, LOCK_TURN, F_UNLCK);
}

bool claim_is_run_by_others(struct claim *c)
{
    return !c->is_running && is_locked(c->all->fd, c, LOCK_RUNNING);
}

bool claim_is_used_by_others(struct claim *c)
{
    return is_locked(c->all->fd, c, LOCK_USED);
}

/* --- states --- */

struct claim_state {
    bool is_used; /* by a keel that has not left in order */
    bool is_idle; /* but no command runs */
    char boot[BOOT_SIZE];
};

static const char *path_of(struct arena *a, const struct claim *c, const char *suffix)
{
    return arena_format(a, "%s/%s%s", c->all->dir, c->id, suffix).p;
}

/* In a directory of their own: when one is written, nothing is new in the other. */
static const char *baseline_path(struct arena *a, const struct claim *c)
{
    return arena_format(a, "%s/baselines/%s", c->all->dir, c->id).p;
}

static bool parse_state(const char *text, struct claim_state *ret)
{
    int used, idle;

    if (sscanf(text, "keel guard 1 used %1d idle %1d boot %36[0-9a-z-]\n", &used, &idle,
               ret->boot) != 3)
        return false;
    ret->is_used = used;
    ret->is_idle = idle;
    return true;
}

/* All of one length, so that one replaces another in place. */
static int format_state(const struct claim_state *s, char text[128])
{
    return snprintf(text, 128, "keel guard 1 used %d idle %d boot %-36.36s\n", s->is_used,
                    s->is_idle, s->boot);
}

/* One that cannot be read is of a keel that died: its file was made, and not yet written. */
static struct claim_state read_state(const struct claim *c)
{
    AUTO(arena) struct arena a = {0};
    struct claim_state state = {0};
    int fd = open(path_of(&a, c, ".state"), O_RDONLY | O_CLOEXEC);
    char text[128] = "";

    if (fd < 0)
        return state;
    if (pread(fd, text, sizeof text - 1, 0) < 0 || !parse_state(text, &state))
        state = (struct claim_state){0};
    close(fd);
    return state;
}

static bool write_at(int fd, struct str bytes)
{
    off_t at = 0;

    while (bytes.n) {
        ssize_t n = pwrite(fd, bytes.p, bytes.n, at);

        if (n < 0 && errno != EINTR)
            return false;
        n = MAX(n, 0);
        bytes = str_skip(bytes, (size_t)n);
        at += n;
    }
    return true;
}

/* The first time, with the directory's name. */
static struct err *create_state(const struct claim *c, const struct claim_state *s)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    char line[128];

    format_state(s, line);
    strbuf_addf(&text, "%sroot %s\n", line, c->root);
    return fs_write_atomic(path_of(&a, c, ".state"), strbuf_str(&text), 0600);
}

static struct err *write_state(const struct claim *c, const struct claim_state *s, bool is_durable)
{
    AUTO(arena) struct arena a = {0};
    const char *path = path_of(&a, c, ".state");
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    char line[128];
    bool done;

    if (fd < 0)
        return create_state(c, s);
    done = write_at(fd, str_make(line, (size_t)format_state(s, line))) &&
           (!is_durable || fdatasync(fd) == 0);
    close(fd);
    return done ? NULL : err_errno(ERR_SANDBOX, errno, "cannot write %s", path);
}

static bool is_broken(const struct claims *all, const struct claim_state *s)
{
    return s->is_used && !(s->is_idle && strcmp(s->boot, all->boot) == 0);
}

bool claim_is_broken(struct claim *c)
{
    struct claim_state s = read_state(c);

    return is_broken(c->all, &s);
}

bool claim_is_deserted(struct claim *c)
{
    return read_state(c).is_used && !c->is_used && !claim_is_used_by_others(c) &&
           !claim_is_run_by_others(c);
}

struct err *claim_mend(struct claim *c)
{
    struct claim_state state = {.is_used = claim_is_used_by_others(c), .is_idle = true};

    memcpy(state.boot, c->all->boot, sizeof state.boot);
    return write_state(c, &state, /* is_durable= */ true);
}

struct err *claim_begin(struct claim *c)
{
    struct claim_state now = read_state(c), state = {.is_used = true};
    bool is_noted = now.is_used && strcmp(now.boot, c->all->boot) == 0;

    memcpy(state.boot, c->all->boot, sizeof state.boot);
    if (!is_noted || now.is_idle)
        TRY(write_state(c, &state, /* is_durable= */ !is_noted));
    if (!set_lock(c->all->fd, c, LOCK_USED, F_RDLCK) ||
        !set_lock(c->all->running_fd, c, LOCK_RUNNING, F_RDLCK))
        return err_errno(ERR_SANDBOX, errno, "cannot lock %s/locks", c->all->dir);
    c->is_used = c->is_running = true;
    return NULL;
}

void claim_end(struct claim *c)
{
    struct claim_state state = {.is_used = true, .is_idle = true};

    if (!c->is_running)
        return;
    c->is_running = false;
    set_lock(c->all->running_fd, c, LOCK_RUNNING, F_UNLCK);
    memcpy(state.boot, c->all->boot, sizeof state.boot);
    if (!is_locked(c->all->fd, c, LOCK_RUNNING))
        err_ignore(write_state(c, &state, /* is_durable= */ false),
                   "then the next keel looks once in vain");
}

void claim_leave(struct claim *c)
{
    struct claim_state state = {0};

    if (!c->is_used)
        return;
    c->is_used = false;
    set_lock(c->all->fd, c, LOCK_USED, F_UNLCK);
    memcpy(state.boot, c->all->boot, sizeof state.boot);
    if (!claim_is_broken(c) && !claim_is_used_by_others(c))
        err_ignore(write_state(c, &state, /* is_durable= */ false),
                   "then the next keel looks once in vain");
}

/* --- baselines --- */

static void note_baseline(struct claim *c)
{
    AUTO(arena) struct arena a = {0};

    if (stat(baseline_path(&a, c), &c->baseline) < 0)
        c->baseline = (struct stat){0};
}

bool claim_has_new_baseline(struct claim *c)
{
    AUTO(arena) struct arena a = {0};
    struct stat now = {0};

    return stat(baseline_path(&a, c), &now) == 0 &&
           (now.st_ino != c->baseline.st_ino || now.st_ctim.tv_sec != c->baseline.st_ctim.tv_sec ||
            now.st_ctim.tv_nsec != c->baseline.st_ctim.tv_nsec);
}

struct err *claim_read_baseline(struct claim *c, struct strbuf *bytes, bool *ret_exists)
{
    AUTO(arena) struct arena a = {0};
    struct strbuf all;
    struct err *e;

    strbuf_init(&all, MAX_BASELINE_BYTES);
    note_baseline(c);
    e = fs_read(baseline_path(&a, c), &all, ret_exists);
    if (!e)
        *bytes = all;
    else
        strbuf_done(&all);
    return e;
}

struct err *claim_write_baseline(struct claim *c, struct str bytes)
{
    AUTO(arena) struct arena a = {0};

    TRY(fs_write_atomic(baseline_path(&a, c), bytes, 0600));
    note_baseline(c);
    return NULL;
}

/* --- all of them --- */

/* Which start of the machine this is. */
static void read_boot(char boot[BOOT_SIZE])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (!f || fscanf(f, "%36[0-9a-f-]", boot) != 1)
        snprintf(boot, BOOT_SIZE, "unknown");
    if (f)
        fclose(f);
}

/* A person's doing, or the machine's. A full disk may be a command's. */
static bool is_for_good(int error)
{
    return error == EROFS || error == EACCES || error == EPERM || error == ENOTDIR ||
           error == EOPNOTSUPP || error == ENOLCK || error == ENOSYS;
}

static struct err *cannot_meet(const char *path)
{
    return err_errno(is_for_good(errno) ? ERR_STORAGE : ERR_SANDBOX, errno, "cannot write %s",
                     path);
}

/* A byte that no rule claims. */
static bool can_lock(int fd)
{
    struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = N_LOCKS - 1, .l_len = 1};

    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

static bool make_dir(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static struct err *open_locks(struct claims *all)
{
    AUTO(arena) struct arena a = {0};
    const char *path = fs_join(&a, all->dir, "locks");
    char *home = arena_cstr(&a, str_of(all->dir));

    if (all->fd >= 0)
        return NULL;
    *strrchr(home, '/') = 0;
    if (!make_dir(home) || !make_dir(all->dir) || !make_dir(fs_join(&a, all->dir, "baselines")))
        return cannot_meet(all->dir);
    all->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    all->running_fd = open(path, O_RDWR | O_CLOEXEC);
    if (all->fd < 0 || all->running_fd < 0 || !can_lock(all->fd))
        return cannot_meet(path);
    return NULL;
}

/* By what it is and by its name: another one of that name is another place. Not by its device,
 * whose number may be another after the next start of the machine. */
static void identify(struct claim *c, const struct stat *st)
{
    AUTO(strbuf) struct strbuf all = {0};
    char hex[SHA256_HEX_SIZE];

    strbuf_addf(&all, "%llu %s", (unsigned long long)st->st_ino, c->root);
    sha256_hex(strbuf_str(&all), hex);
    snprintf(c->id, sizeof c->id, "%.32s", hex);
    hex[11] = 0; /* 44 bits: locks are few, and one too many does no harm */
    c->locks = (off_t)strtoull(hex, NULL, 16) * N_LOCKS;
}

struct err *claims_get(struct claims *all, const char *root, struct claim **ret_claim)
{
    struct claim *c = mem_alloc(sizeof *c), *known;
    struct stat st;

    if (stat(root, &st) < 0) {
        mem_free(c);
        return err_errno(ERR_SANDBOX, errno, "cannot open %s", root);
    }
    c->all = all;
    c->root = mem_strdup(root);
    identify(c, &st);
    for (known = all->first; known && strcmp(known->id, c->id) != 0; known = known->next)
        continue;
    if (known) {
        mem_free(c->root);
        mem_free(c);
    } else {
        c->next = all->first;
        known = all->first = c;
    }
    *ret_claim = known;
    return open_locks(all);
}

/* The directory that a state is about; NULL: the file is none. */
static char *read_root(const struct claims *all, const char *name, struct claim_state *ret_state)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct str line, rest;
    struct err *e;

    strbuf_init(&text, MAX_STATE_BYTES);
    e = fs_read(fs_join(&a, all->dir, name), &text, NULL);
    if (e) {
        err_ignore(e, "it is no state of a directory");
        return NULL;
    }
    rest = strbuf_str(&text);
    str_split(&rest, '\n', &line);
    if (!parse_state(strbuf_cstr(&text), ret_state) || !str_starts(rest, S("root /")) ||
        !str_ends(rest, S("\n")))
        return NULL;
    return str_dup(str_slice(rest, 5, rest.n - 6));
}

static void drop_list(struct claims *all)
{
    for (size_t i = 0; i < all->list.n; i++)
        mem_free(all->list.roots[i]);
    mem_free(all->list.roots);
    all->list = (struct claim_list){0};
}

static void list_root(struct claims *all, char *take_root)
{
    struct claim_list *l = &all->list;

    l->roots = mem_resize(l->roots, (l->n + 1) * sizeof(char *));
    l->roots[l->n++] = take_root;
}

/* A directory that is not there any more, or is another, needs no files. */
static void drop_stale(struct claims *all, const char *name, const char *root)
{
    AUTO(arena) struct arena a = {0};
    struct claim c = {.all = all, .root = (char *)(uintptr_t)root};
    struct stat st;

    if (stat(root, &st) == 0)
        identify(&c, &st);
    else if (errno != ENOENT && errno != ENOTDIR)
        return;
    if (strncmp(name, c.id, strlen(name) - strlen(".state")) == 0 && c.id[0])
        return;
    snprintf(c.id, sizeof c.id, "%.*s", (int)(strlen(name) - strlen(".state")), name);
    unlink(baseline_path(&a, &c));
    unlink(path_of(&a, &c, ".state"));
}

static void read_list(struct claims *all, bool only_used)
{
    DIR *d = opendir(all->dir);
    const struct dirent *entry;

    drop_list(all);
    while (d && all->list.n < MAX_LISTED && (entry = readdir(d))) {
        struct claim_state state = {0};
        char *root = NULL;

        if (str_ends(str_of(entry->d_name), S(".state")))
            root = read_root(all, entry->d_name, &state);
        if (root && !state.is_used)
            drop_stale(all, entry->d_name, root);
        if (root && (!only_used || state.is_used))
            list_root(all, root);
        else
            mem_free(root);
    }
    if (d)
        closedir(d);
}

static void tell_list(const struct claims *all, void (*found)(void *self, const char *root),
                      void *self)
{
    for (size_t i = 0; i < all->list.n; i++)
        found(self, all->list.roots[i]);
}

/* A directory that has just changed may change once more without showing it. */
static bool is_listed(const struct claims *all, const struct stat *st)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return all->list.changed.tv_sec == st->st_mtim.tv_sec &&
           all->list.changed.tv_nsec == st->st_mtim.tv_nsec &&
           now.tv_sec - st->st_mtim.tv_sec > SURE_AFTER_S;
}

void claims_each_root(struct claims *all, void (*found)(void *self, const char *root), void *self)
{
    struct stat st;

    if (stat(all->dir, &st) < 0)
        return;
    if (!is_listed(all, &st)) {
        read_list(all, /* only_used= */ false);
        all->list.changed = st.st_mtim;
    }
    tell_list(all, found, self);
}

void claims_each_used_root(struct claims *all, void (*found)(void *self, const char *root),
                           void *self)
{
    read_list(all, /* only_used= */ true);
    tell_list(all, found, self);
    drop_list(all);
}

int claims_running_fd(const struct claims *all)
{
    return all->running_fd;
}

const char *claim_root(const struct claim *c)
{
    return c->root;
}

struct claims *claims_new(const char *dir)
{
    struct claims *all = mem_alloc(sizeof *all);

    all->dir = mem_strdup(dir);
    all->fd = all->running_fd = -1;
    read_boot(all->boot);
    return all;
}

void claims_free(struct claims *all)
{
    struct claim *next;

    if (!all)
        return;
    for (struct claim *c = all->first; c; c = next) {
        next = c->next;
        mem_free(c->root);
        mem_free(c);
    }
    drop_list(all);
    if (all->fd >= 0)
        close(all->fd);
    if (all->running_fd >= 0)
        close(all->running_fd);
    mem_free(all->dir);
    mem_free(all);
}
