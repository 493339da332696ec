/* arena.c - bump allocation in chunks that double up to a bound. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <sys/mman.h>

#define FIRST_CHUNK 512
#define LARGEST_CHUNK (1u << 20)
#define LARGE_ITEM 128 /* an array of larger items begins with one: most never hold a second */

struct arena_chunk {
    struct arena_chunk *older;
    size_t room, used;
    void *owned; /* a block that is freed with it; may be NULL */
    alignas(max_align_t) char bytes[];
};

static void free_chain(struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        mem_free(chunk->owned);
        mem_free(chunk);
        chunk = older;
    }
}

void arena_done(struct arena *a)
{
    free_chain(a->chunk);
    *a = (struct arena){0};
}

void arena_clear(struct arena *a)
{
    if (a->chunk) {
        free_chain(a->chunk->older);
        mem_free(TAKE(a->chunk->owned));
        a->chunk->older = NULL;
        a->chunk->used = 0;
    }
    a->used_bytes = 0;
}

static struct arena_chunk *hang(struct arena *a, struct arena_chunk *chunk, size_t room)
{
    *chunk = (struct arena_chunk){.older = a->chunk, .room = room};
    a->chunk = chunk;
    return chunk;
}

static struct arena_chunk *add_room(struct arena *a, size_t room)
{
    return hang(a, mem_resize(NULL, sizeof(struct arena_chunk) + room), room);
}

static struct arena_chunk *add_chunk(struct arena *a, size_t size)
{
    size_t room = a->chunk ? MIN(a->chunk->room * 2, (size_t)LARGEST_CHUNK) : FIRST_CHUNK;

    return add_room(a, MAX(room, size));
}

void arena_reserve(struct arena *a, size_t size)
{
    if (!a->chunk)
        add_room(a, MIN(size, (size_t)LARGEST_CHUNK));
}

#define LARGE_PAGE ((size_t)2 << 20)

/* Whole large pages, then small ones for the rest if that takes fewer bytes. */
void arena_reserve_large(struct arena *a, size_t size)
{
    size_t n_all = sizeof(struct arena_chunk) + size;
    size_t n_large = (n_all + LARGE_PAGE / 2) / LARGE_PAGE * LARGE_PAGE;
    void *block;

    if (a->chunk)
        return;
    if (!n_large) {
        add_room(a, size);
        return;
    }
    n_all = MAX(n_all, n_large);
    block = mem_alloc_at(LARGE_PAGE, n_all);
    madvise(block, n_large, MADV_HUGEPAGE); /* still untouched; small pages if it fails */
    hang(a, block, n_all - sizeof(struct arena_chunk));
}

void arena_own(struct arena *a, void *take_block)
{
    if (!a->chunk || a->chunk->owned)
        add_chunk(a, 0);
    a->chunk->owned = take_block;
}

static void *take(struct arena *a, size_t size)
{
    struct arena_chunk *chunk = a->chunk;
    size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    void *block;

    BUG_IF(rounded < size);
    if (!chunk || chunk->room - chunk->used < rounded)
        chunk = add_chunk(a, rounded);
    block = chunk->bytes + chunk->used;
    chunk->used += rounded;
    a->used_bytes += rounded;
    return block;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *block = take(a, size ? size : 1);

    return memset(block, 0, size);
}

void *arena_copy(struct arena *a, const void *bytes, size_t size)
{
    void *block = take(a, size ? size : 1);

    return size ? memcpy(block, bytes, size) : block;
}

char *arena_cstr(struct arena *a, struct str s)
{
    char *copy = take(a, s.n + 1);

    if (s.n)
        memcpy(copy, s.p, s.n);
    copy[s.n] = 0;
    return copy;
}

struct str arena_str(struct arena *a, struct str s)
{
    return s.n ? (struct str){arena_cstr(a, s), s.n} : (struct str){"", 0};
}

struct str arena_format(struct arena *a, const char *format, ...)
{
    va_list args, again;
    char *text;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    BUG_IF(n < 0);
    text = take(a, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return (struct str){text, (size_t)n};
}

void *arena_grow(struct arena *a, void *array, size_t n_used, size_t *n_room, size_t item_size)
{
    size_t room = *n_room ? *n_room * 2 : item_size < LARGE_ITEM ? 4 : 1;
    void *bigger;

    if (n_used < *n_room)
        return array;
    bigger = arena_alloc(a, room * item_size);
    if (n_used)
        memcpy(bigger, array, n_used * item_size);
    *n_room = room;
    return bigger;
}
