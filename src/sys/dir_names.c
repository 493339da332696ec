/* dir_names.c - reads a directory at once. */
#include "sys/dir_names.h"

#include "base/ascii.h"
#include "base/strbuf.h"
#include "sys/auto_fd.h"

#include <dirent.h>
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

bool dir_lists_all(int fd)
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

/* Only the file system knows how it folds the case of other letters. */
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
        small[i] = ascii_lower(name.p[i]);
    return str_make(small, name.n);
}

static struct str *slot_of(const struct dir_names *n, struct str name)
{
    size_t i = str_hash(name) & (n->n_slots - 1);

    while (n->slots[i].n && !str_eq(n->slots[i], name))
        i = (i + 1) & (n->n_slots - 1);
    return &n->slots[i];
}

struct dir_listing {
    char *bytes;
    size_t n_bytes, n_names;
    bool is_ascii;
};

static const struct dirent64 *next_entry(const struct dir_listing *l, size_t *at)
{
    const struct dirent64 *entry = (const struct dirent64 *)(const void *)(l->bytes + *at);

    if (*at >= l->n_bytes)
        return NULL;
    *at += entry->d_reclen;
    return entry;
}

/* Did one call return the whole directory? */
static bool read_listing(int fd, struct dir_listing *l)
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

static void take_names(struct dir_names *n, struct arena *a, const struct dir_listing *l)
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
    struct dir_listing l = {0};

    *n = (struct dir_names){0};
    if (fd < 0 || !dir_lists_all(fd))
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

bool dir_names_lack_first(const struct dir_names *n, const char *path)
{
    return dir_names_lack(n, str_make(path, strcspn(path, "/")));
}

/* --- below a directory --- */

void names_below_init(struct names_below *n, struct arena *a, const char *top)
{
    *n = (struct names_below){
        .arena = a, .top = top, .n_top_bytes = top && strcmp(top, "/") != 0 ? strlen(top) : 0};
}

void names_below_init_home(struct names_below *n, struct arena *a, const char *home)
{
    names_below_init(n, a, home);
    n->inner[0] = ".config";
    n->inner[1] = ".local/share";
}

/* By its path, like a program that opens something in it. `i` 0 is the directory itself. */
static const struct dir_names *names_of(struct names_below *n, size_t i)
{
    AUTO(strbuf) struct strbuf path = {0};
    AUTO_FD fd = -1;

    if (n->is_read[i])
        return &n->names[i];
    n->is_read[i] = true;
    strbuf_addf(&path, "%s/%s", n->top, i ? n->inner[i - 1] : "");
    fd = open(strbuf_cstr(&path), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        dir_names_read(&n->names[i], n->arena, fd);
    return &n->names[i];
}

bool names_below_lack(struct names_below *n, const char *path)
{
    if (!n->top)
        return false;
    if (dir_names_lack_first(names_of(n, 0), path))
        return true;
    for (size_t i = 0; i < NAMES_BELOW_MAX && n->inner[i]; i++) {
        size_t n_inner = strlen(n->inner[i]);

        if (strncmp(path, n->inner[i], n_inner) == 0 && path[n_inner] == '/')
            return dir_names_lack_first(names_of(n, i + 1), path + n_inner + 1);
    }
    return false;
}

bool names_below_lack_at(struct names_below *n, const char *path)
{
    return n->top && strncmp(path, n->top, n->n_top_bytes) == 0 && path[n->n_top_bytes] == '/' &&
           names_below_lack(n, path + n->n_top_bytes + 1);
}
