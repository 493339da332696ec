/* mounts.c - builds the file system that a sandboxed command sees.
 *
 * It is the machine's, read-only and without devices. On top of it are, by name, the writable and
 * the hidden places, and the read-only places inside writable ones. Writable places are cloned
 * before the rest becomes read-only, so they do not change. Every read-only place in them is a
 * mount point, and so is every directory above it: the kernel refuses to move, replace or remove a
 * mount point.
 *
 * A place is opened once (locate.c), and then cloned, covered or bound to itself by that
 * descriptor. Hidden places outside of writable ones are covered before any writable one is
 * attached. Places in a writable place are opened below its clone.
 *
 * Nothing is unmounted and the root is not changed: what a mount covers cannot be reached, as the
 * command may not unmount anything. */
#include "exec/exec.h"
#include "exec/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

const char *const common_devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", NULL,
};

/* --- mounts as descriptors --- */

/* Includes the mounts in it. */
static int clone_tree(int fd)
{
    return kernel_open_tree(fd, "",
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
}

/* Clones one of the machine's places. */
static int clone_path(const char *path)
{
    return kernel_open_tree(AT_FDCWD, path,
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
}

static int close_with(int fd, int error)
{
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static bool set_attributes(int fd, uint64_t attributes)
{
    struct mount_attr attr = {.attr_set = attributes};

    return kernel_mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr) == 0;
}

/* For a mount that this process has made read-only; mounts in it do not change. */
static bool make_writable(int fd)
{
    struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};

    return kernel_mount_setattr(fd, "", AT_EMPTY_PATH, &attr) == 0;
}

static bool attach_at(int mount, int place)
{
    return kernel_move_mount(mount, place, "", MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

/* For the machine's places, where no command writes. Closes it. */
static bool attach(int mount, const char *path)
{
    bool done = kernel_move_mount(mount, AT_FDCWD, path, 0) == 0;

    close_with(mount, errno);
    return done;
}

static int new_mount(const char *type, const char *const options[][2])
{
    int context = kernel_fsopen(type, FSOPEN_CLOEXEC), fd = -1;

    if (context < 0)
        return -1;
    for (; options[0][0]; options++)
        if (kernel_fsconfig(context, FSCONFIG_SET_STRING, options[0][0], options[0][1]) < 0)
            goto out;
    if (kernel_fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL) == 0)
        fd = kernel_fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID);
out:
    close_with(context, errno);
    return fd;
}

/* --- the parts of the root --- */

struct mounts_builder {
    struct root_fds *roots;
    int shm;
    int devices[8];
};

/* Clones a part of the sandbox's file system, as a mount of its own. */
static int clone_own(const struct root_fds *roots, const char *name)
{
    return kernel_open_tree(roots->own, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}

/* Clones the substitute for a hidden thing. */
static int clone_closed(const struct root_fds *roots, mode_t mode)
{
    return clone_own(roots, S_ISDIR(mode) ? "directory" : "file");
}

static int make_own_directory(const struct mounts_builder *b, const char *name, mode_t mode)
{
    return mkdirat(b->roots->own, name, mode) == 0 ? clone_own(b->roots, name) : -1;
}

/* Makes the substitute for a hidden file, which cannot be opened. Root could read a file of any
 * mode, and would take it for an empty one; a device on a mount without devices is closed to root,
 * too. If none can be made, the user is not root. */
static bool make_closed_file(int dir)
{
    int file;

    if (mknodat(dir, "file", S_IFCHR, makedev(1, 3)) == 0)
        return true;
    file = openat(dir, "file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0);
    return file >= 0 && close(file) == 0;
}

/* --- file systems made ahead --- */

static int new_own(void)
{
    static const char *const options[][2] = {{"mode", "0700"}, {NULL, NULL}};
    mode_t mask = umask(0);
    int own = new_mount("tmpfs", options);

    if (own >= 0 && (!make_closed_file(own) || mkdirat(own, "directory", 0) < 0))
        own = close_with(own, errno);
    umask(mask);
    return own;
}

static int new_proc(void)
{
    static const char *const none[][2] = {{NULL, NULL}};
    int proc = new_mount("proc", none);

    if (proc >= 0)
        limits_set_for_namespace(proc);
    return proc;
}

static int new_pts(void)
{
    static const char *const options[][2] = {{"ptmxmode", "0666"}, {"mode", "0620"}, {NULL, NULL}};

    return new_mount("devpts", options);
}

/* Entries of /proc about other users and the memory of the kernel, which no program needs;
 * container runtimes cover the same. The rest is about the machine and the sandbox's processes, or
 * needs a capability. */
static const char *const masked_in_proc[] = {
    "interrupts", "kallsyms", "key-users", "keys", "latency_stats", "sched_debug", NULL,
};

static bool add_masked(struct root_fds *roots, const char *name)
{
    size_t n = strlen(name) + 1;

    if (n > sizeof roots->masked - roots->n_masked) {
        errno = E2BIG;
        return false;
    }
    memcpy(roots->masked + roots->n_masked, name, n);
    roots->n_masked += n;
    return true;
}

/* Finds the entries for root alone: memory, page by page (kcore, kpageflags), allocations of the
 * kernel (slabinfo, vmallocinfo), its log. */
static bool find_what_is_for_root(int proc, struct root_fds *roots)
{
    _Alignas(struct kernel_dirent) char buffer[4096];
    int dir = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = dir >= 0;
    struct stat st;
    ssize_t n = 0;

    while (done && (n = kernel_getdents(dir, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; done && at < n;) {
            const struct kernel_dirent *entry = (const struct kernel_dirent *)(buffer + at);

            at += entry->d_reclen;
            if (entry->d_type == DT_REG && fstatat(dir, entry->d_name, &st, 0) == 0 &&
                !(st.st_mode & S_IROTH) && st.st_mode & S_IRUSR)
                done = add_masked(roots, entry->d_name);
        }
    close_with(dir, errno);
    return done && n == 0;
}

/* Kernels differ. For other users, entries that only root may read need no cover. */
static bool find_masked(int proc, struct root_fds *roots)
{
    roots->n_masked = 0;
    for (const char *const *name = masked_in_proc; *name; name++)
        if (faccessat(proc, *name, R_OK, 0) == 0 && !add_masked(roots, *name))
            return false;
    return geteuid() != 0 || find_what_is_for_root(proc, roots);
}

/* Keeps it above the command's descriptors; 0: it cannot be made yet. */
static int keep_ahead(int fd)
{
    int kept = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, PARKED_FIRST_FD) : -1;

    close_with(fd, errno);
    return kept < 0 ? 0 : kept;
}

/* They are empty, and of this process's pid namespace: nothing on the machine changes them. */
void mounts_make_ahead(struct root_fds *roots)
{
    roots->ahead_own = keep_ahead(new_own());
    roots->ahead_proc = keep_ahead(new_proc());
    if (roots->ahead_proc && !find_masked(roots->ahead_proc, roots))
        roots->n_masked = 0;
    roots->ahead_pts = keep_ahead(new_pts());
}

static int take_ahead(int *ahead, int (*make)(void))
{
    int fd = *ahead ? *ahead : make();

    *ahead = 0;
    return fd;
}

/* Makes one file system for everything that has no place on the machine, as each file system takes
 * 0.1 ms: a file and an empty directory that are closed to all, shared memory, and the holders. It
 * is below the new /proc, where no path leads, and becomes read-only with the rest; parts that were
 * cloned before stay writable. */
static bool make_own(struct mounts_builder *b)
{
    int own = b->roots->own = take_ahead(&b->roots->ahead_own, new_own);
    struct stat st;

    if (own < 0 || fstat(own, &st) < 0 || kernel_move_mount(own, AT_FDCWD, "/proc", 0) < 0)
        return false;
    b->roots->own_device = st.st_dev;
    b->shm = make_own_directory(b, "shm", 01777);
    return b->shm >= 0;
}

static bool clone_devices(struct mounts_builder *b)
{
    for (int i = 0; common_devices[i]; i++) {
        b->devices[i] = clone_path(common_devices[i]);
        if (b->devices[i] < 0 && errno != ENOENT)
            return false;
    }
    return true;
}

static bool attach_devices(const struct mounts_builder *b)
{
    for (int i = 0; common_devices[i]; i++)
        if (b->devices[i] >= 0 && !attach(b->devices[i], common_devices[i]))
            return false;
    return true;
}

/* Separate terminals and shared memory: those of other processes belong to the same user. */
static bool mount_dev(const struct mounts_builder *b)
{
    struct stat st;
    int pts, ptmx;

    if (stat("/dev/shm", &st) < 0)
        close(b->shm);
    else if (!attach(b->shm, "/dev/shm"))
        return false;
    if (stat("/dev/pts", &st) < 0)
        return true;
    pts = take_ahead(&b->roots->ahead_pts, new_pts);
    if (pts < 0 || !attach(pts, "/dev/pts"))
        return false;
    if (lstat("/dev/ptmx", &st) < 0 || !S_ISCHR(st.st_mode))
        return true; /* a link into /dev/pts */
    ptmx = clone_path("/dev/pts/ptmx");
    return ptmx >= 0 && attach(ptmx, "/dev/ptmx");
}

static bool mask(const struct mounts_builder *b, int proc, const char *name)
{
    int mount = clone_own(b->roots, "file");
    bool done = mount >= 0 && kernel_move_mount(mount, proc, name, 0) == 0;

    close_with(mount, errno);
    return done;
}

static bool mask_proc(const struct mounts_builder *b)
{
    struct root_fds *r = b->roots;
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool done = proc >= 0 && (r->n_masked || find_masked(proc, r));

    for (size_t at = 0; done && at < r->n_masked; at += strlen(r->masked + at) + 1)
        done = mask(b, proc, r->masked + at);
    close_with(proc, errno);
    return done;
}

static bool lock_root(void)
{
    struct mount_attr locked = {.attr_set =
                                    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID};

    return kernel_mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &locked) == 0;
}

/* --- roots: cloned before anything changes --- */

/* Clones it from its place on the machine. */
static int clone_place(const struct mounts_builder *b, const struct policy_item *item)
{
    uint64_t attributes = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID |
                          (item->kind == POLICY_VISIBLE ? MOUNT_ATTR_RDONLY : 0);
    struct stat st;
    int fd = locate_source(b->roots, item, &st), clone;

    if (fd < 0)
        return -1;
    clone = clone_tree(fd);
    close_with(fd, errno);
    return clone < 0 || set_attributes(clone, attributes) ? clone : close_with(clone, errno);
}

static int make_holder(const struct mounts_builder *b)
{
    unsigned n = b->roots->n;
    char name[] = {(char)('a' + n / 16), (char)('a' + n % 16), 0};

    return make_own_directory(b, name, 0755);
}

static struct fault clone_roots(struct mounts_builder *b, const struct policy_header *p)
{
    unsigned i = 0;

    policy_each(item, p)
    {
        if (policy_is_root(item->kind)) {
            int fd = item->kind == POLICY_HOLDER ? make_holder(b) : clone_place(b, item);

            if (fd < 0)
                return fault_of_item(errno, i);
            b->roots->fd[b->roots->n++] = fd;
        }
        i++;
    }
    return (struct fault){0};
}

/* --- items --- */

/* Makes a directory or an empty file in a holder, which only this process uses, and the directories
 * above it. */
static int make_place(int holder, const char *path, int mount)
{
    char name[NAME_MAX + 1];
    int dir = open_below(holder, ""), fd;
    const char *slash;
    struct stat st;

    for (; dir >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        if ((size_t)(slash - path) > NAME_MAX)
            return close_with(dir, ENAMETOOLONG);
        memcpy(name, path, (size_t)(slash - path));
        name[slash - path] = 0;
        mkdirat(dir, name, 0755);
        fd = open_below(dir, name);
        close_with(dir, errno);
        dir = fd;
    }
    if (dir < 0 || fstat(mount, &st) < 0)
        return close_with(dir, errno);
    if (S_ISDIR(st.st_mode))
        mkdirat(dir, path, 0755);
    else
        close_with(openat(dir, path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644), 0);
    fd = open_below(dir, path);
    close_with(dir, errno);
    return fd;
}

static bool is_in_holder(const struct policy_header *p, const struct policy_item *item)
{
    uint32_t n = 0;

    policy_each(root, p)
    {
        if (policy_is_root(root->kind) && ++n == item->root)
            return root->kind == POLICY_HOLDER;
    }
    return false;
}

/* The new /dev/shm is as empty as a holder. */
static int make_place_in_shm(const struct mounts_builder *b, const char *path, int mount)
{
    int shm = open_below(b->roots->fd[0], "dev/shm");
    int place = shm >= 0 ? make_place(shm, path, mount) : -1;

    close_with(shm, errno);
    return place;
}

/* Attaches a root in the new tree. */
static bool attach_root(const struct mounts_builder *b, const struct policy_header *p,
                        const struct policy_item *item, int mount)
{
    static const char shm[] = "/dev/shm/";
    const size_t n_shm = sizeof shm - 1;
    struct stat st;
    bool done;
    int place;

    if (is_in_holder(p, item))
        place = make_place(b->roots->fd[item->root], item->text + item->at, mount);
    else if (item->root == 0 && strncmp(item->text, shm, n_shm) == 0)
        place = make_place_in_shm(b, item->text + n_shm, mount);
    else
        place = locate(b->roots, item, &st);
    done = place >= 0 && attach_at(mount, place);

    close_with(place, errno);
    return done;
}

/* Where no command can write, a name is as good as a descriptor. */
static bool attach_cover(const struct mounts_builder *b, const struct policy_item *item, int mount,
                         int dir, const char *name)
{
    struct stat st;
    bool done;
    int place;

    if (item->expect == POLICY_ANY)
        return kernel_move_mount(mount, dir, name, 0) == 0;
    place = locate(b->roots, item, &st);
    done = place >= 0 && attach_at(mount, place);
    close_with(place, errno);
    return done;
}

static bool cover(const struct mounts_builder *b, const struct policy_item *item, int holder)
{
    const char *name = NULL;
    struct stat st;
    int dir = locate_name(b->roots, item, &st, &name), mount = holder;
    bool done;

    if (dir < 0)
        return errno == ENOENT;
    if (S_ISLNK(st.st_mode))
        return true; /* its target is hidden by its own name */
    if (mount < 0)
        mount = clone_closed(b->roots, st.st_mode);
    done = mount >= 0 && attach_cover(b, item, mount, dir, name);
    if (holder < 0)
        close_with(mount, errno);
    return done;
}

static bool set_right(int mount, uint32_t kind)
{
    if (kind == POLICY_OPEN)
        return make_writable(mount);
    return kind != POLICY_READ_ONLY || set_attributes(mount, MOUNT_ATTR_RDONLY);
}

/* Binds the place to itself. */
bool mounts_pin(const struct policy_item *item, int place)
{
    int mount = clone_tree(place);
    bool done = mount >= 0 && set_right(mount, item->kind) && attach_at(mount, place);

    close_with(mount, errno);
    return done;
}

bool mounts_hide(const struct root_fds *roots, int place, const struct stat *st)
{
    int mount = clone_closed(roots, st->st_mode);
    bool done = mount >= 0 && attach_at(mount, place);

    close_with(mount, errno);
    return done;
}

static bool pin(const struct mounts_builder *b, const struct policy_item *item)
{
    struct stat st;
    int place = locate(b->roots, item, &st);
    bool done;

    if (place < 0)
        return errno == ENOENT;
    if (S_ISLNK(st.st_mode)) { /* keel checks it */
        close(place);
        return true;
    }
    done = mounts_pin(item, place);
    close_with(place, errno);
    return done;
}

/* `n_root`: its number, if it is a root. */
static bool carry_out(const struct mounts_builder *b, const struct policy_header *p,
                      const struct policy_item *item, unsigned n_root)
{
    switch (item->kind) {
    case POLICY_WRITABLE:
    case POLICY_VISIBLE:
        return attach_root(b, p, item, b->roots->fd[n_root]);
    case POLICY_HOLDER:
        return cover(b, item, b->roots->fd[n_root]);
    case POLICY_HIDDEN:
        return cover(b, item, -1);
    case POLICY_READ_ONLY:
    case POLICY_ANCHOR:
    case POLICY_OPEN:
        return pin(b, item);
    case POLICY_LACKS:
    case POLICY_CWD:
        return true;
    }
    errno = EINVAL;
    return false;
}

static bool is_first(const struct policy_item *item)
{
    return item->root == 0 && (item->kind == POLICY_HIDDEN || item->kind == POLICY_HOLDER);
}

static struct fault carry_out_items(const struct mounts_builder *b, const struct policy_header *p,
                                    bool first)
{
    unsigned i = 0, n_root = 0;

    locate_anew(b->roots);
    policy_each(item, p)
    {
        n_root += policy_is_root(item->kind);
        if (is_first(item) == first && !carry_out(b, p, item, n_root))
            return fault_of_item(errno, i);
        i++;
    }
    return (struct fault){0};
}

/* A holder is writable while places are made in it. */
static struct fault close_holders(const struct mounts_builder *b, const struct policy_header *p)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    unsigned i = 0, n_root = 0;

    policy_each(item, p)
    {
        n_root += policy_is_root(item->kind);
        if (item->kind == POLICY_HOLDER &&
            kernel_mount_setattr(b->roots->fd[n_root], "", AT_EMPTY_PATH, &attr) < 0)
            return fault_of_item(errno, i);
        i++;
    }
    return (struct fault){0};
}

/* --- the whole --- */

static struct fault build_root(struct mounts_builder *b, const struct policy_header *p)
{
    struct fault fault;
    int proc;

    if (kernel_mount(NULL, "/", NULL, MS_REC | MS_PRIVATE) < 0 || !roots_begin(b->roots) ||
        !make_own(b) || !clone_devices(b))
        return (struct fault){errno, EXEC_STEP_MOUNTS, 0};
    fault = clone_roots(b, p);
    if (fault.error)
        return fault;
    proc = take_ahead(&b->roots->ahead_proc, new_proc);
    if (proc < 0 || !attach(proc, "/proc"))
        return (struct fault){errno, EXEC_STEP_PROC, 0};
    if (!lock_root() || !mask_proc(b) || !attach_devices(b) || !mount_dev(b))
        return (struct fault){errno, EXEC_STEP_MOUNTS, 0};
    fault = carry_out_items(b, p, /* first= */ true);
    if (!fault.error)
        fault = carry_out_items(b, p, /* first= */ false);
    return fault.error ? fault : close_holders(b, p);
}

struct fault mounts_build(const struct policy_header *p, struct root_fds *roots)
{
    struct mounts_builder b = {.roots = roots};
    mode_t mask = umask(0);
    struct fault fault = build_root(&b, p);

    umask(mask);
    return fault;
}
