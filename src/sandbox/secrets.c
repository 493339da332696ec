/* secrets.c - what is hidden from commands whatever the settings say. */
#include "base/secret_places.h"
#include "sandbox/below.h"
#include "sandbox/plan.h"
#include "sandbox/sandbox.h"
#include "sys/fs.h"
#include "sys/private_mode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* --- by name --- */

struct secret_list {
    struct path_list *list;
    const char *home; /* canonical or not; NULL: none */
    bool only_open;
};

/* What is not there, or closed to the person by the kernel, need not be hidden. */
static bool could_be_read(const char *path, const char *home)
{
    if (home && path_is_in(path, home))
        return access(path, F_OK) == 0 || errno != ENOENT;
    return access(path, R_OK) == 0 || access(path, X_OK) == 0;
}

/* Mounts and rules are for the place itself, not for the links that lead to it. `path` has none up
 * to `base`, if that is given. Most places are not there, which is the cheapest to see. */
static void add_secret(const struct secret_list *s, const char *path, const char *base)
{
    char real[PATH_MAX];

    if (s->only_open && !could_be_read(path, s->home))
        return;
    if ((!base || below_has_link(base, path)) && realpath(path, real))
        path = arena_cstr(s->list->arena, str_of(real));
    path_list_add(s->list, path);
}

static void add_in_home(const struct secret_list *s)
{
    char real[PATH_MAX];
    bool is_canonical = realpath(s->home, real) && strcmp(real, s->home) == 0;

    for (const struct secret_place *p = secret_places_in_home; p->path; p++)
        add_secret(s, fs_join(s->list->arena, s->home, p->path), is_canonical ? s->home : NULL);
}

static void add_all(const struct secret_list *s, const char *keel_home)
{
    if (s->home)
        add_in_home(s);
    for (const struct secret_place *p = secret_places_of_system; p->path; p++)
        add_secret(s, p->path, NULL);
    if (keel_home)
        add_secret(s, keel_home, NULL);
    /* One's own home in them stays visible. */
    if (!s->home || strcmp(s->home, "/root") != 0)
        add_secret(s, "/root", NULL);
    if (!s->home || strcmp(s->home, "/home") != 0)
        add_secret(s, "/home", NULL);
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

/* --- by mode --- */

enum {
    MAX_PRIVATE = 512, /* places: each of them is a mount */
    MAX_LOOKED_AT = 20000,
};

struct private_search {
    struct path_list *list;
    struct private_user user;
    size_t n_before, n_looked_at;
};

/* Adds what is private in the directory, and below it as deep as is said. */
static void find_private(struct private_search *s, const char *directory, int depth,
                         bool only_dotted)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    struct stat st;

    while (dir && (entry = readdir(dir)) && s->n_looked_at++ < MAX_LOOKED_AT &&
           s->list->n - s->n_before < MAX_PRIVATE) {
        const char *path;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (only_dotted && entry->d_name[0] != '.') ||
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
            continue;
        path = fs_join(s->list->arena, directory, entry->d_name);
        if (mode_is_private(&s->user, path, &st))
            path_list_add(s->list, path);
        else if (S_ISDIR(st.st_mode) && depth > 0)
            find_private(s, path, depth - 1, /* only_dotted= */ false);
    }
    if (dir)
        closedir(dir);
}

/* Where programs of the system keep what is theirs, and how deep it lies there. */
static const struct {
    const char *path;
    int depth;
} system_places[] = {
    {"/etc", 6},       {"/opt", 2},     {"/srv", 1},     {"/usr/local/etc", 4}, {"/var", 0},
    {"/var/cache", 1}, {"/var/lib", 1}, {"/var/log", 1}, {"/var/spool", 2},
};

void sandbox_find_private(struct path_list *l, const char *home)
{
    struct private_search s = {.list = l, .user = private_user_now(home), .n_before = l->n};

    if (home) {
        find_private(&s, home, 1, /* only_dotted= */ true);
        find_private(&s, fs_join(l->arena, home, ".config"), 1, false);
        find_private(&s, fs_join(l->arena, home, ".local/share"), 1, false);
        find_private(&s, fs_join(l->arena, home, ".local/state"), 1, false);
    }
    for (size_t i = 0; s.user.uid == 0 && i < ARRAY_LEN(system_places); i++)
        find_private(&s, system_places[i].path, system_places[i].depth, false);
}
