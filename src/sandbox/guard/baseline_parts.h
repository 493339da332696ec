/* baseline_parts.h - what the files that make baselines share. Only they include this. */
#ifndef KEEL_SANDBOX_GUARD_BASELINE_PARTS_H
#define KEEL_SANDBOX_GUARD_BASELINE_PARTS_H

#include "sandbox/guard/baseline.h"

/* Borrows the path. `st` and `identity` may be NULL together. */
struct guarded *baseline_add(struct baseline *b, const char *path, enum guarded_kind kind,
                             const struct stat *st, const struct identity *identity);
/* When all have been added: each path stays once. */
void baseline_sort(struct baseline *b);
/* Copies them. */
void baseline_take_directories(struct baseline *b, const struct directory *items, size_t n);

#endif
