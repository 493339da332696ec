/* lookup.h - the addresses of a name, as texts, so that they can be checked and used as they are.
 */
#ifndef KEEL_NET_LOOKUP_H
#define KEEL_NET_LOOKUP_H

#include "base/err.h"

#include <netinet/in.h>

#define LOOKUP_MAX_ADDRESSES 16

struct lookup {
    const char *host;
    int error; /* of getaddrinfo() */
    /* In the one spelling that url.h gives a host; of more than that, the first. */
    char addresses[LOOKUP_MAX_ADDRESSES][INET6_ADDRSTRLEN];
    size_t n;
};

/* Is this address on the public Internet, as seen from here? One that this machine has itself is
 * not, whatever its range: what listens there may be closed to the Internet. Does not wait. */
bool lookup_is_public(const char *address) MUST_USE;
/* Asks the resolver, which blocks: for workers. */
void lookup_block(struct lookup *l);
/* Asks the resolver in a worker; waits. A name that has no address is no error: n is 0. */
MUST_USE struct err *lookup_run(struct lookup *l);
/* ERR_NETWORK, for those to whom it is one. */
NEVER_NULL MUST_USE struct err *lookup_not_found(const struct lookup *l);

#endif
