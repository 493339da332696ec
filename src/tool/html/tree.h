/* tree.h - a page parsed by gumbo within limits, a walk over its nodes, and questions about an
 * element.
 *
 * gumbo 0.10 has no limits of its own: nesting makes its time quadratic and its destructor recurse,
 * and misnested formatting multiplies its memory. Here all its memory is one region. Parsing stops
 * if elements nest too deep or the region is full. The tree then holds what came before, and the
 * caller may continue with the rest as another page. */
#ifndef KEEL_TOOL_HTML_TREE_H
#define KEEL_TOOL_HTML_TREE_H

#include "base/err.h"

#include <gumbo.h>

/* gumbo's functions, looked up by name: the library is not linked. */
struct gumbo_api {
    __typeof__(gumbo_parse_with_options) *parse_with_options;
    __typeof__(gumbo_get_attribute) *get_attribute;
};

/* Loads the library; cheap after the first time. */
MUST_USE struct err *gumbo_api_load(struct gumbo_api *ret_api);

#define HTML_MAX_DEPTH 512 /* as in browsers */

struct html_tree {
    const GumboNode *document; /* NULL: parsing stopped before */
    size_t n_read;             /* bytes of the text that the tree represents */
    size_t used_bytes;
    void *region;
    size_t map_bytes;
};

/* `text` is UTF-8 and must outlive the tree. At most `max_bytes` of memory are used. */
MUST_USE struct err *html_tree_parse(const struct gumbo_api *api, struct str text, size_t max_bytes,
                                     struct html_tree *ret_tree);
void html_tree_done(struct html_tree *tree);
DEFINE_AUTO_VAL(html_tree, html_tree_done)

enum html_step { HTML_ENTER, HTML_LEAVE, HTML_END };

/* Visits a node and everything below it: text once (HTML_ENTER), elements twice. */
struct html_walk {
    struct html_walk_level *levels;
    size_t n_levels;
};

void html_walk_init(struct html_walk *w, const GumboNode *top);
void html_walk_done(struct html_walk *w);
DEFINE_AUTO_VAL(html_walk, html_walk_done)
enum html_step html_walk_next(struct html_walk *w, const GumboNode **ret_node);
/* After HTML_ENTER of an element: skips its children and its HTML_LEAVE. */
void html_walk_skip(struct html_walk *w);

static inline bool html_is_element(const GumboNode *node)
{
    return node->type == GUMBO_NODE_ELEMENT;
}
/* The tag of an HTML element; GUMBO_TAG_UNKNOWN for anything else. */
static inline GumboTag html_tag(const GumboNode *node)
{
    if (!html_is_element(node) || node->v.element.tag_namespace != GUMBO_NAMESPACE_HTML)
        return GUMBO_TAG_UNKNOWN;
    return node->v.element.tag;
}

/* --- a single element (element.c); pure --- */

/* Empty when the element has no such attribute. */
struct str html_attribute(const struct gumbo_api *api, const GumboNode *element, const char *name);
bool html_has_attribute(const struct gumbo_api *api, const GumboNode *element, const char *name);
/* A whole number from `low` to `high`, or `otherwise`. */
int64_t html_number(const struct gumbo_api *api, const GumboNode *element, const char *name,
                    int64_t low, int64_t high, int64_t otherwise);

bool html_is_hidden(const struct gumbo_api *api, const GumboNode *element);
/* Never text for a reader: scripts, styles, form controls, embedded media. */
bool html_is_omitted(const struct gumbo_api *api, const GumboNode *node);
bool html_is_block(GumboTag tag);
/* "c" of class="language-c", from a pre element or the code in it; empty: not given. */
struct str html_code_language(const struct gumbo_api *api, const GumboNode *pre);

#endif
