/* network_rules.h - which hosts an agent's commands may speak to, from what the person has said.
 *
 * network.allow, network.deny and network.allowPrivate of the settings, and the domains that rules
 * for WebFetch name: what it may fetch without a question commands may speak to as well. What it
 * must ask about is denied to commands: nobody can be asked in the middle of one. */
#ifndef KEEL_CONFIG_NETWORK_RULES_H
#define KEEL_CONFIG_NETWORK_RULES_H

#include "config/settings.h"
#include "gate/gate.h"
#include "sandbox/proxy/host_rules.h"

/* Lives in `a`. With net_rules_allow_any() the network is SANDBOX_PROXY_ONLY, else there is none.
 * ERR_VALIDATION names the setting that is no domain. */
MUST_USE struct err *network_rules_from_settings(struct arena *a, const struct settings *s,
                                                 const struct permission_rules *permissions,
                                                 struct net_rules *ret_rules);

#endif
