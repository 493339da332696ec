/* tree.c - runs gumbo in a region of memory that it cannot leave. */
#include "tool/html/tree.h"

#include "sys/dylib.h"

#include <errno.h>
#include <setjmp.h>
#include <sys/mman.h>

#ifndef KEEL_GUMBO_SONAME /* the build defines it */
#define KEEL_GUMBO_SONAME "libgumbo.so.1"
#endif

struct err *gumbo_api_load(struct gumbo_api *ret_api)
{
    struct gumbo_api api;
    const struct dylib_symbol symbols[] = {
        {"gumbo_parse_with_options", (void **)&api.parse_with_options},
        {"gumbo_get_attribute", (void **)&api.get_attribute},
    };

    TRY(dylib_load(KEEL_GUMBO_SONAME, "libgumbo-dev", symbols, ARRAY_LEN(symbols)));
    *ret_api = api;
    return NULL;
}

/* --- parsing --- */

/* gumbo compares each attribute with all before it: a tag whose attributes need more allocations
 * than this is not worth reading. The limit also ends long runs of tags that make no node. */
#define MAX_ALLOCATIONS_PER_NODE 8192
#define MAX_ROOT_ATTRIBUTES 256

struct parse {
    struct str text;
    char *region;
    size_t region_bytes, used_bytes;
    size_t n_since_node; /* allocations since the last node */
    GumboNode *newest;   /* the last node made, not yet looked at */
    GumboNode *document;
    GumboNode *html, *body;
    const char *read_until; /* end of the last tag or text that became a node */
    jmp_buf give_up;
};

/* Precedes every block. */
struct header {
    _Alignas(16) uint32_t depth; /* in the tree, if the block is a node */
};

static struct header *header_of(const void *block)
{
    return (struct header *)((char *)(uintptr_t)block - sizeof(struct header));
}

/* Marks blocks that have the size of a node: one bit for every 16 bytes, after the region. */
static char *node_bits(const struct parse *p, const void *block, int *ret_bit)
{
    size_t i = (size_t)((uintptr_t)block - (uintptr_t)p->region) / 16;

    *ret_bit = 1 << i % 8;
    return p->region + p->region_bytes + i / 8;
}

static bool is_node(const struct parse *p, const void *block)
{
    uintptr_t at = (uintptr_t)block, region = (uintptr_t)p->region;
    int bit;

    return at >= region && at < region + p->used_bytes && at % 16 == 0 &&
           (*node_bits(p, block, &bit) & bit);
}

static void note_source(struct parse *p, GumboStringPiece source)
{
    const char *end = source.data + source.length;

    if (source.data && source.data >= p->text.p && source.length <= p->text.n &&
        end <= p->text.p + p->text.n && end > p->read_until)
        p->read_until = end;
}

/* <body> and <html> may repeat, and each time gumbo compares all their attributes. */
static bool has_too_many_attributes(const GumboNode *node)
{
    return node && node->v.element.attributes.length > MAX_ROOT_ATTRIBUTES;
}

/* The node has been inserted into the tree. */
static void note_place(struct parse *p, GumboNode *node, uint32_t depth)
{
    header_of(node)->depth = depth;
    if (node->parent == p->document)
        p->html = node;
    else if (p->html && node->parent == p->html)
        p->body = node; /* or the head */
    if (node->type == GUMBO_NODE_ELEMENT)
        note_source(p, node->v.element.original_tag);
    else if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
             node->type == GUMBO_NODE_CDATA)
        note_source(p, node->v.text.original_text);
}

/* The depth of the node below the document; 0 if it is not in the tree yet. */
static uint32_t place_node(struct parse *p, GumboNode *node)
{
    GumboNode *known = node;
    uint32_t n_up = 0, depth;

    for (; known != p->document && !header_of(known)->depth; known = known->parent)
        if (!is_node(p, known->parent))
            return 0;
        else if (++n_up > HTML_MAX_DEPTH)
            return n_up;
    depth = header_of(known)->depth + n_up;
    for (uint32_t i = 0; i < n_up; i++, node = node->parent)
        note_place(p, node, depth - i);
    return depth;
}

/* Looks at the node made before this one. Usually it is in the tree by now; if not, its children
 * lead to it. A block of the size of a node may be something else, so its content is not trusted:
 * its parent must be such a block too. */
static void note_newest(struct parse *p)
{
    GumboNode *node = p->newest;

    p->newest = NULL;
    if (!node)
        return;
    if (!p->document && node->type == GUMBO_NODE_DOCUMENT)
        p->document = node;
    if (place_node(p, node) > HTML_MAX_DEPTH || has_too_many_attributes(p->html) ||
        has_too_many_attributes(p->body))
        longjmp(p->give_up, 1);
}

/* gumbo cannot report a failed allocation, so giving up jumps out of it. It has no state outside
 * the region, and its tree is consistent whenever it allocates a node. */
static void *region_alloc(void *userdata, size_t size)
{
    struct parse *p = userdata;
    size_t whole = (sizeof(struct header) + size + 15) & ~(size_t)15;
    char *block;

    if (size == sizeof(GumboNode) || ++p->n_since_node > MAX_ALLOCATIONS_PER_NODE)
        note_newest(p);
    if (size == sizeof(GumboNode))
        p->n_since_node = 0;
    if (size > p->region_bytes || whole > p->region_bytes - p->used_bytes ||
        p->n_since_node > MAX_ALLOCATIONS_PER_NODE)
        longjmp(p->give_up, 1);
    block = p->region + p->used_bytes + sizeof(struct header);
    p->used_bytes += whole;
    if (size == sizeof(GumboNode)) {
        int bit;
        char *bits = node_bits(p, block, &bit);

        *bits = (char)(*bits | bit);
        p->newest = (GumboNode *)block;
    }
    return block;
}

static void region_free(void *userdata, void *block)
{
    (void)userdata;
    (void)block;
}

/* Returns whether gumbo reached the end of the text. */
static bool run_gumbo(const struct gumbo_api *api, struct parse *p)
{
    const GumboOptions options = {
        .allocator = region_alloc,
        .deallocator = region_free,
        .userdata = p,
        .tab_stop = 8,
        .max_errors = 0, /* each would copy the stack of open elements */
        .fragment_context = GUMBO_TAG_LAST,
        .fragment_namespace = GUMBO_NAMESPACE_HTML,
    };

    if (setjmp(p->give_up))
        return false;
    p->document = api->parse_with_options(&options, p->text.p, p->text.n)->document;
    return true;
}

struct err *html_tree_parse(const struct gumbo_api *api, struct str text, size_t max_bytes,
                            struct html_tree *ret_tree)
{
    struct parse p = {.text = text, .read_until = text.p, .region_bytes = max_bytes};
    size_t map_bytes = max_bytes + max_bytes / (16 * 8) + 1;
    bool is_whole;

    p.region = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p.region == MAP_FAILED)
        return err_errno(ERR_INTERNAL, errno, "cannot reserve %zu bytes to read a page", max_bytes);
    is_whole = run_gumbo(api, &p);
    *ret_tree = (struct html_tree){
        .document = p.document,
        .n_read = is_whole ? text.n : (size_t)(p.read_until - text.p),
        .used_bytes = p.used_bytes,
        .region = p.region,
        .map_bytes = map_bytes,
    };
    return NULL;
}

void html_tree_done(struct html_tree *tree)
{
    if (tree->region)
        munmap(tree->region, tree->map_bytes);
    *tree = (struct html_tree){0};
}

/* --- walking --- */

/* The tree may be slightly deeper than was counted while it grew. */
#define MAX_LEVELS (2 * HTML_MAX_DEPTH)

struct html_walk_level {
    const GumboNode *node;
    unsigned next_child;
    bool is_entered;
};

void html_walk_init(struct html_walk *w, const GumboNode *top)
{
    w->levels = mem_alloc(MAX_LEVELS * sizeof *w->levels);
    w->levels[0] = (struct html_walk_level){.node = top};
    w->n_levels = 1;
}

void html_walk_done(struct html_walk *w)
{
    mem_free(w->levels);
    *w = (struct html_walk){0};
}

static const GumboVector *children_of(const GumboNode *node)
{
    static const GumboVector none;

    if (node->type == GUMBO_NODE_DOCUMENT)
        return &node->v.document.children;
    return html_is_element(node) ? &node->v.element.children : &none;
}

enum html_step html_walk_next(struct html_walk *w, const GumboNode **ret_node)
{
    while (w->n_levels) {
        struct html_walk_level *top = &w->levels[w->n_levels - 1];
        const GumboVector *children = children_of(top->node);

        *ret_node = top->node;
        if (!top->is_entered) {
            top->is_entered = true;
            if (!html_is_element(top->node) && children->length == 0)
                w->n_levels--;
            return HTML_ENTER;
        }
        if (top->next_child == children->length) {
            w->n_levels--;
            return HTML_LEAVE;
        }
        if (w->n_levels == MAX_LEVELS) {
            top->next_child = children->length;
            continue;
        }
        w->levels[w->n_levels++] =
            (struct html_walk_level){.node = children->data[top->next_child++]};
    }
    return HTML_END;
}

void html_walk_skip(struct html_walk *w)
{
    w->n_levels--;
}
