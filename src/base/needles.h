/* needles.h - many byte strings, looked for at once.
 *
 * The time that a search takes grows with the text alone, whatever the text is and however many
 * needles there are: each byte is looked at a constant number of times, and where no needle can
 * be most bytes are not looked at. Filled once, then only read: a set that needles_link() has
 * finished may be shared between threads. */
#ifndef KEEL_BASE_NEEDLES_H
#define KEEL_BASE_NEEDLES_H

#include "base/arena.h"

#define NEEDLES_MAX_BYTES 65535 /* of one */

/* The longest end of what was read that begins a needle. Node 0: there is none. */
struct needle_node {
    const char *text;        /* what leads here: the first n_bytes of a needle */
    uint64_t tags;           /* of the needles that end here; 0: none does */
    uint32_t child, sibling; /* 0: none */
    uint32_t fallback;       /* the node of the next shorter end */
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
    unsigned char skip[NEEDLES_N_PAIRS]; /* how far a window that ends so may move */
    size_t window;                       /* at most the shortest needle's length */
};

void needles_init(struct needles *s);
void needles_done(struct needles *s); /* wipes them */

/* Of 2 to NEEDLES_MAX_BYTES bytes; `tag` says what was found: bits, not 0. Before needles_link().
 */
void needles_add(struct needles *s, struct str needle, uint64_t tag);
void needles_link(struct needles *s);

/* Where from `at` on a needle can begin, or text.n. Only between needles: in node 0. When the text
 * `is_all` there is, one that would end after it does not count. */
size_t needles_skip(const struct needles *s, struct str text, size_t at, bool is_all);
/* The node after one more byte. */
uint32_t needles_step(const struct needles *s, uint32_t node, unsigned char byte);

#endif
