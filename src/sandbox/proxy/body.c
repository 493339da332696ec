/* body.c - counts a body's bytes, or reads its chunks. */
#include "sandbox/proxy/body.h"

enum { MAX_DIGITS = 15 };

bool proxy_body_is_over(const struct proxy_body *b)
{
    return b->kind == PROXY_BODY_CHUNKED ? b->state == CHUNK_OVER : b->n_left == 0;
}

static struct err *bad_chunk(void)
{
    return err_new(ERR_VALIDATION, "the request body has malformed chunks");
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Both bytes of a line's end, which may come apart. */
static bool take_line_end(struct proxy_body *b, char c, bool *ret_is_whole)
{
    *ret_is_whole = b->has_return && c == '\n';
    if (c != (b->has_return ? '\n' : '\r'))
        return false;
    b->has_return = !b->has_return;
    return true;
}

static void begin_data(struct proxy_body *b)
{
    b->state = b->n_left ? CHUNK_DATA : CHUNK_LAST_END;
    b->n_digits = 0;
}

/* A byte outside of the data. False: it does not belong there. */
static bool take_byte(struct proxy_body *b, char c)
{
    int digit = hex_digit(c);
    bool is_whole;

    if (b->state == CHUNK_SIZE && digit >= 0) {
        b->n_left = b->n_left << 4 | (unsigned)digit;
        return ++b->n_digits <= MAX_DIGITS;
    }
    if (b->state == CHUNK_SIZE) {
        if (b->n_digits == 0)
            return false;
        b->state = CHUNK_SIZE_END;
    }
    if (!take_line_end(b, c, &is_whole))
        return false;
    if (!is_whole)
        return true;
    if (b->state == CHUNK_SIZE_END)
        begin_data(b);
    else
        b->state = b->state == CHUNK_DATA_END ? CHUNK_SIZE : CHUNK_OVER;
    return true;
}

static size_t take_data(struct proxy_body *b, size_t n)
{
    n = (size_t)MIN((uint64_t)n, b->n_left);
    b->n_left -= n;
    if (b->kind == PROXY_BODY_CHUNKED && b->n_left == 0)
        b->state = CHUNK_DATA_END;
    return n;
}

struct err *proxy_body_take(struct proxy_body *b, struct str bytes, size_t *ret_n)
{
    size_t n = 0;

    while (n < bytes.n && !proxy_body_is_over(b)) {
        if (b->kind == PROXY_BODY_LENGTH || b->state == CHUNK_DATA)
            n += take_data(b, bytes.n - n);
        else if (!take_byte(b, bytes.p[n++]))
            return bad_chunk();
    }
    *ret_n = n;
    return NULL;
}
