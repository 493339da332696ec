/* needles.h - searches for many byte strings at once.
 *
 * The time of a search grows only with the text, whatever the text is and however many needles
 * there are. It looks at each byte a constant number of times, and skips most bytes where no needle
 * can be. Filled once, then only read: threads may share a set that needles_link() has finished. */
#ifndef KEEL_BASE_NEEDLES_H
#define KEEL_BASE_NEEDLES_H

#include "base/arena.h"

#define NEEDLES_MAX_BYTES 65535 /* of one */

/* The longest suffix of the bytes so far that begins a needle. Node 0: there is none. */
struct needle_node {
    const char *text;        /* its path: the first n_bytes of a needle */
    uint64_t tags;           /* of the needles that end here; 0: none */
    uint32_t child, sibling; /* 0: none */
    uint32_t fallback;       /* the node of the next shorter suffix */
    uint16_t n_bytes;
    unsigned char byte; /* the last one */
};

#define NEEDLES_N_PAIRS 4096 /* of two bytes, mixed */

struct needles {
    struct arena arena; /* the needles' bytes */
    struct str *items;
    size_t n_items, items_room;
    struct needle_node *nodes;
    size_t n_nodes, nodes_room;
    uint32_t first[256];                 /* the children of node 0, by their byte */
    bool begins[NEEDLES_N_PAIRS];        /* can a needle begin with this pair? */
    unsigned char skip[NEEDLES_N_PAIRS]; /* how far a window with this end may move */
    size_t window;                       /* at most the shortest needle's length */
};

void needles_init(struct needles *s);
void needles_done(struct needles *s); /* wipes them */

/* Adds a needle of 2 to NEEDLES_MAX_BYTES bytes, before needles_link(). `tag` are the bits that
 * report it, not 0. */
void needles_add(struct needles *s, struct str needle, uint64_t tag);
void needles_link(struct needles *s);

/* Where from `at` on a needle can begin, or text.n. Only between needles: in node 0. If the text
 * `is_all` there is, a needle that would end after it does not count. */
size_t needles_skip(const struct needles *s, struct str text, size_t at, bool is_all);
/* The node after one more byte. */
uint32_t needles_step(const struct needles *s, uint32_t node, unsigned char byte);

#endif
