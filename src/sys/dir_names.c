/* dir_names.c - reads a directory at once. */
#include "sys/dir_names.h"

#include "sys/auto_fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#ifndef FS_CASEFOLD_FL
#define FS_CASEFOLD_FL 0x40000000
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum { LISTING_BYTES = 32 << 10 };

/* --- one directory --- */

/* File systems of this machine's kernel, which list what they find by name, now and not as a server
 * said some seconds ago. */
static bool lists_all(int fd)
{
    static const long known[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,       BTRFS_SUPER_MAGIC,
                                 TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC};
    struct statfs st;

    if (fstatfs(fd, &st) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (st.f_type == known[i])
            return true;
    return false;
}

/* What a file system that ignores case makes of other letters only it knows. */
static bool takes_letters_as_they_are(int fd)
{
    int flags = 0;

    return ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && !(flags & FS_CASEFOLD_FL);
}

static bool is_ascii(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] & 0x80)
            return false;
    return true;
}

/* Into `small`, which has room for it. */
static struct str to_small(struct str name, char *small)
{
    for (size_t i = 0; i < name.n; i++)
        small[i] = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 0x20) : name.p[i];
    return str_make(small, name.n);
}

static struct str *slot_of(const struct dir_names *n, struct str name)
{
    size_t i = str_hash(name) & (n->n_slots - 1);

    while (n->slots[i].n && !str_eq(n->slots[i], name))
        i = (i + 1) & (n->n_slots - 1);
    return &n->slots[i];
}

struct listing {
    char *bytes;
    size_t n_bytes, n_names;
    bool is_ascii;
};

static const struct dirent64 *next_entry(const struct listing *l, size_t *at)
{
    const struct dirent64 *entry = (const struct dirent64 *)(const void *)(l->bytes + *at);

    if (*at >= l->n_bytes)
        return NULL;
    *at += entry->d_reclen;
    return entry;
}

/* Did one call give out all of it? */
static bool read_listing(int fd, struct listing *l)
{
    const struct dirent64 *entry;
    ssize_t n = getdents64(fd, l->bytes, LISTING_BYTES);
    size_t at = 0;
    char more[sizeof(struct dirent64)];

    if (n <= 0 || getdents64(fd, more, sizeof more) != 0)
        return false;
    l->n_bytes = (size_t)n;
    l->is_ascii = true;
    while ((entry = next_entry(l, &at))) {
        l->n_names++;
        l->is_ascii = l->is_ascii && is_ascii(str_of(entry->d_name));
    }
    return true;
}

static void take_names(struct dir_names *n, struct arena *a, const struct listing *l)
{
    const struct dirent64 *entry;
    size_t at = 0;

    n->n_slots = 16;
    while (n->n_slots < 2 * l->n_names)
        n->n_slots *= 2;
    n->slots = ARENA_ARRAY(a, n->n_slots, struct str);
    while ((entry = next_entry(l, &at))) {
        struct str name = arena_str(a, str_of(entry->d_name));

        name = to_small(name, (char *)(uintptr_t)name.p);
        *slot_of(n, name) = name;
    }
}

void dir_names_read(struct dir_names *n, struct arena *a, int dir)
{
    AUTO_FD fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct listing l = {0};

    *n = (struct dir_names){0};
    if (fd < 0 || !lists_all(fd))
        return;
    l.bytes = mem_alloc(LISTING_BYTES);
    if (read_listing(fd, &l) && (l.is_ascii || takes_letters_as_they_are(fd)))
        take_names(n, a, &l);
    mem_free(l.bytes);
}

bool dir_names_lack(const struct dir_names *n, struct str name)
{
    char small[NAME_MAX];

    if (!n->slots || name.n == 0 || name.n > sizeof small || !is_ascii(name))
        return false;
    return slot_of(n, to_small(name, small))->n == 0;
}

/* --- several --- */

void known_dirs_add(struct known_dirs *k, const char *path)
{
    BUG_IF(k->n == KNOWN_DIRS_MAX);
    k->dirs[k->n++] = (struct known_dir){.path = path};
}

void known_dirs_add_usual(struct known_dirs *k, const char *home)
{
    static const char *const in_home[] = {"/.config", "/.local/share"};

    if (home && strcmp(home, "/") != 0) {
        known_dirs_add(k, home);
        for (size_t i = 0; i < ARRAY_LEN(in_home); i++)
            known_dirs_add(k, arena_format(k->arena, "%s%s", home, in_home[i]).p);
    }
    known_dirs_add(k, "/etc");
    known_dirs_add(k, "/var/lib");
}

/* What of the path lies below the directory; empty: it does not lie there. */
static struct str below(const struct known_dir *d, const char *path)
{
    size_t n = strlen(d->path);

    return strncmp(path, d->path, n) == 0 && path[n] == '/' ? str_of(path + n + 1)
                                                            : (struct str){0};
}

static void read_dir(struct known_dirs *k, struct known_dir *d)
{
    AUTO_FD fd = -1;

    d->is_read = true;
    fd = open(d->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    d->is_missing = fd < 0 && errno == ENOENT;
    if (fd >= 0)
        dir_names_read(&d->names, k->arena, fd);
}

/* Of the first n directories the last that it lies in knows most of it. */
static bool lack_in(struct known_dirs *k, size_t n, const char *path)
{
    struct str rest = {0}, name;
    struct known_dir *d = NULL;

    while (n > 0 && rest.n == 0) {
        d = &k->dirs[--n];
        rest = below(d, path);
    }
    if (rest.n == 0)
        return false;
    if (!d->is_read && lack_in(k, n, d->path))
        d->is_read = d->is_missing = true;
    if (!d->is_read)
        read_dir(k, d);
    str_split(&rest, '/', &name);
    return d->is_missing || dir_names_lack(&d->names, name);
}

bool known_dirs_lack(struct known_dirs *k, const char *path)
{
    return lack_in(k, k->n, path);
}
