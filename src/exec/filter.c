/* filter.c - writes the BPF code of a filter of system calls. */
#include "exec/filter.h"

#include <string.h>

enum { LONGEST_JUMP = 255 };

void filter_emit(struct filter *f, uint16_t code, uint32_t k, unsigned if_true, unsigned if_false)
{
    struct sock_filter *to = f->is_in_block ? f->blocks : f->code;
    unsigned *n = f->is_in_block ? &f->n_blocks : &f->n;

    if (*n < (f->is_in_block ? FILTER_MAX_BLOCKS : FILTER_MAX_CODE))
        to[*n] = (struct sock_filter){code, (uint8_t)if_true, (uint8_t)if_false, k};
    ++*n;
}

void filter_load(struct filter *f, unsigned offset)
{
    filter_emit(f, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

void filter_load_arg(struct filter *f, unsigned arg)
{
    filter_load(f, offsetof(struct seccomp_data, args) + 8 * arg);
}

void filter_mask(struct filter *f, uint32_t mask)
{
    filter_emit(f, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
}

void filter_end(struct filter *f, uint32_t action)
{
    filter_emit(f, BPF_RET | BPF_K, action, 0, 0);
}

void filter_end_if(struct filter *f, uint16_t comparison, uint32_t k, uint32_t action)
{
    filter_emit(f, BPF_JMP | comparison | BPF_K, k, 0, 1);
    filter_end(f, action);
}

void filter_end_unless(struct filter *f, uint16_t comparison, uint32_t k, uint32_t action)
{
    filter_emit(f, BPF_JMP | comparison | BPF_K, k, 1, 0);
    filter_end(f, action);
}

void filter_end_if_any(struct filter *f, const uint32_t *values, size_t n, uint32_t action)
{
    for (size_t i = 0; i < n; i++)
        filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, values[i], (unsigned)(n - 1 - i),
                    i + 1 < n ? 0 : 1);
    filter_end(f, action);
}

/* --- calls --- */

/* The lists are short and nearly sorted: faster than qsort(). */
static void insert_call(struct filter *f, unsigned call, unsigned block)
{
    unsigned at = f->n_calls++;

    if (at >= FILTER_MAX_CALLS)
        return;
    for (; at > 0 && f->calls[at - 1].call > call; at--)
        f->calls[at] = f->calls[at - 1];
    f->calls[at] = (struct filtered_call){(uint16_t)call, (uint16_t)block, 0};
}

void filter_begin_call(struct filter *f, unsigned call)
{
    f->is_in_block = true;
    filter_also_call(f, call);
}

void filter_also_call(struct filter *f, unsigned call)
{
    insert_call(f, call, f->n_blocks + 1);
}

void filter_end_call(struct filter *f)
{
    f->is_in_block = false;
}

void filter_add_call(struct filter *f, unsigned call)
{
    insert_call(f, call, 0);
}

void filter_add_calls(struct filter *f, const uint16_t *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        filter_add_call(f, calls[i]);
}

/* --- the search --- */

enum { LEAF_CALLS = 4 };

/* Compares a few calls one after the other, then jumps: all refused calls share one target. */
static void search_few(struct filter *f, unsigned from, unsigned to, uint32_t refuse)
{
    unsigned first = f->n, n_ends = 1;
    bool has_refused = false;

    for (unsigned i = from; i < to; i++)
        has_refused |= !f->calls[i].block;
    n_ends += has_refused;
    for (unsigned i = from; i < to; i++) {
        unsigned end = first + (to - from) + (f->calls[i].block ? n_ends++ : 1);

        f->calls[i].jump = (uint16_t)end;
        filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, f->calls[i].call, end - f->n - 1, 0);
    }
    filter_end(f, ALLOW);
    if (has_refused)
        filter_end(f, refuse);
    for (unsigned i = from; i < to; i++)
        if (f->calls[i].block)
            filter_emit(f, BPF_JMP | BPF_JA, 0, 0, 0);
}

static void search(struct filter *f, unsigned from, unsigned to, uint32_t refuse)
{
    unsigned middle = from + (to - from) / 2, at = f->n;

    if (to - from <= LEAF_CALLS) {
        search_few(f, from, to, refuse);
        return;
    }
    filter_emit(f, BPF_JMP | BPF_JGE | BPF_K, f->calls[middle].call, 0, 0);
    search(f, from, middle, refuse);
    if (at < FILTER_MAX_CODE)
        f->code[at].jt = (uint8_t)(f->n - at - 1);
    f->has_long_jump |= f->n - at - 1 > LONGEST_JUMP;
    search(f, middle, to, refuse);
}

bool filter_close(struct filter *f, uint32_t refuse)
{
    unsigned start;

    if (f->n_calls > FILTER_MAX_CALLS || f->n_blocks > FILTER_MAX_BLOCKS)
        return false;
    search(f, 0, f->n_calls, refuse);
    start = f->n;
    if (f->has_long_jump || start + f->n_blocks > FILTER_MAX_CODE)
        return false;
    memcpy(f->code + start, f->blocks, f->n_blocks * sizeof *f->blocks);
    f->n += f->n_blocks;
    for (unsigned i = 0; i < f->n_calls; i++)
        if (f->calls[i].block)
            f->code[f->calls[i].jump].k = start + f->calls[i].block - 1u - f->calls[i].jump - 1u;
    return true;
}
