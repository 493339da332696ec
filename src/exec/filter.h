/* filter.h - writes a filter of system calls: BPF code, instruction by instruction.
 *
 * A filter has a head, a binary search for the call, and then a block for each call whose arguments
 * matter. When it is loaded, the kernel runs it for every call, to remember those that are always
 * allowed: a linear search would take longer.
 *
 * Code beyond the limit is counted but not written; filter_close() reports it. */
#ifndef KEEL_EXEC_FILTER_H
#define KEEL_EXEC_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_MAX_CODE = 1024, FILTER_MAX_BLOCKS = 512, FILTER_MAX_CALLS = 192 };

struct filtered_call {
    uint16_t call;
    uint16_t block; /* its start among the blocks, plus 1; 0: always refused */
    uint16_t jump;  /* the instruction that jumps there */
};

struct filter {
    struct sock_filter code[FILTER_MAX_CODE];
    struct sock_filter blocks[FILTER_MAX_BLOCKS]; /* code, until the filter is closed */
    unsigned n, n_blocks;
    bool is_in_block;
    struct filtered_call calls[FILTER_MAX_CALLS]; /* sorted */
    unsigned n_calls;
    bool has_long_jump;
};

/* Actions. */
#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE_WITH(error) (SECCOMP_RET_ERRNO | (error))

void filter_emit(struct filter *f, uint16_t code, uint32_t k, unsigned if_true, unsigned if_false);
void filter_load(struct filter *f, unsigned offset); /* in struct seccomp_data */
/* Loads the lower half: only ints are compared. */
void filter_load_arg(struct filter *f, unsigned arg);
void filter_mask(struct filter *f, uint32_t mask);

/* Comparisons are BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET. */
void filter_end(struct filter *f, uint32_t action);
void filter_end_if(struct filter *f, uint16_t comparison, uint32_t k, uint32_t action);
void filter_end_unless(struct filter *f, uint16_t comparison, uint32_t k, uint32_t action);

/* Ends with the action if the loaded value is one of these. */
void filter_end_if_any(struct filter *f, const uint32_t *values, size_t n, uint32_t action);

/* The following code is for this call, and must end; then filter_end_call(). */
void filter_begin_call(struct filter *f, unsigned call);
void filter_also_call(struct filter *f, unsigned call); /* right after it: also for this call */
void filter_end_call(struct filter *f);

/* Calls that are always refused. */
void filter_add_call(struct filter *f, unsigned call);
void filter_add_calls(struct filter *f, const uint16_t *calls, size_t n);

/* Writes the search and the blocks; the call is loaded. False: not enough room. */
bool filter_close(struct filter *f, uint32_t refuse);

#endif
