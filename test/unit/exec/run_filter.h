/* run_filter.h - runs a filter of system calls here instead of in the kernel. */
#ifndef KEEL_TEST_UNIT_EXEC_RUN_FILTER_H
#define KEEL_TEST_UNIT_EXEC_RUN_FILTER_H

#include "exec/filter.h"
#include "test.h"

#include <string.h>

static inline bool filter_compares(uint16_t code, uint32_t accumulator, uint32_t k)
{
    switch (BPF_OP(code)) {
    case BPF_JEQ:
        return accumulator == k;
    case BPF_JGE:
        return accumulator >= k;
    case BPF_JGT:
        return accumulator > k;
    case BPF_JSET:
        return accumulator & k;
    }
    fail_msg("an instruction that filters do not have: %x", code);
    return false;
}

/* As the kernel does. */
static inline uint32_t run_filter(const struct filter *f, const struct seccomp_data *data)
{
    uint32_t accumulator = 0;

    for (unsigned at = 0; at < f->n; at++) {
        const struct sock_filter *i = &f->code[at];

        if (i->code == (BPF_RET | BPF_K))
            return i->k;
        if (i->code == (BPF_LD | BPF_W | BPF_ABS)) {
            assert_true(i->k % 4 == 0 && i->k < sizeof *data);
            memcpy(&accumulator, (const char *)data + i->k, sizeof accumulator);
        } else if (i->code == (BPF_ALU | BPF_AND | BPF_K)) {
            accumulator &= i->k;
        } else if (i->code == (BPF_JMP | BPF_JA)) {
            at += i->k;
        } else {
            at += filter_compares(i->code, accumulator, i->k) ? i->jt : i->jf;
        }
    }
    fail_msg("the filter has no end");
    return 0;
}

#endif
