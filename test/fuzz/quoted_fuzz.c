/* quoted_fuzz.c - any bytes as a path: one line, which gives the same path back; any bytes as text:
 * read only if they are the one way to write what they stand for. */
#include "base/quoted.h"
#include "base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(strbuf) struct strbuf text = {0}, back = {0}, again = {0};
    struct str bytes = str_make((const char *)data, size);

    if (quoted_read(&back, bytes)) {
        quoted_add(&again, strbuf_str(&back));
        BUG_IF(!str_eq(strbuf_str(&again), bytes));
    }
    if (str_find_char(bytes, '\0') != STR_NONE)
        return 0;
    quoted_add(&text, bytes);
    BUG_IF(!utf8_is_valid(strbuf_str(&text)));
    BUG_IF(str_find_char(strbuf_str(&text), '\n') != STR_NONE);
    strbuf_clear(&back);
    if (quoted_read(&back, strbuf_str(&text)))
        BUG_IF(!str_eq(strbuf_str(&back), bytes));
    else
        BUG_IF(!str_eq(strbuf_str(&text), bytes));
    return 0;
}
