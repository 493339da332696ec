/* secrets.c - what is hidden from commands whatever the settings say. */
#include "base/secret_places.h"
#include "sandbox/below.h"
#include "sandbox/sandbox.h"
#include "sys/fs.h"
#include "sys/private_mode.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* --- by name --- */

/* Mounts and rules are for the place itself, not for the links that lead to it. */
static void add_real(struct path_list *l, const char *path)
{
    char real[PATH_MAX];

    path_list_add(l, realpath(path, real) ? arena_cstr(l->arena, str_of(real)) : path);
}

/* Few are links, so home is looked at but once. */
static void add_in_home(struct path_list *l, const char *home)
{
    char real[PATH_MAX];
    bool is_canonical = realpath(home, real) && strcmp(real, home) == 0;

    for (const struct secret_place *p = secret_places_in_home; p->path; p++) {
        const char *path = fs_join(l->arena, home, p->path);

        if (is_canonical && !below_has_link(home, path))
            path_list_add(l, path);
        else
            add_real(l, path);
    }
}

const char *const *sandbox_secret_places(struct arena *a, const char *home, const char *keel_home,
                                         size_t *ret_n)
{
    struct path_list l = {.arena = a};

    if (home)
        add_in_home(&l, home);
    for (const struct secret_place *p = secret_places_of_system; p->path; p++)
        add_real(&l, p->path);
    if (keel_home)
        add_real(&l, keel_home);
    /* One's own home in them stays visible. */
    if (!home || strcmp(home, "/root") != 0)
        add_real(&l, "/root");
    if (!home || strcmp(home, "/home") != 0)
        add_real(&l, "/home");
    *ret_n = l.n;
    return l.paths;
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
