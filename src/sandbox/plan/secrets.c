/* secrets.c - what is hidden from commands whatever the settings say. */
#include "base/secret_places.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/plan/plan.h"
#include "sandbox/sandbox.h"
#include "sys/dir_names.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/missing_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- by name --- */

struct secret_list {
    struct path_list *list;
    const char *home; /* canonical or not; NULL: none */
    bool only_open;
    struct names_below names; /* of the home */
};

/* What the kernel closes to the person need not be hidden; in a home it may be opened again. */
static bool could_be_read(const char *path, const char *home)
{
    return (home && path_is_in(path, home)) || access(path, R_OK) == 0 || access(path, X_OK) == 0;
}

/* Most places are not there, which one call says; realpath() would look at every directory on the
 * way to each. */
static bool is_missing(int dir_fd, const char *path)
{
    return faccessat(dir_fd, path, F_OK, 0) < 0 && errno == ENOENT;
}

/* Mounts and rules are for the place itself, not for the links that lead to it. `path` has none up
 * to `base`, if that is given. */
static void add_there(const struct secret_list *s, const char *path, const char *base)
{
    char real[PATH_MAX];

    if (s->only_open && !could_be_read(path, s->home))
        return;
    if ((!base || below_has_link(base, path)) && realpath(path, real))
        path = arena_cstr(s->list->arena, str_of(real));
    path_list_add(s->list, path);
}

static void add_secret(const struct secret_list *s, const char *path, bool missing,
                       const char *base)
{
    if (!missing)
        add_there(s, path, base);
    else if (!s->only_open)
        path_list_add(s->list, path);
}

/* From the home on: the way there need not be walked for each. */
static void add_in_home(struct secret_list *s)
{
    char real[PATH_MAX];
    bool is_canonical = realpath(s->home, real) && strcmp(real, s->home) == 0;
    int fd = open(s->home, O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (const struct secret_place *p = secret_places_in_home; p->path; p++) {
        bool missing = names_below_lack(&s->names, p->path);
        const char *path;

        if (missing && s->only_open)
            continue;
        path = fs_join(s->list->arena, s->home, p->path);
        if (!missing)
            missing = fd >= 0 ? is_missing(fd, p->path) : is_missing(AT_FDCWD, path);
        add_secret(s, path, missing, is_canonical ? s->home : NULL);
    }
    if (fd >= 0)
        close(fd);
}

static void add_outside(struct secret_list *s, const char *path)
{
    add_secret(s, path, is_missing(AT_FDCWD, path), NULL);
}

static void add_of_system(struct secret_list *s)
{
    struct missing_set missing;

    missing_of_system_look(&missing);
    for (const struct secret_place *p = secret_places_of_system; p->path; p++)
        if (missing_of_system_has(&missing, p->path))
            add_secret(s, p->path, /* missing= */ true, NULL);
        else
            add_outside(s, p->path);
}

static void add_all(struct secret_list *s, const char *keel_home)
{
    names_below_init_home(&s->names, s->list->arena, s->home);
    if (s->home)
        add_in_home(s);
    add_of_system(s);
    if (keel_home)
        add_outside(s, keel_home);
    /* One's own home in them stays visible. */
    if (!s->home || strcmp(s->home, "/root") != 0)
        add_outside(s, "/root");
    if (!s->home || strcmp(s->home, "/home") != 0)
        add_outside(s, "/home");
}

const char *const *sandbox_secret_places(struct arena *a, const char *home, const char *keel_home,
                                         size_t *ret_n)
{
    struct path_list l = {.arena = a};

    add_all(&(struct secret_list){.list = &l, .home = home}, keel_home);
    *ret_n = l.n;
    return l.paths;
}

void sandbox_find_secrets(struct path_list *l, const char *home, const char *keel_home)
{
    add_all(&(struct secret_list){.list = l, .home = home, .only_open = true}, keel_home);
}

/* --- by variables --- */

static bool is_plausible(const char *real, const char *home, const char *workspace)
{
    struct stat st;

    return stat(real, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)) &&
           !(home && path_is_in(home, real)) && !(workspace && path_is_in(workspace, real));
}

static void add_named(struct path_list *l, const char *path, const char *home,
                      const char *workspace)
{
    char real[PATH_MAX];

    if (realpath(path, real) && is_plausible(real, home, workspace))
        path_list_add(l, arena_cstr(l->arena, str_of(real)));
}

/* All programs that follow the XDG base directories keep their files there then. */
static void find_in_moved_directory(struct path_list *l, struct str moved, struct str usual,
                                    const char *home, const char *workspace)
{
    const char *directory = arena_cstr(l->arena, moved);

    if (!str_starts(moved, S("/")) ||
        (home && strcmp(directory, fs_join(l->arena, home, usual.p)) == 0))
        return;
    for (const struct secret_place *p = secret_places_in_home; p->path; p++) {
        struct str path = str_of(p->path);

        if (str_starts(path, usual) && p->path[usual.n] == '/')
            add_named(l, fs_join(l->arena, directory, p->path + usual.n + 1), home, workspace);
    }
}

void sandbox_find_named_secrets(struct path_list *l, const char *const *environment,
                                const char *home, const char *workspace)
{
    static const struct {
        struct str variable, usual;
    } directories[] = {
        {S("XDG_CACHE_HOME"), S(".cache")},
        {S("XDG_CONFIG_HOME"), S(".config")},
        {S("XDG_DATA_HOME"), S(".local/share")},
        {S("XDG_STATE_HOME"), S(".local/state")},
    };

    for (const struct secret_variable *v = secret_variables; environment && v->name; v++) {
        struct str rest = env_get(environment, str_of(v->name)), named;

        while (str_split(&rest, ':', &named)) { /* KUBECONFIG is a list */
            const char *path = arena_cstr(l->arena, named);

            if (str_starts(named, S("/")))
                add_named(l, v->below ? fs_join(l->arena, path, v->below) : path, home, workspace);
        }
    }
    for (size_t i = 0; environment && i < ARRAY_LEN(directories); i++)
        find_in_moved_directory(l, env_get(environment, directories[i].variable),
                                directories[i].usual, home, workspace);
}
