/* page.h - the content of an answer, for the model.
 *
 * HTML becomes Markdown. Other text is kept, except for control characters and characters that
 * reorder or hide text. Images and PDFs are kept as bytes. The bytes decide more than the type that
 * the server declares. */
#ifndef KEEL_TOOL_WEB_PAGE_H
#define KEEL_TOOL_WEB_PAGE_H

#include "tool/web/get.h"

#define WEB_MAX_TEXT ((size_t)8 << 20) /* a page can grow when its links are resolved */

enum web_page_kind { WEB_TEXT, WEB_IMAGE, WEB_PDF, WEB_OTHER /* nothing to show */ };

struct web_page {
    struct arena arena; /* holds the strings */
    int status;
    struct str url;
    struct str mime;  /* as the server declares, lower case; empty: nothing usable */
    struct str title; /* of HTML */
    enum web_page_kind kind;
    struct str what;       /* "a PNG image", "a ZIP archive" */
    struct str media_type; /* of an image or a PDF: the actual type */
    struct strbuf content; /* text, or the bytes of an image or a PDF */
    size_t n_bytes;        /* received bytes */
    bool was_cut;
    bool is_tangled, is_part; /* as in struct html_page */
};

/* A worker reads large pages: may wait. */
MUST_USE struct err *web_page_read(const struct web_answer *answer, struct web_page **ret_page);
void web_page_free(struct web_page *p);
DEFINE_AUTO_PTR(web_page, web_page_free)

#endif
