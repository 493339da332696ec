/* secrets.c - what is hidden from commands whatever the settings say. */
#include "sandbox/sandbox.h"

#include "sandbox/below.h"
#include "sys/fs.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct list {
    struct arena *arena;
    const char **paths;
    size_t n, room;
};

static void add(struct list *l, const char *path)
{
    l->paths = arena_grow(l->arena, l->paths, l->n, &l->room, sizeof *l->paths);
    l->paths[l->n++] = path;
}

static const char *const secrets_in_home[] = {
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".netrc",
    ".npmrc",
    ".git-credentials",
    /* and those of other programs */
    ".boto",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".gem/credentials",
    ".local/share/keyrings",
    ".m2/settings-security.xml",
    ".my.cnf",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
};

/* What only root could read. */
static const char *const secrets_of_system[] = {
    "/etc/gshadow", "/etc/gshadow-", "/etc/shadow", "/etc/shadow-", "/etc/ssl/private",
};

/* Mounts and rules are for the place itself, not for the links that lead to it. */
static void add_real(struct list *l, const char *path)
{
    char real[PATH_MAX];

    add(l, realpath(path, real) ? arena_cstr(l->arena, str_of(real)) : path);
}

/* Few are links, so home is looked at but once. */
static void add_in_home(struct list *l, const char *home)
{
    char real[PATH_MAX];
    bool is_canonical = realpath(home, real) && strcmp(real, home) == 0;

    for (size_t i = 0; i < ARRAY_LEN(secrets_in_home); i++) {
        const char *path = fs_join(l->arena, home, secrets_in_home[i]);

        if (is_canonical && !below_has_link(home, path))
            add(l, path);
        else
            add_real(l, path);
    }
}

const char *const *sandbox_secret_places(struct arena *a, const char *home, const char *keel_home,
                                         size_t *ret_n)
{
    struct list l = {.arena = a};

    if (home)
        add_in_home(&l, home);
    for (size_t i = 0; geteuid() == 0 && i < ARRAY_LEN(secrets_of_system); i++)
        add_real(&l, secrets_of_system[i]);
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
