/* roots.c - the writable directories of a sandbox, and what lies in them. */
#include "sandbox/plan/roots.h"

#include "sandbox/plan/plan.h"
#include "sys/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct held_roots *held_roots_new(void)
{
    struct held_roots *h = mem_alloc(sizeof *h);

    h->top_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    h->last_fd = -1;
    return h;
}

void held_roots_free(struct held_roots *h)
{
    if (!h)
        return;
    held_roots_forget(h);
    for (size_t i = 0; i < h->n; i++) {
        close(h->all[i].fd);
        mem_free(h->all[i].path);
    }
    close(h->top_fd);
    arena_done(&h->arena);
    mem_free(h->all);
    mem_free(h);
}

/* --- holding --- */

static struct held_root *find(struct held_roots *h, const char *path)
{
    for (size_t i = 0; i < h->n; i++)
        if (strcmp(h->all[i].path, path) == 0)
            return &h->all[i];
    return NULL;
}

static struct sighting sighting_of(const struct stat *st)
{
    return (struct sighting){POLICY_THIS, st->st_dev, st->st_ino};
}

static struct err *hold(struct held_roots *h, const char *path)
{
    int fd = open_below(h->top_fd, path + 1, O_PATH | O_DIRECTORY);
    struct held_root *held = find(h, path);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0) {
        struct err *e = err_errno(ERR_SANDBOX, errno, "cannot open the directory %s", path);

        if (fd >= 0)
            close(fd);
        return err_hint(e, "commands write there, so it must be a directory, not a link");
    }
    if (!held) {
        h->all = mem_resize(h->all, (h->n + 1) * sizeof *h->all);
        held = &h->all[h->n++];
        *held = (struct held_root){.path = mem_strdup(path), .fd = -1};
    }
    if (held->fd >= 0)
        close(held->fd);
    held->fd = fd;
    held->self = sighting_of(&st);
    return NULL;
}

/* The writable directories of a policy, one after the other; NULL behind the last. */
static const char *root_of(const struct sandbox_policy *policy, size_t index)
{
    if (index < policy->n_writable)
        return policy->writable[index];
    return index == policy->n_writable       ? policy->workspace
           : index == policy->n_writable + 1 ? policy->tmp_dir
                                             : NULL;
}

/* One that lies in another one can be replaced by a command. It is looked at like everything else
 * there. */
static bool is_in_another(const struct sandbox_policy *policy, const char *path)
{
    const char *other;

    for (size_t i = 0; (other = root_of(policy, i)); i++)
        if (path_is_in(path, other) && strcmp(path, other) != 0)
            return true;
    return false;
}

struct err *held_roots_update(struct held_roots *h, const struct sandbox_policy *policy)
{
    const char *path;

    for (size_t i = 0; (path = root_of(policy, i)); i++)
        if (!is_in_another(policy, path))
            TRY(hold(h, path));
    return NULL;
}

/* --- looking --- */

/* The nearest one that the path lies in. */
static struct held_root *find_above(const struct held_roots *h, const char *path)
{
    struct held_root *nearest = NULL;

    for (size_t i = 0; i < h->n; i++)
        if (path_is_in(path, h->all[i].path) &&
            (!nearest || strlen(h->all[i].path) > strlen(nearest->path)))
            nearest = &h->all[i];
    return nearest;
}

static void forget_dir(struct held_roots *h)
{
    if (h->last_fd >= 0)
        close(h->last_fd);
    h->last_fd = -1;
    mem_free(h->last_dir);
    h->last_dir = NULL;
}

void held_roots_forget(struct held_roots *h)
{
    forget_dir(h);
    for (size_t i = 0; i < h->n; i++)
        h->all[i].has_names = false;
    arena_clear(&h->arena);
}

/* The directory that `path` lies in, which is `root` or below it; -1 and errno. */
static int open_above(struct held_roots *h, const struct held_root *root, const char *path)
{
    size_t n = (size_t)(strrchr(path, '/') - path), n_root = strlen(root->path);

    if (n == n_root)
        return root->fd;
    if (h->last_dir && strncmp(h->last_dir, path, n) == 0 && h->last_dir[n] == 0)
        return h->last_fd;
    forget_dir(h);
    h->last_dir = mem_strdup(path);
    h->last_dir[n] = 0;
    h->last_fd = open_below(root->fd, h->last_dir + n_root + 1, O_PATH | O_DIRECTORY);
    if (h->last_fd < 0) {
        int error = errno;

        forget_dir(h);
        errno = error;
    }
    return h->last_fd;
}

/* keel-exec may have rights that keel has not, and then finds what is there. */
static struct sighting sight_nothing(int error)
{
    bool is_absent = error == ENOENT || error == ENOTDIR || error == ELOOP;

    return (struct sighting){is_absent ? POLICY_ABSENT : POLICY_ANY, 0, 0};
}

/* Most names that are asked for are not there. */
static bool lacks(struct held_roots *h, struct held_root *root, const char *path)
{
    if (!root->has_names)
        dir_names_read(&root->names, &h->arena, root->fd);
    root->has_names = true;
    return dir_names_lack_first(&root->names, path + strlen(root->path) + 1);
}

struct sighting held_roots_look(struct held_roots *h, const char *path)
{
    struct held_root *root = find_above(h, path);
    struct stat st;
    int dir;

    if (!root)
        return (struct sighting){POLICY_ANY, 0, 0};
    if (strcmp(root->path, path) == 0)
        return root->self;
    if (lacks(h, root, path))
        return sight_nothing(ENOENT);
    dir = open_above(h, root, path);
    if (dir < 0 || fstatat(dir, strrchr(path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return sight_nothing(errno);
    return sighting_of(&st);
}
