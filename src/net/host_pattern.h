/* host_pattern.h - which hosts a word in a rule or in the settings means. Pure.
 *
 * "example.com", "*.example.com" (what is below it), "*" (every host), an address; each with a port
 * ("example.com:8443", "[2001:db8::1]:8080") or without. Rules about web tools, about the network
 * of commands and about private hosts read them here, so that one word means the same host to all.
 * Whether a host stands for those below it, too, is for the rule to say. */
#ifndef KEEL_NET_HOST_PATTERN_H
#define KEEL_NET_HOST_PATTERN_H

#include "net/url.h"

struct host_pattern {
    struct str host; /* in the one spelling that url.h gives it; empty: every host */
    int port;        /* 0: none is named */
    bool is_below_only, is_address;
};

/* Lives in `a`. False: it means no host, and could only be compared with what never comes. */
bool host_pattern_parse(struct arena *a, struct str text, struct host_pattern *ret_pattern);
/* `host` as url.h spells it; `with_below`: all below a name counts, too. The port is not looked at.
 * An address is matched by itself and by "*". */
bool host_pattern_matches(const struct host_pattern *p, struct str host, bool with_below);
/* Does it name this port or none? */
bool host_pattern_has_port(const struct host_pattern *p, int port);

#endif
