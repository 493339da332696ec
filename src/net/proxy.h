/* proxy.h - chooses the proxy of a URL by the variables that curl and others use.
 *
 * HTTPS_PROXY is for https, HTTP_PROXY for http, ALL_PROXY for both; the lower-case spelling goes
 * first. HTTP_PROXY in upper case is ignored inside a CGI program, where any client can set it.
 * NO_PROXY lists what goes direct: host names with all below them, addresses, CIDR ranges, each
 * with an optional :port, or `*` for everything. */
#ifndef KEEL_NET_PROXY_H
#define KEEL_NET_PROXY_H

#include "net/url.h"

struct proxy_settings {
    const char *http, *https, *none; /* URLs, and the NO_PROXY list; NULL if not set */
};

/* The strings live in the arena. */
void proxy_settings_read(struct arena *a, const char *const *environment,
                         struct proxy_settings *ret_settings);
/* The proxy's URL, or NULL to go direct. */
const char *proxy_choose(const struct proxy_settings *s, const struct url *u);

#endif
