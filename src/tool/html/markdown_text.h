/* markdown_text.h - which characters of Markdown text are dropped, and which are escaped. */
#ifndef KEEL_TOOL_MARKDOWN_TEXT_H
#define KEEL_TOOL_MARKDOWN_TEXT_H

#include "base/strbuf.h"

/* White space that collapses, including the no-break space, which pages use for layout. */
bool markdown_is_space(uint32_t c);
/* Control characters except \n and \t, and characters that reorder or hide text. */
bool markdown_is_dropped(uint32_t c);
/* Appends the text on one line: trimmed, spaces collapsed, dropped characters omitted. */
void markdown_add_plain(struct strbuf *out, struct str text);

struct markdown_place {
    struct str line; /* of the output, up to here */
    bool is_in_link, is_in_cell, is_in_heading;
};

/* Whether Markdown would interpret `c`, which `rest` follows, at this place. What comes after
 * `rest` is unknown: it assumes the worst. */
bool markdown_needs_escape(const struct markdown_place *place, char c, struct str rest);

#endif
