/* clock.h - time as a port: the machine's, or a virtual one that tests move by hand. */
#ifndef KEEL_SYS_CLOCK_H
#define KEEL_SYS_CLOCK_H

#include "base/mem.h"

struct clock {
    uint64_t (*monotonic_ms)(void *self); /* required */
    int64_t (*unix_ms)(void *self);       /* required; wall clock, UTC */
    /* Moves a virtual clock forward; NULL for clocks that move by themselves. */
    void (*advance_to_ms)(void *self, uint64_t monotonic_ms);
    void *self;
};

extern const struct clock clock_system;

/* A clock that changes only when it is moved. */
struct virtual_clock {
    struct clock clock;
    uint64_t now_ms;
    int64_t unix_start_ms;
};
void virtual_clock_init(struct virtual_clock *v, int64_t unix_start_ms);

static inline uint64_t clock_monotonic_ms(const struct clock *c)
{
    return c->monotonic_ms(c->self);
}
static inline int64_t clock_unix_ms(const struct clock *c)
{
    return c->unix_ms(c->self);
}

/* "2026-01-02T03:04:05.678Z"; out holds CLOCK_ISO_SIZE bytes. Times outside of the years 0 to 9999
 * give the first or the last moment of these years. Pure. */
#define CLOCK_ISO_SIZE 32
void clock_format_iso(int64_t unix_ms, char out[CLOCK_ISO_SIZE]);

#endif
