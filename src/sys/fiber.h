/* fiber.h - a stack of its own for a function, which can be left and entered again.
 *
 * Only fibers know how to switch stacks. There are two backends, chosen at build time: contexts on
 * mapped stacks (fiber_context.c), and a thread per fiber of which one runs at a time
 * (fiber_thread.c, -Dtask_threads=true), for tools that need native stacks. Both keep a pool per
 * loop. A pool and its fibers belong to one thread. */
#ifndef KEEL_SYS_FIBER_H
#define KEEL_SYS_FIBER_H

#include "base/mem.h"

struct fiber;
struct fiber_pool;

struct fiber_pool *fiber_pool_new(void) MUST_USE;
void fiber_pool_free(struct fiber_pool *p); /* no fiber may be left */

/* Runs nothing before the first fiber_enter(). Aborts without memory for a stack. */
struct fiber *fiber_new(struct fiber_pool *p, void (*fn)(void *arg), void *arg) MUST_USE;
/* Only before the first enter or when fn has returned. Accepts NULL. */
void fiber_free(struct fiber *f);

/* Runs the fiber until it leaves (true) or fn has returned (false). */
bool fiber_enter(struct fiber *f);
/* Called on the fiber: returns into the fiber_enter() that it came from. */
void fiber_leave(struct fiber *f);

#endif
