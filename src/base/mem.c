/* mem.c - allocation that cannot fail, and the end of a program with a bug. */
#include "base/mem.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static NORETURN void out_of_memory(size_t size)
{
    fprintf(stderr, "keel: out of memory (wanted %zu bytes)\n", size);
    abort();
}

void *mem_alloc(size_t size)
{
    void *block = calloc(1, size ? size : 1);
    if (!block)
        out_of_memory(size);
    return block;
}

void *mem_alloc_at(size_t alignment, size_t size)
{
    void *block = NULL;

    if (posix_memalign(&block, alignment, size))
        out_of_memory(size);
    return block;
}

void *mem_resize(void *block, size_t size)
{
    void *bigger = realloc(block, size ? size : 1);
    if (!bigger)
        out_of_memory(size);
    return bigger;
}

void *mem_grow(void *array, size_t n_used, size_t *n_room, size_t item_size)
{
    if (n_used < *n_room)
        return array;
    *n_room = *n_room < 16 ? MAX(2 * *n_room, (size_t)4) : *n_room + *n_room / 2;
    return mem_resize(array, *n_room * item_size);
}

void *mem_copy(const void *bytes, size_t size)
{
    void *block = malloc(size ? size : 1);
    if (!block)
        out_of_memory(size);
    if (size)
        memcpy(block, bytes, size);
    return block;
}

char *mem_strdup(const char *text)
{
    return mem_copy(text, strlen(text) + 1);
}

void mem_free(void *block)
{
    free(block);
}

void mem_wipe(void *block, size_t size)
{
    if (size)
        explicit_bzero(block, size);
}

void bug(const char *file, int line, const char *what)
{
    void *frames[32];

    fprintf(stderr, "keel: bug at %s:%d: %s\n", file, line, what);
    backtrace_symbols_fd(frames, backtrace(frames, ARRAY_LEN(frames)), STDERR_FILENO);
    abort();
}
