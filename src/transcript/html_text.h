/* html_text.h - foreign text as HTML: escaped, or Markdown turned into elements. Pure.
 *
 * Nothing in the text becomes an element, an attribute or an address of its own: raw HTML is shown
 * as text, links lead to http, https and mailto only, images are named and not loaded. */
#ifndef KEEL_TRANSCRIPT_HTML_TEXT_H
#define KEEL_TRANSCRIPT_HTML_TEXT_H

#include "base/err.h"
#include "base/strbuf.h"

#include <md4c.h>

#define HTML_MARKDOWN_MAX ((size_t)512 << 10) /* longer texts are shown unformatted */

/* md4c's function, looked up by name: keel does not link the library. */
struct md4c_api {
    __typeof__(md_parse) *parse;
};

/* Loads the library; cheap after the first time. */
MUST_USE struct err *md4c_api_load(struct md4c_api *ret_api);

/* For texts and for attributes in double quotes. */
void html_add(struct strbuf *out, struct str text);
/* Markdown as paragraphs, lists, tables, code. `md4c` NULL: unformatted. */
void html_add_markdown(struct strbuf *out, struct str text, const struct md4c_api *md4c);
/* May a link lead there? */
bool html_url_is_safe(struct str url);

#endif
