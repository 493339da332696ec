/* url.h - absolute URLs of http, https (and other schemes that a caller allows): parsing,
 * formatting, resolving.
 *
 * RFC 3986 with the rules of the WHATWG standard for hostile input: control characters, white space
 * and backslashes are errors and are not repaired; an empty host is an error. A host has one
 * spelling: lower case, no dot at the end, IPv6 in its shortest form, IPv4 in IPv6
 * (::ffff:192.0.2.1) as the IPv4 address that it is. A host that ends in a number must be a plain
 * dotted quad, because resolvers also read 0177.1 and 2130706433 as addresses.
 * Parts borrow from the parsed text, except scheme and host, which live in the arena. */
#ifndef KEEL_NET_URL_H
#define KEEL_NET_URL_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

struct url {
    struct str scheme;   /* lower case */
    struct str userinfo; /* without '@'; empty if none */
    struct str host;     /* lower case; an IPv6 address without its brackets */
    int port;            /* from the URL or the scheme's default; 0 if neither is known */
    struct str path;     /* starts with '/', or empty */
    struct str query;    /* without '?' */
    struct str fragment; /* without '#' */
    bool is_ipv6, has_port;
};

#define URL_MAX_BYTES 8192

MUST_USE struct err *url_parse(struct arena *a, struct str text, struct url *ret_url);
/* The URL as a request sends it: the host as parsed, bytes over 127 percent-encoded, no user
 * information, no fragment. So the next reader sees the host that was checked. */
struct str url_format(struct arena *a, const struct url *u) MUST_USE;
bool url_same_origin(const struct url *a, const struct url *b); /* scheme, host and port */
/* May what was to go to `from` go to `to`? The same origin, or the same host by https in place of
 * http, each on its usual port: another port is another server. */
bool url_leads_on(const struct url *from, const struct url *to);

/* Resolves `location`, absolute or relative, in a response from `base` (RFC 3986, 5.2). */
MUST_USE struct err *url_resolve(struct arena *a, const struct url *base, struct str location,
                                 struct str *ret_url);

/* base + "/" + path with exactly one slash between them; a query in `base` stays at the end. */
MUST_USE struct err *url_join(struct arena *a, struct str base, struct str path,
                              struct str *ret_url);
void url_add_encoded(struct strbuf *out, struct str text); /* percent-encodes all but unreserved */
/* As it is sent: only bytes over 127 are encoded. */
struct str url_ascii(struct arena *a, struct str text) MUST_USE;
struct str url_decode(struct arena *a, struct str text) MUST_USE; /* turns %41 into A */
/* The URL without user information and without the values of query parameters that look like
 * credentials (key, token, secret, ...): for logs and messages. */
struct str url_redact(struct arena *a, struct str text) MUST_USE;

/* Is it an address outside of the public Internet: loopback, private, link-local, multicast,
 * unspecified and others? `text` is an IPv4 or IPv6 address; anything else is true. */
bool url_address_is_private(struct str text);
/* The IPv4 address that an IPv6 address leads to (NAT64, 6to4), in `a`; any other as it is. */
struct str url_address_inner(struct arena *a, struct str text) MUST_USE;
bool url_host_is_address(struct str host);  /* 192.0.2.1, 2001:db8::1 */
bool url_host_is_loopback(struct str host); /* localhost, *.localhost, 127/8, ::1 */

#endif
