/* filter.h - writes a filter of system calls: BPF code, instruction by instruction.
 *
 * What is too long is counted but not written: filter_is_whole() says so at the end. Jumps reach
 * 255 instructions, which also bounds what may stand between filter_begin_call() and its end. */
#ifndef KEEL_EXEC_FILTER_H
#define KEEL_EXEC_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_MAX_CODE = 1024, FILTER_MAX_CALLS = 192 };

struct filter {
    struct sock_filter code[FILTER_MAX_CODE];
    unsigned n;
    uint16_t calls[FILTER_MAX_CALLS]; /* refused whatever their arguments; sorted */
    unsigned n_calls;
    bool has_long_jump;
};

/* Actions. */
#define ALLOW SECCOMP_RET_ALLOW
#define REFUSE_WITH(error) (SECCOMP_RET_ERRNO | (error))

void filter_emit(struct filter *f, uint16_t code, uint32_t k, unsigned if_true, unsigned if_false);
void filter_load(struct filter *f, unsigned offset); /* in struct seccomp_data */
/* The lower half: ints are all that is compared. */
void filter_load_arg(struct filter *f, unsigned arg);
void filter_mask(struct filter *f, uint32_t mask);

/* Comparisons are BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET. */
void filter_end(struct filter *f, uint32_t action);
void filter_end_if(struct filter *f, uint16_t comparison, uint32_t k, uint32_t action);
void filter_end_unless(struct filter *f, uint16_t comparison, uint32_t k, uint32_t action);

/* unsigned begin = filter_begin_call(...); what happens when the call that is loaded is this one,
 * which must end; filter_end_call(f, begin). */
unsigned filter_begin_call(struct filter *f, unsigned call);
void filter_end_call(struct filter *f, unsigned begin);

/* Calls that are refused altogether, and the end of the filter, which searches them by halves. */
void filter_add_call(struct filter *f, unsigned call);
void filter_add_calls(struct filter *f, const uint16_t *calls, size_t n);
void filter_search(struct filter *f, uint32_t refuse);

bool filter_is_whole(const struct filter *f);

#endif
