/* policy.h - what a sandboxed command may reach, from keel to keel-exec.
 *
 * A file in memory, sealed by keel: a header, then items. An item is a head and a text that ends
 * with a NUL; its size is a multiple of eight. Everything is in the machine's byte order, as both
 * programs come from one build. keel has made all decisions: paths are absolute and canonical, and
 * a directory comes before its contents. keel-exec carries the items out.
 *
 * Commands that still run can replace anything in a writable place at any time. So a path there is
 * only the way to a place, and the item also says what keel has seen there. keel-exec opens it from
 * its directory (`root`), through no link, and compares.
 *
 * There are two ways. With namespaces the items are mounts (POLICY_WRITABLE to POLICY_OPEN).
 * Without, they are Landlock rules (POLICY_ROOT to POLICY_EXCEPT): Landlock can only grant, so a
 * directory in which something is denied is split: all its entries are granted, except those that
 * follow it as POLICY_EXCEPT. */
#ifndef KEEL_EXEC_POLICY_H
#define KEEL_EXEC_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_VERSION 4
#define POLICY_MAX_ROOTS 256

enum policy_flag {
    POLICY_NAMESPACES = 1 << 0,
    POLICY_NETWORK = 1 << 1, /* the machine's; otherwise none */
    POLICY_PROXY = 1 << 2,   /* none, except keel's proxy: EXEC_PROXY_PORT */
    POLICY_FULL = 1 << 3,    /* all walls, or no command */
};

enum policy_kind {
    POLICY_WRITABLE = 1, /* a root: a directory, bound as it is */
    POLICY_VISIBLE,      /* a root inside a hidden one: bound for reading */
    POLICY_HOLDER,       /* a root: a hidden directory that contains visible or writable ones */
    POLICY_HIDDEN,       /* nothing can be seen in it */
    POLICY_READ_ONLY,    /* inside a writable place */
    POLICY_ANCHOR,       /* a directory above a read-only one: cannot be moved */
    POLICY_OPEN,         /* a directory in a read-only one: writable */
    /* A directory and, after the NUL of its path, names that are missing there, each with a NUL.
     * What appears there later is hidden. */
    POLICY_LACKS,

    POLICY_ROOT = 16, /* a root: a writable directory, for the following items */
    POLICY_NEVER,     /* hidden: not granted by any name */
    POLICY_GRANT_READ,
    POLICY_GRANT_WRITE,
    POLICY_SPLIT_READ,
    POLICY_SPLIT_WRITE,
    POLICY_EXCEPT, /* the name of an entry */

    POLICY_CWD = 32, /* the working directory */
};

/* What must be at the place. */
enum policy_expect {
    POLICY_ANY,    /* anything or nothing: no command can write there */
    POLICY_THIS,   /* the file with this device and inode */
    POLICY_ABSENT, /* nothing */
};

struct policy_header {
    uint32_t version; /* POLICY_VERSION */
    uint32_t flags;   /* enum policy_flag */
    uint32_t n_items;
    uint32_t n_bytes; /* the whole file */
};

struct policy_item {
    uint32_t kind;    /* enum policy_kind */
    uint32_t n_bytes; /* including this head */
    uint32_t root;    /* 0: the path begins at "/"; n: at the n-th root before this one */
    uint32_t at; /* offset in the text: start of the path from the root; "" is the root itself */
    uint32_t expect; /* enum policy_expect */
    uint32_t reserved;
    uint64_t device, inode; /* for POLICY_THIS */
    char text[];
};

/* The first name of a POLICY_LACKS, or the one after `name`; NULL: no more. */
static inline const char *policy_next_name(const struct policy_item *item, const char *name)
{
    const char *end = (const char *)item + item->n_bytes;

    for (name = name ? name : item->text; name < end && *name; name++)
        continue;
    return name + 1 < end && name[1] ? name + 1 : NULL;
}

static inline bool policy_is_root(uint32_t kind)
{
    return kind == POLICY_WRITABLE || kind == POLICY_VISIBLE || kind == POLICY_HOLDER ||
           kind == POLICY_ROOT;
}

#endif
