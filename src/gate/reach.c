/* reach.c - walks up from a path until its kind is known. */
#include "gate/reach.h"

#include "base/public_places.h"
#include "gate/place.h"
#include "sys/dir_names.h"
#include "sys/missing_paths.h"

#include <linux/magic.h>
#include <sys/vfs.h>

/* --- places --- */

static bool get_id(const char *path, struct file_id *ret_id)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return false;
    *ret_id = (struct file_id){st.st_dev, st.st_ino};
    return true;
}

static bool has_id(const struct file_id *ids, size_t n, const struct stat *st)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i].inode == st->st_ino && ids[i].device == st->st_dev)
            return true;
    return false;
}

static bool is_in_opened(const struct reach_map *m, const char *path)
{
    if (place_is_in(path, m->workspace))
        return true;
    for (size_t i = 0; i < m->policy->n_writable; i++)
        if (place_is_in(path, m->policy->writable[i]))
            return true;
    return false;
}

void reach_map_init(struct reach_map *m, struct arena *a, const struct hard_policy *policy,
                    const char *workspace, const char *home)
{
    struct names_below names;
    struct missing_set missing;

    *m = (struct reach_map){.policy = policy,
                            .workspace = workspace,
                            .home = home,
                            .user = private_user_now(home),
                            .secrets = ARENA_ARRAY(a, policy->n_secret, struct file_id),
                            .open = ARENA_ARRAY(a, policy->n_writable + 2, struct file_id),
                            .inner = ARENA_ARRAY(a, policy->n_secret, const char *)};
    names_below_init_home(&names, a, home);
    missing_of_system_look(&missing);
    for (size_t i = 0; i < policy->n_secret; i++) {
        if (!names_below_lack_at(&names, policy->secret[i]) &&
            !missing_of_system_has(&missing, policy->secret[i]))
            m->n_secrets += get_id(policy->secret[i], &m->secrets[m->n_secrets]);
        if (is_in_opened(m, policy->secret[i]))
            m->inner[m->n_inner++] = policy->secret[i];
    }
    m->n_open += get_id(workspace, &m->open[m->n_open]);
    if (home)
        m->n_open += get_id(home, &m->open[m->n_open]);
    for (size_t i = 0; i < policy->n_writable; i++)
        m->n_open += get_id(policy->writable[i], &m->open[m->n_open]);
}

static bool is_one_of(const char *path, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(path, list[i]) == 0)
            return true;
    return false;
}

/* Directories that a person opened for reading. */
static bool is_opened(const struct reach_map *m, const char *path)
{
    return strcmp(path, m->workspace) == 0 ||
           is_one_of(path, m->policy->writable, m->policy->n_writable) ||
           is_one_of(path, m->policy->readable, m->policy->n_readable);
}

static bool is_public_root(const char *path)
{
    for (const char *const *p = public_places; *p; p++)
        if (strcmp(path, *p) == 0)
            return true;
    return false;
}

/* A chroot has a /proc of its own. */
static bool is_in_other_proc(const char *path)
{
    struct statfs fs;

    return statfs(path, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* "/proc/self" means the command. In another /proc, only processes have such files. */
static bool is_secret_of_process(const char *path)
{
    struct str last = str_skip(str_of(path), str_rfind_char(str_of(path), '/') + 1);

    if (!str_is(last, "environ") && !str_is(last, "mem"))
        return false;
    if (place_is_in(path, "/proc"))
        return strlen(path) > strlen("/proc/") && path[6] >= '0' && path[6] <= '9';
    return is_in_other_proc(path);
}

/* --- a walk upwards --- */

struct climb {
    const struct reach_map *map;
    bool is_private; /* something on the way is closed to other users */
    bool is_public;  /* other users can reach everything on the way */
};

/* Can other users reach this entry, and pass through it? `is_end`: the path ends here. */
static bool is_open_to_others(const struct stat *st, bool is_end)
{
    mode_t needed = S_ISDIR(st->st_mode) ? S_IXOTH | (is_end ? S_IROTH : 0) : S_IROTH;

    return (st->st_mode & needed) == needed;
}

/* Does the file system decide the kind of the place? */
static bool climb_look(struct climb *c, const char *path, bool is_end, enum reach *ret_reach,
                       bool *ret_is_dir)
{
    const struct reach_map *m = c->map;
    struct stat st;

    if (lstat(path, &st) < 0)
        return false;
    if (is_end)
        *ret_is_dir = S_ISDIR(st.st_mode);
    c->is_public = c->is_public && is_open_to_others(&st, is_end);
    c->is_private = c->is_private || mode_is_private(&m->user, path, &st);
    *ret_reach = REACH_SECRET;
    if (has_id(m->secrets, m->n_secrets, &st))
        return true;
    *ret_reach = REACH_OUTSIDE; /* an opened place, by another path than its own */
    return has_id(m->open, m->n_open, &st);
}

/* Do the lists decide it? */
static bool climb_ends(const struct climb *c, const char *path, enum reach *ret_reach)
{
    const struct reach_map *m = c->map;

    *ret_reach = REACH_FREE;
    if (is_opened(m, path))
        return true;
    *ret_reach = REACH_SECRET;
    if (is_one_of(path, m->policy->secret, m->policy->n_secret))
        return true;
    *ret_reach = c->is_private ? REACH_SECRET : REACH_OUTSIDE;
    if (m->home && strcmp(path, m->home) == 0)
        return true;
    if (!c->is_private && c->is_public)
        *ret_reach = REACH_FREE;
    return is_public_root(path);
}

/* Cuts off the last name; false: it is the root. */
static bool cut_name(char *path)
{
    char *slash = strrchr(path, '/');

    if (!path[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

enum reach reach_of(const struct reach_map *m, const char *real_path, bool *ret_is_dir)
{
    struct climb c = {.map = m, .is_public = true};
    AUTO_FREE char *path = str_dup(str_of(real_path));
    bool is_dir = false, is_end = true;
    enum reach reach;

    if (ret_is_dir)
        *ret_is_dir = false;
    if (is_secret_of_process(real_path))
        return REACH_SECRET;
    do {
        bool is_told = climb_look(&c, path, is_end, &reach, &is_dir);

        if (is_end && ret_is_dir)
            *ret_is_dir = is_dir;
        if (is_told && reach == REACH_SECRET && !is_opened(m, path))
            return REACH_SECRET;
        if (climb_ends(&c, path, &reach))
            return reach;
        if (is_told && reach == REACH_OUTSIDE)
            break;
        is_end = false;
    } while (cut_name(path));
    return c.is_private ? REACH_SECRET : REACH_OUTSIDE;
}

/* --- searches --- */

static bool is_above_open(const struct reach_map *m, const char *path)
{
    if (place_is_in(m->workspace, path) || (m->home && place_is_in(m->home, path)))
        return true;
    for (size_t i = 0; i < m->policy->n_writable; i++)
        if (place_is_in(m->policy->writable[i], path))
            return true;
    return false;
}

static bool is_in_public(const char *path)
{
    for (const char *const *p = public_places; *p; p++)
        if (place_is_in(path, *p))
            return true;
    return false;
}

static size_t depth_in(const char *path, const char *directory)
{
    return directory && place_is_in(path, directory) ? strlen(directory) : 0;
}

/* Decides by the name alone. Opened directories contain few of all secret places. */
static bool is_named_secret(const struct reach_map *m, const char *path, bool is_opened_here)
{
    const char *const *list = is_opened_here ? m->inner : m->policy->secret;
    size_t n = is_opened_here ? m->n_inner : m->policy->n_secret, secret = 0, open;

    for (size_t i = 0; i < n; i++)
        secret = MAX(secret, depth_in(path, list[i]));
    if (!secret)
        return false;
    open = MAX(depth_in(path, m->workspace), depth_in(path, m->home));
    for (size_t i = 0; i < m->policy->n_writable; i++)
        open = MAX(open, depth_in(path, m->policy->writable[i]));
    return secret > open;
}

/* The workspace has many files, so only their names are checked there. */
bool reach_hides(const struct reach_map *m, const char *real_path, bool is_dir)
{
    bool is_opened_here = is_in_opened(m, real_path);
    struct stat st;

    if (is_above_open(m, real_path))
        return false;
    if (is_named_secret(m, real_path, is_opened_here) || is_secret_of_process(real_path))
        return true;
    if ((is_opened_here && !is_dir) || lstat(real_path, &st) < 0)
        return false;
    if (has_id(m->secrets, m->n_secrets, &st))
        return true;
    if (is_opened_here)
        return false;
    return mode_is_private(&m->user, real_path, &st) ||
           (is_in_public(real_path) && !is_open_to_others(&st, /* is_end= */ true));
}
