/* lookup.h - the addresses of a name, as texts, so that they can be checked and used as they are.
 */
#ifndef KEEL_NET_LOOKUP_H
#define KEEL_NET_LOOKUP_H

#include "base/err.h"

#include <netinet/in.h>

#define LOOKUP_MAX_ADDRESSES 16

struct lookup {
    const char *host;
    int error;                                              /* of getaddrinfo() */
    char addresses[LOOKUP_MAX_ADDRESSES][INET6_ADDRSTRLEN]; /* of more than that, the first */
    size_t n;
};

/* Asks the resolver, which blocks: for workers. */
void lookup_block(struct lookup *l);
/* Asks the resolver in a worker; waits. A name that has no address is no error: n is 0. */
MUST_USE struct err *lookup_run(struct lookup *l);
/* ERR_NETWORK, for those to whom it is one. */
NEVER_NULL MUST_USE struct err *lookup_not_found(const struct lookup *l);

#endif
