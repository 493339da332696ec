/* html_markdown.h - a web page as Markdown, for reading by a model.
 *
 * HTML5 rules by gumbo, opened on first use. Keeps headings, paragraphs, lists, tables, code,
 * quotes, links and images (as text with their address), emphasis; leaves out scripts, styles,
 * navigation chrome that is marked as such (nav, footer, aside, hidden elements), forms' internals.
 * Relative addresses are resolved. Output and depth are capped. */
#ifndef KEEL_TOOL_HTML_MARKDOWN_H
#define KEEL_TOOL_HTML_MARKDOWN_H

#include "base/arena.h"
#include "base/strbuf.h"

struct html_page {
    struct str title; /* lives in `a` */
};

/* `base_url` resolves relative links; may be empty. Bad UTF-8 is repaired; other charsets named by
 * `charset` (from Content-Type) or by a meta element are converted when iconv knows them. */
MUST_USE struct err *html_to_markdown(struct arena *a, struct str html, struct str charset,
                                      struct str base_url, struct strbuf *out,
                                      struct html_page *ret_page);

#endif
