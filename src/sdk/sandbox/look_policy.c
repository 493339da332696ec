/* look_policy.c - the policy of commands that only look. */
#include "base/public_places.h"
#include "sandbox/plan/plan.h"
#include "sdk/sandbox/policy.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* The devices of all, and the processes of the sandbox itself: mounts and keel-exec see to it. */
static bool is_made_anew(const char *path)
{
    return strcmp(path, "/dev") == 0 || strcmp(path, "/proc") == 0;
}

/* Is the directory public, or does it hold what is? The latter is noted. */
static bool is_public(struct path_list *visible, const char *path)
{
    char real[PATH_MAX];

    for (const char *const *p = public_places; *p; p++) {
        if (strcmp(*p, path) == 0)
            return true;
        if (path_is_in(*p, path) && realpath(*p, real) && strcmp(real, *p) == 0)
            path_list_add(visible, *p);
    }
    return false;
}

/* Everything at the top that is not public. A link there leads to a place that has its own name. */
static struct err *close_top(struct path_list *closed, struct path_list *visible)
{
    DIR *top = opendir("/");
    const struct dirent *entry;

    if (!top)
        return err_errno(ERR_SANDBOX, errno, "cannot read the directory /");
    while ((entry = readdir(top))) {
        const char *path = arena_format(closed->arena, "/%s", entry->d_name).p;
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            is_made_anew(path) || lstat(path, &st) < 0 || S_ISLNK(st.st_mode))
            continue;
        if (!is_public(visible, path))
            path_list_add(closed, path);
    }
    closedir(top);
    return NULL;
}

static void append(struct path_list *l, const char *const *paths, size_t n)
{
    for (size_t i = 0; i < n; i++)
        path_list_add(l, paths[i]);
}

/* The home may lie in a public place. */
struct err *policy_only_look(const char *home, const struct path_list *not_public, struct arena *a,
                             struct sandbox_policy *policy)
{
    struct path_list closed = {.arena = a}, visible = {.arena = a}, hidden = {.arena = a};

    append(&visible, policy->visible, policy->n_visible);
    append(&hidden, policy->hidden, policy->n_hidden);
    append(&hidden, not_public->paths, not_public->n);
    TRY(close_top(&closed, &visible));
    if (home && strcmp(home, "/") != 0)
        path_list_add(&hidden, home);
    policy->nothing_is_writable = true;
    policy->home = NULL;
    policy->closed = closed.paths;
    policy->n_closed = closed.n;
    policy->visible = visible.paths;
    policy->n_visible = visible.n;
    policy->hidden = hidden.paths;
    policy->n_hidden = hidden.n;
    return NULL;
}
