/* arena.h - memory by lifetime: allocate freely, free everything at once.
 *
 * An arena is the caller's struct; zeroed is valid and empty. arena_clear() keeps the largest
 * chunk, so a loop that clears per step stops allocating after warm-up. Not thread-safe. */
#ifndef KEEL_BASE_ARENA_H
#define KEEL_BASE_ARENA_H

#include "base/str.h"

#include <stdarg.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunk; /* the one being filled, linked to older ones */
    size_t used_bytes;         /* allocated since init or clear */
};

void arena_done(struct arena *a);
void arena_clear(struct arena *a);
/* For an empty arena of roughly known size: takes one block of memory for all of it. */
void arena_reserve(struct arena *a, size_t size);
/* The same for many MiB, in large pages if the kernel has them: getting small ones takes longer
 * than filling them. */
void arena_reserve_large(struct arena *a, size_t size);
/* Frees a block of mem_alloc() and the like with the arena. */
void arena_own(struct arena *a, void *take_block);
DEFINE_AUTO_VAL(arena, arena_done)

void *arena_alloc(struct arena *a, size_t size) MUST_USE; /* zeroed, aligned for anything */
void *arena_copy(struct arena *a, const void *bytes, size_t size) MUST_USE;

/* Copies that live as long as the arena; always followed by a NUL. */
struct str arena_str(struct arena *a, struct str s) MUST_USE;
char *arena_cstr(struct arena *a, struct str s) MUST_USE;
struct str arena_format(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3) MUST_USE;

/* Makes room for one more element in an arena array: *array, *n_used and *n_room belong together.
 */
void *arena_grow(struct arena *a, void *array, size_t n_used, size_t *n_room,
                 size_t item_size) MUST_USE;

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, n, type) ((type *)arena_alloc((a), (n) * sizeof(type)))

#endif
