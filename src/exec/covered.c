/* covered.c - checks that mounts are where a policy needs them. */
#include "exec/covers.h"

#include "exec/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

bool is_nothing(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP;
}

/* --- one place --- */

/* Kernels before 5.8 cannot say. */
static bool is_mount(int fd)
{
    struct kernel_statx st = {0};

    if (kernel_statx(fd, &st) < 0)
        return false;
    return !(st.known_attributes & KERNEL_STATX_MOUNT_ROOT) ||
           st.attributes & KERNEL_STATX_MOUNT_ROOT;
}

static bool is_read_only(int fd)
{
    struct statvfs st;

    return fstatvfs(fd, &st) == 0 && st.f_flag & ST_RDONLY;
}

bool is_closed(const struct root_fds *roots, const struct stat *st)
{
    return st->st_dev == roots->own_device;
}

/* A link cannot be covered. keel checks the links that it has seen; the target of a hidden link is
 * hidden by its own name. */
static bool may_be_link(const struct policy_item *item, const struct stat *st)
{
    return item->kind == POLICY_HIDDEN || item->kind == POLICY_HOLDER ||
           (item->expect == POLICY_THIS && item->device == st->st_dev && item->inode == st->st_ino);
}

bool is_covered(const struct root_fds *roots, const struct policy_item *item, int fd,
                const struct stat *st)
{
    if (S_ISLNK(st->st_mode))
        return may_be_link(item, st);
    switch (item->kind) {
    case POLICY_READ_ONLY:
        return is_read_only(fd);
    case POLICY_ANCHOR:
        return is_mount(fd);
    case POLICY_HIDDEN:
    case POLICY_HOLDER:
        return is_closed(roots, st);
    }
    return true;
}

/* --- all places --- */

/* Is it the same mount, not just the same directory? */
static bool is_same_mount(int a, int b)
{
    struct kernel_statx of_a = {0}, of_b = {0};

    return kernel_statx(a, &of_a) == 0 && kernel_statx(b, &of_b) == 0 &&
           of_a.mask & of_b.mask & KERNEL_STATX_MOUNT && of_a.mount == of_b.mount;
}

/* Closes it. */
static bool holds_at(const struct root_fds *roots, const struct policy_item *item, int fd,
                     const struct stat *st, int root)
{
    bool holds = is_covered(roots, item, fd, st);

    if (item->kind == POLICY_WRITABLE || item->kind == POLICY_VISIBLE)
        holds = is_same_mount(fd, root);
    else if (item->kind == POLICY_OPEN)
        holds = is_mount(fd) && !is_read_only(fd);
    close(fd);
    return holds;
}

static bool is_hidden(const struct policy_item *item)
{
    return item->kind == POLICY_HIDDEN || item->kind == POLICY_HOLDER;
}

/* Most places are identified by their paths alone, which needs only a stat. */
static bool hidden_place_holds(struct root_fds *roots, const struct policy_item *item)
{
    struct stat st;

    if (locate_name(roots, item, &st, NULL) < 0)
        return errno == ENOENT;
    return S_ISLNK(st.st_mode) || is_closed(roots, &st);
}

/* The substitute for a hidden place has another identity than the place that keel saw. */
static bool place_holds(struct root_fds *roots, const struct policy_item *item, int root)
{
    bool is_other = is_hidden(item) && item->expect == POLICY_THIS;
    struct stat st;
    int fd = is_other ? locate_now(roots, item, &st) : locate(roots, item, &st);

    if (fd < 0)
        return !is_other && errno == ENOENT;
    return holds_at(roots, item, fd, &st, root);
}

static bool item_holds(struct root_fds *roots, const struct policy_item *item, unsigned n_root)
{
    if (item->kind == POLICY_CWD || item->kind == POLICY_LACKS) /* nothing is mounted for these */
        return true;
    if (is_hidden(item) && item->expect != POLICY_THIS)
        return hidden_place_holds(roots, item);
    return place_holds(roots, item, roots->fd[n_root]);
}

struct fault covers_check(const struct policy_header *p, struct root_fds *roots)
{
    struct absent absent = ABSENT_NONE;
    unsigned i = 0, n_root = 0;

    locate_anew(roots);
    policy_each(item, p)
    {
        n_root += policy_is_root(item->kind);
        if (n_root >= roots->n ||
            (!absent_is_certain(&absent, roots, item) && !item_holds(roots, item, n_root)))
            return fault_of_item(ESTALE, i);
        i++;
    }
    locate_anew(roots);
    return (struct fault){0};
}
