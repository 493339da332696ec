/* web.h - patterns over URLs. */
#ifndef KEEL_GATE_WEB_H
#define KEEL_GATE_WEB_H

#include "gate/pattern.h"

/* "domain:example.com" is that host and those below it; anything else is the URL with wildcards. */
enum match web_match(struct str pattern, struct str url, enum reading reading);

#endif
