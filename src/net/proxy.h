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

/* The URL of a variable, which may lack its scheme. False: it is none. */
bool proxy_parse(struct arena *a, const char *text, struct url *ret_url);
#define PROXY_N_SECRETS 3
/* Its secrets: the password, user and password, and both as they stand in a header, in
 * this order. In `a`; their number, 0 without a user. */
size_t proxy_secrets(struct arena *a, const struct url *proxy, struct str ret_secrets[]);

#endif
