/* policy.h - what a sandboxed command may reach, as keel tells it to keel-exec.
 *
 * A file in memory, sealed by keel: a header, then items. An item is a kind and a text that ends
 * with a NUL; its size is a multiple of four. Everything is in the machine's own byte order, as
 * both programs come from one build. keel has done the thinking: paths are absolute and canonical,
 * a directory comes before what lies in it, and keel-exec carries the items out one by one.
 *
 * There are two ways. With namespaces the items are mounts (POLICY_WRITABLE to POLICY_ANCHOR).
 * Without, they are Landlock rules (POLICY_GRANT_READ to POLICY_EXCEPT): Landlock can only grant,
 * so a directory in which something is denied is split, each of its entries granted but those that
 * follow it as POLICY_EXCEPT. */
#ifndef KEEL_EXEC_POLICY_H
#define KEEL_EXEC_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POLICY_VERSION 1

enum policy_flag {
    POLICY_NAMESPACES = 1 << 0,
    POLICY_NETWORK = 1 << 1, /* the machine's own; else none */
    POLICY_PROXY = 1 << 2,   /* none, but a way to keel's proxy: EXEC_PROXY_PORT */
};

enum policy_kind {
    POLICY_WRITABLE = 1, /* a directory: bound as it is */
    POLICY_VISIBLE,      /* in a hidden one: bound for reading */
    POLICY_HIDDEN,       /* nothing is in it any more */
    POLICY_HOLDER,       /* a hidden directory that holds visible or writable ones */
    POLICY_READ_ONLY,    /* inside what is writable */
    POLICY_ANCHOR,       /* a directory above a read-only one: cannot be moved away */

    POLICY_GRANT_READ = 16,
    POLICY_GRANT_WRITE,
    POLICY_SPLIT_READ,
    POLICY_SPLIT_WRITE,
    POLICY_EXCEPT, /* the name of an entry */
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
    char text[];
};

#endif
