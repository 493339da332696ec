/* markdown.h - a web page as Markdown, for reading by a model.
 *
 * HTML5 rules by gumbo, opened on first use. Keeps headings, paragraphs, lists, tables, code,
 * quotes, links and images (as text with their address), emphasis; leaves out scripts, styles,
 * hidden elements and forms' internals. Of a page that marks its <main> or <article> only that is
 * kept, without the <nav> and <footer> in it; of others all. Relative addresses are resolved. The
 * text has no control characters but line ends and tabs, and nothing that reorders or hides text.
 * Takes time and memory in proportion to the page, however it nests. Pure but for loading gumbo;
 * tasks call it through work_run() when the page is large. */
#ifndef KEEL_TOOL_HTML_MARKDOWN_H
#define KEEL_TOOL_HTML_MARKDOWN_H

#include "base/arena.h"
#include "base/strbuf.h"

struct html_page {
    struct str title; /* <title>, or else og:title; lives in `a` */
    bool was_cut;     /* the page is larger than its limit: the end of it is left out */
    bool is_tangled;  /* the end is left out because the markup nests or multiplies too much */
    bool is_part;     /* only its <main> or <article> is there, and there is text besides */
};

#define HTML_MAX_BYTES ((size_t)16 << 20) /* of a page; more is left out */

/* `base_url` resolves relative links; may be empty. Bad UTF-8 is repaired; other charsets named by
 * `charset` (from Content-Type) or by a meta element are converted when iconv knows them. Appends
 * to `out`, with a line end at the end. When `out` is full, what fits is kept and strbuf_is_over()
 * says so. */
MUST_USE struct err *html_to_markdown(struct arena *a, struct str html, struct str charset,
                                      struct str base_url, struct strbuf *out,
                                      struct html_page *ret_page);

#endif
