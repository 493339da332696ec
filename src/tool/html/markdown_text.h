/* markdown_text.h - single characters of Markdown text: which are dropped, which are escaped. */
#ifndef KEEL_TOOL_MARKDOWN_TEXT_H
#define KEEL_TOOL_MARKDOWN_TEXT_H

#include "base/strbuf.h"

/* White space that collapses; a no-break space too, which pages use for layout. */
bool markdown_is_space(uint32_t c);
/* Control characters but for \n and \t, and what reorders or hides text. */
bool markdown_is_dropped(uint32_t c);
/* Appends text on one line, trimmed, spaces collapsed, without dropped characters. */
void markdown_add_plain(struct strbuf *out, struct str text);

struct markdown_place {
    struct str line; /* of the output, up to here */
    bool is_in_link, is_in_cell, is_in_heading;
};

/* Whether `c`, which `rest` follows, would mean something to Markdown here. The end of `rest` says
 * nothing about what comes: it counts as the worst. */
bool markdown_needs_escape(const struct markdown_place *place, char c, struct str rest);

#endif
