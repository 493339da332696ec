/* landlock.c - which files may be reached and changed, as rules that bind a process for good.
 *
 * With namespaces this is the second wall: it says again what is writable. Without them it is the
 * only one for files, and says what may be read as well. Landlock also keeps the command from
 * tracing processes outside and, from version 6 of its interface on, from signalling them and from
 * their abstract sockets. Old headers lack the newer rights, so all are named here. */
#include "exec/exec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
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

struct rules {
    int fd;
    uint64_t handled;
};

static uint64_t rights_of(int abi)
{
    return V1_RIGHTS | (abi >= 2 ? REFER : 0) | (abi >= 3 ? TRUNCATE : 0) |
           (abi >= 5 ? IOCTL_DEV : 0);
}

static bool open_rules(struct rules *r, int abi)
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

static unsigned char type_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? IFTODT(st.st_mode) : DT_REG;
}

/* What is not there, or out of the user's own reach, needs no rule. */
static bool grant_at(const struct rules *r, int dir, const char *path, unsigned char type,
                     uint64_t rights)
{
    struct path_attr attr = {.rights = rights & r->handled};
    bool done;
    int error;

    attr.fd = openat(dir, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (attr.fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP;
    if (type == DT_UNKNOWN)
        type = type_of(attr.fd);
    if (type != DT_DIR)
        attr.rights &= FILE_RIGHTS;
    done = type == DT_LNK || syscall(SYS_landlock_add_rule, r->fd, PATH_BENEATH, &attr, 0) == 0;
    error = errno;
    close(attr.fd);
    errno = error;
    return done;
}

static bool grant(const struct rules *r, const char *path, uint64_t rights)
{
    return grant_at(r, AT_FDCWD, path, DT_UNKNOWN, rights);
}

/* Devices are not to be made, whoever may. */
static uint64_t all_rights(const struct rules *r)
{
    return r->handled & ~(MAKE_CHAR | MAKE_BLOCK);
}

static bool grant_devices(const struct rules *r)
{
    for (int i = 0; common_devices[i]; i++)
        if (!grant_at(r, AT_FDCWD, common_devices[i], DT_CHR,
                      READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEV))
            return false;
    return true;
}

/* --- a directory, entry by entry --- */

/* Do the items behind `split` name it? */
static bool is_excepted(const struct policy_header *p, const struct policy_item *split,
                        const char *name)
{
    for (const struct policy_item *item = policy_next(p, split);
         item && item->kind == POLICY_EXCEPT; item = policy_next(p, item))
        if (strcmp(item->text, name) == 0)
            return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool grant_entries(const struct rules *r, const struct policy_header *p,
                          const struct policy_item *split, int dir, uint64_t rights)
{
    _Alignas(struct dirent64) static char buffer[32768];
    ssize_t n;

    while ((n = getdents64(dir, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);

            if (entry->d_type != DT_LNK && !is_excepted(p, split, entry->d_name) &&
                !grant_at(r, dir, entry->d_name, entry->d_type, rights))
                return false;
            at += entry->d_reclen;
        }
    return n == 0;
}

/* The directory itself gets no right, as that would be one over all that is in it; but in the
 * workspace one may see the names. */
static bool grant_split(const struct rules *r, const struct policy_header *p,
                        const struct policy_item *split)
{
    bool is_writable = split->kind == POLICY_SPLIT_WRITE, done;
    int dir = open(split->text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (dir < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP;
    done = (!is_writable || grant_at(r, dir, ".", DT_DIR, READ_DIR)) &&
           grant_entries(r, p, split, dir, is_writable ? all_rights(r) : READ_RIGHTS);
    close(dir);
    return done;
}

static bool carry_out(const struct rules *r, const struct policy_header *p,
                      const struct policy_item *item)
{
    switch (item->kind) {
    case POLICY_WRITABLE:
    case POLICY_GRANT_WRITE:
        return grant(r, item->text, all_rights(r));
    case POLICY_GRANT_READ:
        return grant(r, item->text, READ_RIGHTS);
    case POLICY_SPLIT_READ:
    case POLICY_SPLIT_WRITE:
        return grant_split(r, p, item);
    }
    return true; /* mounts, and the exceptions of a split */
}

static struct fault carry_out_items(const struct rules *r, const struct policy_header *p)
{
    unsigned i = 0;

    policy_each(item, p)
    {
        if (!carry_out(r, p, item))
            return (struct fault){errno, EXEC_STEP_ITEM, i};
        i++;
    }
    return (struct fault){0};
}

/* What the mounts have made: all may be read, and /dev has terminals and memory of its own. */
static bool grant_root(const struct rules *r)
{
    return grant(r, "/", READ_RIGHTS) && grant(r, "/dev/shm", all_rights(r)) &&
           grant(r, "/dev/pts", READ_FILE | WRITE_FILE | IOCTL_DEV) &&
           grant(r, "/dev/ptmx", READ_FILE | WRITE_FILE | IOCTL_DEV);
}

int landlock_version(void)
{
    int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

    return abi > 0 ? abi : 0;
}

struct fault landlock_confine(const struct policy_header *p, int *ret_abi)
{
    bool has_namespaces = p->flags & POLICY_NAMESPACES;
    int abi = *ret_abi = landlock_version();
    struct fault fault;
    struct rules r;

    if (abi == 0 && has_namespaces)
        return (struct fault){0}; /* the first wall stands */
    if (abi == 0 || !open_rules(&r, abi))
        return (struct fault){errno, EXEC_STEP_LANDLOCK, 0};
    fault = carry_out_items(&r, p);
    if (fault.error)
        return fault;
    if (!grant_devices(&r) || (has_namespaces && !grant_root(&r)) ||
        syscall(SYS_landlock_restrict_self, r.fd, 0) < 0)
        fault = (struct fault){errno, EXEC_STEP_LANDLOCK, 0};
    close(r.fd);
    return fault;
}
