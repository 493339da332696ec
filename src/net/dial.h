/* dial.h - a connection to a host, by whichever of its addresses answers.
 *
 * In the manner of RFC 8305: IPv6 and IPv4 take turns, the next address is tried when one fails or
 * has not answered within 250 ms, and the first one that answers wins. */
#ifndef KEEL_NET_DIAL_H
#define KEEL_NET_DIAL_H

#include "net/name_cache.h"

struct dial {
    const char *host; /* a name, or an address without brackets */
    int port;
    const char *addresses;   /* to use instead of looking up: "1.2.3.4,[::1]"; NULL: none */
    const char *unix_socket; /* its path, instead of all above; NULL: none */
    const char *peer;        /* for messages */
    bool is_proxy;           /* for advice */
};

/* Waits, for as long as the caller's deadline says. ERR_NETWORK, final where asking again is of no
 * use. The socket does not block. */
MUST_USE struct err *dial_open(const struct dial *d, struct name_cache *names, int *ret_fd);

#endif
