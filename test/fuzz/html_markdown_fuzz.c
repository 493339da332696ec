/* html_markdown_fuzz.c - whatever the page, its Markdown is clean UTF-8. The first byte chooses the
 * charset that the server names. */
#include "tool/html/markdown.h"

#include "base/utf8.h"
#include "tool/html/markdown_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_clean(struct str text)
{
    while (text.n) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);

        BUG_IF(n == 0);
        BUG_IF(markdown_is_dropped(c));
        text = str_skip(text, n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const charsets[] = {"utf-8",   "",       "iso-8859-1", "shift_jis",
                                           "gb18030", "euc-kr", "utf-16le",   "iso-2022-jp"};
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {.max_bytes = (size_t)1 << 20};
    struct html_page page;
    struct err *e;

    if (size == 0)
        return 0;
    e = html_to_markdown(&a, str_make((const char *)data + 1, size - 1),
                         str_of(charsets[data[0] % ARRAY_LEN(charsets)]),
                         S("https://example.org/a/b?c"), &out, &page);
    BUG_IF(e);
    BUG_IF(strbuf_is_over(&out) && out.n == 0);
    check_clean(strbuf_str(&out));
    check_clean(page.title);
    return 0;
}
