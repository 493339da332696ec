/* mounts.c - the file system that a sandboxed command sees.
 *
 * All of the machine's, read-only and without devices; on top of it, by name, what is writable,
 * what is hidden, and what is read-only inside the writable. The writable places are cloned before
 * the rest becomes read-only, so they stay what they are. Every read-only place in them is a mount
 * point of its own, and so is every directory above it: the kernel refuses to move, replace or
 * remove a mount point.
 *
 * Nothing is unmounted and the root is not changed: what a mount covers cannot be reached, as the
 * command has no right to unmount anything. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_CLONES = 256 };

const char *const common_devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", NULL,
};

/* --- mounts as descriptors --- */

/* With what is mounted in it. */
static int clone_tree(const char *path)
{
    return open_tree(AT_FDCWD, path,
                     OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
}

static bool set_attributes(int fd, uint64_t attributes)
{
    struct mount_attr attr = {.attr_set = attributes};

    return mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof attr) == 0;
}

/* Closes it, and gives it its place. */
static bool attach(int fd, const char *path)
{
    bool done = move_mount(fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) == 0;
    int error = errno;

    close(fd);
    errno = error;
    return done;
}

static int new_mount(const char *type, const char *const options[][2])
{
    int context = fsopen(type, FSOPEN_CLOEXEC), fd = -1, error;

    if (context < 0)
        return -1;
    for (; options[0][0]; options++)
        if (fsconfig(context, FSCONFIG_SET_STRING, options[0][0], options[0][1], 0) < 0)
            goto out;
    if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        fd = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
out:
    error = errno;
    close(context);
    errno = error;
    return fd;
}

static bool mount_new(const char *type, const char *const options[][2], const char *path)
{
    int fd = new_mount(type, options);

    return fd >= 0 && attach(fd, path);
}

/* Gone or out of the user's reach: nothing that a command could get at. */
static bool is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP;
}

/* --- what the root is made of --- */

struct builder {
    int own; /* a file system for all that the machine's has no place for */
    int shm;
    int devices[8];
    int clones[MAX_CLONES]; /* for the writable and visible items and the holders, in their order */
    int n_clones;
};

/* A part of the sandbox's own file system, with a mount of its own. */
static int clone_own(const struct builder *b, const char *name)
{
    return open_tree(b->own, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

static int make_own_directory(const struct builder *b, const char *name, mode_t mode)
{
    return mkdirat(b->own, name, mode) == 0 ? clone_own(b, name) : -1;
}

/* One file system, as each takes 0.1 ms: an empty file and an empty directory that are closed to
 * all, shared memory, and the holders. It lies below the new /proc, where no path leads, and
 * becomes read-only with the rest; what was cloned before stays writable. */
static bool make_own(struct builder *b)
{
    static const char *const options[][2] = {{"mode", "0700"}, {NULL, NULL}};
    int file;

    b->own = new_mount("tmpfs", options);
    if (b->own < 0)
        return false;
    file = openat(b->own, "file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
    if (file < 0 || mkdirat(b->own, "directory", 0) < 0)
        return false;
    close(file);
    if (move_mount(b->own, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return false;
    b->shm = make_own_directory(b, "shm", 01777);
    return b->shm >= 0;
}

static bool clone_devices(struct builder *b)
{
    for (int i = 0; common_devices[i]; i++) {
        b->devices[i] = clone_tree(common_devices[i]);
        if (b->devices[i] < 0 && errno != ENOENT)
            return false;
    }
    return true;
}

static bool attach_devices(const struct builder *b)
{
    for (int i = 0; common_devices[i]; i++)
        if (b->devices[i] >= 0 && !attach(b->devices[i], common_devices[i]))
            return false;
    return true;
}

/* Terminals and shared memory of one's own: those of others belong to the same user. */
static bool mount_dev(const struct builder *b)
{
    static const char *const pts[][2] = {{"ptmxmode", "0666"}, {"mode", "0620"}, {NULL, NULL}};
    struct stat st;
    int ptmx;

    if (stat("/dev/shm", &st) < 0)
        close(b->shm);
    else if (!attach(b->shm, "/dev/shm"))
        return false;
    if (stat("/dev/pts", &st) < 0)
        return true;
    if (!mount_new("devpts", pts, "/dev/pts"))
        return false;
    if (lstat("/dev/ptmx", &st) < 0 || !S_ISCHR(st.st_mode))
        return true; /* a link into /dev/pts */
    ptmx = clone_tree("/dev/pts/ptmx");
    return ptmx >= 0 && attach(ptmx, "/dev/ptmx");
}

static bool lock_root(void)
{
    struct mount_attr locked = {.attr_set =
                                    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID};

    return mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &locked, sizeof locked) == 0;
}

/* --- items --- */

static int clone_place(const struct policy_item *item)
{
    uint64_t attributes = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID |
                          (item->kind == POLICY_VISIBLE ? MOUNT_ATTR_RDONLY : 0);
    int fd = clone_tree(item->text), error;

    if (fd < 0 || set_attributes(fd, attributes))
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int make_holder(const struct builder *b)
{
    char name[] = {(char)('a' + b->n_clones / 16), (char)('a' + b->n_clones % 16), 0};

    return make_own_directory(b, name, 0755);
}

static bool clone_item(struct builder *b, const struct policy_item *item)
{
    int fd;

    if (b->n_clones == MAX_CLONES) {
        errno = E2BIG;
        return false;
    }
    fd = item->kind == POLICY_HOLDER ? make_holder(b) : clone_place(item);
    if (fd >= 0)
        b->clones[b->n_clones++] = fd;
    return fd >= 0;
}

static bool is_cloned(const struct policy_item *item)
{
    return item->kind == POLICY_WRITABLE || item->kind == POLICY_VISIBLE ||
           item->kind == POLICY_HOLDER;
}

static struct fault clone_items(struct builder *b, const struct policy_header *p)
{
    unsigned i = 0;

    policy_each(item, p)
    {
        if (is_cloned(item) && !clone_item(b, item))
            return (struct fault){errno, EXEC_STEP_ITEM, i};
        i++;
    }
    return (struct fault){0};
}

/* The directories above a place that a holder has hidden, and a place for it. Elsewhere they are
 * there, and nothing can be made. */
static bool make_place(const char *path, int mount)
{
    size_t n = strlen(path) + 1;
    char partial[PATH_MAX];
    struct stat st;
    int fd;

    if (n > sizeof partial)
        return false;
    memcpy(partial, path, n);
    for (char *slash = partial + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(partial, 0755);
    }
    if (lstat(path, &st) == 0)
        return true;
    if (fstat(mount, &st) < 0)
        return false;
    if (S_ISDIR(st.st_mode))
        return mkdir(path, 0755) == 0;
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static bool hide(const struct builder *b, const char *path)
{
    struct stat st;
    int fd;

    if (lstat(path, &st) < 0)
        return is_absent(errno);
    if (S_ISLNK(st.st_mode))
        return true; /* what it leads to is hidden by its own name */
    fd = clone_own(b, S_ISDIR(st.st_mode) ? "directory" : "file");
    return fd >= 0 && attach(fd, path);
}

static bool hold(int fd, const char *path)
{
    struct stat st;
    int error;

    if (lstat(path, &st) == 0)
        return attach(fd, path);
    error = errno;
    close(fd);
    errno = error;
    return is_absent(error);
}

static bool pin(const char *path, bool read_only)
{
    struct stat st;
    int fd;

    if (lstat(path, &st) < 0)
        return is_absent(errno);
    if (S_ISLNK(st.st_mode))
        return true; /* keel looks after it */
    fd = clone_tree(path);
    if (fd < 0)
        return is_absent(errno);
    if (read_only && !set_attributes(fd, MOUNT_ATTR_RDONLY))
        return false;
    return attach(fd, path);
}

static bool carry_out(const struct builder *b, const struct policy_item *item, int *at_clone)
{
    int fd;

    switch (item->kind) {
    case POLICY_WRITABLE:
    case POLICY_VISIBLE:
        fd = b->clones[(*at_clone)++];
        return make_place(item->text, fd) && attach(fd, item->text);
    case POLICY_HIDDEN:
        return hide(b, item->text);
    case POLICY_HOLDER:
        return hold(b->clones[(*at_clone)++], item->text);
    case POLICY_READ_ONLY:
        return pin(item->text, /* read_only= */ true);
    case POLICY_ANCHOR:
        return pin(item->text, /* read_only= */ false);
    }
    errno = EINVAL;
    return false;
}

/* A holder is writable for as long as places are made in it. */
static bool close_holder(const struct policy_item *item)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

    return mount_setattr(AT_FDCWD, item->text, AT_SYMLINK_NOFOLLOW, &attr, sizeof attr) == 0 ||
           is_absent(errno);
}

static struct fault carry_out_items(const struct builder *b, const struct policy_header *p)
{
    unsigned i = 0;
    int at_clone = 0;

    policy_each(item, p)
    {
        if (!carry_out(b, item, &at_clone))
            return (struct fault){errno, EXEC_STEP_ITEM, i};
        i++;
    }
    i = 0;
    policy_each(item, p)
    {
        if (item->kind == POLICY_HOLDER && !close_holder(item))
            return (struct fault){errno, EXEC_STEP_ITEM, i};
        i++;
    }
    return (struct fault){0};
}

/* --- all of it --- */

static struct fault build_root(struct builder *b, const struct policy_header *p)
{
    static const char *const none[][2] = {{NULL, NULL}};
    struct fault fault;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || !make_own(b) || !clone_devices(b))
        return (struct fault){errno, EXEC_STEP_MOUNTS, 0};
    fault = clone_items(b, p);
    if (fault.error)
        return fault;
    if (!mount_new("proc", none, "/proc"))
        return (struct fault){errno, EXEC_STEP_PROC, 0};
    if (!lock_root() || !attach_devices(b) || !mount_dev(b))
        return (struct fault){errno, EXEC_STEP_MOUNTS, 0};
    return carry_out_items(b, p);
}

struct fault mounts_build(const struct policy_header *p)
{
    static struct builder b;
    static char cwd[PATH_MAX];
    struct fault fault;
    mode_t mask;

    if (!getcwd(cwd, sizeof cwd) || cwd[0] != '/')
        return (struct fault){ENOENT, EXEC_STEP_CWD, 0};
    mask = umask(0);
    fault = build_root(&b, p);
    umask(mask);
    if (fault.error)
        return fault;
    /* By name, because the directory that we are in lies below the new mounts. */
    if (chdir(cwd) < 0)
        return (struct fault){errno, EXEC_STEP_CWD, 0};
    return (struct fault){0};
}
