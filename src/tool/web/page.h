/* page.h - what a model gets to see of an answer.
 *
 * HTML becomes Markdown; other text is kept as it is, but for control characters and what hides or
 * reorders text; images and PDFs are kept as their bytes. The bytes count for more than what the
 * server says they are. */
#ifndef KEEL_TOOL_WEB_PAGE_H
#define KEEL_TOOL_WEB_PAGE_H

#include "tool/web/get.h"

#define WEB_MAX_TEXT ((size_t)8 << 20) /* a page can grow when its links are resolved */

enum web_page_kind { WEB_TEXT, WEB_IMAGE, WEB_PDF, WEB_OTHER /* nothing to show */ };

struct web_page {
    struct arena arena; /* holds the strings */
    int status;
    struct str url;
    struct str mime;  /* as the server says, lower case; empty: it says nothing that can be used */
    struct str title; /* of HTML */
    enum web_page_kind kind;
    struct str what;       /* "a PNG image", "a ZIP archive" */
    struct str media_type; /* of an image or a PDF: what it really is */
    struct strbuf content; /* text, or the bytes of an image or a PDF */
    size_t n_bytes;        /* that came */
    bool was_cut;
    bool is_tangled, is_part; /* as in struct html_page */
};

/* Large pages are read in a worker: may wait. */
MUST_USE struct err *web_page_read(const struct web_answer *answer, struct web_page **ret_page);
void web_page_free(struct web_page *p);
DEFINE_AUTO_PTR(web_page, web_page_free)

#endif
