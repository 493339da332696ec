/* landlock.c - limits the files that a process can reach and change, for the rest of its life.
 *
 * With namespaces this is a second wall: it repeats which places are writable. Without them it is
 * the only one for files, and also limits reading. Landlock also prevents the command from tracing
 * processes outside and, from version 6 of its interface on, from signalling them and from using
 * their abstract sockets. Old headers lack the newer rights, so all are defined here. */
#include "exec/exec.h"
#include "exec/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define MAKE_CHAR (1ull << 6)
#define MAKE_BLOCK (1ull << 11)
#define V1_RIGHTS ((1ull << 13) - 1)
#define REFER (1ull << 13)     /* version 2 */
#define TRUNCATE (1ull << 14)  /* version 3 */
#define IOCTL_DEV (1ull << 15) /* version 5 */

#define FILE_RIGHTS (EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV)
#define READ_RIGHTS (EXECUTE | READ_FILE | READ_DIR)

#define SCOPE_ABSTRACT_SOCKETS (1ull << 0) /* version 6 */
#define SCOPE_SIGNALS (1ull << 1)

enum { GET_VERSION = 1, PATH_BENEATH = 1 };

struct ruleset_attr {
    uint64_t files, network, scopes;
};
struct path_attr {
    uint64_t rights;
    int32_t fd;
} __attribute__((packed));

struct landlock_rules {
    int fd;
    uint64_t handled;
};

static uint64_t rights_of(int abi)
{
    return V1_RIGHTS | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) |
           (abi >= 5 ? IOCTL_DEV : 0);
}

static bool open_rules(struct landlock_rules *r, int abi)
{
    struct ruleset_attr attr = {.files = rights_of(abi)};
    size_t size = sizeof attr.files;

    if (abi >= 6) {
        attr.scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;
        size = sizeof attr;
    }
    r->handled = attr.files;
    r->fd = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
    return r->fd >= 0;
}

/* Links are not granted: their targets are granted, or not, by their own names. */
static bool grant_fd(const struct landlock_rules *r, int fd, mode_t mode, uint64_t rights)
{
    struct path_attr attr = {.rights = rights & r->handled, .fd = fd};

    if (S_ISLNK(mode))
        return true;
    if (!S_ISDIR(mode))
        attr.rights &= FILE_RIGHTS;
    return syscall(SYS_landlock_add_rule, r->fd, PATH_BENEATH, &attr, 0) == 0;
}

static void close_quietly(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
}

/* Grants one of the machine's places. A place that is missing, or that the user cannot reach, needs
 * no rule. */
static bool grant(const struct landlock_rules *r, const char *path, uint64_t rights)
{
    int fd = openat(AT_FDCWD, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    bool done;

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    done = fstat(fd, &st) == 0 && grant_fd(r, fd, st.st_mode, rights);
    close_quietly(fd);
    return done;
}

/* Making devices is never allowed. */
static uint64_t all_rights(const struct landlock_rules *r)
{
    return r->handled & ~(MAKE_CHAR | MAKE_BLOCK);
}

static bool grant_devices(const struct landlock_rules *r)
{
    for (int i = 0; common_devices[i]; i++)
        if (!grant(r, common_devices[i], READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV))
            return false;
    return true;
}

/* --- the machine's own /proc --- */

/* What programs read about the machine. Not other processes, nor their open files. */
static const char *const machine_files[] = {
    "cmdline", "cpuinfo", "filesystems", "loadavg", "meminfo", "stat",
    "swaps",   "uptime",  "version",     "vmstat",  NULL,
};
static const char *const machine_dirs[] = {"sys", NULL};

/* And about themselves. The sockets of all processes are among it. Only the process that becomes
 * the command can be granted these; its children do not exist yet. */
static const char *const own_files[] = {
    "cgroup", "cmdline", "maps", "mountinfo", "mounts", "stat", "statm", "status", NULL,
};
static const char *const own_dirs[] = {"fd", NULL};

/* execve() closes these; there are few of them. */
static void leave_open(int fd)
{
    enum { MANY = 200 };

    if (fd > MANY)
        close_quietly(fd);
}

static bool grant_names(const struct landlock_rules *r, const char *directory,
                        const char *const *names, mode_t mode)
{
    int dir = openat(AT_FDCWD, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool done = dir >= 0 || errno == ENOENT;

    for (; done && dir >= 0 && *names; names++) {
        int fd = openat(dir, *names, O_PATH | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0)
            continue; /* not every kernel has it */
        done = grant_fd(r, fd, mode, READ_FILE | READ_DIR);
        leave_open(fd);
    }
    leave_open(dir);
    return done;
}

static bool grant_proc(const struct landlock_rules *r)
{
    return grant_names(r, "/proc", machine_files, S_IFREG) &&
           grant_names(r, "/proc", machine_dirs, S_IFDIR) &&
           grant_names(r, "/proc/self", own_files, S_IFREG) &&
           grant_names(r, "/proc/self", own_dirs, S_IFDIR);
}

/* --- denials --- */

/* A rule is for a file, not for a name: one for a second name of a hidden file, for a directory
 * that was exchanged for a split one, or for a split one that is also mounted elsewhere, would
 * grant what is denied. The low bits of most inodes prove that they are not among these. */
struct denials {
    const struct policy_header *policy;
    struct root_fds *roots;
    uint64_t low_bits[1024 / 64];
    struct denied_id {
        dev_t device;
        ino_t inode;
    } *ids;
    unsigned n;
};

static void deny_id(struct denials *d, dev_t device, ino_t inode)
{
    d->ids[d->n++] = (struct denied_id){device, inode};
    d->low_bits[inode % 1024 / 64] |= 1ull << inode % 64;
}

static bool may_be_denied(const struct denials *d, uint64_t inode)
{
    return d->low_bits[inode % 1024 / 64] >> inode % 64 & 1;
}

static bool is_denied(const struct denials *d, const struct stat *st)
{
    for (unsigned i = 0; may_be_denied(d, st->st_ino) && i < d->n; i++)
        if (d->ids[i].inode == st->st_ino && d->ids[i].device == st->st_dev)
            return true;
    return false;
}

static bool is_split(const struct policy_item *item)
{
    return item->kind == POLICY_SPLIT_READ || item->kind == POLICY_SPLIT_WRITE;
}

static struct fault find_denied(struct denials *d)
{
    unsigned i = 0;

    policy_each(item, d->policy)
    {
        struct stat st;

        if (item->kind == POLICY_NEVER || is_split(item)) {
            if (locate_name(d->roots, item, &st, NULL) >= 0)
                deny_id(d, st.st_dev, st.st_ino);
            else if (errno != ENOENT)
                return fault_of_item(errno, i);
        }
        i++;
    }
    return (struct fault){0};
}

/* --- split directories --- */

/* Do the items after `split` name it? */
static bool is_excepted(const struct policy_header *p, const struct policy_item *split,
                        const char *name)
{
    for (const struct policy_item *item = policy_next(p, split);
         item && item->kind == POLICY_EXCEPT; item = policy_next(p, item))
        if (strcmp(item->text, name) == 0)
            return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* What a directory says of a file is reliable where no command can write. But an entry may be a
 * mount point: only the opened directory shows what it is. */
static bool is_certain(const struct denials *d, const struct policy_item *split,
                       const struct kernel_dirent *entry)
{
    return split->expect == POLICY_ANY && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN &&
           !may_be_denied(d, entry->d_ino);
}

static bool grant_entry(const struct landlock_rules *r, const struct denials *d,
                        const struct policy_item *split, int dir, const struct kernel_dirent *entry,
                        uint64_t rights)
{
    int fd = openat(dir, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    bool done;

    if (fd < 0)
        return errno == ENOENT || errno == EACCES;
    if (is_certain(d, split, entry))
        done = grant_fd(r, fd, DTTOIF(entry->d_type), rights);
    else
        done = fstat(fd, &st) == 0 && (is_denied(d, &st) || grant_fd(r, fd, st.st_mode, rights));
    leave_open(fd);
    return done;
}

static bool grant_entries(const struct landlock_rules *r, const struct denials *d,
                          const struct policy_item *split, int dir, uint64_t rights)
{
    _Alignas(struct kernel_dirent) static char buffer[32768];
    ssize_t n;

    while ((n = kernel_getdents(dir, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct kernel_dirent *entry = (const struct kernel_dirent *)(buffer + at);

            if (entry->d_type != DT_LNK && !is_excepted(d->policy, split, entry->d_name) &&
                !grant_entry(r, d, split, dir, entry, rights))
                return false;
            at += entry->d_reclen;
        }
    return n == 0;
}

/* The directory itself gets no right, as a right would cover everything in it; but names in the
 * workspace may be listed. Everybody may list the root, unless this already is a sandbox of
 * Landlock: then nothing could be granted. */
static bool grant_split(const struct landlock_rules *r, const struct denials *d,
                        const struct policy_item *split, int place)
{
    bool is_writable = split->kind == POLICY_SPLIT_WRITE, done;
    int dir = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir < 0)
        return errno == ENOTDIR || (errno == EACCES && strcmp(split->text, "/") != 0);
    done = (!is_writable || grant_fd(r, dir, S_IFDIR, READ_DIR)) &&
           grant_entries(r, d, split, dir, is_writable ? all_rights(r) : READ_RIGHTS);
    close_quietly(dir);
    return done;
}

/* --- items --- */

static bool carry_out(const struct landlock_rules *r, const struct denials *d,
                      const struct policy_item *item)
{
    struct stat st;
    bool done;
    int fd;

    if (item->kind < POLICY_GRANT_READ || item->kind > POLICY_SPLIT_WRITE)
        return true;
    fd = locate(d->roots, item, &st);
    if (fd < 0)
        return errno == ENOENT;
    if (is_split(item))
        done = grant_split(r, d, item, fd);
    else
        done = grant_fd(r, fd, st.st_mode,
                        item->kind == POLICY_GRANT_WRITE ? all_rights(r) : READ_RIGHTS);
    close_quietly(fd);
    return done;
}

static struct fault carry_out_items(const struct landlock_rules *r, const struct denials *d)
{
    unsigned i = 0;

    locate_anew(d->roots);
    policy_each(item, d->policy)
    {
        if (!carry_out(r, d, item))
            return fault_of_item(errno, i);
        i++;
    }
    return (struct fault){0};
}

/* The only wall for files. */
static struct fault grant_items(const struct landlock_rules *r, const struct policy_header *p,
                                struct root_fds *roots)
{
    struct denials d = {.policy = p, .roots = roots};
    size_t n_bytes = (p->n_items + 1) * sizeof *d.ids;
    struct fault fault;

    d.ids = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (d.ids == MAP_FAILED)
        return (struct fault){errno, EXEC_STEP_LANDLOCK, 0};
    fault = find_denied(&d);
    if (!fault.error)
        fault = carry_out_items(r, &d);
    locate_anew(roots);
    munmap(d.ids, n_bytes);
    return fault;
}

/* Repeats the mounts: everything is readable, the writable places are writable, and /dev has its
 * own terminals and memory. */
static struct fault grant_mounts(const struct landlock_rules *r, const struct policy_header *p,
                                 const struct root_fds *roots)
{
    unsigned i = 0, n_root = 0;

    policy_each(item, p)
    {
        n_root += policy_is_root(item->kind);
        if (item->kind == POLICY_WRITABLE &&
            !grant_fd(r, roots->fd[n_root], S_IFDIR, all_rights(r)))
            return fault_of_item(errno, i);
        i++;
    }
    if (grant(r, "/", READ_RIGHTS) && grant(r, "/dev/shm", all_rights(r)) &&
        grant(r, "/dev/pts", READ_FILE | WRITE_FILE | IOCTL_DEV) &&
        grant(r, "/dev/ptmx", READ_FILE | WRITE_FILE | IOCTL_DEV))
        return (struct fault){0};
    return (struct fault){errno, EXEC_STEP_LANDLOCK, 0};
}

/* A separate set of rules: each set must allow a file. Each command has another /proc, so keel has
 * no rule for it. */
static bool restrict_reading(int fd)
{
    struct landlock_rules r = {fd, READ_FILE};

    return grant(&r, "/proc", READ_FILE) && syscall(SYS_landlock_restrict_self, fd, 0) == 0;
}

int landlock_version(void)
{
    int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

    return abi > 0 ? abi : 0;
}

/* Every set of rules takes away the right to move files between directories: here it is granted
 * everywhere. The parent is outside: if it cannot be reached, the wall works. */
bool landlock_enclose(void)
{
    struct ruleset_attr attr = {.files = REFER, .scopes = SCOPE_SIGNALS};
    struct landlock_rules r = {.fd = -1, .handled = attr.files};
    bool done;

    if (landlock_version() < 6)
        return false;
    r.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (r.fd < 0)
        return false;
    done = grant(&r, "/", REFER) && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, r.fd, 0) == 0 && kill(getppid(), 0) < 0 &&
           errno == EPERM;
    close(r.fd);
    return done;
}

struct fault landlock_confine(const struct policy_header *p, struct root_fds *roots, int rules_fd,
                              int *ret_abi)
{
    bool has_namespaces = p->flags & POLICY_NAMESPACES;
    int abi = *ret_abi = landlock_version();
    struct fault fault;
    struct landlock_rules r;

    if (abi == 0 && has_namespaces && !(p->flags & POLICY_FULL))
        return (struct fault){0}; /* the first wall is up; it does not cover named pipes */
    if (abi == 0 || !open_rules(&r, abi))
        return (struct fault){errno, EXEC_STEP_LANDLOCK, 0};
    fault = has_namespaces ? grant_mounts(&r, p, roots) : grant_items(&r, p, roots);
    if (!fault.error && ((!has_namespaces && !grant_proc(&r)) || !grant_devices(&r) ||
                         syscall(SYS_landlock_restrict_self, r.fd, 0) < 0))
        fault = (struct fault){errno, EXEC_STEP_LANDLOCK, 0};
    /* The larger set last: the kernel copies the existing ones. */
    if (!fault.error && rules_fd >= 0 && !restrict_reading(rules_fd))
        fault = (struct fault){errno, EXEC_STEP_LANDLOCK, 0};
    close(r.fd);
    return fault;
}
