/* name_cache.h - the names that a client has looked up, while they are valid.
 *
 * Tasks that ask for the same name share one look-up. A task can stop waiting at any time: a
 * resolver that hangs is abandoned, and its answer dropped. At most two look-ups run at a time,
 * which leaves workers for other things. Belongs to one loop. */
#ifndef KEEL_NET_NAME_CACHE_H
#define KEEL_NET_NAME_CACHE_H

#include "net/lookup.h"

struct loop;
struct name_cache;

struct name_cache *name_cache_new(struct loop *l) MUST_USE;
void name_cache_free(struct name_cache *c); /* no task may be waiting; accepts NULL */

/* Waits. ret->host is `host`, which must live as long. A name without an address is not an
 * error. */
MUST_USE struct err *name_cache_find(struct name_cache *c, const char *host, struct lookup *ret);
/* Drops addresses that lead nowhere: the next caller asks the resolver. */
void name_cache_forget(struct name_cache *c, const char *host);

#endif
