/* mem.h - ownership in the language of the compiler.
 *
 * Allocation never returns NULL: running out of memory is a bug of the caps, and aborts. AUTO(noun)
 * frees a variable at the end of its scope. TAKE(x) gives the value away and leaves NULL behind. A
 * module that owns heap objects declares `DEFINE_AUTO_PTR(noun, noun_free)` once; one whose objects
 * live in the caller's memory `DEFINE_AUTO_VAL(noun, noun_done)`. */
#ifndef KEEL_BASE_MEM_H
#define KEEL_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))
#define NEVER_NULL __attribute__((returns_nonnull))

#define AUTO(noun) __attribute__((cleanup(noun##_auto)))

#define DEFINE_AUTO_PTR(noun, free_function)                                                       \
    static inline void noun##_auto(struct noun **object)                                           \
    {                                                                                              \
        free_function(*object);                                                                    \
    }

#define DEFINE_AUTO_VAL(noun, done_function)                                                       \
    static inline void noun##_auto(struct noun *object)                                            \
    {                                                                                              \
        done_function(object);                                                                     \
    }

#define TAKE(x)                                                                                    \
    ({                                                                                             \
        __auto_type taken_ = (x);                                                                  \
        (x) = NULL;                                                                                \
        taken_;                                                                                    \
    })

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* The name of a value of an enum; NULL behind the last one. */
#define NAME_IN(names, value) ((size_t)(value) < ARRAY_LEN(names) ? (names)[value] : NULL)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void *mem_alloc(size_t size) MUST_USE;                      /* zeroed */
void *mem_alloc_at(size_t alignment, size_t size) MUST_USE; /* not zeroed */
void *mem_resize(void *block, size_t size) MUST_USE;
/* Makes room for one more item in an array on the heap: `array`, n_used and *n_room belong
 * together. arena_grow() does the same in an arena. */
void *mem_grow(void *array, size_t n_used, size_t *n_room, size_t item_size) MUST_USE;
void *mem_copy(const void *bytes, size_t size) MUST_USE;
char *mem_strdup(const char *text) MUST_USE;
void mem_free(void *block);

/* Overwrites secrets in a way that the optimiser keeps. */
void mem_wipe(void *block, size_t size);

static inline void mem_free_auto(void *pointer_to_block)
{
    mem_free(*(void **)pointer_to_block);
}
/* AUTO_FREE char *text = ...; for plain blocks. */
#define AUTO_FREE __attribute__((cleanup(mem_free_auto)))

/* A broken promise inside keel: says where, prints a backtrace and aborts. Never for bad input. */
void bug(const char *file, int line, const char *what) NORETURN;
#define BUG(what) bug(__FILE__, __LINE__, what)
#define BUG_IF(condition)                                                                          \
    do {                                                                                           \
        if (__builtin_expect(!!(condition), 0))                                                    \
            BUG(#condition);                                                                       \
    } while (0)

#endif
