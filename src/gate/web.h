/* web.h - patterns over URLs. */
#ifndef KEEL_GATE_WEB_H
#define KEEL_GATE_WEB_H

#include "gate/pattern.h"

/* "domain:example.com" is that host and those below it, on any port; "host:example.com" is that
 * host alone, on the port that its scheme has, and "host:example.com:8443" on that one (widely: on
 * any). Anything else is the URL with wildcards. */
enum match web_match(struct str pattern, struct str text, enum reading reading);

/* Whom a request for this address goes to: "example.com", "example.com:8443", "[::1]:3000"; the
 * port only where it is not the scheme's own. In `a`. False: it is not an address of http or https,
 * or has a user before its host. */
bool web_host(struct arena *a, struct str url, struct str *ret_host);
/* The same without the port, as rules name a domain. */
bool web_domain(struct arena *a, struct str url, struct str *ret_domain);

#endif
