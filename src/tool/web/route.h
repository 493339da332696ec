/* route.h - whether an address of the web may be fetched, and the one safe way there.
 *
 * A page, a search result or a redirect can name any host, so what a model fetches must lie on the
 * public Internet, unless the operator allows the host. Names are looked up here, every address is
 * checked, and the request then connects to exactly those: a name that changes its mind between
 * the check and the connection changes nothing. Behind a proxy it is the proxy that looks names
 * up: a literal address is checked all the same, and a name wherever it can be found from here. */
#ifndef KEEL_TOOL_WEB_ROUTE_H
#define KEEL_TOOL_WEB_ROUTE_H

#include "net/url.h"
#include "port/tool.h"

struct web_route {
    const char *resolve; /* as http_request.resolve; NULL: an address, or unknown from here */
    const char *proxy;   /* NULL: go direct */
};

/* Is this host or address one that the operator allows? An entry is "host", "host:port" or
 * "*.suffix", with an IPv6 address in brackets where a port follows. */
bool web_host_is_allowed(const struct tool_config *config, struct str host, int port);

/* Looks the host up; may wait. ERR_VALIDATION: it must not be fetched. ERR_NETWORK: there is no
 * such host. The route lives in `a`. */
MUST_USE struct err *web_route_find(struct arena *a, const struct url *u,
                                    const struct tool_config *config, struct web_route *ret_route);

#endif
