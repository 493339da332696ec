/* tail.c - a ring of bytes.
 *
 * The byte at a position lies at that position modulo the cap, also while the memory is still
 * growing: until then nothing has come round. */
#include "tool/shell/tail.h"

#define FIRST_ROOM ((size_t)4 << 10)

void tail_init(struct tail *t, size_t max_bytes)
{
    *t = (struct tail){.max_bytes = max_bytes};
}

void tail_done(struct tail *t)
{
    mem_free(t->p);
    *t = (struct tail){0};
}

uint64_t tail_start(const struct tail *t)
{
    return t->end > t->max_bytes ? t->end - t->max_bytes : 0;
}

static void make_room(struct tail *t, size_t n)
{
    uint64_t needed = MIN(t->end + n, (uint64_t)t->max_bytes);

    if (needed <= t->room)
        return;
    t->room = MIN(MAX(MAX(t->room * 2, (size_t)needed), FIRST_ROOM), t->max_bytes);
    t->p = mem_resize(t->p, t->room);
}

void tail_add(struct tail *t, struct str bytes)
{
    if (bytes.n > t->max_bytes) {
        t->end += bytes.n - t->max_bytes;
        bytes = str_skip(bytes, bytes.n - t->max_bytes);
    }
    make_room(t, bytes.n);
    while (bytes.n > 0) {
        size_t at = (size_t)(t->end % t->max_bytes), n = MIN(bytes.n, t->max_bytes - at);

        memcpy(t->p + at, bytes.p, n);
        t->end += n;
        bytes = str_skip(bytes, n);
    }
}

void tail_copy(const struct tail *t, uint64_t from, struct strbuf *out)
{
    from = MAX(from, tail_start(t));
    while (from < t->end) {
        size_t at = (size_t)(from % t->max_bytes);
        size_t n = (size_t)MIN(t->end - from, (uint64_t)(t->max_bytes - at));

        strbuf_add(out, str_make(t->p + at, n));
        from += n;
    }
}
