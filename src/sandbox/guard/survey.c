/* survey.c - lists the directories with names in them that matter to git. */
#include "sandbox/guard/survey.h"

#include "sandbox/guard/identity.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/plan/plan.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

const char *const git_names[N_GIT_NAMES] = {".git", "HEAD", "objects", "refs", "commondir"};

/* Of repositories of other kinds: see PLACE_OF_REPOSITORY in base/protected_places.c. */
static const char *const other_names[] = {".hg",    ".jj",    ".sl",  ".bzr",
                                          ".pijul", "_darcs", "_MTN", ".repo"};

bool names_are_git_dir(unsigned names)
{
    const unsigned own = GIT_NAME_OBJECTS | GIT_NAME_REFS;

    return names & GIT_NAME_HEAD && ((names & own) == own || names & GIT_NAME_COMMONDIR);
}

/* --- lists --- */

static void clear(struct directory_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        mem_free(l->items[i].path);
    l->n = 0;
}

void directory_list_done(struct directory_list *l)
{
    clear(l);
    mem_free(l->items);
    *l = (struct directory_list){0};
}

static void add(struct directory_list *l, struct directory d)
{
    if (l->n == l->room) {
        l->room = MAX((size_t)16, l->room * 2);
        l->items = mem_resize(l->items, l->room * sizeof *l->items);
    }
    l->items[l->n++] = d;
}

static int directory_cmp(const void *a, const void *b)
{
    return path_cmp(((const struct directory *)a)->path, ((const struct directory *)b)->path);
}

const struct directory *directory_list_find(const struct directory_list *l, const char *path)
{
    struct directory wanted = {.path = (char *)(uintptr_t)path};

    return l->n ? bsearch(&wanted, l->items, l->n, sizeof *l->items, directory_cmp) : NULL;
}

/* --- looking --- */

/* In letters of any case: there are file systems to which they are the same. */
static unsigned judge_git_name(void *self, const struct watched_dir *dir, const char *name)
{
    switch (name[0] | 0x20) { /* as a small letter */
    case '.' | 0x20:
    case '_' | 0x20:
    case 'h':
    case 'o':
    case 'r':
    case 'c':
    case 's':
        break;
    default:
        return 0;
    }
    if (strcasecmp(name, "rebase-merge") == 0 || strcasecmp(name, "sequencer") == 0)
        return GIT_NAME_TODO;
    for (unsigned i = 0; i < ARRAY_LEN(other_names); i++)
        if (strcasecmp(name, other_names[i]) == 0)
            return GIT_NAME_OTHER;
    for (unsigned i = 0; i < N_GIT_NAMES; i++)
        if (strcasecmp(name, git_names[i]) == 0)
            return 1u << i;
    return 0;
}

struct name_listing {
    struct directory_list *list;
    const struct watched_dir *last; /* whose names are added to the last item */
};

static void list_name(void *self, const struct watched_dir *dir, const char *name, unsigned meaning)
{
    struct name_listing *l = self;
    struct strbuf path = {0};

    if (l->last != dir) {
        watched_dir_path(dir, &path);
        add(l->list, (struct directory){.path = path.n ? strbuf_take(&path) : mem_strdup(""),
                                        .device = watched_dir_device(dir),
                                        .inode = watched_dir_inode(dir),
                                        .since = watched_dir_since(dir)});
        strbuf_done(&path);
    }
    l->last = dir;
    l->list->items[l->list->n - 1].names |= meaning;
}

struct err *survey_look(struct survey *s, const struct dir_unlocker *unlocker)
{
    s->time_ns = identity_now_ns();
    TRY(dir_watch_update(s->watch, unlocker));
    return survey_read(s);
}

struct err *survey_read(struct survey *s)
{
    struct name_listing listing = {.list = &s->now};

    s->fd = dir_watch_root_fd(s->watch);
    if (s->fd < 0)
        return err_new(ERR_SANDBOX, "%s no longer exists", s->root);
    s->has_changed = s->version != dir_watch_version(s->watch);
    if (!s->has_changed)
        return NULL;
    s->version = dir_watch_version(s->watch);
    clear(&s->now);
    dir_watch_each(s->watch, s->reader, list_name, &listing);
    if (s->now.n)
        qsort(s->now.items, s->now.n, sizeof *s->now.items, directory_cmp);
    return NULL;
}

/* --- what was there before --- */

static bool is_accepted(const struct survey *s)
{
    if (s->before.n != s->now.n)
        return false;
    for (size_t i = 0; i < s->now.n; i++) {
        const struct directory *a = &s->now.items[i], *b = &s->before.items[i];

        if (a->names != b->names || a->device != b->device || a->inode != b->inode ||
            strcmp(a->path, b->path) != 0)
            return false;
    }
    return true;
}

static void set_before(struct survey *s, const struct directory *items, size_t n)
{
    clear(&s->before);
    for (size_t i = 0; i < n; i++) {
        struct directory d = items[i];

        d.path = mem_strdup(d.path);
        add(&s->before, d);
    }
}

void survey_accept(struct survey *s)
{
    if (!is_accepted(s))
        set_before(s, s->now.items, s->now.n);
    s->before_version = s->version;
    s->before_ns = 0;
}

void survey_recall(struct survey *s, const struct directory *items, size_t n, int64_t time_ns)
{
    set_before(s, items, n);
    s->before_version = 0;
    s->before_ns = time_ns;
}

const struct directory *survey_find(const struct survey *s, const char *path)
{
    return directory_list_find(&s->now, path);
}

unsigned survey_names_before(const struct survey *s, const struct directory *d)
{
    const struct directory *before = directory_list_find(&s->before, d->path);

    return before && before->inode == d->inode ? before->names : 0;
}

/* Where only a time is known, by when it was made. */
static bool was_born_since(const struct survey *s, const struct directory *d)
{
    int fd = below_open_dir(s->fd, d->path, s->unlocks);
    struct identity id = {0};
    struct stat st;
    bool is_known = fd >= 0 && identity_look(fd, "", &st, &id) == 0 && id.born_ns;

    if (fd >= 0)
        close(fd);
    return !is_known || id.born_ns >= s->before_ns;
}

bool survey_is_new(const struct survey *s, const struct directory *d)
{
    return s->before_ns ? was_born_since(s, d) : d->since > s->before_version;
}

/* --- its life --- */

int survey_add_reader(struct dir_watch *watch)
{
    return dir_watch_add_reader(watch, &(struct dir_judge){.judge = judge_git_name});
}

struct err *survey_init(struct survey *s, struct dir_watch *watch)
{
    *s = (struct survey){.root = dir_watch_root(watch), .fd = -1};
    s->reader = survey_add_reader(watch);
    if (s->reader < 0)
        return err_new(ERR_INTERNAL, "too many readers of %s", s->root);
    s->watch = dir_watch_ref(watch);
    dir_watch_follow_files(watch);
    return NULL;
}

void survey_done(struct survey *s)
{
    if (s->watch)
        dir_watch_remove_reader(s->watch, s->reader);
    dir_watch_unref(s->watch);
    directory_list_done(&s->now);
    directory_list_done(&s->before);
    *s = (struct survey){.fd = -1};
}
