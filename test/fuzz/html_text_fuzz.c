/* html_text_fuzz.c - no text becomes an element, an attribute or an address of its own. */
#include "base/utf8.h"
#include "transcript/html_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const known[] = {
    "p",   "/p",   "h3",     "/h3",     "h4",         "/h4",         "h5",    "/h5",    "h6", "/h6",
    "pre", "/pre", "code",   "/code",   "blockquote", "/blockquote", "ul",    "/ul",    "ol", "/ol",
    "li",  "/li",  "table",  "/table",  "thead",      "/thead",      "tbody", "/tbody", "tr", "/tr",
    "th",  "/th",  "td",     "/td",     "div",        "/div",        "span",  "/span",  "a",  "/a",
    "em",  "/em",  "strong", "/strong", "del",        "/del",        "br",    "hr"};

static bool is_known(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(name, known[i]))
            return true;
    return false;
}

/* Within a tag: only our attributes, and a safe address. */
static void check_tag(struct str tag)
{
    size_t space = str_find_char(tag, ' ');
    struct str name = str_slice(tag, 0, space == STR_NONE ? tag.n : space);
    struct str rest = space == STR_NONE ? (struct str){0} : str_skip(tag, space + 1);
    size_t href;

    BUG_IF(!is_known(name));
    BUG_IF(rest.n && !str_starts(rest, S("class=\"")) && !str_starts(rest, S("data-language=\"")) &&
           !str_starts(rest, S("start=\"")) && !str_starts(rest, S("rel=\"")));
    href = str_find(rest, S("href=\""));
    if (str_is(name, "a"))
        BUG_IF(href == STR_NONE || !html_url_is_safe(str_slice(rest, href + 6, 8)));
}

static void check(struct str html)
{
    BUG_IF(!utf8_is_valid(html));
    while (html.n) {
        size_t open = str_find_char(html, '<'), end;

        BUG_IF(str_find_char(str_slice(html, 0, open == STR_NONE ? html.n : open), '>') !=
               STR_NONE);
        if (open == STR_NONE)
            return;
        html = str_skip(html, open + 1);
        end = str_find_char(html, '>');
        BUG_IF(end == STR_NONE);
        check_tag(str_slice(html, 0, end));
        html = str_skip(html, end + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make((const char *)data, size);
    AUTO(strbuf) struct strbuf out = {0};
    struct md4c_api md4c;
    AUTO(err) struct err *e = md4c_api_load(&md4c);

    html_add_markdown(&out, text, e ? NULL : &md4c);
    check(strbuf_str(&out));
    strbuf_clear(&out);
    html_add(&out, text);
    BUG_IF(str_find_char(strbuf_str(&out), '<') != STR_NONE);
    return 0;
}
