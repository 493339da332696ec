/* fiber_context.c - fibers by makecontext() on mapped stacks.
 *
 * A stack is 256 KB of address space with a guard page below it; the kernel backs only what was
 * touched. Ended fibers wait in a short list with their stack: the first few keep its memory, the
 * next give it back, the rest are unmapped.
 *
 * The sanitizer must learn of every switch, and Valgrind of every stack. Otherwise they report the
 * change of the stack pointer as an error. */
#undef _FORTIFY_SOURCE /* it forbids _longjmp() to another stack */

#include "sys/fiber.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0u
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif

#ifdef HAVE_ASAN
#include <sanitizer/common_interface_defs.h>
enum { STACK_BYTES = 1 << 20 }; /* instrumented frames are several times larger */
#else
#define __sanitizer_start_switch_fiber(save, bottom, size) ((void)(bottom))
#define __sanitizer_finish_switch_fiber(save, bottom, size) ((void)0)
enum { STACK_BYTES = 256 << 10 };
#endif

enum { MAX_WARM = 16, MAX_IDLE = 256 };

/* A point to continue from. swapcontext() saves the signal mask with a system call that costs ten
 * times the rest, so only the first entry uses contexts, and all others _longjmp(). But the
 * sanitizer's _longjmp() forgets the red zones of the stack that it leaves: there every switch uses
 * swapcontext(). */
#ifdef HAVE_ASAN
struct jump_point {
    ucontext_t context;
};
#else
struct jump_point {
    jmp_buf registers;
};
#endif

struct fiber {
    struct fiber_pool *pool;
    struct fiber *next_idle;
    void (*fn)(void *arg);
    void *arg;
    bool started, ended;
    struct jump_point self, caller;
    char *mapping; /* the guard page, then the stack */
    char *stack;
    unsigned valgrind_id;
    /* what the sanitizer needs to keep */
    void *self_fake_stack, *caller_fake_stack;
    const void *caller_bottom;
    size_t caller_bytes;
};

struct fiber_pool {
    struct fiber *idle;
    unsigned n_idle, n_live;
    size_t guard_bytes;
};

struct fiber_pool *fiber_pool_new(void)
{
    struct fiber_pool *p = mem_alloc(sizeof *p);

    p->guard_bytes = (size_t)sysconf(_SC_PAGESIZE);
    return p;
}

static NORETURN void no_stack(const struct fiber_pool *p)
{
    fprintf(stderr, "keel: no memory for the stack of another task (%u are alive)\n", p->n_live);
    abort();
}

static struct fiber *map_fiber(struct fiber_pool *p)
{
    struct fiber *f = mem_alloc(sizeof *f);
    size_t n_bytes = p->guard_bytes + STACK_BYTES;

    f->pool = p;
    f->mapping = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (f->mapping == MAP_FAILED || mprotect(f->mapping, p->guard_bytes, PROT_NONE) < 0)
        no_stack(p);
    f->stack = f->mapping + p->guard_bytes;
    f->valgrind_id = VALGRIND_STACK_REGISTER(f->stack, f->stack + STACK_BYTES);
    return f;
}

static void unmap_fiber(struct fiber *f)
{
    VALGRIND_STACK_DEREGISTER(f->valgrind_id);
    munmap(f->mapping, f->pool->guard_bytes + STACK_BYTES);
    mem_free(f);
}

void fiber_pool_free(struct fiber_pool *p)
{
    if (!p)
        return;
    BUG_IF(p->n_live);
    while (p->idle) {
        struct fiber *f = p->idle;

        p->idle = f->next_idle;
        unmap_fiber(f);
    }
    mem_free(p);
}

struct fiber *fiber_new(struct fiber_pool *p, void (*fn)(void *arg), void *arg)
{
    struct fiber *f = p->idle;

    if (f) {
        p->idle = f->next_idle;
        p->n_idle--;
    } else {
        f = map_fiber(p);
    }
    f->fn = fn;
    f->arg = arg;
    f->started = f->ended = false;
    p->n_live++;
    return f;
}

void fiber_free(struct fiber *f)
{
    struct fiber_pool *p;

    if (!f)
        return;
    BUG_IF(f->started && !f->ended);
    p = f->pool;
    p->n_live--;
    if (p->n_idle == MAX_IDLE) {
        unmap_fiber(f);
        return;
    }
    if (p->n_idle >= MAX_WARM)
        madvise(f->stack, STACK_BYTES, MADV_DONTNEED);
    f->next_idle = p->idle;
    p->idle = f;
    p->n_idle++;
}

#ifdef HAVE_ASAN
static void jump(struct jump_point *from, struct jump_point *to)
{
    BUG_IF(swapcontext(&from->context, &to->context) < 0);
}
#else
static void jump(struct jump_point *from, struct jump_point *to)
{
    if (!_setjmp(from->registers))
        _longjmp(to->registers, 1);
}
#endif

/* makecontext() passes ints, so the pointer comes in two halves. This frame never returns: red
 * zones in it would stay marked for the next fiber on the same stack. */
__attribute__((no_sanitize_address)) static void fiber_run(unsigned high, unsigned low)
{
    struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low);

    __sanitizer_finish_switch_fiber(NULL, &f->caller_bottom, &f->caller_bytes);
    f->fn(f->arg);
    f->ended = true;
    __sanitizer_start_switch_fiber(NULL, f->caller_bottom, f->caller_bytes); /* for good */
    jump(&f->self, &f->caller);
    BUG("an ended fiber was entered");
}

static void make_context(struct fiber *f, ucontext_t *context)
{
    uintptr_t address = (uintptr_t)f;

    BUG_IF(getcontext(context) < 0);
    context->uc_stack.ss_sp = f->stack;
    context->uc_stack.ss_size = STACK_BYTES;
    context->uc_link = NULL;
    makecontext(context, (void (*)(void))fiber_run, 2, (unsigned)(address >> 32),
                (unsigned)address);
}

#ifdef HAVE_ASAN
static void begin(struct fiber *f)
{
    make_context(f, &f->self.context);
    /* Its swapcontext() would clear the red zones of this stack on every switch. */
    f->self.context.uc_stack.ss_size = 0;
    jump(&f->caller, &f->self);
}
#else
static void begin(struct fiber *f)
{
    ucontext_t context;

    make_context(f, &context);
    if (!_setjmp(f->caller.registers))
        BUG_IF(setcontext(&context) < 0);
}
#endif

bool fiber_enter(struct fiber *f)
{
    BUG_IF(f->ended);
    __sanitizer_start_switch_fiber(&f->caller_fake_stack, f->stack, STACK_BYTES);
    if (f->started) {
        jump(&f->caller, &f->self);
    } else {
        f->started = true;
        begin(f);
    }
    __sanitizer_finish_switch_fiber(f->caller_fake_stack, NULL, NULL);
    return !f->ended;
}

void fiber_leave(struct fiber *f)
{
    __sanitizer_start_switch_fiber(&f->self_fake_stack, f->caller_bottom, f->caller_bytes);
    jump(&f->self, &f->caller);
    __sanitizer_finish_switch_fiber(f->self_fake_stack, &f->caller_bottom, &f->caller_bytes);
}
