/* strbuf.c - append, grow by doubling, stop at the cap. */
#include "base/strbuf.h"

#include <stdio.h>

void strbuf_init(struct strbuf *b, size_t max_bytes)
{
    *b = (struct strbuf){.max_bytes = max_bytes};
}

static void check_was_asked(const struct strbuf *b)
{
    if (b->is_over && !b->was_asked)
        BUG("a text over its cap was used unchecked");
}

void strbuf_done(struct strbuf *b)
{
    check_was_asked(b);
    mem_free(b->p);
    *b = (struct strbuf){.max_bytes = b->max_bytes};
}

void strbuf_clear(struct strbuf *b)
{
    check_was_asked(b);
    b->n = 0;
    b->is_over = b->was_asked = false;
    if (b->p)
        b->p[0] = 0;
}

static size_t cap_of(const struct strbuf *b)
{
    return b->max_bytes ? b->max_bytes : STRBUF_DEFAULT_MAX;
}

/* The room is never more than the cap allows. */
static char *reserve(struct strbuf *b, size_t n)
{
    size_t max = cap_of(b), room = b->room;

    if (b->is_over || n > max || b->n > max - n) {
        b->is_over = true;
        return NULL;
    }
    if (b->n + n + 1 > room) {
        room = MAX(room * 2, (size_t)64);
        room = MAX(MIN(room, max + 1), b->n + n + 1);
        b->p = mem_resize(b->p, room);
        b->room = room;
    }
    return b->p + b->n;
}

static char *find_room(struct strbuf *b, size_t n)
{
    bool has_room = n < b->room - b->n && !b->is_over;

    return has_room ? b->p + b->n : reserve(b, n);
}

char *strbuf_reserve(struct strbuf *b, size_t n)
{
    char *at = find_room(b, n);

    b->was_asked |= !at;
    return at;
}

void strbuf_grew(struct strbuf *b, size_t n)
{
    BUG_IF(b->n + n >= b->room);
    b->n += n;
    b->p[b->n] = 0;
}

void strbuf_add(struct strbuf *b, struct str s)
{
    char *at = find_room(b, s.n);

    if (!at)
        return;
    if (s.n)
        memcpy(at, s.p, s.n);
    strbuf_grew(b, s.n);
}

void strbuf_add_char(struct strbuf *b, char c)
{
    char *at = find_room(b, 1);

    if (!at)
        return;
    *at = c;
    strbuf_grew(b, 1);
}

void strbuf_add_cstr(struct strbuf *b, const char *text)
{
    strbuf_add(b, str_of(text));
}

void strbuf_vaddf(struct strbuf *b, const char *format, va_list args)
{
    va_list again;
    char *at;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    BUG_IF(n < 0);
    at = find_room(b, (size_t)n);
    if (at) {
        vsnprintf(at, (size_t)n + 1, format, again);
        strbuf_grew(b, (size_t)n);
    }
    va_end(again);
}

void strbuf_addf(struct strbuf *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    strbuf_vaddf(b, format, args);
    va_end(args);
}

void strbuf_cut(struct strbuf *b, size_t n)
{
    if (n < b->n) {
        b->n = n;
        b->p[n] = 0;
    }
    if (b->was_asked)
        b->is_over = b->was_asked = false;
}

void strbuf_drop_front(struct strbuf *b, size_t n)
{
    n = MIN(n, b->n);
    if (n == 0)
        return;
    memmove(b->p, b->p + n, b->n - n + 1);
    b->n -= n;
}

char *strbuf_take(struct strbuf *b)
{
    char *text = b->p ? b->p : mem_alloc(1);

    check_was_asked(b);
    *b = (struct strbuf){.max_bytes = b->max_bytes};
    return text;
}

bool strbuf_is_over(const struct strbuf *b)
{
    ((struct strbuf *)b)->was_asked |=
        b->is_over; /* asking changes nothing that a caller can see */
    return b->is_over;
}

struct err *strbuf_check(const struct strbuf *b, const char *what)
{
    if (!strbuf_is_over(b))
        return NULL;
    return err_new(ERR_VALIDATION, "%s is larger than its limit of %zu bytes", what, cap_of(b));
}

void strbuf_set_over(struct strbuf *b)
{
    b->is_over = true;
    b->was_asked = false;
}
