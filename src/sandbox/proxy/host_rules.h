/* host_rules.h - which hosts commands may speak to. Pure.
 *
 * A pattern (net/host_pattern.h) is a host with all below it ("example.com"), only what is below it
 * ("*.example.com"), every host that has a name ("*"), or an address. It means the ports 80 and 443
 * unless it names another one; where it denies, every port, and "*" means addresses as well.
 *
 * What is denied is denied, by its name and by each address that it has. All else must be allowed,
 * and every address of it must be on the public Internet, unless the host is listed among those
 * that may be private: that allows it too. */
#ifndef KEEL_SANDBOX_PROXY_HOST_RULES_H
#define KEEL_SANDBOX_PROXY_HOST_RULES_H

#include "net/host_pattern.h"

struct net_patterns {
    struct host_pattern *items;
    size_t n, room;
};

struct net_rules {
    struct net_patterns allow, deny, private_hosts;
    bool has_flags; /* --allow-domain and --allow-private add to them: what hints name */
};

enum net_list { NET_ALLOW, NET_DENY, NET_ALLOW_PRIVATE };

/* Lives in `a`. ERR_VALIDATION: it is no pattern. */
MUST_USE struct err *net_rules_add(struct arena *a, struct net_rules *r, enum net_list list,
                                   struct str pattern);
/* Is there anything that commands may speak to? */
bool net_rules_allow_any(const struct net_rules *r);
/* Do they allow a port of this host by its name, in either list? "*" names none. */
bool net_rules_name(const struct net_rules *r, struct str host);
extern const char *const loopback_hosts[]; /* as programs name them; ends with NULL */

/* By its name and port, before anything is looked up. ERR_TOOL_DENIED: no; the hint says which rule
 * would allow it. */
MUST_USE struct err *net_rules_check(const struct net_rules *r, const struct url *u);
/* By one of the addresses that its name has, and whether that is on the public Internet. */
MUST_USE struct err *net_rules_check_address(const struct net_rules *r, const struct url *u,
                                             struct str address, bool is_public);

#endif
