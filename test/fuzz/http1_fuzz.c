/* http1_fuzz.c - whatever a server sends, its answer is the same however it is cut into pieces.
 *
 * The input is what a server sends: heads, provisional ones first, and a body. The fault, the
 * content and the end must not depend on the pieces that they come in. Its first line is also tried
 * as a URL: the head of a request for it holds one line for each thing that was asked for. */
#include "net/http1_body.h"

struct reading {
    enum http1_fault fault;
    struct http1_head head;
    struct http1_body body;
    struct strbuf content;
    size_t n_used;
    bool has_head;
};

static void reading_done(struct reading *r)
{
    strbuf_done(&r->content);
}
DEFINE_AUTO_VAL(reading, reading_done)

static void read_heads(struct arena *a, struct str all, size_t step, struct reading *r)
{
    struct http1_head_reader reader = {0};

    while (r->n_used < all.n && !r->has_head && r->fault == HTTP1_NONE) {
        bool is_whole = false;
        size_t n;

        r->fault = http1_head_take(&reader, str_slice(all, r->n_used, step), &n, &is_whole);
        if (r->fault != HTTP1_NONE)
            break;
        BUG_IF(n == 0 || n > step);
        r->n_used += n;
        if (!is_whole)
            continue;
        r->fault = http1_head_parse(a, strbuf_str(&reader.text), &r->head);
        strbuf_clear(&reader.text);
        r->has_head = r->fault == HTTP1_NONE && r->head.status / 100 != 1;
    }
    http1_head_reader_done(&reader);
}

static void read_body(struct str all, size_t step, struct reading *r)
{
    while (r->n_used < all.n && !r->body.is_over && r->fault == HTTP1_NONE) {
        struct str piece = str_slice(all, r->n_used, step);
        AUTO_FREE char *bytes = mem_copy(piece.p, piece.n);
        size_t n_content, n_used;

        r->fault = http1_body_decode(&r->body, bytes, piece.n, &n_content, &n_used);
        BUG_IF(n_content > n_used || n_used > piece.n);
        BUG_IF(n_used < piece.n && !r->body.is_over && r->fault == HTTP1_NONE);
        strbuf_add(&r->content, str_make(bytes, n_content));
        r->n_used += n_used;
    }
}

static void read_all(struct arena *a, struct str all, size_t step, bool is_to_head,
                     struct reading *r)
{
    read_heads(a, all, step, r);
    if (!r->has_head)
        return;
    BUG_IF(r->head.status < 200 || r->head.status > 999);
    for (size_t i = 0; i < r->head.headers.n; i++) {
        const struct http_header *h = &r->head.headers.items[i];

        BUG_IF(h->name.n == 0 || memchr(h->value.p, '\n', h->value.n) ||
               memchr(h->value.p, '\r', h->value.n) || memchr(h->value.p, 0, h->value.n));
    }
    r->fault = http1_body_init(&r->body, &r->head, is_to_head);
    if (r->fault == HTTP1_NONE)
        read_body(all, step, r);
}

static void check_pieces(struct str all, bool is_to_head)
{
    static const size_t steps[] = {1, 7};
    AUTO(arena) struct arena a = {0};
    AUTO(reading) struct reading whole = {0};

    read_all(&a, all, SIZE_MAX, is_to_head, &whole);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(reading) struct reading r = {0};

        read_all(&a, all, steps[i], is_to_head, &r);
        BUG_IF(r.fault != whole.fault || r.has_head != whole.has_head);
        BUG_IF(r.head.status != whole.head.status || r.head.closes != whole.head.closes);
        BUG_IF(r.head.headers.n != whole.head.headers.n);
        BUG_IF(r.body.is_over != whole.body.is_over || r.body.framing != whole.body.framing);
        BUG_IF(!str_eq(strbuf_str(&r.content), strbuf_str(&whole.content)));
        BUG_IF(r.fault == HTTP1_NONE && r.n_used != whole.n_used);
    }
}

static size_t count_lines(struct str text)
{
    struct str line;
    size_t n = 0;

    while (str_split(&text, '\n', &line))
        n++;
    return n;
}

static void check_request(struct str text, bool is_absolute)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf head = {0};
    struct http_request request = {.method = "POST", .url = text, .body = S("x")};
    struct http1_form form = {.is_absolute = is_absolute, .user_agent = "fuzz"};
    struct err *e;
    struct url u;

    e = url_parse(&a, text, &u);
    err_free(e);
    if (e || (!str_is(u.scheme, "http") && !str_is(u.scheme, "https")))
        return;
    http1_write_head(&head, &request, &u, &form);
    BUG_IF(!str_ends(strbuf_str(&head), S("\r\nContent-Length: 1\r\n\r\n")));
    /* request line, Host, User-Agent, Accept, Content-Length, the empty one, and what is behind */
    BUG_IF(count_lines(strbuf_str(&head)) != (u.userinfo.n ? 8u : 7u));
    BUG_IF(memchr(head.p, 0, head.n) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str all = str_make((const char *)data, size);
    struct str line = str_slice(all, 0, str_find_char(all, '\n'));

    check_pieces(all, /* is_to_head= */ false);
    check_pieces(all, /* is_to_head= */ true);
    check_request(line, /* is_absolute= */ false);
    check_request(line, /* is_absolute= */ true);
    return 0;
}
