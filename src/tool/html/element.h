/* element.h - questions about a single element. Pure. */
#ifndef KEEL_TOOL_HTML_ELEMENT_H
#define KEEL_TOOL_HTML_ELEMENT_H

#include "tool/html/tree.h"

/* Empty when the element has no such attribute. */
struct str html_attribute(const struct gumbo_api *api, const GumboNode *element, const char *name);
bool html_has_attribute(const struct gumbo_api *api, const GumboNode *element, const char *name);
/* A whole number from `low` to `high`, or `otherwise`. */
int64_t html_number(const struct gumbo_api *api, const GumboNode *element, const char *name,
                    int64_t low, int64_t high, int64_t otherwise);

bool html_is_hidden(const struct gumbo_api *api, const GumboNode *element);
/* Never text for a reader: scripts, styles, form controls, embedded media. */
bool html_is_left_out(const struct gumbo_api *api, const GumboNode *node);
bool html_is_block(GumboTag tag);
/* "c" of class="language-c", of a pre element or the code in it; empty when it does not say. */
struct str html_code_language(const struct gumbo_api *api, const GumboNode *pre);

#endif
