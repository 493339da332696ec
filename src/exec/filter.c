/* filter.c - BPF code for a filter of system calls. */
#include "exec/filter.h"

enum { LONGEST_JUMP = 255 };

void filter_emit(struct filter *f, uint16_t code, uint32_t k, unsigned if_true, unsigned if_false)
{
    if (f->n < FILTER_MAX_CODE)
        f->code[f->n] = (struct sock_filter){code, (uint8_t)if_true, (uint8_t)if_false, k};
    f->n++;
}

/* From the instruction at `from` to the next one that is written. */
static uint8_t jump_from(struct filter *f, unsigned from)
{
    unsigned n = f->n - from - 1;

    f->has_long_jump |= n > LONGEST_JUMP;
    return (uint8_t)n;
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

unsigned filter_begin_call(struct filter *f, unsigned call)
{
    filter_emit(f, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
    return f->n - 1;
}

void filter_end_call(struct filter *f, unsigned begin)
{
    if (begin < FILTER_MAX_CODE)
        f->code[begin].jf = jump_from(f, begin);
}

void filter_add_call(struct filter *f, unsigned call)
{
    unsigned at = f->n_calls++;

    if (at >= FILTER_MAX_CALLS)
        return;
    for (; at > 0 && f->calls[at - 1] > call; at--)
        f->calls[at] = f->calls[at - 1];
    f->calls[at] = (uint16_t)call;
}

void filter_add_calls(struct filter *f, const uint16_t *calls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        filter_add_call(f, calls[i]);
}

static void search(struct filter *f, unsigned from, unsigned to, uint32_t refuse)
{
    unsigned middle = from + (to - from) / 2, at = f->n;

    if (to - from <= 3) {
        for (; from < to; from++)
            filter_end_if(f, BPF_JEQ, f->calls[from], refuse);
        filter_end(f, ALLOW);
        return;
    }
    filter_emit(f, BPF_JMP | BPF_JGE | BPF_K, f->calls[middle], 0, 0);
    search(f, from, middle, refuse);
    if (at < FILTER_MAX_CODE)
        f->code[at].jt = jump_from(f, at);
    search(f, middle, to, refuse);
}

void filter_search(struct filter *f, uint32_t refuse)
{
    if (f->n_calls <= FILTER_MAX_CALLS)
        search(f, 0, f->n_calls, refuse);
}

bool filter_is_whole(const struct filter *f)
{
    return f->n <= FILTER_MAX_CODE && f->n_calls <= FILTER_MAX_CALLS && !f->has_long_jump;
}
