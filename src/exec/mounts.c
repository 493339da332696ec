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
#include <stdio.h>
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
    int nothing; /* a file system with an empty file and an empty directory, closed to all */
    int devices[8];
    int clones[MAX_CLONES]; /* of the writable and visible items, in their order */
    int n_clones;
};

/* It lies below the new /proc, where no path leads. */
static bool make_nothing(struct builder *b)
{
    static const char *const options[][2] = {{"size", "4k"}, {"mode", "0700"}, {NULL, NULL}};
    int file;

    b->nothing = new_mount("tmpfs", options);
    if (b->nothing < 0)
        return false;
    file = openat(b->nothing, "file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
    if (file < 0 || mkdirat(b->nothing, "directory", 0) < 0)
        return false;
    close(file);
    return move_mount(b->nothing, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) == 0;
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
static bool mount_dev(void)
{
    static const char *const pts[][2] = {{"ptmxmode", "0666"}, {"mode", "0620"}, {NULL, NULL}};
    static const char *const shm[][2] = {{"mode", "1777"}, {NULL, NULL}};
    struct stat st;
    int ptmx;

    if (stat("/dev/shm", &st) == 0 && !mount_new("tmpfs", shm, "/dev/shm"))
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

static bool clone_item(struct builder *b, const struct policy_item *item)
{
    uint64_t attributes = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID |
                          (item->kind == POLICY_VISIBLE ? MOUNT_ATTR_RDONLY : 0);
    int fd;

    if (b->n_clones == MAX_CLONES) {
        errno = E2BIG;
        return false;
    }
    fd = clone_tree(item->text);
    if (fd < 0)
        return false;
    b->clones[b->n_clones++] = fd;
    return set_attributes(fd, attributes);
}

static struct fault clone_items(struct builder *b, const struct policy_header *p)
{
    unsigned i = 0;

    policy_each(item, p)
    {
        bool is_cloned = item->kind == POLICY_WRITABLE || item->kind == POLICY_VISIBLE;

        if (is_cloned && !clone_item(b, item))
            return (struct fault){errno, EXEC_STEP_ITEM, i};
        i++;
    }
    return (struct fault){0};
}

/* The directories above a place that a holder has hidden, and a place for it. Elsewhere they are
 * there, and nothing can be made. */
static bool make_place(const char *path, int mount)
{
    char partial[PATH_MAX];
    struct stat st;
    int fd;

    if (snprintf(partial, sizeof partial, "%s", path) >= (int)sizeof partial)
        return false;
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
    fd = open_tree(b->nothing, S_ISDIR(st.st_mode) ? "directory" : "file",
                   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    return fd >= 0 && attach(fd, path);
}

static bool hold(const char *path)
{
    static const char *const options[][2] = {{"size", "1m"}, {"mode", "0755"}, {NULL, NULL}};
    struct stat st;

    if (lstat(path, &st) < 0)
        return is_absent(errno);
    return mount_new("tmpfs", options, path);
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
        return hold(item->text);
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

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || !make_nothing(b) ||
        !clone_devices(b))
        return (struct fault){errno, EXEC_STEP_MOUNTS, 0};
    fault = clone_items(b, p);
    if (fault.error)
        return fault;
    if (!mount_new("proc", none, "/proc"))
        return (struct fault){errno, EXEC_STEP_PROC, 0};
    if (!lock_root() || !attach_devices(b) || !mount_dev())
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
