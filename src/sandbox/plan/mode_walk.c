/* mode_walk.c - two threads take directories from one queue and look at the mode of each entry.
 *
 * The shallowest come first: that is where configuration lies, and the large trees are programs.
 * The order in which two threads find something says nothing, so what was found is sorted before
 * anything is cut off. */
#include "sandbox/plan/mode_walk.h"

#include "sandbox/plan/plan.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/private_mode.h"
#include "sys/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    MAX_LOOKED_AT = 20000, /* entries, for each question */
    MAX_PRIVATE = 512,     /* each is a mount; then the directories that hold them */
    MAX_PRIVATE_PLACES = 2 * MAX_PRIVATE,
    MAX_NOT_PUBLIC = 256, /* then whole trees */
    MAX_IN_ONE = 16,      /* that are not public, then the whole directory */
    LISTING_BYTES = 32768,
};

/* Directories are read in this order. */
enum { TURN_HOME, TURN_SHARED, TURN_OTHERS, N_TURNS };

/* Where administrators put what is theirs. The rest of /usr comes in packages. */
static const char *const public_trees[] = {"/etc", "/opt", "/usr/local"};

/* Where programs of the system keep what is theirs, and how many levels of it are looked at. */
static const struct private_tree {
    const char *path;
    int n_levels, turn;
} private_trees[] = {
    {"/etc", 7, TURN_SHARED},        {"/opt", 3, TURN_SHARED},
    {"/srv", 2, TURN_OTHERS},        {"/usr/local/etc", 5, TURN_SHARED},
    {"/var", 1, TURN_OTHERS},        {"/var/cache", 2, TURN_OTHERS},
    {"/var/lib", 2, TURN_OTHERS},    {"/var/log", 2, TURN_OTHERS},
    {"/var/spool", 3, TURN_OTHERS},  {"/sys/fs", 1, TURN_OTHERS},
    {"/sys/kernel", 1, TURN_OTHERS},
};

/* What is private counts in the order of its trees when there is too much: the home, then those
 * above. */
enum { RANK_HOME, RANK_SYSTEM, N_RANKS = RANK_SYSTEM + ARRAY_LEN(private_trees) };

/* Of the home: in it only what has a dot, as these have. */
static const char *const private_in_home[] = {".config", ".local/share", ".local/state"};

/* A directory that is to be read, and what for. */
struct walked_dir {
    const char *path;
    int n_private_levels; /* this one and those below it; 0: what is private was found */
    bool finds_not_public;
    bool is_tree; /* one of those above, not found in another */
    bool only_dotted;
    int turn, rank;
};

struct walked_dirs {
    struct walked_dir *items;
    size_t n, room, n_taken;
};

struct found_place {
    const char *path;
    int rank; /* what is not public has none */
};

struct found_places {
    struct found_place *items;
    size_t n, room;
};

/* What one thread has to itself. */
struct mode_walker {
    struct mode_walk *walk;
    struct arena arena;
    struct walked_dirs below; /* of the directory that is read */
    struct found_places found_private, not_public;
    _Alignas(struct dirent) char listing[LISTING_BYTES];
};

struct mode_walk {
    struct mode_walk_options options;
    struct private_user user;
    int root_fd;
    struct work_ahead *helper;
    atomic_size_t n_public_looked_at, n_private_looked_at[N_RANKS];
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct walked_dirs queues[N_TURNS];
    unsigned n_reading; /* threads that may still find directories */
    struct arena arena; /* of the queues */
    struct mode_walker walkers[2];
};

static void add_dir(struct arena *a, struct walked_dirs *l, struct walked_dir dir)
{
    l->items = arena_grow(a, l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n++] = dir;
}

static void add_found(struct arena *a, struct found_places *l, const char *path, int rank)
{
    l->items = arena_grow(a, l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n++] = (struct found_place){path, rank};
}

/* --- one entry --- */

/* A mode means nothing there, and what commands make there takes no room from anything else. */
static bool is_opened(const struct mode_walk *w, const char *path)
{
    const struct path_list *opened = w->options.opened;

    for (size_t i = 0; opened && i < opened->n; i++)
        if (path_is_in(path, opened->paths[i]))
            return true;
    return false;
}

/* Files that everybody may read, and directories that everybody may enter. */
static bool is_public(const struct stat *st)
{
    return st->st_mode & (S_ISDIR(st->st_mode) ? S_IXOTH : S_IROTH);
}

/* What the person may not read either needs no hiding. */
static bool is_for_some(int dir, const char *name, const struct stat *st)
{
    return !is_public(st) &&
           faccessat(dir, name, S_ISDIR(st->st_mode) ? X_OK : R_OK, AT_EACCESS) == 0;
}

/* A file that everybody may read is neither private nor for some; most are like that. */
static void look_at(struct mode_walker *t, const struct walked_dir *dir, int fd, const char *name)
{
    const struct mode_walk *w = t->walk;
    struct walked_dir below = {.turn = dir->turn, .rank = dir->rank};
    struct stat st;
    bool is_dir;

    if ((dir->only_dotted && name[0] != '.') || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    is_dir = S_ISDIR(st.st_mode);
    if (!is_dir && (!S_ISREG(st.st_mode) || is_public(&st)))
        return;
    below.path = fs_join(&t->arena, dir->path, name);
    if (is_opened(w, below.path))
        return;
    if (dir->n_private_levels && mode_is_private(&w->user, below.path, &st))
        add_found(&t->arena, &t->found_private, below.path, dir->rank);
    else if (dir->n_private_levels && is_dir)
        below.n_private_levels = dir->n_private_levels - 1;
    if (dir->finds_not_public && is_for_some(fd, name, &st))
        add_found(&t->arena, &t->not_public, below.path, /* rank= */ 0);
    else if (dir->finds_not_public)
        below.finds_not_public = is_dir;
    if (below.n_private_levels || below.finds_not_public)
        add_dir(&t->arena, &t->below, below);
}

/* --- one directory --- */

/* How many of n more entries a question may still look at. */
static size_t claim_public(struct mode_walk *w, size_t n)
{
    size_t before = atomic_fetch_add(&w->n_public_looked_at, n);

    return before >= MAX_LOOKED_AT ? 0 : MIN(n, MAX_LOOKED_AT - before);
}

/* A tree takes nothing from those that count before it, whichever is read first. */
static size_t claim_private(struct mode_walk *w, int rank, size_t n)
{
    size_t before = atomic_fetch_add(&w->n_private_looked_at[rank], n);

    for (int i = 0; i < rank; i++)
        before += atomic_load(&w->n_private_looked_at[i]);
    return before >= MAX_LOOKED_AT ? 0 : MIN(n, MAX_LOOKED_AT - before);
}

static const struct dirent *next_entry(const struct mode_walker *t, size_t n_bytes, size_t *at)
{
    const struct dirent *entry = (const struct dirent *)(const void *)(t->listing + *at);

    if (*at >= n_bytes)
        return NULL;
    *at += entry->d_reclen;
    return entry;
}

/* What one call has listed. Where a question has seen enough, it drops out of `dir`. */
static void look_at_listed(struct mode_walker *t, struct walked_dir *dir, int fd, size_t n_bytes)
{
    size_t n = 0, n_private = 0, n_public = 0;
    const struct dirent *entry;

    for (size_t at = 0; next_entry(t, n_bytes, &at);)
        n++;
    if (dir->n_private_levels)
        n_private = claim_private(t->walk, dir->rank, n);
    if (dir->finds_not_public)
        n_public = claim_public(t->walk, n);
    for (size_t at = 0, i = 0; (entry = next_entry(t, n_bytes, &at)); i++) {
        if (i >= n_private)
            dir->n_private_levels = 0;
        if (i >= n_public)
            dir->finds_not_public = false;
        if (i >= n_private && i >= n_public)
            break;
        if (fs_entry_may_be_plain(entry))
            look_at(t, dir, fd, entry->d_name);
    }
}

/* A tree may be a link: then what is public of it has another name. */
static int open_dir(const struct mode_walk *w, struct walked_dir *dir)
{
    const char *path = w->root_fd >= 0 ? dir->path + 1 : dir->path;
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = openat(w->root_fd, path, flags | O_NOFOLLOW);

    if (fd >= 0 || !dir->is_tree || (errno != ELOOP && errno != ENOTDIR))
        return fd;
    dir->finds_not_public = false;
    return dir->n_private_levels ? openat(w->root_fd, path, flags) : -1;
}

static void read_directory(struct mode_walker *t, struct walked_dir dir)
{
    size_t before = t->not_public.n;
    AUTO_FD fd = open_dir(t->walk, &dir);
    ssize_t n;

    while (fd >= 0 && (dir.n_private_levels || dir.finds_not_public) &&
           (n = getdents64(fd, t->listing, sizeof t->listing)) > 0)
        look_at_listed(t, &dir, fd, (size_t)n);
    if (t->not_public.n - before <= MAX_IN_ONE || dir.is_tree)
        return;
    t->not_public.n = before;
    add_found(&t->arena, &t->not_public, dir.path, /* rank= */ 0);
}

/* --- all of them --- */

static bool take_dir(struct mode_walk *w, struct walked_dir *ret_dir)
{
    for (int turn = 0; turn < N_TURNS; turn++) {
        struct walked_dirs *q = &w->queues[turn];

        if (q->n_taken < q->n) {
            *ret_dir = q->items[q->n_taken++];
            return true;
        }
    }
    return false;
}

/* By each of the threads. */
static struct err *mode_walker_run(void *arg)
{
    struct mode_walker *t = arg;
    struct mode_walk *w = t->walk;
    struct walked_dir dir;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        if (take_dir(w, &dir)) {
            w->n_reading++;
            pthread_mutex_unlock(&w->lock);
            t->below.n = 0;
            read_directory(t, dir);
            pthread_mutex_lock(&w->lock);
            w->n_reading--;
            for (size_t i = 0; i < t->below.n; i++)
                add_dir(&w->arena, &w->queues[dir.turn], t->below.items[i]);
            if (t->below.n || !w->n_reading)
                pthread_cond_signal(&w->changed);
        } else if (w->n_reading) {
            pthread_cond_wait(&w->changed, &w->lock);
        } else {
            break;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void add_tree(struct mode_walk *w, struct walked_dir tree)
{
    tree.is_tree = true;
    if (!is_opened(w, tree.path))
        add_dir(&w->arena, &w->queues[tree.turn], tree);
}

static void add_trees_of_home(struct mode_walk *w, const char *home)
{
    struct walked_dir tree = {home, .n_private_levels = 2, .turn = TURN_HOME, .rank = RANK_HOME};

    tree.only_dotted = true;
    add_tree(w, tree);
    tree.only_dotted = false;
    for (size_t i = 0; i < ARRAY_LEN(private_in_home); i++) {
        tree.path = fs_join(&w->arena, home, private_in_home[i]);
        add_tree(w, tree);
    }
}

static void add_private_trees(struct mode_walk *w)
{
    for (size_t i = 0; i < ARRAY_LEN(private_trees); i++) {
        const struct private_tree *p = &private_trees[i];

        add_tree(w, (struct walked_dir){.path = p->path,
                                        .n_private_levels = p->n_levels,
                                        .turn = p->turn,
                                        .rank = RANK_SYSTEM + (int)i});
    }
}

/* One that is read anyway answers both questions. */
static void add_public_trees(struct mode_walk *w)
{
    struct walked_dirs *q = &w->queues[TURN_SHARED];

    for (size_t i = 0; i < ARRAY_LEN(public_trees); i++) {
        size_t at = 0;

        while (at < q->n && strcmp(q->items[at].path, public_trees[i]) != 0)
            at++;
        if (at == q->n)
            add_tree(w, (struct walked_dir){.path = public_trees[i], .turn = TURN_SHARED});
        if (at < q->n)
            q->items[at].finds_not_public = true;
    }
}

struct mode_walk *mode_walk_begin(const struct mode_walk_options *options)
{
    struct mode_walk *w = mem_alloc(sizeof *w);
    const char *root = options->root;

    w->options = *options;
    w->user = private_user_now(options->home);
    w->root_fd = root ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : AT_FDCWD;
    BUG_IF(root && w->root_fd < 0);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    for (size_t i = 0; i < ARRAY_LEN(w->walkers); i++)
        w->walkers[i].walk = w;
    if (options->finds_private && options->home)
        add_trees_of_home(w, options->home);
    if (options->finds_private && w->user.uid == 0) /* from others, modes keep it */
        add_private_trees(w);
    if (options->finds_not_public)
        add_public_trees(w);
    if (w->queues[TURN_SHARED].n) /* a home alone is soon done */
        w->helper = work_ahead_begin(mode_walker_run, &w->walkers[1]);
    return w;
}

/* --- what was found --- */

static size_t count_slashes(const char *path)
{
    size_t n = 0;

    for (; *path; path++)
        n += *path == '/';
    return n;
}

static int found_cmp(const void *a, const void *b)
{
    const struct found_place *left = a, *right = b;
    size_t n_left = count_slashes(left->path), n_right = count_slashes(right->path);

    if (left->rank != right->rank)
        return left->rank - right->rank;
    if (n_left != n_right)
        return n_left < n_right ? -1 : 1;
    return path_cmp(left->path, right->path);
}

/* Adds what the other thread has found, and sorts it. */
static void gather(struct arena *a, struct found_places *all, const struct found_places *others)
{
    for (size_t i = 0; i < others->n; i++)
        add_found(a, all, others->items[i].path, others->items[i].rank);
    if (all->n)
        qsort(all->items, all->n, sizeof *all->items, found_cmp);
}

/* The tree that it lies in: an entry of one of the public ones. */
static struct str tree_of(const char *path)
{
    struct str tree = str_of(path);

    for (size_t i = 0; i < ARRAY_LEN(public_trees); i++)
        if (path_is_in(path, public_trees[i])) {
            size_t start = strlen(public_trees[i]) + 1;
            size_t n = str_find_char(str_skip(tree, start), '/');

            return n == STR_NONE ? tree : str_slice(tree, 0, start + n);
        }
    return tree;
}

/* The trees come before what was found in them. */
static bool is_tree(const struct mode_walk *w, struct str path)
{
    for (int turn = 0; turn < N_TURNS; turn++) {
        const struct walked_dirs *q = &w->queues[turn];

        for (size_t i = 0; i < q->n && q->items[i].is_tree; i++)
            if (str_is(path, q->items[i].path))
                return true;
    }
    return false;
}

/* What comes after too many is hidden with the directory that holds it. */
static struct str private_place(const struct mode_walk *w, const char *path, size_t n_before)
{
    struct str file = str_of(path), directory = str_slice(file, 0, str_rfind_char(file, '/'));

    return n_before < MAX_PRIVATE || is_tree(w, directory) ? file : directory;
}

static void put_private(const struct mode_walk *w, struct path_list *l,
                        const struct found_places *found)
{
    size_t before = l->n;

    for (size_t i = 0; i < found->n && l->n - before < MAX_PRIVATE_PLACES; i++) {
        struct str place = private_place(w, found->items[i].path, i);

        if (l->n == before || !str_is(place, l->paths[l->n - 1]))
            path_list_add(l, arena_cstr(l->arena, place));
    }
}

static void put_not_public(struct path_list *l, const struct found_places *found)
{
    size_t before = l->n;

    for (size_t i = 0; i < found->n; i++) {
        const char *path = found->items[i].path;
        struct str place = l->n - before < MAX_NOT_PUBLIC ? str_of(path) : tree_of(path);

        if (l->n == before || !str_is(place, l->paths[l->n - 1]))
            path_list_add(l, arena_cstr(l->arena, place));
    }
}

void mode_walk_end(struct mode_walk *w, struct path_list *private_places,
                   struct path_list *not_public)
{
    struct mode_walker *own, *other;

    if (!w)
        return;
    own = &w->walkers[0];
    other = &w->walkers[1];
    err_ignore(mode_walker_run(own), "a walk does not fail");
    err_ignore(work_ahead_end(w->helper), "a walk does not fail");
    gather(&own->arena, &own->found_private, &other->found_private);
    gather(&own->arena, &own->not_public, &other->not_public);
    if (private_places)
        put_private(w, private_places, &own->found_private);
    if (not_public)
        put_not_public(not_public, &own->not_public);
    if (w->root_fd >= 0)
        close(w->root_fd);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    arena_done(&own->arena);
    arena_done(&other->arena);
    arena_done(&w->arena);
    mem_free(w);
}
