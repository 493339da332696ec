/* text_file_fuzz.c - a text that comes in pieces reads as it does whole, and comes back as the
 * bytes it was. The input: the size of a piece, the first line, the number of lines, the text. */
#include "base/utf8.h"
#include "tool/file/encoding.h"
#include "tool/file/excerpt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(struct strbuf *out, struct str bytes, enum text_encoding e, size_t n_piece)
{
    size_t at = 0, end = 0;

    while (at < bytes.n || end == 0) {
        end = MIN(MAX(end, at) + n_piece, bytes.n);
        at += text_decode(out, str_slice(bytes, at, end - at), e, end == bytes.n);
        if (end == bytes.n)
            break;
    }
    BUG_IF(at != bytes.n);
}

static size_t excerpt(struct strbuf *out, struct str text, const uint8_t *data, size_t n_piece)
{
    AUTO(excerpt) struct excerpt x;
    struct file_seen seen = {0};

    excerpt_init(&x, out, data[1] + 1u, data[2] + 1u, data[0] % 4 + 1u, &seen);
    for (size_t at = 0; at < text.n; at += n_piece)
        excerpt_add(&x, str_slice(text, at, n_piece));
    excerpt_end(&x);
    BUG_IF(x.n_shown > x.n_max || x.n_shown > excerpt_n_lines(&x));
    BUG_IF(out->n > EXCERPT_MAX_BYTES && x.n_shown > 1);
    return excerpt_n_lines(&x);
}

/* Latin-1 always comes back, and so does UTF-16 without mistakes. */
static void check_way_back(struct str bytes, struct str text, enum text_encoding e)
{
    AUTO(strbuf) struct strbuf back = {0};
    AUTO(err) struct err *error = text_encode(&back, text, e);
    bool has_mistakes = str_find(text, S("\xEF\xBF\xBD")) != STR_NONE;

    BUG_IF(error);
    BUG_IF(!str_eq(bytes, strbuf_str(&back)) && !(has_mistakes && e != TEXT_UTF8));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = str_skip(str_make((const char *)data, size), 3);
    AUTO(strbuf) struct strbuf whole = {0}, pieces = {0}, lines = {0}, again = {0};
    enum text_encoding e;

    if (size < 3)
        return 0;
    e = text_encoding_of(bytes);
    decode(&whole, bytes, e, bytes.n + 1);
    decode(&pieces, bytes, e, data[0] + 1u);
    BUG_IF(!str_eq(strbuf_str(&whole), strbuf_str(&pieces)));
    BUG_IF(e != TEXT_UTF8 && !utf8_is_valid(strbuf_str(&whole)));
    check_way_back(bytes, strbuf_str(&whole), e);
    BUG_IF(excerpt(&lines, strbuf_str(&whole), data, whole.n + 1) !=
           excerpt(&again, strbuf_str(&whole), data, data[0] + 1u));
    BUG_IF(!str_eq(strbuf_str(&lines), strbuf_str(&again)) || !utf8_is_valid(strbuf_str(&lines)));
    return 0;
}
