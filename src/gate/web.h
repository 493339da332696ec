/* web.h - patterns over URLs. */
#ifndef KEEL_GATE_WEB_H
#define KEEL_GATE_WEB_H

#include "gate/pattern.h"

/* "domain:example.com" is that host and its subdomains, on any port. "host:example.com" is only
 * that host on the port of the scheme; "host:example.com:8443" is on that port (widely: on any).
 * Anything else is the URL with wildcards. */
enum match web_match(struct str pattern, struct str text, enum reading reading);

/* The host that a request for this address goes to: "example.com", "example.com:8443",
 * "[::1]:3000", with the port only if it is not the scheme's own. In `a`. False: not an address of
 * http or https, or one with a user before its host. */
bool web_host(struct arena *a, struct str url, struct str *ret_host);
/* The same without the port, as rules name a domain. */
bool web_domain(struct arena *a, struct str url, struct str *ret_domain);

#endif
