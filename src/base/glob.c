/* glob.c - matches a path: all places where the pattern may be advance together. */
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
    *s = str_make(s->p + n, s->n - n);
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

static bool set_is_empty(const uint64_t *set, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (set[i])
            return false;
    return true;
}

/* Adds to `now` where the operation jumps, and to `next` where c leads. */
static inline void step_one(const struct glob *g, size_t at, uint64_t *now, uint64_t *next,
                            uint32_t c)
{
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

/* Steps through every position of `now` in order, also those that are added on the way. */
static void step(const struct glob *g, uint64_t *now, uint64_t *next, size_t n_words, uint32_t c)
{
    for (size_t i = 0; i < n_words; i++) {
        uint64_t left = now[i];

        while (left) {
            unsigned bit = (unsigned)__builtin_ctzll(left);

            step_one(g, i * WORD_BITS + bit, now, next, c);
            left = now[i] & ~(uint64_t)1 << bit; /* what is above it by now */
        }
    }
}

static bool run(const struct glob *g, struct str path)
{
    uint64_t sets[2][SET_WORDS];
    uint64_t *now = sets[0], *next = sets[1];
    size_t n_words = g->n_ops / WORD_BITS + 1;

    memset(now, 0, n_words * sizeof *now);
    set_add(now, 0);
    while (path.n) {
        uint64_t *used = now;
        uint32_t c = glob_take_char(&path, g->flags);

        memset(next, 0, n_words * sizeof *next);
        step(g, now, next, n_words, g->flags & GLOB_NOCASE ? glob_fold(c) : c);
        now = next;
        next = used;
        if (set_is_empty(now, n_words))
            return false;
    }
    step(g, now, next, n_words, NO_CHAR);
    return set_has(now, g->n_ops - 1);
}

/* Most programs are empty, or one star: plain text, `*.c`, `name*`. */
static bool run_middle(const struct glob *g, struct str path)
{
    if (g->ops[0].kind == OP_END)
        return path.n == 0;
    if (g->ops[0].kind == OP_RUN && g->ops[1].kind == OP_END)
        return g->ops[0].takes_slash || str_find_char(path, '/') == STR_NONE;
    return run(g, path);
}

bool glob_matches(const struct glob *g, struct str path)
{
    bool (*same)(struct str, struct str) = g->flags & GLOB_NOCASE ? str_eq_nocase : str_eq;
    size_t n_ends = g->n_head + g->n_tail;

    if (path.n < n_ends || !same(str_slice(path, 0, g->n_head), str_make(g->text, g->n_head)) ||
        !same(str_skip(path, path.n - g->n_tail), str_make(g->text + g->n_head, g->n_tail)))
        return false;
    return run_middle(g, str_slice(path, g->n_head, path.n - n_ends));
}
