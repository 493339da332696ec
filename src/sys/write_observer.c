/* write_observer.c - references to observers. */
#include "sys/write_observer.h"

#include <stdatomic.h>

struct write_observer *write_observer_ref(struct write_observer *o)
{
    if (o)
        atomic_fetch_add_explicit(&o->n_refs, 1, memory_order_relaxed);
    return o;
}

void write_observer_unref(struct write_observer *o)
{
    if (o && atomic_fetch_sub_explicit(&o->n_refs, 1, memory_order_acq_rel) == 1)
        o->free(o);
}
