/* http1_body.c - lengths and chunks. */
#include "net/http1_body.h"

#include "base/ascii.h"

#define MAX_LENGTH_DIGITS 18 /* any number of this length fits into 64 bits */
#define MAX_CHUNK_BYTES ((uint64_t)1 << 60)

/* --- how long it is --- */

static bool parse_length(struct str text, uint64_t *ret_length)
{
    uint64_t length = 0;

    if (text.n == 0 || text.n > MAX_LENGTH_DIGITS)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        length = length * 10 + (uint64_t)(text.p[i] - '0');
    }
    *ret_length = length;
    return true;
}

/* NULL: there is none. *ret_n is their number. */
static const struct http_header *find_header(const struct http_headers *h, const char *name,
                                             size_t *ret_n)
{
    const struct http_header *found = NULL;

    *ret_n = 0;
    for (size_t i = 0; i < h->n; i++)
        if (str_eq_nocase(h->items[i].name, str_of(name))) {
            found = &h->items[i];
            ++*ret_n;
        }
    return found;
}

static bool has_no_body(int status, bool is_to_head)
{
    return is_to_head || status / 100 == 1 || status == 204 || status == 304;
}

enum { IN_SIZE, IN_DIGITS, IN_EXTENSION, IN_SIZE_END, IN_DATA, IN_DATA_END, IN_TRAILER, IN_LINE };

enum http1_fault http1_body_init(struct http1_body *b, const struct http1_head *head,
                                 bool is_to_head)
{
    size_t n_lengths, n_codings;
    const struct http_header *length = find_header(&head->headers, "content-length", &n_lengths),
                             *coding = find_header(&head->headers, "transfer-encoding", &n_codings);

    *b = (struct http1_body){.framing = HTTP1_BY_CLOSE, .state = IN_SIZE};
    if (n_lengths + n_codings > 1)
        return HTTP1_BAD_LENGTH;
    if (coding) {
        if (!str_eq_nocase(coding->value, S("chunked")))
            return HTTP1_BAD_CODING;
        b->framing = HTTP1_BY_CHUNKS;
    } else if (length) {
        if (!parse_length(length->value, &b->n_left))
            return HTTP1_BAD_LENGTH;
        b->framing = HTTP1_BY_LENGTH;
    }
    if (has_no_body(head->status, is_to_head))
        *b = (struct http1_body){.framing = HTTP1_BY_LENGTH};
    b->is_over = b->framing == HTTP1_BY_LENGTH && b->n_left == 0;
    return HTTP1_NONE;
}

/* --- chunks --- */

static enum http1_fault end_size_line(struct http1_body *b)
{
    b->state = b->n_left ? IN_DATA : IN_TRAILER;
    return HTTP1_NONE;
}

static enum http1_fault take_size(struct http1_body *b, char c)
{
    int digit = ascii_hex_value(c);

    if (digit >= 0) {
        b->n_left = b->n_left << 4 | (uint64_t)digit;
        b->state = IN_DIGITS;
        return b->n_left < MAX_CHUNK_BYTES ? HTTP1_NONE : HTTP1_BAD_CHUNK;
    }
    if (b->state == IN_SIZE) /* without a single digit */
        return HTTP1_BAD_CHUNK;
    if (c == '\n')
        return end_size_line(b);
    if (c != '\r' && c != ';' && c != ' ' && c != '\t')
        return HTTP1_BAD_CHUNK;
    b->state = c == '\r' ? IN_SIZE_END : IN_EXTENSION;
    return HTTP1_NONE;
}

/* Handles one byte that is not content. */
static enum http1_fault take_frame_byte(struct http1_body *b, char c)
{
    switch (b->state) {
    case IN_EXTENSION:
        return c == '\n' ? end_size_line(b) : HTTP1_NONE;
    case IN_SIZE_END:
        return c == '\n' ? end_size_line(b) : HTTP1_BAD_CHUNK;
    case IN_DATA_END:
        /* The end of a chunk's content: CR LF, or LF alone. */
        if (c == '\r' && b->n_left == 0) {
            b->n_left = 1; /* the CR was seen */
            return HTTP1_NONE;
        }
        if (c != '\n')
            return HTTP1_BAD_CHUNK;
        b->n_left = 0;
        b->state = IN_SIZE;
        return HTTP1_NONE;
    case IN_TRAILER:
    case IN_LINE:
        /* Trailer lines up to an empty one. A CR at the start of a line begins an empty line. */
        if (++b->n_trailer_bytes > HTTP1_MAX_TRAILER_BYTES)
            return HTTP1_TOO_LONG;
        if (c == '\n') {
            b->is_over = b->state == IN_TRAILER;
            b->state = IN_TRAILER;
        } else if (c != '\r') {
            b->state = IN_LINE;
        }
        return HTTP1_NONE;
    default:
        return take_size(b, c);
    }
}

static size_t take_content(struct http1_body *b, char *to, const char *from, size_t n)
{
    n = (size_t)MIN(b->n_left, (uint64_t)n);
    if (to != from)
        memmove(to, from, n);
    b->n_left -= n;
    return n;
}

static enum http1_fault decode_chunks(struct http1_body *b, char *bytes, size_t n,
                                      size_t *ret_n_content, size_t *ret_n_used)
{
    enum http1_fault fault = HTTP1_NONE;
    size_t at = 0, n_content = 0;

    while (at < n && !b->is_over && fault == HTTP1_NONE) {
        if (b->state == IN_DATA) {
            size_t n_taken = take_content(b, bytes + n_content, bytes + at, n - at);

            at += n_taken;
            n_content += n_taken;
            if (b->n_left == 0)
                b->state = IN_DATA_END;
        } else {
            fault = take_frame_byte(b, bytes[at++]);
        }
    }
    *ret_n_content = n_content;
    *ret_n_used = at;
    return fault;
}

enum http1_fault http1_body_decode(struct http1_body *b, char *bytes, size_t n,
                                   size_t *ret_n_content, size_t *ret_n_used)
{
    if (b->framing == HTTP1_BY_CHUNKS)
        return decode_chunks(b, bytes, n, ret_n_content, ret_n_used);
    if (b->framing == HTTP1_BY_LENGTH) {
        n = take_content(b, bytes, bytes, n);
        b->is_over = b->n_left == 0;
    }
    *ret_n_content = *ret_n_used = n;
    return HTTP1_NONE;
}
