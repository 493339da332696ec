/* read_bodies.h - the records of one type in a stream, as JSON. */
#ifndef KEEL_SDK_REWIND_READ_BODIES_H
#define KEEL_SDK_REWIND_READ_BODIES_H

#include "port/store.h"

/* Tells each from event `from` on, in their order. The bodies live in `a`. May wait. */
MUST_USE struct err *bodies_read(struct store *s, struct str stream, const char *type,
                                 uint64_t from, struct arena *a,
                                 void (*take)(void *self, uint64_t seq, const struct json *body),
                                 void *self);

#endif
