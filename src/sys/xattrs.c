/* xattrs.c - reads extended attributes, and writes them.
 *
 * The text is a list of records: the name with a NUL, the length of the value as a number with a
 * NUL, the value. Records are in the order of their names. */
#include "sys/xattrs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/xattr.h>

#define MAX_NAMES 256
#define CAPABILITY "security.capability"

struct xattr_names {
    struct strbuf list;           /* as the kernel returns it */
    const char *names[MAX_NAMES]; /* those that are copied, in order */
    size_t n;
};

static bool is_kept(const char *name)
{
    return strncmp(name, "user.", strlen("user.")) == 0 ||
           strncmp(name, "system.posix_acl_", strlen("system.posix_acl_")) == 0 ||
           strcmp(name, CAPABILITY) == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool list_names(const char *path, struct xattr_names *x)
{
    ssize_t n = listxattr(path, NULL, 0);
    char *at;

    x->n = 0;
    x->list = (struct strbuf){.max_bytes = XATTRS_MAX_BYTES};
    if (n <= 0)
        return n == 0 || errno == ENOTSUP || errno == ENOENT; /* there is no /proc */
    at = strbuf_reserve(&x->list, (size_t)n);
    n = at ? listxattr(path, at, (size_t)n) : -1;
    if (n < 0)
        return false;
    strbuf_grew(&x->list, (size_t)n);
    for (const char *name = at; name < at + n; name += strlen(name) + 1) {
        if (!is_kept(name))
            continue;
        if (x->n == MAX_NAMES) {
            errno = E2BIG;
            return false;
        }
        x->names[x->n++] = name;
    }
    qsort(x->names, x->n, sizeof *x->names, by_name);
    return true;
}

bool xattrs_exist(int dir_fd, const char *name)
{
    char path[NAME_MAX + 32], list[1024];
    ssize_t n;

    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir_fd, name);
    n = llistxattr(path, list, sizeof list);
    if (n < 0)
        return errno == ERANGE;
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(list + at) + 1)
        if (is_kept(list + at))
            return true;
    return false;
}

static bool add_value(const char *path, const char *name, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf value = {.max_bytes = XATTRS_MAX_BYTES};
    ssize_t n = getxattr(path, name, NULL, 0);
    char *at = n < 0 ? NULL : strbuf_reserve(&value, (size_t)n + 1);

    if (!at)
        return false;
    n = getxattr(path, name, at, (size_t)n);
    if (n < 0)
        return false;
    strbuf_add(out, str_make(name, strlen(name) + 1));
    strbuf_addf(out, "%zd", n);
    strbuf_add_char(out, '\0');
    strbuf_add(out, str_make(at, (size_t)n));
    return true;
}

bool xattrs_read(const char *path, struct strbuf *out)
{
    struct xattr_names x;
    bool is_read = list_names(path, &x);
    for (size_t i = 0; i < x.n && is_read; i++)
        is_read = add_value(path, x.names[i], out);
    strbuf_done(&x.list);
    return is_read;
}

/* Takes the next record. False: there is none, or it is broken. */
static bool take_record(struct str *text, struct str *ret_name, struct str *ret_value)
{
    struct str length;
    int64_t n;

    if (!text->n || !str_split(text, '\0', ret_name) || !str_split(text, '\0', &length) ||
        !str_to_int64(length, &n) || n < 0 || (uint64_t)n > text->n)
        return false;
    *ret_value = str_slice(*text, 0, (size_t)n);
    *text = str_skip(*text, (size_t)n);
    return is_kept(ret_name->p);
}

static bool has_record(struct str text, const char *name)
{
    struct str known, value;

    while (take_record(&text, &known, &value))
        if (str_is(known, name))
            return true;
    return false;
}

bool xattrs_write(const char *path, struct str text)
{
    AUTO(strbuf) struct strbuf now = {.max_bytes = XATTRS_MAX_BYTES};
    struct xattr_names x;
    struct str name, value;
    bool is_done;

    if (xattrs_read(path, &now) && str_eq(strbuf_str(&now), text))
        return true;
    is_done = list_names(path, &x);

    for (size_t i = 0; i < x.n; i++)
        if (!has_record(text, x.names[i]))
            is_done &= removexattr(path, x.names[i]) == 0;
    strbuf_done(&x.list);
    while (take_record(&text, &name, &value))
        is_done &= setxattr(path, name.p, value.p, value.n, 0) == 0;
    return is_done && text.n == 0;
}

bool xattrs_inherit(int from_fd, int to_fd)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = XATTRS_MAX_BYTES};
    char from[64], to[64];
    struct xattr_names x;
    bool is_done;

    snprintf(from, sizeof from, "/proc/self/fd/%d", from_fd);
    snprintf(to, sizeof to, "/proc/self/fd/%d", to_fd);
    is_done = list_names(from, &x);
    for (size_t i = 0; i < x.n && is_done; i++)
        is_done = strcmp(x.names[i], CAPABILITY) == 0 || add_value(from, x.names[i], &text);
    strbuf_done(&x.list);
    return is_done && xattrs_write(to, strbuf_str(&text));
}
