/* tail.h - the last bytes of a stream that may never end.
 *
 * Bytes are known by their position in the stream, from 0. Memory grows with what came, up to the
 * cap; then each new byte takes the place of the oldest. */
#ifndef KEEL_TOOL_SHELL_TAIL_H
#define KEEL_TOOL_SHELL_TAIL_H

#include "base/strbuf.h"

struct tail {
    char *p;
    size_t room, max_bytes;
    uint64_t end; /* position behind the last byte: all that came */
};

void tail_init(struct tail *t, size_t max_bytes);
void tail_done(struct tail *t);
DEFINE_AUTO_VAL(tail, tail_done)

void tail_add(struct tail *t, struct str bytes);
uint64_t tail_start(const struct tail *t); /* position of the oldest byte that is kept */
/* Appends what is kept from position `from` on. */
void tail_copy(const struct tail *t, uint64_t from, struct strbuf *out);

#endif
