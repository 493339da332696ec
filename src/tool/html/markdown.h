/* markdown.h - converts a web page to Markdown, for a model to read.
 *
 * Parses HTML5 with gumbo, which is opened on first use. Keeps headings, paragraphs, lists, tables,
 * code, quotes, links and images (as text with their address), and emphasis. Omits scripts, styles,
 * hidden elements and the internals of forms. If the page marks a <main> or <article>, keeps only
 * that, without its <nav> and <footer>. Resolves relative addresses. The text has no control
 * characters except line ends and tabs, and nothing that reorders or hides text. Time and memory
 * are proportional to the page, however it nests. Pure except for loading gumbo; call it through
 * work_run() for large pages. */
#ifndef KEEL_TOOL_HTML_MARKDOWN_H
#define KEEL_TOOL_HTML_MARKDOWN_H

#include "base/arena.h"
#include "base/strbuf.h"

struct html_page {
    struct str title; /* <title>, otherwise og:title; in `a` */
    bool was_cut;     /* the page exceeds its limit, and its end is missing */
    bool is_tangled;  /* the end is missing because the markup nests or multiplies too much */
    bool is_part;     /* only the <main> or <article>, and the page has other text */
};

#define HTML_MAX_BYTES ((size_t)16 << 20) /* of a page; the rest is omitted */

/* `base_url` resolves relative links; may be empty. Bad UTF-8 is repaired. Other charsets, named by
 * `charset` (from Content-Type) or a meta element, are converted if iconv knows them. Appends to
 * `out` and ends with a line end. If `out` is full, what fits is kept, and strbuf_is_over() returns
 * true. */
MUST_USE struct err *html_to_markdown(struct arena *a, struct str html, struct str charset,
                                      struct str base_url, struct strbuf *out,
                                      struct html_page *ret_page);

#endif
