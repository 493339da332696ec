/* absent.c - reads a writable directory in one call, for covers_check(). */
#include "exec/covers.h"

#include "exec/kernel.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <strings.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef F2FS_SUPER_MAGIC
#define F2FS_SUPER_MAGIC 0xF2F52010
#endif

static bool lists_all(int fd)
{
    struct statfs st;

    if (fstatfs(fd, &st) < 0)
        return false;
    switch ((unsigned long)st.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
        return true;
    }
    return false;
}

/* Only the file system itself knows how it compares other letters if it ignores case. */
static bool is_ascii(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name[i] & 0x80)
            return false;
    return true;
}

static const struct kernel_dirent *next_entry(const struct absent *a, size_t *at)
{
    const struct kernel_dirent *entry = (const void *)(a->listing + *at);

    if (*at >= a->n_bytes)
        return NULL;
    *at += entry->d_reclen;
    return entry;
}

/* Leaves `n_bytes` 0 unless one call returned the whole directory, in names that can be
 * compared. */
static void read_names(struct absent *a, int dir)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct kernel_dirent *entry;
    char more[sizeof(struct kernel_dirent) + 8];
    ssize_t n = -1;
    size_t at = 0;

    a->n_bytes = 0;
    if (fd >= 0 && lists_all(fd))
        n = kernel_getdents(fd, a->listing, sizeof a->listing);
    if (n > 0 && kernel_getdents(fd, more, sizeof more) == 0)
        a->n_bytes = (size_t)n;
    if (fd >= 0)
        close(fd);
    while ((entry = next_entry(a, &at)))
        if (!is_ascii(entry->d_name, strlen(entry->d_name)))
            a->n_bytes = 0;
}

static bool lacks(const struct absent *a, const char *name, size_t n)
{
    const struct kernel_dirent *entry;
    size_t at = 0;

    if (a->n_bytes == 0 || n == 0 || !is_ascii(name, n))
        return false;
    while ((entry = next_entry(a, &at))) /* the first letter excludes most */
        if (((entry->d_name[0] ^ name[0]) | 0x20) == 0x20 &&
            strncasecmp(entry->d_name, name, n) == 0 && entry->d_name[n] == 0)
            return false;
    return true;
}

bool absent_is_certain(struct absent *a, const struct root_fds *roots,
                       const struct policy_item *item)
{
    const char *path = item->text + item->at;

    if (item->expect != POLICY_ABSENT || item->root == 0)
        return false;
    if (a->root != item->root)
        read_names(a, roots->fd[item->root]);
    a->root = item->root;
    return lacks(a, path, strcspn(path, "/"));
}
