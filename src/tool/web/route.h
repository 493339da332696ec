/* route.h - whether an address of the web may be fetched, and the safe way to it.
 *
 * A page, a search result or a redirect can name any host. So the target must be on the public
 * Internet, unless the operator allows the host. Names are resolved here, every address is checked,
 * and the request connects only to those: a name that changes between the check and the connection
 * has no effect. An address that the operator allows is allowed by itself, not by the names that
 * lead there. With a proxy, the proxy resolves names. Literal addresses are still checked, and so
 * are names that can be resolved here. */
#ifndef KEEL_TOOL_WEB_ROUTE_H
#define KEEL_TOOL_WEB_ROUTE_H

#include "net/url.h"
#include "port/tool.h"

struct web_route {
    const char *resolve; /* as http_request.resolve; NULL: the host is an address, or cannot be
                            resolved here */
    const char *proxy;   /* NULL: connect directly */
};

/* Does the operator allow this host or address? An entry is one of host_pattern.h, and means no
 * hosts below it unless it begins with "*."; "*" means none. */
bool web_host_is_allowed(const struct tool_config *config, struct str host, int port);

/* Resolves the host; may wait. ERR_VALIDATION: it must not be fetched. ERR_NETWORK: there is no
 * such host. The route is in `a`. */
MUST_USE struct err *web_route_find(struct arena *a, const struct url *u,
                                    const struct tool_config *config, struct web_route *ret_route);

#endif
