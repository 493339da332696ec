/* policy.h - what a sandboxed command may reach, as keel tells it to keel-exec.
 *
 * A file in memory, sealed by keel: a header, then items. An item is a head and a text that ends
 * with a NUL; its size is a multiple of eight. Everything is in the machine's own byte order, as
 * both programs come from one build. keel has done the thinking: paths are absolute and canonical,
 * a directory comes before what lies in it, and keel-exec carries the items out.
 *
 * Commands that still run can exchange what lies in a writable place at any time. So a path there
 * is only the way to something, and the item also says what keel has seen at its end. keel-exec
 * opens it from the directory that it lies in (`root`), through no link, and compares.
 *
 * There are two ways. With namespaces the items are mounts (POLICY_WRITABLE to POLICY_OPEN).
 * Without, they are Landlock rules (POLICY_ROOT to POLICY_EXCEPT): Landlock can only grant, so a
 * directory in which something is denied is split, each of its entries granted but those that
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
    POLICY_NETWORK = 1 << 1, /* the machine's own; else none */
    POLICY_PROXY = 1 << 2,   /* none, but a way to keel's proxy: EXEC_PROXY_PORT */
    POLICY_FULL = 1 << 3,    /* every wall, or no command */
};

enum policy_kind {
    POLICY_WRITABLE = 1, /* a root. A directory: bound as it is */
    POLICY_VISIBLE,      /* a root. In a hidden one: bound for reading */
    POLICY_HOLDER,       /* a root. A hidden directory that holds visible or writable ones */
    POLICY_HIDDEN,       /* nothing is in it any more */
    POLICY_READ_ONLY,    /* inside what is writable */
    POLICY_ANCHOR,       /* a directory above a read-only one: cannot be moved away */
    POLICY_OPEN,         /* a directory in a read-only one: writable */
    /* A directory, and behind the NUL of its path names that are missing there, each with a NUL:
     * what comes to be there is hidden. */
    POLICY_LACKS,

    POLICY_ROOT = 16, /* a root. A writable directory, for the items that follow */
    POLICY_NEVER,     /* hidden: granted under no name */
    POLICY_GRANT_READ,
    POLICY_GRANT_WRITE,
    POLICY_SPLIT_READ,
    POLICY_SPLIT_WRITE,
    POLICY_EXCEPT, /* the name of an entry */

    POLICY_CWD = 32, /* where the command starts */
};

/* What must be there. */
enum policy_expect {
    POLICY_ANY,    /* whatever it is, or nothing: no command can write there */
    POLICY_THIS,   /* what has this device and inode */
    POLICY_ABSENT, /* nothing */
};

struct policy_header {
    uint32_t version; /* POLICY_VERSION */
    uint32_t flags;   /* enum policy_flag */
    uint32_t n_items;
    uint32_t n_bytes; /* all of it */
};

struct policy_item {
    uint32_t kind;    /* enum policy_kind */
    uint32_t n_bytes; /* with this head */
    uint32_t root;    /* 0: the path begins at "/"; n: at the n-th of the roots before this one */
    uint32_t at;      /* of the text: where the path from the root begins; "" is the root itself */
    uint32_t expect;  /* enum policy_expect */
    uint32_t reserved;
    uint64_t device, inode; /* for POLICY_THIS */
    char text[];
};

/* The first of the names of a POLICY_LACKS, or the one after `name`; NULL: there are no more. */
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
