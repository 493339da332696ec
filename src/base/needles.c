/* needles.c - a trie whose nodes know their next shorter suffix (Aho and Corasick), entered only
 * where the last two bytes of a window do not rule out a needle (Wu and Manber). */
#include "base/needles.h"

#define MAX_WINDOW 256 /* a skip fits into a byte */

void needles_init(struct needles *s)
{
    *s = (struct needles){.n_nodes = 1, .nodes_room = 1};
    s->nodes = mem_alloc(sizeof *s->nodes);
}

void needles_done(struct needles *s)
{
    for (size_t i = 0; i < s->n_items; i++)
        mem_wipe((char *)s->items[i].p, s->items[i].n);
    mem_wipe(s->nodes, s->n_nodes * sizeof *s->nodes);
    mem_free(s->nodes);
    arena_done(&s->arena);
    *s = (struct needles){0};
}

/* --- filling --- */

static uint32_t find_child(const struct needles *s, uint32_t node, unsigned char byte)
{
    uint32_t child = node ? s->nodes[node].child : s->first[byte];

    while (child && s->nodes[child].byte != byte)
        child = s->nodes[child].sibling;
    return child;
}

static uint32_t add_child(struct needles *s, uint32_t parent, struct str lead)
{
    unsigned char byte = (unsigned char)lead.p[lead.n - 1];
    uint32_t child = (uint32_t)s->n_nodes++;

    if (s->n_nodes > s->nodes_room) {
        s->nodes_room *= 2;
        s->nodes = mem_resize(s->nodes, s->nodes_room * sizeof *s->nodes);
    }
    s->nodes[child] =
        (struct needle_node){.text = lead.p, .n_bytes = (uint16_t)lead.n, .byte = byte};
    if (parent) {
        s->nodes[child].sibling = s->nodes[parent].child;
        s->nodes[parent].child = child;
    } else {
        s->first[byte] = child;
    }
    return child;
}

void needles_add(struct needles *s, struct str needle, uint64_t tag)
{
    struct str own = arena_str(&s->arena, needle);
    uint32_t node = 0;

    BUG_IF(needle.n < 2 || needle.n > NEEDLES_MAX_BYTES || tag == 0);
    s->items = arena_grow(&s->arena, s->items, s->n_items, &s->items_room, sizeof *s->items);
    s->items[s->n_items++] = own;
    for (size_t i = 0; i < own.n; i++) {
        uint32_t child = find_child(s, node, (unsigned char)own.p[i]);

        node = child ? child : add_child(s, node, str_slice(own, 0, i + 1));
    }
    s->nodes[node].tags |= tag;
}

/* --- linking --- */

uint32_t needles_step(const struct needles *s, uint32_t node, unsigned char byte)
{
    for (;;) {
        uint32_t child = find_child(s, node, byte);

        if (child || node == 0)
            return child;
        node = s->nodes[node].fallback;
    }
}

/* Shorter ones come before longer ones, so the fallback of a node is finished. */
static void link_nodes(struct needles *s)
{
    AUTO_FREE uint32_t *queue = mem_alloc(s->n_nodes * sizeof *queue);
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(s->first); i++)
        if (s->first[i])
            queue[n++] = s->first[i];
    for (size_t i = 0; i < n; i++) {
        const struct needle_node *node = &s->nodes[queue[i]];

        for (uint32_t c = node->child; c; c = s->nodes[c].sibling) {
            struct needle_node *child = &s->nodes[c];

            child->fallback = needles_step(s, node->fallback, child->byte);
            child->tags |= s->nodes[child->fallback].tags;
            queue[n++] = c;
        }
    }
}

static size_t pair_of(const char *two)
{
    return ((unsigned char)two[0] << 4 ^ (unsigned char)two[1]) % NEEDLES_N_PAIRS;
}

static void fill_tables(struct needles *s)
{
    s->window = MAX_WINDOW;
    for (size_t i = 0; i < s->n_items; i++)
        s->window = MIN(s->window, s->items[i].n);
    memset(s->skip, (int)s->window - 1, sizeof s->skip);
    for (size_t i = 0; i < s->n_items; i++) {
        s->begins[pair_of(s->items[i].p)] = true;
        for (size_t at = 0; at + 2 <= s->window; at++) {
            unsigned char *skip = &s->skip[pair_of(s->items[i].p + at)];

            *skip = (unsigned char)MIN(*skip, s->window - 2 - at);
        }
    }
}

void needles_link(struct needles *s)
{
    link_nodes(s);
    fill_tables(s);
}

/* --- searching --- */

size_t needles_skip(const struct needles *s, struct str text, size_t at, bool is_all)
{
    while (text.n - at >= s->window) {
        unsigned char skip = s->skip[pair_of(text.p + at + s->window - 2)];

        if (skip == 0 && s->begins[pair_of(text.p + at)])
            return at;
        at += skip ? skip : 1;
    }
    if (is_all)
        return text.n;
    while (text.n - at >= 2 && !s->begins[pair_of(text.p + at)])
        at++;
    if (text.n - at == 1 && !s->first[(unsigned char)text.p[at]])
        at++;
    return at;
}
