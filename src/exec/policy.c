/* policy.c - reads the policy of a sandbox, which keel has put into a file in memory. */
#include "exec/exec.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_BYTES = 64 << 20 };

static const char *end_of(const struct policy_header *p)
{
    return (const char *)p + p->n_bytes;
}

static bool is_whole(const struct policy_header *p, const struct policy_item *item)
{
    size_t room = (size_t)(end_of(p) - (const char *)item);

    return room > sizeof *item && item->n_bytes > sizeof *item && item->n_bytes <= room &&
           item->n_bytes % 8 == 0 && memchr(item->text, 0, item->n_bytes - sizeof *item);
}

/* "a/b/c", or "", without "..". */
static bool is_way_down(const char *path)
{
    while (*path) {
        const char *slash = strchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) : strlen(path);

        if (n == 0 || (path[0] == '.' && (n == 1 || (n == 2 && path[1] == '.'))))
            return false;
        if (!slash)
            return true;
        path = slash + 1;
        if (!*path)
            return false;
    }
    return true;
}

/* The last name ends with the padding. */
static bool are_sound_names(const struct policy_item *item)
{
    const char *last = (const char *)item + item->n_bytes - 1;

    if (item->kind != POLICY_LACKS)
        return true;
    for (const char *name = NULL; (name = policy_next_name(item, name));)
        if (strchr(name, '/') || !is_way_down(name))
            return false;
    return !*last;
}

static bool is_sound_item(const struct policy_item *item, unsigned n_roots)
{
    if (item->kind == POLICY_EXCEPT)
        return *item->text && !strchr(item->text, '/');
    return item->expect <= POLICY_ABSENT && item->root <= n_roots && item->text[0] == '/' &&
           is_way_down(item->text + 1) && item->at >= 1 && item->at <= strlen(item->text) &&
           (item->text[item->at - 1] == '/' || !item->text[item->at]) && are_sound_names(item);
}

static bool is_sound(const struct policy_header *p, size_t n_bytes)
{
    unsigned n_items = 0, n_roots = 0;

    if (p->version != POLICY_VERSION || p->n_bytes != n_bytes)
        return false;
    policy_each(item, p)
    {
        if (!is_whole(p, item) || !is_sound_item(item, n_roots))
            return false;
        n_items++;
        n_roots += policy_is_root(item->kind);
    }
    return n_items == p->n_items && n_roots <= POLICY_MAX_ROOTS;
}

const struct policy_header *policy_open(int fd)
{
    const struct policy_header *p;
    struct stat st;

    if (fstat(fd, &st) < 0 || st.st_size < (off_t)sizeof *p || st.st_size > MAX_BYTES)
        return NULL;
    p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (is_sound(p, (size_t)st.st_size))
        return p;
    munmap((void *)(uintptr_t)p, (size_t)st.st_size);
    return NULL;
}

const struct policy_item *policy_next(const struct policy_header *p, const struct policy_item *item)
{
    const char *next = item ? (const char *)item + item->n_bytes : (const char *)(p + 1);

    return next < end_of(p) ? (const struct policy_item *)next : NULL;
}
