/* survey.c - reads directories once, and again when they have changed. */
#include "sandbox/survey.h"

#include "sandbox/below.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_DIRECTORIES = 1 << 20,
    /* Times of files advance with the kernel's tick, of 10 ms at most. */
    TICK_NS = 20000000,
};

const char *const git_names[N_GIT_NAMES] = {".git", "HEAD", "objects", "refs", "commondir"};

bool names_are_git_dir(unsigned names)
{
    const unsigned own = GIT_NAME_OBJECTS | GIT_NAME_REFS;

    return names & GIT_NAME_HEAD && ((names & own) == own || names & GIT_NAME_COMMONDIR);
}

bool directory_has_new_repository(const struct directory *d)
{
    unsigned before = d->is_new ? 0 : d->before;

    return (d->names & GIT_NAME_DOT_GIT && !(before & GIT_NAME_DOT_GIT)) ||
           (names_are_git_dir(d->names) && !names_are_git_dir(before));
}

/* --- a table by path --- */

static struct directory **slot_of(const struct survey *s, const char *path)
{
    size_t at = str_hash(str_of(path)) & (s->n_slots - 1);

    while (s->slots[at] && strcmp(s->slots[at]->path, path) != 0)
        at = (at + 1) & (s->n_slots - 1);
    return &s->slots[at];
}

static void fill_table(struct survey *s, size_t n_slots)
{
    mem_free(s->slots);
    s->slots = mem_alloc(n_slots * sizeof(struct directory *));
    s->n_slots = n_slots;
    for (size_t i = 0; i < s->n; i++)
        *slot_of(s, s->all[i]->path) = s->all[i];
}

const struct directory *survey_find(const struct survey *s, const char *path)
{
    return *slot_of(s, path);
}

static void add(struct survey *s, struct directory *above, const char *name)
{
    bool is_below_root = above && !*above->path;
    size_t n_above = above && !is_below_root ? strlen(above->path) + 1 : 0, n = strlen(name);
    struct directory *d = mem_alloc(sizeof *d + n_above + n + 1);

    if (n_above) {
        memcpy(d->path, above->path, n_above - 1);
        d->path[n_above - 1] = '/';
    }
    memcpy(d->path + n_above, name, n);
    d->above = above;
    d->is_new = d->must_be_read = true;
    if (s->n == s->room) {
        s->room = MAX(64, s->room * 2);
        s->all = mem_resize(s->all, s->room * sizeof(struct directory *));
    }
    s->all[s->n++] = d;
    if (s->n * 2 > s->n_slots)
        fill_table(s, s->n_slots * 2);
    else
        *slot_of(s, d->path) = d;
}

/* --- looking --- */

static bool is_directory(int dir, const struct dirent *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static unsigned git_name_of(const char *name)
{
    for (unsigned i = 0; i < N_GIT_NAMES; i++)
        if (strcmp(name, git_names[i]) == 0)
            return 1u << i;
    return 0;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static char *path_of_entry(const struct directory *d, const char *name, char path[4096 + 256])
{
    char *end = stpcpy(path, d->path);

    if (end > path)
        *end++ = '/';
    stpcpy(end, name);
    return path;
}

/* .git/objects/ab: there are hundreds, git makes them all the time, and nobody works in them. */
static bool is_fan_out(const struct directory *d, const char *name)
{
    return strspn(name, "0123456789abcdef") == 2 && !name[2] &&
           str_ends(str_of(d->path), S(".git/objects"));
}

static void read_entries(struct survey *s, struct directory *d, DIR *entries)
{
    const struct dirent *entry;
    char path[4096 + 256];

    while ((entry = readdir(entries))) {
        if (is_dots(entry->d_name))
            continue;
        d->names |= git_name_of(entry->d_name);
        /* What is deeper no program reaches by its path. */
        if (strlen(d->path) < 4096 && is_directory(dirfd(entries), entry) &&
            !is_fan_out(d, entry->d_name) && !survey_find(s, path_of_entry(d, entry->d_name, path)))
            add(s, d, entry->d_name);
    }
}

/* So close to now that a change which comes yet may get the same time. */
static bool is_young(const struct timespec *changed)
{
    int64_t granule_ns = changed->tv_nsec ? TICK_NS : 2000000000; /* some file systems count in s */
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - changed->tv_sec) * 1000000000 + (now.tv_nsec - changed->tv_nsec) <
           granule_ns;
}

/* What cannot be read, nobody can use; should that change, so does its time. */
static void read_directory(struct survey *s, struct directory *d)
{
    int fd = below_open_dir(s->fd, d->path);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;
    struct stat st;

    d->names = 0;
    if (entries && fstat(fd, &st) == 0) {
        d->device = st.st_dev;
        d->inode = st.st_ino;
        d->changed = st.st_ctim;
        d->must_be_read = is_young(&st.st_ctim);
        read_entries(s, d, entries);
    }
    if (entries)
        closedir(entries);
    else if (fd >= 0)
        close(fd);
}

/* Whether the directories above are still there has been seen before. */
static void look_at(struct survey *s, struct directory *d)
{
    struct stat st;
    bool is_other;

    d->before = d->names;
    if ((d->above && d->above->is_gone) ||
        fstatat(s->fd, d->path, &st, AT_SYMLINK_NOFOLLOW | (*d->path ? 0 : AT_EMPTY_PATH)) < 0 ||
        !S_ISDIR(st.st_mode)) {
        d->is_gone = s->has_changed = true;
        return;
    }
    if (!d->is_new && (st.st_dev != d->device || st.st_ino != d->inode)) {
        d->is_new = true; /* another one in its place */
        d->before = 0;
    }
    is_other = d->is_new || st.st_ctim.tv_sec != d->changed.tv_sec ||
               st.st_ctim.tv_nsec != d->changed.tv_nsec;
    if (is_other || d->must_be_read) {
        d->changed = st.st_ctim;
        d->device = st.st_dev;
        d->inode = st.st_ino;
        read_directory(s, d);
    }
    s->has_changed |= is_other || d->names != d->before;
}

static void drop_gone(struct survey *s)
{
    size_t n = 0;

    /* What is in one that is gone is gone too, so nobody points at what is freed. */
    for (size_t i = 0; i < s->n; i++)
        if (!s->all[i]->is_gone)
            s->all[n++] = s->all[i];
        else
            mem_free(s->all[i]);
    if (n < s->n) {
        s->n = n;
        fill_table(s, s->n_slots);
    }
}

struct err *survey_look(struct survey *s)
{
    s->has_changed = false;
    for (size_t i = 0; i < s->n; i++)
        s->all[i]->is_new = false;
    if (s->n == 0)
        add(s, NULL, "");
    for (size_t i = 0; i < s->n; i++) { /* grows meanwhile */
        look_at(s, s->all[i]);
        if (s->n > MAX_DIRECTORIES)
            return err_hint(
                err_new(ERR_SANDBOX, "%s holds more than %d directories", s->root, MAX_DIRECTORIES),
                "commands run in a workspace that keel can survey: start it in a "
                "smaller directory");
    }
    drop_gone(s);
    return NULL;
}

struct err *survey_init(struct survey *s, const char *root)
{
    *s = (struct survey){.fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (s->fd < 0)
        return err_errno(ERR_SANDBOX, errno, "cannot open %s", root);
    s->root = mem_strdup(root);
    fill_table(s, 64);
    return NULL;
}

void survey_done(struct survey *s)
{
    for (size_t i = 0; i < s->n; i++)
        mem_free(s->all[i]);
    mem_free(s->all);
    mem_free(s->slots);
    mem_free(s->root);
    if (s->fd >= 0)
        close(s->fd);
    *s = (struct survey){.fd = -1};
}
