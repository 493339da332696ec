/* html_tree.c - gumbo in a region of memory that it cannot leave. */
#include "tool/html_tree.h"

#include <errno.h>
#include <setjmp.h>
#include <sys/mman.h>

/* A tag with more attributes than this many allocations make is not worth reading: gumbo compares
 * each with all before it. The same limit ends long runs of tags that make no node. */
#define MAX_ALLOCATIONS_PER_NODE 8192
#define MAX_ROOT_ATTRIBUTES 256

struct parse {
    struct str text;
    char *region;
    size_t region_bytes, used_bytes;
    size_t n_since_node; /* allocations */
    GumboNode *newest;   /* made last, not yet looked at */
    GumboNode *document;
    GumboNode *html, *body;
    const char *read_until; /* the end of the last tag or text that became a node */
    jmp_buf give_up;
};

/* Stands before every block. */
struct header {
    _Alignas(16) uint32_t depth; /* in the tree, when the block is a node */
};

static struct header *header_of(const void *block)
{
    return (struct header *)((char *)(uintptr_t)block - sizeof(struct header));
}

static bool is_in_region(const struct parse *p, const void *block)
{
    const char *at = block;

    return at >= p->region + sizeof(struct header) && at < p->region + p->used_bytes &&
           ((uintptr_t)at & 15) == 0;
}

static void note_source(struct parse *p, GumboStringPiece source)
{
    const char *end = source.data + source.length;

    if (source.data && source.data >= p->text.p && source.length <= p->text.n &&
        end <= p->text.p + p->text.n && end > p->read_until)
        p->read_until = end;
}

/* <body> and <html> may come again and again; each time gumbo compares all their attributes. */
static bool has_too_many_attributes(const GumboNode *node)
{
    return node && node->v.element.attributes.length > MAX_ROOT_ATTRIBUTES;
}

/* Looks at the node made before this one, which has its place in the tree by now. A block of the
 * size of a node may be something else: nothing in it is trusted, and parents are only taken from
 * the region, where every block has a depth. */
static void note_newest(struct parse *p)
{
    GumboNode *node = p->newest;
    uint32_t depth;

    p->newest = NULL;
    if (!node)
        return;
    if (!p->document && node->type == GUMBO_NODE_DOCUMENT)
        p->document = node;
    if (!is_in_region(p, node->parent))
        return;
    depth = header_of(node->parent)->depth + 1;
    header_of(node)->depth = depth;
    if (node->type == GUMBO_NODE_ELEMENT) {
        note_source(p, node->v.element.original_tag);
        if (node->parent == p->document)
            p->html = node;
        else if (p->html && node->parent == p->html)
            p->body = node; /* or the head */
    } else if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE ||
               node->type == GUMBO_NODE_CDATA) {
        note_source(p, node->v.text.original_text);
    }
    if (depth > HTML_MAX_DEPTH || has_too_many_attributes(p->html) ||
        has_too_many_attributes(p->body))
        longjmp(p->give_up, 1);
}

/* gumbo cannot be told that there is no memory, so giving up jumps out of it. It has no state
 * besides the region, and its tree is whole whenever it asks for a node. */
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
    if (size == sizeof(GumboNode))
        p->newest = (GumboNode *)block;
    return block;
}

static void region_free(void *userdata, void *block)
{
    (void)userdata;
    (void)block;
}

/* Returns whether gumbo came to the end of the text. */
static bool parse(const struct gumbo_api *api, struct parse *p)
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
    bool is_whole;

    p.region = mmap(NULL, max_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p.region == MAP_FAILED)
        return err_errno(ERR_INTERNAL, errno, "cannot reserve %zu bytes to read a page", max_bytes);
    is_whole = parse(api, &p);
    *ret_tree = (struct html_tree){
        .document = p.document,
        .n_read = is_whole ? text.n : (size_t)(p.read_until - text.p),
        .used_bytes = p.used_bytes,
        .region = p.region,
        .region_bytes = max_bytes,
    };
    return NULL;
}

void html_tree_done(struct html_tree *tree)
{
    if (tree->region)
        munmap(tree->region, tree->region_bytes);
    *tree = (struct html_tree){0};
}

/* The tree may be a little deeper than what was counted while it grew. */
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
