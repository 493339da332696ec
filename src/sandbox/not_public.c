/* not_public.c - what of the system's public directories only some may read: this person, or their
 * group.
 *
 * Neither mounts nor Landlock go by modes, and nobody but root can give up a group, so such files
 * have to be found by name. The shallowest come first: that is where configuration lies, and the
 * large trees are programs. */
#include "sandbox/sandbox.h"

#include "sandbox/plan.h"
#include "sys/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_LOOKED_AT = 20000, /* entries */
    MAX_FOUND = 256,       /* then whole trees: each is a mount */
    MAX_IN_ONE = 16,       /* then the whole directory */
};

/* Where administrators put what is theirs. The rest of /usr comes in packages. */
static const char *const places[] = {"/etc", "/opt", "/usr/local"};

struct public_walk {
    struct path_list *found;
    size_t n_before;
    const struct path_list *opened;
    struct path_list directories; /* that are to be read, in their order */
    size_t n_looked_at;
};

static bool is_opened(const struct public_walk *w, const char *path)
{
    for (size_t i = 0; i < w->opened->n; i++)
        if (path_is_in(path, w->opened->paths[i]))
            return true;
    return false;
}

static bool is_place(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (strcmp(path, places[i]) == 0)
            return true;
    return false;
}

/* The tree that it lies in: an entry of one of the places. */
static struct str tree_of(const char *path)
{
    struct str tree = str_of(path);

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (path_is_in(path, places[i])) {
            size_t start = strlen(places[i]) + 1;
            size_t n = str_find_char(str_skip(tree, start), '/');

            return n == STR_NONE ? tree : str_slice(tree, 0, start + n);
        }
    return tree;
}

static void add_found(struct public_walk *w, const char *path)
{
    struct path_list *l = w->found;
    struct str tree = l->n - w->n_before < MAX_FOUND ? str_of(path) : tree_of(path);

    if (l->n == w->n_before || !str_is(tree, l->paths[l->n - 1]))
        path_list_add(l, arena_cstr(l->arena, tree));
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

/* True: it is only for some. */
static bool look_at(struct public_walk *w, const char *directory, int dir,
                    const struct dirent *entry)
{
    const char *name = entry->d_name;
    struct stat st;
    const char *path;

    if (!fs_entry_may_be_plain(entry) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
        return false;
    if (S_ISREG(st.st_mode) && is_public(&st))
        return false;
    path = fs_join(w->directories.arena, directory, name);
    if (is_opened(w, path))
        return false;
    if (is_for_some(dir, name, &st)) {
        add_found(w, path);
        return true;
    }
    if (S_ISDIR(st.st_mode))
        path_list_add(&w->directories, path);
    return false;
}

static void read_directory(struct public_walk *w, const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    size_t n_found = 0, before = w->found->n;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)) && w->n_looked_at++ < MAX_LOOKED_AT)
        n_found += look_at(w, path, dirfd(dir), entry);
    if (n_found > MAX_IN_ONE && !is_place(path)) {
        w->found->n = before;
        add_found(w, path);
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

void sandbox_find_not_public(struct path_list *l, const struct path_list *opened)
{
    AUTO(arena) struct arena scratch = {0};
    struct public_walk w = {
        .found = l, .n_before = l->n, .opened = opened, .directories.arena = &scratch};

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        path_list_add(&w.directories, places[i]);
    for (size_t i = 0; i < w.directories.n && w.n_looked_at < MAX_LOOKED_AT; i++)
        read_directory(&w, w.directories.paths[i]);
}
