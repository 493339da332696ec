/* tunnel.h - asks a proxy for a connection to somebody else: CONNECT of HTTP, or SOCKS 5.
 *
 * Each waits until the proxy has agreed; then the wire leads to the target. ERR_NETWORK says what
 * the proxy said, and never with which password. */
#ifndef KEEL_NET_TUNNEL_H
#define KEEL_NET_TUNNEL_H

#include "net/route.h"
#include "net/wire.h"

struct tunnel {
    struct wire *wire; /* to the proxy, on `socket` */
    struct socket *socket;
    const struct route *route;
};

MUST_USE struct err *tunnel_connect(const struct tunnel *t, const char *user_agent);
/* `address` is the target's, or NULL to let the proxy find it. */
MUST_USE struct err *tunnel_socks5(const struct tunnel *t, const char *address);

#endif
