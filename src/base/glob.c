/* glob.c - matching a path: all places where the pattern may stand move on together. */
#include "base/glob.h"

#include "base/glob_program.h"
#include "base/utf8.h"

#define NO_CHAR UINT32_MAX

#define WORD_BITS 64
#define SET_WORDS (GLOB_MAX_OPS / WORD_BITS + 1)

void glob_free(struct glob *g)
{
    if (!g)
        return;
    mem_free(g->ops);
    mem_free(g->ranges);
    mem_free(g->text);
    mem_free(g);
}

uint32_t glob_take_char(struct str *s, int flags)
{
    uint32_t c = (unsigned char)s->p[0];
    unsigned n = 1;

    if (c >= 0x80 && !(flags & GLOB_GIT)) {
        n = utf8_decode(*s, &c);
        if (n == 0) {
            c = GLOB_BAD_BYTE + (unsigned char)s->p[0];
            n = 1;
        }
    }
    *s = str_skip(*s, n);
    return c;
}

uint32_t glob_fold(uint32_t c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

static bool in_ranges(const struct glob *g, const struct glob_op *op, uint32_t c)
{
    for (const struct glob_range *r = g->ranges + op->to, *end = r + op->c; r < end; r++)
        if (c >= r->low && c <= r->high)
            return true;
    return false;
}

static bool in_class(const struct glob *g, const struct glob_op *op, uint32_t c)
{
    if (in_ranges(g, op, c))
        return true;
    if (!(g->flags & GLOB_NOCASE))
        return false;
    /* c is in lower case already; the class may name it in upper case */
    return c >= 'a' && c <= 'z' && in_ranges(g, op, c - ('a' - 'A'));
}

static bool takes(const struct glob *g, const struct glob_op *op, uint32_t c)
{
    if (c == NO_CHAR)
        return false;
    if (op->kind == OP_CHAR)
        return c == op->c;
    if (c == '/' && !op->takes_slash)
        return false;
    if (op->kind == OP_CLASS)
        return in_class(g, op, c);
    return op->kind != OP_NOT_CLASS || !in_class(g, op, c);
}

static void set_add(uint64_t *set, size_t position)
{
    set[position / WORD_BITS] |= (uint64_t)1 << position % WORD_BITS;
}

static bool set_has(const uint64_t *set, size_t position)
{
    return set[position / WORD_BITS] >> position % WORD_BITS & 1;
}

/* The first position in the set from `from` on, or n. */
static size_t set_next(const uint64_t *set, size_t from, size_t n)
{
    while (from < n) {
        uint64_t word = set[from / WORD_BITS] >> from % WORD_BITS;

        if (word)
            return from + (size_t)__builtin_ctzll(word);
        from = (from / WORD_BITS + 1) * WORD_BITS;
    }
    return n;
}

/* Completes `now` with what its jumps lead to, and adds to `next` where c leads to. */
static void step(const struct glob *g, uint64_t *now, uint64_t *next, uint32_t c)
{
    for (size_t at = set_next(now, 0, g->n_ops); at < g->n_ops;
         at = set_next(now, at + 1, g->n_ops)) {
        const struct glob_op *op = &g->ops[at];

        switch ((enum glob_op_kind)op->kind) {
        case OP_CHAR:
        case OP_ONE:
        case OP_CLASS:
        case OP_NOT_CLASS:
            if (takes(g, op, c))
                set_add(next, at + 1);
            break;
        case OP_RUN:
            set_add(now, at + 1);
            if (takes(g, op, c))
                set_add(next, at);
            break;
        case OP_FORK:
            set_add(now, at + 1);
            set_add(now, op->to);
            break;
        case OP_JUMP:
            set_add(now, op->to);
            break;
        case OP_END:
            break;
        }
    }
}

static bool run(const struct glob *g, struct str path)
{
    uint64_t sets[2][SET_WORDS];
    size_t set_size = (g->n_ops / WORD_BITS + 1) * sizeof(uint64_t);
    uint64_t *now = sets[0], *next = sets[1];

    memset(now, 0, set_size);
    set_add(now, 0);
    while (path.n) {
        uint64_t *used = now;
        uint32_t c = glob_take_char(&path, g->flags);

        memset(next, 0, set_size);
        step(g, now, next, g->flags & GLOB_NOCASE ? glob_fold(c) : c);
        now = next;
        next = used;
        if (set_next(now, 0, g->n_ops) == g->n_ops)
            return false;
    }
    step(g, now, next, NO_CHAR);
    return set_has(now, g->n_ops - 1);
}

bool glob_matches(const struct glob *g, struct str path)
{
    bool (*same)(struct str, struct str) = g->flags & GLOB_NOCASE ? str_eq_nocase : str_eq;
    size_t n_middle = path.n - g->n_head - g->n_tail;

    if (path.n < g->n_head + g->n_tail ||
        !same(str_slice(path, 0, g->n_head), str_make(g->text, g->n_head)) ||
        !same(str_skip(path, path.n - g->n_tail), str_make(g->text + g->n_head, g->n_tail)))
        return false;
    if (g->n_ops == 1)
        return n_middle == 0;
    return run(g, str_slice(path, g->n_head, n_middle));
}
