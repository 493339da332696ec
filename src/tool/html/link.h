/* link.h - addresses in a page, made absolute. */
#ifndef KEEL_TOOL_HTML_LINK_H
#define KEEL_TOOL_HTML_LINK_H

#include "net/url.h"

/* What relative addresses are relative to. */
struct html_base {
    struct url url;
    bool is_known; /* if not, relative addresses stay as they are */
};

void html_base_init(struct html_base *base, struct arena *a, struct str page_url);
/* <base href>: may itself be relative. */
void html_base_change(struct html_base *base, struct arena *a, struct str href);

/* Empty when the address leads nowhere outside a browser (javascript:, data:), or is none. */
struct str html_link_resolve(const struct html_base *base, struct arena *a,
                             struct str href) MUST_USE;

#endif
