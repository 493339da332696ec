/* web.h - patterns over URLs. */
#ifndef KEEL_GATE_WEB_H
#define KEEL_GATE_WEB_H

#include "gate/pattern.h"

/* "domain:example.com" is that host and its subdomains, on any port unless it names one.
 * "host:example.com" is only that host on the port of the scheme; "host:example.com:8443" is on
 * that port (widely: on any). Hosts are those of net/host_pattern.h.
 *
 * "https://example.com/docs/" and a star is an address; "*://" stands for http and https. A star in
 * its path matches anything, one in its host what it does there. Servers read one path in several
 * ways (/%64ocs/, /a/../docs/): widely one of them must match, narrowly all; where ".." leads is
 * unclear. What begins with another star is text, and is only matched widely. */
enum match web_match(struct str pattern, struct str text, enum reading reading);
/* False: it is none of these, and would match nothing. */
bool web_pattern_is_valid(struct str pattern);
/* "domain:example.com" for one that is not valid, such as "example.com" and
 * "domain:https://example.com/docs". In `a`. False: it names no host. */
bool web_pattern_guess(struct arena *a, struct str pattern, struct str *ret_pattern);

/* The host that a request for this address goes to: "example.com", "example.com:8443",
 * "[::1]:3000", with the port only if it is not the scheme's own. In `a`. False: not an address of
 * http or https, or one with a user before its host. */
bool web_host(struct arena *a, struct str url, struct str *ret_host);
/* The same without the port, as rules name a domain. */
bool web_domain(struct arena *a, struct str url, struct str *ret_domain);

#endif
